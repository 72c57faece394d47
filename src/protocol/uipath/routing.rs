//! What the line makes of packets: each conversation gets its own.

use std::borrow::Cow;

use crate::json::{Json, Object};
use crate::net::{Millis, SocketId};
use crate::protocol::{Carried, NoticeCode};

use super::line::{Line, MemberId, OURS};
use super::packet::{self, Event, Packet};

impl Line {
    /// A packet from the socket that carries.
    pub(super) fn frame(&mut self, socket: SocketId, text: &str, now: Millis) {
        if let Some(pipe) = &mut self.up {
            pipe.heard(now);
        }
        match packet::read(text) {
            Some(Packet::Ping) => {
                self.send(socket, packet::PONG.to_owned());
                self.tell_all(&Carried::Alive);
            }
            Some(Packet::Event(event)) => self.event(socket, &event),
            Some(Packet::Disconnect) => self.ended(socket, "the server ended the connection", now),
            Some(Packet::Refused(_)) => self.ended(socket, "the server no longer lets us in", now),
            Some(Packet::Open(_) | Packet::Connected | Packet::Idle) => {}
            Some(Packet::Binary) => self.odd(NoticeCode::UnknownFrame, "a binary packet, which UiPath has no use for"),
            None => self.odd(NoticeCode::MalformedFrame, "a frame that is no packet of Socket.IO"),
        }
    }

    fn ended(&mut self, socket: SocketId, reason: &str, now: Millis) {
        self.up = None;
        self.close(socket);
        self.lost(reason, OURS, now);
    }

    fn event(&mut self, socket: SocketId, event: &Event) {
        if let Some(ack) = event.ack {
            self.send(socket, packet::acknowledge(ack));
        }
        if !event.is_conversation() {
            return self.odd(NoticeCode::UnknownFrame, &["an event of the name ", &event.name].concat());
        }
        let envelope = event.argument.map(Json::get);
        let Some((envelope, conversation)) = envelope.and_then(|text| Some((text, named(text)?))) else {
            return self.odd(NoticeCode::MalformedFrame, "an event that names no conversation");
        };
        // A conversation that has left may still be spoken to: that concerns nobody here.
        let to: Vec<MemberId> =
            self.members.iter().filter(|(_, id)| **id == *conversation).map(|(to, _)| *to).collect();
        if let Some(pipe) = self.up.as_mut().filter(|pipe| !pipe.useful && !to.is_empty()) {
            pipe.useful = true;
            self.backoff.reset();
        }
        for member in to {
            self.tell(member, Carried::Text(envelope.to_owned()));
        }
    }

    fn odd(&mut self, code: NoticeCode, message: &str) {
        self.tell_all(&Carried::Odd { code, message: message.to_owned() });
    }
}

fn named(envelope: &str) -> Option<Cow<'_, str>> {
    Object::read(envelope)?.get("conversationId")?.string()
}
