//! Restores a snapshot as an OpenClaw workspace.
//!
//! A snapshot of an OpenClaw agent contains its files, which are restored as they were. From a
//! snapshot of another runtime, files with the same meaning are kept and the others are generated
//! from records and documents; what has no place goes into the sidecar. An agent that returns from
//! another runtime is restored as it was, with the changes since.

mod records;
mod returning_files;
#[cfg(test)]
mod round_trip_tests;
mod split_records;
mod store_folder;

use std::collections::BTreeMap;

use anemone_format::{
    Credential, Credentials, FileRoot, Identity, Record, RecordId, SnapshotSource, SourceFile,
    SourceKind, Status,
};

use self::records::PageWriter;
use self::store_folder::StoreFate;
use super::layout::{MemoryKind, PathRole, place_of};
use super::{RUNTIME, credentials::OnExisting, credentials::plan_store, lancedb};
use crate::kit::{
    AGENT_ID_FILE, Claim, Claims, CredentialsStep, FoundAgent, Link, Machine, NotRestored,
    NotRestoredKind, OnConflict, PlacedFile, Plan, PlanBuilder, PlanError, PlanOptions,
    PlannedFile, PlannedNode, RecordPlaces, RestoreSource, ReturningSnapshot, SidecarContent,
    agent_id_file, documents, each_record, is_in_sidecar, lossy, not_restored, note_artifacts,
    note_capabilities, note_records, one_line, open, plan, sidecar,
};

/// Plans how a snapshot of this runtime becomes the workspace of an agent again.
pub(super) fn plan_restore(
    machine: &Machine,
    source: &RestoreSource<'_>,
    target: &FoundAgent,
    options: &PlanOptions<'_>,
) -> Result<Plan, PlanError> {
    let mut draft = PlanBuilder::new(source);
    let identity = source.current().identity().map_err(PlanError::Source)?;
    match source.returning() {
        Some(returned) => {
            let store = plan_store_folder(machine, returned, target, options, &mut draft)?;
            let source = source.snapshot();
            returning_files::put_back(machine, source, returned, target, store, &mut draft)?;
        }
        None => {
            let source = source.snapshot();
            let files = store_files(source);
            let store = store_folder::plan(
                machine,
                source,
                files,
                target,
                options.on_conflict,
                &mut draft,
            )?;
            restore(machine, source, target, identity.as_ref(), store, &mut draft)?;
        }
    }
    finish(machine, source, target, options, identity.as_ref(), draft)
}

/// Returns the files of the store of memories beside the workspace, with their positions.
fn store_files(source: &dyn SnapshotSource) -> Vec<(usize, SourceFile)> {
    let files = source.files().iter().enumerate();
    let own = files.filter(|(_, file)| store_folder::is_store_file(file));
    own.map(|(index, file)| (index, file.clone())).collect()
}

/// Plans how the store of an agent that returns goes back.
fn plan_store_folder(
    machine: &Machine,
    returned: &ReturningSnapshot<'_>,
    target: &FoundAgent,
    options: &PlanOptions<'_>,
    draft: &mut PlanBuilder,
) -> Result<StoreFate, PlanError> {
    let files = store_files(returned);
    let files = files.into_iter().map(|(index, file)| (returned.position(index), file)).collect();
    store_folder::plan(machine, returned, files, target, options.on_conflict, draft)
}

/// Plans how a snapshot of another runtime becomes the workspace of an agent.
pub(super) fn plan_move_in(
    machine: &Machine,
    source: &RestoreSource<'_>,
    target: &FoundAgent,
    options: &PlanOptions<'_>,
) -> Result<Plan, PlanError> {
    let mut draft = PlanBuilder::new(source);
    let identity = source.identity().map_err(PlanError::Source)?;
    settle(machine, source.snapshot(), target, identity.as_ref(), &mut draft)?;
    finish(machine, source, target, options, identity.as_ref(), draft)
}

