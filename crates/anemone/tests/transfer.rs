//! Export, import and migrate through the public API: rules that need no process of their own.

#![expect(clippy::unwrap_used, reason = "what does not hold in a test may panic")]

mod support;

#[path = "transfer/beside.rs"]
mod beside;
#[path = "transfer/export.rs"]
mod export;
#[path = "transfer/passage.rs"]
mod passage;
#[path = "transfer/round_trip.rs"]
mod round_trip;
#[path = "transfer/seeds.rs"]
mod seeds;
#[path = "transfer/workspace.rs"]
mod workspace;
#[path = "transfer/zeroclaw.rs"]
mod zeroclaw;
#[path = "transfer/zeroclaw_import.rs"]
mod zeroclaw_import;

use std::path::{Path, PathBuf};

use anemone::agent::AgentChoice;
use anemone::export::{ExportError, ExportReport, ExportRequest, export};
use anemone::import::{ImportError, ImportReport, ImportRequest, import};
use anemone::migrate::{Endpoint, MigrateError, MigrateReport, MigrateRequest, migrate};
use anemone::restore::{ApplyPlanError, InstallSetting, RestoreChoice, Stores, restore};
use anemone_files::Existing;
use anemone_format::{Archive, ArchiveSource, Limits};
use anemone_runtimes::{
    Action, LeftOutReason, OnConflict, Plan, RestoreSource, SecretPolicy, by_name,
};

use self::support::{TestMachine, tree};

/// A machine with a small agent of OpenClaw, and what is asked of the library.
struct Ground {
    machine: TestMachine,
}

impl std::ops::Deref for Ground {
    type Target = TestMachine;

    fn deref(&self) -> &TestMachine {
        &self.machine
    }
}

impl Ground {
    fn new() -> Self {
        Self { machine: TestMachine::new() }
    }

    /// Returns a ground with a small agent of OpenClaw.
    fn with_agent() -> Self {
        let ground = Self::new();
        ground.write("w/SOUL.md", "# SOUL.md\n\nCalm and exact.\n");
        ground.write("w/MEMORY.md", "# Memory\n\n## Tea\n\nShe drinks green tea.\n");
        ground.write("w/memory/2026-03-01.md", "# 2026-03-01\n\n## Port\n\nThe port is 8443.\n");
        ground.write("w/notes/plan.txt", "a plan\n");
        ground
    }

    fn export_request(&self, archive: &str) -> ExportRequest {
        let agent = AgentChoice {
            runtime: Some("openclaw".to_owned()),
            workspace: Some(self.path("w")),
            agent: None,
        };
        ExportRequest { output: Some(self.path(archive)), ..ExportRequest::new(agent) }
    }

    fn export(&self, archive: &str) -> ExportReport {
        export(&self.export_request(archive), &self.host).unwrap()
    }

    fn import_request(&self, archive: &str, workspace: &str) -> ImportRequest {
        ImportRequest {
            runtime: Some("openclaw".to_owned()),
            workspace: Some(self.path(workspace)),
            ..ImportRequest::new(self.path(archive))
        }
    }

    fn import(&self, request: &ImportRequest) -> Result<ImportReport, ImportError> {
        import(request, &self.host)
    }

    /// Moves the agent from one place to another. ZeroClaw gets files: they need no process that
    /// reads databases.
    fn migrate_request(&self, from: (&str, &str), to: (&str, &str)) -> MigrateRequest {
        let end = |(runtime, folder): (&str, &str)| Endpoint {
            runtime: runtime.to_owned(),
            folder: Some(self.path(folder)),
        };
        let backend = (to.0 == "zeroclaw").then(|| "markdown".to_owned());
        let restore = RestoreChoice { backend, ..RestoreChoice::new(OnConflict::Stop) };
        MigrateRequest { restore, ..MigrateRequest::new(end(from), end(to)) }
    }

    fn migrate(&self, request: &MigrateRequest) -> Result<MigrateReport, MigrateError> {
        migrate(request, &self.host)
    }
}

