//! What a tool is: its declaration and the rules for it, the registry of a conversation, and what a schema says about a
//! value. Knows no protocol and no call.

mod against;
mod annotations;
mod declaration;
mod name;
mod registry;
mod schema;
mod version;

pub use crate::report::{Issue, Report};
pub use against::{Against, Part, Source};
pub use annotations::Annotations;
pub use declaration::{RunOn, Tool};
pub use name::ToolName;
pub use registry::{Change, Drift, Entry, HandlerId, KnownTool, Registry, SchemaRequest};
pub use schema::{Schema, SchemaId, Schemas};