/// Adds what every agent has, whatever it was made from.
fn finish(
    machine: &Machine,
    source: &RestoreSource<'_>,
    target: &FoundAgent,
    options: &PlanOptions<'_>,
    identity: Option<&Identity>,
    mut draft: PlanBuilder,
) -> Result<Plan, PlanError> {
    let read = PlanError::Source;
    let (returned, origin, source) = (source.returning(), source.current(), source.snapshot());
    if draft.wanted.iter().all(|file| file.path != AGENT_ID_FILE.as_bytes()) {
        draft.wanted.push(agent_id_file(origin.manifest()));
    }
    if let Some(structured) = identity.and_then(|identity| identity.structured.as_ref()) {
        note_capabilities(machine, structured, &mut draft);
    }
    note_artifacts(origin, &mut draft).map_err(read)?;
    let mut credentials = origin.credentials().map_err(read)?;
    if let Some(returned) = returned {
        draft.forgotten = returned.forgotten().map_err(read)?;
        note_artifacts(source, &mut draft).map_err(read)?;
        returning_files::add_credentials(&mut credentials, source.credentials().map_err(read)?);
    }
    if let Some(credentials) = credentials {
        plan_credentials(machine, target, options, credentials, &mut draft);
    }
    let agent_id = origin.manifest().agent.id;
    let mut plan = plan::plan(&target.workspace, draft, source, options)?;
    plan.agent_id = agent_id;
    Ok(plan)
}

/// Where a record of another runtime goes, and what is read back from there.
pub(crate) struct TargetFile {
    pub(crate) path: String,
    /// The day in the file's name.
    pub(crate) day: Option<jiff::civil::Date>,
    pub(crate) memory_type: &'static str,
}

/// Returns where a record of another runtime goes.
pub(crate) fn home(record: &Record) -> TargetFile {
    let path = records::file_of(record);
    let (day, memory_type) = match split_records::kind_of(&path) {
        Some(MemoryKind::Daily(name)) => (Some(name.date), "episodic"),
        Some(MemoryKind::ActiveContext) => (None, "summary"),
        Some(MemoryKind::Gating) => (None, "procedural"),
        _ => (None, "semantic"),
    };
    TargetFile { path, day, memory_type }
}

/// Restores the files of a snapshot of this runtime; missing ones are generated.
fn restore(
    machine: &Machine,
    source: &dyn SnapshotSource,
    target: &FoundAgent,
    identity: Option<&Identity>,
    store: StoreFate,
    draft: &mut PlanBuilder,
) -> Result<(), PlanError> {
    let read = PlanError::Source;
    let carried = carried_files(source, &mut draft.not_restored);
    let is_ours = !carried.raw.is_empty();
    draft.wanted = carried.raw;
    if !is_ours {
        for (path, text, at) in documents(source, identity, draft).map_err(read)? {
            draft.wanted.push(PlannedFile::text(&path, text, at));
        }
        let mut pages = PageWriter::new(machine, target, draft)?;
        pages.take_all(source)?;
        pages.write_all(draft)?;
        pages.finish(draft)?;
    }
    // Where an artifact has the path of another file, that file comes first and takes precedence.
    draft.wanted.extend(carried.artifacts);
    if is_ours {
        if store == StoreFate::Absent {
            write_store_memories(machine, source, target, draft)?;
        }
        note_records(source, &store_folder::is_held, draft).map_err(read)?;
    }
    Ok(())
}

/// Writes the memories of a store that cannot be put back into a file of their own.
fn write_store_memories(
    machine: &Machine,
    source: &dyn SnapshotSource,
    target: &FoundAgent,
    draft: &mut PlanBuilder,
) -> Result<(), PlanError> {
    let mut pages = PageWriter::new(machine, target, draft)?;
    let path = |number: u32| match number {
        1 => format!("memory/{}.md", lancedb::NAMESPACE),
        number => format!("memory/{}-{number}.md", lancedb::NAMESPACE),
    };
    let is_taken = |path: &String| draft.wanted.iter().any(|file| file.path == path.as_bytes());
    let free = (1..).map(path).find(|path| !is_taken(path)).unwrap_or_default();
    let mut found = false;
    each_record(source, &mut |record| {
        let is_ours = lancedb::is_of_store(record.source.origin_file.as_deref());
        if is_ours && *record.status.effective() != Status::Deleted {
            found = true;
            pages.take(record, free.clone())?;
        }
        Ok(())
    })?;
    if found {
        pages.write_all(draft)?;
        pages.finish(draft)?;
        if store_files(source).is_empty() {
            let reason = "its files did not travel, only its memories, which go into files";
            let path = format!("raw/{}", lancedb::ROOT);
            draft.omit(NotRestoredKind::Files, path, reason);
        }
    }
    Ok(())
}

