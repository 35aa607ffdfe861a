use std::ffi::OsString;

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::kit::database::tests::machine;

/// A home folder to put installs into.
struct TestHome {
    _folder: TempDir,
    machine: Machine,
}

impl TestHome {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let machine = machine(&folder.path().canonicalize().unwrap());
        Self { _folder: folder, machine }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.machine.home.join(name)
    }

    fn write(&self, name: &str, content: &str) -> &Self {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
        self
    }

    fn database(&self, name: &str, sql: &str) -> &Self {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        Connection::open(path).unwrap().execute_batch(sql).unwrap();
        self
    }

    fn set(&mut self, name: &str, value: impl Into<OsString>) -> &Self {
        self.machine.variables.insert(name.to_owned(), value.into());
        self
    }

    fn short(&self, path: &Path) -> String {
        path.strip_prefix(&self.machine.home).unwrap_or(path).display().to_string()
    }

    /// Every agent: alias, layout, workspace and database below the home folder.
    fn found(&self) -> Vec<(String, String, String, String)> {
        discover(&self.machine).into_iter().map(|discover| self.told(&discover)).collect()
    }

    fn told(&self, agent: &FoundAgent) -> (String, String, String, String) {
        let database = agent.database.as_ref().map(|database| self.short(database));
        (
            agent.alias.clone(),
            agent.generation.unwrap_or("-").to_owned(),
            self.short(&agent.workspace),
            database.unwrap_or_default(),
        )
    }

    fn locate(&self, folder: &str, alias: Option<&str>) -> (String, String, String, String) {
        self.told(&locate(&self.machine, &self.path(folder), alias))
    }
}

const OLD: &str = "CREATE TABLE memories(id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE,
        content TEXT NOT NULL, category TEXT NOT NULL DEFAULT 'core', created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL);";
const NEW: &str = "CREATE TABLE agents(id TEXT PRIMARY KEY, alias TEXT NOT NULL UNIQUE,
        created_at TEXT NOT NULL);
        CREATE TABLE memories(id TEXT PRIMARY KEY, key TEXT NOT NULL, content TEXT NOT NULL,
        category TEXT NOT NULL DEFAULT 'core', created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
        agent_id TEXT NOT NULL REFERENCES agents(id), UNIQUE (agent_id, key));";

fn agent(
    alias: &str,
    layout: &str,
    folder: &str,
    database: &str,
) -> (String, String, String, String) {
    (alias.to_owned(), layout.to_owned(), folder.to_owned(), database.to_owned())
}

fn codes(agent: &FoundAgent) -> Vec<&str> {
    agent.oddities.iter().map(|oddity| oddity.kind.as_str()).collect()
}

#[test]
fn an_empty_home_has_no_agents() {
    let home = TestHome::new();
    assert_eq!(home.found(), []);
    fs_err::create_dir_all(home.path(".zeroclaw/agents")).unwrap();
    fs_err::create_dir_all(home.path(".zeroclaw/data")).unwrap();
    assert_eq!(home.found(), []);
}

#[test]
fn until_0_7_there_is_one_agent_with_the_database_in_its_workspace() {
    let home = TestHome::new();
    home.write(".zeroclaw/config.toml", "").write(".zeroclaw/workspace/SOUL.md", "x");
    home.database(".zeroclaw/workspace/memory/brain.db", OLD);
    let database = ".zeroclaw/workspace/memory/brain.db";
    let wanted = agent("default", "workspace", ".zeroclaw/workspace", database);
    assert_eq!(home.found(), std::slice::from_ref(&wanted));
    assert_eq!(codes(&discover(&home.machine)[0]), [""; 0]);
    for folder in [".zeroclaw", ".zeroclaw/workspace", ".zeroclaw/workspace/../workspace"] {
        assert_eq!(home.locate(folder, None), wanted, "{folder}");
    }
}

#[test]
fn since_0_8_agents_come_from_folders_configuration_and_database() {
    let home = TestHome::new();
    home.write(".zeroclaw/agents/beta/workspace/SOUL.md", "x");
    home.write(
        ".zeroclaw/config.toml",
        "schema_version = 3\n[agents.alpha]\n[agents.alpha.workspace]\npath = \"~/own\"\n",
    );
    let rows = "INSERT INTO agents VALUES ('1', 'default', ''), ('2', 'gamma', ''),
            ('3', '../up', '');";
    home.database(".zeroclaw/data/memory/brain.db", &format!("{NEW}{rows}"));
    let database = ".zeroclaw/data/memory/brain.db";
    let usual = |alias: &str| {
        agent(alias, "data", &format!(".zeroclaw/agents/{alias}/workspace"), database)
    };
    assert_eq!(
        home.found(),
        [usual("default"), agent("alpha", "data", "own", database), usual("beta"), usual("gamma")]
    );
    let found = discover(&home.machine);
    assert_eq!(codes(&found[0]), ["workspace_missing", "agents_not_listed"]);
    // One of them, by its name, by its folder, or as the default one.
    assert_eq!(home.locate(".zeroclaw", Some("gamma")), usual("gamma"));
    assert_eq!(home.locate(".zeroclaw", Some("new")), usual("new"));
    assert_eq!(home.locate(".zeroclaw", Some("../new")), usual("default"));
    assert_eq!(home.locate(".zeroclaw/agents/beta/workspace", None), usual("beta"));
    fs_err::create_dir(home.path("own")).unwrap();
    home.write("own/SOUL.md", "x");
    assert_eq!(home.locate("own", None), agent("alpha", "data", "own", database));
    let usual_one = locate(&home.machine, &home.path(".zeroclaw"), None);
    assert_eq!(usual_one.alias, "default");
    assert!(codes(&usual_one).contains(&"several_agents"), "{:?}", usual_one.oddities);
}

