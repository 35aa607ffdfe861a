//! What is read of a ZeroClaw agent: found, counted, and without its secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anemone::agent::FindAgentError;
use anemone::agents::{AgentsRequest, agents};
use anemone::export::ExportError;
use anemone_format::{Record, Snapshot};
use anemone_testkit::database::{Holder, dump, sql};
use anemone_testkit::fixture;
use anemone_testkit::ground::{Ground, fields, python, raw, tree, with};
use anemone_testkit::zip::{holds, unzip};
use serde_json::{Value, json};

use crate::support::transfer::{With, text};
use crate::support::{self, TestMachine};

/// Everything travels, whatever it says.
pub(crate) const ALL: [With<'_>; 3] =
    [With::Private, With::AllowSecrets, With::ArtifactThreshold(1_000_000)];

/// Copies a file or a folder of the fixtures, writable, without what SQLite leaves beside one.
pub(crate) fn copy(ground: &Ground, from: &Path, name: &str) -> PathBuf {
    if from.is_dir() {
        fs_err::create_dir_all(ground.path(name)).unwrap();
        for entry in fs_err::read_dir(from).unwrap() {
            let entry = entry.unwrap().file_name();
            let entry = entry.to_str().unwrap();
            if !entry.ends_with("-wal") && !entry.ends_with("-shm") {
                copy(ground, &from.join(entry), &format!("{name}/{entry}"));
            }
        }
        return ground.path(name);
    }
    ground.write(name, fs_err::read(from).unwrap())
}

/// Copies a database of the fixtures into an install as it is laid out since 0.8.
pub(crate) fn install(ground: &Ground, database: &str, name: &str) -> PathBuf {
    copy(ground, &fixture(&format!("zeroclaw/{database}")), &format!("{name}/{DATABASE}"));
    ground.path(name)
}

/// The path of the database in an install since 0.8.
pub(crate) const DATABASE: &str = "data/memory/brain.db";

/// Exports an agent, and returns the report.
#[track_caller]
pub(crate) fn export(
    machine: &TestMachine,
    folder: &Path,
    output: &str,
    more: &[With<'_>],
) -> Value {
    let agent = machine.agent_in("zeroclaw", folder);
    support::json(&machine.try_export(agent, output, more).unwrap())
}

/// Imports an archive, and returns the report.
#[track_caller]
pub(crate) fn import(machine: &TestMachine, folder: &Path, file: &str, more: &[With<'_>]) -> Value {
    support::json(&machine.try_import(Some("zeroclaw"), Some(folder), file, more).unwrap())
}

/// Returns the records that were rows, by their key.
pub(crate) fn by_key(snapshot: &Snapshot) -> BTreeMap<String, &Record> {
    let named = |value| raw(value)["key"].as_str().map(|key| (key.to_owned(), value));
    snapshot.records.iter().filter_map(named).collect()
}

fn codes(document: &Value) -> Vec<&str> {
    fields(&document["warnings"], "code")
}

/// Checks that records are the rows of one agent: ids, texts, times and every column.
#[track_caller]
fn assert_rows(records: &Snapshot, dumped: &Value, alias: &str) {
    let records = by_key(records);
    let agents = dumped["agents"].as_array().unwrap();
    let quoted = json!(["text", format!("'{alias}'")]);
    let agent = agents.iter().find(|agent| agent["alias"] == quoted).map(|agent| &agent["id"]);
    let rows = dumped["memories"].as_array().unwrap().iter();
    let rows = rows.filter(|row| agent.is_none_or(|agent| row["agent_id"] == *agent));
    let mut seen = BTreeSet::new();
    for row in rows {
        let said = |column: &str| {
            let quoted = row[column][1].as_str().unwrap();
            quoted.trim_matches('\'').replace("''", "'")
        };
        let key = said("key");
        let record = records.get(&key).unwrap_or_else(|| panic!("{key} is a record"));
        seen.insert(key.clone());
        assert_eq!(raw(record)["rowid"], row["rowid"], "{key}");
        let id = said("id");
        assert!(record.id.to_string() == id || id.len() != 36, "{key}: {id}");
        if !said("content").is_empty() {
            assert_eq!(record.content, said("content"), "{key}");
        }
        let cells = raw(record)["row"].clone();
        for (column, cell) in row.as_object().unwrap() {
            if ["rowid", "content", "agent_id", "embedding"].contains(&column.as_str()) {
                continue;
            }
            match cell[0].as_str().unwrap() {
                "text" => assert_eq!(cells[column], said(column), "{key} {column}"),
                "null" => {
                    assert_eq!(cells.get(column), Some(&Value::Null), "{key} {column}");
                }
                "integer" | "real" => {
                    let number: f64 = said(column).parse().unwrap();
                    assert_eq!(cells[column].as_f64(), Some(number), "{key} {column}");
                }
                _ => assert!(!cells[column].is_null(), "{key} {column}"),
            }
        }
        if row.get("embedding").is_some_and(|row| row[0] == "blob") {
            let vector = record.embeddings.first().unwrap();
            let hex: String = vector
                .vector
                .iter()
                .flat_map(|vector| vector.to_le_bytes())
                .map(|value| format!("{value:02X}"))
                .collect();
            assert_eq!(row["embedding"][1], format!("X'{hex}'"), "{key}");
        }
    }
    assert_eq!(seen.len(), records.len(), "no record is made up");
}

// Databases of every shape.

#[test]
fn each_agent_of_a_database_exports_its_rows_and_private_ones_when_asked() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let folder = install(&ground, "zeroclaw-real.db", "i");
    let before = tree(&folder);
    for (alias, shared, private) in [("default", 28, 1), ("alpha", 1, 1), ("beta", 1, 0)] {
        let args = [With::Agent(alias), With::Force];
        let exported = export(&machine, &folder, "a.alf", &args);
        assert_eq!(exported["memory_records"], shared, "{alias}");
        let kinds = fields(&exported["left_out_by_default"], "kind");
        assert_eq!(kinds.contains(&"private_entries"), private > 0, "{alias}");
        let exported = export(&machine, &folder, "b.alf", &[&args[..], &ALL].concat());
        assert_eq!(exported["memory_records"], shared + private, "{alias}");
        let kinds = fields(&exported["left_out_by_default"], "kind");
        assert!(!kinds.contains(&"private_entries"), "{alias}");
        let name = machine.snapshot("b.alf").manifest.agent.name;
        assert!(alias == "default" || name == alias, "{name}");
        let copied = copy(&ground, &folder.join(DATABASE), "copy.db");
        assert_rows(&machine.snapshot("b.alf"), &dump(&copied), alias);
    }
    assert!(tree(&folder) == before, "reading changes nothing");
}

#[test]
fn databases_of_every_age_export_every_row() {
    let machine = TestMachine::new();
    for (name, rows, vectors) in
        [("v0.1.0-20260213", 8, 0), ("v0.1.7-embed", 10, 10), ("v0.6.9", 11, 11)]
    {
        let ground = Ground::new();
        let from = fixture(&format!("zeroclaw/historic/{name}"));
        copy(&ground, &from, "i/workspace");
        copy(&ground, &from, "loose");
        for folder in ["i", "i/workspace", "loose"] {
            let exported = export(&machine, &ground.path(folder), "a.alf", &[With::Force]);
            assert_eq!(exported["memory_records"], rows, "{name} {folder}");
            assert_eq!(exported["embeddings"], vectors, "{name} {folder}");
            let database = fixture(&format!("zeroclaw/historic/{name}/memory/brain.db"));
            let copied = copy(&ground, &database, "copy.db");
            assert_rows(&machine.snapshot("a.alf"), &dump(&copied), "default");
        }
    }
}

#[test]
fn a_whole_install_has_an_agent_for_each_alias() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let from = fixture("zeroclaw/install-v3");
    let folder = copy(&ground, &from, "i");
    // Rows, and one section of MEMORY.md where there is a workspace.
    for (alias, shared, private) in
        [("default", 29, 30), ("alpha", 2, 3), ("beta", 1, 1), ("simple_agent", 0, 0)]
    {
        for (more, expected) in [(&[][..], shared), (&[With::Private], private)] {
            let args = [With::Agent(alias), With::Force, With::AllowSecrets, With::AllowEmpty];
            let args = [&args[..], more].concat();
            let exported = export(&machine, &folder, "a.alf", &args);
            assert_eq!(exported["memory_records"], expected, "{alias}");
        }
    }
    let nobody = machine.agent_in("zeroclaw", &folder);
    let more = [With::Agent("nobody"), With::DryRun];
    let error = machine.try_export(nobody, "b.alf", &more).unwrap_err();
    let is_it = matches!(error, ExportError::Agent(FindAgentError::NotInInstall(_)));
    assert!(is_it, "{error:?}");
}

#[test]
fn an_agent_without_a_folder_exports_what_the_database_has_of_it() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let folder = install(&ground, "zeroclaw-real.db", "i");
    let beta = With::Agent("beta");
    let planned = export(&machine, &folder, "a.alf", &[beta, With::DryRun]);
    assert_eq!(planned["memory_records"], 1);
    let exported = export(&machine, &folder, "a.alf", &[beta]);
    assert_eq!((&exported["memory_records"], &exported["agent_name"]), (&json!(1), &json!("beta")));
    assert!(codes(&exported).contains(&"workspace_missing"), "{exported}");
    assert_eq!(machine.snapshot("a.alf").records.len(), 1);
}

