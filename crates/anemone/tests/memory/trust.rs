//! What goes to a service, and what does not.

use anemone::embedder::{EmbedderChoice, EmbedderError, LargeJobs};
use anemone::search::upkeep::IndexRequest;
use anemone::search::{SearchError, SearchMode, SearchNote, SearchRequest, VectorNote};
use anemone_index::{RankingChoice, Replace};
use anemone_runtimes::ranking_profiles;
use anemone_testkit::services::{Play, Service};

use super::embedder::{Library, named};
use crate::support::{Entry, TestMachine, typed};

fn notes() -> Library {
    let machine = TestMachine::new();
    for topic in ["router", "garden", "violin"] {
        let text = format!("# {topic}\n\nSomething about a {topic}.\n");
        machine.write(&format!("notes/{topic}.md"), text);
    }
    Library::of(machine, "notes")
}

fn at(embedder: &str, url: String) -> EmbedderChoice {
    EmbedderChoice { url: Some(url), ..named(embedder) }
}

#[cfg(unix)]
#[test]
fn the_key_of_a_section_goes_to_no_other_host() {
    use std::os::unix::fs::PermissionsExt as _;
    let (library, own, other) = (notes().without_key(), Service::start(), Service::start());
    library.machine.write_home("keys/openai", "sk-of-the-section");
    let mode = std::fs::Permissions::from_mode(0o600);
    fs_err::set_permissions(library.machine.home("keys/openai"), mode).unwrap();
    let url = own.url();
    library.configure(&format!(
        "[embedding.openai]\nurl = \"{url}\"\nmodel = \"bag\"\ndimensions = 16\n\
         key_file = \"~/keys/openai\"\nallow_http = true\n"
    ));
    library.index("openai");
    assert_eq!(own.requests()[0].key.as_deref(), Some("sk-of-the-section"));
    // The same place in the request is the same place.
    let asked = own.requests().len();
    library.search_with("violin", |request| request.embedder = at("openai", own.url()));
    assert_eq!(own.requests()[asked].key.as_deref(), Some("sk-of-the-section"));
    let replace = |url: String| {
        move |request: &mut IndexRequest| {
            request.embedder = at("openai", url);
            request.replace = Replace::Yes;
        }
    };
    library.try_index("", replace(other.url())).unwrap();
    assert!(other.requests().iter().all(|request| request.key.is_none()));
    let error = library.try_index("", replace("http://192.0.2.1/v1".to_owned())).unwrap_err();
    let SearchError::Embedder(error) = error else { panic!("{error:?}") };
    assert!(error.to_string().contains("plain http"), "{error:?}");
}

#[test]
fn a_secret_in_the_query_of_a_url_is_refused_and_not_kept() {
    let (library, service) = (notes(), Service::start());
    let url = format!("{}/v1?api-key=topsecret", service.url());
    let error = library.try_index("", |request| request.embedder = at("openai:bag", url));
    let error = error.unwrap_err();
    let is_it = matches!(error, SearchError::Embedder(EmbedderError::SecretInUrl(_)));
    assert!(is_it, "{error:?}");
    assert!(!format!("{error:?} {error}").contains("topsecret"), "{error:?}");
    assert_eq!(service.requests().len(), 0);
    for (path, entry) in library.machine.everything() {
        let Entry::File(bytes, _) = entry else { continue };
        assert!(!bytes.windows(9).any(|window| window == b"topsecret"), "{}", path.display());
    }
}

#[test]
fn a_key_instead_of_its_file_is_not_shown() {
    let library = notes().without_key();
    library.configure("[embedding.openai]\nkey_file = \"sk-pasted-here\"\n");
    let error = library.try_index("openai", |_| {}).unwrap_err();
    assert!(!format!("{error:?} {error}").contains("sk-pasted"), "{error:?}");
    let SearchError::Embedder(error) = error else { panic!("{error:?}") };
    let is_it = matches!(error, EmbedderError::NoKeyFile(_) | EmbedderError::KeyFile { .. });
    assert!(is_it, "{error:?}");
}

#[test]
fn a_text_that_is_refused_is_counted_and_stops_nothing() {
    let (library, service) = (notes(), Service::start());
    library.settle(&service, "");
    service.play_for_good(0, Play::Refuse("garden"));
    let filled = library.index("openai").filled.unwrap();
    assert_eq!((filled.missing, filled.cut), (0, 0), "{filled:?}");
    assert!(filled.refused > 0, "{filled:?}");
    let asked = service.requests().len();
    assert_eq!(library.index("openai").filled.unwrap().embedded, 0);
    assert_eq!(service.requests().len(), asked, "it is not asked for the same again");
}

