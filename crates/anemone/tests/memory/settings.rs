//! The configuration of an agent's runtime, and the user's own, decide what requests leave open.

use anemone::agent::AgentChoice;
use anemone::agent_memory::MemoryChoice;
use anemone::config::Config;
use anemone::context::{ContextRequest, context};
use anemone::embedder::EmbedderSetting;
use anemone::hooks::pre_compact::{FlushBy, PreCompactReport, PreCompactRequest, pre_compact};
use anemone::hooks::prompt::{PromptRequest, prompt};
use anemone::hooks::turn_end::{TurnEndRequest, turn_end};
use anemone::hooks::{ConversationChoice, HookInput};
use anemone::search::{Citations, Ranking, SearchNote, SearchReport, SourceNote};
use anemone::settings::{
    ExplainError, ExplainReport, ExplainRequest, SettingOrigin, explain, runtime_settings,
};
use anemone::statement::Statement;
use anemone::status::{Problem, StatusRequest, status};
use anemone_index::RankingChoice;
use anemone_memory::SessionKind;
use anemone_runtimes::{by_name, ranking_profiles};
use anemone_testkit::services::Service;
use serde_json::json;

use crate::support::memory::TestMemory;

const GEN3: &str = ".openclaw/openclaw.json";
const SESSION: &str = ".openclaw/agents/main/sessions/s1.jsonl";

/// An install of OpenClaw with one agent, a note and a conversation.
fn openclaw(config: &str) -> TestMemory {
    let mut memory = TestMemory::new();
    memory.agent = AgentChoice::default();
    memory.write_home(GEN3, config);
    memory.write_home(".openclaw/workspace/MEMORY.md", "# Memory\n\nThe gate is painted teal.\n");
    memory.write_home(
        SESSION,
        "{\"type\":\"session\",\"version\":3,\"id\":\"s1\",\"timestamp\":\"2026-03-01T10:00:00.000Z\"}\n\
         {\"type\":\"message\",\"id\":\"a\",\"timestamp\":\"2026-03-01T10:00:00.000Z\",\"message\":\
         {\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"The zeppelin lands at noon.\"}]}}\n",
    );
    memory
}

fn zeroclaw(config: &str) -> TestMemory {
    let mut memory = TestMemory::new();
    memory.agent = AgentChoice::default();
    memory.write_home(".zeroclaw/config.toml", config);
    memory.write_home(".zeroclaw/workspace/MEMORY.md", "# Memory\n\nThe gate is painted teal.\n");
    memory
}

/// Writes the user's own config.
fn own(memory: &TestMemory, text: &str) {
    let path = anemone::config::path(&memory.host);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

fn config(memory: &TestMemory) -> Config {
    let machine = memory.host.machine().unwrap();
    let chosen = memory.agent.choose_by_files(&machine).unwrap();
    Config::of_agent(chosen.runtime, &chosen.agent, &machine, &memory.host).unwrap()
}

fn explained(memory: &TestMemory, key: Option<&str>) -> ExplainReport {
    let request = ExplainRequest { key: key.map(str::to_owned), agent: memory.agent.clone() };
    explain(&request, &memory.host).unwrap()
}

fn ignored(report: &SearchReport) -> Vec<String> {
    let notes = report.notes.iter().filter_map(Statement::typed);
    let of_setting = notes.filter_map(|note| match note {
        SearchNote::SettingIgnored(setting) => Some(setting.name.clone()),
        _ => None,
    });
    of_setting.collect()
}

fn compact(memory: &TestMemory, tokens: u64) -> PreCompactReport {
    let request = PreCompactRequest {
        memory: MemoryChoice { agent: memory.agent.clone(), index_dir: None },
        input: HookInput::default(),
        conversation: ConversationChoice::default(),
        context_window: Some(200_000),
        tokens: Some(tokens),
        compaction_count: None,
        compacting: false,
        heartbeat: false,
        cli_provider: false,
        read_only: false,
        flush_by: FlushBy::Agent,
        chat: anemone::chat::ChatChoice::default(),
        time_zone: None,
        dry_run: true,
    };
    pre_compact(&request, &memory.host).unwrap()
}

const BOTH: &str = r#"{
  // conversations
  agents: { defaults: { memorySearch: {
    sources: ["memory", "sessions"],
    experimental: { sessionMemory: true },
  } } },
}"#;

