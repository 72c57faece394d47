//! What the faults do to a frame on its way.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::faults::{Fault, FrameFacts, Leg, Match, Sender};
use crate::json::{Json, parse};
use crate::object;

use super::link::{End, Link};
use super::packet::{Packet, event};

/// What a binary event carries.
const BYTES: [u8; 4] = [0xde, 0xad, 0xbe, 0xef];

/// A frame as faults see it.
struct Look<'a> {
    packet: &'a Packet,
    tool: Option<String>,
    from: Sender,
    /// The number of frames in this direction with this one.
    frames: u64,
}

impl Look<'_> {
    fn hit_by(&self, matching: &Match) -> bool {
        let kinds: Vec<&str> = self.packet.facts.kinds.iter().map(String::as_str).collect();
        matching.hits(FrameFacts {
            kinds: &kinds,
            tool: self.tool.as_deref(),
            call: self.packet.facts.call.as_deref(),
            from: self.from,
            replayed: false,
            frames: self.frames,
        })
    }

    fn is_event(&self) -> bool {
        self.packet.envelope.is_some()
    }
}

impl Link {
    fn look<'a>(&self, packet: &'a Packet, from: Sender) -> Look<'a> {
        let facts = &packet.facts;
        let tool = facts.tool.clone().or_else(|| {
            let call = facts.call.as_deref()?;
            self.shared.uipath.lock().conversation(&facts.conversation)?.tool(call).map(str::to_owned)
        });
        let counter = if from == Sender::Server { &self.sent } else { &self.heard };
        Look { packet, tool, from, frames: counter.load(Ordering::Relaxed) + 1 }
    }

    fn fire<T>(&self, look: &Look<'_>, pick: impl Fn(&Fault) -> Option<T>) -> Option<T> {
        self.shared.faults.fire_on(self.leg, look.packet.facts.id(), pick)
    }

    /// Whether a fault that is about frames hits this one.
    fn hit(&self, look: &Look<'_>, pick: impl Fn(&Fault) -> Option<&Match>) -> bool {
        self.fire(look, |fault| pick(fault).filter(|matching| look.hit_by(matching)).map(|_| ())).is_some()
    }

    /// What may happen before a socket's first frame.
    pub(super) async fn dropped_at_once(&self) -> Option<End> {
        let faults = &self.shared.faults;
        let delay = faults.fire_on(self.leg, None, |fault| match fault {
            Fault::FirstFrameDelay { ms } => Some(Duration::from_millis(*ms)),
            _ => None,
        });
        if let Some(delay) = delay {
            tokio::time::sleep(delay).await;
        }
        faults.fire_on(self.leg, None, |fault| match fault {
            Fault::DropSocket { after, code, reason } if after.frames == Some(0) => Some(End::of(*code, reason)),
            _ => None,
        })
    }

    /// Common to both directions; whether the frame goes on.
    async fn delayed_or_lost(&self, look: &Look<'_>) -> Result<bool, End> {
        if self.hit(look, |fault| if let Fault::HalfOpen { matching } = fault { Some(matching) } else { None }) {
            return Err(End::HalfOpen);
        }
        if self.hit(look, |fault| if let Fault::Swallow { matching } = fault { Some(matching) } else { None }) {
            return Ok(false);
        }
        let delay = self.fire(look, |fault| match fault {
            Fault::Delay { matching, ms } if look.hit_by(matching) => Some(Duration::from_millis(*ms)),
            _ => None,
        });
        if let Some(delay) = delay {
            tokio::time::sleep(delay).await;
        }
        Ok(true)
    }

    fn duplicated(&self, look: &Look<'_>) -> bool {
        self.hit(look, |fault| if let Fault::Duplicate { matching } = fault { Some(matching) } else { None })
    }

    fn dropped(&self, look: &Look<'_>) -> Result<(), End> {
        let end = self.fire(look, |fault| match fault {
            Fault::DropSocket { after, code, reason } if look.hit_by(after) => Some(End::of(*code, reason)),
            _ => None,
        });
        end.map_or(Ok(()), Err)
    }

    /// A frame of the engine.
    pub(super) async fn pass_to_peer(&self, text: &str) -> Result<(), End> {
        let packet = Packet::read(text);
        let look = self.look(&packet, Sender::Server);
        if packet.facts.kinds == ["ping"] && !self.pinged.swap(true, Ordering::Relaxed) {
            return self.hand_over("3").await;
        }
        if !self.delayed_or_lost(&look).await? {
            return Ok(());
        }
        if packet.facts.kinds == ["ping"] {
            if self.fire(&look, |fault| matches!(fault, Fault::NoPings).then_some(())).is_some() {
                self.mute.store(true, Ordering::Relaxed);
            }
            if self.mute.load(Ordering::Relaxed) {
                return self.hand_over("3").await;
            }
        }
        if packet.facts.kinds == ["connect"] {
            self.shared.uipath.wires().connected(&self.label, text);
        }
        let text = self.changed(&look, text).await?;
        if self.hit(&look, |fault| if let Fault::Reorder { matching } = fault { Some(matching) } else { None }) {
            let earlier = self.held.lock().unwrap_or_else(PoisonError::into_inner).replace(text);
            return match earlier {
                Some(earlier) => self.put(&earlier).await,
                None => Ok(()),
            };
        }
        self.put(&text).await?;
        if self.duplicated(&look) {
            self.put(&text).await?;
        }
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(held) = held {
            self.put(&held).await?;
        }
        if self.hit(&look, |fault| if let Fault::Disconnect { after } = fault { Some(after) } else { None }) {
            self.put("41").await?;
            self.hand_over("41").await?;
        }
        self.dropped(&look)
    }

    /// The text that takes the place of a frame of the engine, after what comes before it.
    async fn changed(&self, look: &Look<'_>, text: &str) -> Result<String, End> {
        let malformed = self.fire(look, |fault| match fault {
            Fault::Malformed { matching, raw } if look.hit_by(matching) => Some(raw.clone()),
            _ => None,
        });
        if let Some(raw) = malformed {
            return Ok(raw);
        }
        if !look.is_event() {
            return Ok(self.as_the_service_says(text));
        }
        if self.hit(look, |fault| if let Fault::ForeignEvent { matching } = fault { Some(matching) } else { None }) {
            self.put("42[\"OtherEvent\",{\"x\":1}]").await?;
        }
        if self.hit(look, |fault| if let Fault::BinaryEvent { matching } = fault { Some(matching) } else { None }) {
            self.put("451-[\"ConversationEvent\",{\"_placeholder\":true,\"num\":0}]").await?;
            self.put_binary(BYTES.to_vec()).await?;
        }
        let mut text = text.to_owned();
        let huge = self.fire(look, |fault| match fault {
            Fault::Huge { matching, bytes } if look.hit_by(matching) => Some(*bytes),
            _ => None,
        });
        if let (Some(bytes), Some(envelope)) = (huge, &look.packet.envelope) {
            let mut envelope = envelope.clone();
            envelope.set("padding", "x".repeat(bytes));
            text = event(&envelope);
        }
        if self.hit(look, |fault| if let Fault::ExtraArgument { matching } = fault { Some(matching) } else { None })
            && text.pop() == Some(']')
        {
            text.push_str(",\"some-sid\"]");
        }
        if self.hit(look, |fault| if let Fault::AskAck { matching } = fault { Some(matching) } else { None }) {
            let id = self.asked.fetch_add(1, Ordering::Relaxed);
            text = format!("42{id}{}", text.get(2..).unwrap_or_default());
        }
        Ok(text)
    }

    /// What the engine does not know of the service: the size it announces may have changed, and a refusal has a code.
    fn as_the_service_says(&self, text: &str) -> String {
        let (mark, member, value) = if text.starts_with("44") {
            ("44", "data", Some(object! { "code" => 401u64 }))
        } else if text.starts_with('0') {
            ("0", "maxPayload", self.shared.uipath.lock().levers.max_payload.map(Json::from))
        } else {
            return text.to_owned();
        };
        let body = text.get(mark.len()..).and_then(|body| parse(body).ok());
        match (body, value) {
            (Some(mut body), Some(value)) => {
                body.set(member, value);
                format!("{mark}{body}")
            }
            _ => text.to_owned(),
        }
    }

    /// A frame of the peer.
    pub(super) async fn pass_to_engine(&self, text: &str) -> Result<(), End> {
        let limit = self.shared.uipath.lock().levers.max_payload.unwrap_or(self.shared.config.uipath.max_payload);
        if self.leg == Leg::Client && u64::try_from(text.len()).is_ok_and(|length| length > limit) {
            return Err(End::of(Some(1009), ""));
        }
        let packet = Packet::read(text);
        let look = self.look(&packet, Sender::Peer);
        if !self.delayed_or_lost(&look).await? {
            return Ok(());
        }
        if packet.facts.kinds == ["connect"]
            && let Some(refusal) = self.fire(&look, refusal)
        {
            return self.put(&refusal).await;
        }
        self.hand_over(text).await?;
        if self.duplicated(&look) {
            self.hand_over(text).await?;
        }
        self.dropped(&look)
    }
}

/// The packet by which a CONNECT is refused.
fn refusal(fault: &Fault) -> Option<String> {
    let Fault::RefuseConnect { message, code } = fault else { return None };
    let mut body = object! { "message" => message };
    if let Some(code) = code {
        body.set("data", object! { "code" => *code });
    }
    Some(format!("44{body}"))
}