#[test]
fn two_exports_of_an_unchanged_agent_have_the_same_bytes() {
    let ground = Ground::with_agent();
    let summary = ground.export("a.alf").summary.unwrap();
    assert_eq!((summary.memory_records, summary.files_count), (4, 4));
    ground.export("b.alf");
    let read = |name| fs_err::read(ground.path(name)).unwrap();
    assert_eq!(read("a.alf"), read("b.alf"));
}

#[test]
fn an_archive_is_only_overwritten_when_asked_for() {
    let ground = Ground::with_agent();
    ground.export("a.alf");
    let request = ground.export_request("a.alf");
    assert!(matches!(export(&request, &ground.host), Err(ExportError::File(_))));
    let request = ExportRequest { existing: Existing::Replace, ..request };
    assert!(export(&request, &ground.host).is_ok());
}

#[test]
fn a_dry_run_of_an_export_lists_files_and_writes_nothing() {
    let ground = Ground::with_agent();
    let before = tree(ground.root());
    let request = ExportRequest { dry_run: true, ..ground.export_request("a.alf") };
    let report = export(&request, &ground.host).unwrap();
    assert!(report.dry_run && report.output.is_none());
    let files = report.summary.unwrap().files;
    assert!(files.iter().any(|file| file.path == "MEMORY.md" && file.kind == "file"));
    assert_eq!(tree(ground.root()), before);
}

#[test]
fn secrets_stop_an_export_unless_somebody_decides() {
    let ground = Ground::with_agent();
    let key = format!("sk-{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    ground.write("w/TOOLS.md", format!("api_key = \"{key}\"\n"));
    let request = ground.export_request("a.alf");
    let Err(ExportError::Secrets(secrets)) = export(&request, &ground.host) else {
        panic!("it was exported")
    };
    assert_eq!((secrets[0].path.as_str(), secrets[0].line), ("TOOLS.md", 1));
    assert!(!ground.path("a.alf").exists());
    let request = ExportRequest { secrets: SecretPolicy::Redact, ..request };
    let summary = export(&request, &ground.host).unwrap().summary.unwrap();
    assert_eq!(summary.secrets.len(), 1);
}

#[test]
fn an_empty_folder_is_only_exported_when_asked_for() {
    let ground = Ground::new();
    fs_err::create_dir(ground.path("w")).unwrap();
    let request = ground.export_request("a.alf");
    assert!(matches!(export(&request, &ground.host), Err(ExportError::Nothing(_))));
    let request = ExportRequest { allow_empty: true, ..request };
    assert!(export(&request, &ground.host).is_ok());
}

#[test]
fn nothing_is_written_when_nothing_changed_since_an_earlier_archive() {
    let ground = Ground::with_agent();
    ground.export("a.alf");
    let since = Some(ground.path("a.alf"));
    let request = ExportRequest { since, ..ground.export_request("b.alf") };
    assert!(export(&request, &ground.host).unwrap().no_changes);
    assert!(!ground.path("b.alf").exists());
    ground.write("w/memory/2026-03-02.md", "# 2026-03-02\n\n## New\n\nOne more.\n");
    assert!(!export(&request, &ground.host).unwrap().no_changes);
    ground.write("w/.alf-agent-id", "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f\n");
    let request = ExportRequest { output: Some(ground.path("c.alf")), ..request };
    let error = export(&request, &ground.host).unwrap_err();
    assert!(matches!(error, ExportError::DifferentAgents { .. }), "{error}");
}

#[test]
fn an_archive_of_ours_in_the_workspace_does_not_travel() {
    let ground = Ground::with_agent();
    let output = Some(ground.path("w/a.alf"));
    let request = ExportRequest { output, ..ground.export_request("a.alf") };
    export(&request, &ground.host).unwrap();
    let left_out = ground.export("b.alf").summary.unwrap().left_out;
    assert!(left_out.iter().any(|item| item.path == "a.alf" && item.reason == LeftOutReason::Own));
}