#[test]
fn conversations_are_searched_where_the_runtime_says_so() {
    for (text, searched) in [
        (BOTH, true),
        // Either of the two alone is not enough in this generation.
        (r#"{agents:{defaults:{memorySearch:{sources:["memory","sessions"]}}}}"#, false),
        (r#"{agents:{defaults:{memorySearch:{experimental:{sessionMemory:true}}}}}"#, true),
        (
            r#"{agents:{defaults:{memorySearch:{sources:["memory"],experimental:{sessionMemory:true}}}}}"#,
            false,
        ),
        (r#"{memory:{qmd:{sessions:{enabled:true}}}}"#, true),
        (r#"{memory:{search:{sources:["memory","sessions"]}}}"#, true),
        // One agent's own settings come before those of all.
        (
            r#"{memorySearch:{sources:["sessions"],experimental:{sessionMemory:true}},
             agents:{list:[{id:"main",memorySearch:{sources:["memory"]}}]}}"#,
            false,
        ),
        ("{}", false),
        // A wrong type is a note, and no failure.
        (r#"{memorySearch:{sources:"sessions",experimental:true}}"#, false),
        (r#"{memorySearch:[], agents:{list:7,entries:[]}}"#, false),
    ] {
        let memory = openclaw(text);
        let found = memory.search("zeppelin noon");
        assert_eq!(found.hits.iter().any(|hit| hit.text.contains("zeppelin")), searched, "{text}");
        let by_hand = memory.search_with("zeppelin noon", |request| request.target.sessions = true);
        assert!(by_hand.hits.iter().any(|hit| hit.text.contains("zeppelin")), "{text}");
    }
}

#[test]
fn the_users_config_comes_before_that_of_the_runtime() {
    let memory = openclaw(BOTH);
    let found = &explained(&memory, Some("search.sessions")).settings[0];
    assert_eq!((found.value.clone(), found.from), (json!(true), SettingOrigin::Runtime));
    assert_eq!(found.line, Some(4));
    assert_eq!(found.file.as_deref(), Some(&*memory.home(GEN3)));
    assert_eq!(found.name.as_deref(), Some("agents.defaults.memorySearch.sources"));
    assert_eq!(found.others[0].line, Some(5));

    own(&memory, "# mine\n[search]\nsessions = false\n");
    let found = memory.search("zeppelin noon");
    assert!(!found.hits.iter().any(|hit| hit.text.contains("zeppelin")));
    let found = &explained(&memory, Some("search.sessions")).settings[0];
    assert_eq!((found.value.clone(), found.from), (json!(false), SettingOrigin::Config));
    assert_eq!((found.line, found.others.len()), (Some(3), 2));
    // The runtime's own name finds the same setting.
    assert_eq!(explained(&memory, Some("memorySearch.sources")).settings[0], *found);

    let default = &explained(&memory, Some("flush.soft_tokens")).settings[0];
    assert_eq!((default.value.clone(), default.from), (json!(4000), SettingOrigin::Default));
    let request =
        ExplainRequest { key: Some("search.session".into()), agent: memory.agent.clone() };
    let error = explain(&request, &memory.host).unwrap_err();
    let ExplainError::UnknownSetting { nearest, .. } = error else { panic!("{error:?}") };
    assert_eq!(nearest.as_deref(), Some("search.sessions"));
}

#[test]
fn a_setting_in_an_included_file_is_found_there() {
    let memory = openclaw("{\n  memorySearch: { $include: './parts/search.json5' },\n}\n");
    let part = "// part\r\n{\r\n  query: { maxResults: 2 },\r\n}\r\n";
    memory.write_home(".openclaw/parts/search.json5", part);
    let found = &explained(&memory, Some("search.limit")).settings[0];
    assert_eq!((found.value.clone(), found.line), (json!(2), Some(3)));
    assert!(found.file.as_ref().unwrap().ends_with("parts/search.json5"), "{found:?}");
    assert_eq!(config(&memory).search.limit, Some(2));
}

#[test]
fn every_setting_of_a_search_reaches_its_place() {
    let memory = openclaw(
        r#"{ agents: { defaults: { memorySearch: { enabled: false,
            chunking: { tokens: 200, overlap: 40 },
            query: { maxResults: 3, minScore: 0.5, hybrid: { vectorWeight: 0.6, textWeight: 0.4,
              candidateMultiplier: 3, mmr: { enabled: true, lambda: 0.5 },
              temporalDecay: { enabled: true, halfLifeDays: 10 } } },
            sync: { intervalMinutes: 5, watch: true }, cache: { enabled: true },
            store: { vector: { enabled: false } } } } },
          memory: { citations: "off", backend: "qmd" } }"#,
    );
    let search = config(&memory).search;
    assert!(!search.enabled);
    assert_eq!(
        (search.limit, search.profile_min_score, search.min_score),
        (Some(3), Some(0.5), None)
    );
    assert_eq!((search.diversity, search.recency_days), (Some(0.5), Some(10.0)));
    assert_eq!((search.tuning.vector_weight, search.tuning.text_weight), (Some(0.6), Some(0.4)));
    assert_eq!(search.tuning.candidate_multiplier, Some(3));
    assert_eq!((search.tuning.chunk_tokens, search.tuning.chunk_overlap), (Some(200), Some(40)));
    assert_eq!(search.citations, Citations::Off);
    // A search by hand works, and says once what cannot be honoured.
    let first = memory.search("teal gate");
    assert!(!first.hits.is_empty());
    assert_eq!(ignored(&first), ["memory.backend"]);
    assert_eq!(ignored(&memory.search("teal gate")), [""; 0]);
    memory.write_home(GEN3, r#"{ memory: { backend: "other" } }"#);
    assert_eq!(ignored(&memory.search("teal gate")), ["memory.backend"], "another value");
    // `status` always says it.
    let seen = status(&StatusRequest::default(), &memory.host).unwrap();
    let is_said = |problem: &Problem| matches!(problem, Problem::SettingIgnored(_));
    assert!(seen.agents[0].problems.iter().filter_map(Statement::typed).any(is_said));
    assert!(!explained(&memory, Some("memory.backend")).settings.is_empty());
}

#[test]
fn the_weights_of_the_runtime_count_in_its_own_ranking() {
    let text = |least: &str| {
        format!("{{memorySearch:{{query:{{minScore:{least},hybrid:{{vectorWeight:0.2}}}}}}}}")
    };
    let profile = ranking_profiles().find(|profile| profile.name() == "openclaw-2026.3").unwrap();
    let ranked = |memory: &TestMemory| {
        memory.search_with("teal gate", |request| {
            request.ranking =
                Ranking { profile: RankingChoice::Other(profile), ..Ranking::default() };
        })
    };
    assert_eq!(ranked(&openclaw(&text("0"))).hits.len(), 1);
    assert_eq!(ranked(&openclaw(&text("1"))).hits.len(), 0, "nothing scores 1");
    // They are not those of our own ranking.
    assert_eq!(openclaw(&text("1")).search("teal gate").hits.len(), 1);
    let memory = openclaw(&text("1"));
    own(&memory, "[search]\nmin_score = 0\n");
    assert_eq!(ranked(&memory).hits.len(), 1, "the user's config comes first");
}

#[test]
fn places_of_the_users_config_are_searched_and_links_are_not_followed() {
    let memory = openclaw("{}");
    memory.write_home("notes/plan.md", "# Plan\n\nThe walrus sings.\n");
    memory.write_home("secret/hidden.md", "# Hidden\n\nThe walrus hides.\n");
    std::os::unix::fs::symlink(memory.home("secret"), memory.home("notes/link")).unwrap();
    assert!(!memory.search("walrus").hits.iter().any(|hit| hit.text.contains("walrus")));
    own(&memory, "[search]\nextra_paths = [\"~/notes\"]\n");
    let found = memory.search("walrus");
    assert!(found.hits.iter().any(|hit| hit.text.contains("sings")), "{found:?}");
    assert!(!found.hits.iter().any(|hit| hit.text.contains("hides")), "{found:?}");
}

#[test]
fn a_flush_follows_the_runtime() {
    assert!(compact(&openclaw("{}"), 180_000).flush);
    let off = openclaw(r#"{agents:{defaults:{compaction:{memoryFlush:{enabled:false}}}}}"#);
    assert_eq!(compact(&off, 180_000).reason, "switched_off");
    own(&off, "[flush]\nenabled = true\n");
    assert!(compact(&off, 180_000).flush);
    let memory = openclaw(
        r#"{agents:{defaults:{compaction:{reserveTokensFloor:50000,memoryFlush:{
            softThresholdTokens:10000,prompt:"Keep it in memory/YYYY-MM-DD.md",systemPrompt:"Be brief."}}}}}"#,
    );
    let report = compact(&memory, 140_000);
    // 200,000 - 50,000 - 10,000.
    assert_eq!((report.threshold, report.flush), (140_000, true));
    let prompt = report.prompt.unwrap();
    let today = memory.host.today();
    assert!(prompt.starts_with(&format!("Keep it in memory/{today}.md")), "{prompt}");
    assert!(prompt.contains("NO_REPLY") && prompt.contains("Current time:"), "{prompt}");
    assert!(report.system_prompt.unwrap().starts_with("Be brief."));
    let short = compact(&openclaw("{}"), 180_000).prompt.unwrap();
    assert!(short.starts_with("Pre-compaction memory flush."), "{short}");
}

