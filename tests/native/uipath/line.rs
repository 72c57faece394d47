//! One connection for all conversations.

use std::collections::VecDeque;

use pagehand::net::{Millis, SocketId};
use pagehand::protocol::uipath::{Line, LineEffect, LineInput, MemberId, Settings};
use pagehand::protocol::{Carried, Carry, SessionKey, Surroundings, Wire, WireEffect};

const GREETING: &str = r#"0{"sid":"s","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000}"#;
const ADMITTED: &str = r#"40{"sid":"x"}"#;
const REFUSED: &str = r#"44{"message":"Unauthorized","data":{"code":401}}"#;
const A: MemberId = MemberId(1);
const B: MemberId = MemberId(2);

/// A line without a network.
struct Rig {
    line: Line,
    now: Millis,
    /// What became of it, one word each.
    log: VecDeque<String>,
    socket: SocketId,
}

impl Rig {
    fn new(token: SessionKey) -> Self {
        let settings = Settings {
            url: "http://localhost:9".into(),
            organization: "org".into(),
            tenant: "tenant".into(),
            token,
            socket_path: None,
            external_user: None,
            surface: None,
        };
        let line = Line::new(settings, 7).unwrap();
        Self { line, now: Millis(1_000_000), log: VecDeque::new(), socket: SocketId(0) }
    }

    /// A line with one conversation, which is let in.
    fn up() -> Self {
        let mut rig = Self::new(SessionKey::Fixed("canary".into()));
        rig.join(A, "a");
        rig.admit();
        rig.said();
        rig
    }

    fn input(&mut self, input: LineInput) {
        for effect in self.line.handle(input, self.now) {
            let word = match effect {
                LineEffect::Wire(WireEffect::OpenSocket { socket, .. }) => {
                    self.socket = socket;
                    format!("open{}", socket.0)
                }
                LineEffect::Wire(WireEffect::SendText { socket, text }) => format!("send{} {text}", socket.0),
                LineEffect::Wire(WireEffect::CloseSocket { socket }) => format!("close{}", socket.0),
                LineEffect::Wire(WireEffect::AskKey) => "key?".to_owned(),
                LineEffect::Wire(WireEffect::Fetch { .. } | WireEffect::Carry(_)) => panic!("not of a line"),
                LineEffect::Carried { member, what } => {
                    let what = match what {
                        Carried::Connecting => "connecting".to_owned(),
                        Carried::Up { limit } => format!("up {limit}"),
                        Carried::Down { close_code, .. } => format!("down {close_code}"),
                        Carried::Text(text) => text,
                        Carried::Alive => "alive".to_owned(),
                        Carried::Odd { code, .. } => format!("{code:?}"),
                        Carried::Refused(error) => error.code().to_owned(),
                    };
                    format!("{}: {what}", member.0)
                }
            };
            self.log.push_back(word);
        }
    }

    fn join(&mut self, member: MemberId, conversation: &str) {
        self.carry(member, Carry::Join { conversation: conversation.into() });
    }

    fn carry(&mut self, member: MemberId, what: Carry) {
        self.input(LineInput::Carry { member, what });
    }

    fn frame(&mut self, text: &str) {
        self.frame_of(self.socket, text);
    }

    fn frame_of(&mut self, socket: SocketId, text: &str) {
        self.input(LineInput::Wire(Wire::Frame { socket, text: text.into() }));
    }

