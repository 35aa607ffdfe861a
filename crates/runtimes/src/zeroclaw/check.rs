//! Checks whether an agent can be exported.

use std::path::Path;

use super::brain::{Brain, RowCounts, position_of};
use super::config::{Backend, Config};
use super::layout::{self, CONFIG, DATABASE, PathRole};
use super::{discover::is_live, read::redact::texts, schema::SCHEMA};
use crate::kit::{
    Advice, Check, DEFAULT_ARTIFACT_LIMIT, DailyLogs, DatabaseError, FoundAgent, FoundEntry,
    FoundSecret, IssueKind, Machine, OddityKind, ProjectFiles, ReadError, Resources,
    SearchIndexState, SurveyClass, WalkedWorkspace, a_few, begin, check::Survey, date_in_name,
    is_included, lossy, written_at,
};
use anemone_secrets as secrets;

/// Columns without which a row is of little use.
const NEEDED: &[&str] = &["id", "key", "content"];
/// Tables that some version of the runtime creates.
const TABLES: &[&str] = &["memories", "agents", "embedding_cache", "memory_meta", "schema_version"];
/// How the tables of the search index and of SQLite start.
const OWN_TABLES: &[&str] = &["memories_fts", "sqlite_"];

const ADVICE: Advice = Advice(include_str!("check/advice.txt"));
/// The word for programs when the install has no configuration.
const CONFIG_NOT_FOUND: &str = "zeroclaw_config_not_found";
const ODDITIES: Advice = Advice(include_str!("check/oddities.txt"));

/// Checks an agent; reads it and writes nothing.
pub(super) fn check(
    machine: &Machine,
    agent: &FoundAgent,
    walked: Result<&WalkedWorkspace, &ReadError>,
) -> Check {
    let own_config = agent.workspace.join(CONFIG);
    let (mut check, mut survey) = begin(&agent.workspace, walked, &|found| {
        // It travels without its secrets.
        let is_config =
            found.path == CONFIG.as_bytes() && agent.config.as_deref() == Some(&*own_config);
        if is_config { SurveyClass::Skipped } else { surveyed(found) }
    });
    let database = agent.database.as_deref().filter(|database| is_live(database));
    if !check.exists && agent.install.is_some() && database.is_some() {
        check.issues.clear();
        let message = format!("there is no workspace at {}", agent.workspace.display());
        check.note(ADVICE, IssueKind::WorkspaceNotFound, message);
    }
    if check.is_ready() {
        let config = agent.config.as_ref().and_then(|file| Config::of(file).ok());
        let backend = config.as_ref().map(|config| config.backend(&agent.alias));
        survey.secrets.extend(config.iter().flat_map(|config| secrets_in_config(config)));
        let uses_rows = !matches!(backend, Some(Backend::Markdown | Backend::None));
        let rows = match database.filter(|_| uses_rows) {
            Some(path) => look_into(machine, agent, path, &mut check, &mut survey),
            None => RowCounts::default(),
        };
        check.resources = resources(&agent.workspace, &survey);
        check.index = index_state(database.filter(|_| uses_rows), &survey);
        if check.exists {
            check.note_access();
            check.note_persona();
        }
        note_memories(&mut check, &survey, &rows, backend.as_ref());
        check.note_survey(survey);
    }
    if agent.config.is_none() {
        check.note(ADVICE, IssueKind::NoConfig(CONFIG_NOT_FOUND), "there is no config.toml");
    }
    check.note_oddities(ODDITIES, agent);
    check.issues.sort_by_key(|issue| issue.severity);
    check
}

fn surveyed(found: &FoundEntry) -> SurveyClass {
    match layout::place_of(&found.path) {
        PathRole::Memory | PathRole::Persona | PathRole::User => SurveyClass::Text,
        PathRole::Database | PathRole::Backup | PathRole::Cache | PathRole::Never => {
            SurveyClass::Skipped
        }
        PathRole::Artifact if !is_included(found, DEFAULT_ARTIFACT_LIMIT) => SurveyClass::Named,
        PathRole::Raw | PathRole::Artifact => SurveyClass::Other,
    }
}

/// Finds what an export would still find in the configuration without its secrets.
fn secrets_in_config(config: &Config) -> Vec<FoundSecret> {
    let text = config.redacted().text;
    let hits = secrets::scan(text.as_bytes()).into_iter();
    let finding = |hit: secrets::SecretHit| FoundSecret {
        path: CONFIG.to_owned(),
        line: hit.line,
        kind: hit.kind,
    };
    hits.map(finding).collect()
}

