//! WebSockets as data.

/// Names one socket of one conversation. A replaced socket keeps its number, so that its late events are known as such.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SocketId(pub u32);
