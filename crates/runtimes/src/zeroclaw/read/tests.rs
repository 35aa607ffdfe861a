use std::io::Read;

use anemone_format::{FileHead, Record, SinkError, SourceFile, SourceKind, sha256_hex};
use rusqlite::Connection;

use super::*;
use crate::kit::{PreviousSnapshot, SecretPolicy, database::tests::machine};
use crate::zeroclaw::ZEROCLAW;
use crate::zeroclaw::discover::locate;

/// Keeps everything, and checks the order.
#[derive(Default)]
struct Kept {
    last: String,
    files: Vec<(String, Vec<u8>)>,
    sources: Vec<SourceFile>,
    records: Vec<Record>,
}

impl Kept {
    fn head(&mut self, head: &FileHead<'_>, kind: SourceKind) {
        let root = match head.root {
            Root::Raw(runtime) => format!("raw/{runtime}/"),
            _ => "artifacts/".to_owned(),
        };
        let path = format!("{root}{}", lossy(head.path));
        assert!(self.last < path, "{path} after {}", self.last);
        self.last = path;
        self.sources.push(SourceFile {
            root: head.root.into(),
            path: head.path.to_vec(),
            kind,
            mode: head.mode,
            mtime: head.mtime.clone(),
            redacted: head.redacted,
        });
    }
}

impl Sink for Kept {
    fn file(&mut self, head: &FileHead<'_>, content: &mut dyn Read) -> Result<String, SinkError> {
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes).unwrap();
        let (size, sha256) = (bytes.len() as u64, sha256_hex(&bytes));
        self.head(head, SourceKind::File { size, sha256 });
        self.files.push((self.last.clone(), bytes));
        Ok(self.last.clone())
    }

    fn symlink(&mut self, head: &FileHead<'_>, target: &[u8]) -> Result<(), SinkError> {
        self.head(head, SourceKind::Symlink(target.to_vec()));
        Ok(())
    }

    fn folder(&mut self, head: &FileHead<'_>) -> Result<(), SinkError> {
        self.head(head, SourceKind::Folder);
        Ok(())
    }

    fn record(&mut self, record: &Record) -> Result<(), SinkError> {
        self.records.push(record.clone());
        Ok(())
    }
}

/// A folder for an install, and one for copies.
struct TestInstall {
    folder: TempDir,
    scratch: TempDir,
}

const NEW: &str = "CREATE TABLE agents(id TEXT PRIMARY KEY, alias TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL);
    CREATE TABLE memories(id TEXT PRIMARY KEY, key TEXT NOT NULL, content TEXT NOT NULL,
    category TEXT NOT NULL DEFAULT 'core', embedding BLOB, created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL, session_id TEXT, agent_id TEXT NOT NULL, principal_id TEXT,
    notes TEXT, UNIQUE (agent_id, key));
    INSERT INTO agents VALUES ('a1', 'default', ''), ('a2', 'nova', '');";

impl TestInstall {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), scratch: TempDir::new().unwrap() }
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.folder.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
        self
    }

    fn database(&self, name: &str, sql: &str) -> &Self {
        let path = self.folder.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        Connection::open(path).unwrap().execute_batch(sql).unwrap();
        self
    }

    /// Adds a row: its id, key, content, agent and owner.
    fn row(&self, key: &str, content: &str, agent: &str, principal: Option<&str>) -> &Self {
        let path = self.folder.path().join("data/memory/brain.db");
        let at = "2026-11-15T07:17:28.209155461+00:00";
        Connection::open(path)
            .unwrap()
            .execute(
                "INSERT INTO memories(id, key, content, embedding, created_at, updated_at,
                 agent_id, principal_id, notes) VALUES (?1, ?2, ?3, X'0000803F', ?4, ?4, ?5, ?6,
                 ?3)",
                (format!("id of {key}"), key, content, at, agent, principal),
            )
            .unwrap();
        self
    }

    fn agent(&self, alias: Option<&str>) -> FoundAgent {
        locate(&machine(self.scratch.path()), self.folder.path(), alias)
    }

    fn with<T>(
        &self,
        secrets: SecretPolicy,
        earlier: Option<&PreviousSnapshot>,
        run: impl FnOnce(&Machine, &ReadOptions<'_>) -> T,
    ) -> T {
        let options =
            ReadOptions { artifact_threshold: 1_000, secrets, earlier, ..ReadOptions::default() };
        run(&machine(self.scratch.path()), &options)
    }

    fn try_read(
        &self,
        agent: &FoundAgent,
        secrets: SecretPolicy,
    ) -> Result<(Kept, Reading), ReadError> {
        let mut kept = Kept::default();
        let reading = self.with(secrets, None, |machine, options| {
            ZEROCLAW.read(machine, agent, options, &mut kept)
        })?;
        Ok((kept, reading))
    }

    fn read(&self, secrets: SecretPolicy) -> (Kept, Reading) {
        self.try_read(&self.agent(None), secrets).unwrap()
    }
}