/// Generates a workspace from a snapshot of another runtime.
fn settle(
    machine: &Machine,
    source: &dyn SnapshotSource,
    target: &FoundAgent,
    identity: Option<&Identity>,
    draft: &mut PlanBuilder,
) -> Result<(), PlanError> {
    let mut pages = PageWriter::new(machine, target, draft)?;
    pages.take_all(source)?;
    let mut homes = FilePlaces::default();
    for (index, file) in source.files().iter().enumerate() {
        if matches!(file.root, FileRoot::Raw(_)) {
            homes.find(index, file, &pages, draft);
        }
    }
    homes.documents(source, identity, draft)?;
    pages.write_all(draft)?;
    homes.claim_all(draft);
    for (index, file) in source.files().iter().enumerate() {
        match file.root {
            FileRoot::Raw(_) => {}
            FileRoot::Artifacts => homes.artifact(index, file, draft),
            FileRoot::Other => homes.aside.push(index),
        }
    }
    homes.placed.append(&mut pages.placed);
    let became = std::mem::take(&mut pages.became);
    pages.finish(draft)?;
    homes.keep(machine, source, became, draft)
}

/// Where the files of another runtime go.
#[derive(Default)]
struct FilePlaces {
    claims: Claims,
    placed: Vec<PlacedFile>,
    aside: Vec<usize>,
}

impl FilePlaces {
    /// Puts a file where it has the same meaning, or aside.
    fn find(
        &mut self,
        index: usize,
        file: &SourceFile,
        pages: &PageWriter,
        draft: &mut PlanBuilder,
    ) {
        let is_file = matches!(file.kind, SourceKind::File { .. });
        let same = is_file
            && match place_of(&file.path) {
                PathRole::Persona(_) => true,
                // The runtime reads it to the agent, unless memories are made from it.
                PathRole::Memory(_) => {
                    file.path == b"MEMORY.md"
                        && !pages.origins.contains("MEMORY.md")
                        && !pages.wants("MEMORY.md")
                }
                _ => false,
            };
        self.put(index, file, same, draft);
    }

    /// Takes a file into the workspace if it is allowed there and its path is free; otherwise it is
    /// kept aside.
    fn put(&mut self, index: usize, file: &SourceFile, may_be: bool, draft: &mut PlanBuilder) {
        let is_folder = file.kind == SourceKind::Folder;
        if may_be && self.claims.claim(&file.path, is_folder) == Claim::Free {
            draft.wanted.push(PlannedFile::carried(index, file));
            self.placed.push(PlacedFile::of(file));
        } else {
            self.aside.push(index);
        }
    }

    /// Generates the missing files of the persona and the people.
    fn documents(
        &mut self,
        source: &dyn SnapshotSource,
        identity: Option<&Identity>,
        draft: &mut PlanBuilder,
    ) -> Result<(), PlanError> {
        let files = documents(source, identity, draft).map_err(PlanError::Source)?;
        for (path, text, at) in files {
            if self.claims.claim(path.as_bytes(), false) == Claim::Free {
                self.placed.push(PlacedFile::made_with(&path, &text));
                draft.wanted.push(PlannedFile::text(&path, text, at));
            }
        }
        Ok(())
    }

    /// Records which paths are taken.
    fn claim_all(&mut self, draft: &PlanBuilder) {
        for wanted in &draft.wanted {
            self.claims.claim(&wanted.path, matches!(wanted.node, PlannedNode::Folder));
        }
    }

    /// Puts a file without an owner at its original path, or aside if that is taken.
    fn artifact(&mut self, index: usize, file: &SourceFile, draft: &mut PlanBuilder) {
        let is_ours = is_in_sidecar(&file.path) || file.path == AGENT_ID_FILE.as_bytes();
        self.put(index, file, !is_ours, draft);
    }

    /// Keeps what has no place in the sidecar.
    fn keep(
        self,
        machine: &Machine,
        source: &dyn SnapshotSource,
        became: BTreeMap<RecordId, RecordPlaces>,
        draft: &mut PlanBuilder,
    ) -> Result<(), PlanError> {
        let links = became.into_iter().map(|(id, places)| Link { id, places }).collect();
        let keep = SidecarContent { aside: self.aside, placed: self.placed, links };
        sidecar::keep(machine, source, keep, draft)
    }
}

