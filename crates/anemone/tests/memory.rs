//! Search, remember, forget and what else is done with a memory, through the public API: rules that
//! need no process of their own.

#![expect(clippy::unwrap_used, reason = "what does not hold in a test may panic")]

mod support;

#[path = "memory/audit.rs"]
mod audit;
#[path = "memory/carried.rs"]
mod carried;
#[path = "memory/connect.rs"]
mod connect;
#[path = "memory/context.rs"]
mod context;
#[path = "memory/embedder.rs"]
mod embedder;
#[path = "memory/forget.rs"]
mod forget;
#[path = "memory/get.rs"]
mod get;
#[path = "memory/hook.rs"]
mod hook;
#[path = "memory/index.rs"]
mod index;
#[path = "memory/list.rs"]
mod list;
#[path = "memory/remember.rs"]
mod remember;
#[path = "memory/row_shapes.rs"]
mod row_shapes;
#[path = "memory/rows.rs"]
mod rows;
#[path = "memory/search.rs"]
mod search;
#[path = "memory/seeds.rs"]
mod seeds;
#[path = "memory/settings.rs"]
mod settings;
#[path = "memory/settings_table.rs"]
mod settings_table;
#[path = "memory/tidy.rs"]
mod tidy;
#[path = "memory/trust.rs"]
mod trust;
#[path = "memory/undo.rs"]
mod undo;
