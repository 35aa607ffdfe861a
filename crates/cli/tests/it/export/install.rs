//! What the install knows: vectors, transcripts, credentials.

use std::process::Command;
use std::time::Duration;

use anemone_testkit::SlowGroup;
use serde_json::json;

use super::with_fixture;
use crate::environment::program;
use crate::workspace::tree;
use anemone_testkit::database::Holder;

#[test]
fn looking_touches_nothing_of_a_live_database() {
    let environment = with_fixture("gen3");
    let database = environment.home(".openclaw/memory/main.sqlite");
    let chunk = |id: &str, number: f32| {
        format!(
            "INSERT INTO chunks VALUES ('{id}', 'memory/project-alpha.md', 'memory', 1, 2, 'h',
             'text-embedding-3-small', 't', '{}', 1794726236228);",
            json!(vec![number; 64])
        )
    };
    let script = format!(
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; {} BEGIN IMMEDIATE; {}",
        chunk("committed", 0.5),
        chunk("open", 0.25)
    );
    let holder = Holder::start(&database, &script);
    let files = || {
        ["main.sqlite", "main.sqlite-wal", "main.sqlite-shm"].map(|name| {
            let path = environment.home(".openclaw/memory").join(name);
            let metadata = fs_err::metadata(&path).unwrap();
            (fs_err::read(&path).unwrap(), metadata.modified().unwrap(), metadata.permissions())
        })
    };
    let before = files();
    assert!(before[1].0.len() > 1000, "rows are in the log");
    let listed: Vec<_> = tree(&environment.home(".openclaw")).into_keys().collect();
    let checked = environment.json(["check", "-r", "openclaw"]);
    environment.json(["agents"]);
    assert_eq!(checked["index"]["present"], true);
    assert!(before == files(), "the files are as they were");
    assert_eq!(listed, tree(&environment.home(".openclaw")).into_keys().collect::<Vec<_>>());
    drop(holder);
}

#[test]
fn an_interrupted_export_leaves_no_copy_of_a_database() {
    let environment = with_fixture("gen9");
    let tmp = environment.path("../tmp");
    for round in (0..20).step_by(SlowGroup::Kills.pick(3, 1)) {
        let mut child = Command::new(program())
            .args(["export", "--sessions", "--dry-run"])
            .current_dir(environment.path(""))
            .env_clear()
            .envs(environment.variables())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(5 * round));
        let id = child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).output();
        assert!(sent.is_ok());
        child.wait().unwrap();
        let left: Vec<_> = tree(&tmp).into_keys().collect();
        assert!(left.is_empty(), "interrupted after {} ms: {left:?}", 5 * round);
    }
}
