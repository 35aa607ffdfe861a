//! `anemone demo`

mod files;
mod moments;
mod shown;
mod stage;
mod steps;
mod words;

use std::path::{Path, PathBuf};

use anemone::files::Scratch;
use anemone::survey::real;
use anemone_messages::UserError;
use clap::Args;
use serde::Serialize;

use self::stage::{Stage, failed};
use self::steps::{
    AnswerStep, DamageStep, DiscoverStep, ExportStep, MoveStep, PurgeStep, RememberStep,
};
use super::Context;
use crate::output::Result;

/// Show what Anemone does on a sample agent, in a temporary folder
///
/// Lays out an agent that has lived for three months and runs the main commands on it: finds it,
/// asks it three questions, tells it something, exports it, breaks a copy of the archive, moves the
/// agent to another runtime and back, and removes a secret for good. Every claim is checked; where
/// one does not hold, the demo fails and names the step. Your own agents, settings and indexes are
/// neither read nor touched, and nothing leaves the machine.
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Keep what the demo makes in this new or empty folder, to look around afterwards, with two
    /// archives of the agent, a month apart
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

#[derive(Serialize)]
pub(crate) struct Demo {
    discovered: DiscoverStep,
    answered: Vec<AnswerStep>,
    remembered: RememberStep,
    exported: ExportStep,
    damaged: DamageStep,
    moved: MoveStep,
    purged: PurgeStep,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_in: Option<String>,
}

pub(crate) fn run(args: &DemoArgs, context: &Context<'_>) -> Result<Demo> {
    let temporary = Scratch::below(&context.host.scratch)?;
    let folder = match &args.keep {
        Some(folder) => {
            prepare_folder(folder)?;
            real(folder)
        }
        None => real(&temporary.path().join("demo")),
    };
    // The state of the commands is of no interest to the user.
    let own = real(temporary.path()).join("own");
    let stage = Stage::set(&folder, &own, context.environment)?;
    let discovered = steps::discover(&stage).map_err(|error| failed(1, error))?;
    let answered = steps::answer(&stage).map_err(|error| failed(2, error))?;
    let remembered = steps::remember(&stage).map_err(|error| failed(3, error))?;
    let exported = steps::export(&stage).map_err(|error| failed(4, error))?;
    let damaged = steps::damage(&stage).map_err(|error| failed(5, error))?;
    let moved = steps::migrate(&stage, &exported).map_err(|error| failed(6, error))?;
    let purged = steps::purge(&stage).map_err(|error| failed(7, error))?;
    if args.keep.is_some() {
        moments::write(&folder, &context.silent_host())?;
    }
    Ok(Demo {
        discovered,
        answered,
        remembered,
        exported,
        damaged,
        moved,
        purged,
        kept_in: args.keep.as_ref().map(|path| path.display().to_string()),
    })
}

fn prepare_folder(folder: &Path) -> Result<()> {
    fs_err::create_dir_all(folder)?;
    if fs_err::read_dir(folder)?.next().is_some() {
        return Err(UserError::failure("not_empty", "the folder is not empty")
            .about(folder)
            .hint("choose a new folder, or remove this one if an earlier demo did not finish"));
    }
    Ok(())
}
