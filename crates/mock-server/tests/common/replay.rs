//! Plays the client's side of a recorded case against the mock and compares the server's side.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use pagehand_mock_server::json::{Json, Object, parse};

use super::matching::Matcher;
use super::{Answer, Bench, KEY, Socket, name_of};

/// How a case is played. The defaults suit a recording that is complete.
#[derive(Default)]
pub struct Play {
    /// Frames, by name, that the recording has cut out.
    pub cut: &'static [&'static str],
    /// Whether indexes may differ, because `stats` came at another place.
    pub loose_seq: bool,
    /// Holds the first step until the socket `.0` has `.1` frames: what the real server's slowness did.
    pub hold: Option<(&'static str, usize)>,
    /// Holds the tools of the first step.
    pub tool_hold: bool,
    /// Releases the script's own hold after so many REST responses.
    pub release_after: Option<usize>,
    /// Labels of sockets that are left out.
    pub without: &'static [&'static str],
    /// Values of `execution_status` in REST bodies that lag behind in the recording.
    pub lagging_status: bool,
    /// Index in the log, id and timestamp of events that the recording refers to but does not show.
    pub hidden: &'static [(usize, &'static str, &'static str)],
}

#[derive(Default)]
struct Wire {
    socket: Option<Socket>,
    expected: Vec<Json>,
}

struct Player<'a> {
    bench: &'a Bench,
    play: Play,
    matcher: Matcher,
    wires: HashMap<String, Wire>,
    labels: Vec<String>,
    model: String,
    answers: usize,
    released: bool,
    /// The name of the hold to release.
    held: String,
}

/// Plays the lines of a case.
pub async fn replay(bench: &Bench, lines: &[Json], play: Play) {
    let mut player = Player {
        bench,
        play,
        matcher: Matcher::default(),
        wires: HashMap::new(),
        labels: Vec::new(),
        model: lines[0].text("case").unwrap().to_owned(),
        answers: 0,
        released: false,
        held: String::new(),
    };
    let mut lines = lines.iter().peekable();
    while let Some(line) = lines.next() {
        match (line.text("ch"), line.text("dir")) {
            (Some("note"), _) => player.note(line).await,
            (Some("rest"), Some("request")) => {
                let answer = lines.clone().find(|next| next.text("dir") == Some("response"));
                player.request(line, answer.unwrap()).await;
            }
            (Some("ws"), Some(direction)) => {
                let refused = direction == "open"
                    && lines.peek().is_some_and(|next| {
                        let note = next.text("text").unwrap_or_default();
                        next.text("dir") == Some("handshake-error") || note.starts_with("handshake refused")
                    });
                player.socket_line(line, direction, refused).await;
            }
            _ => {}
        }
    }
    player.compare_all();
}

