//! A client that writes lines and reads lines, and has no other knowledge of the protocol.

use std::sync::Arc;
use std::time::Duration;

use anemone_mcp::{MemoryService, ServeError, Settings, serve_stdio};
use anemone_runtimes::{NativeTools, native_tools};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

/// No answer takes this long; a test that waits in vain should fail, not hang.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Revision {
    /// 2025-11-25: a session that begins with a handshake.
    Older,
    /// 2026-07-28: every request identifies its client.
    Newer,
}

pub(crate) const BOTH: [Revision; 2] = [Revision::Older, Revision::Newer];

pub(crate) struct Client {
    input: Option<WriteHalf<DuplexStream>>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    server: JoinHandle<Result<(), ServeError>>,
    revision: Revision,
    last_id: u64,
    /// The notifications of the server.
    pub(crate) notifications: Vec<Value>,
}

/// The tools of a runtime, or Anemone's own.
pub(crate) type Tools = Option<&'static NativeTools>;

/// Returns the tools of a runtime.
pub(crate) fn native(runtime: &str) -> Tools {
    let tools = native_tools().find(|tools| tools.name == runtime);
    Some(tools.expect("the runtime has tools of its own"))
}

pub(crate) fn settings(tools: Tools, allow_write: bool) -> Settings {
    Settings { version: "1.2.3".to_owned(), allow_write, tools }
}

impl Client {
    /// Begins with nothing said yet.
    pub(crate) fn silent(
        memory: Arc<dyn MemoryService>,
        settings: Settings,
        revision: Revision,
    ) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(theirs);
        let server =
            tokio::spawn(serve_stdio(memory, settings, input, output, std::future::pending()));
        let (output, input) = tokio::io::split(ours);
        Self {
            input: Some(input),
            output: BufReader::new(output).lines(),
            server,
            revision,
            last_id: 0,
            notifications: Vec::new(),
        }
    }

    /// Begins as its revision says.
    pub(crate) async fn new(
        memory: Arc<dyn MemoryService>,
        settings: Settings,
        revision: Revision,
    ) -> Self {
        let mut client = Self::silent(memory, settings, revision);
        if revision == Revision::Older {
            client.initialize().await;
        }
        client
    }

    /// Makes the handshake, and returns the server's description of itself.
    pub(crate) async fn initialize(&mut self) -> Value {
        let about = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "lines", "version": "0"},
        });
        let info = self.request("initialize", about).await["result"].take();
        self.send_line(
            &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
        )
        .await;
        info
    }

    /// Asks and waits for the answer, which holds `result` or `error`.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.answer(id).await
    }

    /// Asks, and returns the id of the answer that will come.
    pub(crate) async fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.last_id += 1;
        if self.revision == Revision::Newer {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "lines", "version": "0"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let id = self.last_id;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send_line(&message.to_string()).await;
        id
    }

    pub(crate) async fn send_line(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the stream is open");
        let written = async {
            input.write_all(line.as_bytes()).await?;
            input.write_all(b"\n").await
        };
        tokio::time::timeout(PATIENCE, written)
            .await
            .expect("the server reads")
            .expect("it is there");
    }

    /// Waits for the answer with an id. Earlier messages are dropped.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.message().await.expect("an answer before the end");
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Whether the server goes on.
    pub(crate) fn is_served(&self) -> bool {
        !self.server.is_finished()
    }

    /// Waits for something that the server tells.
    pub(crate) async fn notification(&mut self) -> Value {
        if self.notifications.is_empty() {
            let message = self.message().await.expect("a notification before the end");
            assert_eq!(message.get("id"), None, "{message}");
        }
        self.notifications.remove(0)
    }

    /// Waits for the next message, whatever it is.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(PATIENCE, self.output.next_line()).await;
        let line = line.expect("the server answers").expect("it is there")?;
        let message: Value = serde_json::from_str(&line).expect("JSON");
        if message.get("id").is_none() {
            self.notifications.push(message.clone());
        }
        Some(message)
    }

    /// Calls a tool, and returns its result.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let mut answer = self.request("tools/call", params).await;
        assert_eq!(answer.get("error"), None, "{answer}");
        answer["result"].take()
    }

    /// Calls a tool, and returns its text and its data.
    pub(crate) async fn told(&mut self, tool: &str, arguments: Value) -> (String, Value) {
        let mut result = self.call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{result}");
        let text = result["content"][0]["text"].as_str().expect("a text").to_owned();
        (text, result["structuredContent"].take())
    }

    /// Calls a tool that refuses, and returns its text.
    pub(crate) async fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().expect("a text").to_owned()
    }

    /// Closes the input like a client without further requests; the remaining output is still read.
    pub(crate) async fn close(&mut self) {
        let mut input = self.input.take().expect("the stream is open");
        input.shutdown().await.expect("it is open");
    }

    /// Waits until the server has ended.
    pub(crate) async fn ended(self) -> Result<(), ServeError> {
        drop((self.input, self.output));
        tokio::time::timeout(PATIENCE, self.server)
            .await
            .expect("the server ends")
            .expect("no panic")
    }
}
