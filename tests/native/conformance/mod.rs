//! What a client of this server must do, one test for each rule. 17 is in `approval`, 22 and 23 are in `ledger`, with what they
//! need.

mod calls;
mod connection;
mod turns;

use pagehand::conversation::Command;
use pagehand::protocol::openhands::Opening;

use crate::stage::{ID, Stage, full_state, page_of, tool};

const ANY: &str = r#"{"type":"object"}"#;

fn ready() -> Stage {
    Stage::ready(vec![tool("t", ANY)])
}

/// A created conversation on a server without the session socket.
fn legacy() -> Stage {
    let mut stage = Stage::new(vec![tool("t", ANY)]);
    stage.command(Command::Open);
    stage.open("1.43.1", 201, "[]");
    stage.frame(&full_state("subscribed", "idle"));
    stage.answer("/events/search", 200, &page_of(&[], None));
    stage
}

fn attached() -> Stage {
    let mut stage = Stage::with(Opening::Attach { id: ID.into() }, vec![tool("t", ANY)]);
    stage.command(Command::Open);
    stage.open("1.58.2", 200, "[]");
    stage
}

fn ran(stage: &Stage) -> Vec<&str> {
    stage.runs.iter().map(|run| run.call.as_str()).collect()
}
