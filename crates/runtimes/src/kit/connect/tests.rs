//! Every change can be reverted byte for byte, in any kind of file and after edits by others.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::desired::names;
use super::document::{ConfigEdit, ConfigFormat, RefuseError, put_in};

fn member(path: &[&str], key: &str, value: Value) -> ConfigEdit {
    ConfigEdit::Member { path: names(path), key: key.to_owned(), value }
}

fn element(path: &[&str], value: Value) -> ConfigEdit {
    ConfigEdit::Element { path: names(path), value }
}

fn switch() -> ConfigEdit {
    ConfigEdit::Switch {
        path: names(&["mcp"]),
        key: "enabled".to_owned(),
        of: "servers".to_owned(),
    }
}

fn of_claude_code() -> Vec<ConfigEdit> {
    let group = |command: &str| json!({ "hooks": [{ "type": "command", "command": command }] });
    vec![
        element(&["hooks", "SessionStart"], group("anemone hook session-start")),
        element(&["hooks", "PreCompact"], group("anemone hook pre-compact")),
        member(&["mcpServers"], "anemone", json!({ "command": "anemone", "args": ["mcp"] })),
    ]
}

fn of_openclaw() -> Vec<ConfigEdit> {
    vec![
        element(&["plugins", "load", "paths"], json!("/share/anemone/integrations/openclaw")),
        member(&["plugins", "entries"], "anemone", json!({ "enabled": true, "config": {} })),
        element(&["plugins", "allow"], json!("anemone")),
    ]
}

fn of_zeroclaw() -> Vec<ConfigEdit> {
    let server = json!({ "name": "anemone", "command": "/a b/anemone", "args": ["mcp", "-w"] });
    vec![
        switch(),
        element(&["mcp", "servers"], server),
        member(&["mcp_bundles"], "anemone", json!({ "servers": ["anemone"] })),
        element(&["agents", "ada", "mcp_bundles"], json!("anemone")),
    ]
}

/// Inserts everything and removes it again.
fn check(format: ConfigFormat, text: &str, wants: &[ConfigEdit]) -> String {
    let (connected, changes) = put_in(format, text, wants).unwrap();
    assert_ne!(connected, text);
    assert_eq!(changes.take_out(&connected).unwrap(), text, "{connected}");
    let (again, more) = put_in(format, &connected, wants).unwrap();
    assert_eq!(again, connected, "twice is once");
    assert!(more.is_empty());
    connected
}

const JSON_SHAPES: &[&str] = &[
    "{}",
    "{}\n",
    "{\n}\n",
    "{ }",
    "\u{feff}{\r\n\t\"theme\": \"dark\"\r\n}\r\n",
    "{\"a\":1}",
    "{\"a\":1,\"hooks\":{},\"mcpServers\":{}}",
    "{\n  \"hooks\": {\n    \"SessionStart\": []\n  }\n}",
    "{\n  \"hooks\": { \"PreCompact\": [ { \"hooks\": [] } ], },\n}\n",
    "// top\n{\n  // first\n  a: 1, // of a\n  'plugins': { load: { paths: ['x', /* y */ \"y\", ], }, },\n}\n// end",
    "{\n    plugins: {\n        allow: [\n            \"one\" // the first\n            // and no more\n        ],\n        entries: { other: { enabled: true } } // mine\n    }\n}\n",
    "{\n  \"z\": \"last\" // no comma, a comment\n}",
    "{ // nothing yet\n}",
    "{\n  \"mcpServers\": {\n    \"github\": { \"command\": \"gh\", \"env\": { \"T\": \"sk-secret\" } }\n  }\n}\n",
    "  \n",
    "",
];

#[test]
fn json_of_every_shape_comes_back_to_the_byte() {
    for text in JSON_SHAPES {
        for wants in [of_claude_code(), of_openclaw()] {
            check(ConfigFormat::Json, text, &wants);
        }
    }
}

