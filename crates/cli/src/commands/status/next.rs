//! The commands that make sense next: rules in the order of their weight, one command each.

use std::path::{Path, PathBuf};

use anemone_memory::Clock as _;
use anemone_runtimes::by_name;
use jiff::Timestamp;
use serde::Serialize;

use super::problems::Problem;
use super::{AgentStatus, Readiness};
use anemone::export::file_stem;
use anemone::system::SystemClock;

use anemone::connect::quoted;

/// So many commands are offered.
const MOST: usize = 3;

/// A command, as somebody would type it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Next {
    pub(super) command: String,
    pub(super) why: String,
}

impl Next {
    fn new(command: impl Into<String>, why: impl Into<String>) -> Self {
        Self { command: command.into(), why: why.into() }
    }
}

/// Chooses what to do next; `is_free` says whether a file can be made.
pub(super) fn choose(
    agents: &[AgentStatus],
    connections: &[&str],
    problems: &[Problem],
    now: Timestamp,
    is_free: &dyn Fn(&Path) -> bool,
) -> Vec<Next> {
    let mut next = Vec::new();
    if problems.iter().any(|it| it.code == "config_broken") {
        next.push(Next::new("anemone config", "shows what is wrong with the settings"));
    }
    let there: Vec<&AgentStatus> =
        agents.iter().filter(|it| !it.has("workspace_missing")).collect();
    if let Some(first) = there.first() {
        next.extend(export(&there, now, is_free));
        next.extend(index(&there));
        if connections.is_empty() {
            next.extend(connect(first));
        }
        let search = format!("anemone search{} \"what did we decide?\"", first.words);
        next.push(Next::new(search, "searches what the agent remembers"));
        let audit = format!("anemone audit{}", first.words);
        next.push(Next::new(audit, "checks the health of the memory"));
        // This one wants to be told the runtime in any case.
        let runtime = format!(" -r {}", first.runtime);
        let words = first.words.strip_prefix(&runtime).unwrap_or(&first.words);
        let check = format!("anemone check{runtime}{words}");
        next.push(Next::new(check, "checks that everything about the agent can be exported"));
    } else {
        next.push(Next::new(
            "anemone demo",
            "shows everything on a sample agent, in a temporary folder",
        ));
        let why = "name a workspace in another place with -w";
        next.push(Next::new("anemone status --help", why));
        next.push(Next::new("anemone --help", "all commands"));
    }
    next.truncate(MOST);
    next
}

/// The agent gets the tools. A runtime that searches its own memory by itself is only given what it
/// does not have, an archive or a memory elsewhere.
fn connect(agent: &AgentStatus) -> Option<Next> {
    let words = &agent.words;
    if !agent.is_connectable {
        return None;
    }
    let name = agent.runtime;
    let searching = by_name(name).filter(|runtime| runtime.own_index.is_some());
    let Some(title) = searching.map(|runtime| runtime.title) else {
        let command = format!("anemone connect {name}{words} --dry-run");
        return Some(Next::new(command, "shows how the agent gets these tools"));
    };
    if agent.is_named {
        let command = format!("anemone connect {name}{words} --dry-run");
        return Some(Next::new(command, format!("shows how {title} gets to search this memory")));
    }
    let archive = agent.last_export.as_ref().filter(|it| it.exists && !it.sealed)?;
    let command = format!("anemone connect {name} --source {} --dry-run", quoted(&archive.archive));
    Some(Next::new(command, format!("shows how {title} gets to search the archive")))
}

/// The agent whose memory is least safe gets an archive.
fn export(
    agents: &[&AgentStatus],
    now: Timestamp,
    is_free: &dyn Fn(&Path) -> bool,
) -> Option<Next> {
    let reasons = [
        ("never_exported", "there is no archive of it"),
        ("archive_gone", "the last archive is gone"),
        ("export_old", "much changed since the last archive"),
        ("export_behind", "something changed since the last archive"),
    ];
    // Nobody knows here for whom a sealed one was sealed, and in plain text it shall not lie there.
    let is_plain = |it: &AgentStatus| it.last_export.as_ref().is_none_or(|it| !it.sealed);
    let weak = agents.iter().filter(|it| is_plain(it));
    let (agent, code, why) = reasons
        .iter()
        .find_map(|(code, why)| Some((weak.clone().find(|it| it.has(code))?, *code, *why)))?;
    let known = agent.last_export.as_ref().filter(|it| it.exists && code.starts_with("export_"));
    let folder = known.and_then(|it| Path::new(&it.archive).parent()).unwrap_or(Path::new(""));
    let output = free_name(folder, &agent.alias, now, is_free);
    let since = known.map(|it| format!(" --since {}", quoted(&it.archive))).unwrap_or_default();
    let output = quoted(&output.display().to_string());
    Some(Next::new(format!("anemone export{}{since} -o {output}", agent.words), why))
}

/// Returns a name of today that no file has.
fn free_name(
    folder: &Path,
    alias: &str,
    now: Timestamp,
    is_free: &dyn Fn(&Path) -> bool,
) -> PathBuf {
    /// Nobody exports an agent this often on one day.
    const TIMES: u32 = 100;
    let name = file_stem(alias);
    let stem = format!("{name}-{}", now.to_zoned(SystemClock.zone()).date());
    let numbered = (2..TIMES).map(|number| format!("{stem}-{number}.alf"));
    let mut names = std::iter::once(format!("{stem}.alf")).chain(numbered);
    let free = names.find(|it| is_free(&folder.join(it)));
    folder.join(free.unwrap_or_else(|| format!("{stem}.alf")))
}

