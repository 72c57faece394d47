//! What the agent will want.

use crate::chance::Chance;

/// One answer of the model: its calls, or none for words that end the turn.
pub type Answer = Vec<Wish>;

/// One call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// One of the page's tools.
    Client(&'static str),
    /// The same with arguments that break the schema, which the server lets through.
    Unfit(&'static str),
    /// The same, and a hook will block it.
    Hooked(&'static str),
    /// A tool that does not exist.
    Unknown,
    /// One of the server's, which takes so many milliseconds.
    Server(u64),
    Finish,
}

impl Wish {
    pub fn is_client(self) -> bool {
        matches!(self, Self::Client(_) | Self::Unfit(_) | Self::Hooked(_))
    }
}

/// A script of a few answers.
pub fn script(chance: &mut Chance, confirm: bool) -> Vec<Answer> {
    let length = chance.between(1, 5);
    let mut answers: Vec<Answer> = (0..length).map(|_| answer(chance, confirm)).collect();
    // The newest is taken from the end.
    answers.reverse();
    answers
}

fn answer(chance: &mut Chance, confirm: bool) -> Answer {
    let calls = chance.pick(&[1, 1, 1, 2, 2, 3, 4]);
    (0..calls).map(|_| wish(chance, confirm)).collect()
}

fn wish(chance: &mut Chance, confirm: bool) -> Wish {
    // A server whose hooks could block a call lets no tool run on the announcement: this one has none.
    if !confirm && chance.per_mille(100) {
        return Wish::Client("early");
    }
    let tool = chance.pick(&["plain", "plain", "strict", "strict", "shaped", "rare"]);
    match chance.below(100) {
        0..62 => Wish::Client(tool),
        62..68 => Wish::Unfit("strict"),
        68..73 => Wish::Hooked(tool),
        73..79 => Wish::Unknown,
        79..90 => Wish::Server(chance.pick(&[5, 300, 4_000, 20_000])),
        _ => Wish::Finish,
    }
}
