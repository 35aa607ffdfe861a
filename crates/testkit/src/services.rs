//! Scripted local services: an embedding service and a chat model.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

/// The answer to one request.
#[derive(Clone, Debug)]
pub enum Play {
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

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The key that came along.
    pub key: Option<String>,
    /// The texts to embed.
    pub texts: Vec<String>,
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
pub struct Service {
    address: String,
    script: Arc<Mutex<Script>>,
    gate: Arc<Gate>,
}

impl Service {
    /// Starts a service on a free port.
    #[must_use]
    pub fn start() -> Self {
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

    /// Returns its address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns what its model is called in an index.
    #[must_use]
    pub fn model(&self, name: &str) -> String {
        let port = self.address.rsplit(':').next().unwrap_or_default();
        format!("{name}@localhost:{port}")
    }

    /// Waits for a request; says whether one arrived.
    #[must_use]
    pub fn was_asked(&self, patience: Duration) -> bool {
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
    pub fn play(&self, play: Play) {
        self.script().next.push_back(play);
    }

    /// Answers well so many times more, and then always so.
    pub fn play_for_good(&self, after: usize, play: Play) {
        let mut script = self.script();
        let after = script.requests.len() + after;
        script.for_good = Some((after, play));
    }

    /// Answers well from now on.
    pub fn play_well(&self) {
        self.script().for_good = None;
    }

    /// Returns the requests.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.script().requests.clone()
    }

    /// Counts the texts that got vectors.
    #[must_use]
    pub fn good_texts(&self) -> usize {
        self.script()
            .requests
            .iter()
            .filter(|request| request.well)
            .map(|request| request.texts.len())
            .sum()
    }

    /// Keeps every answer but the first few back until the gate is opened.
    #[must_use]
    pub fn hold_after(&self, requests: usize) -> Arc<Gate> {
        lock(&self.gate.state).hold_after = Some(requests);
        Arc::clone(&self.gate)
    }
}

/// Holds answers back.
#[derive(Default)]
pub struct Gate {
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

    /// Waits until an answer is held back; returns whether one is.
    #[must_use]
    pub fn wait(&self, patience: Duration) -> bool {
        let waiting = self
            .changed
            .wait_timeout_while(lock(&self.state), patience, |changed| !changed.is_held);
        waiting.is_ok_and(|(state, _)| state.is_held)
    }

    /// Lets all answers pass.
    pub fn open(&self) {
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

/// A chat model that gives one answer after the other, and records its requests.
pub struct ChatModel {
    url: String,
    asked: Receiver<Value>,
}

impl ChatModel {
    /// Starts a model that gives these answers of HTTP, whole ones.
    #[must_use]
    pub fn answering(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}/v1", listener.local_addr().expect("it has an address"));
        let (sender, asked) = channel();
        std::thread::spawn(move || {
            for answer in answers {
                let Ok((stream, _)) = listener.accept() else { return };
                if let Some(question) = serve_chat(stream, &answer) {
                    sender.send(question).ok();
                }
            }
        });
        Self { url, asked }
    }

    /// Starts a model that says one text.
    #[must_use]
    pub fn saying(text: &str) -> Self {
        Self::answering(vec![Self::answer(text)])
    }

    /// Returns the answer of HTTP in which a model says a text.
    #[must_use]
    pub fn answer(text: &str) -> String {
        let message = json!({ "role": "assistant", "content": text });
        let body = json!({ "choices": [{ "message": message }] }).to_string();
        let length = body.len();
        format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
    }

    /// Returns its address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits for a request, and returns it.
    #[must_use]
    pub fn asked(&self) -> Value {
        self.asked.recv_timeout(Duration::from_secs(30)).expect("it was asked")
    }
}

fn serve_chat(stream: TcpStream, answer: &str) -> Option<Value> {
    stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    reader.get_mut().write_all(answer.as_bytes()).ok()?;
    serde_json::from_slice(&body).ok()
}