    fn event(&mut self, conversation: &str) {
        self.frame(&format!(r#"42["ConversationEvent",{{"conversationId":"{conversation}"}}]"#));
    }

    fn admit(&mut self) {
        self.frame(GREETING);
        self.frame(ADMITTED);
    }

    fn lose(&mut self, code: u16) {
        self.input(LineInput::Wire(Wire::Closed { socket: self.socket, code, reason: String::new() }));
    }

    fn key(&mut self, key: Result<&str, &str>) {
        self.input(LineInput::Wire(Wire::Key(key.map(Into::into).map_err(Into::into))));
    }

    fn around(&mut self, what: Surroundings) {
        self.input(LineInput::Wire(Wire::Surroundings(what)));
    }

    /// Time goes on until the line wants to be woken. How long that was.
    fn wait(&mut self) -> u64 {
        let at = self.line.next_wakeup().expect("nothing is waited for").max(self.now);
        let waited = at.0 - self.now.0;
        self.now = at;
        self.input(LineInput::Tick);
        waited
    }

    /// What happened since the last question.
    fn said(&mut self) -> String {
        self.log.drain(..).collect::<Vec<_>>().join(", ")
    }
}

#[test]
fn a_connection_begins_with_the_token_and_ends_with_a_leave() {
    let mut rig = Rig::new(SessionKey::Fixed("canary".into()));
    rig.join(A, "a");
    assert_eq!(rig.said(), "1: connecting, open1");
    rig.frame(GREETING);
    assert_eq!(rig.said(), r#"send1 40{"token":"canary"}"#);
    rig.frame(ADMITTED);
    assert_eq!(rig.said(), "1: up 1000");
    rig.carry(A, Carry::Send(r#"{"conversationId":"a"}"#.into()));
    assert_eq!(rig.said(), r#"send1 42["ConversationEvent",{"conversationId":"a"}]"#);
    rig.carry(A, Carry::Leave);
    assert_eq!(rig.said(), "send1 41, close1");
    assert_eq!(rig.line.next_wakeup(), None);
}

#[test]
fn without_a_token_the_server_is_asked_all_the_same() {
    let mut rig = Rig::new(SessionKey::None);
    rig.join(A, "a");
    rig.said();
    rig.frame(GREETING);
    assert_eq!(rig.said(), "send1 40");
}

#[test]
fn each_connection_asks_for_a_fresh_token() {
    let mut rig = Rig::new(SessionKey::Asked);
    rig.join(A, "a");
    assert_eq!(rig.said(), "1: connecting, key?");
    rig.key(Ok("one"));
    rig.admit();
    assert_eq!(rig.said(), r#"open1, send1 40{"token":"one"}, 1: up 1000"#);
    rig.lose(1006);
    rig.wait();
    assert_eq!(rig.said(), "1: down 1006, 1: connecting, key?");
    rig.key(Ok("two"));
    rig.frame(GREETING);
    assert_eq!(rig.said(), r#"open2, send2 40{"token":"two"}"#);
}

#[test]
fn several_conversations_share_one_socket_and_each_hears_its_own() {
    let mut rig = Rig::up();
    rig.join(B, "b");
    assert_eq!(rig.said(), "2: up 1000");
    rig.event("b");
    rig.event("a");
    rig.event("somebody else's");
    assert_eq!(rig.said(), r#"2: {"conversationId":"b"}, 1: {"conversationId":"a"}"#);
    rig.carry(A, Carry::Leave);
    rig.event("a");
    assert_eq!(rig.said(), "");
    rig.carry(A, Carry::Send("{}".into()));
    assert_eq!(rig.said(), "", "who has left says nothing");
    rig.carry(B, Carry::Leave);
    assert_eq!(rig.said(), "send1 41, close1");
}

#[test]
fn pings_are_answered_and_acknowledgements_given_at_once() {
    let mut rig = Rig::up();
    rig.frame("2");
    assert_eq!(rig.said(), "send1 3, 1: alive");
    rig.frame(r#"4217["ConversationEvent",{"conversationId":"a"},"sid"]"#);
    assert_eq!(rig.said(), r#"send1 4317[], 1: {"conversationId":"a"}"#);
}

#[test]
fn silence_ends_a_connection_and_anything_heard_prolongs_it() {
    let mut rig = Rig::up();
    rig.now = Millis(rig.now.0 + 44_000);
    rig.frame("2");
    assert_eq!(rig.wait(), 45_000);
    assert_eq!(rig.said(), "send1 3, 1: alive, close1, 1: down 1000");
    rig.wait();
    assert_eq!(rig.said(), "1: connecting, open2");
    rig.frame_of(SocketId(1), "2");
    rig.input(LineInput::Wire(Wire::Closed { socket: SocketId(1), code: 1006, reason: String::new() }));
    assert_eq!(rig.said(), "", "the late close of the old one starts no second loop");
}

#[test]
fn a_socket_that_does_not_let_us_in_is_given_up_after_twenty_seconds() {
    let mut rig = Rig::new(SessionKey::None);
    rig.join(A, "a");
    rig.frame(GREETING);
    rig.said();
    assert_eq!(rig.wait(), 20_000);
    assert_eq!(rig.said(), "close1, 1: down 1000");
}

#[test]
fn every_way_of_being_sent_away_is_tried_again() {
    for (frame, code) in [("41", 1000), ("1", 1000), (r#"44{"message":"gone"}"#, 1000), ("", 1008), ("", 1009)] {
        let mut rig = Rig::up();
        if frame.is_empty() {
            rig.lose(code);
            assert_eq!(rig.said(), format!("1: down {code}"));
        } else {
            rig.frame(frame);
            assert_eq!(rig.said(), "close1, 1: down 1000", "{frame}");
        }
        rig.wait();
        rig.admit();
        assert_eq!(rig.said(), r#"1: connecting, open2, send2 40{"token":"canary"}, 1: up 1000"#);
    }
}

#[test]
fn a_token_that_is_refused_is_asked_for_once_more() {
    let mut rig = Rig::new(SessionKey::Asked);
    rig.join(A, "a");
    rig.key(Ok("old"));
    rig.frame(GREETING);
    rig.said();
    rig.frame(REFUSED);
    assert_eq!(rig.said(), "close1, 1: connecting, key?");
    rig.key(Ok("older"));
    rig.frame(GREETING);
    rig.frame(REFUSED);
    assert!(rig.said().ends_with("close2, 1: unauthorized"));
    assert_eq!(rig.line.next_wakeup(), None, "nothing more is tried");
    rig.join(A, "a");
    assert_eq!(rig.said(), "1: connecting, key?", "a new conversation is a new attempt");
}

#[test]
fn a_fixed_token_that_is_refused_is_not_tried_twice() {
    let mut rig = Rig::new(SessionKey::Fixed("bad".into()));
    rig.join(A, "a");
    rig.frame(GREETING);
    rig.said();
    rig.frame(REFUSED);
    assert_eq!(rig.said(), "close1, 1: unauthorized");
}

#[test]
fn a_refusal_of_a_line_that_worked_is_waited_out() {
    let mut rig = Rig::up();
    rig.lose(1006);
    for socket in 2..12 {
        rig.wait();
        rig.frame(GREETING);
        rig.said();
        rig.frame(REFUSED);
        assert_eq!(rig.said(), format!("close{socket}, 1: down 1000"));
    }
    rig.wait();
    rig.admit();
    assert!(rig.said().ends_with("1: up 1000"));
}

#[test]
fn other_refusals_are_told_as_what_they_are() {
    let mut rig = Rig::new(SessionKey::None);
    rig.join(A, "a");
    rig.frame(GREETING);
    rig.said();
    rig.frame(r#"44{"message":"Forbidden","data":{"code":403}}"#);
    assert_eq!(rig.said(), "close1, 1: request_refused");
}

#[test]
fn a_service_that_was_never_reached_is_given_up_after_five_attempts() {
    let mut rig = Rig::new(SessionKey::None);
    rig.join(A, "a");
    for _ in 0..4 {
        rig.lose(1006);
        rig.wait();
    }
    rig.said();
    rig.lose(1006);
    assert_eq!(rig.said(), "1: unreachable");
}

#[test]
fn a_line_that_worked_is_tried_for_as_long_as_it_takes_and_less_and_less_often() {
    let mut rig = Rig::up();
    let began = rig.now.0;
    for _ in 0..30 {
        rig.lose(1006);
        rig.wait();
        // It lets us in, and carries nothing.
        rig.admit();
    }
    assert!(rig.now.0 - began > 150_000, "{} ms", rig.now.0 - began);
    rig.event("a");
    rig.lose(1006);
    assert!(rig.wait() <= 1_000, "what carried something was worth it");
}

#[test]
fn a_token_that_the_app_has_not_is_an_end_at_first_and_a_delay_later() {
    let mut rig = Rig::new(SessionKey::Asked);
    rig.join(A, "a");
    rig.said();
    rig.key(Err("signed out"));
    assert_eq!(rig.said(), "1: unauthorized");
    rig.join(A, "a");
    rig.key(Ok("t"));
    rig.admit();
    rig.lose(1006);
    rig.wait();
    rig.said();
    rig.key(Err("signed out"));
    assert_eq!(rig.said(), "1: down 1000");
    rig.wait();
    assert_eq!(rig.said(), "1: connecting, key?");
}

#[test]
fn a_renewal_stands_before_the_old_connection_ends() {
    let mut rig = Rig::up();
    rig.carry(A, Carry::Renew);
    rig.carry(A, Carry::Renew);
    assert_eq!(rig.said(), "open2");
    rig.frame_of(SocketId(1), r#"42["ConversationEvent",{"conversationId":"a"}]"#);
    rig.carry(A, Carry::Send("{}".into()));
    assert_eq!(
        rig.said(),
        r#"1: {"conversationId":"a"}, send1 42["ConversationEvent",{}]"#,
        "the old one is good until then"
    );
    rig.admit();
    assert_eq!(rig.said(), r#"send2 40{"token":"canary"}, send1 41, close1, 1: up 1000"#);
}

#[test]
fn a_renewal_that_fails_costs_nothing_and_is_tried_again() {
    let mut rig = Rig::up();
    rig.carry(A, Carry::Renew);
    rig.said();
    rig.lose(1006);
    assert_eq!(rig.said(), "");
    rig.wait();
    assert_eq!(rig.said(), "open3");
    rig.input(LineInput::Wire(Wire::Closed { socket: SocketId(1), code: 1012, reason: String::new() }));
    assert_eq!(rig.said(), "1: down 1012, 1: connecting", "the attempt goes on");
    rig.admit();
    assert_eq!(rig.said(), r#"send3 40{"token":"canary"}, 1: up 1000"#);
}

#[test]
fn a_page_that_is_put_aside_leaves_and_one_that_is_back_returns() {
    let mut rig = Rig::up();
    rig.around(Surroundings::Leaving);
    assert_eq!(rig.said(), "send1 41, close1, 1: down 1000");
    assert_eq!(rig.line.next_wakeup(), None);
    rig.around(Surroundings::Shown);
    assert_eq!(rig.said(), "");
    rig.around(Surroundings::Back);
    assert_eq!(rig.said(), "1: connecting, open2");
}

#[test]
fn a_network_that_comes_back_is_tried_at_once_and_may_be_another() {
    let mut rig = Rig::up();
    rig.around(Surroundings::Offline);
    rig.around(Surroundings::Online);
    assert_eq!(rig.said(), "open2", "a fresh connection beside the old one");
    rig.admit();
    rig.said();
    rig.around(Surroundings::Offline);
    rig.lose(1006);
    assert_eq!(rig.said(), "1: down 1006");
    assert_eq!(rig.line.next_wakeup(), None, "without a network nothing is tried");
    rig.around(Surroundings::Online);
    assert_eq!(rig.said(), "1: connecting, open3");
}

#[test]
fn a_page_that_slept_looks_at_its_socket_first() {
    let mut rig = Rig::up();
    rig.now = Millis(rig.now.0 + 600_000);
    rig.around(Surroundings::Shown);
    assert_eq!(rig.said(), "close1, 1: down 1000, 1: connecting, open2");
}

#[test]
fn a_page_that_left_while_the_token_was_asked_for_opens_nothing() {
    let mut rig = Rig::new(SessionKey::Asked);
    rig.join(A, "a");
    rig.around(Surroundings::Leaving);
    rig.said();
    rig.key(Ok("t"));
    assert_eq!(rig.said(), "");
    rig.around(Surroundings::Back);
    assert_eq!(rig.said(), "1: connecting, key?");
    rig.key(Ok("t"));
    assert_eq!(rig.said(), "open1");
}

#[test]
fn what_nobody_understands_is_told_and_breaks_nothing() {
    let mut rig = Rig::up();
    for (frame, told) in [
        ("", "MalformedFrame"),
        ("nonsense", "MalformedFrame"),
        ("42[", "MalformedFrame"),
        (r#"42["ConversationEvent"]"#, "MalformedFrame"),
        (r#"42["ConversationEvent",5]"#, "MalformedFrame"),
        (r#"42["ConversationEvent",{"conversationId":7}]"#, "MalformedFrame"),
        (r#"42["OtherEvent",{"x":1}]"#, "UnknownFrame"),
        ("451-[]", "UnknownFrame"),
    ] {
        rig.frame(frame);
        assert_eq!(rig.said(), format!("1: {told}"), "{frame}");
    }
    for idle in ["6", "3", "430[]", GREETING, ADMITTED, r#"42/other,["ConversationEvent",{"conversationId":"a"}]"#] {
        rig.frame(idle);
        assert_eq!(rig.said(), "", "{idle}");
    }
    rig.event("a");
    assert_eq!(rig.said(), r#"1: {"conversationId":"a"}"#);
}
