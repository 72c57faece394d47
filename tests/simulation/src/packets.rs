//! Socket.IO between the pages and UiPath's service: packets in both directions, sessions, and how the service ends them.

use pagehand::net::SocketId;
use serde_json::Value;

use crate::answers::Sent;
use crate::network::Stage;
use crate::reached::Situation;
use crate::service::{Out, text};
use crate::world::{Coming, Who, World, trace};

/// Between two questions whether a socket lives.
const BEAT: u64 = 25_000;

impl World {
    pub fn send_packet(&mut self, who: Who, socket: SocketId, packet: String) {
        let Some(conn) = self.conn_of(who, socket) else { return };
        if self.network.conns[conn].stage == Stage::Gone {
            return;
        }
        if packet.contains(crate::server::text::KEY) && !packet.starts_with("40{") {
            self.checks.fail("the token is in a packet that is not the first");
        }
        trace!(self, "{who} > {} {}", socket.0, short(&packet));
        self.check_packet(who, conn, &packet);
        let (session, looked) = (self.network.conns[conn].sessions, self.answers.last_look(who));
        let sent = Sent { at: self.now, session, looked };
        let delay = self.network.delay();
        let conn_sends = &mut self.network.conns[conn];
        conn_sends.last_sent = conn_sends.last_sent.max(self.now + delay);
        let at = conn_sends.last_sent;
        // More is lost around answers: they matter most.
        let answers = packet.contains("confirmToolCall") || packet.contains("endToolCall");
        if answers && self.network.rates.answer_lost > 0 && self.network.chance.per_mille(150) {
            let cut = at + self.network.chance.below(20);
            self.comes(cut, Coming::SocketClosed(conn, 1006));
            if self.network.chance.per_mille(600) {
                self.service.broken_until = self.service.broken_until.max(self.now + 8_000);
            }
        }
        self.comes(at, Coming::Packet(conn, packet, sent));
    }

