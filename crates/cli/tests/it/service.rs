//! A service that makes vectors, on this machine and by script.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

/// What is answered to one request.
#[derive(Clone, Debug)]
pub(crate) enum Play {
    /// A vector for each text.
    Well,
    /// An error.
    Status(u16, &'static str),
    /// That there were too many requests, and that the next may come at once.
    Wait,
    /// Vectors of this length.
    Dimensions(usize),
    /// An error that repeats the key.
    Echo,
    /// That there were too many requests, and that the next may come much later.
    Later,
    /// An error when there is such a word among the texts, otherwise a vector for each.
    Refuse(&'static str),
}

/// What was asked.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) key: Option<String>,
    pub(crate) texts: Vec<String>,
    well: bool,
}

#[derive(Default)]
struct Script {
    next: VecDeque<Play>,
    /// After so many requests this is all that is answered.
    for_good: Option<(usize, Play)>,
    requests: Vec<Request>,
}

/// Numbers in a vector, unless a request says how many it wants.
const DIMENSIONS: usize = 16;

/// A server that speaks OpenAI's protocol. It ends with the tests.
pub(crate) struct Service {
    address: String,
    script: Arc<Mutex<Script>>,
    gate: Arc<Gate>,
}

impl Service {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address").to_string();
        let script = Arc::new(Mutex::new(Script::default()));
        let gate = Arc::new(Gate::default());
        let shared = (Arc::clone(&script), Arc::clone(&gate));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (script, gate) = (Arc::clone(&shared.0), Arc::clone(&shared.1));
                std::thread::spawn(move || answer(stream, &script, &gate));
            }
        });
        Self { address, script, gate }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What its model is called in an index.
    pub(crate) fn model(&self, name: &str) -> String {
        let port = self.address.rsplit(':').next().unwrap_or_default();
        format!("{name}@localhost:{port}")
    }

    /// Waits until somebody asked; says whether somebody did.
    #[cfg(unix)]
    pub(crate) fn was_asked(&self, patience: Duration) -> bool {
        let steps = patience.as_millis() / 20;
        (0..steps).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            !self.requests().is_empty()
        })
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        lock(&self.script)
    }

    /// Answers the next request so.
    pub(crate) fn play(&self, play: Play) {
        self.script().next.push_back(play);
    }

    /// Answers well so many times more, and then always so.
    pub(crate) fn play_for_good(&self, after: usize, play: Play) {
        let mut script = self.script();
        let after = script.requests.len() + after;
        script.for_good = Some((after, play));
    }

    /// Answers well from now on.
    pub(crate) fn play_well(&self) {
        self.script().for_good = None;
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.script().requests.clone()
    }

    /// Counts the texts that got vectors.
    pub(crate) fn good_texts(&self) -> usize {
        self.script()
            .requests
            .iter()
            .filter(|request| request.well)
            .map(|request| request.texts.len())
            .sum()
    }

    /// Keeps every answer but the first few back until the gate is opened.
    pub(crate) fn hold_after(&self, requests: usize) -> Arc<Gate> {
        lock(&self.gate.state).hold_after = Some(requests);
        Arc::clone(&self.gate)
    }
}

/// Holds answers back.
#[derive(Default)]
pub(crate) struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    hold_after: Option<usize>,
    is_held: bool,
}

impl Gate {
    /// Longer than any test takes.
    const LONG: Duration = Duration::from_secs(120);

    /// Waits until an answer is held back; says whether one is.
    pub(crate) fn wait(&self, patience: Duration) -> bool {
        let waiting = self
            .changed
            .wait_timeout_while(lock(&self.state), patience, |changed| !changed.is_held);
        waiting.is_ok_and(|(state, _)| state.is_held)
    }

    pub(crate) fn open(&self) {
        lock(&self.state).hold_after = None;
        self.changed.notify_all();
    }

    fn pass(&self, number: usize) {
        let mut state = lock(&self.state);
        let is_shut = |state: &GateState| state.hold_after.is_some_and(|first| number >= first);
        if is_shut(&state) {
            state.is_held = true;
            self.changed.notify_all();
        }
        let waited = self.changed.wait_timeout_while(state, Self::LONG, |changed| is_shut(changed));
        drop(waited);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads one request and answers it.
fn answer(stream: TcpStream, script: &Mutex<Script>, gate: &Gate) {
    let mut reader = BufReader::new(stream);
    let (mut length, mut key, mut line) = (0, None, String::new());
    while reader.read_line(&mut line).is_ok_and(|line| line > 2) {
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "authorization" => key = value.trim().strip_prefix("Bearer ").map(str::to_owned),
            _ => {}
        }
        line.clear();
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let texts: Vec<String> = match &body["input"] {
        Value::String(text) => vec![text.clone()],
        Value::Array(texts) => {
            texts.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    };
    let (play, number) = {
        let mut script = lock(script);
        let number = script.requests.len();
        let play = script.next.pop_front().unwrap_or_else(|| match &script.for_good {
            Some((after, play)) if number >= *after => play.clone(),
            _ => Play::Well,
        });
        let play = match play {
            Play::Refuse(word) if !texts.iter().any(|text| text.contains(word)) => Play::Well,
            play => play,
        };
        let well = matches!(play, Play::Well);
        script.requests.push(Request { key: key.clone(), texts: texts.clone(), well });
        (play, number)
    };
    gate.pass(number);
    let dimensions = body["dimensions"].as_u64().map_or(DIMENSIONS, |u64| u64 as usize);
    let (status, more, text) = match play {
        Play::Well => (200, "", vectors(&texts, dimensions)),
        Play::Dimensions(dimensions) => (200, "", vectors(&texts, dimensions)),
        Play::Status(status, message) => (status, "", error(message)),
        Play::Refuse(word) => (400, "", error(&format!("{word} is not allowed"))),
        Play::Later => (429, "retry-after: 100\r\n", error("slow down")),
        Play::Wait => (429, "retry-after: 0\r\n", error("slow down")),
        Play::Echo => (401, "", error(&format!("{} is no key", key.unwrap_or_default()))),
    };
    let length = text.len();
    let head = format!("HTTP/1.1 {status} X\r\n{more}content-type: application/json\r\n");
    let head = format!("{head}content-length: {length}\r\nconnection: close\r\n\r\n");
    reader.get_mut().write_all(format!("{head}{text}").as_bytes()).ok();
}

fn error(message: &str) -> String {
    json!({ "error": { "message": message } }).to_string()
}

/// Makes vectors in which texts that share words are alike.
fn vectors(texts: &[String], dimensions: usize) -> String {
    let data = texts.iter().enumerate().map(|(index, text)| {
        let mut vector = vec![0.01; dimensions];
        for word in text.to_lowercase().split(|lowercase: char| !lowercase.is_alphanumeric()) {
            let sum =
                word.bytes().fold(7_usize, |sum, byte| sum.wrapping_mul(31) + usize::from(byte));
            vector[sum % dimensions] += 1.0;
        }
        json!({ "index": index, "embedding": vector })
    });
    json!({ "data": data.collect::<Vec<_>>() }).to_string()
}
