//! A hostile page in a real browser.
//!
//! Chromium opens `hostile/page.html` from a name that is then pointed to this machine, as in DNS
//! rebinding. The page tries every way to call a server on this machine, directly and by that name,
//! and reports the results. The same page should reach [`Unprotected`]; otherwise a failure to
//! reach another server would prove nothing.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::Value;

/// The name of the browser's program.
pub const BROWSER: &str = "chromium";
/// The name from which the page comes.
pub const EVIL: &str = "evil.test";

const PAGE: &str = include_str!("hostile/page.html");
/// Where the owner of the page listens, at the port of the attacked server. After the page has
/// come from there, the name leads to 127.0.0.1; this is played by passing everything on.
const OWNER: &str = "127.0.0.2";
/// Longer than any step of the page takes.
const SILENCE: Duration = Duration::from_secs(60);

/// What the page tried: the name it called, and how it called it.
pub type Attempt = (String, String);

/// What the page saw.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The status of an answer, 0 when the browser did not show it.
    pub status: u64,
    /// The text of an answer.
    pub text: String,
}

impl Seen {
    /// Returns whether the page got through: to an answer that is no error, to an open stream, or
    /// to a secret.
    pub fn got_through(&self, secret: &str) -> bool {
        (100..400).contains(&self.status) || self.text.contains(secret)
    }
}

/// Whether there is a browser among the programs of this machine.
#[expect(clippy::disallowed_methods, reason = "tests ask their own environment")]
pub fn has_browser() -> bool {
    let places = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&places).any(|place| place.join(BROWSER).is_file())
}

/// Lets the page loose on the server at a port of 127.0.0.1. It knows the token already, as if
/// that had leaked. Linux only: elsewhere this machine has not so many addresses.
pub fn attack(port: u16, token: &str) -> io::Result<BTreeMap<Attempt, Seen>> {
    let owner = TcpListener::bind((OWNER, port))?;
    for_each_connection(owner, move |stream| page_or_victim(stream, port));
    let reports = TcpListener::bind(("127.0.0.1", 0))?;
    let report_port = reports.local_addr()?.port();
    let (tell, told) = channel();
    for_each_connection(reports, move |stream| collect(stream, &tell));
    let folder = tempfile::tempdir()?;
    let address = format!("http://{EVIL}:{port}/page?report={report_port}&token={token}");
    let mut browser = open(&address, folder.path())?;
    let seen = gather(&told);
    browser.kill()?;
    browser.wait()?;
    seen
}

fn open(address: &str, folder: &Path) -> io::Result<Child> {
    Command::new(BROWSER)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .arg(format!("--host-resolver-rules=MAP {EVIL} {OWNER}"))
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(address)
        .env("HOME", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

fn gather(told: &Receiver<Value>) -> io::Result<BTreeMap<Attempt, Seen>> {
    let mut seen = BTreeMap::new();
    loop {
        let report = told.recv_timeout(SILENCE).map_err(|_| {
            io::Error::new(
                io::ErrorKind::TimedOut,
                format!("the page fell silent; before that it saw {seen:?}"),
            )
        })?;
        if report["done"] == true {
            return Ok(seen);
        }
        let text = |name: &str| report[name].as_str().unwrap_or_default().to_owned();
        let status = report["status"].as_u64().unwrap_or_default();
        seen.insert((text("host"), text("way")), Seen { status, text: text("text") });
    }
}

/// Serves the page; everything else goes to the server that the name leads to by then.
fn page_or_victim(mut client: TcpStream, port: u16) -> io::Result<()> {
    let mut start = [0; 9];
    let length = client.peek(&mut start)?;
    if start[..length].starts_with(b"GET /page") {
        read_request(&mut client)?;
        return answer(&mut client, "200 OK", "text/html", PAGE);
    }
    let mut victim = TcpStream::connect(("127.0.0.1", port))?;
    let (mut from_victim, mut to_client) = (victim.try_clone()?, client.try_clone()?);
    std::thread::spawn(move || {
        io::copy(&mut from_victim, &mut to_client).and_then(|_| to_client.shutdown(Shutdown::Both))
    });
    io::copy(&mut client, &mut victim)?;
    victim.shutdown(Shutdown::Write)
}

fn collect(mut stream: TcpStream, tell: &Sender<Value>) -> io::Result<()> {
    let (_, body) = read_request(&mut stream)?;
    let report = serde_json::from_str(&body)?;
    answer(&mut stream, "204 No Content", "text/plain", "")?;
    tell.send(report).map_err(io::Error::other)
}

/// A server as there are many: it gives its secret to any client.
pub struct Unprotected {
    /// Where it listens on 127.0.0.1.
    pub port: u16,
    /// The host of each request that asked something of it.
    pub asked: Receiver<String>,
}

impl Unprotected {
    /// Starts one, which ends with the process.
    pub fn start(secret: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let (tell, asked) = channel();
        let text = serde_json::json!({ "result": secret }).to_string();
        for_each_connection(listener, move |mut stream| {
            let (head, body) = read_request(&mut stream)?;
            if head.starts_with("POST") && body.contains("memory_search") {
                tell.send(header(&head, "Host").to_owned()).map_err(io::Error::other)?;
            }
            answer(&mut stream, "200 OK", "application/json", &text)
        });
        Ok(Self { port, asked })
    }
}

/// Does the same with every connection, each on a thread of its own. A connection that fails is
/// one of which the page sees nothing.
fn for_each_connection(
    listener: TcpListener,
    serve: impl Fn(TcpStream) -> io::Result<()> + Clone + Send + 'static,
) {
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            std::thread::spawn(move || serve(stream));
        }
    });
}

fn read_request(stream: &mut TcpStream) -> io::Result<(String, String)> {
    stream.set_read_timeout(Some(SILENCE))?;
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && body.len() >= header(head, "Content-Length").parse().unwrap_or(0)
        {
            return Ok((head.to_owned(), body.to_owned()));
        }
        match stream.read(&mut part)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => bytes.extend_from_slice(&part[..read]),
        }
    }
}

fn header<'a>(head: &'a str, name: &str) -> &'a str {
    head.lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map_or("", |(_, value)| value)
}

fn answer(stream: &mut TcpStream, status: &str, media_type: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
}