    pub fn packet_arrives(&mut self, conn: usize, packet: &str, sent: Sent) {
        let state = &self.network.conns[conn];
        if state.silent || state.sends_nothing || self.is_cut_off() {
            return;
        }
        // Half of what a connection loses it loses on this way.
        if state.stage != Stage::Gone && self.network.chance.per_mille(self.network.rates.cut / 2) {
            self.reached.note(Situation::CutOnTheWay);
            self.network.conns[conn].sends_nothing = true;
            return self.close_arrives(conn, 1006);
        }
        if packet.len() as u64 > self.service.largest {
            return self.checks.fail("a packet is larger than the service takes");
        }
        if packet == "3" {
            self.network.conns[conn].asked = false;
        } else if packet == "41" {
            self.service.gone(conn);
        } else if let Some(body) = packet.strip_prefix("40") {
            let known = body == format!(r#"{{"token":"{}"}}"#, text::token(self.service.token));
            let busy = self.network.chance.per_mille(self.network.rates.refused / 2);
            let answer = if !known {
                self.reached.note(Situation::TokenRefused);
                text::UNAUTHORIZED
            } else if busy {
                self.reached.note(Situation::Refused);
                text::BUSY
            } else {
                text::ADMITTED
            };
            self.comes(self.now + 1, Coming::Admit(conn, answer.to_owned()));
        } else if let Some(event) = packet.strip_prefix(r#"42["ConversationEvent","#) {
            let envelope: Value = serde_json::from_str(event.strip_suffix(']').unwrap()).unwrap();
            self.envelope_arrives(conn, &envelope, sent);
        } else if !packet.starts_with("43") {
            self.checks.fail(&format!("the service does not know the packet {packet}"));
        }
    }

    fn envelope_arrives(&mut self, conn: usize, envelope: &Value, sent: Sent) {
        if envelope["conversationId"] != text::ID {
            return self.checks.fail("an envelope is of another conversation");
        }
        if envelope.get("startSession").is_some() {
            let late = self.network.chance.per_mille(15) && !self.healed;
            let at = self.now + if late { 40_000 } else { self.network.delay() };
            self.comes(at, Coming::Session(conn));
        } else if envelope.get("endSession").is_some() {
            self.service.gone(conn);
            self.service.out.push(Out::One(conn, text::of_session(text::ID, "endSession", "{}")));
        } else if !self.service.sessions.contains(&conn) {
            // The session was ended meanwhile.
            self.reached.note(Situation::Unheard);
        } else {
            self.check_answer(conn, envelope, sent);
            self.service.hear(envelope, self.now);
        }
    }

    pub fn admit(&mut self, conn: usize, answer: String) {
        let state = &mut self.network.conns[conn];
        if state.stage != Stage::Open {
            return;
        }
        if answer == text::ADMITTED {
            state.stage = Stage::Subscribed;
            self.comes(self.now + BEAT, Coming::Beat(conn));
        }
        self.carry(conn, answer);
    }

    pub fn start_session(&mut self, conn: usize) {
        if self.network.conns[conn].stage == Stage::Subscribed {
            self.service.session(conn);
        }
    }

    pub fn beat(&mut self, conn: usize) {
        let state = &self.network.conns[conn];
        if state.stage != Stage::Subscribed {
            return;
        }
        let aside = |world: &mut Self, who| world.page(who).is_none_or(|page| page.aside.is_some());
        let (who, silent, asked) = (state.who, state.silent, state.asked);
        if asked && !silent && !aside(self, who) {
            self.checks.fail(&format!("{who} does not answer when it is asked whether it lives"));
        }
        self.network.conns[conn].asked = true;
        self.carry(conn, "2".to_owned());
        self.comes(self.now + BEAT, Coming::Beat(conn));
    }

    /// What the service says goes to who has a session, or to one.
    pub fn service_speaks(&mut self) {
        for out in std::mem::take(&mut self.service.out) {
            match out {
                Out::Timer { at, alarm } => self.comes(at, Coming::Runtime(alarm)),
                Out::One(conn, envelope) => self.tell_conn(conn, &envelope),
                Out::All(envelope) => {
                    trace!(self, "service: {}", short(&envelope));
                    for conn in self.service.sessions.clone() {
                        self.tell_conn(conn, &envelope);
                    }
                }
            }
        }
    }

    fn tell_conn(&mut self, conn: usize, envelope: &str) {
        if self.network.conns[conn].stage == Stage::Subscribed {
            let manner = self.network.chance.below(30);
            self.carry(conn, text::event(envelope, manner));
        }
    }

    fn socket_with_session(&self, tab: usize) -> Option<usize> {
        let conn = self.newest(tab)?;
        self.service.sessions.contains(&conn).then_some(conn)
    }

    pub fn session_is_ending(&mut self, tab: usize, within: u64) {
        let Some(conn) = self.socket_with_session(tab) else { return };
        self.reached.note(Situation::SessionEnding);
        let ending = text::of_session(text::ID, "sessionEnding", &format!(r#"{{"timeToLiveMS":{within}}}"#));
        self.tell_conn(conn, &ending);
        self.comes(self.now + within, Coming::Kick(conn));
    }

    pub fn end_session(&mut self, tab: usize) {
        let Some(conn) = self.socket_with_session(tab) else { return };
        self.reached.note(Situation::SessionEnded);
        self.service.gone(conn);
        self.tell_conn(conn, &text::of_session(text::ID, "endSession", "{}"));
    }

    pub fn kick(&mut self, tab: usize) {
        if let Some(conn) = self.newest(tab) {
            self.kick_arrives(conn);
        }
    }

    /// The service ends a connection with a word.
    pub fn kick_arrives(&mut self, conn: usize) {
        if self.network.conns[conn].stage == Stage::Subscribed {
            self.reached.note(Situation::Kicked);
            self.service.gone(conn);
            self.network.conns[conn].sends_nothing = true;
            self.carry(conn, "41".to_owned());
        }
    }

    pub fn restart_service(&mut self, down: u64) {
        self.reached.note(Situation::Restarted);
        self.server.down_until = self.now + down;
        self.service.sessions.clear();
        self.close_all(1006);
    }

    /// Tokens that were given are no longer taken. Where the app cannot be asked for another, they last.
    pub fn expire(&mut self) {
        if self.plan.key_asked {
            self.service.token += 1;
        }
    }
}

/// A packet or an envelope without what is the same in all of them, for traces.
pub fn short(packet: &str) -> String {
    let head = format!(r#"{{"conversationId":"{}","#, text::ID);
    packet.replace(&head, "").replace(r#"["ConversationEvent","#, " ").replace('"', "")
}
