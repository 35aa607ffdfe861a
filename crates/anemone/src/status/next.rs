//! What makes sense next: rules in the order of their weight, one step each.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::problems::Problem;
use super::{AgentStatus, Readiness};
use crate::agent::NamedAgent;
use crate::connect::searches_by_itself;
use crate::export::file_stem;
use crate::host::Host;
use crate::statement::Statement;

/// So many steps are offered.
const MOST: usize = 3;

/// How the user names an agent among all that were found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentName {
    /// It is the only one.
    Only,
    /// By its workspace, which the user named.
    Workspace(PathBuf),
    /// By its name.
    Alias {
        /// The name.
        alias: String,
        /// The runtime, where an agent of another one has the same name.
        runtime: Option<&'static str>,
    },
}

impl AgentName {
    pub(super) fn of(one: &NamedAgent, all: &[NamedAgent], workspace: Option<&Path>) -> Self {
        if let Some(workspace) = workspace {
            return Self::Workspace(workspace.to_owned());
        }
        // Commands use the only agent with a workspace without being given its name.
        let others = all.iter().filter(|other| !std::ptr::eq(*other, one));
        let is_there = |agent: &NamedAgent| agent.agent.workspace.is_dir();
        if !others.clone().any(is_there) && is_there(one) {
            return Self::Only;
        }
        let is_ambiguous = others.clone().any(|other| other.alias == one.alias);
        let runtime = is_ambiguous.then_some(one.runtime.name);
        Self::Alias { alias: one.alias.clone(), runtime }
    }
}

/// A step in the words of the program that asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepWords {
    /// The command that does it.
    pub command: String,
    /// What it is good for.
    pub why: String,
}

/// Something that makes sense next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NextStep {
    /// Show what is wrong with the settings.
    ShowSettings,
    /// Write an archive.
    Export {
        /// Of this agent.
        agent: AgentName,
        /// The last archive, where only what changed has to be compared.
        since: Option<String>,
        /// A name that no file has.
        output: PathBuf,
        /// Why.
        reason: ExportReason,
    },
    /// Bring the index up to date.
    Index {
        /// Of this agent.
        agent: AgentName,
        /// The state that it is in.
        state: Readiness,
    },
    /// Give the runtime these tools, or a runtime that searches by itself this memory.
    Connect {
        /// The runtime.
        runtime: &'static str,
        /// The agent.
        agent: AgentName,
    },
    /// Let a runtime search an archive.
    ConnectArchive {
        /// The runtime.
        runtime: &'static str,
        /// The archive.
        archive: String,
    },
    /// Search what an agent remembers.
    Search(AgentName),
    /// Examine the memory of an agent.
    Audit(AgentName),
    /// See whether everything about an agent can be exported.
    Check {
        /// Its runtime.
        runtime: &'static str,
        /// The agent.
        agent: AgentName,
    },
    /// Show everything on a sample agent.
    Demo,
    /// Name a workspace in another place.
    NameWorkspace,
    /// List all commands.
    ListCommands,
}

/// Why an agent should be exported, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExportReason {
    /// There is no archive of it.
    NeverExported,
    /// The last archive is gone.
    ArchiveGone,
    /// Much changed since the last archive.
    Old,
    /// Something changed since the last archive.
    Behind,
}

impl ExportReason {
    /// Returns a stable word for programs.
    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::NeverExported => "never_exported",
            Self::ArchiveGone => "archive_gone",
            Self::Old => "export_old",
            Self::Behind => "export_behind",
        }
    }

    /// Whether the last archive can still be compared with.
    const fn has_archive(self) -> bool {
        matches!(self, Self::Old | Self::Behind)
    }
}

/// Chooses what to do next; `is_free` says whether a file can be made.
pub(super) fn choose(
    agents: &[AgentStatus],
    connections: &[&str],
    problems: &[Problem],
    host: &Host,
    is_free: &dyn Fn(&Path) -> bool,
) -> Vec<NextStep> {
    let mut next = Vec::new();
    if problems.iter().any(|problem| matches!(problem, Problem::ConfigBroken(_))) {
        next.push(NextStep::ShowSettings);
    }
    let there: Vec<&AgentStatus> = agents.iter().filter(|agent| agent.workspace_exists).collect();
    if let Some(first) = there.first() {
        next.extend(export(&there, host, is_free));
        next.extend(index(&there));
        if connections.is_empty() {
            next.extend(connect(first));
        }
        let agent = || first.name.clone();
        next.push(NextStep::Search(agent()));
        next.push(NextStep::Audit(agent()));
        next.push(NextStep::Check { runtime: first.runtime, agent: agent() });
    } else {
        next.extend([NextStep::Demo, NextStep::NameWorkspace, NextStep::ListCommands]);
    }
    next.truncate(MOST);
    next
}

