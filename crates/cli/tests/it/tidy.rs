//! `anemone tidy`

use serde_json::Value;

use crate::environment::TestEnvironment;

const LOG: &str = "ws/memory/2026-01-02.md";

fn workspace() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write_below("ws/AGENTS.md", "# Rules\n");
    environment.write_below("ws/MEMORY.md", "- **db**: SQLite\n- **db**: Postgres\n");
    let log = "# 2026-01-02\n\n- [context|i=0.2] it rained\n- [decision|i=0.9] the bridge stays\n";
    environment.write_below(LOG, log);
    environment
}

fn tidy(environment: &TestEnvironment, more: &[&str]) -> Value {
    let state = environment.path("state");
    let args = ["tidy", "-r", "openclaw", "-w", "ws"];
    environment.json_with(
        &[("XDG_STATE_HOME", state.to_str().expect("it is UTF-8"))],
        args.iter().chain(more).copied().collect::<Vec<_>>(),
    )
}

#[test]
fn the_plan_is_shown_and_nothing_changed_until_it_is_applied() {
    let environment = workspace();
    let before = environment.everything();
    for more in [&[][..], &["--dry-run"]] {
        let plan = tidy(&environment, more);
        assert_eq!(plan["applied"], false);
        assert_eq!(plan["expired"][0]["path"], "memory/2026-01-02.md");
        assert_eq!(plan["expired"][0]["tier"], "contextual");
        assert_eq!(plan["contradictions"][0]["key"], "db");
        assert!(before == environment.everything(), "looking changes nothing");
    }
    let done = tidy(&environment, &["--apply"]);
    assert_eq!(
        (done["applied"].as_bool(), done["changes"].as_array().unwrap().len()),
        (Some(true), 1)
    );
    let kept = "# 2026-01-02\n\n- [decision|i=0.9] the bridge stays\n";
    assert_eq!(environment.read(LOG), kept.as_bytes());
    assert_eq!(done["expired"][0]["to"], "memory/archive/tidied-2026-01.md");
    assert_eq!(tidy(&environment, &["--apply"])["changes"], serde_json::json!([]));
}

#[test]
fn an_id_that_is_not_proposed_is_refused() {
    let environment = workspace();
    let args = ["tidy", "-r", "openclaw", "-w", "ws", "--promote", "nope"];
    assert_eq!(environment.failure(2, args)["code"], "unknown_promotion");
}

#[test]
fn people_are_told_how_to_go_on() {
    let environment = workspace();
    let text = environment.human(["tidy", "-r", "openclaw", "-w", "ws"]);
    assert!(text.ends_with("Nothing was changed; --apply does it\n"), "{text}");
}