impl Player<'_> {
    async fn note(&mut self, line: &Json) {
        if let (Some(label), Some(text)) = (line.text("label"), line.text("text"))
            && let Some(frames) = text.strip_suffix(" frames cut here")
            && let Some(wire) = self.wires.get_mut(label)
        {
            wire.expected.push(pagehand_mock_server::object! { "(gap)" => frames.parse::<u64>().unwrap() });
        }
        let Some(steps) = line.get("script") else { return };
        let mut steps = steps.as_array().unwrap().to_vec();
        if self.play.hold.is_some() {
            steps[0].set("hold", self.model.as_str());
        }
        if self.play.tool_hold {
            steps[0].set("tool_hold", self.model.as_str());
        }
        let holds = steps.iter().find_map(|step| step.text("hold").or_else(|| step.text("tool_hold")));
        self.held = holds.unwrap_or_default().to_owned();
        self.bench.script(&self.model, &Json::Array(steps).to_string()).await;
    }

    async fn release(&mut self) {
        self.released = true;
        self.bench.post(&format!("/mock/release/{}", self.held), pagehand_mock_server::object! {}).await;
    }

    /// Waits until each socket has what the recording had by now.
    async fn catch_up(&mut self) {
        if let Some((label, frames)) = self.play.hold
            && !self.released
            && self.wires.get(label).is_some_and(|wire| wire.expected.len() >= frames)
        {
            let wire = &self.wires[label];
            wire.socket.as_ref().unwrap().until_count("frame before the release", frames, |_| true).await;
            self.release().await;
        }
        for label in &self.labels {
            let wire = &self.wires[label];
            let Some(socket) = &wire.socket else { continue };
            let counts = |frame: &Json| name_of(frame) != "stats" && !self.play.cut.contains(&name_of(frame).as_str());
            if let Some(gap) = wire.expected.iter().find_map(|frame| frame.count("(gap)")) {
                let all = wire.expected.len() - 1 + usize::try_from(gap).unwrap();
                let shown = |frame: &Json| !self.play.cut.contains(&name_of(frame).as_str());
                socket.until_count(&format!("{all} frames on {label}"), all, shown).await;
                continue;
            }
            let expected = wire.expected.iter().filter(|frame| counts(frame)).count();
            socket.until_count(&format!("{expected} frames on {label}"), expected, counts).await;
        }
    }

    async fn request(&mut self, line: &Json, answer: &Json) {
        self.catch_up().await;
        let path = self.matcher.translate(line.text("path").unwrap());
        let recorded_headers = line.get("headers").cloned().unwrap_or_else(|| {
            // Some recordings leave the headers out where they are always the same.
            pagehand_mock_server::object! { "X-Session-API-Key" => KEY }
        });
        let headers: Vec<(&str, &str)> =
            recorded_headers.as_object().unwrap().iter().map(|(name, value)| (name, value.as_str().unwrap())).collect();
        let body = line.text("body").map(|body| self.matcher.translate(body));
        let method = line.text("method").unwrap();
        let place = format!("{} {method} {path}", self.model);
        let got = self.ask(method, &path, &headers, body, answer).await;
        assert_eq!(Some(u64::from(got.status)), answer.count("status"), "{place}: {}", got.text);
        compare_headers(answer, &got.headers, &place);
        self.compare_body(answer, &got.text, &place);
        self.answers += 1;
        if path.contains("/events/search?limit=100") {
            let items = parse(&got.text).unwrap();
            for (index, id, time) in self.play.hidden {
                let event = &items.get("items").unwrap().as_array().unwrap()[*index];
                self.matcher.pair(id, event.text("id").unwrap(), "hidden");
                self.matcher.pair(time, event.text("timestamp").unwrap(), "hidden");
            }
        }
        if self.play.release_after == Some(self.answers) {
            self.release().await;
        }
    }

    /// Asks until a log is as long as it was: the recording slept where a run had no socket to watch it.
    async fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
        answer: &Json,
    ) -> Answer {
        let cut = answer.text("cut").and_then(|cut| cut.split_once(" of "));
        let wanted = cut.and_then(|(_, all)| all.strip_suffix(" items")).map(|all| all.parse::<usize>().unwrap());
        let deadline = Instant::now() + Duration::from_secs(5);
        loop {
            let got = self.bench.send(method, path, headers, body.clone()).await.unwrap();
            let length = || got.json().get("items").unwrap().as_array().unwrap().len();
            if wanted.is_none_or(|wanted| length() == wanted) || Instant::now() > deadline {
                return got;
            }
        }
    }

    fn compare_body(&mut self, answer: &Json, got: &str, place: &str) {
        let recorded = answer.text("body").unwrap_or_default();
        let (Ok(recorded), Ok(got)) = (parse(recorded), parse(got)) else {
            if answer.get("cut").is_none() {
                assert_eq!(recorded, got, "{place}");
            }
            return;
        };
        if answer.get("cut").is_none() && !self.play.lagging_status {
            return self.matcher.same(&recorded, &got, place);
        }
        let cut = answer.text("cut").unwrap_or_default();
        if let (Some(items), true) = (recorded.get("items"), cut.contains(" items")) {
            // Some items of a page; the whole length is in the mark.
            let all = got.get("items").unwrap().as_array().unwrap();
            let shown = items.as_array().unwrap().len();
            assert!(cut.contains(&format!("of {} items", all.len())), "{place}: {cut}, but {}", all.len());
            if cut.starts_with("the first ") {
                return self.matcher.same(items, &Json::Array(all[..shown].to_vec()), place);
            }
            let quiet = |item: &&Json| !self.play.cut.contains(&name_of(item).as_str());
            let loud: Vec<Json> = all.iter().filter(quiet).cloned().collect();
            return self.matcher.same(items, &Json::Array(loud[loud.len() - shown..].to_vec()), place);
        }
        if cut.starts_with("items reduced") {
            return self.matcher.same(&recorded, &reduced(&recorded, &got), place);
        }
        for (key, value) in recorded.as_object().into_iter().flat_map(Object::iter) {
            if !(self.play.lagging_status && key == "execution_status") {
                self.matcher.same(value, got.get(key).unwrap(), &format!("{place}.{key}"));
            }
        }
    }

    async fn socket_line(&mut self, line: &Json, direction: &str, refused: bool) {
        let label = line.text("label").unwrap().to_owned();
        if self.play.without.contains(&label.as_str()) {
            return;
        }
        match direction {
            "open" => {
                self.catch_up().await;
                let url = self.bench.url(&self.matcher.translate(line.text("path").unwrap()));
                let header = match label.as_str() {
                    "header ok" => vec![("x-session-api-key", KEY)],
                    "header wrong" => vec![("x-session-api-key", "wrong")],
                    "origin foreign" => vec![("origin", "http://example.test")],
                    _ => Vec::new(),
                };
                let opened = Socket::open(&url, &header).await;
                if refused {
                    assert_eq!(opened.err(), Some(403), "{label} {url}");
                    return;
                }
                self.labels.retain(|known| *known != label);
                self.labels.push(label.clone());
                let socket = opened.unwrap_or_else(|status| panic!("{label}: handshake {status}"));
                self.wires.insert(label, Wire { socket: Some(socket), expected: Vec::new() });
            }
            "send" => {
                self.catch_up().await;
                let raw = self.matcher.translate(line.text("raw").unwrap());
                self.wires[&label].socket.as_ref().unwrap().send(&raw).await;
            }
            "recv" => {
                let mut frame = parse(line.text("raw").unwrap()).unwrap();
                if line.get("cut").is_some() {
                    frame.set("(cut)", true);
                }
                self.wires.get_mut(&label).unwrap().expected.push(frame);
            }
            "close" => self.close_line(line, &label).await,
            _ => {}
        }
    }

    async fn close_line(&mut self, line: &Json, label: &str) {
        self.catch_up().await;
        let socket = self.wires.get_mut(label).unwrap().socket.take().unwrap();
        let code = line.count("code").unwrap();
        if code == 1000 {
            socket.close().await;
        } else {
            if code == 1012 {
                let order = pagehand_mock_server::object! { "signal" => "term" };
                assert_eq!(self.bench.post("/mock/restart", order).await.status, 200);
            }
            let reason = line.text("reason").unwrap().to_owned();
            assert_eq!(socket.ended().await, Some((u16::try_from(code).unwrap(), reason)), "{label}");
        }
        let frames = socket.frames();
        self.compare(label, &frames);
        self.labels.retain(|known| known != label);
    }

    fn compare_all(&mut self) {
        for label in self.labels.clone() {
            let frames = self.wires[&label].socket.as_ref().unwrap().frames();
            self.compare(&label, &frames);
        }
    }

    fn compare(&mut self, label: &str, got: &[Json]) {
        let expected = std::mem::take(&mut self.wires.get_mut(label).unwrap().expected);
        if let Some(at) = expected.iter().position(|frame| frame.get("(gap)").is_some()) {
            return self.compare_around(at, &expected, got, label);
        }
        let cut = self.play.cut;
        let pick = |frames: &[Json], stats: bool| -> Vec<Json> {
            let wanted =
                |frame: &&Json| (name_of(frame) == "stats") == stats && !cut.contains(&name_of(frame).as_str());
            frames.iter().filter(wanted).cloned().collect()
        };
        let (expected_frames, got_frames) = (pick(&expected, false), pick(got, false));
        let list = |frames: &[Json]| frames.iter().map(name_of).collect::<Vec<_>>();
        assert_eq!(list(&expected_frames), list(&got_frames), "{} {label}: order", self.model);
        for (index, (recorded, mock)) in expected_frames.iter().zip(&got_frames).enumerate() {
            let place = format!("{} {label} frame {index} {}", self.model, name_of(recorded));
            self.compare_frame(recorded.clone(), mock.clone(), &place);
        }
        // The real server tells its statistics when it gets to it.
        let (expected_stats, got_stats) = (pick(&expected, true), pick(got, true));
        assert_eq!(expected_stats.len(), got_stats.len(), "{} {label}: number of stats", self.model);
        for (recorded, mock) in expected_stats.iter().zip(&got_stats) {
            let event = |frame: &Json| {
                let mut event = frame.get("event").unwrap_or(frame).clone();
                event.as_object_mut().unwrap().remove("parent_id");
                event
            };
            self.matcher.same(&event(recorded), &event(mock), &format!("{} {label} stats", self.model));
        }
    }

    /// Compares what comes before and after a gap in the recording.
    fn compare_around(&mut self, at: usize, expected: &[Json], got: &[Json], label: &str) {
        let gap = usize::try_from(expected[at].count("(gap)").unwrap()).unwrap();
        let cut = self.play.cut;
        let got: Vec<Json> = got.iter().filter(|frame| !cut.contains(&name_of(frame).as_str())).cloned().collect();
        assert_eq!(expected.len() - 1 + gap, got.len(), "{} {label}: number of frames", self.model);
        // Statistics come anywhere in the recording.
        let loud = |frame: &&Json| name_of(frame) != "stats";
        let got: Vec<&Json> = got.iter().filter(loud).collect();
        let after: Vec<&Json> = expected[at + 1..].iter().filter(loud).collect();
        let before = expected[..at].iter().filter(loud).zip(got.iter().copied());
        let after_gap = got.iter().skip(got.len() - after.len()).copied();
        for (index, (recorded, mock)) in before.chain(after.iter().copied().zip(after_gap)).enumerate() {
            let place = format!("{} {label} frame {index} of those shown", self.model);
            self.compare_frame(recorded.clone(), mock.clone(), &place);
        }
    }

    fn compare_frame(&mut self, mut recorded: Json, mut mock: Json, place: &str) {
        if recorded.as_object_mut().unwrap().remove("(cut)").is_some() {
            return;
        }
        if self.play.loose_seq {
            for frame in [&mut recorded, &mut mock] {
                for key in ["seq", "anchor_seq", "through_seq"] {
                    frame.as_object_mut().unwrap().remove(key);
                }
            }
        }
        self.matcher.same(&recorded, &mock, place);
    }
}

