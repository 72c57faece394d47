//! Every recorded scenario, with the connection cut after each frame: each call gets one answer that arrives, each message is
//! said and told once, whatever was lost on the way.

use std::collections::BTreeMap;

use pagehand::protocol::Command;
use serde_json::{Value, json};

use super::recorded::{Player, Step, scenarios};

/// What is lost when the connection breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    Nothing,
    /// What we sent since the service last spoke.
    Ours,
    /// All of that but the first envelopes.
    Most,
    /// What the service says until we would speak again.
    Theirs,
}

/// The service's memory: what it has of each exchange.
#[derive(Default)]
struct Memory {
    exchanges: Vec<(String, Vec<Value>)>,
    answers: BTreeMap<String, Vec<Value>>,
    confirmations: BTreeMap<String, Vec<Value>>,
}

impl Memory {
    fn message(&mut self, exchange: &str, id: &str) -> &mut Value {
        if self.exchanges.iter().all(|(known, _)| known != exchange) {
            self.exchanges.push((exchange.to_owned(), Vec::new()));
        }
        let (_, messages) = self.exchanges.iter_mut().find(|(known, _)| known == exchange).unwrap();
        if messages.iter().all(|message| message["messageId"] != id) {
            messages.push(json!({ "messageId": id, "role": "", "contentParts": [], "toolCalls": [] }));
        }
        messages.iter_mut().find(|message| message["messageId"] == id).unwrap()
    }

    /// An envelope of either side.
    fn take(&mut self, envelope: &Value) {
        let exchange = &envelope["exchange"];
        let Some(x) = exchange["exchangeId"].as_str() else { return };
        if exchange.get("startExchange").is_some() && self.exchanges.iter().all(|(known, _)| known != x) {
            self.exchanges.push((x.to_owned(), Vec::new()));
        }
        let message = &exchange["message"];
        let Some(m) = message["messageId"].as_str() else { return };
        let kept = self.message(x, m);
        if let Some(start) = message.get("startMessage") {
            kept["role"] = start["role"].clone();
        }
        let part = &message["contentPart"];
        if let Some(start) = part.get("startContentPart") {
            let id = part["contentPartId"].clone();
            let part = json!({ "contentPartId": id, "mimeType": start["mimeType"], "data": { "inline": "" } });
            kept["contentParts"].as_array_mut().unwrap().push(part);
        }
        if let Some(data) = part["chunk"]["data"].as_str() {
            let parts = kept["contentParts"].as_array_mut().unwrap();
            let text = &mut parts.iter_mut().find(|kept| kept["contentPartId"] == part["contentPartId"]).unwrap()["data"]
                ["inline"];
            *text = json!(format!("{}{data}", text.as_str().unwrap()));
        }
        let call = &message["toolCall"];
        let Some(id) = call["toolCallId"].as_str() else { return };
        if let Some(start) = call.get("startToolCall") {
            let call = json!({ "toolCallId": id, "name": start["toolName"], "input": start["input"],
                "requireConfirmation": start["requireConfirmation"], "inputSchema": start["inputSchema"] });
            kept["toolCalls"].as_array_mut().unwrap().push(call);
        }
        let known = kept["toolCalls"].as_array_mut().unwrap().iter_mut().find(|known| known["toolCallId"] == id);
        if let Some(end) = call.get("endToolCall") {
            if let Some(known) = known {
                known["result"] = json!({ "output": end.get("output") });
            }
            self.answers.entry(id.to_owned()).or_default().push(end.clone());
        } else if let Some(confirm) = call.get("confirmToolCall") {
            if let Some(known) = known {
                known["confirmation"] = confirm.clone();
            }
            self.confirmations.entry(id.to_owned()).or_default().push(confirm.clone());
        }
    }

    fn exchange(&self, id: &str) -> Option<String> {
        let (_, messages) = self.exchanges.iter().find(|(known, _)| known == id)?;
        Some(json!({ "exchangeId": id, "messages": messages }).to_string())
    }
}