const TOML_SHAPES: &[&str] = &[
    "",
    "\n",
    "model = \"x\"",
    "# mine\nmodel = \"x\" # why\n\n[mcp] # off\n\n[memory]\nbackend = \"sqlite\"\n",
    "[mcp]\r\nenabled = false\r\n\r\n[agents.ada]\r\nname = 'x'\r\n",
    "[mcp]\nenabled = true\nservers = []\n",
    "[mcp]\nservers = [\n    { name = \"a\", command = \"b\" }, # one\n]\n\n[agents.ada]\nmcp_bundles = [\"one\"]\n",
    "[[mcp.servers]]\nname = \"a\"\n[mcp.servers.env]\nT = \"sk-secret\"\n\n[agents.ada]\nx = 1.5\nt = 2026-01-01\n[agents.ada.identity]\nformat = \"x\"",
    "\u{feff}[agents.ada]\n\tmcp_bundles = []\n",
    "[mcp_bundles.other]\nservers = [\"a\"]\n[mcp]\n# only a comment\n",
];

#[test]
fn toml_of_every_shape_comes_back_to_the_byte() {
    for text in TOML_SHAPES {
        let mut wants = of_zeroclaw();
        if !text.contains("agents.ada") {
            wants.pop();
        }
        check(ConfigFormat::Toml, text, &wants);
        let codex = member(&["mcp_servers"], "anemone", json!({ "command": "c", "args": ["mcp"] }));
        check(ConfigFormat::Toml, text, &[codex]);
    }
}

#[test]
fn what_is_put_in_looks_like_the_rest_of_the_file() {
    let wants = [element(&["plugins", "load", "paths"], json!("/p"))];
    let text = "{\n\t// mine\n\ttheme: 'dark', // of course\n}\n";
    assert_eq!(
        check(ConfigFormat::Json, text, &wants),
        "{\n\t// mine\n\ttheme: 'dark', // of course\n\t\"plugins\": {\n\t\t\"load\": {\n\t\t\t\"paths\": [\n\t\t\t\t\"/p\"\n\t\t\t]\n\t\t}\n\t},\n}\n"
    );
    let text = "{\n  \"a\": 1 // last\n}\n";
    let wants = [member(&[], "b", json!(2))];
    assert_eq!(check(ConfigFormat::Json, text, &wants), "{\n  \"a\": 1, // last\n  \"b\": 2\n}\n");
    let toml = "[mcp] # servers\n[memory]\n";
    let wants = [switch()];
    assert_eq!(
        check(ConfigFormat::Toml, toml, &wants),
        "[mcp] # servers\nenabled = true\n[memory]\n"
    );
}

#[test]
fn edits_of_others_stay_when_ours_goes() {
    let text = "{\n  \"theme\": \"dark\"\n}\n";
    let (connected, changes) = put_in(ConfigFormat::Json, text, &of_claude_code()).unwrap();
    let later = connected.replace("\"dark\"", "\"light\"").replacen(
        "{\n",
        "{\n  \"new\": [1, 2], // added\n",
        1,
    );
    assert_eq!(
        changes.take_out(&later).unwrap(),
        "{\n  \"new\": [1, 2], // added\n  \"theme\": \"light\"\n}\n"
    );
    let (connected, changes) = put_in(ConfigFormat::Toml, "a = 1\n", &of_zeroclaw()[..3]).unwrap();
    let later = connected.replace("a = 1", "a = 2 # new") + "\n[more]\nb = 1\n";
    assert_eq!(changes.take_out(&later).unwrap(), "a = 2 # new\n\n[more]\nb = 1\n");
}

#[test]
fn every_shape_comes_back_to_the_byte_when_lines_were_added_around_ours() {
    // By then, braces added to an empty file cannot be told from any others, so they stay.
    for text in JSON_SHAPES.iter().filter(|text| !text.trim().is_empty()) {
        let (connected, changes) = put_in(ConfigFormat::Json, text, &of_openclaw()).unwrap();
        let around = |text: &str| format!("// new, {{ \n{text}\n/* and more */ // , }}\n");
        assert_eq!(changes.take_out(&around(&connected)).unwrap(), around(text));
    }
    for text in TOML_SHAPES.iter().filter(|text| !text.starts_with('\u{feff}')) {
        let (connected, changes) = put_in(ConfigFormat::Toml, text, &of_zeroclaw()[..3]).unwrap();
        let around = |text: &str| format!("new = true\n{text}\n# the end\n[more]\nx = []\n");
        assert_eq!(changes.take_out(&around(&connected)).unwrap(), around(text));
    }
}

