//! Problems, suggested next steps, and reasons why nothing was examined, in words.

use anemone::connect::quoted;
use anemone::status::{
    AgentName, ExportReason, NextStep, Problem, ProblemWords, Readiness, StepWords,
};
use anemone::text::count;
use anemone_runtimes::by_name;

use crate::error::UserError;
use crate::search::setting_ignored;

/// Returns the name of a runtime for people.
fn title_of(runtime: &'static str) -> &'static str {
    by_name(runtime).map_or(runtime, |runtime| runtime.title)
}

/// Says what is wrong.
#[must_use]
pub fn problem(problem: Problem) -> ProblemWords {
    let (code, level, topic) = (problem.code(), problem.level(), problem.topic());
    ProblemWords { code, level, message: problem_message(problem), topic }
}

fn problem_message(problem: Problem) -> String {
    match problem {
        Problem::NoAgents => "no agents found on this machine".to_owned(),
        Problem::ConfigBroken(error) => UserError::from(error).with_causes(),
        Problem::ConnectionBroken(program) => format!(
            "the record of the connection to {program} cannot be read; `anemone disconnect \
             {program} --all` removes every entry that starts anemone"
        ),
        Problem::InstallUnreadable(place) => {
            format!("{place} cannot be read, so agents in it are not listed")
        }
        Problem::WorkspaceMissing => "the workspace does not exist".to_owned(),
        Problem::DatabaseUnreadable(reason) => reason,
        Problem::SourceUnreadable(error) => UserError::from(error).with_causes(),
        Problem::Unreadable(places) => format!("{} cannot be read", count(places, "place")),
        Problem::ChangeCutOff(changes) => {
            let changes = count(changes, "change");
            format!("{changes} did not finish; the next write completes or reverts it")
        }
        Problem::Export { reason, changed } => match reason {
            ExportReason::NeverExported => "it was never exported".to_owned(),
            ExportReason::ArchiveGone => "the archive is no longer where it was written".to_owned(),
            ExportReason::Old | ExportReason::Behind => {
                let sealed = match changed.sealed {
                    true => "; it was sealed, so give the key or --recipient again",
                    false => "",
                };
                format!("{} changed since the last export{sealed}", count(changed.files, "file"))
            }
        },
        Problem::IndexMissing => "no index yet; the first search builds it".to_owned(),
        Problem::IndexBehind(changed) => {
            let files = count(changed, "file");
            format!("{files} changed since the index was built; the next search updates it")
        }
        Problem::IndexUnfinished => {
            "the index is not finished; the next search builds it".to_owned()
        }
        Problem::IndexOutdated => {
            "the index is of another version; the next search rebuilds it".to_owned()
        }
        Problem::IndexDamaged => "the index is damaged; the next search rebuilds it".to_owned(),
        Problem::SettingIgnored(setting) => setting_ignored(&setting),
        Problem::Partial => "not every file was looked at, so the numbers are too low".to_owned(),
        Problem::Oddity { message, .. } => message,
        // New problems get words here.
        other => other.code().to_owned(),
    }
}

/// Says by which command a step is done, and why.
#[must_use]
pub fn next(step: NextStep) -> StepWords {
    let line = |command: String, why: &str| StepWords { command, why: why.to_owned() };
    match step {
        NextStep::ShowSettings => {
            line("anemone config".to_owned(), "shows what is wrong with the settings")
        }
        NextStep::Export { agent, since, output, reason } => {
            let since = since.map(|path| format!(" --since {}", quoted(&path))).unwrap_or_default();
            let output = quoted(&output.display().to_string());
            let command = format!("anemone export{}{since} -o {output}", name(&agent));
            line(command, export_reason(reason))
        }
        NextStep::Index { agent, state } => {
            let why = match state {
                Readiness::Damaged | Readiness::Outdated => "rebuilds the index",
                Readiness::Unfinished => "finishes the index, so the first search is instant",
                Readiness::Behind => "updates the index",
                _ => "builds the index, so the first search is instant",
            };
            line(format!("anemone index{}", name(&agent)), why)
        }
        NextStep::Connect { runtime, agent } => {
            let why = if anemone::connect::searches_by_itself(runtime) {
                format!("shows how {} gets to search this memory", title_of(runtime))
            } else {
                "shows how the agent gets these tools".to_owned()
            };
            line(format!("anemone connect {runtime}{} --dry-run", name(&agent)), &why)
        }
        NextStep::ConnectArchive { runtime, archive } => line(
            format!("anemone connect {runtime} --source {} --dry-run", quoted(&archive)),
            &format!("shows how {} gets to search the archive", title_of(runtime)),
        ),
        NextStep::Search(agent) => line(
            format!("anemone search{} \"what did we decide?\"", name(&agent)),
            "searches what the agent remembers",
        ),
        NextStep::Audit(agent) => {
            line(format!("anemone audit{}", name(&agent)), "checks the health of the memory")
        }
        NextStep::Check { runtime, agent } => {
            // This one wants to be told the runtime in any case.
            let agent = match agent {
                AgentName::Alias { alias, .. } => AgentName::Alias { alias, runtime: None },
                other => other,
            };
            let why = "checks that everything about the agent can be exported";
            line(format!("anemone check -r {runtime}{}", name(&agent)), why)
        }
        NextStep::Demo => line(
            "anemone demo".to_owned(),
            "shows everything on a sample agent, in a temporary folder",
        ),
        NextStep::NameWorkspace => {
            line("anemone status --help".to_owned(), "name a workspace in another place with -w")
        }
        // New steps get words here.
        NextStep::ListCommands | _ => line("anemone --help".to_owned(), "all commands"),
    }
}

const fn export_reason(reason: ExportReason) -> &'static str {
    match reason {
        ExportReason::NeverExported => "there is no archive of it",
        ExportReason::ArchiveGone => "the last archive is gone",
        ExportReason::Old => "much changed since the last archive",
        ExportReason::Behind => "something changed since the last archive",
    }
}

