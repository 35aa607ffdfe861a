//! What `openclaw.json` says about memory, in the names of both generations.
//!
//! | section | where |
//! |---|---|
//! | search | `agents.entries.<id>.memory.search`, `agents.list[].memorySearch`, `memory.search`, `agents.defaults.memorySearch`, `memorySearch` |
//! | flush | `agents.defaults.compaction` |
//! | context | `agents.entries.<id>`, `agents.list[]`, `agents.defaults` |
//! | backend, citations | `memory` |
//! | plugins | `plugins` |

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::config::{Config, agent_id, resolve};
use crate::kit::connect::json_file::{JsonLines, JsonStep};
use crate::kit::{
    ExtraPlace, FoundAgent, Machine, RuntimeSetting, RuntimeSettings, SettingKey, SettingKind,
    SettingRule, SettingTable, SettingUse, SettingValue, is_local_url, rule,
};

use SettingKind::{Bool, Bytes, Count, Positive, Share, Text, Texts};
use SettingUse::{Ignored, InProfile, NotNeeded, Used};

/// The weight of relevance where similar hits are avoided and nothing else is said.
const USUAL_LAMBDA: f64 = 0.7;
/// Days after which age counts half where nothing else is said.
const USUAL_HALF_LIFE: f64 = 30.0;
/// The plugin that keeps memories in LanceDB.
const LANCEDB: &str = "memory-lancedb";

const ALWAYS_FRESH: SettingUse =
    NotNeeded("every search looks at the current files first, so there is nothing to schedule");
const PLACES: SettingUse =
    NotNeeded("these places are searched, whatever other settings name besides");
const OWN_INDEX: SettingUse = NotNeeded("Anemone keeps an index of its own");
const GGUF: SettingUse =
    Ignored("Anemone does not read GGUF models; its built-in model compares meanings instead");

/// The settings of a search.
const SEARCH: &[SettingRule] = &[
    rule("enabled", Some(SettingKey::SearchEnabled), Bool, "true", Used),
    rule("sources", Some(SettingKey::SearchSessions), Texts, "[\"memory\"]", Used),
    rule(SESSION_MEMORY, Some(SettingKey::SearchSessions), Bool, "false", Used),
    rule(EXTRA_PATHS, Some(SettingKey::SearchExtraPaths), Texts, "[]", PLACES),
    rule("provider", Some(SettingKey::Embedder), Text, "\"auto\"", Used),
    rule("model", Some(SettingKey::Embedder), Text, "", Used),
    rule("fallback", Some(SettingKey::EmbedderFallback), Text, "\"none\"", Used),
    rule("outputDimensionality", Some(SettingKey::EmbedderDimensions), Count, "", Used),
    rule("local.modelPath", Some(SettingKey::Embedder), Text, "", GGUF),
    rule(ADDRESS, Some(SettingKey::EmbedderUrl), Text, "", Used),
    rule("chunking.tokens", Some(SettingKey::SearchChunkTokens), Count, "400", InProfile),
    rule("chunking.overlap", Some(SettingKey::SearchChunkOverlap), Count, "80", InProfile),
    rule("query.maxResults", Some(SettingKey::SearchLimit), Count, "6", Used),
    rule("query.minScore", Some(SettingKey::SearchMinScore), Share, "0.35", InProfile),
    rule(
        "query.hybrid.enabled",
        None,
        Bool,
        "true",
        Ignored("words always count; `--profile` with `search.text_weight = 0` ranks by meaning"),
    ),
    rule(
        "query.hybrid.vectorWeight",
        Some(SettingKey::SearchVectorWeight),
        Share,
        "0.7",
        InProfile,
    ),
    rule("query.hybrid.textWeight", Some(SettingKey::SearchTextWeight), Share, "0.3", InProfile),
    rule(
        "query.hybrid.candidateMultiplier",
        Some(SettingKey::SearchCandidateMultiplier),
        Positive,
        "4",
        InProfile,
    ),
    rule(MMR, Some(SettingKey::SearchDiversity), Bool, "false", Used),
    rule(LAMBDA, Some(SettingKey::SearchDiversity), Share, "0.7", Used),
    rule(DECAY, Some(SettingKey::SearchRecencyDays), Bool, "false", Used),
    rule(HALF_LIFE, Some(SettingKey::SearchRecencyDays), Positive, "30", Used),
    rule(
        "cache.enabled",
        None,
        Bool,
        "true",
        NotNeeded("vectors are always kept by text, and a model change never sends a text twice"),
    ),
    rule(
        "cache.maxEntries",
        None,
        Count,
        "50000",
        NotNeeded("the cache holds the texts of the index and no others"),
    ),
    rule("sync.onSessionStart", None, Bool, "true", ALWAYS_FRESH),
    rule("sync.onSearch", None, Bool, "true", ALWAYS_FRESH),
    rule("sync.watch", None, Bool, "true", ALWAYS_FRESH),
    rule("sync.watchDebounceMs", None, Count, "1500", ALWAYS_FRESH),
    rule("sync.intervalMinutes", None, Count, "0", ALWAYS_FRESH),
    rule("sync.sessions.deltaBytes", None, Bytes, "100000", ALWAYS_FRESH),
    rule("sync.sessions.deltaMessages", None, Count, "50", ALWAYS_FRESH),
    rule("store.driver", None, Text, "\"sqlite\"", OWN_INDEX),
    rule("store.path", None, Text, "", OWN_INDEX),
    rule(
        "store.vector.enabled",
        None,
        Bool,
        "true",
        NotNeeded("vectors are compared without an extension of the database, always fast"),
    ),
    rule(
        "store.fts.tokenizer",
        None,
        Text,
        "\"unicode61\"",
        NotNeeded("words of all languages are found, also within runs of Chinese and Japanese"),
    ),
    rule("multimodal.enabled", None, Bool, "false", Ignored("pictures and sound are not searched")),
    rule(QMD_COLLECTIONS, Some(SettingKey::SearchExtraPaths), Texts, "[]", PLACES),
];

