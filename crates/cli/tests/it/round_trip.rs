//! Export and import, one after the other: the import restores the exported agent.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anemone_testkit::SlowGroup;
use anemone_testkit::workspace::Workspace;
use serde_json::Value;

use crate::environment::{TestEnvironment, fixture, program};
use crate::workspace::{Ground, Lying, export, import, tree};
use anemone_testkit::database::Holder;

/// Everything travels.
const ALL: [&str; 3] = ["--allow-secrets", "--artifact-threshold", "1000000"];

// Import into an existing workspace.

fn args<'a>(workspace: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["import", "-r", "openclaw", "-w", workspace, "a.alf"][..], more].concat()
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_or_the_new_tree() {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let workspace = ground.generate("w", &Workspace::edge_cases().days(40));
    export(&environment, &workspace, "a.alf", &ALL);
    let content = |path: &Path| -> BTreeMap<_, _> {
        let known = |lying: &Lying| (lying.kind(), lying.bytes().to_vec());
        tree(path).into_iter().map(|(path, tree)| (path, known(&tree))).collect()
    };
    import(&environment, &ground.path("new"), "a.alf", &[]);
    let new = content(&ground.path("new"));
    let mut seen = [0, 0];
    for round in (0..24).step_by(SlowGroup::Kills.pick(3, 1)) {
        let name = format!("old-{round}");
        ground.write(format!("{name}/MEMORY.md"), "## Old\n");
        let old = content(&ground.path(&name));
        let mut child = std::process::Command::new(program())
            .args(args(ground.path(&name).to_str().unwrap(), &["--on-conflict", "theirs"]))
            .current_dir(environment.path(""))
            .env_clear()
            .envs(environment.variables())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(round * 7));
        drop(child.kill());
        child.wait().unwrap();
        let is = content(&ground.path(&name));
        assert!(is == old || is == new, "killed after {} ms", round * 7);
        seen[usize::from(is == new)] += 1;
    }
    assert!(seen[0] > 0, "at least one was killed before it was done: {seen:?}");
}

/// Makes a machine with an install of the newer generation, an archive with sealed secrets and
/// its key.
fn newer_install_and_sealed_secrets() -> TestEnvironment {
    let (environment, ground) = (TestEnvironment::new(), Ground::new());
    let home = environment.home("");
    let workspace = ground.generate("w", &Workspace::plain().days(1).install(&home));
    environment.json(["vault", "keygen", "-o", "key"]);
    export(&environment, &workspace, "a.alf", &["--credentials", "--vault-key", "key"]);
    let target = TestEnvironment::new();
    target.copy_home(&fixture("openclaw/gen9/.openclaw"), ".openclaw");
    fs_err::remove_dir_all(target.home(".openclaw/workspace")).expect("it is ours");
    for name in ["a.alf", "key"] {
        target.write(name, environment.read(name));
    }
    target
}

fn import_with_key(target: &TestEnvironment) -> Value {
    let folder = target.home(".openclaw/workspace").display().to_string();
    let mut command = target.command();
    command.args(["import", "-r", "openclaw", "-w", &folder, "a.alf", "--vault-key", "key"]);
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

#[test]
fn secrets_that_cannot_be_written_are_an_error_after_the_rest_is_done() {
    let target = newer_install_and_sealed_secrets();
    let database = target.home(".openclaw/state/openclaw.sqlite");
    let holder =
        Holder::start(&database, "BEGIN IMMEDIATE; SELECT count(*) FROM config_machine_state;");
    let before = fs_err::read(&database).unwrap();
    let folder = target.home(".openclaw/workspace");
    let place = folder.display().to_string();
    let args = ["import", "-r", "openclaw", "-w", &place, "a.alf", "--vault-key", "key"];
    let output = target.command().args(args).output().expect("the program starts");
    assert_eq!(output.status.code(), Some(1));
    let failure: Value = serde_json::from_slice(&output.stdout).expect("it prints JSON");
    assert_eq!(failure["code"], "credentials");
    assert!(failure["credentials_restored"].is_null(), "{failure}");
    let error = failure["error"].as_str().expect("it is text");
    assert!(error.contains("in place") && error.contains("secrets"), "{failure}");
    assert!(error.starts_with(&database.display().to_string()), "{failure}");
    assert!(failure["hint"].as_str().is_some_and(|failure| failure.contains("safe")), "{failure}");
    assert!(!failure.to_string().contains("SECRET"));
    assert!(before == fs_err::read(&database).unwrap(), "the database is as it was");
    assert!(folder.join("MEMORY.md").exists(), "the rest is done");
    drop(holder);
    let imported = import_with_key(&target);
    let added = imported["credentials_restored"]["added"].as_array().expect("it is a list");
    assert_eq!(added.len(), 2, "{imported}");
}

// Archives of others.
