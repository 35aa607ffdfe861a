//! `anemone man`

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::Context;
use crate::output::{BOLD, Report, Result, count};

/// Print the manual page, or write all of them to a folder
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Write anemone.1 and a page for every command here
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

#[derive(Serialize)]
struct PagesWritten {
    output: String,
    pages: u64,
}

pub(crate) fn run(args: &ManArgs, context: &Context<'_>) -> Result<()> {
    let command = super::command();
    let Some(folder) = &args.output else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        return super::print_bytes(&page);
    };
    fs_err::create_dir_all(folder)?;
    let pages = pages()?;
    for (name, page) in &pages {
        fs_err::write(folder.join(name), page)?;
    }
    let output = folder.display().to_string();
    context.printer.print(&PagesWritten { output, pages: pages.len() as u64 })
}

/// Returns a page for the program and for each of its commands, by file name.
pub(super) fn pages() -> Result<BTreeMap<String, Vec<u8>>> {
    let mut program = super::command().disable_help_subcommand(true);
    program.build();
    let mut pages = BTreeMap::new();
    let mut commands = vec![program];
    while let Some(command) = commands.pop() {
        commands.extend(
            command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()).cloned(),
        );
        let manual = clap_mangen::Man::new(command);
        let mut page = Vec::new();
        manual.render(&mut page)?;
        pages.insert(manual.get_filename(), page);
    }
    Ok(pages)
}

impl Report for PagesWritten {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let pages = count(self.pages, "page");
        writeln!(out, "wrote {pages} to {BOLD}{}{BOLD:#}", self.output)
    }
}