/// Where the texts of a service go.
const ADDRESS: &str = "remote.baseUrl";
const EXTRA_PATHS: &str = "extraPaths";
const QMD_COLLECTIONS: &str = "qmd.extraCollections";
const SESSION_MEMORY: &str = "experimental.sessionMemory";
const MMR: &str = "query.hybrid.mmr.enabled";
const LAMBDA: &str = "query.hybrid.mmr.lambda";
const DECAY: &str = "query.hybrid.temporalDecay.enabled";
const HALF_LIFE: &str = "query.hybrid.temporalDecay.halfLifeDays";

/// The settings of a compaction.
const COMPACTION: &[SettingRule] = &[
    rule("memoryFlush.enabled", Some(SettingKey::FlushEnabled), Bool, "true", Used),
    rule("memoryFlush.softThresholdTokens", Some(SettingKey::FlushSoftTokens), Count, "4000", Used),
    rule(
        "memoryFlush.forceFlushTranscriptBytes",
        Some(SettingKey::FlushTranscriptBytes),
        Bytes,
        "2097152",
        Used,
    ),
    rule("memoryFlush.prompt", Some(SettingKey::FlushPrompt), Text, "", Used),
    rule("memoryFlush.systemPrompt", Some(SettingKey::FlushSystemPrompt), Text, "", Used),
    rule(
        "memoryFlush.model",
        None,
        Text,
        "",
        NotNeeded("the agent's own model writes the notes; [chat] names another one"),
    ),
    rule("reserveTokensFloor", Some(SettingKey::FlushReserveTokens), Count, "20000", Used),
];

/// The settings of what a session sees.
const BOOTSTRAP: &[SettingRule] = &[
    // OpenClaw takes its usual limit where one is 0.
    rule("bootstrapMaxChars", Some(SettingKey::ContextFileChars), Positive, "", Used),
    rule("bootstrapTotalMaxChars", Some(SettingKey::ContextTotalChars), Positive, "", Used),
];

const QMD_SESSIONS: &str = "qmd.sessions.enabled";
const QMD_PATHS: &str = "qmd.paths";

/// The settings of the memory as a whole.
const MEMORY: &[SettingRule] = &[
    rule(
        "backend",
        None,
        Text,
        "\"builtin\"",
        Ignored("Anemone searches the same files with its own index, not with QMD"),
    ),
    rule("citations", Some(SettingKey::SearchCitations), Text, "\"auto\"", Used),
    rule(QMD_SESSIONS, Some(SettingKey::SearchSessions), Bool, "false", Used),
    rule(QMD_PATHS, Some(SettingKey::SearchExtraPaths), Texts, "[]", PLACES),
];

