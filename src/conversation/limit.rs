//! What is refused because there is too much of it. The limits of calls are kept where calls are.

use crate::error::Error;
use crate::protocol::{Carried, NoticeCode, Wire};

use super::Command;
use super::approval::Given;
use super::state::{Conversation, Purpose};

impl Conversation {
    /// Whether a frame is larger than the page takes. It is told, and dropped.
    pub(super) fn is_too_large(&mut self, wire: &Wire) -> bool {
        let (Wire::Frame { text, .. } | Wire::Fed { text, .. } | Wire::Carried(Carried::Text(text))) = wire else {
            return false;
        };
        let (found, most) = (text.len(), self.settings.limits.frame_bytes);
        if found > most {
            let words = ["a frame has ", &found.to_string(), " bytes, and the limit is ", &most.to_string()].concat();
            self.tell_notice(NoticeCode::FrameTooLarge, &words, None);
        }
        found > most
    }

    /// Why the app must wait before it asks for more. What makes room is never refused.
    pub(super) fn refused_by_limit(&self, command: &Command) -> Option<Error> {
        let asks_for_more = match command {
            Command::Send { .. } | Command::Run { .. } | Command::Do(_) | Command::Idle | Command::History(_) => true,
            Command::Open
            | Command::Answer { .. }
            | Command::Stop { .. }
            | Command::Declare(_)
            | Command::Undeclare(_)
            | Command::Cancel { .. }
            | Command::Close => false,
        };
        let of_the_app = |purpose: &Purpose| match purpose {
            Purpose::App { operation, .. } | Purpose::Answer(Given { operation, .. }) => operation.is_some(),
            Purpose::Look | Purpose::Results(_) | Purpose::Told(_) | Purpose::Call(_) | Purpose::Poll => false,
        };
        let asked = self.commands.iter().filter(|(_, purpose)| of_the_app(purpose)).count();
        let most = self.settings.limits.pending_requests;
        let full = asks_for_more && asked + self.held.len() + self.idle.len() >= most;
        full.then_some(Error::LimitExceeded { limit: "pendingRequests", most })
    }
}
