//! Many schedules; and the one that fails, made smaller.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::plan::{Kind, Plan, Rates};
use crate::reached::Reached;
use crate::service::Step;
use crate::world::World;

/// Lines of a trace that are shown.
const SHOWN: usize = 60;

/// Schedules that a thread takes at a time.
const BATCH: u64 = 16;

/// What became of many schedules.
#[derive(Default)]
pub struct Sum {
    pub schedules: u64,
    pub steps: u64,
    /// For each kind of server.
    pub reached: [Reached; 2],
    /// Failing schedules and what they broke.
    pub violations: Vec<(Kind, u64, String)>,
    pub per_second: u64,
}

/// Runs the schedules of so many seeds with each of these servers, on as many threads, until so many have failed.
pub fn many(kinds: &[Kind], first: u64, count: u64, threads: usize, enough: usize) -> Sum {
    let begin = Instant::now();
    let next = AtomicU64::new(first);
    let sum = Mutex::new(Sum::default());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let from = next.fetch_add(BATCH, Ordering::Relaxed);
                    if from >= first + count || sum.lock().unwrap().violations.len() >= enough {
                        return;
                    }
                    for kind in kinds {
                        some(*kind, from, (first + count).min(from + BATCH), &sum);
                    }
                }
            });
        }
    });
    let mut sum = sum.into_inner().unwrap();
    sum.violations.sort_by_key(|(kind, seed, _)| (*seed, kind.as_str()));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    let per_second = (sum.schedules as f64 / begin.elapsed().as_secs_f64()) as u64;
    sum.per_second = per_second;
    sum
}

fn some(kind: Kind, from: u64, to: u64, sum: &Mutex<Sum>) {
    let mut mine = Sum::default();
    for seed in from..to {
        let mut world = World::new(Plan::new(kind, seed), false);
        let failure = world.run();
        mine.schedules += 1;
        mine.steps += world.steps;
        mine.reached[kind as usize].add(&world.reached);
        mine.violations.extend(failure.map(|what| (kind, seed, what)));
    }
    let mut sum = sum.lock().unwrap();
    sum.schedules += mine.schedules;
    sum.steps += mine.steps;
    for (all, mine) in sum.reached.iter_mut().zip(&mine.reached) {
        all.add(mine);
    }
    sum.violations.append(&mut mine.violations);
}

/// The trace of a plan and what it broke.
pub fn traced(plan: &Plan) -> (Vec<String>, Option<String>) {
    let mut world = World::new(plan.clone(), true);
    let failure = world.run();
    (world.trace.unwrap_or_default(), failure)
}

/// Leaves out what the failure does not need, one thing at a time.
pub fn shrink(kind: Kind, seed: u64) -> Plan {
    let mut plan = Plan::new(kind, seed);
    let what = |plan: &Plan| World::new(plan.clone(), false).run().map(|what| nameless(&what));
    let first = what(&plan);
    let fails = |plan: &Plan| what(plan) == first;
    let mut smaller = true;
    while smaller {
        smaller = false;
        for candidate in candidates(&plan) {
            if fails(&candidate) {
                plan = candidate;
                smaller = true;
                break;
            }
        }
    }
    plan
}

/// What went wrong, whichever call and page it was.
fn nameless(what: &str) -> String {
    let words = what.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}

fn candidates(plan: &Plan) -> Vec<Plan> {
    let mut candidates = Vec::new();
    let rates = plan.rates;
    let zero: [(u64, Rates); 7] = [
        (rates.lost, Rates { lost: 0, ..rates }),
        (rates.answer_lost, Rates { answer_lost: 0, ..rates }),
        (rates.hidden, Rates { hidden: 0, ..rates }),
        (rates.cut, Rates { cut: 0, ..rates }),
        (rates.duplicate, Rates { duplicate: 0, ..rates }),
        (rates.refused, Rates { refused: 0, ..rates }),
        (rates.crash, Rates { crash: 0, ..rates }),
    ];
    for (_, rates) in zero.into_iter().filter(|(rate, _)| *rate > 0) {
        candidates.push(Plan { rates, ..plan.clone() });
    }
    if plan.large > 0 {
        candidates.push(Plan { large: 0, ..plan.clone() });
    }
    if plan.slow.is_some() {
        candidates.push(Plan { slow: None, ..plan.clone() });
    }
    if plan.late.is_some() {
        candidates.push(Plan { late: None, ..plan.clone() });
    }
    for place in (0..plan.happenings.len()).rev() {
        let mut fewer = plan.clone();
        fewer.happenings.remove(place);
        candidates.push(fewer);
    }
    for place in (0..plan.steps.len()).rev() {
        let mut fewer = plan.clone();
        fewer.steps.remove(place);
        candidates.push(fewer);
        let Step::Calls(calls) = &plan.steps[place] else { continue };
        for call in (0..calls.len()).filter(|_| calls.len() > 1) {
            let mut fewer = plan.clone();
            if let Step::Calls(calls) = &mut fewer.steps[place] {
                calls.remove(call);
            }
            candidates.push(fewer);
        }
    }
    for place in (0..plan.script.len()).rev() {
        let mut fewer = plan.clone();
        fewer.script.remove(place);
        candidates.push(fewer);
        for call in 0..plan.script[place].len() {
            let mut fewer = plan.clone();
            fewer.script[place].remove(call);
            if !fewer.script[place].is_empty() {
                candidates.push(fewer);
            }
        }
    }
    candidates
}

/// A failing seed as people want to read it.
pub fn report(kind: Kind, seed: u64) -> String {
    let plan = shrink(kind, seed);
    let (mut trace, failure) = traced(&plan);
    // Later on nothing happens but the heartbeats of what is stuck.
    let time = |line: &String| line.split_whitespace().next().and_then(|time| time.parse().ok()).unwrap_or(0u64);
    trace.retain(|line| time(line) < plan.ends + 20_000);
    let from = trace.len().saturating_sub(SHOWN);
    let flavour = match kind {
        Kind::OpenHands if plan.session => format!("session, confirm {}, {:?}", plan.confirm, plan.script),
        Kind::OpenHands => format!("legacy, confirm {}, {:?}", plan.confirm, plan.script),
        Kind::UiPath => format!("{:?}", plan.steps),
    };
    let mut text = format!(
        "{} seed {seed}: {}\n  {:?}\n  script {flavour}\n",
        kind.as_str(),
        failure.unwrap_or_default(),
        plan.rates,
    );
    for line in &trace[from..] {
        text.extend(line.chars().take(170).chain(['\n']));
    }
    text
}
