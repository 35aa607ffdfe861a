//! What tests and benchmarks need: arbitrary snapshots, bulk data, and the sample agent.
//!
//! Strategies for property tests are behind the feature `strategy`.

#![warn(missing_docs)]

pub mod bulk;
#[cfg(feature = "rows")]
mod database;
pub mod notes;
#[cfg(feature = "strategy")]
pub mod strategy;

pub use anemone_sample as sample;
#[cfg(feature = "rows")]
pub use database::write_database;
