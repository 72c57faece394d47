//! What an agent server's protocol is to the rest of the house: it turns frames and answers into [`Signal`]s, and
//! [`Command`]s of the house into frames and requests. A protocol's folder is the only place that knows its wire.

#[cfg(feature = "openhands")]
pub mod openhands;
#[cfg(feature = "uipath")]
pub mod uipath;

mod command;
mod key;
mod signal;
mod wire;

pub use crate::tool::Schemas;
pub use command::{Command, CommandId, Deed, Page};
pub use key::SessionKey;
pub use signal::{Condition, Connection, Delivery, Meaning, NoticeCode, Opened, PendingCall, Signal, Status};
pub use wire::{Carried, Carry, Outlet, Surroundings, Wire, WireEffect};

use crate::error::Error;
use crate::net::Millis;
use crate::tool::{Tool, ToolName};

/// The machine of one conversation on one kind of server. It does no IO: what happens comes in, what must be done goes out.
pub trait Protocol {
    /// Checks what this protocol's servers ask of a tool that is declared to them beside these others.
    fn check(&self, tool: &Tool, others: &[&Tool]) -> Result<(), Error>;

    /// Takes a tool that the app declares later, or declares anew, beside these others; or refuses it.
    fn declare(&mut self, tool: &Tool, others: &[&Tool]) -> Result<(), Error>;

    /// A tool is taken back.
    fn undeclare(&mut self, name: &ToolName);

    /// Whether the server binds the name of a tool to its schema for as long as it lives. Otherwise tools are declared with
    /// every turn, each time as they are then.
    fn binds(&self) -> bool;

    /// Whether the agent waits for the outcome of each of its calls: [`Command::Answer`].
    fn answers(&self) -> bool;

    /// Opens the conversation. Ends with one `Ready` or `Ended`. What is in the log up to `position` has been dealt with, and
    /// what follows is ours; without a position the log of a conversation that was there before is history. The seed decides
    /// all jitter.
    fn open(&mut self, tools: &[&Tool], position: Option<String>, seed: u64, now: Millis, out: &mut Outlet);

    /// Something came over the wire.
    fn wire(&mut self, wire: Wire, now: Millis, out: &mut Outlet);

    /// The house wants something. Ends with one `Done` for the command, unless the conversation ends before.
    fn command(&mut self, id: CommandId, command: Command, now: Millis, out: &mut Outlet);

    /// The house wants the connection closed.
    fn close(&mut self, out: &mut Outlet);

    /// Time went on.
    fn tick(&mut self, now: Millis, out: &mut Outlet);

    /// When [`Protocol::tick`] is needed next.
    fn next_deadline(&self) -> Option<Millis>;

    /// The name of this conversation in the ledger: unique over servers and conversations.
    fn ledger_key(&self) -> String;

    /// How far the log has been delivered, for a later [`Protocol::open`].
    fn position(&self) -> Option<String>;

    /// Whether everything that follows this place in the log was delivered here, as far as the log has come. A protocol that
    /// cannot tell says no.
    fn covers(&self, _position: &str) -> bool {
        false
    }
}
