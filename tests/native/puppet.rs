//! A protocol whose server waits for the outcome of each call, played by the test: it says what the test wants said, and
//! writes down what the house wants done.

use std::cell::RefCell;
use std::rc::Rc;

use pagehand::call::CallId;
use pagehand::conversation::{Command as AppCommand, Input, Wire};
use pagehand::error::Error;
use pagehand::net::Millis;
use pagehand::protocol::{Command, CommandId, Meaning, Opened, Outlet, PendingCall, Protocol, Schemas, Signal, Status};
use pagehand::tool::{Tool, ToolName};
use serde_json::value::RawValue;

use crate::stage::{Stage, resumption};

/// The strings that move it.
#[derive(Clone, Default)]
pub struct Strings {
    says: Rc<RefCell<Vec<Signal>>>,
    /// Commands in a few words, with their ids.
    pub wanted: Rc<RefCell<Vec<(CommandId, String)>>>,
}

struct Puppet(Strings);

impl Protocol for Puppet {
    fn check(&self, _: &Tool, _: &[&Tool]) -> Result<(), Error> {
        Ok(())
    }

    fn declare(&mut self, _: &Tool, _: &[&Tool]) -> Result<(), Error> {
        Ok(())
    }

    fn undeclare(&mut self, _: &ToolName) {}

    fn binds(&self) -> bool {
        true
    }

    fn answers(&self) -> bool {
        true
    }

    fn open(&mut self, _: &[&Tool], _: Option<String>, _: u64, _: Millis, out: &mut Outlet) {
        out.say(Signal::Opened(Opened {
            id: "c".into(),
            created: true,
            status: Status::Idle,
            tools: None,
            gate: None,
            loses_messages: true,
        }));
        out.say(Signal::Ready);
    }

    fn wire(&mut self, _: Wire, _: Millis, out: &mut Outlet) {
        out.signals.append(&mut self.0.says.borrow_mut());
    }

    fn command(&mut self, id: CommandId, command: Command, _: Millis, out: &mut Outlet) {
        let words = match command {
            Command::Poll => return out.done(id, Ok("null".into())),
            Command::Say { content, run } => format!("say {content} {run}"),
            Command::Decide { question, accept, reason, arguments } => {
                format!("decide {question} {accept} {reason:?} {}", arguments.as_deref().map_or("", RawValue::get))
            }
            Command::Answer { call, outcome, doubtful } => format!("answer {call} {outcome} doubtful={doubtful}"),
            other => format!("{other:?}"),
        };
        self.0.wanted.borrow_mut().push((id, words));
    }

    fn close(&mut self, _: &mut Outlet) {
        self.0.wanted.borrow_mut().push((CommandId(0), "close".into()));
    }

    fn tick(&mut self, _: Millis, _: &mut Outlet) {}

    fn next_deadline(&self) -> Option<Millis> {
        None
    }

    fn ledger_key(&self) -> String {
        "server c".into()
    }

    fn position(&self) -> Option<String> {
        None
    }
}

impl Strings {
    /// An open conversation that it moves, on a page of this name; of the same browser as another one.
    pub fn stage(&self, tools: Vec<Tool>, page: &str, of: Option<&Stage>) -> Stage {
        let mut stage = Stage::over(Box::new(Puppet(self.clone())), tools, resumption());
        stage.returns = None;
        stage = match of {
            Some(other) => stage.on_page(page, other),
            None => stage,
        };
        stage.command(AppCommand::Open);
        stage
    }

    pub fn say(&self, stage: &mut Stage, signal: Signal) {
        self.says.borrow_mut().push(signal);
        stage.input(Input::Wire(Wire::Fed { text: String::new(), past: false }));
    }

    pub fn means(&self, stage: &mut Stage, meaning: Meaning) {
        self.say(stage, Signal::Found(vec![meaning]));
    }

    pub fn announces(&self, stage: &mut Stage, call: &str, tool: &str, arguments: &str) {
        let announced = Meaning::Announced {
            call: CallId::new(call),
            tool: tool.into(),
            arguments: raw(arguments),
            schemas: Schemas::default(),
        };
        self.means(stage, announced);
    }

    pub fn authorises(&self, stage: &mut Stage, call: &str) {
        self.means(stage, Meaning::Authorised { call: CallId::new(call), arguments: None });
    }

    pub fn calls(&self, stage: &mut Stage, call: &str, tool: &str) {
        self.announces(stage, call, tool, "{}");
        self.authorises(stage, call);
    }

    /// These calls wait, each for an answer of its own.
    pub fn asks(&self, stage: &mut Stage, calls: &[(&str, &str)]) {
        let question = |(call, arguments): &(&str, &str)| {
            vec![PendingCall {
                call_id: CallId::new(*call),
                tool: "t".into(),
                arguments: raw(arguments),
                summary: None,
                risk: None,
                client: true,
                editable: true,
                schema: None,
            }]
        };
        let status = if calls.is_empty() { Status::Running } else { Status::WaitingForConfirmation };
        let asked = Meaning::Approvals(calls.iter().map(question).collect());
        self.say(stage, Signal::Found(vec![asked, Meaning::Status(status)]));
    }

    /// The latest command is done.
    pub fn done(&self, stage: &mut Stage, result: Result<&str, Error>) {
        let command = self.wanted.borrow().last().expect("nothing was wanted").0;
        self.say(stage, Signal::Done { command, result: result.map(ToOwned::to_owned) });
    }

    /// What was wanted since the last time.
    pub fn take(&self) -> Vec<String> {
        let words = |wanted: &RefCell<Vec<(CommandId, String)>>| {
            wanted.borrow().iter().map(|(_, words)| words.clone()).collect::<Vec<_>>()
        };
        let taken = words(&self.wanted);
        self.wanted.borrow_mut().clear();
        taken
    }
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.into()).unwrap()
}