#[test]
fn columns_may_be_missing_unknown_or_in_another_order() {
    let machine = TestMachine::new();
    let all = "id, key, content, category, embedding, created_at, updated_at, session_id, \
        namespace, importance, superseded_by, agent_id, kind, pinned, tenant_id, principal_id";
    let reversed = all.split(", ").collect::<Vec<_>>();
    let reversed = reversed.into_iter().rev().collect::<Vec<_>>().join(", ");
    let without = |columns: &[&str]| {
        let kept = all.split(", ").filter(|part| !columns.contains(part)).collect::<Vec<_>>();
        kept.join(", ")
    };
    let (odd, numbers) = (format!("{all}, 'mild' AS mood"), format!("{all}, X'00FF' AS seal"));
    let (no_id, no_updated) = (without(&["id"]), without(&["updated_at", "created_at"]));
    let many = without(&["kind", "pinned", "tenant_id", "superseded_by", "session_id", "category"]);
    for columns in [all, &reversed, &odd, &numbers, &no_id, &no_updated, &many] {
        let ground = Ground::new();
        let folder = install(&ground, "zeroclaw-real.db", "i");
        let database = folder.join(DATABASE);
        sql(
            &database,
            &format!(
                "PRAGMA foreign_keys = OFF; CREATE TABLE t AS SELECT {columns} FROM memories \
                 ORDER BY rowid; DROP TABLE memories; ALTER TABLE t RENAME TO memories;"
            ),
        );
        let args = [&[With::Agent("default"), With::Force], &ALL[..]].concat();
        let exported = export(&machine, &folder, "a.alf", &args);
        assert_eq!(exported["memory_records"], 29, "{columns}");
        let read = machine.snapshot("a.alf");
        if columns != no_id {
            assert_rows(&read, &dump(&database), "default");
        }
        if columns == odd {
            assert!(read.records.iter().all(|record| raw(record)["row"]["mood"] == "mild"));
        }
        // Without ids of their own, records have the same ones each time.
        export(&machine, &folder, "b.alf", &args);
        assert!(machine.read("a.alf") == machine.read("b.alf"), "{columns}");
    }
}