#[test]
fn an_agent_comes_back_as_it_was_and_a_second_import_finds_it_there() {
    let ground = Ground::with_agent();
    ground.export("a.alf");
    let request = ground.import_request("a.alf", "back");
    let report = ground.import(&request).unwrap();
    assert_eq!((report.memory_records, report.files_replaced), (4, 0));
    let mut back = tree(&ground.path("back"));
    assert!(back.remove(Path::new(".alf-agent-id")).is_some());
    assert_eq!(back, tree(&ground.path("w")));
    let again = ground.import(&request).unwrap();
    assert_eq!((again.files_created, again.conflicts.len()), (0, 0));
}

#[test]
fn files_that_differ_stop_an_import_before_anything_is_changed() {
    let ground = Ground::with_agent();
    ground.export("a.alf");
    ground.write("back/MEMORY.md", "mine\n");
    let before = tree(&ground.path("back"));
    let request = ground.import_request("a.alf", "back");
    let Err(ImportError::Conflicts { report, .. }) = ground.import(&request) else {
        panic!("it was imported")
    };
    assert_eq!(report.conflicts.len(), 1);
    assert_eq!(report.conflicts[0].path, "MEMORY.md");
    assert_eq!(tree(&ground.path("back")), before);

    let both = RestoreChoice::new(OnConflict::Both);
    let dry = ImportRequest { dry_run: true, restore: both, ..request.clone() };
    let plan = ground.import(&dry).unwrap().plan.unwrap();
    assert!(plan.iter().any(|step| step.path == "MEMORY.md" && step.action == "both"));
    assert_eq!(tree(&ground.path("back")), before);

    let theirs = ImportRequest { restore: RestoreChoice::new(OnConflict::Theirs), ..request };
    let report = ground.import(&theirs).unwrap();
    let kept = PathBuf::from(report.stores.replaced_kept_at.unwrap());
    assert_eq!(fs_err::read(kept.join("MEMORY.md")).unwrap(), b"mine\n");
    assert_ne!(fs_err::read(ground.path("back/MEMORY.md")).unwrap(), b"mine\n");
}

#[test]
fn the_workspace_of_another_agent_is_not_taken() {
    let ground = Ground::with_agent();
    ground.export("a.alf");
    ground.write("back/.alf-agent-id", "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f\n");
    let error = ground.import(&ground.import_request("a.alf", "back")).unwrap_err();
    assert!(matches!(error, ImportError::DifferentAgents(_)), "{error}");
}

#[test]
fn a_choice_that_a_runtime_does_not_have_is_named() {
    let ground = Ground::with_agent();
    ground.export("a.alf");
    for (runtime, known) in [("openclaw", 0), ("zeroclaw", 2)] {
        let backend = Some("stone".to_owned());
        let request = ImportRequest {
            runtime: Some(runtime.to_owned()),
            restore: RestoreChoice { backend, ..RestoreChoice::new(OnConflict::Stop) },
            ..ground.import_request("a.alf", "back")
        };
        let Err(ImportError::Choice(error)) = ground.import(&request) else {
            panic!("{runtime} takes anything")
        };
        assert_eq!((error.setting, error.known.len()), (InstallSetting::Backend, known));
    }
}

#[test]
fn an_agent_moves_as_files_and_comes_back_as_it_was() {
    let ground = Ground::with_agent();
    let before = tree(&ground.path("w"));
    let there = ground.migrate_request(("openclaw", "w"), ("zeroclaw", "z"));
    let dry = MigrateRequest { dry_run: true, ..there.clone() };
    assert!(ground.migrate(&dry).unwrap().proof.is_none());
    assert!(!ground.path("z").exists());

    let moved = ground.migrate(&there).unwrap();
    assert!(moved.proof.unwrap().lost.is_empty());
    assert!(Path::new(&moved.snapshots[0].path).starts_with(&ground.host.folders.data));
    assert_eq!(tree(&ground.path("w")), before, "the agent that is read is not changed");

    let back = ground.migrate_request(("zeroclaw", "z"), ("openclaw", "back"));
    assert!(ground.migrate(&back).unwrap().proof.unwrap().lost.is_empty());
    let mut is = tree(&ground.path("back"));
    is.remove(Path::new(".alf-agent-id"));
    assert_eq!(is, before);
}