const SLOT: &str = "slots.memory";
const AUTO_CAPTURE: &str = "entries.memory-lancedb.config.autoCapture";
const AUTO_RECALL: &str = "entries.memory-lancedb.config.autoRecall";
const LANCEDB_ENABLED: &str = "entries.memory-lancedb.enabled";
const OF_PLUGIN: SettingUse =
    NotNeeded("the plugin's vectors are its own; memories are searched by their texts");

/// The settings of plugins.
const PLUGINS: &[SettingRule] = &[
    rule(SLOT, Some(SettingKey::SearchEnabled), Text, "\"memory-core\"", Used),
    rule(LANCEDB_ENABLED, None, Bool, "true", NotNeeded("plugins.slots.memory decides")),
    rule(AUTO_CAPTURE, Some(SettingKey::CaptureEnabled), Bool, "", Used),
    rule(AUTO_RECALL, Some(SettingKey::RecallEnabled), Bool, "", Used),
    rule("entries.memory-lancedb.config.embedding.provider", None, Text, "", OF_PLUGIN),
    rule("entries.memory-lancedb.config.embedding.model", None, Text, "", OF_PLUGIN),
    rule("entries.memory-lancedb.config.embedding.dimensions", None, Count, "", OF_PLUGIN),
];

/// Where settings are that are not those of one agent, the most important section first.
const TABLES: &[SettingTable] = &[
    SettingTable { section: &["memory", "search"], rules: SEARCH },
    SettingTable { section: &["agents", "defaults", "memorySearch"], rules: SEARCH },
    SettingTable { section: &["memorySearch"], rules: SEARCH },
    SettingTable { section: &["agents", "defaults", "compaction"], rules: COMPACTION },
    SettingTable { section: &["agents", "defaults"], rules: BOOTSTRAP },
    SettingTable { section: &["memory"], rules: MEMORY },
    SettingTable { section: &["plugins"], rules: PLUGINS },
];

/// The settings that a configuration has, before it is known which agent is meant.
#[derive(Clone, Debug, Default)]
pub(super) struct ConfiguredSettings {
    /// Those of all agents.
    all: Vec<RuntimeSetting>,
    /// Those of one agent, by its id.
    own: BTreeMap<String, Vec<RuntimeSetting>>,
}

/// A file of a configuration.
pub(super) struct ConfigSource {
    /// Where it is included; empty for the configuration itself.
    pub(super) prefix: Vec<JsonStep>,
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// Returns what a configuration says about the memory of an agent.
pub(super) fn of(machine: &Machine, agent: &FoundAgent) -> RuntimeSettings {
    let config = agent.config.as_ref().and_then(|file| Config::of(machine, file));
    let Some(config) = config else { return RuntimeSettings::empty(TABLES) };
    let mut found = config.settings.of_agent(&agent_id(&agent.alias));
    found.unreadable.clone_from(&config.unreadable);
    let problems = place_problems(&found, machine, agent);
    found.settings.extend(problems);
    // What cannot be read may say where texts go.
    if !config.oddities.is_empty() && names_a_service(&found) {
        let reason = Ignored("a part of the configuration cannot be read, so no service is used");
        found.decide("provider", None, reason);
        found.decide("fallback", None, reason);
    }
    found
}

/// Names the places to search that cannot be searched.
fn place_problems(
    found: &RuntimeSettings,
    machine: &Machine,
    agent: &FoundAgent,
) -> Vec<RuntimeSetting> {
    let mut problems = Vec::new();
    for setting in found.settings.iter().filter(|setting| setting.verdict == PLACES) {
        let Some(SettingValue::List(texts)) = &setting.value else { continue };
        for (index, text) in texts.iter().enumerate() {
            let path = resolve(machine, &agent.workspace, text.trim());
            let place = ExtraPlace { path, pattern: None, redacted: false };
            let Some(problem) = place.problem(&machine.home, &agent.workspace) else { continue };
            let (file, text) = (setting.file.clone(), text.clone());
            let name = &setting.name;
            problems.push(RuntimeSetting::of_place(name, index, text, problem, file, setting.line));
        }
    }
    problems
}

/// Whether texts would go to a service.
fn names_a_service(found: &RuntimeSettings) -> bool {
    ["provider", "fallback"].iter().any(|name| {
        let name = found.text(name).map(|name| name.trim().to_ascii_lowercase());
        name.is_some_and(|name| name == "auto" || SERVICES.contains(&&*name))
    })
}

impl ConfiguredSettings {
    /// Takes the settings from a configuration. `sources` are its files in the order in which they
    /// override each other.
    pub(super) fn of(value: &Value, sources: &[ConfigSource], most_agents: usize) -> Self {
        let lines: Vec<_> = sources.iter().map(|source| JsonLines::of(&source.text)).collect();
        let reader = SettingReader { sources, lines };
        let mut found = Self::default();
        for SettingTable { section, rules } in TABLES {
            reader.read_at(value, &[], &members(section), rules, &mut found.all);
        }
        let entries = value.pointer("/agents/entries").and_then(Value::as_object);
        for (id, entry) in entries.into_iter().flatten().take(most_agents) {
            let steps = members(&["agents", "entries", id]);
            found.read_agent(&reader, id, entry, &steps);
        }
        let list = value.pointer("/agents/list").and_then(Value::as_array);
        for entry in list.into_iter().flatten().take(most_agents) {
            let Some(id) = entry.get("id").and_then(Value::as_str) else { continue };
            let mut steps = members(&["agents", "list"]);
            steps.push(JsonStep::Element(id.to_owned()));
            found.read_agent(&reader, id, entry, &steps);
        }
        found
    }