#[test]
fn rows_that_only_the_log_has_travel_too_while_somebody_writes() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let folder = install(&ground, "zeroclaw-real.db", "i");
    let script = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
        INSERT INTO memories (id, key, content, category, created_at, updated_at, agent_id)
        SELECT '0b0e1f9e-1111-4222-8333-444444444444', 'fresh', 'only in the log', 'core',
            '2026-11-15T08:00:00+00:00', '2026-11-15T08:00:00+00:00', id
        FROM agents WHERE alias = 'beta';
        BEGIN IMMEDIATE;";
    let holder = Holder::start(&folder.join(DATABASE), script);
    let exported = export(&machine, &folder, "a.alf", &[With::Agent("beta")]);
    assert_eq!(exported["memory_records"], 2);
    let read = machine.snapshot("a.alf");
    let fresh = by_key(&read)["fresh"];
    assert_eq!(fresh.content, "only in the log");
    assert_eq!(fresh.id.to_string(), "0b0e1f9e-1111-4222-8333-444444444444");
    drop(holder);
}

// Agents, checks and backends.

fn at_home() -> TestMachine {
    let machine = TestMachine::new();
    machine.copy_home(&fixture("zeroclaw/install-v3"), ".zeroclaw");
    machine
}

#[test]
fn agents_lists_everybody_of_an_install() {
    let machine = at_home();
    machine.write_home(".zeroclaw/data/memory.db", "");
    machine.write_home(".zeroclaw/workspace/memory/brain.db.backup-20261115T071728", "SQLite");
    let request = AgentsRequest::default();
    let listed = support::json(&machine.run(|host| agents(&request, host)).unwrap());
    let mut found = fields(&listed["agents"], "alias");
    found.sort_unstable();
    assert_eq!(found, ["alpha", "beta", "complex_agent", "default", "simple_agent"]);
    for (alias, records, exists) in [("default", 29, true), ("alpha", 2, true), ("beta", 1, false)]
    {
        let it = with(&listed["agents"], "alias", alias);
        assert_eq!((&it["records"], &it["workspace_exists"]), (&json!(records), &json!(exists)));
        assert_eq!((&it["runtime"], &it["generation"]), (&json!("zeroclaw"), &json!("data")));
        let database = machine.home(".zeroclaw/data/memory/brain.db");
        assert_eq!(it["database"], text(&database));
    }
    let said = listed.to_string();
    assert!(said.contains("memory.db"), "the decoy is named: {listed}");
    assert!(said.contains("brain.db.backup-20261115T071728"), "the backup is named: {listed}");
}

