//! What the agent is going to ask for.

use crate::chance::Chance;

/// One thing that an agent does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It asks for these calls.
    Calls(Vec<Wish>),
    /// It fails, and says nothing more about the exchange.
    Fail,
}

/// A call that an agent asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// One of the page's tools, and whether a person is asked first.
    Client(&'static str, bool),
    /// The same with arguments that break the schema, which the runtime lets through.
    Unfit(bool),
    /// The agent's own side ends it after so many milliseconds, whatever the page does.
    Blocked(&'static str, u64),
    /// A guardrail hides that it is the page's.
    Hidden(&'static str),
    /// A tool that no page has.
    Unknown,
    /// One of the agent's own, which takes so many milliseconds, and whether a person is asked first.
    Own(u64, bool),
}

impl Wish {
    pub fn tool(self) -> &'static str {
        match self {
            Self::Client(tool, _) | Self::Blocked(tool, _) | Self::Hidden(tool) => tool,
            Self::Unfit(_) => "strict",
            Self::Unknown => "nowhere",
            Self::Own(..) => "search",
        }
    }

    pub fn asks(self) -> bool {
        matches!(self, Self::Client(_, true) | Self::Unfit(true) | Self::Own(_, true))
    }

    /// Whether it is flagged as the client's to run.
    pub fn is_flagged(self) -> bool {
        !matches!(self, Self::Own(..) | Self::Hidden(_))
    }
}

/// A script of a few steps.
pub fn script(chance: &mut Chance) -> Vec<Step> {
    let asks = chance.pick(&[0, 300, 700]);
    let mut steps: Vec<Step> = (0..chance.between(1, 5)).map(|_| step(chance, asks)).collect();
    // The newest is taken from the end.
    steps.reverse();
    steps
}

fn step(chance: &mut Chance, asks: u64) -> Step {
    if chance.per_mille(60) {
        return Step::Fail;
    }
    let calls = chance.pick(&[1, 1, 1, 2, 2, 3, 4]);
    Step::Calls((0..calls).map(|_| wish(chance, asks)).collect())
}

fn wish(chance: &mut Chance, asks: u64) -> Wish {
    let tool = chance.pick(&["plain", "plain", "strict", "strict", "shaped", "rare", "guarded"]);
    let asks = chance.per_mille(asks);
    match chance.below(100) {
        0..66 => Wish::Client(tool, asks),
        66..72 => Wish::Unfit(asks),
        72..80 => Wish::Blocked(tool, chance.pick(&[1, 40, 300, 2_000])),
        80..82 => Wish::Hidden(tool),
        82..85 => Wish::Unknown,
        _ => Wish::Own(chance.pick(&[1, 300, 4_000, 20_000]), asks),
    }
}