    fn read_agent(
        &mut self,
        reader: &SettingReader<'_>,
        id: &str,
        entry: &Value,
        steps: &[JsonStep],
    ) {
        let id = agent_id(id);
        // The first entry of an agent counts.
        if self.own.contains_key(&id) {
            return;
        }
        let mut found = Vec::new();
        for (below, rules) in
            [(&["memory", "search"][..], SEARCH), (&["memorySearch"], SEARCH), (&[], BOOTSTRAP)]
        {
            let below = members(below);
            reader.read_at(entry, steps, &below, rules, &mut found);
        }
        self.own.insert(id, found);
    }

    fn of_agent(&self, id: &str) -> RuntimeSettings {
        let own = self.own.get(id).map(Vec::as_slice).unwrap_or_default();
        let mut found = RuntimeSettings::empty(TABLES);
        found.settings = [own, &self.all].concat();
        decide_sessions(&mut found);
        decide_embedder(&mut found);
        decide_optional(&mut found, &DIVERSITY);
        decide_optional(&mut found, &RECENCY);
        decide_plugin(&mut found);
        decide_words(&mut found);
        found
    }
}

fn members(names: &[&str]) -> Vec<JsonStep> {
    names.iter().map(|name| JsonStep::Member((*name).to_owned())).collect()
}

struct SettingReader<'a> {
    sources: &'a [ConfigSource],
    lines: Vec<Option<JsonLines<'a>>>,
}

impl SettingReader<'_> {
    /// Reads the settings of a section below a value that is at `before`.
    fn read_at(
        &self,
        value: &Value,
        before: &[JsonStep],
        below: &[JsonStep],
        rules: &[SettingRule],
        found: &mut Vec<RuntimeSetting>,
    ) {
        let section = below.iter().try_fold(value, |value, step| match step {
            JsonStep::Member(key) => value.get(key),
            JsonStep::Element(_) => None,
        });
        let Some(section) = section else { return };
        for rule in rules {
            let below_section = rule.path.split('.');
            let value = below_section.clone().try_fold(section, |value, key| value.get(key));
            let is_hidden = rule.path == ADDRESS && hides_an_address(section);
            let value = value.filter(|value| !value.is_null());
            let Some(value) = value.or(is_hidden.then_some(&Value::Null)) else { continue };
            let rest = below_section.map(|key| JsonStep::Member(key.to_owned()));
            let path: Vec<_> = before.iter().chain(below).cloned().chain(rest).collect();
            let (file, line) = self.place_of(&path);
            found.push(rule.with(value, name_of(&path), file, line));
        }
    }

    /// Returns the file that has the last word about a value, and its line there.
    fn place_of(&self, path: &[JsonStep]) -> (PathBuf, Option<usize>) {
        let there = self.sources.iter().zip(&self.lines).rev().find_map(|(source, lines)| {
            let rest = path.strip_prefix(&source.prefix[..])?;
            Some((source.path.clone(), Some(lines.as_ref()?.line_of(rest)?)))
        });
        let whole = || self.sources.last().map(|source| source.path.clone()).unwrap_or_default();
        there.unwrap_or_else(|| (whole(), None))
    }
}