/// Returns the arguments that name an agent among others, each behind a space.
fn name(agent: &AgentName) -> String {
    match agent {
        AgentName::Only => String::new(),
        AgentName::Workspace(workspace) => {
            let path = workspace.display().to_string();
            // What begins with a hyphen is no path to a parser of arguments.
            let path = if path.starts_with('-') { format!("./{path}") } else { path };
            format!(" -w {}", quoted(&path))
        }
        AgentName::Alias { alias, runtime } => {
            let runtime = runtime.map(|runtime| format!(" -r {runtime}")).unwrap_or_default();
            let sign = if alias.starts_with('-') { "=" } else { " " };
            format!("{runtime} --agent{sign}{}", quoted(alias))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alias(alias: &str, runtime: Option<&'static str>) -> AgentName {
        AgentName::Alias { alias: alias.to_owned(), runtime }
    }

    #[test]
    fn a_step_is_a_command_that_a_shell_takes() {
        let agent = || alias("a", None);
        let archive = || "/b/old one.alf".to_owned();
        let export = |since| NextStep::Export {
            agent: agent(),
            since,
            output: "a-2026-03-05.alf".into(),
            reason: ExportReason::NeverExported,
        };
        for (step, expected) in [
            (export(None), "anemone export --agent a -o a-2026-03-05.alf"),
            (
                export(Some(archive())),
                "anemone export --agent a --since '/b/old one.alf' -o a-2026-03-05.alf",
            ),
            (
                NextStep::ConnectArchive { runtime: "openclaw", archive: archive() },
                "anemone connect openclaw --source '/b/old one.alf' --dry-run",
            ),
            (
                NextStep::Connect { runtime: "zeroclaw", agent: agent() },
                "anemone connect zeroclaw --agent a --dry-run",
            ),
            (
                NextStep::Check { runtime: "openclaw", agent: alias("a", Some("openclaw")) },
                "anemone check -r openclaw --agent a",
            ),
            (
                NextStep::Audit(alias("-a", Some("zeroclaw"))),
                "anemone audit -r zeroclaw --agent=-a",
            ),
            (
                NextStep::Index {
                    agent: AgentName::Workspace("-w".into()),
                    state: Readiness::Missing,
                },
                "anemone index -w ./-w",
            ),
            (NextStep::Search(AgentName::Only), "anemone search \"what did we decide?\""),
        ] {
            assert_eq!(next(step).command, expected);
        }
    }
}
