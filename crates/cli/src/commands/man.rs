//! `anemone man`

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, CommandFactory as _};
use serde::Serialize;

use super::{Cli, Context};
use crate::error::CliError;
use crate::output::{BOLD, Report, count};

/// Print the manual page, or write all of them to a folder
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Write anemone.1 and a page for every command here
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

#[derive(Serialize)]
struct PagesWritten {
    ok: bool,
    output: String,
    pages: u64,
}

pub(crate) fn run(args: &ManArgs, context: &Context<'_>) -> Result<(), CliError> {
    let command = Cli::command();
    let Some(folder) = &args.output else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        return super::print_bytes(&page);
    };
    fs_err::create_dir_all(folder)?;
    clap_mangen::generate_to(command, folder)?;
    let pages = fs_err::read_dir(folder)?.count() as u64;
    let output = folder.display().to_string();
    context.printer.print(&PagesWritten { ok: true, output, pages })
}

impl Report for PagesWritten {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let pages = count(self.pages, "page");
        writeln!(out, "{BOLD}{}{BOLD:#} now has {pages}", self.output)
    }
}
