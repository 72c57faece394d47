//! Many inputs, on all cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::available_parallelism;
use std::time::Instant;

use fastrand::Rng;

use crate::mutate::mutate;
use crate::node::Node;
use crate::play::{Decoder, Played, play, shrink};
use crate::seeds;

/// Failing plays of a decoder that are shown.
const SHOWN: usize = 3;

/// What a decoder is fed with: a text, and its tree if it is JSON.
struct Recording {
    /// What stands before the JSON, as in a packet.
    before: String,
    text: String,
    tree: Option<Node>,
}

impl Recording {
    fn new(text: &str) -> Self {
        let head = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (before, text) = match text.split_at(head) {
            (before, rest) if Node::read(rest).is_some() => (before, rest),
            _ => ("", text),
        };
        Self { before: before.to_owned(), text: text.to_owned(), tree: Node::read(text) }
    }
}

/// What came of a decoder's inputs.
#[derive(Default)]
struct Sum {
    inputs: u64,
    plays: u64,
    over: u64,
    bytes: u64,
    failures: Vec<String>,
}

/// Shares so many inputs among decoders. What failed, ready to be read.
pub fn run(decoders: &[&Decoder], inputs: u64, seed: u64) -> Vec<String> {
    let begin = Instant::now();
    let weights: u64 = decoders.iter().map(|decoder| decoder.weight).sum();
    let (mut failures, mut all) = (Vec::new(), 0);
    for decoder in decoders {
        let (begin, share) = (Instant::now(), (inputs * decoder.weight).div_ceil(weights));
        let sum = feed(decoder, share, seed);
        println!(
            "{:18} {:>9} inputs, {:>5} MB, {:>7} plays, {:>6} of them over, {:>4} s",
            decoder.name,
            sum.inputs,
            sum.bytes >> 20,
            sum.plays,
            sum.over,
            begin.elapsed().as_secs(),
        );
        // Nonsense that ends every conversation says nothing about what comes after it.
        let ends_always = sum.plays > 500 && sum.over * 10 > sum.plays * 9;
        failures.extend(ends_always.then(|| format!("{}: nearly every conversation ends", decoder.name)));
        failures.extend(sum.failures);
        all += sum.inputs;
    }
    println!("{all} inputs in {} s, {} failures", begin.elapsed().as_secs(), failures.len());
    failures
}

fn feed(decoder: &Decoder, inputs: u64, seed: u64) -> Sum {
    let corpus: Vec<_> = (decoder.corpus)().iter().map(|text| Recording::new(text)).collect();
    let plays = inputs.div_ceil(decoder.batch as u64);
    let next = AtomicU64::new(0);
    let sum = Mutex::new(Sum::default());
    std::thread::scope(|scope| {
        for _ in 0..available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let mut mine = Sum::default();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= plays || mine.failures.len() >= SHOWN {
                        break;
                    }
                    one(decoder, &corpus, seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15), &mut mine);
                }
                let mut sum = sum.lock().unwrap();
                sum.inputs += mine.inputs;
                sum.plays += mine.plays;
                sum.over += mine.over;
                sum.bytes += mine.bytes;
                sum.failures.append(&mut mine.failures);
            });
        }
    });
    sum.into_inner().unwrap()
}

/// One play, of inputs that the seed decides.
fn one(decoder: &Decoder, corpus: &[Recording], seed: u64, sum: &mut Sum) {
    let mut random = Rng::with_seed(seed);
    let null = Node::Leaf("null".into());
    // Some of what comes is as it should be: else nothing would get far.
    let inputs: Vec<String> = (0..decoder.batch)
        .map(|_| {
            let recording = &corpus[random.usize(..corpus.len())];
            if random.u8(..) < 60 {
                return [&*recording.before, &recording.text].concat();
            }
            let other = corpus[random.usize(..corpus.len())].tree.as_ref().unwrap_or(&null);
            let text = mutate(&mut random, &recording.text, recording.tree.as_ref(), other);
            [&*recording.before, &text].concat()
        })
        .collect();
    sum.inputs += inputs.len() as u64;
    sum.bytes += inputs.iter().map(|text| text.len() as u64).sum::<u64>();
    sum.plays += 1;
    match play(decoder, &inputs) {
        Ok(Played::Works) => {}
        Ok(Played::Over) => sum.over += 1,
        Err(_) => {
            let fewer = shrink(decoder, &inputs);
            let what = play(decoder, &fewer).err().unwrap_or_default();
            seeds::keep(decoder, &fewer);
            sum.failures.push(seeds::told(decoder, &fewer, &what));
        }
    }
}