fn codes(reading: &Reading) -> Vec<&str> {
    reading.warnings.iter().map(|warning| warning.code).collect()
}

fn left_out(reading: &Reading) -> Vec<(String, &'static str)> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    reading.left_out.iter().map(|out| (name(&out.path), out.reason.as_str())).collect()
}

#[test]
fn files_rows_and_settings_of_an_agent_travel_in_the_order_of_an_archive() {
    let site = TestInstall::new();
    site.database("data/memory/brain.db", NEW).write("config.toml", "schema_version = 3\n");
    site.row("tea", "Ann drinks tea", "a1", None).row("mine", "x", "a1", Some("ann"));
    site.row("other", "y", "a2", None);
    let workspace = "agents/default/workspace";
    for name in ["SOUL.md", "USER.md", "skills/x/SKILL.md", ".alf-origin/records.jsonl"] {
        site.write(&format!("{workspace}/{name}"), "# Text\n");
    }
    site.write(&format!("{workspace}/MEMORY.md"), "# Long-Term Memory\n\n- **lang**: Rust\n");
    site.write(&format!("{workspace}/memory/brain.db-wal"), "x");
    site.write(&format!("{workspace}/memory/response_cache.db"), "x");
    site.write(&format!("{workspace}/devices.db"), "x");
    site.write("data/memory/audit.db", "x").write("data/cron/jobs.db", "x");
    site.write("data/memory/brain.db.backup-20261115T071728", "x");
    let (kept, reading) = site.read(SecretPolicy::Report);
    let paths: Vec<&str> = kept.files.iter().map(|file| file.0.as_str()).collect();
    assert_eq!(
        paths,
        [
            "artifacts/skills/x/SKILL.md",
            "raw/zeroclaw/.alf-database.json",
            "raw/zeroclaw/.alf-origin/records.jsonl",
            "raw/zeroclaw/MEMORY.md",
            "raw/zeroclaw/SOUL.md",
            "raw/zeroclaw/USER.md",
            "raw/zeroclaw/config.toml",
        ]
    );
    let contents: Vec<&str> = kept.records.iter().map(|record| record.content.as_str()).collect();
    assert_eq!(contents, ["Rust", "Ann drinks tea"]);
    assert_eq!(reading.principals.as_ref().map(|principal| principal.principals.len()), Some(1));
    assert_eq!(codes(&reading), ["stray_log", "several_agents"]);
    assert_eq!(
        left_out(&reading),
        [
            ("devices.db", "secret"),
            ("brain.db-wal", "unused"),
            ("response_cache.db", "skipped"),
            ("cron", "shared"),
            ("audit.db", "shared"),
            ("brain.db.backup-20261115T071728", "unused"),
        ]
        .map(|(name, reason)| (name.to_owned(), reason))
    );
}

#[test]
fn an_agent_without_a_folder_has_the_rows_of_its_name() {
    let site = TestInstall::new();
    site.database("data/memory/brain.db", NEW).row("a", "of nova", "a2", None);
    let agent = site.agent(Some("nova"));
    let (kept, reading) = site.try_read(&agent, SecretPolicy::Report).unwrap();
    assert_eq!(kept.records.len(), 1);
    assert_eq!(reading.manifest.agent.name, "nova");
    assert_eq!(codes(&reading), ["workspace_missing"]);
    // The id is derived from the folder, once the folder exists.
    site.write("agents/nova/workspace/SOUL.md", "x");
    let (_, again) = site.try_read(&site.agent(Some("nova")), SecretPolicy::Report).unwrap();
    assert_eq!(again.manifest.agent.id, reading.manifest.agent.id);
}