#[test]
fn the_context_keeps_to_the_limits_of_the_runtime() {
    let memory = openclaw(r#"{agents:{defaults:{bootstrapMaxChars:1000}}}"#);
    memory.write_home(".openclaw/workspace/SOUL.md", "x".repeat(9_000));
    let length = |memory: &TestMemory| {
        let choice = MemoryChoice { agent: memory.agent.clone(), index_dir: None };
        let request = ContextRequest::new(choice, SessionKind::Main);
        let report = context(&request, &memory.host).unwrap();
        let soul = report.parts.iter().find(|part| part.path == "SOUL.md").unwrap();
        (soul.included_chars, soul.total_chars)
    };
    let (included, total) = length(&memory);
    assert!(included < 1_400 && total == 9_000, "{included} of {total}");
    memory.write_home(GEN3, r#"{agents:{defaults:{bootstrapTotalMaxChars:2000}}}"#);
    assert!(length(&memory).0 <= 2_000);
    // OpenClaw takes its usual limit instead of none at all.
    memory
        .write_home(GEN3, r#"{agents:{defaults:{bootstrapMaxChars:0,bootstrapTotalMaxChars:0}}}"#);
    assert_eq!(length(&memory), (9_000, 9_000));
    memory.write_home(GEN3, r#"{agents:{defaults:{bootstrapTotalMaxChars:2000}}}"#);
    own(&memory, "[context]\ntotal_chars = 60000\nfile_chars = 10000\n");
    assert_eq!(length(&memory), (9_000, 9_000));
}

#[test]
fn capture_and_recall_follow_the_plugin_that_is_the_memory() {
    let text = |slot: &str| {
        format!(
            r#"{{plugins:{{slots:{{memory:"{slot}"}},entries:{{"memory-lancedb":{{config:
                {{autoCapture:true,autoRecall:true,embedding:{{apiKey:"sk-secret",model:"m"}}}}}}}}}}}}"#
        )
    };
    let enabled = |memory: &TestMemory| {
        let choice = || MemoryChoice { agent: memory.agent.clone(), index_dir: None };
        let prompted = prompt(
            &PromptRequest {
                memory: choice(),
                input: HookInput::default(),
                message: Some("which colour has the gate?".into()),
                session: None,
                enable: false,
            },
            &memory.host,
        );
        let ended = turn_end(
            &TurnEndRequest {
                memory: choice(),
                input: HookInput::default(),
                conversation: ConversationChoice::default(),
                messages: vec!["I prefer tea to coffee.".into()],
                enable: false,
                time_zone: None,
                dry_run: true,
            },
            &memory.host,
        );
        (prompted.unwrap().enabled, ended.unwrap().enabled)
    };
    assert_eq!(enabled(&openclaw(&text("memory-lancedb"))), (true, true));
    assert_eq!(enabled(&openclaw(&text("memory-core"))), (false, false));
    assert_eq!(enabled(&openclaw("{}")), (false, false));
    let off = openclaw(&text("none"));
    assert!(!config(&off).search.enabled);
    let shown =
        serde_json::to_string(&explained(&openclaw(&text("memory-lancedb")), None)).unwrap();
    assert!(!shown.contains("sk-secret"), "{shown}");
    assert_eq!(enabled(&zeroclaw("[memory]\nauto_recall = true\n")), (true, false));
}

