//! Why a program is not connected or disconnected, in words.

use anemone::connect::{ConfigFormat, ConnectError, ConnectOption, RefuseError};

use super::{Kind, UserError};

impl From<ConnectError> for UserError {
    fn from(error: ConnectError) -> Self {
        let said = |kind, code| Self::from_error(kind, code, &error);
        match &error {
            ConnectError::OnlyFor { option, takers } => {
                let flag = match option {
                    ConnectOption::Hooks => "--hooks",
                    ConnectOption::Project => "--project",
                    ConnectOption::Source => "--source",
                    ConnectOption::To => "--to",
                };
                let takers: Vec<&str> = takers.iter().map(|target| target.name()).collect();
                let message = format!("{flag} only applies to {}", takers.join(" and "));
                Self::usage(message)
            }
            ConnectError::NoProject { target, .. } => said(Kind::Failed, "not_found")
                .hint(format!("give the folder in which {} is started", target.title())),
            ConnectError::WritesItself { target } => {
                let title = target.title();
                let message =
                    format!("{title} writes its own memory, so --allow-write has no effect here");
                Self::usage(message)
            }
            ConnectError::NothingToSearch { .. } => said(Kind::Usage, "nothing_to_search").hint(
                "name an archive, a folder or a database with --source, or another memory with -w",
            ),
            ConnectError::TooManySources { .. } => said(Kind::Usage, "too_many_sources")
                .hint("name a folder that holds several of them"),
            ConnectError::Busy => {
                said(Kind::Conflict, "busy").hint("run it again when the other one is done")
            }
            ConnectError::NoArguments { .. } => {
                said(Kind::Failed, "agent_not_found").hint("give -r, -w and --agent")
            }
            ConnectError::PathEncoding { .. } => said(Kind::Failed, "path_encoding"),
            ConnectError::BrokenLink { .. } => said(Kind::Failed, "link"),
            ConnectError::ReadOnly { .. } => said(Kind::Failed, "read_only")
                .hint("something else may write this file; else make it writable first"),
            ConnectError::ChangedMeanwhile { .. } => {
                said(Kind::Conflict, "changed_meanwhile").hint("run it again")
            }
            ConnectError::NotAFile { .. } => said(Kind::Failed, "not_a_file"),
            ConnectError::TooLarge { .. } => said(Kind::Failed, "too_large"),
            ConnectError::NotText { .. } => said(Kind::Failed, "unparsable"),
            ConnectError::Taken { .. } => said(Kind::Conflict, "taken").hint("move it away first"),
            ConnectError::Unrecorded { .. } => said(Kind::Conflict, "taken").hint(
                "disconnecting with --all takes out all that starts anemone; or do it by hand",
            ),
            ConnectError::Refused { format, path, error: refused } => {
                let (kind, code, hint) = refusal(*format, refused);
                let message = match refused {
                    RefuseError::Unparsable { line, column, expected } => format!(
                        "{}:{line}:{column}: {expected} was expected; nothing was changed",
                        path.display()
                    ),
                    _ => error.to_string(),
                };
                Self::new(kind, code, message).hint(hint)
            }
            _ => match error {
                ConnectError::HalfDone { error, changed } => {
                    let mut said = Self::from(*error);
                    said.causes.extend(changed.iter().map(|path| {
                        format!("{} was changed, and could not be changed back", path.display())
                    }));
                    said
                }
                other => pass_on!(other, "connect", ConnectError, [Agent, File, Io]),
            },
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
        RefuseError::NoAgent { there, .. } | RefuseError::ManyAgents { there }
            if !there.is_empty() =>
        {
            let hint = format!("name the agent with --to; there are: {}", there.join(", "));
            return (Kind::Usage, "agent_not_found", hint);
        }
        RefuseError::NoAgent { remedy, .. } | RefuseError::NoAgents { remedy } => {
            (Kind::Usage, "agent_not_found", *remedy)
        }
        RefuseError::ManyAgents { .. } => {
            (Kind::Usage, "agent_not_found", "name the agent with --to")
        }
    };
    (kind, code, hint.to_owned())
}