/// The agent gets the tools. A runtime that searches its own memory by itself is only connected to
/// other sources: an archive, or a memory elsewhere.
fn connect(agent: &AgentStatus) -> Option<NextStep> {
    if !agent.is_connectable {
        return None;
    }
    let runtime = agent.runtime;
    let is_named = matches!(agent.name, AgentName::Workspace(_));
    if is_named || !searches_by_itself(runtime) {
        return Some(NextStep::Connect { runtime, agent: agent.name.clone() });
    }
    let archive = agent.last_export.as_ref().filter(|export| export.exists && !export.sealed)?;
    Some(NextStep::ConnectArchive { runtime, archive: archive.archive.clone() })
}

/// The agent whose memory is least safe gets an archive.
fn export(
    agents: &[&AgentStatus],
    host: &Host,
    is_free: &dyn Fn(&Path) -> bool,
) -> Option<NextStep> {
    // The recipients of a sealed archive are unknown here, and a plain copy of it must not be
    // suggested.
    let is_plain =
        |agent: &&AgentStatus| agent.last_export.as_ref().is_none_or(|export| !export.sealed);
    let with_reason = |agent: &&AgentStatus| {
        agent.problems.iter().filter_map(Statement::typed).find_map(|problem| match problem {
            Problem::Export { reason, .. } => Some(*reason),
            _ => None,
        })
    };
    let plain = agents.iter().copied().filter(is_plain);
    let weak = plain.filter_map(|agent| Some((agent, with_reason(&agent)?)));
    let (agent, reason) = weak.min_by_key(|(_, reason)| *reason)?;
    let known = agent.last_export.as_ref().filter(|export| export.exists && reason.has_archive());
    let folder = known.and_then(|export| Path::new(&export.archive).parent());
    Some(NextStep::Export {
        agent: agent.name.clone(),
        since: known.map(|export| export.archive.clone()),
        output: free_name(folder.unwrap_or(Path::new("")), &agent.alias, host, is_free),
        reason,
    })
}

/// Returns a name of today that no file has.
fn free_name(folder: &Path, alias: &str, host: &Host, is_free: &dyn Fn(&Path) -> bool) -> PathBuf {
    /// More exports of one agent than anyone makes on one day.
    const TIMES: u32 = 100;
    let stem = format!("{}-{}", file_stem(alias), host.today());
    let numbered = (2..TIMES).map(|number| format!("{stem}-{number}.alf"));
    let mut names = std::iter::once(format!("{stem}.alf")).chain(numbered);
    let free = names.find(|name| is_free(&folder.join(name)));
    folder.join(free.unwrap_or_else(|| format!("{stem}.alf")))
}

/// The first agent whose index is not ready gets one.
fn index(agents: &[&AgentStatus]) -> Option<NextStep> {
    const STATES: [Readiness; 5] = [
        Readiness::Damaged,
        Readiness::Outdated,
        Readiness::Unfinished,
        Readiness::Missing,
        Readiness::Behind,
    ];
    STATES.into_iter().find_map(|state| {
        let agent = agents.iter().find(|agent| agent.search.state == state)?;
        Some(NextStep::Index { agent: agent.name.clone(), state })
    })
}

#[cfg(test)]
mod tests {
    use super::super::problems::ChangedFiles;
    use super::super::{LastExport, SearchStatus};
    use super::*;
    use crate::config::Config;

    fn alias(alias: &str) -> AgentName {
        AgentName::Alias { alias: alias.to_owned(), runtime: None }
    }

    fn agent(name: &str, state: Readiness, problems: Vec<Problem>) -> AgentStatus {
        let has = |wanted| {
            let is_it = |problem: &Problem| matches!(problem, Problem::Export { reason, .. } if *reason == wanted);
            problems.iter().any(is_it)
        };
        let known = !has(ExportReason::NeverExported);
        let exists = !has(ExportReason::ArchiveGone);
        let last = LastExport {
            archive: "/b/old one.alf".to_owned(),
            at: "2026-03-01T00:00:00Z".parse().unwrap(),
            exists,
            file_size: 1,
            changed_since: 0,
            sealed: false,
        };
        AgentStatus {
            runtime: "openclaw",
            generation: None,
            version: None,
            alias: name.to_owned(),
            workspace: "/w".to_owned(),
            workspace_exists: true,
            files: 1,
            bytes: 1,
            last_change: None,
            last_export: known.then_some(last),
            search: SearchStatus { state, documents: None, chunks: None, changed: 0 },
            hook_writes: Vec::new(),
            problems: Statement::list(problems),
            name: alias(name),
            is_connectable: true,
        }
    }

