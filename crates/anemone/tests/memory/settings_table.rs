//! Every setting of the tables in `docs/settings.md`, at each level: the default, the configuration
//! of the runtime, that of one agent, the user's config, and the argument of a request.

use std::collections::BTreeSet;

use anemone::agent::AgentChoice;
use anemone::config::Config;
use anemone::embedder::EmbedderSetting;
use anemone::search::{Citations, SearchRequest};
use anemone::settings::{ExplainRequest, ExplainedSetting, SettingOrigin, explain};
use anemone_embed::Provider;
use anemone_index::RankingChoice;
use anemone_runtimes::ranking_profiles;
use serde_json::{Value, json};

use crate::support::memory::TestMemory;

/// Where a setting is.
#[derive(Clone, Copy, PartialEq)]
enum Section {
    /// `memorySearch` or `memory.search` of OpenClaw, of all agents and of one.
    Search,
    /// What OpenClaw has for all agents and for one.
    Agent,
    /// What it has once, below these names.
    Once(&'static [&'static str]),
    /// `[memory]` of ZeroClaw.
    ZeroClaw,
}
use Section::{Agent, Once, Search, ZeroClaw};

/// A setting with its values at each level.
struct Row {
    /// Its names in the table of the page.
    names: &'static [&'static str],
    section: Section,
    /// The part of the configuration with a value.
    part: fn(Value) -> Value,
    /// The name whose line is given.
    leaf: &'static str,
    /// Its name in the user's config.
    key: &'static str,
    default: Value,
    runtime: Value,
    agent: Value,
    own: Value,
    /// Returns the value that counts.
    read: fn(&Config) -> Value,
}

fn text_of(setting: Option<&EmbedderSetting>) -> Value {
    setting.map_or(Value::Null, |setting| setting.to_string().into())
}

fn row(names: &'static [&'static str], section: Section, part: fn(Value) -> Value) -> Row {
    let leaf = names[0].rsplit(['.', ' ']).next().unwrap();
    let (default, runtime, agent, own) = (json!(null), json!(null), json!(null), json!(null));
    let read = |_: &Config| Value::Null;
    Row { names, section, part, leaf, key: "", default, runtime, agent, own, read }
}

impl Row {
    fn leaf(self, leaf: &'static str) -> Self {
        Self { leaf, ..self }
    }

    /// Gives the setting's name in the user's config, and the values of each level in ascending
    /// order.
    fn is(self, key: &'static str, values: [Value; 4], read: fn(&Config) -> Value) -> Self {
        let [default, runtime, agent, own] = values;
        Self { key, default, runtime, agent, own, read, ..self }
    }
}

/// Values of a switch that is on by default, or off.
fn switch(usual: bool) -> [Value; 4] {
    [usual, !usual, usual, usual].map(Value::from)
}

/// Values of a setting without a default.
fn values<T: Into<Value>>(values: [T; 3]) -> [Value; 4] {
    let [runtime, agent, own] = values.map(Into::into);
    [Value::Null, runtime, agent, own]
}