/// The files of a snapshot that belong in this workspace.
#[derive(Default)]
struct CarriedFile {
    /// Files of this runtime.
    raw: Vec<PlannedFile>,
    artifacts: Vec<PlannedFile>,
}

fn carried_files(source: &dyn SnapshotSource, notes: &mut Vec<NotRestored>) -> CarriedFile {
    let mut others: BTreeMap<&str, u64> = BTreeMap::new();
    let mut carried = CarriedFile::default();
    for (index, file) in source.files().iter().enumerate() {
        match &file.root {
            FileRoot::Raw(runtime) if runtime == RUNTIME => {
                carried.raw.push(PlannedFile::carried(index, file));
            }
            FileRoot::Raw(runtime) if runtime == lancedb::ROOT => {}
            FileRoot::Raw(runtime) => *others.entry(runtime).or_default() += 1,
            FileRoot::Artifacts => carried.artifacts.push(PlannedFile::carried(index, file)),
            FileRoot::Other => notes.push(NotRestored::of(
                NotRestoredKind::File,
                lossy(&file.path),
                "the snapshot does not say where it belongs",
            )),
        }
    }
    for (runtime, files) in others {
        let noun = if files == 1 { "file" } else { "files" };
        notes.push(NotRestored::of(
            NotRestoredKind::Files,
            format!("raw/{runtime}"),
            format!("{files} {noun} of {runtime} mean nothing to {RUNTIME}"),
        ));
    }
    carried
}

