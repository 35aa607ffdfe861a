//! Looks through an OpenClaw workspace before an export.

use std::convert::Infallible;
use std::iter;
use std::path::Path;

use super::discover::{GEN_9, config_in_use, discover, schema_version};
use super::layout::{FACTS, MemoryKind, PathRole, place_of};
use super::{config::Config, facts::each_fact};
use crate::kit::{
    Advice, Check, ConfigState, DEFAULT_ARTIFACT_LIMIT, DailyLogs, Database, FoundAgent,
    FoundEntry, FoundSecret, IssueKind, Machine, PersonaPlace, ProjectFiles, ReadError, Resources,
    SearchIndexState, SurveyClass, WalkedWorkspace, begin, check::Survey, is_included, lossy,
    same_place, written_at,
};
use anemone_secrets as secrets;

const ADVICE: Advice = Advice(include_str!("check/advice.txt"));
/// The word for programs when the install has no configuration.
const CONFIG_NOT_FOUND: &str = "openclaw_config_not_found";
const ODDITIES: Advice = Advice(include_str!("check/oddities.txt"));

/// Checks an agent; reads its workspace and writes nothing.
pub(super) fn check(
    machine: &Machine,
    agent: &FoundAgent,
    walked: Result<&WalkedWorkspace, &ReadError>,
) -> Check {
    let workspace = &agent.workspace;
    let (mut check, mut survey) = begin(workspace, walked, &surveyed);
    let config = config_state(machine, agent);
    if check.is_ready() {
        survey.secrets.extend(secrets_in_facts(machine, workspace, &survey));
        check.resources = resources(workspace, &survey);
        check.index = index_state(machine, agent, &survey);
        note_resources(&mut check);
        check.note_survey(survey);
        note_index(&mut check);
    }
    note_config(machine, agent, &config, &mut check);
    check.config = Some(config);
    check.note_oddities(ODDITIES, agent);
    check.issues.sort_by_key(|issue| issue.severity);
    check
}

fn surveyed(found: &FoundEntry) -> SurveyClass {
    match place_of(&found.path) {
        PathRole::Memory(_) | PathRole::Persona(_) => SurveyClass::Text,
        PathRole::Artifact if !is_included(found, DEFAULT_ARTIFACT_LIMIT) => SurveyClass::Named,
        PathRole::Facts | PathRole::Raw | PathRole::Artifact => SurveyClass::Other,
    }
}

/// Finds secrets in facts, which an export looks for row by row.
fn secrets_in_facts(machine: &Machine, workspace: &Path, survey: &Survey) -> Vec<FoundSecret> {
    let mut found: Vec<FoundSecret> = Vec::new();
    let database = survey.has_file(FACTS).then(|| Database::open(machine, &workspace.join(FACTS)));
    let Some(Ok(database)) = database else { return found };
    let mut line = 0;
    // What cannot be read is found and reported during the export.
    let read = each_fact(&database, FACTS, &mut |fact| {
        line += 1;
        let content = fact.content();
        for text in iter::once(content.as_str()).chain(fact.texts()) {
            FoundSecret::note(&mut found, FACTS, line, &secrets::scan(text.as_bytes()));
        }
        Ok::<_, Infallible>(())
    });
    drop(read);
    found
}

fn config_state(machine: &Machine, agent: &FoundAgent) -> ConfigState {
    let config = match &agent.config {
        Some(file) => Config::of(machine, file),
        None => config_in_use(machine),
    };
    let Some(config) = config else { return ConfigState::default() };
    let own = config.agent(&agent.alias).and_then(|agent| agent.workspace.clone());
    let workspace = own.or_else(|| config.workspace.clone());
    ConfigState { workspace, path: Some(config.path.clone()) }
}

fn resources(workspace: &Path, survey: &Survey) -> Resources {
    let found = survey.resources(workspace);
    Resources {
        memory_md: found.memory_md || survey.has_file("memory.md"),
        daily_logs: found.memory_dir.then(|| daily_logs(survey)),
        active_context: survey.has(workspace, "memory/active-context.md"),
        project_files: found.memory_dir.then(|| project_files(survey)),
        ..found
    }
}

