//! What tests and demonstrations need: a sample agent, arbitrary snapshots, bulk data.
//!
//! The shipped program shows the sample, so that [`sample`] and [`bulk`] need nothing that only
//! tests need. Strategies for property tests are behind the feature `strategy`.

#![warn(missing_docs)]

pub mod bulk;
pub mod sample;
#[cfg(feature = "strategy")]
pub mod strategy;
