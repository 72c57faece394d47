//! Words that appear in Rust and in `types.d.ts` are the same words.

const TYPES: &str = include_str!("../../src/wasm/types.d.ts");

/// The texts of a union of string literals.
fn union(name: &str) -> Vec<&'static str> {
    let start = TYPES.find(&format!("export type {name} =")).unwrap_or_else(|| panic!("no type {name}"));
    let body = &TYPES[start..];
    let end = body.find(';').unwrap();
    body[..end].split('"').skip(1).step_by(2).collect()
}

fn word(value: &impl pagehand::json::Write) -> String {
    serde_json::from_str(&pagehand::json::text(value)).unwrap()
}

#[test]
fn the_topics_are_those_of_the_types() {
    use pagehand::conversation::Topic;
    let start = TYPES.find("export interface ConversationEvents {").unwrap();
    let body = &TYPES[start..start + TYPES[start..].find('}').unwrap()];
    let topics = [
        Topic::Call,
        Topic::Approval,
        Topic::Status,
        Topic::Message,
        Topic::Delta,
        Topic::Event,
        Topic::Connection,
        Topic::Tools,
        Topic::Notice,
        Topic::Error,
        Topic::Condition,
        Topic::Label,
    ];
    for topic in topics {
        assert!(body.contains(&format!("  {}:", topic.as_str())), "{}", topic.as_str());
    }
    assert_eq!(body.matches(':').count(), topics.len());
}

#[test]
fn the_states_of_a_call_are_those_of_the_types() {
    use pagehand::call::State;
    let states = [
        State::Announced,
        State::Waiting,
        State::Authorised,
        State::Validating,
        State::Claiming,
        State::Elsewhere,
        State::Guarding,
        State::Confirming,
        State::Running,
        State::Settled,
        State::Withdrawn,
    ];
    let words: Vec<String> = states.iter().map(word).collect();
    assert_eq!(words, union("CallState"));
}

#[test]
fn the_failure_codes_are_those_of_the_types() {
    use pagehand::call::FailureCode;
    let codes = [
        FailureCode::HandlerThrew,
        FailureCode::ResultNotSerializable,
        FailureCode::InvalidSchema,
        FailureCode::SchemaEngineUnavailable,
        FailureCode::ValidatorThrew,
        FailureCode::CheckTimedOut,
        FailureCode::CallUnavailable,
        FailureCode::ResultWithheld,
        FailureCode::ArgumentsTooLarge,
        FailureCode::ResultTooLarge,
        FailureCode::TooManyCalls,
    ];
    let words: Vec<String> = codes.iter().map(word).collect();
    assert_eq!(words, union("FailureCode"));
}

#[test]
fn the_codes_of_notices_are_those_of_the_types() {
    use pagehand::protocol::NoticeCode;
    let codes = [
        NoticeCode::DuplicateEvent,
        NoticeCode::UnknownEvent,
        NoticeCode::UnknownFrame,
        NoticeCode::MalformedFrame,
        NoticeCode::FrameTooLarge,
        NoticeCode::StreamAborted,
        NoticeCode::LogRewound,
        NoticeCode::CallRefused,
        NoticeCode::ServerError,
        NoticeCode::LateSignal,
        NoticeCode::StorageUnavailable,
        NoticeCode::Missed,
        NoticeCode::UnknownCall,
        NoticeCode::UnflaggedCall,
        NoticeCode::ResultTooLarge,
        NoticeCode::InexactNumber,
    ];
    let words: Vec<String> = codes.iter().map(word).collect();
    assert_eq!(words, union("NoticeCode"));
}