#[test]
fn services_are_used_where_the_runtime_names_them_and_only_then() {
    let chain = ["openai", "gemini", "voyage", "mistral"];
    let search = |text: &str| config(&openclaw(&format!("{{memorySearch:{{{text}}}}}")));
    let named = |name: &str| Some(name.parse::<EmbedderSetting>().unwrap());
    assert_eq!(search("").embedder, None);
    let auto = search("provider:'auto'");
    assert_eq!(auto.order.iter().map(ToString::to_string).collect::<Vec<_>>(), chain);
    let local = search("provider:'auto',local:{modelPath:'~/m.gguf'}");
    assert_eq!((local.embedder, local.order.len()), (named("builtin"), 0));
    let openai = search("provider:'openai',model:'text-embedding-3-large',fallback:'local'");
    assert_eq!(openai.embedder, named("openai:text-embedding-3-large"));
    assert_eq!(openai.fallback, named("builtin"));
    assert_eq!(search("provider:'none'").embedder, Some(EmbedderSetting::None));
    let gemini = search("provider:'gemini',outputDimensionality:768");
    let service = &gemini.services[&anemone_embed::Provider::Gemini];
    assert_eq!(service.dimensions, Some(768));
    // Keys do not go to an address that only the runtime names.
    let far = search("provider:'openai',remote:{baseUrl:'https://evil.example/v1'}");
    assert!(far.services.is_empty() && far.embedder.is_none(), "{far:?}");
    // Nor do they go anywhere where the address cannot be read.
    for remote in [
        "{baseUrl:5}",
        "{baseUrl:{url:'http://127.0.0.1:9'}}",
        "{baseUrl:'  '}",
        "{baseURL:'http://proxy.example'}",
        "{baseUrl:null}",
        "[{baseUrl:'http://proxy.example'}]",
        "{$include:'./gone.json5'}",
    ] {
        let hidden = search(&format!("provider:'openai',fallback:'openai',remote:{remote}"));
        assert!(hidden.services.is_empty() && hidden.embedder.is_none(), "{remote}: {hidden:?}");
        assert_eq!(hidden.fallback, None, "{remote}");
    }
    let keyed = search("provider:'openai',remote:{apiKey:'x'}");
    assert_eq!(keyed.embedder, named("openai"), "the service's own address");
    let near = search("provider:'openai',remote:{baseUrl:'http://127.0.0.1:9/v1'}");
    assert!(near.services.values().any(|service| service.url.is_some()));
    let memory = openclaw("{memorySearch:{provider:'openai'}}");
    own(&memory, "[embedding]\nembedder = \"builtin\"\n");
    assert_eq!(config(&memory).embedder, named("builtin"));
    own(&memory, "[embedding]\norder = [\"minilm\"]\n");
    assert_eq!(config(&memory).embedder, None);

    let memory = openclaw("{memorySearch:{provider:'local',local:{modelPath:'~/gemma.GGUF'}}}");
    let first = memory.search("teal gate");
    assert_eq!(first.mode.as_str(), "hybrid", "the built-in model is used");
    assert_eq!(ignored(&first), ["memorySearch.local.modelPath"]);
}