/// Plans how credentials go into the store of the install, and notes those that do not.
fn plan_credentials(
    machine: &Machine,
    target: &FoundAgent,
    options: &PlanOptions<'_>,
    credentials: Credentials,
    draft: &mut PlanBuilder,
) {
    let mut opened = Vec::new();
    for credential in credentials.credentials {
        match open(&credential, target, options) {
            Ok(secret) => opened.push((credential, secret)),
            Err(reason) => draft.not_restored.push(not_restored(&credential, reason)),
        }
    }
    if opened.is_empty() {
        return;
    }
    let on_existing = match options.on_conflict {
        OnConflict::Theirs => OnExisting::Replace,
        OnConflict::Stop | OnConflict::Ours | OnConflict::Both => OnExisting::Keep,
    };
    match plan_store(machine, target, &opened, on_existing) {
        Ok(mut change) => {
            draft.not_restored.append(&mut change.refused);
            draft.credentials = Some(CredentialsStep {
                store: change.path.clone(),
                added: change.added.clone(),
                replaced: change.replaced.clone(),
                kept: change.kept.clone(),
                change: Box::new(change),
            });
        }
        Err(warning) => {
            let note = |(value, _): &(Credential, _)| not_restored(value, warning.message.clone());
            draft.not_restored.extend(opened.iter().map(note));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::path::Path;

    use anemone_format::{
        Capability, Entity, EntityKind, ItemId, LoadedSnapshot, Names, Nullable, Opaque, Pairs,
        Portability, Principal, PrincipalType, Principals, Profile, ProseIdentity, ProseProfile,
        Snapshot, StructuredIdentity, StructuredProfile, SubAgent, SubAgentStatus, Unknown,
    };

    use super::records::{file_of, is_memory_file};
    use super::*;
    use crate::kit::agent::KnownConfigs;
    use crate::kit::plan::{Action, Step};
    use crate::kit::tree::tests::{at, file, snapshot};

    fn machine(path: &Path) -> Machine {
        Machine {
            home: path.to_owned(),
            variables: BTreeMap::from([("PATH".to_owned(), path.join("bin").into())]),
            database_reader: path.join("none"),
            scratch: path.to_owned(),
            configs: KnownConfigs::default(),
        }
    }

    /// Plans a snapshot as the runtime does.
    pub(super) fn plan(
        machine: &Machine,
        snapshot: &dyn SnapshotSource,
        target: &FoundAgent,
        options: &PlanOptions<'_>,
    ) -> Result<Plan, PlanError> {
        let source = RestoreSource::open(machine, snapshot, RUNTIME)?;
        crate::openclaw::OPENCLAW.plan(machine, &source, target, options)
    }

    fn agent(workspace: &Path, generation: Option<&'static str>) -> FoundAgent {
        FoundAgent {
            runtime: RUNTIME,
            generation,
            alias: "main".to_owned(),
            workspace: workspace.to_owned(),
            shares_workspace: false,
            install: None,
            config: None,
            database: None,
            version: None,
            oddities: Vec::new(),
        }
    }

    /// Plans a snapshot for an empty place and returns the plan with the text of every file.
    fn planned(
        snapshot: &Snapshot,
        generation: Option<&'static str>,
    ) -> (Plan, BTreeMap<String, String>) {
        let root = tempfile::tempdir().unwrap();
        let source = LoadedSnapshot::new(snapshot);
        let options = PlanOptions::new(OnConflict::Stop);
        let target = agent(&root.path().join("w"), generation);
        let plan = plan(&machine(root.path()), &source, &target, &options).unwrap();
        let read = |step: &Step| {
            let PlannedNode::File { size, content, .. } = &step.node else { return None };
            let mut text = String::new();
            plan.open(content, &source).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(*size, text.len() as u64);
            assert_eq!(step.action, Action::Create);
            Some((lossy(&step.path), text))
        };
        let mut files: BTreeMap<String, String> = plan.steps.iter().filter_map(read).collect();
        let id = files.remove(AGENT_ID_FILE).unwrap();
        assert_eq!(id, "9e373c1e-cab7-5eea-90c3-8f3d09ac5755");
        (plan, files)
    }

    fn record(number: u128, namespace: &str, content: &str) -> Record {
        let agent = snapshot().manifest.agent.id;
        let id = RecordId::new(uuid::Uuid::from_u128(number));
        let created = at(&format!("2026-01-0{}T10:00:00Z", number % 9 + 1));
        let mut record = Record::new(id, agent, "zeroclaw", created, content);
        record.namespace = namespace.to_owned();
        record
    }

    fn placed(mut record: Record, path: &str, line_start: u64) -> Record {
        #[derive(serde::Serialize)]
        struct Lines {
            line_start: u64,
        }
        record.source.origin_file = Some(path.to_owned());
        record.raw_source_format = Some(Opaque::new(&Lines { line_start }).unwrap());
        record
    }

    fn with_records(records: Vec<Record>) -> Snapshot {
        Snapshot { records, ..snapshot() }
    }

    #[test]
    fn records_of_one_file_join_to_that_file_whatever_their_order() {
        let parts = ["# Log\r\n\r\n", "## A\nx\n\n\n", "## B\n```\n## no\n```\n", "## C\nno end"];
        let lines = [1, 3, 7, 11];
        let mut records: Vec<Record> = parts
            .iter()
            .zip(lines)
            .enumerate()
            .map(|(index, (text, line))| {
                placed(record(9 - index as u128, "daily", text), "memory/2026-01-15.md", line)
            })
            .collect();
        records.swap(0, 2);
        let (plan, files) = planned(&with_records(records), None);
        assert_eq!(files["memory/2026-01-15.md"], parts.concat());
        assert_eq!(plan.records, 4);
    }

    #[test]
    fn blank_lines_that_another_tool_dropped_come_back() {
        let path = "MEMORY.md";
        let records = vec![
            placed(record(1, "curated", "## A\nx"), path, 1),
            placed(record(2, "curated", "## B"), path, 4),
            placed(record(3, "curated", "## C\ny"), path, 5),
            placed(record(4, "curated", "## D"), path, 90),
        ];
        let (_, files) = planned(&with_records(records), None);
        assert_eq!(files[path], "## A\nx\n\n## B\n## C\ny\n\n\n## D");
    }

    #[test]
    fn every_namespace_has_its_file() {
        let mut observed = record(1, "daily", "x");
        observed.temporal.observed_at = Some(at("2025-12-31T23:00:00-05:00"));
        let mut project = record(1, "project", "x");
        let kind = EntityKind::Project;
        let unknown = Unknown::default();
        let name = "Reef Tank 2!".to_owned();
        project.entities = vec![Entity { name, kind, role: None, unknown }];
        for (record, path) in [
            (record(1, "daily", "x"), "memory/2026-01-02.md"),
            (observed, "memory/2026-01-01.md"),
            (record(1, "curated", "x"), "MEMORY.md"),
            (record(1, "active-context", "x"), "memory/active-context.md"),
            (project, "memory/project-reef-tank-2.md"),
            (record(1, "project", "x"), "memory/project-imported.md"),
            (record(1, "procedural", "x"), "memory/gating-policies.md"),
            (record(1, "facts", "x"), "memory/facts.md"),
            (record(1, "Core / 海", "x"), "memory/core-海.md"),
            (record(1, "../../etc", "x"), "memory/etc.md"),
            (record(1, "", "x"), "memory/imported.md"),
        ] {
            assert_eq!(file_of(&record), path);
        }
    }

    #[test]
    fn only_a_path_that_openclaw_reads_is_taken_from_a_record() {
        for (path, taken) in [
            ("MEMORY.md", true),
            ("memory.md", true),
            ("memory/topics/ü x.md", true),
            ("memory/../../x.md", false),
            ("../memory/x.md", false),
            ("/memory/x.md", false),
            ("memory//x.md", false),
            ("memory/./x.md", false),
            ("memory/x\\y.md", false),
            ("memory/x\n.md", false),
            ("memory/C:x.md", false),
            ("memory/facts.db", false),
            ("memory/x.MD", false),
            ("SOUL.md", false),
            ("", false),
        ] {
            assert_eq!(is_memory_file(path), taken, "{path:?}");
        }
        assert!(!is_memory_file(&format!("memory/{}.md", "x".repeat(300))));
    }

    #[test]
    fn records_below_a_file_go_into_that_file() {
        let records = vec![
            placed(record(1, "workspace", "## A\n"), "memory/a.md", 1),
            placed(record(2, "workspace", "## B\n"), "memory/a.md/b.md", 1),
        ];
        let (plan, files) = planned(&with_records(records), None);
        assert_eq!(files["memory/a.md"], "## A\n\n## B\n");
        assert_eq!((files.len(), plan.records), (1, 2));
    }

    #[test]
    fn foreign_records_get_headings_tags_and_comments() {
        #[derive(serde::Serialize)]
        struct Key {
            key: &'static str,
        }
        let mut preference = record(1, "core", "Likes oolong.");
        preference.raw_source_format = Some(Opaque::new(&Key { key: "tea" }).unwrap());
        preference.category = Some("user preference".to_owned());
        preference.confidence = Some(0.85);
        let mut old = record(2, "core", "## Shell\n\nToo small.\nWay too small.\n");
        old.status = Status::Superseded;
        old.temporal.observed_at = Some(at("2025-11-03T00:00:00Z"));
        old.category = Some("lesson".to_owned());
        old.confidence = Some(0.7);
        old.tags = vec!["trigger:moving day".to_owned(), "shells".to_owned()];
        let mut shown = record(3, "core", "- [decision|i=0.9] Move in spring\n");
        (shown.category, shown.confidence) = (Some("decision".to_owned()), Some(0.9));
        let mut scored = record(4, "core", "plain");
        scored.confidence = Some(0.62);
        let mut named = record(5, "core", "more");
        named.category = Some("misc".to_owned());
        let records = vec![preference, old, shown, scored, named];
        let text = "## tea\n\n- [user_preference|i=0.85] Likes oolong.\n\
            \n## Shell\n\n<!-- observed: 2025-11-03 | status: superseded -->\n\
            <!-- trigger: moving day -->\n- [lesson|i=0.7] Shell\n\nToo small.\nWay too small.\n\
            \n## Move in spring\n\n- [decision|i=0.9] Move in spring\n\
            \n## plain\n\n<!-- importance: 6 -->\nplain\n\
            \n## more\n\n<!-- category: misc -->\nmore\n";
        let (_, files) = planned(&with_records(records.clone()), Some("gen-3"));
        assert_eq!(files["MEMORY.md"], text);
        let (_, files) = planned(&with_records(records), Some("gen-9"));
        let recent = text
            .replace("Likes oolong.\n", "Likes oolong. <!-- importance: 9 -->\n")
            .replace("i=0.7] Shell\n", "i=0.7] Shell <!-- importance: 7 -->\n");
        assert_eq!(files["MEMORY.md"], recent);
    }

    #[test]
    fn a_record_alone_in_its_file_is_the_file() {
        let (_, files) = planned(&with_records(vec![record(1, "active-context", "Now.\n")]), None);
        assert_eq!(files["memory/active-context.md"], "Now.\n");
    }

    #[test]
    fn what_no_file_can_hold_is_counted() {
        let mut gone = record(1, "daily", "x");
        gone.status = Status::Deleted;
        let records = vec![
            gone,
            record(2, "session", "x"),
            record(3, "session", "y"),
            record(4, "daily", "z"),
        ];
        let (plan, _) = planned(&with_records(records.clone()), None);
        let reasons: Vec<&str> =
            plan.not_restored.iter().map(|restored| restored.reason.as_str()).collect();
        assert!(reasons[0].starts_with("1 record: "), "{reasons:?}");
        assert!(reasons[1].starts_with("2 records: transcripts"), "{reasons:?}");
        assert_eq!((reasons.len(), plan.records), (2, 1));
        // With files of its own runtime, a record counts when its file exists.
        let mut snapshot = with_records(records);
        snapshot.records[3].source.origin_file = Some("memory/2026-01-05.md".to_owned());
        snapshot.files = vec![file("memory/2026-01-05.md", "z")];
        snapshot.records.push(record(5, "facts", "lost"));
        let (plan, files) = planned(&snapshot, None);
        assert_eq!(files.keys().collect::<Vec<_>>(), ["memory/2026-01-05.md"]);
        assert_eq!((plan.not_restored.len(), plan.records), (3, 1));
    }

    fn identity(prose: Option<ProseIdentity>) -> Identity {
        let capability = |name: &str, needs: Option<&str>| Capability {
            name: name.to_owned(),
            description: None,
            priority: None,
            portability: Some(Portability::HostDependent),
            host_requirements: needs.map(str::to_owned),
            credential_ids: Vec::new(),
            unknown: Unknown::default(),
        };
        let sub_agent = SubAgent {
            agent_id: Nullable(None),
            name: "Bookkeeper".to_owned(),
            description: Some("Adds up".to_owned()),
            capabilities: Vec::new(),
            model_hints: None,
            routing_hints: None,
            status: SubAgentStatus::Active,
            last_invoked_at: None,
            performance_notes: None,
            unknown: Unknown::default(),
        };
        Identity {
            id: ItemId::new(uuid::Uuid::from_u128(1)),
            agent_id: snapshot().manifest.agent.id,
            version: 1,
            updated_at: at("2026-02-01T00:00:00Z"),
            structured: Some(StructuredIdentity {
                names: Some(Names {
                    primary: "Clawdia".to_owned(),
                    nickname: None,
                    full: None,
                    unknown: Unknown::default(),
                }),
                role: Some("Keeps house".to_owned()),
                goals: Vec::new(),
                psychology: None,
                linguistics: None,
                capabilities: vec![
                    capability("containers", Some("Docker")),
                    capability("sensor", Some("/nowhere/at/all")),
                    capability("git", None),
                ],
                sub_agents: vec![sub_agent],
                aieos_extensions: None,
                unknown: Unknown::default(),
            }),
            prose,
            source_format: None,
            raw_source: None,
            unknown: Unknown::default(),
        }
    }

    #[test]
    fn prose_goes_into_its_files_and_sub_agents_are_added() {
        let mut blocks = Pairs::default();
        for (name, text) in [
            ("tools_guidance", "tools"),
            ("heartbeat_checklist", "heartbeat"),
            ("boot_checklist", "boot"),
            ("bootstrap", "first run"),
            ("anthem", "la la"),
        ] {
            blocks.insert(name, text.to_owned());
        }
        let mut prose = ProseIdentity {
            soul: Some("# Soul\n".to_owned()),
            operating_instructions: Some("# Rules\n".to_owned()),
            identity_profile: Some("# Me".to_owned()),
            custom_blocks: Some(blocks),
            unknown: Unknown::default(),
        };
        let mut snapshot = snapshot();
        snapshot.identity = Some(identity(Some(prose.clone())));
        let (plan, files) = planned(&snapshot, None);
        let expected = [
            (
                "AGENTS.md",
                "# Rules\n\n## SubAgent: Bookkeeper\n\n- **Description:** Adds up\n- **Status:** active\n",
            ),
            ("BOOT.md", "boot"),
            ("BOOTSTRAP.md", "first run"),
            ("HEARTBEAT.md", "heartbeat"),
            ("IDENTITY.md", "# Me"),
            ("SOUL.md", "# Soul\n"),
            ("TOOLS.md", "tools"),
        ];
        let found: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!(found, expected);
        let missing: Vec<_> =
            plan.not_restored.iter().filter_map(|restored| restored.path.as_deref()).collect();
        assert_eq!(missing, ["anthem", "containers", "sensor", "git"]);
        // A sub-agent that is named in the instructions stays there as it is written.
        let rules = "## SubAgent: Bookkeeper\nSends nobody.\n";
        prose.operating_instructions = Some(rules.to_owned());
        snapshot.identity = Some(identity(Some(prose)));
        assert_eq!(planned(&snapshot, None).1["AGENTS.md"], rules);
    }

    #[test]
    fn fields_become_a_card_where_there_is_no_prose() {
        let mut snapshot = snapshot();
        snapshot.identity = Some(identity(None));
        let (_, files) = planned(&snapshot, None);
        assert_eq!(
            files["IDENTITY.md"],
            "# IDENTITY.md - Who Am I?\n\n- **Name:** Clawdia\n- **Role:** Keeps house\n\n\
             ## Capabilities\n\n- containers\n- sensor\n- git\n"
        );
    }

    #[test]
    fn the_first_principal_is_the_user_and_others_have_folders() {
        let principal = |number: u128, text: Option<&str>, name: Option<&str>| {
            let id = ItemId::new(uuid::Uuid::from_u128(number));
            Principal {
                id,
                principal_type: PrincipalType::Human,
                agent_id: None,
                profile: Profile {
                    id,
                    agent_id: snapshot().manifest.agent.id,
                    principal_id: id,
                    version: 1,
                    updated_at: at("2026-02-01T00:00:00Z"),
                    structured: name.map(|name| StructuredProfile {
                        name: Some(name.to_owned()),
                        principal_type: None,
                        timezone: Some("Europe/Berlin".to_owned()),
                        locale: None,
                        communication_preferences: None,
                        work_context: None,
                        relationships: Vec::new(),
                        custom_fields: None,
                        unknown: Unknown::default(),
                    }),
                    prose: text.map(|text| ProseProfile {
                        user_profile: Some(text.to_owned()),
                        unknown: Unknown::default(),
                    }),
                    source_format: None,
                    raw_source: None,
                    unknown: Unknown::default(),
                },
                unknown: Unknown::default(),
            }
        };
        let mut snapshot = snapshot();
        snapshot.principals = Some(Principals {
            principals: vec![
                principal(1, Some("# Lin\n"), Some("Lin")),
                principal(2, None, Some("Jonas")),
                principal(3, None, None),
            ],
            unknown: Unknown::default(),
        });
        let (plan, files) = planned(&snapshot, None);
        assert_eq!(files["USER.md"], "# Lin\n");
        let second = "users/00000000-0000-0000-0000-000000000002/USER.md";
        assert_eq!(files[second], "# Jonas\n\n## Timezone\n\nEurope/Berlin\n");
        assert_eq!((files.len(), plan.not_restored.len()), (2, 1));
    }

    #[test]
    fn files_of_another_runtime_are_named_and_an_artifact_gives_way() {
        let mut other = file("config.toml", "x");
        other.root = FileRoot::Raw("zeroclaw".to_owned());
        let mut artifact = file("MEMORY.md", "artifact");
        artifact.root = FileRoot::Artifacts;
        let mut snapshot = with_records(vec![record(1, "curated", "memory")]);
        snapshot.files = vec![artifact.clone(), other];
        let (plan, files) = planned(&snapshot, None);
        assert_eq!(files["MEMORY.md"], "memory\n");
        let paths: Vec<_> =
            plan.not_restored.iter().filter_map(|restored| restored.path.as_deref()).collect();
        assert_eq!(paths, ["raw/zeroclaw", "MEMORY.md"]);
        snapshot.files = vec![artifact, file("MEMORY.md", "raw")];
        assert_eq!(planned(&snapshot, None).1["MEMORY.md"], "raw");
    }

    #[test]
    fn an_id_file_of_the_snapshot_is_put_back_as_it_was() {
        let mut snapshot = snapshot();
        let text = "9e373c1e-cab7-5eea-90c3-8f3d09ac5755";
        snapshot.files = vec![file(AGENT_ID_FILE, text)];
        let (plan, _) = planned(&snapshot, None);
        let step = plan.steps.iter().find(|step| step.path == AGENT_ID_FILE.as_bytes()).unwrap();
        assert_eq!(step.mode, Some(0o640));
        snapshot.files.clear();
        let (plan, _) = planned(&snapshot, None);
        assert_eq!((plan.steps[0].mode, plan.steps[0].size()), (Some(0o644), 36));
        assert_eq!(plan.steps[0].mtime, Some(at("2026-03-01T10:00:00Z")));
    }
}
