//! The protocol as clients speak it: lines of JSON over two streams, in both revisions.

#[path = "protocol/arguments.rs"]
mod arguments;
#[path = "protocol/changes.rs"]
mod changes;
#[path = "protocol/client.rs"]
mod client;
#[path = "protocol/fake_memory.rs"]
mod fake_memory;
#[path = "protocol/openclaw.rs"]
mod openclaw;
#[path = "protocol/prompts.rs"]
mod prompts;
#[path = "protocol/resources.rs"]
mod resources;
#[path = "protocol/stdio.rs"]
mod stdio;
#[path = "protocol/tools.rs"]
mod tools;
#[path = "protocol/zeroclaw.rs"]
mod zeroclaw;
