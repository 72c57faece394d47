//! The connection that a page's conversations share, as the edge has it: it is a machine of its own beside the conversation's.

use std::mem;

use pagehand::conversation::{Input, Surroundings, Wire, WireEffect};
use pagehand::protocol::openhands::{self, OpenHands};
use pagehand::protocol::uipath::{Line, LineEffect, LineInput, MemberId, Opening, Settings, UiPath};
use pagehand::protocol::{Carry, SessionKey};

use crate::page::Waiting;
use crate::plan::Kind;
use crate::reached::Situation;
use crate::server::text;
use crate::service::text as words;
use crate::world::{Coming, Who, World};

const ME: MemberId = MemberId(1);
const NEIGHBOUR: MemberId = MemberId(2);

impl World {
    pub fn openhands(&self, tab: usize) -> OpenHands {
        let session_key = if self.plan.key_asked { SessionKey::Asked } else { SessionKey::Fixed(text::KEY.to_owned()) };
        let settings = openhands::Settings { url: "http://server".into(), session_key };
        // One of them made it, and makes it again when it comes back; the others know its id.
        let opening = if (tab == 0 && !self.plan.there) || !self.server.created {
            openhands::Opening::Create { id: text::ID.into(), request: r#"{"agent":{},"workspace":"/w"}"#.into() }
        } else {
            openhands::Opening::Attach { id: text::ID.into() }
        };
        OpenHands::new(settings, opening).unwrap()
    }

    /// Whoever is first makes the conversation.
    pub fn uipath(&self) -> UiPath {
        let opening = if self.service.created {
            Opening::Attach { id: words::ID.into() }
        } else {
            Opening::Create { request: r#"{"agentReleaseId":7,"folderId":11}"#.into() }
        };
        let protocol = UiPath::new(self.settings(), opening).unwrap();
        if self.plan.answers_unflagged { protocol.answering_unflagged() } else { protocol }
    }

    pub fn line(&self, seed: u64) -> Line {
        Line::new(self.settings(), seed).unwrap()
    }

    fn settings(&self) -> Settings {
        let fixed = || SessionKey::Fixed(self.key());
        Settings {
            url: "http://localhost:9".into(),
            organization: "org".into(),
            tenant: "tenant".into(),
            token: if self.plan.key_asked { SessionKey::Asked } else { fixed() },
            socket_path: None,
            external_user: None,
            surface: None,
        }
    }

    /// What the app gives when it is asked for the key.
    pub fn key(&self) -> String {
        match self.plan.kind {
            Kind::OpenHands => text::KEY.to_owned(),
            Kind::UiPath => words::token(self.service.token),
        }
    }

    /// A conversation asks something of its connection.
    pub fn carry_for(&mut self, who: Who, what: Carry) {
        self.line_input(who, LineInput::Carry { member: ME, what });
    }

    pub fn line_input(&mut self, who: Who, input: LineInput) {
        let clock = self.clock();
        let Some(page) = self.page(who) else { return };
        if let Some(aside) = &mut page.aside {
            return aside.push_back(Waiting::Line(input));
        }
        page.line_queue.push_back(input);
        if mem::replace(&mut page.line_draining, true) {
            return;
        }
        while let Some(page) = self.page(who)
            && let Some(input) = page.line_queue.pop_front()
            && let Some(line) = &mut page.line
        {
            for effect in line.handle(input, clock) {
                self.line_does(who, effect);
            }
        }
        if let Some(page) = self.page(who) {
            page.line_draining = false;
        }
        self.set_alarm(who);
    }

    fn line_does(&mut self, who: Who, effect: LineEffect) {
        match effect {
            LineEffect::Wire(WireEffect::OpenSocket { socket, url }) => self.open_socket(who, socket, &url),
            LineEffect::Wire(WireEffect::SendText { socket, text }) => self.send_packet(who, socket, text),
            LineEffect::Wire(WireEffect::CloseSocket { socket }) => self.close_socket(who, socket),
            LineEffect::Wire(WireEffect::AskKey) => {
                let key = LineInput::Wire(Wire::Key(Ok(self.key())));
                self.comes(self.now + 1, Coming::Line(who, key));
            }
            LineEffect::Wire(WireEffect::Fetch { .. } | WireEffect::Carry(_)) => {
                self.checks.fail("a connection asks for what is not its own");
            }
            LineEffect::Carried { member: ME, what } => self.input(who, Input::Wire(Wire::Carried(what))),
            LineEffect::Carried { .. } => {}
        }
    }

    /// Another conversation takes part in the connection, wants another one, and leaves.
    pub fn neighbour(&mut self, tab: usize) {
        let Some(who) = self.shown(tab) else { return };
        let Some(page) = self.page(who).filter(|page| page.aside.is_none()) else { return };
        page.neighbour += 1;
        let what = match page.neighbour {
            1 => Carry::Join { conversation: words::OTHER.into() },
            2 => Carry::Renew,
            _ => Carry::Leave,
        };
        self.reached.note(Situation::Neighbour);
        self.line_input(who, LineInput::Carry { member: NEIGHBOUR, what });
    }

    /// What a socket brings goes to whatever opened it.
    pub fn hear_socket(&mut self, who: Who, wire: Wire) {
        match self.plan.kind {
            Kind::OpenHands => self.input(who, Input::Wire(wire)),
            Kind::UiPath => self.line_input(who, LineInput::Wire(wire)),
        }
    }

    /// The network comes or goes.
    pub fn network_is(&mut self, what: Surroundings) {
        for who in self.everybody() {
            self.comes(self.now, Coming::Input(who, Input::Wire(Wire::Surroundings(what))));
            if self.plan.kind == Kind::UiPath {
                self.comes(self.now, Coming::Line(who, LineInput::Wire(Wire::Surroundings(what))));
            }
        }
    }
}
