//! What crosses the network, as data, and the pure policies about it. Nothing here does IO.

mod backoff;
mod http;
mod liveness;
mod socket;
mod time;
pub mod url;

pub use backoff::Backoff;
pub use http::{Answer, Method, Request, RequestId};
pub use liveness::{Liveness, Verdict};
pub use socket::SocketId;
pub use time::Millis;