#[test]
fn an_agent_does_not_move_into_itself_and_snapshots_do_not_go_into_it() {
    let ground = Ground::with_agent();
    let refused = |request: &MigrateRequest| ground.migrate(request).unwrap_err();
    let same = ground.migrate_request(("openclaw", "w"), ("openclaw", "w"));
    assert!(matches!(refused(&same), MigrateError::AlreadyThere(_)));
    let nested = ground.migrate_request(("openclaw", "w"), ("openclaw", "w/inner"));
    assert!(matches!(refused(&nested), MigrateError::Nested(_)));
    let inside = MigrateRequest {
        snapshots: Some(ground.path("w/snapshots")),
        ..ground.migrate_request(("openclaw", "w"), ("openclaw", "v"))
    };
    assert!(matches!(refused(&inside), MigrateError::SnapshotsInWorkspace(_)));
}

/// Plans how the agent becomes files of ZeroClaw, in a new install.
fn with_plan(ground: &Ground, run: impl FnOnce(&Plan, &RestoreSource<'_>)) {
    if !ground.path("a.alf").exists() {
        ground.export("a.alf");
    }
    let (bytes, length) = anemone::files::open_plain(&ground.path("a.alf")).unwrap();
    let archive = Archive::open(bytes, length, &Limits::default()).unwrap();
    let source = ArchiveSource::new(&archive).unwrap();
    let runtime = by_name("zeroclaw").unwrap();
    let machine = ground.host.machine().unwrap();
    let target = runtime.locate(&machine, &ground.path("z"), None);
    let backend = Some("markdown".to_owned());
    let choice = RestoreChoice { backend, ..RestoreChoice::new(OnConflict::Stop) };
    let options = choice.plan_options("zeroclaw", None).unwrap();
    let source = RestoreSource::open(&machine, &source, "zeroclaw").unwrap();
    run(&runtime.plan(&machine, &source, &target, &options).unwrap(), &source);
}

fn apply(
    ground: &Ground,
    plan: &Plan,
    source: &RestoreSource<'_>,
) -> Result<Stores, ApplyPlanError> {
    let mut stores = Stores::planned(plan);
    let machine = ground.host.machine().unwrap();
    restore(plan, source, &machine, &mut stores, &ground.host)?;
    Ok(stores)
}

#[test]
fn files_that_cannot_be_put_in_place_leave_no_trace_of_a_new_install() {
    let ground = Ground::with_agent();
    with_plan(&ground, |plan, source| {
        assert!(plan.new_install.is_some() && plan.config.is_some());
        // Another program writes into the workspace after the plan was made.
        fs_err::create_dir_all(&plan.workspace).unwrap();
        fs_err::write(plan.workspace.join("SOUL.md"), "mine").unwrap();
        let before = tree(&ground.path("z"));
        let error = apply(&ground, plan, source).unwrap_err();
        assert!(matches!(error, ApplyPlanError::Files(_)), "{error}");
        assert_eq!(tree(&ground.path("z")), before);
    });
}

#[test]
fn settings_come_after_the_files_and_a_second_attempt_does_what_is_missing() {
    let ground = Ground::with_agent();
    let config = ground.path("z/config.toml");
    with_plan(&ground, |plan, source| {
        // A folder in the place of the settings cannot be replaced by a file.
        fs_err::create_dir_all(config.join("inner")).unwrap();
        let error = apply(&ground, plan, source).unwrap_err();
        assert!(matches!(error, ApplyPlanError::Settings { .. }), "{error}");
        assert!(plan.workspace.join("SOUL.md").is_file());
    });
    fs_err::remove_dir_all(&config).unwrap();
    with_plan(&ground, |plan, source| {
        assert!(plan.steps.iter().all(|step| step.action == Action::Same));
        let stores = apply(&ground, plan, source).unwrap();
        assert!(stores.config.is_some() && stores.replaced_kept_at.is_none());
    });
    assert!(config.is_file());
}

#[test]
#[ignore = "holds a database for another test, which starts it"]
fn holds_a_database_for_another_test() {
    anemone_testkit::database::hold_database();
}