#[expect(clippy::too_many_lines, reason = "a table of one shape")]
fn rows() -> Vec<Row> {
    const COMPACTION: Section = Once(&["agents", "defaults", "compaction"]);
    const MEMORY: Section = Once(&["memory"]);
    const PLUGINS: Section = Once(&["plugins"]);
    vec![
        row(&["memorySearch.enabled"], Search, |value| json!({ "enabled": value })).is(
            "search.enabled",
            switch(true),
            |config| config.search.enabled.into(),
        ),
        row(&["plugins.slots.memory = \"none\""], PLUGINS, |_| json!({"slots": {"memory": "none"}}))
            .leaf("memory")
            .is("search.enabled", switch(true), |config| config.search.enabled.into()),
        row(&["sources", "experimental.sessionMemory"], Search, |value| {
            let sources = if value == true { json!(["memory", "sessions"]) } else { json!(["memory"]) };
            json!({ "sources": sources, "experimental": { "sessionMemory": value } })
        })
        .is("search.sessions", switch(false), |config| config.search.sessions.into()),
        row(&["memory.qmd.sessions.enabled"], MEMORY, |value| {
            json!({ "qmd": { "sessions": { "enabled": value } } })
        })
        .is("search.sessions", switch(false), |config| config.search.sessions.into()),
        row(&["provider"], Search, |value| json!({ "provider": value })).is(
            "embedding.embedder",
            values(["openai", "gemini", "voyage"]),
            |config| text_of(config.embedder.as_ref()),
        ),
        row(&["model"], Search, |value| {
            let name = value.as_str().unwrap().split_once(':').unwrap();
            json!({ "provider": name.0, "model": name.1 })
        })
        .leaf("provider")
        .is("embedding.embedder", values(["openai:a", "openai:b", "openai:c"]), |config| {
            text_of(config.embedder.as_ref())
        }),
        row(&["fallback"], Search, |value| json!({ "fallback": value })).is(
            "embedding.fallback",
            values(["openai", "gemini", "voyage"]),
            |config| text_of(config.fallback.as_ref()),
        ),
        row(&["outputDimensionality"], Search, |value| {
            json!({ "provider": "gemini", "outputDimensionality": value })
        })
        .is("embedding.gemini.dimensions", values([768, 1536, 3072]), |config| {
            config.services.get(&Provider::Gemini).and_then(|service| service.dimensions).into()
        }),
        row(&["provider = \"auto\""], Search, |_| json!({ "provider": "auto" }))
            .leaf("provider")
            .is(
                "embedding.embedder",
                [json!(null), json!("auto"), json!("auto"), json!("voyage")],
                |config| match config.order.first() {
                    Some(_) => json!("auto"),
                    None => text_of(config.embedder.as_ref()),
                },
            ),
        row(&["query.maxResults"], Search, |value| json!({ "query": { "maxResults": value } })).is(
            "search.limit",
            values([3, 4, 5]),
            |config| config.search.limit.into(),
        ),
        row(&["query.minScore"], Search, |value| json!({ "query": { "minScore": value } })).is(
            "search.min_score",
            values([0.1, 0.2, 0.3]),
            |config| config.search.min_score.or(config.search.profile_min_score).into(),
        ),
        row(&["hybrid.vectorWeight"], Search, |value| {
            json!({ "query": { "hybrid": { "vectorWeight": value } } })
        })
        .is("search.vector_weight", values([0.1, 0.2, 0.3]), |config| {
            config.search.tuning.vector_weight.into()
        }),
        row(&["textWeight"], Search, |value| {
            json!({ "query": { "hybrid": { "textWeight": value } } })
        })
        .is("search.text_weight", values([0.1, 0.2, 0.3]), |config| {
            config.search.tuning.text_weight.into()
        }),
        row(&["candidateMultiplier"], Search, |value| {
            json!({ "query": { "hybrid": { "candidateMultiplier": value } } })
        })
        .is("search.candidate_multiplier", values([5, 6, 7]), |config| {
            config.search.tuning.candidate_multiplier.into()
        }),
        row(&["chunking"], Search, |value| json!({ "chunking": { "tokens": value } }))
            .leaf("tokens")
            .is("search.chunk_tokens", values([100, 200, 300]), |config| {
                config.search.tuning.chunk_tokens.into()
            }),
        row(&["chunking"], Search, |value| json!({ "chunking": { "overlap": value } }))
            .leaf("overlap")
            .is("search.chunk_overlap", values([10, 20, 30]), |config| {
                config.search.tuning.chunk_overlap.into()
            }),
        row(&["hybrid.mmr"], Search, |value| {
            json!({ "query": { "hybrid": { "mmr": { "enabled": true, "lambda": value } } } })
        })
        .leaf("lambda")
        .is("search.diversity", values([0.1, 0.2, 0.3]), |config| config.search.diversity.into()),
        row(&["hybrid.temporalDecay"], Search, |value| {
            let decay = json!({ "enabled": true, "halfLifeDays": value });
            json!({ "query": { "hybrid": { "temporalDecay": decay } } })
        })
        .leaf("halfLifeDays")
        .is("search.recency_days", values([5, 6, 7]), |config| config.search.recency_days.into()),
        row(&["memory.citations"], MEMORY, |value| json!({ "citations": value })).is(
            "search.citations",
            ["auto", "off", "off", "on"].map(Value::from),
            |config| config.search.citations.as_str().into(),
        ),
        row(&["compaction.memoryFlush"], COMPACTION, |value| {
            json!({ "memoryFlush": { "enabled": value } })
        })
        .leaf("enabled")
        .is("flush.enabled", switch(true), |config| config.flush.enabled.into()),
        row(&["compaction.memoryFlush"], COMPACTION, |value| {
            json!({ "memoryFlush": { "softThresholdTokens": value } })
        })
        .leaf("softThresholdTokens")
        .is("flush.soft_tokens", [4000, 1, 1, 3].map(Value::from), |config| {
            config.flush.soft_tokens.into()
        }),
        row(&["compaction.memoryFlush"], COMPACTION, |value| {
            json!({ "memoryFlush": { "forceFlushTranscriptBytes": value } })
        })
        .leaf("forceFlushTranscriptBytes")
        .is("flush.transcript_bytes", [2_097_152, 1, 1, 3].map(Value::from), |config| {
            config.flush.transcript_bytes.into()
        }),
        row(&["compaction.memoryFlush"], COMPACTION, |value| {
            json!({ "memoryFlush": { "prompt": value } })
        })
        .leaf("prompt")
        .is("flush.prompt", values(["one", "one", "three"]), |config| {
            config.flush.prompt.clone().into()
        }),
        row(&["compaction.memoryFlush"], COMPACTION, |value| {
            json!({ "memoryFlush": { "systemPrompt": value } })
        })
        .leaf("systemPrompt")
        .is("flush.system_prompt", values(["one", "one", "three"]), |config| {
            config.flush.system_prompt.clone().into()
        }),
        row(&["reserveTokensFloor"], COMPACTION, |value| json!({ "reserveTokensFloor": value })).is(
            "flush.reserve_tokens",
            [20_000, 1, 1, 3].map(Value::from),
            |config| config.flush.reserve_tokens.into(),
        ),
        row(&["bootstrapMaxChars"], Agent, |value| json!({ "bootstrapMaxChars": value })).is(
            "context.file_chars",
            values([1000, 2000, 3000]),
            |config| config.context.file.into(),
        ),
        row(&["bootstrapTotalMaxChars"], Agent, |value| json!({ "bootstrapTotalMaxChars": value }))
            .is("context.total_chars", values([1000, 2000, 3000]), |config| {
                config.context.total.into()
            }),
        row(&["autoCapture", "memory-lancedb"], PLUGINS, |value| lancedb("autoCapture", &value)).is(
            "capture.enabled",
            switch(false),
            |config| config.capture.enabled.into(),
        ),
        row(&["autoRecall"], PLUGINS, |value| lancedb("autoRecall", &value)).is(
            "recall.enabled",
            switch(false),
            |config| config.recall.enabled.into(),
        ),
        row(&["vector_weight"], ZeroClaw, |value| json!({ "vector_weight": value })).is(
            "search.vector_weight",
            values([0.1, 0.1, 0.3]),
            |config| config.search.tuning.vector_weight.into(),
        ),
        row(&["keyword_weight"], ZeroClaw, |value| json!({ "keyword_weight": value })).is(
            "search.text_weight",
            values([0.1, 0.1, 0.3]),
            |config| config.search.tuning.text_weight.into(),
        ),
        row(&["candidate_multiplier"], ZeroClaw, |value| json!({ "candidate_multiplier": value }))
            .is("search.candidate_multiplier", values([5, 5, 7]), |config| {
                config.search.tuning.candidate_multiplier.into()
            }),
        row(&["search_mode = \"bm25\""], ZeroClaw, |_| json!({ "search_mode": "bm25" }))
            .leaf("search_mode")
            .is("embedding.embedder", values(["none", "none", "voyage"]), |config| {
                text_of(config.embedder.as_ref())
            }),
        row(&["embedding_provider", "embedding_model"], ZeroClaw, |value| {
            let name = value.as_str().unwrap().split_once(':').unwrap();
            json!({ "embedding_provider": name.0, "embedding_model": name.1 })
        })
        .is("embedding.embedder", values(["openai:a", "openai:a", "openai:c"]), |config| {
            text_of(config.embedder.as_ref())
        }),
        row(&["embedding_dimensions"], ZeroClaw, |value| {
            json!({ "embedding_provider": "openai", "embedding_dimensions": value })
        })
        .is("embedding.openai.dimensions", values([256, 256, 1024]), |config| {
            config.services.get(&Provider::OpenAi).and_then(|service| service.dimensions).into()
        }),
        row(&["auto_recall"], ZeroClaw, |value| json!({ "auto_recall": value })).is(
            "recall.enabled",
            switch(false),
            |config| config.recall.enabled.into(),
        ),
        row(&["hygiene_enabled"], ZeroClaw, |value| json!({ "hygiene_enabled": value })).is(
            "tidy.archive",
            [json!(null), json!(false), json!(false), json!(true)],
            |config| config.tidy.archive.into(),
        ),
        row(&["archive_after_days"], ZeroClaw, |value| json!({ "archive_after_days": value })).is(
            "tidy.archive_after_days",
            [7, 1, 1, 3].map(Value::from),
            |config| config.tidy.archive_after_days.into(),
        ),
        row(&["purge_after_days"], ZeroClaw, |value| json!({ "purge_after_days": value })).is(
            "tidy.purge_after_days",
            [30, 1, 1, 3].map(Value::from),
            |config| config.tidy.purge_after_days.into(),
        ),
        row(&["conversation_retention_days"], ZeroClaw, |value| {
            json!({ "conversation_retention_days": value })
        })
        .is("tidy.conversation_days", [30, 1, 1, 3].map(Value::from), |config| {
            config.tidy.conversation_days.into()
        }),
    ]
}