#[test]
fn a_database_of_the_first_documents_is_read_and_an_empty_one_is_not() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    ground.write("i/config.toml", "[memory]\nbackend = \"sqlite\"\n");
    ground.write("i/memory.db", "");
    ground.write("i/workspace/SOUL.md", "# Me\n");
    let folder = ground.path("i");
    let exported = export(&machine, &folder, "a.alf", &[]);
    assert_eq!(exported["memory_records"], 0);
    fs_err::remove_file(folder.join("memory.db")).unwrap();
    sql(
        &folder.join("memory.db"),
        "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT, content TEXT, category TEXT, \
         timestamp TEXT); INSERT INTO memories VALUES ('1', 'k', 'text', 'custom:mine', \
         '2026-02-20T10:00:00Z');",
    );
    let exported = export(&machine, &folder, "b.alf", &[]);
    assert_eq!(exported["memory_records"], 1);
    let read = machine.snapshot("b.alf");
    let record = &read.records[0];
    assert_eq!(record.content, "text");
    assert_eq!(raw(record)["row"]["timestamp"], "2026-02-20T10:00:00Z");
    assert!(record.temporal.created_at.to_string().starts_with("2026-02-20T10:00:00"));
}

#[test]
fn a_backend_that_keeps_nothing_here_has_no_records() {
    let machine = TestMachine::new();
    for (backend, records) in [("none", 0), ("postgres", 27), ("lucid", 27), ("sqlite", 27)] {
        let ground = Ground::new();
        let from = fixture("zeroclaw/zeroclaw-real.db");
        copy(&ground, &from, "i/data/memory/brain.db");
        ground.write(
            "i/config.toml",
            format!("schema_version = 3\n[memory]\nbackend = \"{backend}\"\n"),
        );
        ground.write("i/agents/default/workspace/SOUL.md", "# Me\n");
        // One that was deleted counts neither way.
        sql(&ground.path("i").join(DATABASE), "DELETE FROM memories WHERE key = 'user_lang'");
        let exported =
            export(&machine, &ground.path("i"), "a.alf", &[With::Agent("default"), With::Force]);
        assert_eq!(exported["memory_records"], records, "{backend}: {exported}");
        let warned = codes(&exported).contains(&"backend_elsewhere");
        assert_eq!(warned, backend == "postgres", "what lies here may be old: {exported}");
        assert!(exported["files_count"].as_u64() > Some(0));
    }
}

// Secrets.