#[test]
fn ours_is_found_in_a_file_that_its_program_wrote_anew() {
    let text = "{\"numStartups\": 3, \"mcpServers\": {\"other\": {\"command\": \"x\"}}}";
    let (connected, changes) = put_in(ConfigFormat::Json, text, &of_claude_code()).unwrap();
    let value: Value = serde_json::from_str(&connected).unwrap();
    let anew = serde_json::to_string_pretty(&value).unwrap();
    let out: Value = serde_json::from_str(&changes.take_out(&anew).unwrap()).unwrap();
    assert_eq!(out, serde_json::from_str::<Value>(text).unwrap());
    let (connected, changes) =
        put_in(ConfigFormat::Toml, "[mcp]\nx = 1\n", &of_zeroclaw()[1..3]).unwrap();
    let anew = connected
        .replace(" = ", "=")
        .replace("[mcp_bundles.anemone]", "\n[mcp_bundles.\"anemone\"]");
    // One empty line was not ours.
    assert_eq!(changes.take_out(&anew).unwrap(), "[mcp]\nx=1\n\n");
}

#[test]
fn comments_and_line_ends_of_a_rewritten_toml_file_stay() {
    let text = "[mcp] # one\r\nx = 1\r\n# the last line";
    let (connected, changes) = put_in(ConfigFormat::Toml, text, &of_zeroclaw()[..3]).unwrap();
    let anew = connected.replace("command = ", "command=").replace("servers = [", "servers=[");
    assert_ne!(anew, connected);
    assert_eq!(changes.take_out(&anew).unwrap(), format!("{text}\r\n"));
    // The switch is reverted too, whatever surrounds it.
    let text = "[mcp]\nenabled = false # why\n";
    let (_, changes) = put_in(ConfigFormat::Toml, text, &of_zeroclaw()[..1]).unwrap();
    let anew = "on = [true, true]\n[mcp]\n\nenabled=true\n[b]\nx=true\n";
    let out = changes.take_out(anew).unwrap();
    assert_eq!(out, anew.replace("enabled=true", "enabled=false"));
}

#[test]
fn a_switch_stays_on_for_what_was_added_since() {
    let text = "[mcp]\nenabled = false\n\n[[mcp.servers]]\nname = \"a\"\n";
    let (connected, changes) = put_in(ConfigFormat::Toml, text, &of_zeroclaw()[..2]).unwrap();
    let later = format!("{connected}\n[[mcp.servers]]\nname = \"new\"\n");
    let out = changes.take_out(&later).unwrap();
    assert!(out.contains("enabled = true") && !out.contains("anemone"), "{out}");
    let later = format!("# new\n{connected}");
    assert_eq!(changes.take_out(&later).unwrap(), format!("# new\n{text}"));
}

#[test]
fn braces_of_somebody_elses_stay() {
    for later in [
        "{\n  \"agents\": {\n    \"list\": [\n      {\"id\": \"a\"},\n      {}\n    ]\n  }\n}\n",
        "{\n  \"a\": 1,\n  \"projects\": {}\n}\n",
    ] {
        let (_, changes) = put_in(ConfigFormat::Json, "", &of_openclaw()).unwrap();
        assert_eq!(changes.take_out(later).unwrap(), later);
    }
}

#[test]
fn nothing_is_put_into_an_empty_file_when_nothing_is_wanted() {
    let (text, changes) = put_in(ConfigFormat::Json, "", &[]).unwrap();
    assert!(text.is_empty() && changes.is_empty());
}

#[test]
fn comments_in_a_list_stay_with_what_they_are_about() {
    let wants = [element(&["a", "l"], json!("anemone"))];
    for (text, wanted) in [
        ("[a]\nl = [\n  1, # one\n]\n", "[a]\nl = [\n  1, # one\n  \"anemone\",\n]\n"),
        ("[a]\nl = [\n  1 # one\n]\n", "[a]\nl = [\n  1, # one\n  \"anemone\"\n]\n"),
        ("[a]\nl = [\n  1\n]\n", "[a]\nl = [\n  1,\n  \"anemone\"\n]\n"),
        ("[a]\nl = [\n  1, ]\n", "[a]\nl = [\n  1,\n  \"anemone\", ]\n"),
    ] {
        assert_eq!(check(ConfigFormat::Toml, text, &wants), wanted);
    }
}