fn daily_logs(survey: &Survey) -> DailyLogs {
    let logs = survey.files.iter().filter_map(|other| {
        let PathRole::Memory(MemoryKind::Daily(name)) = place_of(&other.path) else { return None };
        let path = lossy(other.path.strip_prefix(b"memory/")?);
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        // The runtime's own reports have dates in their names too.
        let own = folder.split('/').any(|part| part.starts_with('.') || part == "dreaming");
        let file = path.rsplit('/').next().unwrap_or_default().to_owned();
        (!own).then_some((name.date, file, path))
    });
    let logs: Vec<_> = logs.collect();
    let count = logs.len() as u64;
    DailyLogs { count, latest: logs.into_iter().max().map(|(_, _, path)| path) }
}

fn project_files(survey: &Survey) -> ProjectFiles {
    let is_project =
        |file: &&FoundEntry| matches!(place_of(&file.path), PathRole::Memory(MemoryKind::Project));
    ProjectFiles { count: survey.files.iter().filter(is_project).count() as u64 }
}

/// Whether the runtime's index covers a file.
fn is_indexed(found: &&FoundEntry) -> bool {
    matches!(place_of(&found.path), PathRole::Memory(_) | PathRole::Persona(PersonaPlace::User))
}

fn index_state(machine: &Machine, agent: &FoundAgent, survey: &Survey) -> SearchIndexState {
    let times = survey.files.iter().filter(is_indexed).filter_map(|file| file.mtime.as_ref());
    let newest_memory = times.max_by_key(|time| time.instant()).cloned();
    let Some(database) =
        agent.database.as_ref().filter(|database| holds_index(machine, agent, database))
    else {
        return SearchIndexState { newest_memory, ..SearchIndexState::default() };
    };
    let updated_at = written_at(database);
    let both = newest_memory.as_ref().zip(updated_at.as_ref());
    SearchIndexState {
        database: Some(database.clone()),
        stale: both.is_some_and(|(newest, written)| newest.instant() > written.instant()),
        schema_version: schema_version(database),
        updated_at,
        newest_memory,
    }
}

/// Whether a database has the table of the index; if that cannot be determined, it counts as
/// present.
fn holds_index(machine: &Machine, agent: &FoundAgent, database: &Path) -> bool {
    let table = if agent.generation == Some(GEN_9) { "memory_index_chunks" } else { "chunks" };
    let tables = Database::open(machine, database).and_then(|database| database.tables());
    tables.map_or(true, |tables| tables.iter().any(|other| other.name == table))
}

fn note_resources(check: &mut Check) {
    let found = check.resources.clone();
    check.note_access();
    check.note_persona();
    let logs = found.daily_logs.as_ref().map_or(0, |log| log.count);
    if !found.memory_md && logs == 0 {
        check.note(ADVICE, IssueKind::NoMemoryContent, "there is no MEMORY.md and no daily log");
    }
    if found.memory_dir && logs == 0 {
        check.note(ADVICE, IssueKind::MemoryDirEmpty, "the folder memory holds no daily log");
    }
}

fn note_index(check: &mut Check) {
    let Some(database) = &check.index.database else {
        let message = "there is no search index; the export carries no vectors";
        return check.note(ADVICE, IssueKind::IndexMissing, message);
    };
    let shown = database.display();
    let (kind, what) = if check.index.stale {
        (IssueKind::IndexStale, "is older than the newest memory file")
    } else {
        (IssueKind::IndexPresent, "is there")
    };
    let message = format!("the search index {shown} {what}");
    check.note(ADVICE, kind, message);
}