#[test]
fn another_programs_ranking_sends_no_large_job_by_accident() {
    let (mut library, service) = (Library::of(TestMachine::new(), "ws"), Service::start());
    library.settle(&service, "dimensions = 16\n");
    let line = |day: usize| format!("the harbour was quiet on day {day} ").repeat(30) + "\n\n";
    library.machine.write("ws/MEMORY.md", (0..1000).map(line).collect::<String>());
    library.target.agent.workspace = library.target.path.take();
    let named = |request: &mut SearchRequest| {
        request.embedder = named("openai");
        let mut profiles = ranking_profiles();
        let profile = profiles.find(|profile| profile.name() == "openclaw-2026.3");
        request.ranking.profile = RankingChoice::Other(profile.unwrap());
    };
    let report = library.search_with("harbour", named);
    let failed = |note: &SearchNote| {
        matches!(note, SearchNote::NotFilled(_) | SearchNote::Vectors(VectorNote::Failed { .. }))
    };
    assert!(typed(&report.notes).into_iter().any(failed), "{report:?}");
    assert_eq!(service.requests().len(), 0);
    let report = library.search_with("harbour", |request| {
        named(request);
        request.large_jobs = LargeJobs::Send;
    });
    assert_eq!(report.mode, SearchMode::Hybrid, "{report:?}");
    let asked = service.requests().len();
    let report = library.search_with("harbour", named);
    assert_eq!(report.mode, SearchMode::Hybrid, "what is known is not sent: {report:?}");
    assert_eq!(service.requests().len(), asked + 1);
}

#[test]
fn a_search_answers_without_a_service_that_cannot_say_how_long_its_vectors_are() {
    let (library, service) = (notes(), Service::start());
    service.play_for_good(0, Play::Status(401, "no such key"));
    let url = service.url();
    let report = library.search_with("violin", |request| {
        request.embedder = at("openai:bag", url.clone());
    });
    assert_eq!(report.model.as_deref(), Some("anemone-table-1"), "{report:?}");
    let is_it = matches!(typed(&report.notes)[0], SearchNote::Vectors(VectorNote::Failed { .. }));
    assert!(is_it, "{report:?}");
    let plan = library.plan("", |request| request.embedder = at("openai:bag", url));
    assert_eq!(plan.job.unwrap().known, None);
}

#[test]
fn without_vectors_of_the_fallback_the_table_answers() {
    let (library, service) = (notes(), Service::start());
    let url = service.url();
    library.configure(&format!(
        "[embedding]\nfallback = \"builtin-quality\"\n\
         [embedding.openai]\nurl = \"{url}\"\nmodel = \"bag\"\n"
    ));
    library.index("openai");
    service.play_for_good(0, Play::Status(401, "no such key"));
    let report = library.search("violin");
    assert_eq!(report.model.as_deref(), Some("anemone-table-1"), "{report:?}");
}

#[test]
fn a_model_that_is_here_and_unused_is_mentioned_by_the_index_alone() {
    let library = notes().without_key();
    let model = library.machine.host.folders.own_data().join("models/minilm/model.safetensors");
    fs_err::create_dir_all(model.parent().unwrap()).unwrap();
    fs_err::write(model, "not looked into").unwrap();
    let report = library.index("");
    let [SearchNote::ModelUnused { model: "minilm", .. }] = typed(&report.warnings)[..] else {
        panic!("{:?}", report.warnings)
    };
    assert!(library.search("violin").notes.is_empty());
    library.configure("[embedding]\nembedder = \"builtin\"\n");
    assert!(library.index("").warnings.is_empty());
}

#[test]
fn where_no_index_can_be_kept_a_search_sends_no_documents() {
    let (library, service) = (notes(), Service::start());
    let url = service.url();
    library.configure(&format!(
        "[embedding]\nembedder = \"openai\"\n\
         [embedding.openai]\nurl = \"{url}\"\nmodel = \"bag\"\ndimensions = 16\n"
    ));
    let cache = library.machine.host.folders.own_cache();
    fs_err::create_dir_all(cache.parent().unwrap()).unwrap();
    fs_err::write(cache, "a file where a folder should be").unwrap();
    let report = library.search("violin");
    assert_eq!(report.model.as_deref(), Some("anemone-table-1"), "{report:?}");
    assert_eq!(service.requests().len(), 0, "{report:?}");
}
