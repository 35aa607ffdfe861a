use tempfile::TempDir;

use super::*;
use crate::testing;

struct Place {
    folder: TempDir,
    host: Host,
    memory: MemoryChoice,
}

impl Place {
    fn new(curated: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = testing::host(folder.path());
        let memory = testing::memory(folder.path(), curated);
        Self { folder, host, memory }
    }

    fn request(&self, text: &str) -> RememberRequest {
        RememberRequest::new(text, self.memory.clone())
    }

    fn read(&self, path: &str) -> String {
        let path = self.folder.path().join("workspace").join(path);
        fs_err::read_to_string(path).unwrap_or_default()
    }
}

#[test]
fn an_entry_goes_to_the_log_of_today_or_to_what_was_curated() {
    let place = Place::new("# Memory\n");
    let mut request = place.request("The gateway stays on loopback.");
    request.kind = Some("decision".to_owned());
    request.tags = vec!["#net".to_owned()];
    let report = remember(&request, &place.host).unwrap();
    assert_eq!((report.path.as_str(), report.written), ("memory/2026-11-16.md", true));
    assert!(report.change.is_some());
    let log = place.read("memory/2026-11-16.md");
    // `tidy` would archive it some day if it had an importance that nobody gave.
    assert!(log.contains("- The gateway stays on loopback. #net <!-- anemone: "), "{log}");
    assert!(log.contains(" category=\"decision\" -->\n"), "{log}");
    let mut request = place.request("Lin drinks tea.");
    request.part = MemoryPart::Curated;
    remember(&request, &place.host).unwrap();
    assert!(place.read("MEMORY.md").contains("- Lin drinks tea. <!--"));
}

#[test]
fn a_dry_run_writes_nothing() {
    let place = Place::new("# Memory\n");
    let request = RememberRequest { dry_run: true, ..place.request("The fog lifts at ten.") };
    let report = remember(&request, &place.host).unwrap();
    assert!(!report.written && report.entry.contains("The fog lifts at ten."), "{report:?}");
    assert_eq!(place.read("memory/2026-11-16.md"), "");
}

#[test]
fn a_secret_is_refused_or_redacted_and_never_shown() {
    let place = Place::new("# Memory\n");
    let secret = "the router password is Sommer-Krabbe-77";
    let refused = remember(&place.request(secret), &place.host);
    let Err(RememberError::Secret(report)) = refused else { panic!("{refused:?}") };
    assert!(report.entry.is_empty() && !format!("{report:?}").contains("Krabbe"));
    assert_eq!(place.read("memory/2026-11-16.md"), "");
    let redacted = RememberRequest { secrets: SecretHandling::Redact, ..place.request(secret) };
    assert_eq!(remember(&redacted, &place.host).unwrap().redacted.len(), 1);
    let log = place.read("memory/2026-11-16.md");
    assert!(log.contains("[redacted:") && !log.contains("Krabbe"), "{log}");
}

#[test]
fn what_is_known_is_refused_unless_nobody_looks() {
    let place = Place::new("# Memory\n\n- Lin drinks green tea.\n");
    let refused = remember(&place.request("lin drinks GREEN tea!"), &place.host);
    let Err(RememberError::Duplicate(report)) = refused else { panic!("{refused:?}") };
    assert_eq!(
        (report.duplicates[0].path.as_str(), report.duplicates[0].lines),
        ("MEMORY.md", (3, 3))
    );
    let forced = RememberRequest {
        duplicates: DuplicateCheck::Skip,
        ..place.request("lin drinks GREEN tea!")
    };
    assert!(remember(&forced, &place.host).unwrap().written);
}

#[test]
fn what_takes_the_place_of_a_key_has_that_key() {
    let place = Place::new("# Memory\n\n- **port**: 8080\n");
    let mut request = place.request("9090 since Monday");
    request.supersedes = Some("port".to_owned());
    assert!(remember(&request, &place.host).unwrap().warnings.is_empty());
    assert!(place.read("memory/2026-11-16.md").contains("- **port**: 9090 since Monday"));
    let mut request = place.request("Lunch is at noon.");
    request.supersedes = Some("nobody".to_owned());
    let report = remember(&request, &place.host).unwrap();
    assert_eq!(report.warnings[0].code, "supersedes_nothing");
}