/// The first agent whose index is not ready gets one.
fn index(agents: &[&AgentStatus]) -> Option<Next> {
    let reasons = [
        (Readiness::Damaged, "rebuilds the index"),
        (Readiness::Outdated, "rebuilds the index"),
        (Readiness::Unfinished, "finishes the index, so the first search is instant"),
        (Readiness::Missing, "builds the index, so the first search is instant"),
        (Readiness::Behind, "updates the index"),
    ];
    let (agent, why) = reasons.iter().find_map(|(state, why)| {
        Some((agents.iter().find(|it| it.search.state == *state)?, *why))
    })?;
    Some(Next::new(format!("anemone index{}", agent.words), why))
}

impl AgentStatus {
    /// Whether this is wrong with the agent.
    fn has(&self, code: &str) -> bool {
        self.problems.iter().any(|it| it.code == code)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LastExport, Search};
    use super::*;

    fn agent(alias: &str, state: Readiness, codes: &[&'static str]) -> AgentStatus {
        let archive = "/b/old one.alf".to_owned();
        let at = "2026-03-01T00:00:00Z".parse().unwrap();
        let known = !codes.contains(&"never_exported");
        let exists = !codes.contains(&"archive_gone");
        let sealed = codes.contains(&"sealed");
        let last = LastExport { archive, at, exists, file_size: 1, changed_since: 0, sealed };
        AgentStatus {
            runtime: "openclaw",
            generation: None,
            version: None,
            alias: alias.to_owned(),
            workspace: "/w".to_owned(),
            workspace_exists: true,
            files: 1,
            bytes: 1,
            last_change: None,
            last_export: known.then_some(last),
            search: Search { state, documents: None, chunks: None, changed: 0 },
            hook_writes: Vec::new(),
            problems: codes.iter().map(|it| Problem::wrong(it, "")).collect(),
            words: format!(" --agent {alias}"),
            is_named: false,
            is_connectable: true,
        }
    }

    fn check(agents: &[AgentStatus], connected: bool, expected: &[&str]) {
        let connections: &[&str] = if connected { &["codex"] } else { &[] };
        let now = "2026-03-05T12:00:00Z".parse().unwrap();
        let next = choose(agents, connections, &[], now, &|_| true);
        let commands: Vec<&str> = next.iter().map(|it| it.command.as_str()).collect();
        assert_eq!(commands, expected);
    }

    #[test]
    fn what_weighs_most_comes_first() {
        use Readiness::{Behind, Missing, Ready};
        let search = "anemone search --agent a \"what did we decide?\"";
        let connect = "anemone connect openclaw --source '/b/old one.alf' --dry-run";
        check(&[], false, &["anemone demo", "anemone status --help", "anemone --help"]);
        check(
            &[agent("a", Missing, &["never_exported"])],
            false,
            &["anemone export --agent a -o a-2026-03-05.alf", "anemone index --agent a", search],
        );
        check(
            &[agent("a", Ready, &["export_behind"])],
            true,
            &[
                "anemone export --agent a --since '/b/old one.alf' -o /b/a-2026-03-05.alf",
                search,
                "anemone audit --agent a",
            ],
        );
        check(
            &[agent("a", Ready, &["archive_gone"])],
            false,
            &["anemone export --agent a -o a-2026-03-05.alf", search, "anemone audit --agent a"],
        );
        check(
            &[agent("a", Behind, &["export_old"]), agent("b", Missing, &["never_exported"])],
            false,
            &["anemone export --agent b -o b-2026-03-05.alf", "anemone index --agent b", connect],
        );
        check(
            &[agent("a", Ready, &["export_behind", "sealed"])],
            false,
            &[search, "anemone audit --agent a", "anemone check -r openclaw --agent a"],
        );
        check(
            &[agent("a", Ready, &[])],
            true,
            &[search, "anemone audit --agent a", "anemone check -r openclaw --agent a"],
        );
        let of_zeroclaw = AgentStatus { runtime: "zeroclaw", ..agent("a", Ready, &[]) };
        check(
            &[of_zeroclaw],
            false,
            &["anemone connect zeroclaw --agent a --dry-run", search, "anemone audit --agent a"],
        );
        check(
            &[agent("a", Ready, &["workspace_missing"])],
            true,
            &["anemone demo", "anemone status --help", "anemone --help"],
        );
    }

    #[test]
    fn broken_settings_come_before_everything() {
        let problems = [Problem::wrong("config_broken", "")];
        let next = choose(&[], &[], &problems, Timestamp::UNIX_EPOCH, &|_| true);
        let commands: Vec<&str> = next.iter().map(|it| it.command.as_str()).collect();
        assert_eq!(commands, ["anemone config", "anemone demo", "anemone status --help"]);
    }

    #[test]
    fn a_name_is_free_and_a_shell_takes_it() {
        let now = "2026-03-05T12:00:00Z".parse().unwrap();
        let taken = |path: &Path| !path.ends_with("main-2026-03-05.alf");
        let name = |alias, is_free: &dyn Fn(&Path) -> bool| {
            free_name(Path::new("/b"), alias, now, is_free).display().to_string()
        };
        assert_eq!(name("main", &taken), "/b/main-2026-03-05-2.alf");
        assert_eq!(name("work/ada x", &|_| true), "/b/work-ada-x-2026-03-05.alf");
        assert_eq!(name("--rf", &|_| true), "/b/rf-2026-03-05.alf");
        assert_eq!(name("", &|_| false), "/b/agent-2026-03-05.alf");
    }
}
