//! Requests and answers, byte by byte.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Longer than anything takes; only a server that hangs comes to it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A request that is being written.
#[derive(Clone)]
pub(crate) struct Ask {
    port: u16,
    line: String,
    headers: Vec<(String, String)>,
    body: String,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Ask {
    /// A request to 127.0.0.1 after which the connection ends.
    pub(crate) fn new(method: &str, target: &str, port: u16) -> Self {
        Self {
            port,
            line: format!("{method} {target} HTTP/1.1"),
            headers: Vec::new(),
            body: String::new(),
        }
        .with("Host", &format!("127.0.0.1:{port}"))
        .with("Connection", "close")
    }

    /// Adds a header, perhaps once more.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Leaves a header out.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    /// Sets a header.
    pub(crate) fn set(self, name: &str, value: &str) -> Self {
        self.without(name).with(name, value)
    }

    /// Sets the first line.
    pub(crate) fn line(mut self, line: &str) -> Self {
        line.clone_into(&mut self.line);
        self
    }

    /// Sets what follows the headers.
    pub(crate) fn body(mut self, body: &str) -> Self {
        body.clone_into(&mut self.body);
        self
    }

    /// Sends it and waits for the answer.
    pub(crate) fn send(&self) -> Reply {
        let length = self.body.len();
        self.send_raw(&format!("Content-Length: {length}\r\n\r\n{}", self.body))
    }

    /// Sends the first lines and then `rest`, which begins with the last headers.
    pub(crate) fn send_raw(&self, rest: &str) -> Reply {
        let mut stream = self.open(rest);
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        Reply::parse(&bytes)
    }

    /// Sends it and returns the connection.
    pub(crate) fn open(&self, rest: &str) -> TcpStream {
        let mut stream = connect(self.port);
        let mut text = format!("{}\r\n", self.line);
        for (name, value) in &self.headers {
            write!(text, "{name}: {value}\r\n").unwrap();
        }
        text.push_str(rest);
        // A server that has refused already need not read the rest.
        let _sent = stream.write_all(text.as_bytes());
        stream
    }
}

impl Reply {
    fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) =
            text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        Self {
            status: status.parse().unwrap(),
            headers: lines
                .filter_map(|line| line.split_once(": "))
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
                .collect(),
            body: body.to_owned(),
        }
    }

    /// Returns a header that occurs at most once.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        let first = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} twice: {self:?}");
        first
    }
}

/// Opens a connection on which nothing waits for ever.
pub(crate) fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}
