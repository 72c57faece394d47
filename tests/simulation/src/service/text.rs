//! The service's words: packets, envelopes and records as it writes them.

pub const ID: &str = "7C1F0F3E-6A52-4C0C-9A38-2A3F0E4AD222";
/// The conversation of another part of the app, over the same connection.
pub const OTHER: &str = "7C1F0F3E-6A52-4C0C-9A38-2A3F0E4AD333";

/// An event around its envelope. Some ask to be acknowledged, some have one more argument.
pub fn event(envelope: &str, manner: u64) -> String {
    match manner {
        0 => format!(r#"427["ConversationEvent",{envelope}]"#),
        1 => format!(r#"42["ConversationEvent",{envelope},"s"]"#),
        _ => format!(r#"42["ConversationEvent",{envelope}]"#),
    }
}

pub fn of_session(conversation: &str, member: &str, value: &str) -> String {
    format!(r#"{{"conversationId":"{conversation}","{member}":{value}}}"#)
}

pub fn of_exchange(exchange: &str, members: &str) -> String {
    format!(r#"{{"conversationId":"{ID}","exchange":{{"exchangeId":"{exchange}",{members}}}}}"#)
}

pub fn of_message(exchange: &str, message: &str, members: &str) -> String {
    of_exchange(exchange, &format!(r#""message":{{"messageId":"{message}",{members}}}"#))
}

pub fn of_call(exchange: &str, message: &str, call: &str, member: &str, value: &str) -> String {
    of_message(exchange, message, &format!(r#""toolCall":{{"toolCallId":"{call}","{member}":{value}}}"#))
}

pub fn error(id: &str, begins: bool) -> String {
    let more =
        if begins { r#""startError":{"message":"An unexpected error has occurred."}"# } else { r#""endError":{}"# };
    format!(r#"{{"errorId":"{id}",{more}}}"#)
}

pub fn greeting(largest: u64) -> String {
    format!(r#"0{{"sid":"s","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":{largest}}}"#)
}

pub const ADMITTED: &str = r#"40{"sid":"x"}"#;
pub const UNAUTHORIZED: &str = r#"44{"message":"Unauthorized","data":{"code":401}}"#;
pub const BUSY: &str = r#"44{"message":"try again","data":{"code":503}}"#;

/// The tokens that the service takes, one after the other.
pub fn token(number: u32) -> String {
    format!("{}-{number}", crate::server::text::KEY)
}

/// A time as REST writes it.
pub fn time(milliseconds: u64) -> String {
    let (seconds, rest) = (milliseconds / 1_000, milliseconds % 1_000);
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    format!("2026-11-30T{:02}:{:02}:{seconds:02}.{rest:03}Z", minutes / 60, minutes % 60)
}
