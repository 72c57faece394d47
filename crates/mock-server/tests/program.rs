//! The program: its options, and that it serves both protocols.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Ends the program with the test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn the_program_serves_both_protocols_with_the_options_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let scripts = folder.path().join("scripts.json");
    std::fs::write(&scripts, r#"{"demo": {"steps": [{"text": "hello"}]}}"#).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_pagehand-mock-server"));
    command.args(["--key", "secret", "--uipath-token", "one", "--uipath-token", "two"]);
    command.args(["--uipath-ping-interval-ms", "1234", "--uipath-max-payload", "5678"]);
    command.arg("--scripts").arg(&scripts).arg("--uipath-scripts").arg(&scripts);
    let mut program = Program(command.stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(program.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let base = line.trim().rsplit(' ').next().unwrap().to_owned();
    let http = reqwest::Client::new();
    let status = async |path: &str, header: &str, value: &str| {
        http.get(format!("{base}{path}")).header(header, value).send().await.unwrap().status().as_u16()
    };
    assert_eq!(status("/api/conversations/count", "x-session-api-key", "secret").await, 200);
    assert_eq!(status("/mock/scripts/demo", "x-none", "").await, 200);
    assert_eq!(status("/mock/uipath/scripts/demo", "x-none", "").await, 200);
    let agents = "/org/tenant/autopilotforeveryone_/api/v1/agent";
    for (token, expected) in [("one", 200), ("two", 200), ("three", 401)] {
        assert_eq!(status(agents, "authorization", &format!("Bearer {token}")).await, expected);
    }
    let socket = common::Socket::open(&format!("{base}/socket.io/?EIO=4&transport=websocket"), &[]).await.unwrap();
    socket.send(r#"40{"token":"two"}"#).await;
    socket.until_begins("40").await;
    assert!(
        socket.raw()[0].contains(r#""pingInterval":1234,"pingTimeout":20000,"maxPayload":5678"#),
        "{}",
        socket.raw()[0]
    );
}