/// Prints what must not be found: values of secret fields, in clear or encrypted; and what a
/// configuration is made of: keys and types, without values.
const SECRETS: &str = r#"
import json, sys, tomllib
names = set(json.load(open(sys.argv[1])))
secrets, shape = set(), []
def below(v):
    if isinstance(v, dict):
        for x in v.values(): below(x)
    elif isinstance(v, list):
        for x in v: below(x)
    elif isinstance(v, str) and v: secrets.add(v)
def walk(path, v):
    if isinstance(v, dict):
        for k, x in v.items():
            # How storage is set up says nothing secret, but for the address in it.
            if k in names and path + (k,) not in [('secrets',), ('storage', 'provider', 'config')]: below(x)
            walk(path + (k,), x)
    elif isinstance(v, list):
        shape.append(['.'.join(path), 'list', len(v)])
        for i, x in enumerate(v): walk(path + (str(i),), x)
    else:
        if isinstance(v, str) and v.startswith(('enc:', 'enc2:')): secrets.add(v)
        shape.append(['.'.join(path), type(v).__name__])
for file in sys.argv[2:]:
    walk((), tomllib.loads(open(file, encoding='utf-8').read()))
print(json.dumps([sorted(secrets), shape]))
"#;

/// Returns the secrets of configurations, and the shape of them all.
fn secrets(files: &[&Path]) -> Option<(Vec<String>, Value)> {
    let names = fixture("zeroclaw/zeroclaw-0.8.7/secret_field_terminals.json");
    let mut args = vec!["-c", SECRETS, text(&names)];
    args.extend(files.iter().map(|file| text(file)));
    let found: Value = serde_json::from_str(&python(&args)?).unwrap();
    let list = found[0].as_array().unwrap().iter();
    let list = list.map(|list| list.as_str().unwrap().to_owned()).collect();
    Some((list, found[1].clone()))
}

/// Whether a value is distinctive: `true` and the like occur anywhere.
fn is_telling(secret: &str) -> bool {
    secret.len() >= 8 && secret != "<redacted>"
}

#[track_caller]
fn assert_no_secret(archive: &[u8], secrets: &[String], about: &str) {
    for (name, entry) in unzip(archive) {
        for secret in secrets.iter().filter(|secret| is_telling(secret)) {
            let quoted = serde_json::to_string(secret).unwrap();
            let quoted = quoted.trim_matches('"');
            for way in [secret.as_str(), quoted] {
                assert!(!holds(&entry.content, way.as_bytes()), "{about}: {way} in {name}");
            }
        }
        for mark in [&b"enc2:"[..], b"enc:"] {
            assert!(!holds(&entry.content, mark), "{about}: something encrypted in {name}");
        }
    }
}

const CONFIGS: [&str; 6] = [
    "config.v1.plain.toml",
    "config.v1.enc2.toml",
    "config.v2.plain.toml",
    "config.v2.enc2.toml",
    "config.v3.plain.toml",
    "config.v3.enc2.toml",
];

#[test]
fn no_secret_of_a_configuration_is_in_an_archive_and_the_file_keeps_its_shape() {
    for name in CONFIGS {
        let (machine, ground) = (TestMachine::new(), Ground::new());
        let from = fixture(&format!("zeroclaw/zeroclaw-0.8.7/config/{name}"));
        let config = copy(&ground, &from, "i/config.toml");
        ground.write(
            "i/.secret_key",
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        );
        let folder = match name.contains("v3") {
            true => "i/agents/default/workspace",
            false => "i/workspace",
        };
        ground.write(format!("{folder}/SOUL.md"), "# Me\n");
        let Some((found, shape)) = secrets(&[&config]) else { return };
        assert!(found.iter().filter(|found| is_telling(found)).count() > 20, "{name}: {found:?}");
        let args = [With::Agent("default")];
        let exported = export(&machine, &ground.path("i"), "a.alf", &args);
        assert!(exported["credentials_count"].as_u64() > Some(20), "{name}: {exported}");
        let archive = machine.read("a.alf");
        assert_no_secret(&archive, &found, name);
        assert!(!holds(&archive, b"000102030405"), "nor the key");
        assert!(!exported.to_string().contains("enc2:"));
        let entries = unzip(&archive);
        let travelled = &entries["raw/zeroclaw/config.toml"].content;
        let travelled = ground.write("travelled.toml", travelled);
        let (left, kept) = secrets(&[&travelled]).unwrap();
        assert_eq!(kept, shape, "{name}: the same keys and types");
        assert!(left.iter().all(|value| !is_telling(value)), "{name}: {left:?}");
    }
}