#[test]
fn what_is_gone_already_is_gone() {
    let text = "{\n  \"theme\": \"dark\"\n}\n";
    let (_, changes) = put_in(ConfigFormat::Json, text, &of_claude_code()).unwrap();
    assert_eq!(changes.take_out(text).unwrap(), text);
    assert_eq!(changes.take_out("{}").unwrap(), "{}");
}

#[test]
fn an_entry_that_somebody_changed_is_theirs() {
    let wants = of_claude_code();
    let (connected, changes) = put_in(ConfigFormat::Json, "{\n}\n", &wants).unwrap();
    let later = connected.replace("\"mcp\"", "\"mcp\", \"--mine\"");
    let out = changes.take_out(&later).unwrap();
    assert!(out.contains("--mine") && !out.contains("hooks"), "{out}");
}

#[test]
fn files_that_make_no_sense_are_refused_with_their_place() {
    for (format, text, line, column) in [
        (ConfigFormat::Json, "{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3),
        (ConfigFormat::Json, "{\n  \"a\": tru\n}", 2, 11),
        (ConfigFormat::Json, "[1,", 1, 4),
        (ConfigFormat::Toml, "a = 1\nb = = 2\n", 2, 5),
        (ConfigFormat::Toml, "[a]\nx = 1\n[a]\n", 3, 2),
    ] {
        match put_in(format, text, &[member(&["x"], "y", json!(1))]) {
            Err(RefuseError::Unparsable { line: l, column: c, .. }) => {
                assert_eq!((l, c), (line, column), "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn what_is_taken_or_of_another_shape_is_refused() {
    let wants = [member(&["mcpServers"], "anemone", json!({ "command": "anemone" }))];
    for (text, is_taken) in [
        ("{\"mcpServers\": {\"anemone\": {\"command\": \"mine\"}}}", true),
        ("{\"mcpServers\": []}", false),
        ("{\"mcpServers\": 1}", false),
        ("[]", false),
        ("7", false),
    ] {
        match put_in(ConfigFormat::Json, text, &wants) {
            Err(RefuseError::Taken { .. }) => assert!(is_taken, "{text}"),
            Err(RefuseError::Shape { .. }) => assert!(!is_taken, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    let named = "[[mcp.servers]]\nname = \"anemone\"\n";
    for text in ["mcp = { enabled = false }", "mcp = 1", "[[mcp]]\nx = 1", named] {
        let refused = put_in(ConfigFormat::Toml, text, &of_zeroclaw()[1..2]);
        assert!(refused.is_err(), "{text}: {refused:?}");
    }
}

#[test]
fn the_lines_that_are_shown_are_those_of_the_file() {
    let text = "{\n  \"key\": \"sk-secret\"\n}\n";
    let wants = [member(&["a"], "b", json!(1)), member(&["a"], "c", json!(2))];
    let (_, changes) = put_in(ConfigFormat::Json, text, &wants).unwrap();
    assert_eq!(changes.lines(), ["  \"a\": {", "    \"b\": 1,", "    \"c\": 2", "  }"]);
    let (_, changes) = put_in(ConfigFormat::Json, "{ k: 'sk-secret' }", &wants).unwrap();
    assert_eq!(changes.lines(), ["\"a\":{\"b\":1,\"c\":2}"]);
    let (_, changes) =
        put_in(ConfigFormat::Toml, "[mcp]\nenabled = false # sk-secret", &of_zeroclaw()[..1])
            .unwrap();
    assert_eq!(changes.lines(), ["mcp.enabled = true"]);
}

#[test]
fn only_our_own_lines_are_shown_or_kept() {
    for text in JSON_SHAPES {
        let (_, changes) = put_in(ConfigFormat::Json, text, &of_openclaw()).unwrap();
        let kept = serde_json::to_string(&changes).unwrap() + &changes.lines().join("\n");
        assert!(!kept.contains("sk-secret") && !kept.contains("dark"), "{kept}");
    }
}

/// Lines from which test files are assembled.
const TOML_LINES: &[&str] = &[
    "",
    "# a comment",
    "a = 1",
    "mcp.enabled = false",
    "[mcp] # here",
    "enabled = false",
    "enabled = true # on",
    "servers = [",
    "  { name = \"x\" },",
    "]",
    "servers = [] # none",
    "[[mcp.servers]]",
    "name = \"y\"",
    "[mcp.servers.env]",
    "[agents.ada]",
    "mcp_bundles = [ \"one\", ]",
    "[agents.ada.identity]",
    "[mcp_bundles.anemone]",
    "[mcp_bundles]",
    "mcp = { }",
    "text = \"\"\"",
    "[mcp]\\",
    "\"\"\"",
];

/// A document as a person could have written it.
fn json_text() -> impl Strategy<Value = String> {
    let space = prop_oneof![
        Just(String::new()),
        Just(" ".to_owned()),
        Just("\n  ".to_owned()),
        Just("\r\n\t".to_owned()),
        Just(" // c, {\n ".to_owned()),
        Just(" /* [ */ ".to_owned()),
    ];
    let key = prop_oneof![
        Just("hooks".to_owned()),
        Just("'plugins'".to_owned()),
        Just("\"mcpServers\"".to_owned()),
        Just("\"load\"".to_owned()),
        Just("entries".to_owned()),
        Just("\"w\\u0061\"".to_owned()),
    ];
    let leaf = prop_oneof![
        Just("1".to_owned()),
        Just("'it\\'s, ]'".to_owned()),
        Just("true".to_owned()),
        Just("{}".to_owned()),
        Just("[]".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let (space, key) = (space.clone(), key.clone());
        let member = (space.clone(), key, space.clone(), inner.clone(), space.clone())
            .prop_map(|(a, key, b, value, c)| format!("{a}{key}:{b}{value}{c}"));
        let of = |open: char, close: char| {
            move |(items, comma, end): (Vec<String>, bool, String)| {
                let comma = if comma && !items.is_empty() { "," } else { "" };
                format!("{open}{}{comma}{end}{close}", items.join(","))
            }
        };
        let element = (space.clone(), inner).prop_map(|(a, value)| format!("{a}{value}"));
        prop_oneof![
            (prop::collection::vec(member, 0..4), any::<bool>(), space.clone())
                .prop_map(of('{', '}')),
            (prop::collection::vec(element, 0..4), any::<bool>(), space).prop_map(of('[', ']')),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_json_comes_back_or_is_refused(text in json_text()) {
        for wants in [of_claude_code(), of_openclaw()] {
            if let Ok((connected, changes)) = put_in(ConfigFormat::Json, &text, &wants) {
                prop_assert_eq!(changes.take_out(&connected).unwrap(), text.clone());
                // And when something else was added in front.
                let later = format!("// new\n{connected}\n");
                let out = changes.take_out(&later).unwrap();
                prop_assert_eq!(
                    ConfigFormat::Json.parse(&out).unwrap(),
                    ConfigFormat::Json.parse(&text).unwrap()
                );
            }
        }
    }

    #[test]
    fn any_toml_comes_back_or_is_refused(
        lines in prop::collection::vec(prop::sample::select(TOML_LINES), 0..9),
        newline in prop::sample::select(vec!["\n", "\r\n"]),
        ends in any::<bool>(),
    ) {
        let text = lines.join(newline) + if ends { newline } else { "" };
        for length in [3, 4] {
            if let Ok((connected, changes)) = put_in(ConfigFormat::Toml, &text, &of_zeroclaw()[..length]) {
                prop_assert_eq!(changes.take_out(&connected).unwrap(), text.clone());
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[\\[\\]{},:'\"/*\\\\ \n\u{feff}a1=#.é]{0,60}") {
        for (format, wants) in [(ConfigFormat::Json, of_openclaw()), (ConfigFormat::Toml, of_zeroclaw())] {
            if let Ok((connected, changes)) = put_in(format, &text, &wants) {
                prop_assert_eq!(changes.take_out(&connected).unwrap(), text.clone());
            }
        }
    }
}
