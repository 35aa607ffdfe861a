//! `anemone man`

use std::path::PathBuf;

use clap::{Args, CommandFactory as _};

use super::Cli;
use crate::error::CliError;

/// Print the manual page, or write all of them to a folder
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Write anemone.1 and a page for every command here
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs) -> Result<(), CliError> {
    let command = Cli::command();
    if let Some(folder) = &args.output {
        fs_err::create_dir_all(folder)?;
        return Ok(clap_mangen::generate_to(command, folder)?);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    super::print_bytes(&page)
}
