//! What compares meanings: embedders that are named or configured, and what goes to a service.

use std::sync::Arc;

use anemone::embedder::{EmbedderChoice, EmbedderError, EmbedderSetting, FillError, LargeJobs};
use anemone::host::ServiceKeys;
use anemone::search::eval::{EvalError, EvalReport, EvalRequest, evaluate};
use anemone::search::index::Rebuild;
use anemone::search::target::TargetChoice;
use anemone::search::upkeep::{IndexReport, IndexRequest, VectorPlan, plan_vectors, update_index};
use anemone::search::{
    Ranking, SearchError, SearchMode, SearchNote, SearchReport, SearchRequest, VectorNote, search,
};
use anemone_index::Replace;
use anemone_testkit::services::{Play, Service};
use serde_json::json;
use zeroize::Zeroizing;

use super::search::tea_shop;
use crate::support::{Entry, TestMachine, typed};

/// A key that is looked for in everything.
const KEY: &str = "sk-test-9f2c7d1e5b";

/// The key of every service.
struct OneKey;

impl ServiceKeys for OneKey {
    fn find(&self, _: &[&str]) -> Option<Zeroizing<String>> {
        Some(Zeroizing::new(KEY.to_owned()))
    }
}

/// Notes that are searched, and a service that makes vectors.
pub(super) struct Library {
    pub(super) machine: TestMachine,
    pub(super) target: TargetChoice,
}

impl Library {
    /// Makes notes with enough in them for several requests.
    fn new() -> Self {
        let machine = TestMachine::new();
        for (at, topic) in ["router", "garden", "violin", "harbour", "recipe"].iter().enumerate() {
            let notes = (0..8).map(|number| {
                format!("# {topic} {number}\n\nNote {at}{number} about a {topic}.\n\n")
            });
            machine.write(&format!("notes/{topic}.md"), notes.collect::<String>());
        }
        Self::of(machine, "notes")
    }

    /// Takes a folder of a machine.
    pub(super) fn of(mut machine: TestMachine, folder: &str) -> Self {
        machine.host.service_keys = Arc::new(OneKey);
        let target = TargetChoice { path: Some(machine.path(folder)), ..TargetChoice::default() };
        Self { machine, target }
    }

    /// Returns something else in the folder to work in, as it is searched.
    pub(super) fn target_at(&self, name: &str) -> TargetChoice {
        TargetChoice { path: Some(self.machine.path(name)), ..TargetChoice::default() }
    }

    pub(super) fn without_key(mut self) -> Self {
        self.machine.host.service_keys = Arc::new(anemone::host::NoServiceKeys);
        self
    }

