//! What is going to happen, from a seed. A plan is data, so that a failing one can be made smaller.

mod uipath;

use crate::chance::Chance;
use crate::server::{Answer, script};
use crate::service::Step;

/// Which server the pages talk to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    OpenHands,
    UiPath,
}

impl Kind {
    pub const ALL: [Self; 2] = [Self::OpenHands, Self::UiPath];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenHands => "openhands",
            Self::UiPath => "uipath",
        }
    }
}

/// Something that happens at its time, if it still can.
#[derive(Clone, Debug)]
pub enum Happening {
    /// A page is opened.
    Open(usize),
    /// A page is loaded anew after so long, with or without a word before.
    Reload {
        tab: usize,
        away: u64,
        word: bool,
    },
    /// A page is gone, without a word.
    Die(usize),
    /// A page closes its conversation.
    Leave(usize),
    /// A page is not looked at for so long: its timers are late.
    Hide(usize, u64),
    /// A page is put aside whole for so long.
    Away(usize, u64),
    Offline(u64),
    /// The clock is put on or back.
    Jump(i64),
    LoseStorage(usize),
    Cut(usize, u16),
    HalfOpen(usize),
    Restart {
        kill: bool,
        down: u64,
        lose: usize,
    },
    /// The server is at its limit for so long.
    Full(u64),
    /// The server cannot load the conversation for so long.
    Broken(u64),
    Send {
        tab: usize,
        run: bool,
    },
    Run(usize),
    Cancel(usize),
    Pause(usize),
    Interrupt(usize),
    Fork(usize),
    Delete(usize),
    Idle(usize),
    History(usize),
    /// A tool is declared anew, or taken back.
    ChangeTool {
        tab: usize,
        back: bool,
    },
    /// The rest is UiPath's. A page ends the turn.
    Stop(usize),
    /// A page ends the exchange, without a word about its calls.
    EndExchange(usize),
    /// The service asks a page to leave its connection within so long.
    Ending(usize, u64),
    /// The service ends the session of a page, on a socket that lives.
    EndSession(usize),
    /// The service ends the connection of a page.
    Kick(usize),
    /// Something is wrong with the conversation as a whole for so long.
    Unwell(u64),
    /// The service takes no token but a new one.
    Expire,
    /// Another conversation of the page's comes, wants another connection, or goes.
    Neighbour(usize),
}

/// How often the network fails, in a thousand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rates {
    pub lost: u64,
    pub answer_lost: u64,
    pub hidden: u64,
    pub cut: u64,
    pub duplicate: u64,
    pub refused: u64,
    /// Pages that crash when a call is let through, or when its handler has started.
    pub crash: u64,
}

/// A tab to which frames take up to so much longer, from a time on.
#[derive(Clone, Copy, Debug)]
pub struct Slow {
    pub tab: usize,
    pub most: u64,
    pub from: u64,
}

#[derive(Clone)]
pub struct Plan {
    pub kind: Kind,
    pub seed: u64,
    pub session: bool,
    pub confirm: bool,
    /// Whether the agent is told what became of its calls.
    pub results: bool,
    /// Whether the app is asked for the key.
    pub key_asked: bool,
    pub script: Vec<Answer>,
    /// What UiPath's agent does.
    pub steps: Vec<Step>,
    /// Whether calls without the flag are answered when they stay open.
    pub answers_unflagged: bool,
    pub rates: Rates,
    /// Whether the conversation was there before the pages.
    pub there: bool,
    /// How many events are too large for a frame, in a thousand.
    pub large: u64,
    /// A tab to which frames take longer.
    pub slow: Option<Slow>,
    /// A tab whose sockets take up to so much longer to open.
    pub late: Option<(usize, u64)>,
    pub happenings: Vec<(u64, Happening)>,
    pub tabs: usize,
    /// When the network heals.
    pub ends: u64,
}

impl Plan {
    pub fn new(kind: Kind, seed: u64) -> Self {
        match kind {
            Kind::OpenHands => Self::openhands(seed),
            Kind::UiPath => Self::uipath(seed),
        }
    }