fn note_config(machine: &Machine, agent: &FoundAgent, config: &ConfigState, check: &mut Check) {
    if config.path.is_none() {
        check.note(ADVICE, IssueKind::NoConfig(CONFIG_NOT_FOUND), "there is no openclaw.json");
    }
    let Some(configured) = &config.workspace else { return };
    let known = same_place(configured, &agent.workspace)
        || discover(machine)
            .iter()
            .any(|discover| same_place(&discover.workspace, &agent.workspace));
    if !known {
        let message = format!("openclaw.json names another workspace: {}", configured.display());
        check.note(ADVICE, IssueKind::WorkspaceMismatch, message);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::time::{Duration, SystemTime};

    use super::super::discover::locate;
    use super::super::read::walk;
    use super::*;
    use crate::kit::agent::{KnownConfigs, ReadOptions};
    use crate::kit::check::Severity::Error;

    struct Home(tempfile::TempDir, Machine);

    impl Home {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let machine = Machine {
                home: folder.path().canonicalize().unwrap(),
                variables: BTreeMap::new(),
                database_reader: PathBuf::new(),
                scratch: PathBuf::new(),
                configs: KnownConfigs::default(),
            };
            Self(folder, machine)
        }

        fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
            let path = self.0.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(&path, content).unwrap();
            path
        }

        fn check(&self, workspace: &str) -> Check {
            check_in(&self.1, workspace)
        }
    }

    fn check_in(machine: &Machine, workspace: &str) -> Check {
        let agent = locate(machine, &machine.home.join(workspace));
        check(machine, &agent, walk(&agent, &ReadOptions::default()).as_ref())
    }

    fn codes(check: &Check) -> Vec<&str> {
        check.issues.iter().map(|issue| issue.kind.as_str()).collect()
    }

    #[test]
    fn a_workspace_with_everything_has_no_warnings() {
        let home = Home::new();
        for name in ["SOUL.md", "IDENTITY.md", "AGENTS.md", "USER.md", "MEMORY.md"] {
            home.write(&format!("w/{name}"), "# It");
        }
        for name in [
            "active-context.md",
            "project-a.md",
            "project-b.md",
            "2026-01-15.md",
            "2026-02-30.md",
            "only-blank.md",
            "old/2025-12-31-0930.md",
            "2026-02-01-standup.md",
            "dreaming/deep/2026-11-01.md",
            ".dreams/2026-11-02.md",
        ] {
            home.write(&format!("w/memory/{name}"), "# It");
        }
        let check = home.check("w");
        assert!(check.is_ready() && check.exists && check.writable);
        assert_eq!(codes(&check), ["index_missing", "openclaw_config_not_found"]);
        let found = check.resources;
        assert!(found.soul_md && found.identity_md && found.agents_md && found.user_md);
        assert!(found.memory_md && found.memory_dir && found.active_context);
        assert_eq!(found.project_files, Some(ProjectFiles { count: 2 }));
        let latest = Some("2026-02-01-standup.md".to_owned());
        assert_eq!(found.daily_logs, Some(DailyLogs { count: 3, latest }));
    }

    #[test]
    fn an_empty_workspace_is_ready_with_warnings() {
        let home = Home::new();
        fs_err::create_dir_all(home.0.path().join("w/memory")).unwrap();
        let check = home.check("w");
        assert!(check.is_ready());
        assert_eq!(
            codes(&check)[..4],
            ["workspace_empty", "no_soul_md", "no_memory_content", "memory_dir_empty"]
        );
        assert_eq!(check.resources.daily_logs, Some(DailyLogs::default()));
    }

    #[test]
    fn a_workspace_that_is_not_there_is_an_error() {
        let home = Home::new();
        home.write("file", "");
        for name in ["gone", "file"] {
            let check = home.check(name);
            assert!(!check.is_ready() && !check.exists && !check.writable);
            assert_eq!(codes(&check), ["workspace_not_found", "openclaw_config_not_found"]);
        }
    }

    #[test]
    fn an_index_older_than_the_memory_is_stale() {
        let home = Home::new();
        home.write(".openclaw/openclaw.json", "{}");
        let mut database = vec![0; 4096];
        database[..16].copy_from_slice(b"SQLite format 3\0");
        let database = home.write(".openclaw/memory/main.sqlite", database);
        let memory = home.write(".openclaw/workspace/memory/2026-01-15.md", "x");
        let set = |path: &Path, seconds| {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            fs_err::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        };
        set(&memory, 1_000);
        set(&database, 2_000);
        let check = home.check(".openclaw/workspace");
        assert!(codes(&check).contains(&"index_present"));
        assert_eq!(check.index.newest_memory.unwrap().as_str(), "1970-01-01T00:16:40Z");
        assert_eq!((check.index.stale, check.index.schema_version), (false, Some(0)));
        set(&memory, 3_000);
        assert!(codes(&home.check(".openclaw/workspace")).contains(&"index_stale"));
        // The latest writes are in the log beside the database.
        let log = home.write(".openclaw/memory/main.sqlite-wal", "");
        set(&log, 3_000);
        assert!(codes(&home.check(".openclaw/workspace")).contains(&"index_present"));
    }

    #[test]
    fn another_workspace_than_the_configured_one_is_said() {
        let home = Home::new();
        home.write(
            ".openclaw/openclaw.json",
            "{ agents: { defaults: { workspace: '~/w' }, list: [{ id: 'a' }, { id: 'b' }] } }",
        );
        home.write("w/SOUL.md", "me");
        home.write("w/b/SOUL.md", "me");
        home.write("other/SOUL.md", "me");
        for name in ["w", "w/b"] {
            assert!(!codes(&home.check(name)).contains(&"workspace_mismatch"), "{name}");
        }
        assert!(codes(&home.check("other")).contains(&"workspace_mismatch"));
    }

    #[cfg(unix)]
    #[test]
    fn what_does_not_travel_is_said() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        use std::os::unix::net::UnixListener;
        let home = Home::new();
        home.write("w/memory/bad.md", b"\xff");
        let hidden = home.write("w/memory/hidden.md", "x");
        symlink("/etc", home.0.path().join("w/etc")).unwrap();
        let _socket = UnixListener::bind(home.0.path().join("w/socket")).unwrap();
        fs_err::set_permissions(&hidden, PermissionsExt::from_mode(0o000)).unwrap();
        let check = home.check("w");
        for code in ["not_utf8", "symlink_outside", "special_files"] {
            assert!(codes(&check).contains(&code), "{code}");
        }
        // Nothing is hidden from the superuser.
        let is_hidden = fs_err::read(&hidden).is_err();
        assert_eq!(codes(&check).contains(&"unreadable_files"), is_hidden);
        assert_eq!(check.unreadable.is_empty(), !is_hidden);
        assert!(check.is_ready());
    }

    #[test]
    fn secrets_are_named_by_file_and_line() {
        let finding = |line| FoundSecret { path: "notes/keys.md".to_owned(), line, kind: "token" };
        let survey = Survey { secrets: (1..=7).map(finding).collect(), ..Survey::default() };
        let mut check = Check::default();
        check.note_survey(survey);
        assert_eq!(codes(&check), ["secrets_found"]);
        assert_eq!(check.issues[0].severity, Error);
        let message = &check.issues[0].message;
        assert!(message.starts_with("7 ") && message.ends_with(" and 2 more"), "{message}");
        assert!(message.contains("notes/keys.md line 3 (token)"), "{message}");
    }

    #[test]
    fn secrets_in_facts_are_found_as_an_export_finds_them() {
        let home = Home::new();
        home.write("w/memory/pic.png", "");
        let machine = Machine { scratch: home.1.home.clone(), ..home.1.clone() };
        let key = format!("ghp_{}", "Fake7For2Tests0123".repeat(2));
        rusqlite::Connection::open(home.0.path().join("w/memory/facts.db"))
            .unwrap()
            .execute_batch(&format!(
                "CREATE TABLE facts(id INTEGER PRIMARY KEY, entity, key, value, notes);
                 INSERT INTO facts VALUES (1, 'Ann', 'drinks', 'tea', NULL),
                   (2, 'Ann', 'forge', '{key}', 'again {key}');"
            ))
            .unwrap();
        let check = check_in(&machine, "w");
        let path = "memory/facts.db".to_owned();
        let in_row = FoundSecret { path, line: 2, kind: "github_token" };
        assert!(check.secrets.contains(&in_row), "{:?}", check.secrets);
        assert!(codes(&check).contains(&"secrets_found"));
    }

    #[test]
    fn the_worst_comes_first() {
        let home = Home::new();
        home.write(".openclaw/openclaw.json", "{ broken");
        home.write(".openclaw/workspace/MEMORY.md", "x");
        let check = home.check(".openclaw/workspace");
        assert_eq!(codes(&check), ["no_soul_md", "config_invalid", "index_missing"]);
    }
}