/// Whether something in the place of an address cannot be read as one: in another case, in another
/// form, or in a file that is not there. A key alone leaves the service's usual address.
fn hides_an_address(section: &Value) -> bool {
    match section.get("remote") {
        None => false,
        Some(Value::Object(remote)) => {
            let is_address =
                |key: &String| key.eq_ignore_ascii_case("baseUrl") || key == "$include";
            remote.is_empty() || remote.keys().any(is_address)
        }
        Some(_) => true,
    }
}

/// Names a setting as people do: `agents.list[ops].memorySearch.enabled`.
fn name_of(path: &[JsonStep]) -> String {
    let mut name = String::new();
    for step in path {
        match step {
            JsonStep::Member(key) if name.is_empty() => name.push_str(key),
            JsonStep::Member(key) => name.extend([".", key]),
            JsonStep::Element(id) => name.extend(["[", id, "]"]),
        }
    }
    name
}

/// Whether conversations are searched takes two settings, or one of another section. In gen-9 the
/// sources alone say it.
fn decide_sessions(found: &mut RuntimeSettings) {
    let is_switched_on = found.truth(SESSION_MEMORY) == Some(true);
    let sources = found.first("sources").and_then(|setting| match setting.value.as_ref()? {
        SettingValue::List(sources) => {
            let is_new = setting.name.ends_with("memory.search.sources");
            Some((sources.iter().any(|source| source == "sessions"), is_new))
        }
        _ => None,
    });
    if let Some((has_sessions, is_new)) = sources {
        let searched = has_sessions && (is_switched_on || is_new);
        let verdict = if has_sessions && !searched {
            Ignored("conversations are searched if experimental.sessionMemory is true, too")
        } else {
            Used
        };
        found.decide("sources", Some(SettingValue::Bool(searched)), verdict);
        found.prefer("sources");
    } else if is_switched_on {
        found.prefer(SESSION_MEMORY);
    } else if found.truth(QMD_SESSIONS) == Some(true) {
        found.prefer(QMD_SESSIONS);
    }
}

/// Providers with the names of their services; the first ones in the order of `auto`.
const SERVICES: [&str; 5] = ["openai", "gemini", "voyage", "mistral", "ollama"];

/// Decides what compares meanings: provider and model are one name.
fn decide_embedder(found: &mut RuntimeSettings) {
    let model = found.text("model").map(str::to_owned);
    let has_model_file = found.first("local.modelPath").is_some();
    let named = |name: &str| Some(SettingValue::Text(name.to_owned()));
    let provider = found.text("provider").map(|name| name.trim().to_ascii_lowercase());
    let (means, verdict, of_model) = match provider.as_deref() {
        None => (None, Used, NotNeeded("no provider is named, so the built-in model is used")),
        Some("none") => (named("none"), Used, NotNeeded("the provider is none")),
        // The first of the chain is a local model where one is configured.
        Some("auto") if has_model_file => {
            (named("builtin"), Used, NotNeeded("the built-in model is used"))
        }
        Some("auto") => (named("auto"), Used, NotNeeded("the provider is chosen by its key")),
        // The model file says it.
        Some("local") if has_model_file => {
            let reason = NotNeeded("the built-in model is the local one");
            (None, reason, NotNeeded("the built-in model is used"))
        }
        Some("local") => (None, GGUF, NotNeeded("the built-in model is used")),
        Some(name) if SERVICES.contains(&name) => {
            let model = model.as_deref().filter(|model| is_model(model));
            let text = model.map_or_else(|| name.to_owned(), |model| format!("{name}:{model}"));
            (named(&text), Used, NotNeeded("it is part of the provider's name"))
        }
        Some(_) => (
            None,
            Ignored("Anemone knows no such service; the built-in model is used"),
            NotNeeded("the built-in model is used"),
        ),
    };
    found.decide("provider", means, verdict);
    found.decide("model", None, of_model);
    let fallback = found.text("fallback").map(|name| name.trim().to_ascii_lowercase());
    let (means, verdict) = match fallback.as_deref() {
        Some("local") => (named("builtin"), Used),
        // Without a fallback words are compared, and here the built-in model costs nothing.
        Some("none") => (None, NotNeeded("the built-in model is the fallback and costs nothing")),
        Some(name) if SERVICES.contains(&name) => (named(name), Used),
        _ => (None, Ignored("Anemone knows no such service")),
    };
    found.decide("fallback", means, verdict);
    // An address that cannot be read is one, too.
    let address = found.settings.iter().find(|setting| setting.path == ADDRESS);
    let is_elsewhere = address.is_some_and(
        |setting| !matches!(&setting.value, Some(SettingValue::Text(url)) if is_local_url(url)),
    );
    if is_elsewhere {
        // The texts are for that address, and for no other, also where it cannot be read.
        let reason = "its address is not used, so no service is; see remote.baseUrl";
        found.decide("provider", None, Ignored(reason));
        if names_a_service(found) {
            found.decide("fallback", None, Ignored(reason));
        }
        let reason =
            "keys only go to addresses that you configure for Anemone: set url of the service";
        found.decide(ADDRESS, None, Ignored(reason));
    } else {
        let value = found.first(ADDRESS).and_then(|setting| setting.value.clone());
        found.decide(ADDRESS, value, Used);
    }
}

