//! What tests and benchmarks need: arbitrary snapshots, bulk data, generated workspaces, recorded
//! fixtures, the sample agent, a hostile page, faults in system calls, groups of slow
//! tests, and a way to say that something is missing.
//!
//! Strategies for property tests are behind the feature `strategy`, the page behind `browser`,
//! faults behind `faults`, databases behind `rows`, generated workspaces behind `workspace`, what
//! tests of archives need behind `archives`.

#![warn(missing_docs)]

pub mod bulk;
#[cfg(feature = "rows")]
pub mod database;
#[cfg(all(feature = "faults", target_os = "linux", target_arch = "x86_64"))]
pub mod faults;
#[cfg(all(feature = "archives", unix))]
pub mod ground;
#[cfg(feature = "browser")]
pub mod hostile;
mod material;
pub mod notes;
pub mod services;
mod slow;
#[cfg(feature = "strategy")]
pub mod strategy;
#[cfg(all(feature = "workspace", unix))]
pub mod workspace;
#[cfg(feature = "archives")]
pub mod zip;

pub use anemone_sample as sample;
#[cfg(feature = "rows")]
pub use database::write_database;
pub use material::{fixture, shared, skip};
pub use slow::SlowGroup;