    pub(super) fn configure(&self, text: &str) {
        let path = self.machine.host.folders.own_config().join("config.toml");
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    /// Configures a service, without naming it.
    pub(super) fn settle(&self, service: &Service, more: &str) {
        let url = service.url();
        self.configure(&format!("[embedding.openai]\nurl = \"{url}\"\nmodel = \"bag\"\n{more}"));
    }

    pub(super) fn index_request(&self, embedder: &str) -> IndexRequest {
        IndexRequest {
            target: self.target.clone(),
            rebuild: Rebuild::No,
            embedder: named(embedder),
            replace: Replace::No,
            large_jobs: LargeJobs::Confirm,
        }
    }

    /// Fills the index with vectors. An index that is filled in part is what a failure leaves.
    pub(super) fn try_index(
        &self,
        embedder: &str,
        change: impl FnOnce(&mut IndexRequest),
    ) -> Result<IndexReport, SearchError> {
        let mut request = self.index_request(embedder);
        change(&mut request);
        update_index(&request, None, &self.machine.host)
    }

    pub(super) fn index(&self, embedder: &str) -> IndexReport {
        self.try_index(embedder, |_| {}).unwrap()
    }

    pub(super) fn plan(
        &self,
        embedder: &str,
        change: impl FnOnce(&mut IndexRequest),
    ) -> VectorPlan {
        let mut request = self.index_request(embedder);
        change(&mut request);
        plan_vectors(&request, &self.machine.host).unwrap()
    }

    pub(super) fn search(&self, query: &str) -> SearchReport {
        self.search_with(query, |_| {})
    }

    pub(super) fn search_with(
        &self,
        query: &str,
        change: impl FnOnce(&mut SearchRequest),
    ) -> SearchReport {
        self.try_search(query, change).unwrap()
    }

    pub(super) fn try_search(
        &self,
        query: &str,
        change: impl FnOnce(&mut SearchRequest),
    ) -> Result<SearchReport, SearchError> {
        let mut request = SearchRequest::new(query, self.target.clone());
        change(&mut request);
        search(&request, &self.machine.host)
    }

    fn evaluate(&self, embedder: &str) -> Result<EvalReport, EvalError> {
        let request = EvalRequest {
            target: self.target.clone(),
            queries: self.machine.path("queries.jsonl"),
            categories: Vec::new(),
            limit: 10,
            ranking: Ranking::default(),
            embedder: named(embedder),
            large_jobs: LargeJobs::Confirm,
            misses: false,
        };
        evaluate(&request, &self.machine.host)
    }
}

pub(super) fn named(embedder: &str) -> EmbedderChoice {
    let embedder = (!embedder.is_empty()).then(|| embedder.parse().unwrap());
    EmbedderChoice { embedder, url: None }
}

fn at(embedder: &str, url: &str) -> EmbedderChoice {
    EmbedderChoice { url: Some(url.to_owned()), ..named(embedder) }
}

const TABLE: Option<&str> = Some("anemone-table-1");

#[test]
fn the_model_inside_the_program_serves_unasked() {
    let shop = tea_shop();
    let report = shop.search("router");
    assert_eq!((report.mode, report.model.as_deref()), (SearchMode::Hybrid, TABLE));
    assert_eq!((report.vectors.len(), report.vectors[0].missing), (1, 0));
    assert!(report.notes.is_empty(), "{report:?}");
    let none = Some(EmbedderSetting::None);
    let report = shop.search_with("router", |request| request.embedder.embedder = none);
    assert_eq!((report.mode, report.vectors.len()), (SearchMode::Lexical, 0));
    assert_eq!(report.model, None);
}

#[test]
fn a_service_is_asked_only_when_it_is_named() {
    let mut shop = tea_shop();
    shop.machine.host.service_keys = Arc::new(OneKey);
    let report = shop.search("router");
    assert_eq!(report.model.as_deref(), TABLE);
    assert!(report.notes.is_empty(), "{report:?}");
}

#[test]
fn an_embedder_without_its_model_or_key_is_an_error() {
    let library = Library::new().without_key();
    library.index("");
    for name in ["minilm", "openai", "gemini"] {
        let error = library.try_index(name, |_| {}).unwrap_err();
        let SearchError::Embedder(error) = error else { panic!("{error:?}") };
        let is_it = match name {
            "minilm" => matches!(error, EmbedderError::NoModel(_)),
            _ => matches!(error, EmbedderError::NoKey(_)),
        };
        assert!(is_it, "{name}: {error:?}");
    }
}

#[test]
fn an_index_is_filled_once_and_then_searched_with_it() {
    let (library, service) = (Library::new(), Service::start());
    library.settle(&service, "");
    let report = library.index("openai");
    let filled = report.filled.unwrap();
    assert!(filled.embedded >= 40, "{filled:?}");
    assert_eq!((filled.model, filled.missing), (service.model("bag"), 0));
    assert_eq!(report.vectors.len(), 2);
    let asked = service.requests().len();
    assert!(service.requests().iter().all(|request| request.key.as_deref() == Some(KEY)));
    assert_eq!(library.index("openai").filled.unwrap().embedded, 0);
    assert_eq!(service.requests().len(), asked, "what is known is not asked for");

    let report = library.search("violin");
    assert_eq!(report.mode, SearchMode::Hybrid);
    assert_eq!(report.model, Some(service.model("bag")));
    assert!(report.notes.is_empty(), "{report:?}");
    assert_eq!(service.requests().len(), asked + 1, "the query alone");
    assert_eq!(service.requests()[asked].texts, ["violin"]);
    let rebuilt = library.try_index("", |request| request.rebuild = Rebuild::Yes).unwrap();
    let filled = rebuilt.filled.unwrap();
    assert_eq!((filled.embedded, filled.missing), (0, 0), "{filled:?}");
}

#[test]
fn a_service_that_was_named_for_an_index_is_asked_there_again() {
    let (library, service) = (Library::new(), Service::start());
    let model = Some(service.model("bag"));
    let url = service.url();
    let named_there = |request: &mut IndexRequest| request.embedder = at("openai:bag", &url);
    library.try_index("", named_there).unwrap();
    let asked = service.requests().len();
    assert_eq!(library.search("violin").model, model);
    assert_eq!(service.requests().len(), asked + 1);
    // Who names it again need not say where it is.
    for name in ["openai:bag", "openai"] {
        let asked = service.requests().len();
        let report = library.search_with("violin", |request| request.embedder = named(name));
        assert_eq!(report.model, model, "{report:?}");
        assert_eq!(service.requests().len(), asked + 1);
    }
    assert_eq!(library.index("openai:bag").filled.unwrap().embedded, 0);
    assert_eq!(library.search("violin").model, model);
    // A trial elsewhere that fails is not remembered.
    let dead = Service::start();
    dead.play_for_good(0, Play::Status(401, "no such key"));
    let trial = library.try_index("", |request| {
        request.embedder = at("openai:bag", &dead.url());
        request.replace = Replace::Yes;
    });
    assert!(trial.is_err());
    assert_eq!(library.search("violin").model, model);
    // No note is written beside an index outside the cache, so nothing is sent.
    let own = Some(library.machine.path("own"));
    let there = |request: &mut IndexRequest| {
        named_there(request);
        request.target.index_dir = own.clone();
    };
    library.try_index("", there).unwrap();
    let asked = service.requests().len();
    let report = library.search_with("violin", |request| request.target.index_dir = own.clone());
    assert_eq!(report.model.as_deref(), TABLE);
    assert!(matches!(typed(&report.notes)[0], SearchNote::EmbedderNotNamed(_)), "{report:?}");
    assert_eq!(service.requests().len(), asked);
}

#[test]
fn a_search_fills_small_gaps_and_says_large_ones() {
    let (library, service) = (Library::new(), Service::start());
    library.settle(&service, "");
    library.index("openai");
    library.machine.write("notes/new.md", "A postcard from Zanzibar.\n");
    let report = library.search("zanzibar");
    assert_eq!(report.vectors[0].missing, 0);
    assert!(report.notes.is_empty(), "{report:?}");
    let is_it = |texts: &[String]| texts == ["A postcard from Zanzibar."];
    assert!(service.requests().iter().any(|request| is_it(&request.texts)));
    let many: String =
        (0..90).map(|number| format!("# Day {number}\n\nIt rained on day {number}.\n\n")).collect();
    library.machine.write("notes/many.md", many);
    let asked = service.requests().len();
    let report = library.search("rained");
    assert_eq!(service.requests().len(), asked + 1, "only the query is sent");
    let note = typed(&report.notes)[0];
    assert!(matches!(note, SearchNote::Vectors(VectorNote::Missing { .. })), "{note:?}");
    assert_eq!(report.vectors[1].model, "anemone-table-1", "the table covers the rest");
}

#[test]
fn another_model_replaces_one_only_when_that_is_said() {
    let (library, service) = (Library::new(), Service::start());
    library.settle(&service, "");
    library.index("openai");
    let error = library.try_index("openai:other", |_| {}).unwrap_err();
    let SearchError::Fill(FillError::OtherModel { there, model, .. }) = error else {
        panic!("{error:?}")
    };
    assert!(there.model.contains("bag") && model.contains("other"), "{there:?} {model}");
    let (bag, other) = (service.model("bag"), service.model("other"));
    assert_eq!(library.search("violin").model.as_ref(), Some(&bag));
    let report = library.search_with("violin", |request| request.embedder = named("openai:other"));
    assert_eq!(report.model.as_deref(), TABLE);
    let is_it =
        matches!(typed(&report.notes)[0], SearchNote::Vectors(VectorNote::OtherModel { .. }));
    assert!(is_it, "{report:?}");
    let plan = library.plan("openai:other", |request| request.replace = Replace::Yes);
    let job = plan.job.unwrap();
    assert_eq!((job.replaces, job.known), (Some(bag), None));
    let replaced = library.try_index("openai:other", |request| request.replace = Replace::Yes);
    let filled = replaced.unwrap().filled.unwrap();
    assert_eq!((&filled.model, filled.missing), (&other, 0));
    assert_eq!(library.search("violin").model, Some(other));
}

#[test]
fn a_plan_says_how_much_would_go_where_and_sends_nothing() {
    let (library, service) = (Library::new(), Service::start());
    library.settle(&service, "dimensions = 16\n");
    let job = library.plan("openai", |_| {}).job.unwrap();
    assert_eq!(job.host.as_deref(), Some("127.0.0.1"), "{job:?}");
    assert!(job.texts >= 40 && job.characters > 400, "{job:?}");
    assert!(job.tokens >= job.characters / 4, "{job:?}");
    library.machine.write("notes/han.md", "\u{8a18}\u{61b6}".repeat(500));
    let more = library.plan("openai", |_| {}).job.unwrap();
    let grown = more.characters - job.characters;
    assert!(grown > 100, "{more:?}");
    assert_eq!(more.tokens - job.tokens, grown, "each is a token");
    assert_eq!(job.known, Some(0));
    assert_eq!(service.requests().len(), 0);
    assert_eq!(library.plan("builtin", |_| {}).job.unwrap().texts, 0);
}

#[test]
fn a_large_job_is_not_sent_by_accident() {
    let (library, service) = (Library::of(TestMachine::new(), "notes"), Service::start());
    library.settle(&service, "dimensions = 16\n");
    let line = |day: usize| format!("the harbour was quiet on day {day} ").repeat(30) + "\n\n";
    library.machine.write("notes/long.md", (0..1000).map(line).collect::<String>());
    let error = library.try_index("openai", |_| {}).unwrap_err();
    assert!(matches!(error, SearchError::Fill(FillError::LargeJob { .. })), "{error:?}");
    assert_eq!(service.requests().len(), 0);
}

#[test]
fn a_service_that_fails_loses_nothing_and_search_goes_on() {
    let (library, service) = (Library::new(), Service::start());
    library.settle(&service, "max_batch = 2\ndimensions = 16\n");
    service.play_for_good(8, Play::Status(401, "no such key"));
    let error = library.try_index("openai", |_| {}).unwrap_err();
    let SearchError::Fill(FillError::Failed { filled, .. }) = error else { panic!("{error:?}") };
    assert!(filled.embedded > 0 && filled.missing > 0, "{filled:?}");
    let report = library.search("violin");
    assert!(!report.hits.is_empty());
    let failed = |note: &&SearchNote| {
        matches!(note, SearchNote::Vectors(VectorNote::Failed { .. }) | SearchNote::NotFilled(_))
    };
    assert_eq!(
        typed(&report.notes).into_iter().filter(failed).count(),
        1,
        "it is said once: {report:?}"
    );
    assert_eq!(report.model.as_deref(), TABLE, "{report:?}");
    service.play_well();
    let again = library.index("openai").filled.unwrap();
    assert_eq!(again.missing, 0);
    let sent = service.good_texts() as u64;
    assert_eq!(sent, filled.embedded + again.embedded, "nothing is sent twice");
    assert!(library.search("violin").notes.is_empty());
}

#[test]
fn a_service_that_asks_to_wait_is_asked_again() {
    let (library, service) = (Library::new(), Service::start());
    library.settle(&service, "dimensions = 16\n");
    service.play(Play::Wait);
    assert_eq!(library.index("openai").filled.unwrap().missing, 0);
    assert!(service.requests().len() >= 2);
}

#[test]
fn vectors_of_another_length_are_refused() {
    let (library, service) = (Library::new(), Service::start());
    library.settle(&service, "dimensions = 16\n");
    service.play_for_good(0, Play::Dimensions(8));
    let error = library.try_index("openai", |_| {}).unwrap_err();
    let SearchError::Fill(FillError::Failed { filled, .. }) = error else { panic!("{error:?}") };
    assert_eq!(filled.embedded, 0);
}

#[cfg(unix)]
fn write_key(library: &Library, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    library.machine.write_home("keys/openai", format!("{KEY}\n"));
    let mode = std::fs::Permissions::from_mode(mode);
    fs_err::set_permissions(library.machine.home("keys/openai"), mode).unwrap();
}

#[cfg(unix)]
#[test]
fn a_key_is_in_nothing_that_is_reported_or_kept() {
    let (library, service) = (Library::new().without_key(), Service::start());
    write_key(&library, 0o600);
    library.settle(&service, "dimensions = 16\nkey_file = \"~/keys/openai\"\n");
    let mut told = String::new();
    told += &format!("{:?}", library.plan("openai", |_| {}));
    service.play_for_good(1, Play::Echo);
    told += &format!("{:?}", library.try_index("openai", |_| {}));
    told += &format!("{:?}", library.try_search("violin", |request| request.explain = true));
    service.play_well();
    told += &format!("{:?}", library.index("openai"));
    told += &format!("{:?}", library.search("violin"));
    assert!(!told.contains(KEY), "{told}");
    assert!(service.requests().iter().all(|request| request.key.as_deref() == Some(KEY)));
    let holds = |bytes: &[u8]| bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
    for (path, entry) in library.machine.everything() {
        let Entry::File(bytes, _) = entry else { continue };
        assert_eq!(holds(&bytes), path.ends_with("keys/openai"), "{}", path.display());
    }
}

#[cfg(unix)]
#[test]
fn a_key_that_others_can_read_is_refused() {
    let (library, service) = (Library::new().without_key(), Service::start());
    write_key(&library, 0o644);
    library.settle(&service, "key_file = \"~/keys/openai\"\n");
    let told = format!("{:?}", library.try_index("openai", |_| {}).unwrap_err());
    assert!(told.contains("keys/openai") && !told.contains(KEY), "{told}");
    assert_eq!(service.requests().len(), 0);
}

#[test]
fn the_config_says_what_is_used() {
    let library = Library::new().without_key();
    library.index("");
    library.configure("[embedding]\nembedder = \"none\"\n");
    assert_eq!(library.search("violin").mode, SearchMode::Lexical);
    // Of an order the first that can be had is used; here nothing can.
    library.configure("[embedding]\norder = [\"minilm\", \"openai\", \"gemini\"]\n");
    let report = library.search("violin");
    assert_eq!(report.model.as_deref(), TABLE);
    assert!(report.notes.is_empty(), "{report:?}");
    library.configure("[embedding]\nembedder = \"minilm\"\n");
    let report = library.search("violin");
    assert_eq!(report.model.as_deref(), TABLE);
    let note = typed(&report.notes)[0];
    assert!(matches!(note, SearchNote::EmbedderUnavailable { .. }), "{report:?}");
    library.configure("[embedding]\nembeder = \"minilm\"\n");
    let config_error = || match library.try_search("violin", |_| {}) {
        Err(SearchError::Embedder(EmbedderError::Config(error))) => error,
        other => panic!("{other:?}"),
    };
    let told = format!("{:?}", config_error());
    assert!(told.contains("UnknownSetting") && told.contains("embedding.embedder"), "{told}");
    library.configure(&format!("[embedding.openai]\napi_key = \"{KEY}\"\n"));
    let told = format!("{:?}", config_error());
    assert!(told.contains("KeyInConfig") && !told.contains(KEY), "{told}");
    let report = library.search_with("violin", |request| request.embedder = named("none"));
    assert_eq!(report.mode, SearchMode::Lexical);
}

#[test]
fn without_a_fallback_words_answer_alone() {
    let (library, service) = (Library::new(), Service::start());
    library.settle(&service, "dimensions = 16\n[embedding]\nfallback = \"none\"\n");
    library.index("openai");
    service.play_for_good(0, Play::Status(401, "no such key"));
    let report = library.search("violin");
    assert_eq!((report.mode, report.vectors.len()), (SearchMode::Lexical, 0), "{report:?}");
    assert!(!report.hits.is_empty());
}

#[test]
fn an_evaluation_fills_all_vectors_first() {
    let (library, service) = (Library::new(), Service::start());
    library.settle(&service, "");
    let relevant = json!([{ "path": "violin.md", "line": 3 }]);
    let line = json!({ "id": "1", "query": "violin", "category": 1, "relevant": relevant });
    library.machine.write("queries.jsonl", format!("{line}\n"));
    let report = library.evaluate("openai").unwrap();
    assert_eq!(report.settings.embedder.to_string(), "openai:bag", "{report:?}");
    let vectors = &report.vectors[0];
    assert_eq!(vectors.line.model, service.model("bag"));
    assert!(vectors.share > 99.99, "{vectors:?}");
    // Figures of another embedder than the named one would be worthless.
    service.play_for_good(0, Play::Status(401, "no such key"));
    assert!(library.evaluate("openai").is_err());
    let report = library.evaluate("none").unwrap();
    assert_eq!(report.settings.embedder.to_string(), "none");
    assert!(report.vectors.is_empty(), "{report:?}");
}

/// One note, and a service that a config may name.
fn one_note() -> (Library, Service) {
    let machine = TestMachine::new();
    machine.write("notes/a.md", "# Violin\n\nThe violin is in the attic.\n");
    (Library::of(machine, "notes"), Service::start())
}

fn configured(service: &Service, embedder: &str, model: &str) -> String {
    let url = service.url();
    format!(
        "[embedding]\nembedder = \"{embedder}\"\n[embedding.openai]\nurl = \"{url}\"\nmodel = \
         \"{model}\"\n"
    )
}

/// Whether the note was sent after a request; the dimensions of a model are asked for without it.
fn sent(service: &Service, after: usize) -> bool {
    let requests = service.requests();
    requests[after..].iter().flat_map(|request| &request.texts).any(|text| text.contains("attic"))
}

const QUALITY: &str = "anemone-quality-1";

#[test]
fn a_model_on_this_machine_replaces_another_one_by_itself() {
    let (library, service) = one_note();
    library.settle(&service, "");
    library.index("openai");
    let report = library.index("builtin-quality");
    let replaced = typed(&report.warnings).into_iter().find_map(|note| match note {
        SearchNote::ModelReplaced { from, to } => Some((from.clone(), to.clone())),
        _ => None,
    });
    assert_eq!(replaced, Some((service.model("bag"), QUALITY.to_owned())), "{report:?}");
    let filled = report.filled.unwrap();
    assert_eq!((&*filled.model, filled.missing), (QUALITY, 0));
    assert_eq!(library.search("violin").model.as_deref(), Some(QUALITY));
    // The other way costs money, so its size is named and nothing is sent.
    let requests = service.requests().len();
    let error = library.try_index("openai", |_| {}).unwrap_err();
    let SearchError::Fill(FillError::OtherModel { job, .. }) = &error else { panic!("{error:?}") };
    assert_eq!(job.replaces.as_deref(), Some(QUALITY));
    assert_eq!((job.chunks, sent(&service, requests)), (1, false));
    assert_eq!(library.search("violin").model.as_deref(), Some(QUALITY));
}

#[test]
fn a_changed_config_is_followed_by_itself_when_that_is_free() {
    let (library, service) = one_note();
    let bag = service.model("bag");
    library.configure(&configured(&service, "openai", "bag"));
    library.index("auto");
    assert_eq!(library.search("violin").model.as_ref(), Some(&bag));

    library.configure(&configured(&service, "builtin-quality", "bag"));
    let report = library.search("violin");
    assert_eq!(report.model.as_deref(), Some(QUALITY), "{report:?}");
    let is_replaced = |note: &&SearchNote| matches!(note, SearchNote::ModelReplaced { .. });
    assert!(typed(&report.notes).iter().any(is_replaced), "{report:?}");
    let again = library.search("violin");
    assert_eq!((again.model.as_deref(), again.notes.len()), (Some(QUALITY), 0), "{again:?}");

    // A service is not asked for vectors until the user says so.
    library.configure(&configured(&service, "openai", "other"));
    let requests = service.requests().len();
    let report = library.search("violin");
    assert_eq!(report.model.as_deref(), Some(QUALITY));
    let is_changed =
        |note: &&SearchNote| matches!(note, SearchNote::ModelChanged { is_remote: true, .. });
    assert!(typed(&report.notes).iter().any(is_changed), "{report:?}");
    let report = library.index("auto");
    let is_refused =
        |note: &&SearchNote| matches!(note, SearchNote::NotFilled(FillError::OtherModel { .. }));
    assert!(typed(&report.warnings).iter().any(is_refused), "{report:?}");
    assert!(!sent(&service, requests));
}

#[test]
fn texts_do_not_go_elsewhere_because_an_address_is_gone_or_another_one() {
    let (library, there) = one_note();
    let elsewhere = Service::start();
    library.settle(&there, "");
    library.index("openai");
    library.machine.write("notes/b.md", "# Cello\n\nThe cello is in the attic.\n");
    let is_refused = |note: &&SearchNote| {
        let SearchNote::EmbedderUnavailable { error, .. } = note else { return false };
        matches!(error, EmbedderError::OtherPlace { .. })
    };
    let requests = elsewhere.requests().len();
    library.settle(&elsewhere, "");
    let report = library.search("cello");
    assert!(typed(&report.notes).iter().any(is_refused), "{report:?}");
    assert!(!sent(&elsewhere, requests));
    // Without an address it would be the service's public one.
    library.configure("");
    let report = library.search("cello");
    assert!(typed(&report.notes).iter().any(is_refused), "{report:?}");
    let report = library.index("auto");
    assert!(typed(&report.warnings).iter().any(is_refused), "{report:?}");
    library.settle(&there, "");
    assert_eq!(library.search("cello").model, Some(there.model("bag")));
}

#[test]
fn an_embedder_that_was_named_for_an_index_stays_when_the_config_changes() {
    let (library, service) = one_note();
    library.settle(&service, "");
    library.index("openai");
    library.configure(&configured(&service, "builtin-quality", "bag"));
    let report = library.search("violin");
    assert_eq!((report.model, report.notes.len()), (Some(service.model("bag")), 0));
}