fn is_model(text: &str) -> bool {
    !text.is_empty()
        && text.chars().count() <= 200
        && !text.chars().any(|c| c.is_whitespace() || c.is_control())
}

/// A number that counts only where it is switched on.
struct OptionalNumber {
    switch: &'static str,
    number: &'static str,
    /// The number where only the switch is set.
    usual: f64,
    /// Why the number does not count.
    off: &'static str,
    /// Why the switch itself does not count.
    on: &'static str,
}

const DIVERSITY: OptionalNumber = OptionalNumber {
    switch: MMR,
    number: LAMBDA,
    usual: USUAL_LAMBDA,
    off: "it counts only if query.hybrid.mmr.enabled is true",
    on: "it makes query.hybrid.mmr.lambda count",
};

const RECENCY: OptionalNumber = OptionalNumber {
    switch: DECAY,
    number: HALF_LIFE,
    usual: USUAL_HALF_LIFE,
    off: "it counts only if query.hybrid.temporalDecay.enabled is true",
    on: "it makes query.hybrid.temporalDecay.halfLifeDays count",
};

/// Decides a number that counts only where it is switched on.
fn decide_optional(found: &mut RuntimeSettings, optional: &OptionalNumber) {
    let OptionalNumber { switch, number, usual, off, on } = *optional;
    if found.truth(switch) != Some(true) {
        found.decide(switch, None, NotNeeded("off is what happens without it"));
        found.decide(number, None, NotNeeded(off));
        return;
    }
    match found.first(number).and_then(|setting| setting.value.clone()) {
        Some(value) => {
            found.decide(switch, None, NotNeeded(on));
            found.decide(number, value, Used);
        }
        None => found.decide(switch, SettingValue::Number(usual), Used),
    }
}

/// Decides what the choice of a memory plugin means.
fn decide_plugin(found: &mut RuntimeSettings) {
    let slot = found.text(SLOT).map(|name| name.trim().to_ascii_lowercase());
    let is_lancedb =
        slot.as_deref() == Some(LANCEDB) && found.truth(LANCEDB_ENABLED) != Some(false);
    match slot.as_deref() {
        // Without a memory plugin the agent has no memory tools.
        Some("none") => {
            found.decide(SLOT, Some(SettingValue::Bool(false)), Used);
            found.prefer(SLOT);
        }
        Some("memory-core" | LANCEDB) => {
            found.decide(SLOT, None, NotNeeded("Anemone reads the memories of either plugin"));
        }
        _ => found.decide(SLOT, None, Ignored("Anemone does not know the memory of this plugin")),
    }
    if !is_lancedb {
        for path in [AUTO_CAPTURE, AUTO_RECALL] {
            found.decide(path, None, NotNeeded("the plugin is not the agent's memory"));
        }
    }
}

/// Refuses words that have no meaning here.
fn decide_words(found: &mut RuntimeSettings) {
    let backend = found.text("backend").map(|name| name.trim().to_ascii_lowercase());
    if backend.as_deref() == Some("builtin") {
        found.decide("backend", None, OWN_INDEX);
    }
    if backend.as_deref() != Some("qmd") {
        for path in [QMD_PATHS, QMD_COLLECTIONS] {
            found.decide(path, None, NotNeeded("it counts only if memory.backend is qmd"));
        }
    }
    let citations = found.text("citations").map(|word| word.trim().to_ascii_lowercase());
    match citations {
        Some(word) if ["auto", "on", "off"].contains(&word.as_str()) => {
            found.decide("citations", Some(SettingValue::Text(word)), Used);
        }
        _ => found.decide("citations", None, Ignored("it is not auto, on or off")),
    }
}