#[test]
fn zeroclaws_memory_section_counts() {
    let memory = zeroclaw(
        "[memory]\nbackend = \"markdown\"\nvector_weight = 0.6\nkeyword_weight = 0.4\n\
         auto_recall = false\nhygiene_enabled = false\narchive_after_days = 3\n\
         purge_after_days = 9\nconversation_retention_days = 5\nembedding_provider = \"openai\"\n\
         embedding_model = \"text-embedding-3-small\"\nembedding_dimensions = 512\n\
         min_relevance_score = 0.9\n",
    );
    let found = config(&memory);
    assert_eq!(found.search.tuning.vector_weight, Some(0.6));
    assert_eq!(found.search.tuning.text_weight, Some(0.4));
    assert_eq!((found.tidy.archive, found.tidy.archive_after_days), (Some(false), 3));
    assert_eq!((found.tidy.purge_after_days, found.tidy.conversation_days), (9, 5));
    assert_eq!(found.embedder, Some("openai:text-embedding-3-small".parse().unwrap()));
    assert_eq!(found.services[&anemone_embed::Provider::OpenAi].dimensions, Some(512));
    // Only their proportion counts.
    let weights = |text: &str| {
        let memory = zeroclaw(&format!("[memory]\nbackend = \"markdown\"\n{text}"));
        let tuning = config(&memory).search.tuning;
        (tuning.vector_weight.unwrap(), tuning.text_weight.unwrap())
    };
    assert_eq!(weights("vector_weight = 3.0\nkeyword_weight = 1.0\n"), (0.75, 0.25));
    let (vector, keyword) = weights("keyword_weight = 2.1\n");
    assert!((vector - 0.25).abs() < 1e-9 && (keyword - 0.75).abs() < 1e-9, "{vector} {keyword}");
    let lines = explained(&memory, Some("search.vector_weight")).settings;
    assert_eq!((lines[0].line, lines[0].from), (Some(3), SettingOrigin::Runtime));
    // What onboarding writes wants no service, and is nothing to talk about.
    let usual = zeroclaw(
        "[memory]\nbackend = \"markdown\"\nembedding_provider = \"none\"\nauto_save = true\n",
    );
    assert_eq!(config(&usual).embedder, None);
    assert_eq!(ignored(&usual.search("teal gate")), [""; 0]);
    assert_eq!(
        config(&zeroclaw("[memory]\nsearch_mode = \"bm25\"\n")).embedder,
        Some(EmbedderSetting::None)
    );
}

