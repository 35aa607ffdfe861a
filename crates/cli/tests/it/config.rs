//! `anemone config`

use serde_json::json;

use crate::environment::TestEnvironment;

#[test]
fn the_setting_that_counts_is_shown_with_its_line() {
    let environment = TestEnvironment::new();
    environment.write_home(".openclaw/workspace/MEMORY.md", "# Memory\n\nTea.\n");
    environment.write_home(
        ".openclaw/openclaw.json",
        "{\r\n  memorySearch: {\r\n    query: { maxResults: 3, minScore: 'high' },\r\n  },\r\n}\r\n",
    );
    let told = environment.json(["config", "explain", "search.limit"]);
    let setting = &told["settings"][0];
    assert_eq!((&setting["value"], &setting["from"]), (&json!(3), &json!("runtime")), "{told}");
    assert_eq!(
        (&setting["line"], &setting["name"]),
        (&json!(3), &json!("memorySearch.query.maxResults"))
    );
    environment.write_home(".config/anemone/config.toml", "[search]\nlimit = 9\n");
    let told = environment.json(["config", "explain", "search.limit"]);
    let setting = &told["settings"][0];
    assert_eq!((&setting["value"], &setting["from"]), (&json!(9), &json!("config")), "{told}");
    assert_eq!(setting["others"][0]["value"], 3);

    let text = environment.human(["config", "explain"]);
    assert!(text.contains("search.limit = 9") && text.contains("config.toml:2"), "{text}");
    assert!(text.contains("it is not a number from 0 to 1"), "{text}");
    let failure = environment.failure(2, ["config", "explain", "search.limits"]);
    assert_eq!(
        (&failure["code"], &failure["hint"]),
        (&json!("unknown_setting"), &json!("did you mean search.limit?"))
    );
}
