//! `anemone mcp --http`, in reach of a hostile page.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use anemone_testkit::hostile::{BROWSER, EVIL, Unprotected, attack, has_browser};
use anemone_testkit::skip;
use serde_json::{Value, json};

use crate::environment::{TestEnvironment, program};

/// Longer than anything takes; only a server that hangs comes to it.
const PATIENCE: Duration = Duration::from_secs(60);
const SECRET: &str = "the canary sings at dawn";

#[test]
fn a_hostile_page_reads_nothing_of_a_memory_and_changes_nothing_in_it() {
    if !has_browser() {
        skip("browser", format_args!("{BROWSER} is not there"));
        return;
    }
    let environment = TestEnvironment::new();
    environment.write_below("agent/MEMORY.md", format!("# Birds\n\n- {SECRET}\n"));
    let server = Server::start(&environment);
    assert!(server.search().contains(SECRET));
    let before = environment.everything();

    let unprotected = Unprotected::start(SECRET).unwrap();
    let there = attack(unprotected.port, &server.token).unwrap();
    let rebound = (EVIL.to_owned(), "post json with the token".to_owned());
    assert!(there[&rebound].got_through(SECRET), "{there:?}");

    let here = attack(server.port, &server.token).unwrap();
    assert!(here.keys().eq(there.keys()), "{here:?} {there:?}");
    for (attempt, seen) in &here {
        assert!(!seen.got_through(SECRET), "{attempt:?} {seen:?}");
    }
    assert!(environment.everything() == before, "a file is another");
    assert!(server.search().contains(SECRET));
    assert_eq!(server.end(), Some(0));
}

/// The program, serving.
struct Server {
    child: Child,
    port: u16,
    token: String,
}

impl Server {
    fn start(environment: &TestEnvironment) -> Self {
        let mut child = Command::new(program())
            .current_dir(environment.path(""))
            .env_clear()
            .envs(environment.variables())
            .args(["mcp", "-r", "openclaw", "-w", "agent", "--allow-write", "--http", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let stdout = child.stdout.take().expect("it is piped");
        let (tell, told) = channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(stdout).read_line(&mut line);
            tell.send(read.map(|_| line))
        });
        let line = told.recv_timeout(PATIENCE).expect("it says where it is");
        let line = line.expect("stdout can be read");
        let serving: Value = serde_json::from_str(&line).expect("it is JSON");
        let url = serving["url"].as_str().expect("it has an address");
        let port = url.trim_start_matches("http://127.0.0.1:").trim_end_matches("/mcp");
        let file = serving["token_file"].as_str().expect("it has a token");
        let token = fs_err::read_to_string(file).expect("the token is there");
        Self { child, port: port.parse().expect("it is a port"), token: token.trim().to_owned() }
    }

    /// Searches as a client does that may.
    fn search(&self) -> String {
        let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "memory_search",
            "arguments": { "query": "canary" },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        } });
        let client = anemone_embed::http_client().no_proxy().build();
        let answer = client
            .expect("a client needs nothing")
            .post(format!("http://127.0.0.1:{}/mcp", self.port))
            .header("Authorization", format!("Bearer {}", self.token))
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", "tools/call")
            .header("Mcp-Name", "memory_search")
            .body(asked.to_string())
            .send()
            .expect("the server answers");
        answer.text().expect("it is text")
    }

    /// Ends it as its owner does, and returns its exit code.
    fn end(mut self) -> Option<i32> {
        let kill = format!("kill -TERM {}", self.child.id());
        let told = Command::new("/bin/sh").args(["-c", &kill]).status();
        assert!(told.expect("there is a shell").success());
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                return status.code();
            }
            assert!(start.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _killed = self.child.kill();
        let _ended = self.child.wait();
    }
}
