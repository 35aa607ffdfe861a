//! What tests and benchmarks need: arbitrary snapshots, bulk data, the sample agent, and a hostile
//! page.
//!
//! Strategies for property tests are behind the feature `strategy`, the page behind `browser`.

#![warn(missing_docs)]

pub mod bulk;
#[cfg(feature = "rows")]
mod database;
#[cfg(feature = "browser")]
pub mod hostile;
pub mod notes;
#[cfg(feature = "strategy")]
pub mod strategy;

pub use anemone_sample as sample;
#[cfg(feature = "rows")]
pub use database::write_database;