/// The mock's value with only those members of its items that the recording has.
fn reduced(recorded: &Json, got: &Json) -> Json {
    match (recorded, got) {
        (Json::Array(recorded), Json::Array(got)) => {
            let pairs = recorded.iter().zip(got).map(|(recorded, got)| reduced(recorded, got));
            Json::Array(pairs.chain(got.iter().skip(recorded.len()).cloned()).collect())
        }
        (Json::Object(recorded), Json::Object(got)) => {
            let kept = recorded.iter().filter_map(|(key, value)| Some((key.to_owned(), reduced(value, got.get(key)?))));
            Json::Object(kept.collect())
        }
        (_, got) => got.clone(),
    }
}

fn compare_headers(answer: &Json, got: &reqwest::header::HeaderMap, place: &str) {
    let Some(recorded) = answer.get("headers").and_then(Json::as_object) else { return };
    let cors = |name: &str| name == "vary" || name.starts_with("access-control-") || name == "content-type";
    for (name, value) in recorded.iter().filter(|(name, _)| cors(name)) {
        let got = got.get(name).map(|value| value.to_str().unwrap());
        assert_eq!(got, value.as_str(), "{place}: header {name}");
    }
    for name in got.keys().map(reqwest::header::HeaderName::as_str).filter(|name| cors(name)) {
        assert!(recorded.get(name).is_some(), "{place}: header {name} is too much");
    }
}
