//! What is going to happen between pages and UiPath's service.

use crate::chance::Chance;
use crate::service::script;

use super::{Happening, Kind, Plan, Slow, rates};

impl Plan {
    pub(super) fn uipath(seed: u64) -> Self {
        let mut chance = Chance::new(seed, 6);
        let tabs = chance.pick(&[1, 1, 1, 2, 2, 3, 4]);
        let ends = chance.between(4_000, 30_000);
        let mut happenings = vec![(0, Happening::Open(0)), (500, Happening::Send { tab: 0, run: true })];
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
        if chance.per_mille(100) {
            let at = chance.below(ends);
            happenings.extend((0..3).map(|more| (at + 400 * more, Happening::Neighbour(0))));
        }
        happenings.sort_by_key(|(at, _)| *at);
        Self {
            kind: Kind::UiPath,
            seed,
            session: false,
            confirm: false,
            results: false,
            key_asked: chance.per_mille(400),
            script: Vec::new(),
            steps: script(&mut chance),
            answers_unflagged: chance.per_mille(500),
            rates: rates(&mut chance),
            there: chance.per_mille(250),
            large: chance.pick(&[0, 0, 0, 150]),
            slow: chance.per_mille(150).then(|| Slow {
                tab: chance.index(tabs),
                most: chance.pick(&[300, 1_000, 4_000]),
                from: 0,
            }),
            late: None,
            happenings,
            tabs,
            ends,
        }
    }
}

fn person(chance: &mut Chance, tabs: usize) -> Happening {
    let tab = chance.index(tabs);
    match chance.below(100) {
        0..43 => Happening::Send { tab, run: true },
        43..50 => Happening::ChangeTool { tab, back: chance.per_mille(350) },
        50..64 => Happening::Cancel(tab),
        64..74 => Happening::Stop(tab),
        74..78 => Happening::EndExchange(tab),
        78..90 => Happening::Idle(tab),
        90..94 => Happening::History(tab),
        94..96 => Happening::Run(tab),
        _ => Happening::Leave(tab),
    }
}

fn fault(chance: &mut Chance, tabs: usize) -> Happening {
    let tab = chance.index(tabs);
    match chance.below(100) {
        0..20 => {
            let away = chance.pick(&[100, 400, 2_000, 20_000]);
            Happening::Reload { tab, away, word: chance.per_mille(400) }
        }
        20..26 => Happening::Die(tab),
        26..32 => Happening::Hide(tab, chance.between(1_000, 90_000)),
        32..36 => Happening::Away(tab, chance.between(500, 20_000)),
        36..45 => Happening::Offline(chance.between(200, 15_000)),
        45..48 => Happening::Jump(chance.pick(&[-300_000, -60_000, 30_000, 240_000])),
        48..52 => Happening::LoseStorage(tab),
        52..64 => Happening::Cut(tab, chance.pick(&[1006, 1011])),
        64..70 => Happening::HalfOpen(tab),
        70..76 => Happening::Restart { kill: true, down: chance.between(100, 4_000), lose: 0 },
        76..81 => Happening::Ending(tab, chance.between(200, 20_000)),
        81..86 => Happening::EndSession(tab),
        86..90 => Happening::Kick(tab),
        90..93 => Happening::Unwell(chance.between(500, 8_000)),
        93..96 => Happening::Expire,
        _ => Happening::Broken(chance.between(500, 20_000)),
    }
}
