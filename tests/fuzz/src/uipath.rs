//! UiPath: packets, envelopes, bodies of answers, what it can be asked, and arguments that a person has changed.

use pagehand::conversation::{Command, Content, HistoryQuery, Topic, Wire};
use pagehand::json::Object;
use pagehand::net::Answer;
use pagehand::protocol::uipath::{Line, Opening, Settings, UiPath};
use pagehand::protocol::{Deed, SessionKey};
use serde_json::value::RawValue;

use crate::house::House;
use crate::play::{Played, number};

const ID: &str = "C0FFEE00-0000-4000-8000-000000000001";
const DEEDS: [&str; 20] = [
    "agents",
    "agent",
    "conversations",
    "conversation",
    "update",
    "delete",
    "exchanges",
    "exchange",
    "message",
    "contentPart",
    "feedback",
    "settings",
    "updateSettings",
    "attachment",
    "sendMetaEvent",
    "answerInterrupt",
    "startStream",
    "streamChunk",
    "endStream",
    "endExchange",
];

fn settings() -> Settings {
    Settings {
        url: "http://localhost:9".into(),
        organization: "org".into(),
        tenant: "tenant".into(),
        token: SessionKey::Fixed("canary".into()),
        socket_path: None,
        external_user: None,
        surface: None,
    }
}

fn house(opening: Opening) -> House {
    let line = Line::new(settings(), 7).unwrap();
    House::new(Box::new(UiPath::new(settings(), opening).unwrap()), Some(line))
}

