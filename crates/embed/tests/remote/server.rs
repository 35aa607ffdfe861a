//! A server that answers according to a script, and helpers to query it.
//!
//! Each connection has one request and a thread, and no wait is longer than [`LIFETIME`].

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anemone_embed::{ApiKey, EmbedError, Pause, Provider, Remote, RemoteError, RemoteSettings};
use serde_json::{Value, json};

/// After this long, a connection is closed, whatever its script says.
const LIFETIME: Duration = Duration::from_secs(20);

/// What a client sent.
#[derive(Clone)]
pub(crate) struct Received {
    /// The request line, such as `POST /v1/embeddings HTTP/1.1`.
    pub(crate) line: String,
    /// The headers, in lower case, as they came.
    pub(crate) headers: String,
    /// The body.
    pub(crate) body: Value,
}

impl Received {
    /// The texts, in OpenAI's and Ollama's form.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
    }
}

/// What the server does about it.
pub(crate) enum Reply {
    /// Sends JSON with a status.
    Json(u16, Value),
    /// Sends JSON with a status and some headers.
    With(u16, String, Value),
    /// Sends these bytes and closes.
    Raw(Vec<u8>),
    /// Sends these bytes and then a gigabyte, as long as the client reads.
    Flood(&'static str),
    /// Sends these bytes and then one more from time to time.
    Drip(&'static str),
    /// Sends nothing.
    Silence,
}

type Script = dyn Fn(usize, &Received) -> Reply + Send + Sync;

/// The server. It stops when it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    script: Box<Script>,
    received: Mutex<Vec<Received>>,
    sent: AtomicU64,
    stop: AtomicBool,
}

impl Server {
    /// Starts a server that answers request number n, from 0, as the script says.
    pub(crate) fn start(
        script: impl Fn(usize, &Received) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            script: Box::new(script),
            received: Mutex::new(Vec::new()),
            sent: AtomicU64::new(0),
            stop: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if accepting.stop.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&accepting);
                // A client that leaves early is part of the test.
                std::thread::spawn(move || drop(shared.serve(&stream)));
            }
        });
        Self { address, shared }
    }

    /// Starts a server that always answers well.
    pub(crate) fn good() -> Self {
        Self::start(|_, received| good(received))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests received so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.shared.received.lock().unwrap().clone()
    }

    /// Bytes that were sent in floods.
    pub(crate) fn sent(&self) -> u64 {
        self.shared.sent.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
    }
}

impl Shared {
    fn serve(&self, mut stream: &TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(LIFETIME))?;
        stream.set_write_timeout(Some(LIFETIME))?;
        let received = read_request(stream)?;
        let number = {
            let mut all = self.received.lock().unwrap();
            all.push(received.clone());
            all.len() - 1
        };
        match (self.script)(number, &received) {
            Reply::Json(status, body) => stream.write_all(&http(status, "", &body))?,
            Reply::With(status, headers, body) => {
                stream.write_all(&http(status, &headers, &body))?;
            }
            Reply::Raw(bytes) => stream.write_all(&bytes)?,
            Reply::Flood(head) => {
                stream.write_all(head.as_bytes())?;
                let block = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
                while !self.over() && self.sent.load(Ordering::SeqCst) < 1 << 30 {
                    stream.write_all(block.as_bytes())?;
                    self.sent.fetch_add(block.len() as u64, Ordering::SeqCst);
                }
            }
            Reply::Drip(head) => {
                stream.write_all(head.as_bytes())?;
                self.wait(|| stream.write_all(b" "))?;
            }
            Reply::Silence => self.wait(|| Ok(()))?,
        }
        stream.flush()
    }

    fn over(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Repeats something until the server stops or the time is over.
    fn wait(&self, mut now_and_then: impl FnMut() -> std::io::Result<()>) -> std::io::Result<()> {
        let start = Instant::now();
        while !self.over() && start.elapsed() < LIFETIME {
            now_and_then()?;
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

fn read_request(stream: &TcpStream) -> std::io::Result<Received> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let (mut headers, mut length) = (String::new(), 0);
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        let (name, value) = header.trim().split_once(':').unwrap_or_default();
        let name = name.to_ascii_lowercase();
        if name == "content-length" {
            length = value.trim().parse().unwrap_or(0);
        }
        headers.push_str(&format!("{name}:{value}\n"));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(Received { line: line.trim().to_owned(), headers, body })
}

/// An answer in bytes.
pub(crate) fn http(status: u16, headers: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// The vector that a good server makes of a text.
pub(crate) fn vector_of(text: &str) -> Vec<f32> {
    let first = text.bytes().next().unwrap_or_default();
    vec![text.len() as f32, f32::from(first), 0.5, -1.0]
}

/// A good answer in OpenAI's form.
pub(crate) fn good(received: &Received) -> Reply {
    let texts = received.texts();
    let data = texts.iter().enumerate().map(|(index, text)| {
        json!({ "object": "embedding", "index": index, "embedding": vector_of(text) })
    });
    Reply::Json(200, json!({ "object": "list", "data": data.collect::<Vec<_>>() }))
}

/// Records how long it was asked to wait, and does not wait.
#[derive(Default)]
pub(crate) struct Noted(Mutex<Vec<Duration>>);

impl Noted {
    pub(crate) fn waits(&self) -> Vec<Duration> {
        self.0.lock().unwrap().clone()
    }
}

impl Pause for Noted {
    fn pause(&self, wait: Duration) -> ControlFlow<()> {
        self.0.lock().unwrap().push(wait);
        ControlFlow::Continue(())
    }
}

pub(crate) const KEY: &str = "sk-Zq8vWx71LmpT4dRk";

/// Settings for a server with OpenAI's protocol and vectors of four numbers.
pub(crate) fn settings(server: &Server) -> (RemoteSettings, Arc<Noted>) {
    let noted = Arc::new(Noted::default());
    let mut settings = RemoteSettings::new(Provider::OpenAi);
    settings.url = Some(server.url());
    settings.model = Some("test-model".to_owned());
    settings.dimensions = Some(4);
    settings.key = Some(ApiKey::new(KEY.to_owned()).unwrap());
    settings.pause = Arc::clone(&noted) as Arc<dyn Pause>;
    (settings, noted)
}

/// An embedder with those settings.
pub(crate) fn remote(server: &Server) -> (Remote, Arc<Noted>) {
    let (settings, noted) = settings(server);
    (Remote::new(settings).unwrap(), noted)
}

/// The provider's error inside the embedder's.
pub(crate) fn cause(error: EmbedError) -> RemoteError {
    match error {
        EmbedError::Failed { source, .. } => *source.downcast().unwrap(),
        EmbedError::Unusable { .. } => panic!("{error}"),
    }
}

/// The error and all its causes, as a person and as a log would see them.
pub(crate) fn all_of(error: &dyn std::error::Error) -> String {
    let mut text = format!("{error:?} {error:#?}");
    let mut next = Some(error);
    while let Some(error) = next {
        text.push_str(&format!(" {error}"));
        next = error.source();
    }
    text
}