#[test]
fn a_folder_that_somebody_named_may_not_name_a_service() {
    let memory = TestMemory::new();
    let text = "[memory]\nembedding_provider = \"openai\"\n";
    memory.write("theirs/config.toml", text);
    memory.write("theirs/workspace/MEMORY.md", "# Memory\n\nText.\n");
    let machine = memory.host.machine().unwrap();
    let runtime = by_name("zeroclaw").unwrap();
    let agent = runtime.locate(&machine, &memory.path("theirs"), None);
    assert!(agent.config.is_some());
    let settings = runtime_settings(runtime, &agent, &machine);
    let config = Config::over(&settings, &memory.host).unwrap();
    assert_eq!(config.embedder, None);
    assert!(settings.settings.iter().any(|setting| setting.refusal().is_some()));
}

#[test]
fn a_service_on_this_machine_is_used_as_the_runtime_names_it_and_that_is_said_once() {
    let service = Service::start();
    let memory = openclaw(&format!(
        "{{memorySearch:{{provider:'openai',model:'bag',remote:{{baseUrl:'{}'}}}}}}",
        service.url()
    ));
    let said = |report: &SearchReport| {
        let is_said = |note: &&SearchNote| matches!(note, SearchNote::ServiceOfRuntime(_));
        report.notes.iter().filter_map(Statement::typed).filter(is_said).count()
    };
    let first = memory.search("teal gate");
    assert!(!service.requests().is_empty(), "{first:?}");
    assert_eq!((said(&first), said(&memory.search("teal gate"))), (1, 0));
    let asked = service.requests().len();
    own(&memory, "[embedding]\nembedder = \"none\"\n");
    let other = openclaw("{}");
    other.search("teal gate");
    assert_eq!(service.requests().len(), asked);
}

#[test]
fn a_missing_key_of_a_service_that_the_runtime_names_is_said_once() {
    let memory = openclaw("{memorySearch:{provider:'openai'}}");
    let said = |report: &SearchReport| {
        let notes = report.notes.iter().filter_map(Statement::typed);
        notes.filter(|note| matches!(note, SearchNote::EmbedderUnavailable { .. })).count()
    };
    assert_eq!((said(&memory.search("teal gate")), said(&memory.search("teal gate"))), (1, 0));
    // A service in the user's own config is reported each time.
    own(&memory, "[embedding]\nembedder = \"openai\"\n");
    assert_eq!((said(&memory.search("teal gate")), said(&memory.search("teal gate"))), (1, 1));
}

#[test]
fn the_file_with_all_settings_explains_each() {
    let memory = openclaw("{}");
    let all = explained(&memory, None).settings;
    for key in ["search.sessions", "flush.prompt", "context.file_chars", "embedding.openai.url"] {
        assert!(all.iter().any(|setting| setting.key == key), "{key}");
    }
    assert!(all.iter().all(|setting| setting.from == SettingOrigin::Default));
    let section = explained(&memory, Some("flush")).settings;
    assert_eq!(section.len(), 7, "{section:?}");
}