fn creating() -> Opening {
    Opening::Create { request: r#"{"agentReleaseId":7,"folderId":11}"#.into() }
}

fn ready() -> House {
    let mut house = house(creating());
    let open = house.command(Command::Open);
    serve(&mut house);
    admit(&mut house);
    assert!(house.is_settled(open), "it never opened");
    house
}

/// The service lets the newest socket in, and starts the session.
fn admit(house: &mut House) {
    house.wire(Wire::Opened { socket: house.socket }, 0);
    house.frame(r#"0{"sid":"s","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#);
    house.frame(r#"40{"sid":"x"}"#);
    envelope(house, r#""sessionStarted":{}"#);
    serve(house);
}

/// Members of an envelope of the conversation.
fn envelope(house: &mut House, members: &str) {
    house.frame(&format!(r#"42["ConversationEvent",{{"conversationId":"{ID}",{members}}}]"#));
}

/// Something about a call.
fn call(house: &mut House, exchange: &str, call: &str, member: &str, value: &str) {
    let call = format!(r#"{{"toolCallId":"{call}","{member}":{value}}}"#);
    envelope(
        house,
        &format!(
            r#""exchange":{{"exchangeId":"{exchange}","message":{{"messageId":"m-{exchange}","toolCall":{call}}}}}"#
        ),
    );
}

/// Answers whatever is asked, as a service would that has nothing to tell.
fn serve(house: &mut House) {
    while let Some((request, what)) = house.requests.pop_front() {
        let path = what.url.split('?').next().unwrap_or_default();
        let body = if path.ends_with("/exchange") {
            r#"{"data":[]}"#.to_owned()
        } else {
            format!(r#"{{"conversationId":"{ID}"}}"#)
        };
        house.answer(request, 200, &body);
    }
}

/// After all that, a call of a new turn runs, and once, and one answer leaves; or the conversation is over.
fn still_works(house: &mut House) -> Played {
    house.settle_runs();
    house.wire(Wire::Closed { socket: house.socket, code: 1006, reason: String::new() }, 0);
    let sockets = house.sockets;
    for _ in 0..500 {
        serve(house);
        if house.sockets > sockets || house.is_over() || !house.wait() {
            break;
        }
    }
    if house.is_over() {
        return Played::Over;
    }
    assert!(house.sockets > sockets, "no new socket is wanted");
    house.settles = true;
    admit(house);
    // What was in doubt is looked up in its own time.
    for _ in 0..12 {
        serve(house);
        house.now = house.now + pagehand::net::Millis(5_000);
        house.frame("2");
        house.tick();
    }
    serve(house);
    if house.is_over() {
        return Played::Over;
    }
    house.sent.clear();
    let start = r#"{"toolName":"open","input":{"n":1},"isClientSideTool":true}"#;
    for _ in 0..2 {
        call(house, "0a0b0c0d", "good", "startToolCall", start);
        call(house, "0a0b0c0d", "good", "executingToolCall", r#"{"input":{"n":1}}"#);
        serve(house);
    }
    assert_eq!(house.runs.get("0a0b0c0d/good"), Some(&1), "a good call does not run");
    let answers = house.sent.iter().filter(|text| text.contains("endToolCall") && text.contains(r#""good""#)).count();
    assert_eq!(answers, 1, "so many answers left for a good call");
    Played::Works
}

pub fn packets(inputs: &[String]) -> Played {
    let mut house = ready();
    for text in inputs {
        house.settles = number(text).is_multiple_of(2);
        if number(text).is_multiple_of(8) {
            house.wait();
        }
        house.frame(text);
        serve(&mut house);
    }
    still_works(&mut house)
}

pub fn envelopes(inputs: &[String]) -> Played {
    let mut house = ready();
    for text in inputs {
        house.settles = number(text).is_multiple_of(2);
        house.frame(&[r#"42["ConversationEvent","#, text, "]"].concat());
        serve(&mut house);
    }
    still_works(&mut house)
}

/// Every question gets one of these bodies for an answer.
pub fn bodies(inputs: &[String]) -> Played {
    let mut house =
        if number(&inputs[0]).is_multiple_of(2) { ready() } else { house(Opening::Attach { id: ID.into() }) };
    house.command(Command::Open);
    for (round, body) in inputs.iter().cycle().take(inputs.len() * 2).enumerate() {
        if house.requests.is_empty() {
            ask(&mut house, round);
        }
        let Some((request, _)) = house.requests.pop_front() else { continue };
        let status =
            [200, 200, 200, 200, 201, 204, 400, 401, 403, 404, 409, 422, 429, 500, 0, 65_535][number(body) % 16];
        match number(body) % 61 {
            0 => house.input(pagehand::conversation::Input::Wire(Wire::Answered { request, answer: Answer::TimedOut })),
            _ => house.answer(request, status, body),
        }
    }
    Played::Works
}

fn ask(house: &mut House, round: usize) {
    match round % 7 {
        0 => drop(house.command(Command::History(HistoryQuery {
            limit: 5,
            newest_first: true,
            page: Some("é/?".into()),
        }))),
        1 => drop(house.command(Command::Send { content: Content::text("hi").unwrap(), run: true, approve: true })),
        2 => {
            call(house, "x", "c", "startToolCall", r#"{"toolName":"open","input":{},"isClientSideTool":true}"#);
            house.wire(Wire::Closed { socket: house.socket, code: 1006, reason: String::new() }, 0);
        }
        3 => admit_without_answers(house),
        4 => drop(house.command(Command::Do(
            Deed::read(DEEDS[round % DEEDS.len()], &format!(r#"{{"conversation":"{ID}"}}"#)).unwrap(),
        ))),
        5 => drop(house.command(Command::Stop { reason: String::new() })),
        _ => drop(house.wait()),
    }
}

fn admit_without_answers(house: &mut House) {
    house.frame(r#"0{"sid":"s"}"#);
    house.frame(r#"40{"sid":"x"}"#);
    envelope(house, r#""sessionStarted":{}"#);
}

/// What an app asks for in the service's words, and says.
pub fn deeds(inputs: &[String]) -> Played {
    let mut house = ready();
    for text in inputs {
        if let Ok(deed) = Deed::read(DEEDS[number(text) % DEEDS.len()], text) {
            house.command(Command::Do(deed));
        }
        if let Ok(content) = Content::parts(text) {
            house.command(Command::Send { content, run: true, approve: false });
        }
        while let Some((request, _)) = house.requests.pop_front() {
            house.answer(request, 200, text);
        }
    }
    still_works(&mut house)
}

/// A person lets a call through with other arguments, and the agent's side runs it with others still.
pub fn approvals(inputs: &[String]) -> Played {
    let mut house = ready();
    for (at, text) in inputs.iter().enumerate() {
        let exchange = format!("e{at}");
        let start = r#"{"toolName":"create","input":{"title":"a","n":[1,{"x":2}]},"isClientSideTool":true,"requireConfirmation":true}"#;
        call(&mut house, &exchange, "c", "startToolCall", start);
        let asked =
            house.told.iter().rfind(|(topic, text)| *topic == Topic::Approval && text.contains(r#""state":"open""#));
        let approval = asked.and_then(|(_, text)| Object::read(text)?.string("id"));
        assert_eq!(approval.as_deref(), Some(&*format!("{exchange}/c")), "nobody is asked");
        let answer = |arguments| Command::Answer {
            approval: approval.clone().unwrap_or_default(),
            accept: true,
            reason: String::new(),
            arguments,
            say: None,
        };
        // As the edge does it: what is no JSON is refused there.
        let edited = RawValue::from_string(text.clone()).ok();
        let before = house.sent.len();
        house.command(answer(edited));
        house.command(answer(None));
        let confirmed = house.sent[before..].iter().filter(|text| text.contains("confirmToolCall")).count();
        assert_eq!(confirmed, 1, "so many answers left");
        call(&mut house, &exchange, "c", "executingToolCall", &format!(r#"{{"input":{text}}}"#));
        call(&mut house, &exchange, "c", "executingToolCall", r#"{"input":{"title":"b"}}"#);
        assert_eq!(house.runs.get(&format!("{exchange}/c")), Some(&1), "it does not run");
        envelope(&mut house, &format!(r#""exchange":{{"exchangeId":"{exchange}","endExchange":{{}}}}"#));
    }
    still_works(&mut house)
}