#[test]
fn no_secret_of_a_whole_install_is_in_an_archive() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    let from = fixture("zeroclaw/install-v3");
    let folder = copy(&ground, &from, "i");
    let Some((mut found, _)) = secrets(&[&folder.join("config.toml")]) else { return };
    let store: Value = serde_json::from_slice(&ground.read("i/auth-profiles.json")).unwrap();
    for profile in store["profiles"].as_object().unwrap().values() {
        let tokens = ["access_token", "refresh_token", "id_token", "token"];
        found.extend(tokens.iter().filter_map(|token| profile[*token].as_str()).map(str::to_owned));
    }
    for alias in ["default", "alpha", "beta", "complex_agent"] {
        let args = [With::Agent(alias), With::Force, With::Sessions, With::AllowEmpty];
        let args = [&args[..], &ALL].concat();
        export(&machine, &folder, "a.alf", &args);
        assert_no_secret(&machine.read("a.alf"), &found, alias);
    }
}

#[test]
fn sealed_secrets_come_back_with_the_key() {
    // Encrypted secrets are decrypted with the key beside them, and encrypted again with another
    // one.
    let key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    let machine = TestMachine::new();
    machine.vault_key("key");
    for name in CONFIGS {
        let ground = Ground::new();
        let from = |name: &str| fixture(&format!("zeroclaw/zeroclaw-0.8.7/config/{name}"));
        let (config, plain) = (from(name), from(&name.replace("enc2", "plain")));
        copy(&ground, &config, "i/config.toml");
        ground.write("i/.secret_key", key);
        let (workspace, layout) = match name.contains("v3") {
            true => ("i/agents/default/workspace", "data"),
            false => ("i/workspace", "workspace"),
        };
        ground.write(format!("{workspace}/SOUL.md"), "# Me\n");
        let sealed = [With::VaultKey("key"), With::Agent("default"), With::Force];
        let exported = export(&machine, &ground.path("i"), "a.alf", &sealed);
        let number = exported["credentials_sealed"].as_u64().unwrap();
        assert!(number > 20, "{name}: {exported}");
        let Some((found, _)) = secrets(&[&plain, &config]) else { return };
        assert_no_secret(&machine.read("a.alf"), &found, name);
        let back = ground.path("back");
        let more = [With::VaultKey("key"), With::Layout(layout)];
        let imported = import(&machine, &back, "a.alf", &more);
        let missing = fields(&imported["not_restored"], "what");
        assert!(!missing.contains(&"credential"), "{name}: {imported}");
        let written = String::from_utf8(ground.read("back/config.toml")).unwrap();
        assert!(!written.contains("<redacted>"), "{name}: {written}");
        // The runtime finds what it had, whatever it is closed with.
        let exported = export(&machine, &back, "b.alf", &sealed);
        assert_eq!(exported["credentials_sealed"], number, "{name}");
        let (was, is) = (opened(&plain), opened_with(&back));
        assert!(was.len() > 20, "{name}");
        for (path, secret) in &was {
            assert_eq!(is.get(path), Some(secret), "{name}: {path}");
        }
        let own = fs_err::read(back.join(".secret_key")).ok();
        assert!(own.is_none_or(|value| value != key.as_bytes()), "{name}: a key of its own");
        let closed = name.contains("enc2");
        assert!(!closed || written.matches("enc2:").count() > 20, "{name}: {written}");
        assert!(!back.join(workspace.trim_start_matches("i/")).join(".alf-origin").exists());
    }
}

/// Returns the decrypted secrets of a configuration, by their place.
fn opened(config: &Path) -> BTreeMap<String, String> {
    listed(config, None)
}

/// Returns the secrets of an install, opened with its key.
fn opened_with(install: &Path) -> BTreeMap<String, String> {
    listed(&install.join("config.toml"), Some(&install.join(".secret_key")))
}

