//! Providers, simulated by a server on this machine.

#![expect(clippy::unwrap_used, reason = "what does not hold in a test may panic")]

mod batches;
mod fake;
mod hostile;
mod refusals;
mod retries;
mod secrets;
mod server;
mod shapes;