fn lancedb(name: &str, value: &Value) -> Value {
    json!({
        "slots": { "memory": "memory-lancedb" },
        "entries": { "memory-lancedb": { "config": { name: value } } },
    })
}

/// Settings of the page that decide no value: those that are not needed or not honoured, and places,
/// of which those of every level are searched.
const WITHOUT_VALUE: [(&[&str], Section, &str); 8] = [
    (&["extraPaths"], Search, r#"{ "extraPaths": ["notes"] }"#),
    (
        &["memory.qmd.paths", "qmd.extraCollections"],
        Once(&["memory"]),
        r#"{ "qmd": { "paths": ["x"] }, "search": { "qmd": { "extraCollections": ["y"] } } }"#,
    ),
    (&["sync"], Search, r#"{ "sync": { "watch": false } }"#),
    (&["cache"], Search, r#"{ "cache": { "enabled": false } }"#),
    (&["store"], Search, r#"{ "store": { "path": "x" } }"#),
    (&["memory.backend = \"qmd\""], Once(&["memory"]), r#"{ "backend": "qmd" }"#),
    (&["local.modelPath"], Search, r#"{ "local": { "modelPath": "x" } }"#),
    (
        &["auto_save", "snapshot_enabled"],
        ZeroClaw,
        r#"{ "auto_save": false, "snapshot_enabled": true }"#,
    ),
];

/// Puts a value below names.
fn below(names: &[&str], value: Value) -> Value {
    names.iter().rev().fold(value, |value, name| json!({ *name: value }))
}

fn merged(mut under: Value, over: Value) -> Value {
    match (&mut under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                let before = under.remove(&key).unwrap_or_default();
                under.insert(key, merged(before, value));
            }
        }
        (_, over) => return over,
    }
    under
}

/// A configuration of a runtime.
struct RuntimeConfig {
    /// For messages.
    name: &'static str,
    file: &'static str,
    text: String,
    /// Whether the value is that of one agent.
    is_of_agent: bool,
}

impl RuntimeConfig {
    /// Writes a setting of all agents, and one of an agent, wherever both may be.
    fn all(section: Section, common: &Value, own: &Value) -> Vec<Self> {
        let json = |name, value: &Value, is_of_agent| Self {
            name,
            file: ".openclaw/openclaw.json",
            text: serde_json::to_string_pretty(value).unwrap(),
            is_of_agent,
        };
        let list = |agent: Value| json!({ "agents": { "list": [merged(json!({ "id": "main" }), agent)] } });
        let entry = |agent: Value| below(&["agents", "entries", "main"], agent);
        match section {
            Search => {
                let third = below(&["agents", "defaults", "memorySearch"], common.clone());
                let ninth = below(&["memory", "search"], common.clone());
                let of_list = list(json!({ "memorySearch": own }));
                let of_entry = entry(below(&["memory", "search"], own.clone()));
                vec![
                    json("generation 3", &third, false),
                    json("top level", &below(&["memorySearch"], common.clone()), false),
                    json("generation 9", &ninth, false),
                    json("an agent of generation 3", &merged(third, of_list), true),
                    json("an agent of generation 9", &merged(ninth, of_entry), true),
                ]
            }
            Agent => {
                let common = below(&["agents", "defaults"], common.clone());
                vec![
                    json("all agents", &common, false),
                    json(
                        "an agent of generation 3",
                        &merged(common.clone(), list(own.clone())),
                        true,
                    ),
                    json("an agent of generation 9", &merged(common, entry(own.clone())), true),
                ]
            }
            Once(names) => vec![json("OpenClaw", &below(names, common.clone()), false)],
            ZeroClaw => {
                let lines = common.as_object().unwrap().iter();
                let lines: Vec<_> =
                    lines.map(|(key, value)| format!("{key} = {value}\n")).collect();
                let text = format!("[memory]\nbackend = \"markdown\"\n{}", lines.concat());
                let (name, file) = ("ZeroClaw", ".zeroclaw/config.toml");
                vec![Self { name, file, text, is_of_agent: false }]
            }
        }
    }

    fn write(&self) -> TestMemory {
        let mut memory = TestMemory::new();
        memory.agent = AgentChoice::default();
        memory.write_home(self.file, &self.text);
        let folder = self.file.split('/').next().unwrap();
        memory.write_home(
            &format!("{folder}/workspace/MEMORY.md"),
            "# Memory\n\nThe gate is teal.\n",
        );
        memory
    }

    /// Returns the line with a name. That of an agent stands after or before that of all agents,
    /// and has the value of the agent.
    fn lines_of(&self, leaf: &str) -> Vec<usize> {
        let is_leaf = |line: &str| {
            let line = line.trim_start();
            line.starts_with(&format!("\"{leaf}\":")) || line.starts_with(&format!("{leaf} ="))
        };
        let lines = self.text.lines().enumerate();
        lines.filter(|(_, line)| is_leaf(line)).map(|(at, _)| at + 1).collect()
    }
}

fn config(memory: &TestMemory) -> Config {
    let machine = memory.host.machine().unwrap();
    let chosen = memory.agent.choose_by_files(&machine).unwrap();
    Config::of_agent(chosen.runtime, &chosen.agent, &machine, &memory.host).unwrap()
}

fn explained(memory: &TestMemory, key: &str) -> ExplainedSetting {
    let request = ExplainRequest { key: Some(key.to_owned()), agent: memory.agent.clone() };
    let settings = explain(&request, &memory.host).unwrap().settings;
    settings.into_iter().find(|setting| setting.key == key).unwrap()
}

/// Writes the user's config with a setting on its fourth line.
fn write_own(memory: &TestMemory, key: &str, value: &Value) {
    let (section, name) = key.rsplit_once('.').unwrap();
    let path = anemone::config::path(&memory.host);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, format!("# mine\n\n[{section}]\n{name} = {value}\n")).unwrap();
}

fn same(one: &Value, other: &Value) -> bool {
    one == other || one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| one == other)
}

#[test]
fn each_level_of_each_setting_comes_before_the_next() {
    for row in rows() {
        let Row { key, section, leaf, read, .. } = row;
        assert!(same(&read(&Config::default()), &row.default), "{key} by default");
        let (common, own) = ((row.part)(row.runtime.clone()), (row.part)(row.agent.clone()));
        for written in RuntimeConfig::all(section, &common, &own) {
            let what = format!("{key} in {}:\n{}", written.name, written.text);
            let memory = written.write();
            let expected = if written.is_of_agent { &row.agent } else { &row.runtime };
            let value = read(&config(&memory));
            assert!(same(&value, expected), "{value} is not {expected}: {what}");
            let found = explained(&memory, key);
            assert!(same(&found.value, expected), "{found:?}: {what}");
            assert_eq!(found.from, SettingOrigin::Runtime, "{what}");
            assert_eq!(found.file.as_deref(), Some(&*memory.home(written.file)), "{what}");
            let line = found.line.unwrap();
            assert!(written.lines_of(leaf).contains(&line), "line {line}: {what}");
            let name = found.name.unwrap();
            let is_of_agent =
                name.starts_with("agents.list[") || name.starts_with("agents.entries.");
            assert_eq!(is_of_agent, written.is_of_agent, "{name}: {what}");

            write_own(&memory, key, &row.own);
            let value = read(&config(&memory));
            assert!(same(&value, &row.own), "{value} is not {}: {what}", row.own);
            let found = explained(&memory, key);
            assert!(same(&found.value, &row.own), "{found:?}: {what}");
            assert_eq!((found.from, found.line), (SettingOrigin::Config, Some(4)), "{what}");
            assert_eq!(found.file.as_deref(), Some(&*anemone::config::path(&memory.host)));
            assert!(!found.others.is_empty(), "{what}");
        }
    }
}

#[test]
fn settings_without_a_value_are_explained_with_a_reason() {
    for (names, section, text) in WITHOUT_VALUE {
        let value: Value = serde_json::from_str(text).unwrap();
        for written in RuntimeConfig::all(section, &value, &value) {
            let memory = written.write();
            assert_eq!(config(&memory), Config::default(), "{names:?} in {}", written.name);
            let request = ExplainRequest { key: None, agent: memory.agent.clone() };
            let settings = explain(&request, &memory.host).unwrap().settings;
            let reasons = settings.iter().filter_map(|setting| setting.note);
            let others = settings.iter().flat_map(|setting| &setting.others);
            let reasons = reasons.chain(others.map(|other| other.reason));
            assert!(reasons.count() > 0, "{names:?} in {}", written.name);
        }
    }
}

#[test]
fn every_setting_of_the_page_has_a_row() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md");
    let page = fs_err::read_to_string(page).unwrap();
    let cells = page.lines().filter(|line| line.starts_with("| `"));
    let cells = cells.filter_map(|line| line.split('|').nth(1));
    let documented: BTreeSet<String> = cells
        .flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    assert!(documented.len() > 30, "{documented:?}");
    let tested: Vec<&str> = rows().iter().flat_map(|row| row.names).copied().collect();
    let tested: BTreeSet<String> = tested
        .into_iter()
        .chain(WITHOUT_VALUE.iter().flat_map(|(names, ..)| names.iter().copied()))
        .map(str::to_owned)
        .collect();
    let missing: Vec<_> = documented.symmetric_difference(&tested).collect();
    assert!(missing.is_empty(), "in the page or in the tests only: {missing:?}");
}

/// An argument of a search: how it is given, and how the value that counts is read.
type Argument = (&'static str, fn(&mut SearchRequest), fn(&SearchRequest) -> Value, Value);

#[test]
fn an_argument_comes_before_all_settings() {
    let memory = RuntimeConfig::all(
        Search,
        &json!({
            "query": { "maxResults": 3, "minScore": 0.1, "hybrid": {
                "vectorWeight": 0.1, "textWeight": 0.1, "candidateMultiplier": 5,
                "mmr": { "enabled": true, "lambda": 0.1 },
                "temporalDecay": { "enabled": true, "halfLifeDays": 5 } } },
            "chunking": { "tokens": 100, "overlap": 10 },
        }),
        &json!({}),
    )[0]
    .write();
    let profile = ranking_profiles().find(|profile| profile.name() == "openclaw-2026.3").unwrap();
    let arguments: [Argument; 8] = [
        ("limit", |request| request.limit = Some(9), |request| request.limit.into(), json!(9)),
        (
            "min_score",
            |request| request.ranking.min_score = Some(0.9),
            |request| request.ranking.min_score.into(),
            json!(0.9),
        ),
        (
            "diversity",
            |request| request.ranking.diversity = Some(0.9),
            |request| request.ranking.diversity.into(),
            json!(0.9),
        ),
        (
            "recency_days",
            |request| request.ranking.recency = Some(9.0),
            |request| request.ranking.recency.into(),
            json!(9.0),
        ),
        (
            "vector_weight",
            |request| request.ranking.tuning.vector_weight = Some(0.9),
            |request| request.ranking.tuning.vector_weight.into(),
            json!(0.9),
        ),
        (
            "text_weight",
            |request| request.ranking.tuning.text_weight = Some(0.9),
            |request| request.ranking.tuning.text_weight.into(),
            json!(0.9),
        ),
        (
            "candidate_multiplier",
            |request| request.ranking.tuning.candidate_multiplier = Some(9),
            |request| request.ranking.tuning.candidate_multiplier.into(),
            json!(9),
        ),
        (
            "chunk_tokens",
            |request| request.ranking.tuning.chunk_tokens = Some(900),
            |request| request.ranking.tuning.chunk_tokens.into(),
            json!(900),
        ),
    ];
    let machine = memory.host.machine().unwrap();
    let target = memory.target().find(&machine, &memory.host).unwrap();
    for (name, give, read, given) in arguments {
        let mut request = SearchRequest::new("gate", memory.target());
        request.ranking.profile = RankingChoice::Other(profile);
        let of_runtime = read(&request.configured(&target, &memory.host));
        assert!(!of_runtime.is_null() && of_runtime != given, "{name}: {of_runtime}");
        let own = if name == "diversity" || name.contains("weight") || name == "min_score" {
            json!(0.5)
        } else {
            json!(20)
        };
        write_own(&memory, &format!("search.{name}"), &own);
        let of_own = read(&request.configured(&target, &memory.host));
        assert!(same(&of_own, &own), "{name}: {of_own}");
        give(&mut request);
        assert_eq!(read(&request.configured(&target, &memory.host)), given, "{name}");
    }
    assert_eq!(Citations::Off.or(Citations::On), Citations::Off, "and so do citations");
}