#[test]
fn the_shape_of_the_first_documents_is_told_by_a_table_of_memories() {
    let home = TestHome::new();
    home.write(".zeroclaw/config.toml", "").write(".zeroclaw/workspace/SOUL.md", "x");
    home.database(
        ".zeroclaw/memory.db",
        "CREATE TABLE memories(id, key, content, category, timestamp, embedding);",
    );
    let wanted = agent("default", "seed", ".zeroclaw/workspace", ".zeroclaw/memory.db");
    assert_eq!(home.found(), std::slice::from_ref(&wanted));
    assert_eq!(home.locate(".zeroclaw/workspace", None), wanted);
    assert_eq!(codes(&discover(&home.machine)[0]), [""; 0]);
}

#[test]
fn a_decoy_is_named_and_not_taken() {
    let home = TestHome::new();
    home.write(".zeroclaw/config.toml", "").write(".zeroclaw/workspace/SOUL.md", "x");
    home.database(".zeroclaw/memory.db", "CREATE TABLE other(x);");
    home.write(".zeroclaw/workspace/memory.db", "");
    let found = discover(&home.machine);
    assert_eq!(found[0].generation, Some("workspace"));
    assert_eq!(found[0].database, Some(home.path(".zeroclaw/workspace/memory/brain.db")));
    assert_eq!(codes(&found[0]), ["decoy", "decoy"]);
}

#[test]
fn the_layout_with_the_database_counts_and_the_other_is_named() {
    let home = TestHome::new();
    home.write(".zeroclaw/config.toml", "").write(".zeroclaw/workspace/SOUL.md", "x");
    home.write(".zeroclaw/agents/default/workspace/SOUL.md", "x");
    home.database(".zeroclaw/workspace/memory/brain.db", OLD);
    let found = discover(&home.machine);
    assert_eq!(found[0].generation, Some("workspace"));
    assert_eq!(codes(&found[0]), ["other_layout"]);
    home.database(".zeroclaw/data/memory/brain.db", NEW);
    let found = discover(&home.machine);
    assert_eq!(found[0].generation, Some("data"));
    assert_eq!(codes(&found[0]), ["database_ignored", "other_layout"]);
}

#[test]
fn what_a_move_to_0_8_left_behind_is_named() {
    let home = TestHome::new();
    home.database(".zeroclaw/data/memory/brain.db", NEW);
    home.write(".zeroclaw/data/memory/brain.db.backup-20261115T071728", "x");
    home.write(".zeroclaw/agents/default/workspace/memory/brain.db-wal", "x");
    home.write(".zeroclaw/backup-20261115T071728Z/legacy-workspace/memory/brain.db", "x");
    let found = discover(&home.machine);
    assert_eq!(codes(&found[0]), ["backup_found", "backup_found", "stray_log"]);
    let stray = &found[0].oddities[2].message;
    assert!(stray.contains("legacy-workspace/memory"), "{stray}");
}

#[test]
fn variables_and_the_active_install_come_before_the_usual_one() {
    let mut home = TestHome::new();
    home.write(".zeroclaw/config.toml", "").write(".zeroclaw/workspace/SOUL.md", "x");
    home.write(".zeroclaw/active_workspace.toml", "config_dir = \"profiles/two\"\n");
    home.write(".zeroclaw/profiles/two/config.toml", "");
    home.write(".zeroclaw/profiles/two/workspace/SOUL.md", "x");
    home.write("a/config.toml", "").write("a/workspace/SOUL.md", "x");
    home.write("image/.zeroclaw/config.toml", "").write("image/.zeroclaw/workspace/SOUL.md", "x");
    home.write("b/.zeroclaw/config.toml", "").write("b/work/SOUL.md", "x");
    let config = home.path("a");
    home.set("ZEROCLAW_CONFIG_DIR", config);
    let data = home.path("image");
    home.set("ZEROCLAW_DATA_DIR", data);
    let workspace = home.path("b/work");
    home.set("ZEROCLAW_WORKSPACE", workspace);
    let folders: Vec<String> = home.found().into_iter().map(|found| found.2).collect();
    let wanted = [
        "a/workspace",
        "image/.zeroclaw/workspace",
        "b/work",
        ".zeroclaw/profiles/two/workspace",
        ".zeroclaw/workspace",
    ];
    assert_eq!(folders, wanted);
}