    fn sealed(mut agent: AgentStatus) -> AgentStatus {
        agent.last_export = agent.last_export.map(|last| LastExport { sealed: true, ..last });
        agent
    }

    fn check(agents: &[AgentStatus], connected: bool, expected: &[NextStep]) {
        let folder = tempfile::tempdir().unwrap();
        let host = crate::testing::host(folder.path());
        let connections: &[&str] = if connected { &["codex"] } else { &[] };
        assert_eq!(choose(agents, connections, &[], &host, &|_| true), expected);
    }

    fn export(agent: &str, since: bool, output: &str, reason: ExportReason) -> NextStep {
        let since = since.then(|| "/b/old one.alf".to_owned());
        NextStep::Export { agent: alias(agent), since, output: output.into(), reason }
    }

    #[test]
    fn what_weighs_most_comes_first() {
        use Readiness::{Behind, Missing, Ready};
        let problem = |reason| {
            vec![Problem::Export { reason, changed: ChangedFiles { files: 1, sealed: false } }]
        };
        let search = || NextStep::Search(alias("a"));
        let audit = || NextStep::Audit(alias("a"));
        let check_export = || NextStep::Check { runtime: "openclaw", agent: alias("a") };
        let index = |agent: &str, state| NextStep::Index { agent: alias(agent), state };
        let archive =
            NextStep::ConnectArchive { runtime: "openclaw", archive: "/b/old one.alf".to_owned() };
        check(&[], false, &[NextStep::Demo, NextStep::NameWorkspace, NextStep::ListCommands]);
        check(
            &[agent("a", Missing, problem(ExportReason::NeverExported))],
            false,
            &[
                export("a", false, "a-2026-11-16.alf", ExportReason::NeverExported),
                index("a", Missing),
                search(),
            ],
        );
        check(
            &[agent("a", Ready, problem(ExportReason::Behind))],
            true,
            &[export("a", true, "/b/a-2026-11-16.alf", ExportReason::Behind), search(), audit()],
        );
        check(
            &[agent("a", Ready, problem(ExportReason::ArchiveGone))],
            false,
            &[export("a", false, "a-2026-11-16.alf", ExportReason::ArchiveGone), search(), audit()],
        );
        check(
            &[
                agent("a", Behind, problem(ExportReason::Old)),
                agent("b", Missing, problem(ExportReason::NeverExported)),
            ],
            false,
            &[
                export("b", false, "b-2026-11-16.alf", ExportReason::NeverExported),
                index("b", Missing),
                archive,
            ],
        );
        check(
            &[sealed(agent("a", Ready, problem(ExportReason::Behind)))],
            false,
            &[search(), audit(), check_export()],
        );
        check(&[agent("a", Ready, vec![])], true, &[search(), audit(), check_export()]);
        let runtime = "zeroclaw";
        check(
            &[AgentStatus { runtime, ..agent("a", Ready, vec![]) }],
            false,
            &[NextStep::Connect { runtime, agent: alias("a") }, search(), audit()],
        );
        check(
            &[AgentStatus { workspace_exists: false, ..agent("a", Ready, vec![]) }],
            true,
            &[NextStep::Demo, NextStep::NameWorkspace, NextStep::ListCommands],
        );
    }

    #[test]
    fn broken_settings_come_before_everything() {
        let folder = tempfile::tempdir().unwrap();
        let host = crate::testing::host(folder.path());
        let settings = host.folders.own_config().join("config.toml");
        fs_err::create_dir_all(settings.parent().unwrap()).unwrap();
        fs_err::write(settings, "= no").unwrap();
        let problems = [Problem::ConfigBroken(Config::read(&host).unwrap_err())];
        let next = choose(&[], &[], &problems, &host, &|_| true);
        assert_eq!(next, [NextStep::ShowSettings, NextStep::Demo, NextStep::NameWorkspace]);
    }

    #[test]
    fn a_name_is_free_and_a_shell_takes_it() {
        let folder = tempfile::tempdir().unwrap();
        let host = crate::testing::host(folder.path());
        let taken = |path: &Path| !path.ends_with("main-2026-11-16.alf");
        let name = |alias, is_free: &dyn Fn(&Path) -> bool| {
            free_name(Path::new("/b"), alias, &host, is_free).display().to_string()
        };
        assert_eq!(name("main", &taken), "/b/main-2026-11-16-2.alf");
        assert_eq!(name("work/ada x", &|_| true), "/b/work-ada-x-2026-11-16.alf");
        assert_eq!(name("--rf", &|_| true), "/b/rf-2026-11-16.alf");
        assert_eq!(name("", &|_| false), "/b/agent-2026-11-16.alf");
    }
}