#[test]
fn hits_are_cited_as_the_runtime_says_unless_the_request_does() {
    let memory = openclaw(r#"{memory:{citations:"off"}}"#);
    let cited = |report: &SearchReport| report.hits[0].citation.is_some();
    assert!(!cited(&memory.search("teal gate")));
    let on = |request: &mut anemone::search::SearchRequest| request.citations = Citations::On;
    assert!(cited(&memory.search_with("teal gate", on)));
    own(&memory, "[search]\ncitations = \"on\"\n");
    assert!(cited(&memory.search("teal gate")));
    assert!(cited(&openclaw(r#"{memory:{citations:"sometimes"}}"#).search("teal gate")));
}

/// Returns the notes of a search that a runtime's configuration causes.
fn runtime_notes(report: &SearchReport) -> Vec<String> {
    let notes = report.notes.iter().filter_map(Statement::typed);
    let of_runtime = notes.filter_map(|note| match note {
        SearchNote::Source(SourceNote::Runtime(text)) => Some(text.clone()),
        _ => None,
    });
    of_runtime.collect()
}

#[test]
fn a_configuration_that_cannot_be_read_is_no_default() {
    for (memory, expected) in [
        (openclaw("{\n  memorySearch: { oops oops },\n}\n"), "is not JSON5 at line 2, column "),
        (openclaw("{ $include: './gone.json5' }"), "gone.json5 is not there"),
        (zeroclaw("[memory]\nvector_weight = = 1\n"), "is not TOML at line 2, column "),
        (zeroclaw(&"a = 1\n".repeat(60_000)), "has more than 50000 values"),
        (zeroclaw(&"\0\u{1}".repeat(1_000)), "is not TOML at line 1, column "),
    ] {
        let unreadable = explained(&memory, None).unreadable;
        assert!(unreadable[0].contains(expected), "{unreadable:?}");
        assert!(!unreadable[0].contains("oops"), "{unreadable:?}");
        let notes = runtime_notes(&memory.search("teal gate"));
        assert_eq!(notes.iter().filter(|note| note.contains(expected)).count(), 1, "{notes:?}");
    }
    assert_eq!(explained(&openclaw("{}"), None).unreadable, [""; 0]);
    let memory = openclaw("{}");
    fs_err::remove_file(memory.home(GEN3)).unwrap();
    fs_err::create_dir(memory.home(GEN3)).unwrap();
    let unreadable = explained(&memory, None).unreadable;
    assert!(unreadable[0].ends_with("is not a regular file"), "{unreadable:?}");
}

#[test]
fn the_users_config_has_to_be_a_file() {
    let memory = openclaw("{}");
    fs_err::create_dir_all(anemone::config::path(&memory.host)).unwrap();
    assert!(Config::read(&memory.host).is_err());
    let memory = openclaw("{}");
    own(&memory, "");
    let path = anemone::config::path(&memory.host);
    fs_err::remove_file(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert!(Config::read(&memory.host).is_err(), "and nobody waits for a writer");
}

#[test]
fn a_part_of_a_name_lists_what_is_below_it() {
    let memory = openclaw("{memorySearch:{query:{hybrid:{mmr:{enabled:true,lambda:0.4}}}}}");
    let keys = |name: &str| {
        let settings = explained(&memory, Some(name)).settings;
        settings.into_iter().map(|setting| setting.key).collect::<Vec<_>>()
    };
    assert!(keys("compaction.memoryFlush").contains(&"flush.soft_tokens".to_owned()));
    let hybrid = keys("query.hybrid");
    for key in ["search.vector_weight", "search.diversity", "search.recency_days"] {
        assert!(hybrid.iter().any(|other| other == key), "{hybrid:?}");
    }
    assert!(!hybrid.contains(&"search.limit".to_owned()), "{hybrid:?}");
    assert_eq!(hybrid.iter().filter(|key| key.ends_with("query.hybrid.enabled")).count(), 1);
    assert!(keys("memorySearch").contains(&"search.limit".to_owned()));
    assert_eq!(keys("memorySearch.sync.watch").len(), 1);
    // The name of a section of the config means that section.
    assert!(keys("search").iter().all(|key| key.starts_with("search.")));
}

#[test]
fn a_number_that_needs_a_switch_says_which_one() {
    let hybrid = |text: &str| {
        let memory = openclaw(&format!("{{memorySearch:{{query:{{hybrid:{{{text}}}}}}}}}"));
        let one = |key: &str| explained(&memory, Some(key)).settings.remove(0);
        (one("search.diversity"), one("search.recency_days"))
    };
    let (diversity, recency) = hybrid("mmr:{lambda:0.4},temporalDecay:{halfLifeDays:9}");
    assert_eq!((diversity.from, recency.from), (SettingOrigin::Default, SettingOrigin::Default));
    assert!(diversity.others[0].reason.contains("mmr.enabled"), "{diversity:?}");
    assert!(recency.others[0].reason.contains("temporalDecay.enabled"), "{recency:?}");
    let (diversity, recency) =
        hybrid("mmr:{enabled:true,lambda:0.4},temporalDecay:{enabled:true,halfLifeDays:9}");
    assert_eq!((diversity.value, recency.value), (json!(0.4), json!(9)));
    assert!(diversity.name.unwrap().ends_with("mmr.lambda"), "the setting with the number");
    assert!(recency.others[0].reason.contains("halfLifeDays"), "{:?}", recency.others);
    let (diversity, _) = hybrid("mmr:{enabled:true}");
    assert_eq!((diversity.value, diversity.from), (json!(0.7), SettingOrigin::Runtime));
}

#[test]
fn passwords_in_addresses_and_prompts_are_not_shown() {
    let url = "http://lin:krabbe77@127.0.0.1:9/v1";
    let memory = openclaw(&format!(
        "{{memorySearch:{{provider:'openai',remote:{{baseUrl:'{url}'}}}},
          agents:{{defaults:{{compaction:{{memoryFlush:{{prompt:'Post it to {url} now'}}}}}}}}}}"
    ));
    own(
        &memory,
        &format!("[embedding.openai]\nurl = \"{url}\"\n[flush]\nsystem_prompt = \"See {url}\"\n"),
    );
    let shown = serde_json::to_string(&explained(&memory, None)).unwrap();
    assert!(!shown.contains("krabbe77") && !shown.contains("lin:"), "{shown}");
    assert!(shown.contains("Post it to http://127.0.0.1:9/v1 now"), "{shown}");
}

#[test]
fn places_that_cannot_be_searched_are_named_once_and_in_the_status() {
    let memory = openclaw(
        "{memorySearch:{extraPaths:['/', '~', '..', '~/.ssh/notes', 'gone', 'n*', '~/notes', '/etc/..']}}",
    );
    memory.write_home("notes/plan.md", "# Plan\n\nThe walrus sings.\n");
    memory.write_home("other/plan.md", "# Plan\n\nThe walrus hides.\n");
    memory.write_home(".ssh/notes/key.md", "# Key\n\nThe walrus is a key.\n");
    own(&memory, "[search]\nextra_paths = [\"~/\", \"~/gone\"]\n");
    let first = memory.search("walrus");
    let texts: Vec<&str> = first.hits.iter().map(|hit| hit.text.as_str()).collect();
    assert!(texts.len() == 1 && texts[0].contains("sings"), "{texts:?}");
    let at = |index: usize| format!("memorySearch.extraPaths[{index}]");
    let mut names: Vec<String> = [0, 1, 2, 3, 4, 5, 7].map(at).to_vec();
    names.extend(["search.extra_paths[0]".to_owned(), "search.extra_paths[1]".to_owned()]);
    assert_eq!(ignored(&first), names);
    assert_eq!(ignored(&memory.search("walrus")), [""; 0]);
    let seen = status(&StatusRequest::default(), &memory.host).unwrap();
    let problems = seen.agents[0].problems.iter().filter_map(Statement::typed);
    let problems = problems.filter(|problem| matches!(problem, Problem::SettingIgnored(_)));
    assert_eq!(problems.count(), names.len());
    let found = &explained(&memory, Some("search.extra_paths")).settings[0];
    assert_eq!(found.others.iter().filter(|other| other.ignored).count(), names.len());
}

#[test]
fn a_runtime_that_does_not_search_names_no_service() {
    let service = Service::start();
    let text = format!(
        "{{memorySearch:{{enabled:false,provider:'openai',model:'bag',fallback:'openai',\
           remote:{{baseUrl:'{}'}}}}}}",
        service.url()
    );
    let memory = openclaw(&text);
    let found = memory.search("teal gate");
    assert!(!found.hits.is_empty(), "a search by hand works");
    assert_eq!(service.requests().len(), 0);
    let explained = &explained(&memory, Some("embedding.embedder")).settings[0];
    assert!(explained.others[0].reason.contains("switched off"), "{explained:?}");
    assert_eq!(ignored(&found), [""; 0]);
    // The user's own config asks for it.
    let url = service.url();
    own(
        &memory,
        &format!("[embedding]\nembedder = \"openai:bag\"\n[embedding.openai]\nurl = \"{url}\"\n"),
    );
    memory.search("teal gate");
    assert!(!service.requests().is_empty());
}
