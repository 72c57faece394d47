//! How a frame is put on either socket: as a bare event, or in an envelope.

use crate::json::Json;

use super::super::log::Frame;
use super::link::{End, Link, Outgoing};

const FRAME_LIMIT: usize = 4 << 20;

/// Which socket speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Legacy,
    Session,
}

pub(super) async fn send_legacy(link: &mut Link, frame: &Frame, replayed: bool) -> Result<(), End> {
    match frame {
        Frame::Durable(_, event) | Frame::Transient(event) | Frame::LegacyOnly(event) => {
            let (text, tool) = (&event.text, event.tool());
            let outgoing = Outgoing { text, kind: &event.kind, tool, replayed, session: false };
            link.send(outgoing).await
        }
        Frame::Raw(text) => link.send(Outgoing { text, kind: "", tool: None, replayed, session: false }).await,
        Frame::SessionOnly(_) => Ok(()),
    }
}

pub(super) async fn send_session(link: &mut Link, frame: &Frame, replayed: bool) -> Result<(), End> {
    let (text, kind, tool) = match frame {
        Frame::Durable(seq, event) => {
            let text = format!("{{\"type\":\"durable\",\"seq\":{seq},\"event\":{}}}", event.text);
            (text, event.kind.as_str(), event.tool())
        }
        Frame::Transient(event) => {
            let text = format!("{{\"type\":\"transient\",\"event\":{}}}", event.text);
            (text, event.kind.as_str(), event.tool())
        }
        Frame::SessionOnly(envelope) => (envelope.to_string(), kind_of(envelope), None),
        Frame::Raw(text) => (text.clone(), "", None),
        Frame::LegacyOnly(_) => return Ok(()),
    };
    if text.len() > FRAME_LIMIT {
        return Err(End::close(1013, "frame_too_large"));
    }
    link.send(Outgoing { text: &text, kind, tool, replayed, session: true }).await
}

fn kind_of(envelope: &Json) -> &str {
    envelope.text("type").unwrap_or_default()
}
