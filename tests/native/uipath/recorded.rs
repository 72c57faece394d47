//! The recorded traffic of UiPath's own parts.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::rig::{ID, Rig, tools};
use super::shapes;
use crate::replay::{Mishap, happened, mishaps};

/// One step of a recorded scenario, as the client saw it.
#[derive(Clone)]
pub enum Step {
    /// The client said this to the service: an envelope.
    Client(Value),
    /// The service sent this text.
    Server(String),
}

/// The scenarios of all files, in order: the file's name, the scenario's, the steps.
pub fn scenarios() -> Vec<(String, String, Vec<Step>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/uipath");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut all: Vec<(String, String, Vec<Step>)> = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "jsonl")) {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if line["leg"] != "client" || line["kind"] != "frame" {
                continue;
            }
            let scenario = line["scenario"].as_str().unwrap();
            if all.last().is_none_or(|(file, last, _)| *file != name || last != scenario) {
                all.push((name.clone(), scenario.to_owned(), Vec::new()));
            }
            let steps = &mut all.last_mut().unwrap().2;
            if line["dir"] == "server->peer" {
                let raw = line["raw"].as_str().unwrap();
                let id = line["event"][1]["conversationId"].as_str();
                steps.push(Step::Server(id.map_or_else(|| raw.to_owned(), |id| raw.replace(id, ID))));
            } else if line["event"][0] == "ConversationEvent" {
                steps.push(Step::Client(line["event"][1].clone()));
            }
        }
    }
    all
}

/// Plays what happens in exchanges to a conversation; what the recorded client did, the house does.
pub struct Player {
    pub rig: Rig,
    /// Recorded exchanges and ours.
    exchanges: BTreeMap<String, String>,
}

impl Player {
    pub fn new() -> Self {
        Self { rig: Rig::ready(&tools()), exchanges: BTreeMap::new() }
    }

    /// A text with our names for the recorded exchanges.
    pub fn translate(&self, text: &str) -> String {
        self.exchanges.iter().fold(text.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours))
    }

    pub fn step(&mut self, step: &Step) {
        match step {
            Step::Server(text) => {
                // Handshakes and pings are the line's own tests.
                if text.starts_with("42") && !text.contains("sessionStarted") {
                    let text = self.translate(text);
                    self.rig.packet(&text);
                }
            }
            Step::Client(envelope) => self.client(envelope),
        }
    }

    /// A message may have been said again, in an exchange that takes the place of the one before.
    pub fn said_again(&mut self) {
        let newest = self.rig.sent.iter().rfind(|sent| sent["exchange"].get("startExchange").is_some());
        if let Some(newest) = newest.and_then(|sent| sent["exchange"]["exchangeId"].as_str()) {
            self.exchanges.values_mut().for_each(|ours| newest.clone_into(ours));
        }
    }

    fn client(&mut self, envelope: &Value) {
        let exchange = &envelope["exchange"];
        let theirs = exchange["exchangeId"].as_str().unwrap_or_default();
        if exchange.get("startExchange").is_some() {
            self.rig.say("hello");
            let ours = self.rig.sent.iter().rfind(|sent| sent["exchange"].get("startExchange").is_some());
            let ours = ours.map(|sent| sent["exchange"]["exchangeId"].as_str().unwrap().to_owned());
            self.exchanges.extend(ours.map(|ours| (theirs.to_owned(), ours)));
        }
        if exchange.get("endExchange").is_some() {
            self.rig.command(pagehand::protocol::Command::Stop);
        }
        let call = &exchange["message"]["toolCall"];
        let name = self.translate(&format!("{theirs}/{}", call["toolCallId"].as_str().unwrap_or_default()));
        if let Some(confirm) = call.get("confirmToolCall") {
            let input = confirm.get("input").map(ToString::to_string);
            self.rig.decide(&name, confirm["approved"] == true, input.as_deref());
        }
        if let Some(end) = call.get("endToolCall") {
            let outcome = json!({ "kind": "ok", "result": end.get("output") });
            self.rig.settle(&name, &outcome);
        }
    }
}

/// Everything between the beginning of streamed text and the next word, as one `~`.
fn shortened(said: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    let mut in_text = false;
    for word in said.split(", ") {
        let streams = word.starts_with('~');
        if !(streams && in_text) {
            words.push(if streams { "~" } else { word });
        }
        in_text = streams;
    }
    words.join(", ")
}

#[test]
fn all_that_uipaths_own_client_says_has_the_shape_that_we_hold_ourselves_to() {
    let mut checked = 0;
    for (_, _, steps) in scenarios() {
        for step in steps {
            if let Step::Client(envelope) = step {
                shapes::check(&envelope);
                checked += 1;
            }
        }
    }
    assert!(checked > 200, "{checked} envelopes");
}