    fn openhands(seed: u64) -> Self {
        let mut chance = Chance::new(seed, 1);
        let tabs = chance.pick(&[1, 1, 1, 2, 2, 3, 4]);
        let ends = chance.between(4_000, 30_000);
        let mut happenings = vec![(0, Happening::Open(0)), (300, Happening::Send { tab: 0, run: true })];
        for tab in 1..tabs {
            let at = if chance.per_mille(500) { chance.below(200) } else { chance.below(ends) };
            happenings.push((at, Happening::Open(tab)));
        }
        for _ in 0..chance.pick(&[0, 1, 2, 2, 3, 4, 6]) {
            happenings.push((chance.between(300, ends), person(&mut chance, tabs)));
        }
        for _ in 0..chance.pick(&[0, 0, 1, 1, 2, 3, 5]) {
            happenings.push((chance.between(50, ends), fault(&mut chance, tabs)));
        }
        let session = chance.per_mille(600);
        let confirm = chance.per_mille(450);
        let script = script(&mut chance, confirm);
        let results = chance.per_mille(250);
        let key_asked = chance.per_mille(200);
        let rates = rates(&mut chance);
        let there = chance.per_mille(250);
        let large = chance.pick(&[0, 0, 0, 0, 60]);
        let slow = chance.per_mille(250).then(|| Slow {
            tab: chance.index(tabs),
            most: chance.pick(&[300, 1_000, 4_000]),
            from: chance.pick(&[0, 400, 800, 1_500]),
        });
        if let Some(Slow { tab, most, from }) = slow
            && chance.per_mille(600)
        {
            let away = chance.pick(&[100, 2_000, 20_000]);
            let at = chance.between(from.max(300), from + most + 1_000);
            happenings.push((at, Happening::Reload { tab, away, word: chance.per_mille(400) }));
        }
        let late = chance.per_mille(250).then(|| (chance.index(tabs), chance.pick(&[500, 2_000])));
        happenings.sort_by_key(|(at, _)| *at);
        let (kind, steps, answers_unflagged) = (Kind::OpenHands, Vec::new(), false);
        Self {
            kind,
            seed,
            session,
            confirm,
            results,
            key_asked,
            script,
            steps,
            answers_unflagged,
            rates,
            there,
            large,
            slow,
            late,
            happenings,
            tabs,
            ends,
        }
    }
}

fn rates(chance: &mut Chance) -> Rates {
    let mut rate = |often: u64, most: u64| if chance.per_mille(often) { chance.below(most) } else { 0 };
    Rates {
        lost: rate(300, 100),
        answer_lost: rate(300, 100),
        hidden: rate(150, 80),
        cut: rate(300, 60),
        duplicate: rate(300, 200),
        refused: rate(200, 300),
        crash: rate(200, 300),
    }
}

fn person(chance: &mut Chance, tabs: usize) -> Happening {
    let tab = chance.index(tabs);
    match chance.below(100) {
        0..38 => Happening::Send { tab, run: chance.per_mille(850) },
        38..45 => Happening::ChangeTool { tab, back: chance.per_mille(350) },
        45..53 => Happening::Run(tab),
        53..63 => Happening::Cancel(tab),
        63..69 => Happening::Pause(tab),
        69..77 => Happening::Interrupt(tab),
        77..90 => Happening::Idle(tab),
        90..94 => Happening::History(tab),
        94..96 => Happening::Fork(tab),
        96..97 => Happening::Delete(tab),
        _ => Happening::Leave(tab),
    }
}

fn fault(chance: &mut Chance, tabs: usize) -> Happening {
    let tab = chance.index(tabs);
    match chance.below(100) {
        0..25 => {
            let away = chance.pick(&[100, 400, 2_000, 20_000, 400_000]);
            Happening::Reload { tab, away, word: chance.per_mille(400) }
        }
        25..32 => Happening::Die(tab),
        32..39 => Happening::Hide(tab, chance.between(1_000, 90_000)),
        39..43 => Happening::Away(tab, chance.between(500, 20_000)),
        43..53 => Happening::Offline(chance.between(200, 15_000)),
        53..57 => Happening::Jump(chance.pick(&[-300_000, -60_000, 30_000, 240_000])),
        57..61 => Happening::LoseStorage(tab),
        61..76 => Happening::Cut(tab, chance.pick(&[1006, 1012, 1013, 1011])),
        76..83 => Happening::HalfOpen(tab),
        83..95 => {
            let kill = chance.per_mille(500);
            let lose = if chance.per_mille(250) { chance.index(8) } else { 0 };
            Happening::Restart { kill, down: chance.between(100, 4_000), lose }
        }
        95..98 => Happening::Full(chance.between(500, 8_000)),
        _ => Happening::Broken(chance.between(2_000, 20_000)),
    }
}