#[test]
fn a_variable_that_names_a_workspace_is_read_as_the_runtime_reads_it() {
    let home = TestHome::new();
    home.write("one/config.toml", "");
    home.write("two/.zeroclaw/config.toml", "");
    let site = |name: &str| {
        let site = site_of_workspace(home.path(name));
        (home.short(&site.folder), site.workspace.map(|workspace| home.short(&workspace)))
    };
    assert_eq!(site("one"), ("one".to_owned(), None));
    let beside = |workspace: &str| ("two/.zeroclaw".to_owned(), Some(workspace.to_owned()));
    assert_eq!(site("two/work"), beside("two/work"));
    assert_eq!(site("two/workspace"), beside("two/workspace"));
    assert_eq!(site("three"), ("three".to_owned(), None));
}

#[test]
fn profiles_of_0_7_are_agents_of_their_own() {
    let home = TestHome::new();
    home.write(".zeroclaw/config.toml", "").write(".zeroclaw/workspace/SOUL.md", "x");
    home.write(".zeroclaw/workspaces/empty/profile.toml", "");
    home.write(".zeroclaw/workspaces/work/profile.toml", "");
    home.database(".zeroclaw/workspaces/work/memory/brain.db", OLD);
    let database = ".zeroclaw/workspaces/work/memory/brain.db";
    let found = home.found();
    assert_eq!(found.len(), 2);
    assert_eq!(found[1], agent("work", "workspace", ".zeroclaw/workspaces/work", database));
}

#[test]
fn a_folder_that_is_not_there_or_empty_becomes_an_install() {
    let home = TestHome::new();
    fs_err::create_dir(home.path("empty")).unwrap();
    for folder in ["empty", "absent"] {
        let wanted = |alias: &str| {
            let workspace = format!("{folder}/agents/{alias}/workspace");
            agent(alias, "data", &workspace, &format!("{folder}/data/memory/brain.db"))
        };
        assert_eq!(home.locate(folder, None), wanted("default"));
        assert_eq!(home.locate(folder, Some("nova")), wanted("nova"));
        assert_eq!(home.locate(folder, Some("a/b")), wanted("default"));
    }
    assert!(!home.path("absent").exists(), "nothing is made");
}

#[test]
fn a_loose_folder_is_a_workspace() {
    let home = TestHome::new();
    home.database("loose/memory/brain.db", OLD).write("loose/memory.db", "");
    assert_eq!(home.locate("loose", None), agent("default", "-", "loose", "loose/memory/brain.db"));
    home.write("notes/memory/2026-02-15.md", "- **a**: b\n");
    assert_eq!(home.locate("notes", None), agent("default", "-", "notes", ""));
    home.database(
        "many/memory/brain.db",
        &format!("{NEW} INSERT INTO agents VALUES ('1', 'nova', ''), ('2', 'kit', '');"),
    );
    let many = locate(&home.machine, &home.path("many"), None);
    assert_eq!((many.alias.as_str(), codes(&many)), ("nova", vec!["several_agents"]));
    // The rest of an unfinished move is not a workspace.
    home.write("half/agents/default/x", "").write("readme/README", "");
    for name in ["half", "readme"] {
        let found = home.locate(name, None);
        let workspace = format!("{name}/agents/default/workspace");
        let database = format!("{name}/data/memory/brain.db");
        assert_eq!(found, agent("default", "data", &workspace, &database));
    }
    // The state folder of another runtime is not an install.
    home.write("other/openclaw.json", "{}").write("other/workspace/SOUL.md", "x");
    assert_eq!(home.locate("other", None), agent("default", "-", "other", ""));
    assert_eq!(home.locate("other/workspace", None), agent("default", "-", "other/workspace", ""));
}

#[test]
fn by_files_the_same_agents_are_found_and_a_loose_database_is_not_asked() {
    let home = TestHome::new();
    home.write(".zeroclaw/config.toml", "schema_version = 3\n");
    home.write(".zeroclaw/agents/beta/workspace/SOUL.md", "x");
    let install = home.path(".zeroclaw");
    for alias in [None, Some("beta")] {
        let quick = locate_by_files(&home.machine, &install, alias);
        assert_eq!(quick, locate(&home.machine, &install, alias));
        assert_eq!(quick.alias, "beta");
    }
    let workspace = install.join("agents/beta/workspace");
    assert_eq!(locate_by_files(&home.machine, &workspace, None).alias, "beta");
    // No program exists that could read the database, and none is needed.
    home.write("loose/SOUL.md", "x");
    home.write("loose/memory/brain.db", "no database");
    let loose = locate_by_files(&home.machine, &home.path("loose"), None);
    let codes: Vec<&str> = loose.oddities.iter().map(|oddity| oddity.kind.as_str()).collect();
    assert_eq!((loose.alias.as_str(), codes), (DEFAULT_ALIAS, vec!["alias_assumed"]));
    let closely = locate(&home.machine, &home.path("loose"), None);
    assert_ne!(closely.oddities, loose.oddities);
}
