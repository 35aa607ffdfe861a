//! The stage of the demo: a folder with its own install, and commands that see nothing else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anemone::connect::quoted;
use anemone_messages::UserError;
use anemone_runtimes::{SAMPLE_INSTALL, SampleAgent};
use anemone_sample::life;
use clap::Parser as _;
use serde::Serialize;
use serde_json::Value;

use super::super::{
    Cli, Command, Context, agents, export, forget, migrate, purge, remember, search,
};
use crate::environment::Environment;
use crate::output::{Format, Printer, Result};

/// The names of the steps.
const STEPS: [&str; 7] =
    ["discover", "answer", "remember", "export", "notice damage", "migrate", "purge"];

/// A folder with the sample agent in it.
pub(super) struct Stage {
    /// The folder, from the root.
    folder: PathBuf,
    environment: Environment,
    printer: Printer,
}

impl Stage {
    /// Lays out the sample agent in a folder; `own` is for what commands keep for themselves.
    pub(super) fn set(folder: &Path, own: &Path, environment: &Environment) -> Result<Self> {
        let install = folder.join(SAMPLE_INSTALL.runtime);
        let variables = BTreeMap::from([(SAMPLE_INSTALL.variable.to_owned(), install.into())]);
        let environment = environment.inside(own, variables);
        let printer = Printer::new(Format::Json, &environment);
        let stage = Self { folder: folder.to_owned(), environment, printer };
        fs_err::create_dir_all(&stage.environment.folders.home)?;
        stage.write_install()?;
        Ok(stage)
    }

    fn write_install(&self) -> Result<()> {
        let workspace = self.at("workspace");
        let agent = SampleAgent { alias: "clawdia", workspace: &workspace };
        for file in (SAMPLE_INSTALL.files)(&agent) {
            self.write(&format!("{}/{}", SAMPLE_INSTALL.runtime, file.path), &file.text)?;
        }
        for file in life() {
            let path = self.write(&format!("workspace/{}", file.path), file.text)?;
            let modified = std::time::SystemTime::from(file.modified.instant());
            fs_err::File::options().write(true).open(path)?.file().set_modified(modified)?;
        }
        Ok(())
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.folder.join(name);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        fs_err::write(&path, text)?;
        Ok(path)
    }

    /// Returns the path of something in the folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the path of something in the folder, as a word of a command.
    pub(super) fn at(&self, name: &str) -> String {
        self.path(name).to_string_lossy().into_owned()
    }

    /// Returns the folders of the commands' own data.
    pub(super) fn own(&self) -> [&Path; 2] {
        [&self.environment.folders.cache, &self.environment.folders.state]
    }

    /// Returns a folder for indexes that do not belong to the agent.
    pub(super) fn aside(&self) -> String {
        let own = self.environment.folders.cache.with_file_name("aside");
        own.to_string_lossy().into_owned()
    }

    /// Makes paths in a text relative to the folder of the demo.
    pub(super) fn shown(&self, text: &str) -> String {
        let folder = self.folder.to_string_lossy();
        text.replace(&format!("{folder}/"), "").replace(&*folder, ".")
    }

    /// Returns a command as a user would type it in the folder.
    pub(super) fn typed(&self, words: &[&str]) -> String {
        let quote = |word: &&str| match self.shown(word) {
            // Easier to read, and the same to a shell where nothing in it means more.
            word if word.contains(['\'', ' ']) && !word.contains(['"', '$', '`', '\\', '!']) => {
                format!("\"{word}\"")
            }
            word => quoted(&word),
        };
        format!("anemone {}", words.iter().map(quote).collect::<Vec<_>>().join(" "))
    }

    /// Runs a command as typed, and returns its JSON.
    pub(super) fn run(&self, words: &[&str]) -> Result<Value> {
        let broken = |message: String| UserError::failure("demo_failed", message);
        let words = std::iter::once("anemone").chain(words.iter().copied());
        let cli = Cli::try_parse_from(words).map_err(|error| broken(error.to_string()))?;
        let context = Context::new(&self.environment, &self.printer, &cli.global.keys);
        match cli.command {
            Some(Command::Agents(args)) => value(&agents::run(&args, &context)?),
            Some(Command::Search(args)) => value(&search::run(&args, &context)?),
            Some(Command::Remember(args)) => value(&remember::run(&args, &context)?),
            Some(Command::Forget(args)) => {
                let mut forgotten = forget::run(&args, &context)?;
                forgotten.told();
                value(&forgotten)
            }
            Some(Command::Export(args)) => value(&export::run(&args, &context)?),
            Some(Command::Validate(args)) => {
                value(&anemone::validate::validate(&args.request(), &context.host)?)
            }
            Some(Command::Migrate(args)) => value(&migrate::run(&args, &context)?),
            Some(Command::Purge(args)) => value(&purge::run(&args, &context)?),
            _ => Err(broken("the demo has no such command".to_owned())),
        }
    }
}

fn value(report: &impl Serialize) -> Result<Value> {
    Ok(serde_json::to_value(report).map_err(std::io::Error::from)?)
}

/// Refuses to go on when something is not as the demo says.
pub(super) fn claim(holds: bool, what: &str) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(UserError::failure("demo_failed", format!("this does not hold: {what}")))
}

/// Says in which step something went wrong.
pub(super) fn failed(step: usize, error: UserError) -> UserError {
    let name = STEPS.get(step.saturating_sub(1)).copied().unwrap_or_default();
    let message = format!("the demo failed in step {step}, {name}");
    let mut failed = UserError::failure("demo_failed", message);
    failed.causes.push(error.message);
    failed.causes.extend(error.causes);
    failed.hint("this is a bug in Anemone; please report it with what `anemone demo --json` says")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_that_does_not_hold_names_its_step() {
        assert!(claim(true, "water is wet").is_ok());
        let error = failed(5, claim(false, "the damage is named").unwrap_err());
        assert_eq!(error.code, "demo_failed");
        assert_eq!(error.message, "the demo failed in step 5, notice damage");
        assert_eq!(error.causes, ["this does not hold: the damage is named"]);
    }

    #[test]
    fn a_command_of_the_demo_sees_only_the_demo() {
        let folder = tempfile::tempdir().unwrap();
        let (play, own) = (folder.path().join("play"), folder.path().join("own"));
        let stage = Stage::set(&play, &own, &Environment::read()).unwrap();
        let found = stage.run(&["agents"]).unwrap();
        let workspaces: Vec<&str> = found["agents"]
            .as_array()
            .unwrap()
            .iter()
            .map(|agent| agent["workspace"].as_str().unwrap())
            .collect();
        assert_eq!(workspaces, [stage.at("workspace")]);
        assert!(stage.run(&["connect", "codex"]).is_err());
        assert!(stage.run(&["no", "such", "thing"]).is_err());
        let words = ["search", "what now?", "-w", &stage.at("workspace")];
        assert_eq!(stage.typed(&words), "anemone search \"what now?\" -w workspace");
    }
}
