//! Errors as commands return them.

pub(crate) use anemone::error::{Error as CliError, Kind};
