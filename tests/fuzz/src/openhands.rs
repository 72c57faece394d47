//! OpenHands: frames of both sockets, frames that an app gives, bodies of answers, what it can be asked.

use pagehand::conversation::{Command, Content, HistoryQuery, Input, Wire};
use pagehand::net::{Answer, Method, Request};
use pagehand::protocol::Deed;
use pagehand::protocol::openhands::{OpenHands, Opening, SessionKey, Settings};

use crate::house::House;
use crate::play::{Played, number};

const ID: &str = "7c1f0f3e-6a52-4c0c-9a38-2a3f0e4ad111";
const DEEDS: [&str; 11] =
    ["pause", "interrupt", "fork", "delete", "update", "navigate", "switchLlm", "ask", "condense", "setPolicy", "list"];

fn house(opening: Opening) -> House {
    let settings = Settings { url: "http://server".into(), session_key: SessionKey::Fixed("canary".into()) };
    House::new(Box::new(OpenHands::new(settings, opening).unwrap()), None)
}

fn creating() -> Opening {
    Opening::Create { id: ID.into(), request: r#"{"agent":{},"workspace":"/"}"#.into() }
}

/// A conversation on a server of this version, with nothing in its log.
fn ready(version: &str) -> House {
    let mut house = house(creating());
    let open = house.command(Command::Open);
    serve(&mut house, version);
    connect(&mut house);
    assert!(house.is_settled(open), "it never opened");
    house
}

fn connect(house: &mut House) {
    house.wire(Wire::Opened { socket: house.socket }, 0);
    house.frame(r#"{"type":"sync","from_seq":-1,"through_seq":-1,"kind":"ConversationStateUpdateEvent","id":"s"}"#);
    serve(house, "1.58.2");
}

/// Answers whatever is asked, as a server would whose log is empty.
fn serve(house: &mut House, version: &str) {
    while let Some((request, what)) = house.requests.pop_front() {
        let (status, body) = good_answer(&what, version);
        house.answer(request, status, &body);
    }
}

fn good_answer(what: &Request, version: &str) -> (u16, String) {
    let path = what.url.split('?').next().unwrap_or_default();
    if path.ends_with("/server_info") {
        (200, format!(r#"{{"version":"{version}"}}"#))
    } else if path.ends_with("/events/search") {
        (200, r#"{"items":[],"next_page_id":null}"#.to_owned())
    } else if path.contains("/events/") {
        (404, r#"{"detail":"Not Found"}"#.to_owned())
    } else if what.method == Method::Post && !path.ends_with("/api/conversations") {
        (200, r#"{"success":true}"#.to_owned())
    } else {
        (200, format!(r#"{{"id":"{ID}","execution_status":"idle","client_tools":[]}}"#))
    }
}

/// After all that, a call runs, and once; or the conversation has said that it is over.
fn still_works(house: &mut House) -> Played {
    house.settle_runs();
    if house.is_over() {
        return Played::Over;
    }
    house.wire(Wire::Closed { socket: house.socket, code: 1006, reason: String::new() }, 0);
    let sockets = house.sockets;
    for _ in 0..500 {
        serve(house, "1.58.2");
        if house.sockets > sockets || house.is_over() || !house.wait() {
            break;
        }
    }
    if house.is_over() {
        return Played::Over;
    }
    assert!(house.sockets > sockets, "no new socket is wanted");
    connect(house);
    hear_good_call(house, |house, event| house.frame(&format!(r#"{{"type":"transient","event":{event}}}"#)));
    Played::Works
}

/// A call is announced and let through, each twice: it runs, and once.
fn hear_good_call(house: &mut House, hear: impl Fn(&mut House, &str)) {
    let call = "0a0b0c0d-good";
    let running =
        r#"{"id":"0a0b0c0d-run","kind":"ConversationStateUpdateEvent","key":"execution_status","value":"running"}"#;
    let action = format!(
        r#"{{"id":"{call}","kind":"ActionEvent","source":"agent","thought":[],"tool_name":"open","tool_call_id":"good","action":{{"kind":"ClientAction_open","n":1}}}}"#
    );
    let ack = format!(
        r#"{{"id":"{call}-ack","kind":"ObservationEvent","tool_name":"open","tool_call_id":"good","action_id":"{call}","observation":{{"kind":"ClientToolObservation","is_error":false,"content":[]}}}}"#
    );
    house.settles = true;
    for _ in 0..2 {
        for event in [running, &action, &ack] {
            hear(house, event);
            serve(house, "1.58.2");
        }
    }
    assert_eq!(house.runs.get(call), Some(&1), "a good call does not run");
}

pub fn session(inputs: &[String]) -> Played {
    let mut house = ready("1.58.2");
    for text in inputs {
        house.settles = number(text).is_multiple_of(2);
        // Now and then the next piece of time passes first.
        if number(text).is_multiple_of(8) {
            house.wait();
        }
        house.frame(text);
        serve(&mut house, "1.58.2");
    }
    still_works(&mut house)
}

pub fn legacy(inputs: &[String]) -> Played {
    let mut house = ready("1.43.1");
    for text in inputs {
        house.settles = number(text).is_multiple_of(2);
        house.frame(text);
        serve(&mut house, "1.43.1");
    }
    house.settle_runs();
    if house.is_over() {
        return Played::Over;
    }
    hear_good_call(&mut house, House::frame);
    Played::Works
}

/// An app that feeds what it hears itself.
pub fn feed(inputs: &[String]) -> Played {
    let mut house = house(Opening::Feed { id: ID.into() });
    house.command(Command::Open);
    serve(&mut house, "1.58.2");
    for text in inputs {
        house.settles = number(text).is_multiple_of(2);
        let fed = Wire::Fed { text: text.clone(), past: number(text).is_multiple_of(5) };
        house.wire(fed, text.len());
        serve(&mut house, "1.58.2");
    }
    if house.is_over() {
        return Played::Over;
    }
    hear_good_call(&mut house, |house, event| {
        house.wire(Wire::Fed { text: event.to_owned(), past: false }, event.len());
    });
    Played::Works
}

/// Every question of a conversation gets one of these bodies for an answer, with one of these statuses.
pub fn bodies(inputs: &[String]) -> Played {
    let mut bodies = inputs.iter().cycle();
    let mut next = || bodies.next().map(String::as_str).unwrap_or_default();
    let opening = if number(next()).is_multiple_of(2) { creating() } else { Opening::Attach { id: ID.into() } };
    let mut house = house(opening);
    house.command(Command::Open);
    for round in 0..inputs.len() * 2 {
        if house.requests.is_empty() {
            ask(&mut house, round);
        }
        let Some((request, what)) = house.requests.pop_front() else { continue };
        let body = next();
        // What is opened by nonsense never gets further: now and then the server is a good one.
        if number(body).is_multiple_of(4) {
            let (status, body) = good_answer(&what, "1.58.2");
            house.answer(request, status, &body);
            continue;
        }
        let status =
            [200, 200, 200, 201, 204, 400, 401, 404, 409, 422, 429, 500, 502, 503, 0, 65_535][number(body) % 16];
        match number(body) % 61 {
            0 => house.wire(Wire::Answered { request, answer: Answer::Unreachable }, 0),
            1 => house.wire(Wire::Answered { request, answer: Answer::TimedOut }, 0),
            _ => house.answer(request, status, body),
        }
    }
    Played::Works
}

fn ask(house: &mut House, round: usize) {
    match round % 8 {
        0 => drop(house.command(Command::History(HistoryQuery {
            limit: 5,
            newest_first: true,
            page: Some("é/?".into()),
        }))),
        1 => drop(house.command(Command::Send { content: Content::text("hi").unwrap(), run: true, approve: true })),
        2 => drop(house.command(Command::Run { approve: true })),
        3 => drop(house.command(Command::Open)),
        4 => house.wire(Wire::Opened { socket: house.socket }, 0),
        5 => house.frame(r#"{"type":"sync","from_seq":-1,"through_seq":7}"#),
        6 => drop(house.command(Command::Do(Deed::read(DEEDS[round % DEEDS.len()], "{}").unwrap()))),
        _ => drop(house.wait()),
    }
}

/// What an app asks for in the server's words, and says.
pub fn deeds(inputs: &[String]) -> Played {
    let mut house = ready("1.58.2");
    for text in inputs {
        if let Ok(deed) = Deed::read(DEEDS[number(text) % DEEDS.len()], text) {
            house.command(Command::Do(deed));
        }
        if let Ok(content) = Content::parts(text) {
            house.command(Command::Send { content, run: false, approve: false });
        }
        // Whatever became of it: a fork or a deletion changes what the house is.
        while let Some((request, _)) = house.requests.pop_front() {
            house.answer(request, 200, text);
        }
    }
    if house.is_over() { Played::Over } else { still_works(&mut house) }
}

/// What a page of this browser has written about the conversation, should it be another text than it was.
pub fn records(inputs: &[String]) -> Played {
    use pagehand::call::{Claim, Key, LedgerInput, Memory, Place, Remembered};
    use serde_json::value::RawValue;
    let mut over = 0;
    for text in inputs {
        let mut house = house(Opening::Attach { id: ID.into() });
        house.command(Command::Open);
        let place = Some(Place { position: text.clone(), at: house.now });
        let key = |subject: &str| Key { conversation: format!("http://server {ID}").into(), subject: subject.into() };
        let settled = |subject: &str| {
            let claim = RawValue::from_string(text.clone()).map_or(Claim::Abandoned, Claim::Settled);
            Remembered { key: key(subject), tool: text.clone(), claim }
        };
        let open = vec![
            settled("call x"),
            settled(text),
            settled("approval again 99999999999999999999 x"),
            settled("answer x"),
        ];
        house.input(Input::Ledger(LedgerInput::Recalled(Memory { place, open })));
        serve(&mut house, "1.58.2");
        house.wire(Wire::Opened { socket: house.socket }, 0);
        house.frame(r#"{"type":"sync","from_seq":0,"through_seq":3}"#);
        serve(&mut house, "1.58.2");
        let claim = RawValue::from_string(text.clone()).map_or(Claim::Held, Claim::Settled);
        house.input(Input::Ledger(LedgerInput::Watched { key: key("call x"), claim }));
        match still_works(&mut house) {
            Played::Over => over += 1,
            Played::Works => {}
        }
    }
    if over == inputs.len() { Played::Over } else { Played::Works }
}