#[test]
fn every_recorded_scenario_means_to_the_house_what_it_meant() {
    let expected = include_str!("recorded.txt");
    let mut told = String::new();
    for (file, scenario, steps) in scenarios() {
        let mut player = Player::new();
        for step in &steps {
            player.step(step);
        }
        let said = shortened(&player.rig.said());
        assert!(!said.contains("malformed") && !said.contains("duplicate"), "{file} {scenario}: {said}");
        told.extend(
            [file, scenario, said, player.rig.wrote()]
                .iter()
                .zip(["", " ", "\n  ", "\n  > "])
                .flat_map(|(text, before)| [before, text]),
        );
        told.push('\n');
    }
    if std::env::var_os("UPDATE_SAMPLES").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/native/uipath/recorded.txt"), &told).unwrap();
        return;
    }
    for (told, expected) in told.lines().zip(expected.lines()) {
        assert_eq!(told, expected);
    }
    assert_eq!(told.lines().count(), expected.lines().count());
}

#[test]
fn doubled_and_shuffled_frames_run_no_other_calls_and_tell_no_message_twice() {
    let mut random = fastrand::Rng::with_seed(42);
    for (file, scenario, steps) in scenarios() {
        let whole = calls_of(&play(&steps));
        let doubled: Vec<_> = steps
            .iter()
            .flat_map(|step| match step {
                Step::Server(_) => vec![step.clone(), step.clone()],
                Step::Client(_) => vec![step.clone()],
            })
            .collect();
        let told = play(&doubled);
        assert_eq!(calls_of(&told), whole, "{file} {scenario} doubled");
        assert_eq!(messages_of(&told).len(), messages_of(&play(&steps)).len(), "{file} {scenario} doubled: {told}");
        for _ in 0..8 {
            let (mut frames, ours): (Vec<_>, Vec<_>) =
                steps.iter().cloned().partition(|step| matches!(step, Step::Server(_)));
            random.shuffle(&mut frames);
            let begins =
                |step: &Step| matches!(step, Step::Client(sent) if sent["exchange"].get("startExchange").is_some());
            let shuffled: Vec<_> = ours.into_iter().filter(begins).chain(frames).collect();
            let told = play(&shuffled);
            let ran = calls_of(&told);
            assert!(ran.iter().all(|call| whole.contains(call)), "{file} {scenario} shuffled: {told}");
            let once: std::collections::BTreeSet<_> = ran.iter().collect();
            assert_eq!(once.len(), ran.len(), "{file} {scenario} shuffled: a call ran twice: {told}");
        }
    }
}

fn play(steps: &[Step]) -> String {
    let mut player = Player::new();
    for step in steps {
        player.step(step);
    }
    player.rig.said()
}

/// The calls that were let through, in order.
fn calls_of(told: &str) -> Vec<String> {
    let through = told.split("authorised ").skip(1);
    let mut calls: Vec<_> = through.map(|rest| rest.split([',', ' ']).next().unwrap().to_owned()).collect();
    calls.sort();
    calls
}

fn messages_of(told: &str) -> Vec<&str> {
    told.split("assistant: ").skip(1).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_again_or_too_early_each_call_is_let_through_once_and_answered_once(
        which in any::<Index>(), mishaps in mishaps(),
    ) {
        static SCENARIOS: LazyLock<Vec<Vec<Step>>> =
            LazyLock::new(|| scenarios().into_iter().map(|(_, _, steps)| steps).collect());
        let steps = which.get(&SCENARIOS);
        let whole = calls_of(&play(steps));
        // What breaks a connection is in `cuts`; what the house does keeps its place.
        let mishaps: Vec<_> = mishaps.into_iter().filter(|mishap| !matches!(mishap, Mishap::Cut(..))).collect();
        let (frames, ours): (Vec<_>, Vec<_>) = steps.iter().cloned().partition(|step| matches!(step, Step::Server(_)));
        prop_assume!(!frames.is_empty());
        let mut frames = happened(&frames, &mishaps).into_iter().flatten();
        let mut player = Player::new();
        let mut answers = ours.iter();
        // As many frames as there were between two things that the client did.
        for step in steps {
            match step {
                Step::Client(_) => answers.next().into_iter().for_each(|step| player.step(step)),
                Step::Server(_) => frames.next().iter().for_each(|step| player.step(step)),
            }
        }
        frames.for_each(|step| player.step(&step));
        let ran = calls_of(&player.rig.said());
        prop_assert!(ran.iter().all(|call| whole.contains(call)), "{:?} of {:?}", &ran, &whole);
        let once: std::collections::BTreeSet<_> = ran.iter().collect();
        prop_assert_eq!(once.len(), ran.len(), "a call was let through twice: {:?}", &ran);
        for member in ["endToolCall", "confirmToolCall"] {
            let answered: Vec<_> = player.rig.about_calls(member).into_iter().map(|(call, _)| call).collect();
            let once: std::collections::BTreeSet<_> = answered.iter().collect();
            prop_assert_eq!(once.len(), answered.len(), "{} twice: {:?}", member, &answered);
        }
    }
}
