//! `anemone config`

mod explain;

use std::io::{self, Write};
use std::path::PathBuf;

use anemone::config::{self, Config, DEFAULT};
use anemone::files::{Existing, FileError, OutputFile};
use clap::{Args, Subcommand};
use serde::Serialize;

use super::{Context, print_bytes};
use crate::output::{DIM, Report, Result};

/// Show where the settings are, check them, or write a file with all of them
///
/// Without a file every setting has its default. The file that --init writes names every setting with
/// its default, commented out, and says what it means; --default prints it. A setting that does not
/// exist is an error that names the nearest one.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: Option<ConfigCommand>,

    /// Write the file with every setting commented out, where there is none
    #[arg(long, conflicts_with = "default")]
    init: bool,

    /// Print that file instead
    #[arg(long)]
    default: bool,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    Explain(Box<explain::ExplainArgs>),
}

#[derive(Serialize)]
struct ConfigAnswer {
    path: PathBuf,
    /// Whether there is a file.
    exists: bool,
    /// Whether it was written just now.
    written: bool,
}

pub(crate) fn run(args: &ConfigArgs, context: &Context<'_>) -> Result<()> {
    if let Some(ConfigCommand::Explain(args)) = &args.command {
        return context.printer.print(&explain::run(args, context)?);
    }
    if args.default {
        return print_bytes(DEFAULT.as_bytes());
    }
    let path = config::path(&context.host);
    if args.init {
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        let mut target = OutputFile::create(&path, Existing::Keep)?;
        target.write(None, |out| out.write_all(DEFAULT.as_bytes()).map_err(FileError::Io))?;
        target.commit()?;
    }
    Config::read(&context.host)?;
    let exists = path.exists();
    context.printer.print(&ConfigAnswer { path, exists, written: args.init })
}

impl Report for ConfigAnswer {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        let path = self.path.display();
        match (self.written, self.exists) {
            (true, _) => writeln!(out, "wrote {path}"),
            (_, true) => writeln!(out, "{path} is valid"),
            (_, false) => {
                writeln!(out, "no config file; all settings are at their defaults")?;
                writeln!(out, "{DIM}`anemone config --init` writes {path} to edit{DIM:#}")
            }
        }
    }
}
