//! The server over HTTP, as clients see it through a socket.

#![expect(clippy::unwrap_used, reason = "what does not hold in a test may panic")]

#[path = "http/browser.rs"]
mod browser;
#[path = "http/door.rs"]
mod door;
#[path = "http/fake_memory.rs"]
mod fake_memory;
#[path = "http/limits.rs"]
mod limits;
#[path = "http/protocol.rs"]
mod protocol;
#[path = "http/server.rs"]
mod server;
#[path = "http/wire.rs"]
mod wire;