/// Answers all that is asked of REST.
fn serve(player: &mut Player, memory: &Memory) {
    while let Some((_, request)) = player.rig.requests.first().cloned() {
        let url = request.url.split('?').next().unwrap().to_owned();
        if url.ends_with("/exchange") {
            let newest: Vec<_> = memory.exchanges.iter().rev().filter_map(|(id, _)| memory.exchange(id)).collect();
            player.rig.answer(&url, 200, &format!(r#"{{"data":[{}]}}"#, newest.join(",")));
        } else {
            let found = memory.exchange(url.rsplit('/').next().unwrap());
            player.rig.answer(&url, if found.is_some() { 200 } else { 404 }, &found.unwrap_or_default());
        }
    }
}

/// Plays a scenario with a cut after the frame of this number. What the service has in the end, what the house was told, and
/// how many frames there were.
fn play(steps: &[Step], cut: usize, loss: Loss) -> (Memory, String, usize) {
    let (mut player, mut memory) = (Player::new(), Memory::default());
    let mut heard = 0;
    let mut arrived = 0;
    let mut away = false;
    let mut told = String::new();
    for step in steps {
        let theirs = match step {
            Step::Server(text) if text.starts_with("42") => Some(text),
            Step::Server(_) => continue,
            Step::Client(_) => None,
        };
        // Whatever the service says next, it has heard us by then.
        if theirs.is_some() && !away {
            for envelope in &player.rig.sent[arrived..] {
                memory.take(envelope);
            }
            arrived = player.rig.sent.len();
        }
        if let Some(text) = theirs {
            let text = player.translate(text);
            let event: Value = serde_json::from_str(&text[2..]).unwrap_or_default();
            memory.take(&event[1]);
            heard += 1;
        }
        if away && theirs.is_none() {
            back(&mut player, &memory);
            arrived = player.rig.sent.len();
            away = false;
        }
        if !away {
            player.step(step);
            serve(&mut player, &memory);
        }
        if heard == cut && theirs.is_some() {
            player.rig.lose(1006);
            away = true;
            if loss != Loss::Theirs {
                back(&mut player, &memory);
                arrived = player.rig.sent.len();
                away = false;
            }
        } else if heard == cut && theirs.is_none() && loss != Loss::Theirs && !away {
            // Cut between our words and theirs.
            let sent: Vec<_> = player.rig.sent[arrived..].to_vec();
            let through = match loss {
                Loss::Nothing | Loss::Theirs => sent.len(),
                Loss::Ours => 0,
                Loss::Most => sent.len().min(2),
            };
            for envelope in &sent[..through] {
                memory.take(envelope);
            }
            player.rig.lose(1006);
            back(&mut player, &memory);
            for envelope in &player.rig.sent[arrived + sent.len()..].to_vec() {
                memory.take(envelope);
            }
            arrived = player.rig.sent.len();
        }
        told.push_str(&player.rig.said());
        told.push_str(", ");
    }
    if away {
        back(&mut player, &memory);
    }
    serve(&mut player, &memory);
    player.rig.command(Command::Poll);
    serve(&mut player, &memory);
    told.push_str(&player.rig.said());
    (memory, told, heard)
}

fn back(player: &mut Player, memory: &Memory) {
    player.rig.come_back();
    // What was sent last has arrived or is lost before anything is read.
    player.rig.pass(2_000);
    serve(player, memory);
    player.said_again();
}

/// Scenarios in which UiPath's own client does what we would not, or the service does nothing.
fn is_ordinary(file: &str) -> bool {
    let odd = [
        "abandoned",
        "odd-answers",
        "not-declared",
        "client-ends",
        "guardrail",
        "one-argument",
        "sdk-",
        "transport-",
        "connect",
    ];
    !odd.iter().any(|odd| file.starts_with(odd))
}

#[test]
fn wherever_the_connection_breaks_each_call_is_answered_once_and_each_message_told_once() {
    let mut played = 0;
    for (file, scenario, steps) in scenarios().into_iter().filter(|(file, ..)| is_ordinary(file)) {
        let (whole, expected, frames) = play(&steps, usize::MAX, Loss::Nothing);
        let messages = said_by_agent(&expected);
        for loss in [Loss::Nothing, Loss::Ours, Loss::Most, Loss::Theirs] {
            for cut in 0..=frames {
                let (memory, told, _) = play(&steps, cut, loss);
                let name = format!("{file} {scenario}, {loss:?} after {cut}: {told}");
                assert_eq!(said_by_agent(&told), messages, "{name}");
                for (call, answers) in &whole.answers {
                    let count = |memory: &Memory| memory.answers.get(call).map_or(0, Vec::len);
                    assert_eq!(count(&memory), answers.len(), "{name}: answers of {call}");
                }
                for (call, confirmations) in &whole.confirmations {
                    let found = memory.confirmations.get(call).map_or(0, Vec::len);
                    assert_eq!(found, confirmations.len(), "{name}: confirmations of {call}");
                }
                let runs = told.matches("authorised").count();
                assert!(runs <= expected.matches("authorised").count(), "{name}");
                assert!(told.contains("over ") || told.contains("polled finished"), "{name}: the end");
                assert_eq!(told.matches("user: hello").count(), 1, "{name}");
                played += 1;
            }
        }
    }
    assert!(played > 800, "{played} cuts");
}

fn said_by_agent(told: &str) -> Vec<String> {
    let said = told.split("assistant: ").skip(1);
    said.map(|rest| rest.split(", ~").next().unwrap().chars().take(12).collect()).collect()
}