fn listed(config: &Path, key: Option<&Path>) -> BTreeMap<String, String> {
    // ChaCha20-Poly1305 of our own, without the check of the tag: enough to read.
    const OPEN: &str = r#"
import json, struct, sys, tomllib
names = set(json.load(open(sys.argv[1])))
key = bytes.fromhex(open(sys.argv[3]).read().strip()) if len(sys.argv) > 3 else None
M = 0xffffffff
def block(key, counter, nonce):
    s = list(struct.unpack('<16I', b'expand 32-byte k' + key + struct.pack('<I', counter) + nonce))
    w = s[:]
    def q(a, b, c, d):
        for x, y, z, r in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            w[x] = (w[x] + w[y]) & M; v = w[z] ^ w[x]; w[z] = ((v << r) | (v >> (32 - r))) & M
    for _ in range(10):
        q(0,4,8,12); q(1,5,9,13); q(2,6,10,14); q(3,7,11,15); q(0,5,10,15); q(1,6,11,12); q(2,7,8,13); q(3,4,9,14)
    return struct.pack('<16I', *((a + b) & M for a, b in zip(w, s)))
def plain(v):
    if not v.startswith('enc2:') or key is None: return v
    raw = bytes.fromhex(v[5:]); nonce, body = raw[:12], raw[12:-16]; out = b''
    for i in range(0, len(body), 64):
        out += bytes(a ^ b for a, b in zip(body[i:i + 64], block(key, 1 + i // 64, nonce)))
    return out.decode()
found = {}
def walk(path, v, secret):
    if isinstance(v, dict):
        for k, x in v.items(): walk(path + (k,), x, secret or (k in names and path + (k,) != ('secrets',)))
    elif isinstance(v, list):
        for i, x in enumerate(v): walk(path + (str(i),), x, secret)
    elif secret and isinstance(v, str) and v: found['.'.join(path)] = plain(v)
walk((), tomllib.loads(open(sys.argv[2], encoding='utf-8').read()), False)
print(json.dumps(found))
"#;
    let names = fixture("zeroclaw/zeroclaw-0.8.7/secret_field_terminals.json");
    let mut args = vec!["-c", OPEN, text(&names), text(config)];
    // Where nothing is closed there need be no key.
    args.extend(key.filter(|key| key.exists()).map(text));
    serde_json::from_str(&python(&args).unwrap()).unwrap()
}

// Markdown.

#[test]
fn entries_in_markdown_files_are_records() {
    let machine = TestMachine::new();
    for (name, core, daily) in
        [("zeroclaw-real-markdown", 5, 4), ("historic/v0.1.7-markdown", 5, 5)]
    {
        let ground = Ground::new();
        let from = fixture(&format!("zeroclaw/{name}"));
        copy(&ground, &from, "i/workspace");
        ground.write("i/config.toml", "[memory]\nbackend = \"markdown\"\n");
        let exported = export(&machine, &ground.path("i"), "a.alf", &[With::Force]);
        assert_eq!(exported["memory_records"], core + daily, "{name}");
        let read = machine.snapshot("a.alf");
        let of = |namespace: &str| {
            read.records.iter().filter(|record| record.namespace == namespace).count()
        };
        assert_eq!((of("core"), of("daily")), (core, daily), "{name}");
    }
}

#[test]
fn a_folder_with_only_a_document_and_an_empty_folder_are_workspaces() {
    let (machine, ground) = (TestMachine::new(), Ground::new());
    ground.write("ai/identity.json", r#"{"identity": {"names": {"first": "Nova"}}}"#);
    let exported = export(&machine, &ground.path("ai"), "ai.alf", &[With::AllowEmpty]);
    assert_eq!(exported["workspace"], json!(ground.path("ai")), "{exported}");
    let identity = machine.snapshot("ai.alf").identity.unwrap();
    assert_eq!(identity.source_format.as_deref(), Some("aieos"));
    fs_err::create_dir(ground.path("none")).unwrap();
    let exported = export(&machine, &ground.path("none"), "none.alf", &[With::AllowEmpty]);
    assert_eq!(exported["files_count"], 0, "{exported}");
}
