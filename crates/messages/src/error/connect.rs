//! Why a program is not connected or disconnected, in words.

use anemone::connect::{ConfigFormat, ConnectError, ConnectOption, RefuseError};

use super::{Explain, Kind, UserError};

impl Explain for ConnectError {
    fn explain(&self) -> UserError {
        match self {
            Self::OnlyFor { option, takers } => {
                let flag = match option {
                    ConnectOption::Hooks => "--hooks",
                    ConnectOption::Project => "--project",
                    ConnectOption::Source => "--source",
                    ConnectOption::To => "--to",
                };
                let takers: Vec<&str> = takers.iter().map(|target| target.name).collect();
                UserError::usage(format!("{flag} only applies to {}", takers.join(" and ")))
            }
            Self::NoProject { target, .. } => self
                .failure("not_found")
                .hint(format!("give the folder in which {} is started", target.title)),
            Self::WritesItself(target) => UserError::usage(format!(
                "{} writes its own memory, so --allow-write has no effect here",
                target.title
            )),
            Self::NothingToSearch(_) => self.misuse("nothing_to_search").hint(
                "name an archive, a folder or a database with --source, or another memory with -w",
            ),
            Self::TooManySources { .. } => {
                self.misuse("too_many_sources").hint("name a folder that holds several of them")
            }
            Self::Busy => self.conflict("busy").hint("run it again when the other one is done"),
            Self::NoArguments(_) => self.failure("agent_not_found").hint("give -r, -w and --agent"),
            Self::PathEncoding(_) => self.failure("path_encoding"),
            Self::BrokenLink(_) => self.failure("link"),
            Self::ReadOnly(_) => self
                .failure("read_only")
                .hint("something else may write this file; else make it writable first"),
            Self::ChangedMeanwhile(_) => self.conflict("changed_meanwhile").hint("run it again"),
            Self::NotAFile(_) => self.failure("not_a_file"),
            Self::TooLarge(_) => self.failure("too_large"),
            Self::NotText { .. } => self.failure("unparsable"),
            Self::Taken(_) => self.conflict("taken").hint("move it away first"),
            Self::Unrecorded { .. } => self.conflict("taken").hint(
                "disconnecting with --all takes out all that starts anemone; or do it by hand",
            ),
            Self::Refused { format, path, error: refused } => {
                let (kind, code, hint) = refusal(*format, refused);
                let message = match refused {
                    RefuseError::Unparsable { line, column, expected } => format!(
                        "{}:{line}:{column}: {expected} was expected; nothing was changed",
                        path.display()
                    ),
                    _ => self.to_string(),
                };
                UserError::new(kind, code, message).hint(hint)
            }
            Self::HalfDone { error, changed } => {
                let mut said = error.explain();
                said.causes.extend(changed.iter().map(|path| {
                    format!("{} was changed, and could not be changed back", path.display())
                }));
                said
            }
            other => pass_on!(other, "connect", [Agent, File, Io]),
        }
    }
}

/// Says how bad it is that a file is not changed, and what to do about it.
fn refusal(format: ConfigFormat, error: &RefuseError) -> (Kind, &'static str, String) {
    let (kind, code, hint) = match error {
        RefuseError::Unparsable { .. } => {
            (Kind::Failed, "unparsable", "repair the file first; its program cannot read it either")
        }
        RefuseError::Taken { .. } => (Kind::Conflict, "taken", "rename or remove that entry first"),
        RefuseError::Shape { .. } => (Kind::Conflict, "unexpected_shape", "repair the file first"),
        RefuseError::Form { .. } => {
            let hint = match format {
                ConfigFormat::Toml => "write it as a table with its own header",
                ConfigFormat::Json => "write it as a separate object",
            };
            (Kind::Conflict, "unexpected_form", hint)
        }
        RefuseError::Entangled { .. } => {
            (Kind::Conflict, "entangled", "take the lines out by hand")
        }
        RefuseError::SwitchedOff { .. } => {
            (Kind::Conflict, "switched_off", "enable it yourself if that is intended")
        }
        RefuseError::NoAgent { there, .. } | RefuseError::ManyAgents(there)
            if !there.is_empty() =>
        {
            let hint = format!("name the agent with --to; there are: {}", there.join(", "));
            return (Kind::Usage, "agent_not_found", hint);
        }
        RefuseError::NoAgent { remedy, .. } | RefuseError::NoAgents(remedy) => {
            (Kind::Usage, "agent_not_found", *remedy)
        }
        RefuseError::ManyAgents { .. } => {
            (Kind::Usage, "agent_not_found", "name the agent with --to")
        }
    };
    (kind, code, hint.to_owned())
}