#[test]
fn a_secret_in_any_column_is_found_by_its_row_and_does_not_travel() {
    let site = TestInstall::new();
    let key = format!("ghp_{}", "Fake7For2Tests0123".repeat(2));
    site.database("data/memory/brain.db", NEW).row("tea", "Ann drinks tea", "a1", None);
    site.row("forge", &format!("the token is {key}"), "a1", None);
    let agent = site.agent(Some("default"));
    let (kept, reading) = site.try_read(&agent, SecretPolicy::Report).unwrap();
    let found: Vec<_> = reading.secrets.iter().map(|secret| (&*secret.path, secret.line)).collect();
    assert_eq!(found, [("memory/brain.db", 2)]);
    assert_eq!(kept.records[1].embeddings.len(), 1);
    let (kept, _) = site.try_read(&agent, SecretPolicy::Redact).unwrap();
    let all: Vec<String> =
        kept.records.iter().map(|record| serde_json::to_string(record).unwrap()).collect();
    assert!(all.iter().all(|value| !value.contains(&key)), "{all:?}");
    assert!(all[1].contains("the token is"), "{}", all[1]);
    let vectors: Vec<usize> = kept.records.iter().map(|record| record.embeddings.len()).collect();
    assert_eq!(vectors, [1, 0]);
}

#[test]
fn a_secret_in_a_key_does_not_travel_in_any_field() {
    let site = TestInstall::new();
    let key = format!("ghp_{}", "Fake7For2Tests0123".repeat(2));
    site.database("data/memory/brain.db", NEW).row(&key, "a token", "a1", None);
    let agent = site.agent(Some("default"));
    let (kept, _) = site.try_read(&agent, SecretPolicy::Report).unwrap();
    assert!(kept.records[0].unknown.get("extra").unwrap().contains(&key));
    let (kept, _) = site.try_read(&agent, SecretPolicy::Redact).unwrap();
    let text = serde_json::to_string(&kept.records[0]).unwrap();
    assert!(!text.contains(&key) && text.contains("zeroclaw_key"), "{text}");
}

#[test]
fn an_archive_is_as_old_as_its_newest_row_and_not_as_its_database() {
    let site = TestInstall::new();
    site.database("data/memory/brain.db", NEW).row("tea", "Ann drinks tea", "a1", None);
    let agent = site.agent(Some("default"));
    let read = || {
        let (kept, reading) = site.try_read(&agent, SecretPolicy::Report).unwrap();
        (reading.manifest, kept.records, kept.files)
    };
    let before = read();
    assert_eq!(before.0.created_at, "2026-11-15T07:17:28.209155461Z".parse().unwrap());
    let database = site.folder.path().join("data/memory/brain.db");
    let touched = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(9_999_999_999);
    let file = fs_err::OpenOptions::new().write(true).open(database).unwrap();
    file.file().set_modified(touched).unwrap();
    drop(file);
    assert_eq!(read(), before);
}

#[test]
fn what_the_backend_does_not_use_is_told_and_not_taken() {
    let site = TestInstall::new();
    site.database("data/memory/brain.db", NEW).row("tea", "Ann drinks tea", "a1", None);
    site.write("agents/default/workspace/MEMORY.md", "- **lang**: Rust\n");
    for (backend, records, wanted) in [
        ("markdown", 1, &["database_ignored"][..]),
        ("none", 0, &["backend_none", "database_ignored"]),
        ("postgres", 2, &["backend_elsewhere"]),
        ("lucid", 2, &["lucid"]),
    ] {
        let config = format!("schema_version = 3\n[memory]\nbackend = \"{backend}\"\n");
        site.write("config.toml", config);
        let agent = FoundAgent {
            database: Some(site.folder.path().join("data/memory/brain.db")),
            ..site.agent(Some("default"))
        };
        let (kept, reading) = site.try_read(&agent, SecretPolicy::Report).unwrap();
        assert_eq!(kept.records.len(), records, "{backend}");
        assert_eq!(codes(&reading), wanted, "{backend}");
    }
}

#[test]
fn without_settings_that_can_be_read_the_database_is_taken_and_it_is_said() {
    let site = TestInstall::new();
    site.database("data/memory/brain.db", NEW).row("tea", "Ann drinks tea", "a1", None);
    site.write("config.toml", "[memory\nbackend = \"markdown\"\n");
    let agent = site.agent(Some("default"));
    let (kept, reading) = site.try_read(&agent, SecretPolicy::Report).unwrap();
    assert_eq!(kept.records.len(), 1);
    let told = codes(&reading);
    assert!(told.ends_with(&["config_unreadable", "backend_assumed"]), "{told:?}");
}

#[test]
fn memories_that_cannot_be_read_are_an_error_and_not_an_empty_archive() {
    let site = TestInstall::new();
    site.write("data/memory/brain.db", "no database, surely no database".repeat(50));
    site.write("agents/default/workspace/SOUL.md", "x");
    let agent = site.agent(None);
    let error = site.try_read(&agent, SecretPolicy::Report).err().unwrap();
    assert!(matches!(error, ReadError::Memories { .. }), "{error}");
}