/// Counts the rows of an agent, and looks for secrets in them.
fn look_into(
    machine: &Machine,
    agent: &FoundAgent,
    path: &Path,
    check: &mut Check,
    survey: &mut Survey,
) -> RowCounts {
    let read = Brain::open(machine, path).and_then(|brain| {
        let Some(brain) = brain else {
            let message = format!("{} holds no table of memories", path.display());
            check.note(ADVICE, IssueKind::NoTableOfMemories, message);
            return Ok(RowCounts::default());
        };
        note_schema(&brain, check);
        brain.each_row::<DatabaseError>(&agent.alias, false, &mut |row| {
            let line = row.rowid.unsigned_abs();
            for searched in texts(&brain.columns, &row) {
                let hits = secrets::scan(searched.text.as_bytes());
                FoundSecret::note(&mut survey.secrets, DATABASE, line, &hits);
            }
            Ok(())
        })
    });
    read.unwrap_or_else(|error| {
        let message = format!("the memories in {} cannot be read: {error}", path.display());
        check.note(ADVICE, IssueKind::Oddity(OddityKind::DatabaseUnreadable), message);
        RowCounts::default()
    })
}

/// Reports columns and tables that no version of the runtime creates; columns travel.
fn note_schema(brain: &Brain, check: &mut Check) {
    let is_known =
        |known: &[&str], name: &String| known.iter().any(|value| name.eq_ignore_ascii_case(value));
    // The first documents describe a column that no version created.
    let is_column = |name: &String| SCHEMA.column(name).is_some() || is_known(&["timestamp"], name);
    let columns: Vec<String> =
        brain.columns.iter().filter(|column| !is_column(column)).cloned().collect();
    let is_own = |name: &String| OWN_TABLES.iter().any(|table| name.starts_with(table));
    let tables: Vec<String> = brain
        .tables
        .iter()
        .filter(|table| !is_known(TABLES, table) && !is_own(table))
        .cloned()
        .collect();
    let missing: Vec<String> = NEEDED
        .iter()
        .filter(|name| position_of(&brain.columns, name).is_none())
        .map(|name| (*name).to_owned())
        .collect();
    for (names, kind, what) in [
        (
            columns,
            IssueKind::UnknownColumns,
            "the table of memories has columns that we do not know:",
        ),
        (tables, IssueKind::UnknownTables, "the database has tables that do not travel:"),
        (missing, IssueKind::MissingColumns, "the table of memories has no column"),
    ] {
        if !names.is_empty() {
            check.note(ADVICE, kind, format!("{what} {}", a_few(&names)));
        }
    }
}

fn resources(workspace: &Path, survey: &Survey) -> Resources {
    let found = survey.resources(workspace);
    Resources {
        daily_logs: found.memory_dir.then(|| daily_logs(survey)),
        project_files: found.memory_dir.then(ProjectFiles::default),
        ..found
    }
}

fn daily_logs(survey: &Survey) -> DailyLogs {
    let logs = survey.files.iter().filter_map(|file| {
        let path = lossy(&file.path);
        let is_memory = layout::place_of(&file.path) == PathRole::Memory;
        let name = date_in_name(&path).filter(|_| is_memory)?;
        Some((name.date, path.strip_prefix("memory/")?.to_owned()))
    });
    let logs: Vec<_> = logs.collect();
    let count = logs.len() as u64;
    DailyLogs { count, latest: logs.into_iter().max().map(|(_, path)| path) }
}

/// The search index is in the database of memories, and as new as the database.
fn index_state(database: Option<&Path>, survey: &Survey) -> SearchIndexState {
    let memories =
        survey.files.iter().filter(|file| layout::place_of(&file.path) == PathRole::Memory);
    let times = memories.filter_map(|memory| memory.mtime.as_ref());
    SearchIndexState {
        database: database.map(Path::to_owned),
        stale: false,
        schema_version: None,
        updated_at: database.and_then(written_at),
        newest_memory: times.max_by_key(|time| time.instant()).cloned(),
    }
}

