//! Create requests of `e-client-tools-errors`, the request and response table: all of them but for those whose bodies
//! the recording has cut short (100 kB of description, 50 and 500 tools).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::matching::Matcher;
use common::{Bench, KEY, recording};
use pagehand_mock_server::json::{Json, parse};

/// The bodies of requests after the first leave out what they have in common with it.
fn whole_body(line: &Json, first: &Json) -> Option<Json> {
    let body = parse(line.text("body").unwrap()).ok()?;
    if line.text("cut") != Some("body reduced") {
        return Some(body);
    }
    let mut whole = first.clone();
    for (key, value) in body.as_object().unwrap().iter().filter(|(key, _)| *key != "…") {
        whole.set(key, value.clone());
    }
    Some(whole)
}

#[tokio::test]
async fn create_requests_get_the_recorded_status_and_body() {
    let bench = Bench::keyed().await;
    let mut matcher = Matcher::default();
    let lines = recording("e-client-tools-errors");
    let mut first = None;
    let mut played = 0;
    let mut what = String::new();
    for (index, line) in lines.iter().enumerate() {
        if let Some(text) = line.text("text") {
            text.clone_into(&mut what);
        }
        if line.text("dir") != Some("request") {
            continue;
        }
        let answer = lines[index..].iter().find(|next| next.text("dir") == Some("response")).unwrap();
        let (method, path) = (line.text("method").unwrap(), matcher.translate(line.text("path").unwrap()));
        let body = if method == "POST" {
            let base = first.get_or_insert_with(|| parse(line.text("body").unwrap()).unwrap());
            let Some(body) = whole_body(line, base) else { continue };
            Some(body.to_string())
        } else {
            None
        };
        let got = bench.send(method, &path, &[("x-session-api-key", KEY)], body).await.unwrap();
        assert_eq!(Some(u64::from(got.status)), answer.count("status"), "{what}: {}", got.text);
        let recorded = parse(answer.text("body").unwrap()).unwrap();
        let got = got.json();
        if answer.get("cut").is_none() {
            matcher.same(&recorded, &got, &what);
        } else {
            for (key, value) in recorded.as_object().unwrap().iter() {
                matcher.same(value, got.get(key).unwrap(), &format!("{what}.{key}"));
            }
        }
        played += 1;
    }
    assert!(played > 75, "only {played} requests");
}