#[test]
fn an_agent_is_unchanged_until_a_row_a_file_or_a_setting_changes() {
    let site = TestInstall::new();
    site.database("data/memory/brain.db", NEW).row("tea", "Ann drinks tea", "a1", None);
    site.write("agents/default/workspace/SOUL.md", "x");
    site.write("config.toml", "schema_version = 3\napi_key = \"sk-or-abc\"\n");
    let agent = site.agent(Some("default"));
    let earlier = || {
        let (kept, reading) = site.try_read(&agent, SecretPolicy::Report).unwrap();
        let config = kept.files.iter().find(|file| file.0.ends_with("config.toml")).unwrap();
        assert!(!String::from_utf8_lossy(&config.1).contains("sk-or-abc"));
        let mut earlier = PreviousSnapshot::new(reading.manifest, kept.sources);
        earlier.credentials = reading.credentials;
        earlier
    };
    let is_same = |earlier: &PreviousSnapshot| {
        let same = site.with(SecretPolicy::Report, Some(earlier), |machine, options| {
            let agent = site.agent(Some("default"));
            ZEROCLAW.open(machine, &agent, options)?.is_unchanged(machine, &agent, options)
        });
        same.unwrap().is_some()
    };
    let known = earlier();
    assert!(is_same(&known));
    site.row("coffee", "Bob drinks coffee", "a1", None);
    assert!(!is_same(&known), "a row");
    let known = earlier();
    assert!(is_same(&known));
    site.write("agents/default/workspace/memory/2026-11-15.md", "- **a**: b\n");
    assert!(!is_same(&known), "a file");
    let known = earlier();
    site.write("config.toml", "schema_version = 3\nmax_tokens = 7\n");
    assert!(!is_same(&known), "a setting");
}

#[test]
fn the_configuration_says_in_which_format_the_persona_is() {
    let site = TestInstall::new();
    site.write("agents/default/workspace/SOUL.md", "# SOUL.md\n\nCalm.\n");
    for (config, expected) in [
        ("schema_version = 3\n[agents.default.identity]\nformat = \"openclaw\"\n", "openclaw"),
        ("[identity]\nformat = \" OpenClaw \"\n", "openclaw"),
        ("schema_version = 3\n", "openclaw"),
        ("[identity]\nformat = \"aieos\"\n", "openclaw"),
    ] {
        site.write("config.toml", config);
        let (_, reading) = site.read(SecretPolicy::Report);
        let identity = reading.identity.unwrap();
        assert_eq!(identity.source_format.as_deref(), Some(expected), "{config}");
    }
}

#[test]
fn a_document_describes_the_persona_beside_the_files() {
    let site = TestInstall::new();
    let document = r#"{"identity": {"names": {"first": "Nova", "last": "Ray"}}, "x": 1}"#;
    site.write("agents/default/workspace/SOUL.md", "# SOUL.md\n");
    site.write("agents/default/workspace/identity.json", document);
    site.write(
        "config.toml",
        "schema_version = 3\n[agents.default.identity]\nformat = \"aieos\"\n\
         aieos_path = \"identity.json\"\n",
    );
    let (_, reading) = site.read(SecretPolicy::Report);
    let identity = reading.identity.unwrap();
    assert_eq!(identity.source_format.as_deref(), Some("aieos"));
    assert_eq!(identity.raw_source.unwrap().as_str(), document);
    assert_eq!(identity.prose.unwrap().soul.as_deref(), Some("# SOUL.md\n"));
    assert!(reading.manifest.agent.name.starts_with("Nova"), "{}", reading.manifest.agent.name);
    // A byte order mark is no part of the document, and a document that is missing is named.
    site.write("agents/default/workspace/identity.json", format!("\u{feff}{document}"));
    let (_, reading) = site.read(SecretPolicy::Report);
    assert_eq!(reading.identity.unwrap().raw_source.unwrap().as_str(), document);
    fs_err::remove_file(site.folder.path().join("agents/default/workspace/identity.json")).unwrap();
    let (_, reading) = site.read(SecretPolicy::Report);
    assert!(codes(&reading).contains(&"aieos_missing"), "{:?}", reading.warnings);
    // A file elsewhere on the machine must not be read.
    site.write(
        "config.toml",
        "schema_version = 3\n[agents.default.identity]\nformat = \"aieos\"\n\
         aieos_path = \"/etc/hostname\"\n",
    );
    let (_, reading) = site.read(SecretPolicy::Report);
    assert!(codes(&reading).contains(&"aieos_outside"), "{:?}", reading.warnings);
    assert_eq!(reading.identity.unwrap().raw_source, None);
}