fn note_memories(check: &mut Check, survey: &Survey, rows: &RowCounts, backend: Option<&Backend>) {
    let files =
        survey.files.iter().filter(|file| layout::place_of(&file.path) == PathRole::Memory).count();
    let database = check.index.database.as_ref().map(|database| database.display().to_string());
    if let Some(path) = database.filter(|_| rows.rows > 0) {
        let message = format!("{path} holds {} memories of the agent", rows.rows);
        check.note(ADVICE, IssueKind::MemoriesPresent, message);
    } else if rows.private > 0 {
        // Reported below.
    } else if files == 0 && backend != Some(&Backend::None) && check.is_ready() {
        let message = "there is no row of the agent's, no MEMORY.md and no daily log";
        check.note(ADVICE, IssueKind::NoMemoryContent, message);
    }
    if rows.private > 0 {
        let message = format!("{} memories are somebody's own and would not travel", rows.private);
        check.note(ADVICE, IssueKind::PrivateRows, message);
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::super::discover::locate;
    use super::super::read::walk;
    use super::*;
    use crate::kit::agent::ReadOptions;
    use crate::kit::database::tests::machine;

    const OLD: &str = "CREATE TABLE memories(id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE,
        content TEXT NOT NULL, category TEXT NOT NULL DEFAULT 'core', created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL);";

    struct TestInstall(TempDir);

    impl TestInstall {
        fn new() -> Self {
            let site = Self(TempDir::new().unwrap());
            site.write("config.toml", "").write("workspace/SOUL.md", "# Nova\n");
            fs_err::create_dir(site.0.path().join("scratch")).unwrap();
            site
        }

        fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
            let path = self.0.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, content).unwrap();
            self
        }

        fn database(&self, sql: &str) -> &Self {
            fs_err::create_dir_all(self.0.path().join("workspace/memory")).unwrap();
            let path = self.0.path().join("workspace/memory/brain.db");
            Connection::open(path).unwrap().execute_batch(sql).unwrap();
            self
        }

        fn check(&self) -> Check {
            let machine = machine(&self.0.path().join("scratch"));
            let agent = locate(&machine, self.0.path(), None);
            check(&machine, &agent, walk(&agent, &ReadOptions::default()).as_ref())
        }
    }

    fn codes(check: &Check) -> Vec<&str> {
        check.issues.iter().map(|issue| issue.kind.as_str()).collect()
    }

    #[test]
    fn an_agent_with_rows_is_ready() {
        let site = TestInstall::new();
        site.database(OLD).database("INSERT INTO memories VALUES ('1', 'k', 'c', 'core', '', '');");
        site.write("workspace/memory/archive/2026-11-01.md", "- **a**: b\n");
        let check = site.check();
        assert!(check.is_ready());
        assert_eq!(codes(&check), ["memories_present"]);
        assert!(check.issues[0].message.contains(" 1 memories"), "{}", check.issues[0].message);
        let logs = check.resources.daily_logs.unwrap();
        assert_eq!(logs.latest.as_deref(), Some("archive/2026-11-01.md"));
        assert!(check.index.database.is_some() && check.index.updated_at.is_some());
    }

    #[test]
    fn what_no_version_makes_is_told_and_stops_nothing() {
        let site = TestInstall::new();
        site.database(OLD).database(
            "ALTER TABLE memories ADD COLUMN mood TEXT; CREATE TABLE diary(x);
             CREATE TABLE embedding_cache(content_hash TEXT);
             CREATE VIRTUAL TABLE memories_fts USING fts5(key, content, content=memories);
             INSERT INTO memories VALUES ('1', 'k', 'c', 'core', '', '', 'calm');",
        );
        let check = site.check();
        assert!(check.is_ready());
        assert_eq!(codes(&check), ["unknown_columns", "unknown_tables", "memories_present"]);
        assert!(check.issues[1].message.ends_with(": diary"), "{}", check.issues[1].message);
    }

    #[test]
    fn memories_that_cannot_be_read_stand_in_the_way() {
        let site = TestInstall::new();
        site.write("workspace/memory/brain.db", "no database, surely no database".repeat(50));
        let check = site.check();
        assert!(!check.is_ready());
        assert_eq!(codes(&check)[0], "database_unreadable");
    }

    #[test]
    fn a_secret_in_a_row_stands_in_the_way_and_one_in_a_cache_does_not() {
        let site = TestInstall::new();
        let key = format!("ghp_{}", "Fake7For2Tests0123".repeat(2));
        site.database(OLD);
        site.write("workspace/memory/response_cache.db", &key);
        site.write("config.toml", format!("api_key = \"{key}\"\n"));
        assert_eq!(codes(&site.check()), ["no_memory_content"]);
        site.database(&format!(
            "INSERT INTO memories VALUES ('1', 'k', 'the token is {key}', 'core', '', '');"
        ));
        let check = site.check();
        assert!(!check.is_ready());
        let found: Vec<_> =
            check.secrets.iter().map(|secret| (&*secret.path, secret.line)).collect();
        assert_eq!(found, [("memory/brain.db", 1)]);
    }
}
