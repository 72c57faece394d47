//! The decoders, and one play of inputs to each.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::{corpus, openhands, uipath, values};

/// Longer than any play takes, on a machine that has other things to do.
const LONGEST: Duration = Duration::from_secs(20);

/// What became of a conversation that heard nonsense.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Played {
    /// What came after that was understood: a call ran, and once.
    Works,
    /// It has said that it is over.
    Over,
}

/// Something that reads what comes from outside.
pub struct Decoder {
    pub name: &'static str,
    /// Its part of all inputs, compared with that of others.
    pub weight: u64,
    /// Inputs that one play takes.
    pub batch: usize,
    pub corpus: fn() -> Vec<String>,
    pub play: fn(&[String]) -> Played,
}

pub const DECODERS: [Decoder; 16] = [
    Decoder { name: "openhands-session", weight: 16, batch: 32, corpus: corpus::frames, play: openhands::session },
    Decoder { name: "openhands-legacy", weight: 10, batch: 32, corpus: corpus::frames, play: openhands::legacy },
    Decoder { name: "openhands-feed", weight: 6, batch: 32, corpus: corpus::frames, play: openhands::feed },
    Decoder { name: "openhands-bodies", weight: 8, batch: 16, corpus: corpus::bodies, play: openhands::bodies },
    Decoder { name: "openhands-deeds", weight: 4, batch: 16, corpus: corpus::deeds, play: openhands::deeds },
    Decoder { name: "uipath-packets", weight: 12, batch: 32, corpus: corpus::packets, play: uipath::packets },
    Decoder { name: "uipath-envelopes", weight: 14, batch: 32, corpus: corpus::envelopes, play: uipath::envelopes },
    Decoder { name: "uipath-bodies", weight: 6, batch: 16, corpus: corpus::exchanges, play: uipath::bodies },
    Decoder { name: "uipath-deeds", weight: 4, batch: 16, corpus: corpus::deeds, play: uipath::deeds },
    Decoder { name: "approvals", weight: 4, batch: 16, corpus: corpus::arguments, play: uipath::approvals },
    Decoder { name: "ledger", weight: 2, batch: 4, corpus: corpus::positions, play: openhands::records },
    Decoder { name: "json", weight: 20, batch: 32, corpus: corpus::arguments, play: values::json },
    Decoder { name: "tools", weight: 8, batch: 32, corpus: corpus::tools, play: values::tools },
    Decoder { name: "reports", weight: 4, batch: 32, corpus: corpus::reports, play: values::reports },
    Decoder { name: "engine", weight: 1, batch: 16, corpus: corpus::schemas, play: values::engine },
    Decoder { name: "addresses", weight: 4, batch: 32, corpus: corpus::addresses, play: values::addresses },
];

thread_local! {
    static WORDS: RefCell<String> = const { RefCell::new(String::new()) };
}

/// From now on a panic is kept for the report instead of being printed.
pub fn keep_panics() {
    std::panic::set_hook(Box::new(|info| WORDS.with(|words| *words.borrow_mut() = info.to_string())));
}

/// Plays inputs; the error says what they broke.
pub fn play(decoder: &Decoder, inputs: &[String]) -> Result<Played, String> {
    let begin = Instant::now();
    let played = catch_unwind(AssertUnwindSafe(|| (decoder.play)(inputs)));
    let took = begin.elapsed();
    match played {
        Ok(_) if took > LONGEST => Err(format!("it took {took:?}")),
        Ok(played) => Ok(played),
        Err(_) => Err(WORDS.with(RefCell::take)),
    }
}

/// Leaves out what the failure does not need.
pub fn shrink(decoder: &Decoder, inputs: &[String]) -> Vec<String> {
    let mut inputs = inputs.to_vec();
    let mut at = 0;
    while at < inputs.len() && inputs.len() > 1 {
        let mut fewer = inputs.clone();
        fewer.remove(at);
        if play(decoder, &fewer).is_err() {
            inputs = fewer;
        } else {
            at += 1;
        }
    }
    inputs
}

/// A number that an input decides: the same input is played in the same way.
pub fn number(text: &str) -> usize {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    usize::try_from(hash >> 33).unwrap_or_default()
}
