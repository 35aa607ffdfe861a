//! A snapshot as an OpenClaw workspace.
//!
//! A snapshot of an OpenClaw agent carries its files, and they are put back as they were. One of
//! another runtime has only records and documents; files are made of those by the tables that
//! reading uses, the other way round.

mod records;

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::Path;

use anemone_format::{
    Capability, Credential, Credentials, FileRoot, Identity, Manifest, NOT_EXPORTED, Portability,
    Principal, StructuredIdentity, StructuredProfile, SubAgent,
};

use self::records::write_records;
use super::RUNTIME;
use super::credentials::{OnExisting, plan_store};
use crate::adapter::{FoundAgent, Machine};
use crate::paths::lossy;
use crate::plan::{
    self, CredentialsStep, Draft, NotRestored, OnConflict, Plan, PlanError, PlanOptions, Wanted,
};
use crate::source::SnapshotSource;
use crate::walk::AGENT_ID_FILE;

/// The shelf of transcripts, which lie outside the workspace.
const SESSION: &str = "session";

/// Plans how a snapshot becomes the workspace of an agent.
pub(super) fn plan(
    machine: &Machine,
    source: &dyn SnapshotSource,
    target: &FoundAgent,
    options: &PlanOptions<'_>,
) -> Result<Plan, PlanError> {
    let read = PlanError::Source;
    let mut draft = Draft::default();
    let carried = carried_files(source, &mut draft.not_restored);
    let identity = source.identity().map_err(read)?;
    let is_ours = !carried.raw.is_empty();
    draft.wanted = carried.raw;
    if !is_ours {
        if let Some(identity) = &identity {
            write_identity(identity, &mut draft);
        }
        if let Some(principals) = source.principals().map_err(read)? {
            write_principals(&principals.principals, &mut draft);
        }
        write_records(machine, source, target, &mut draft)?;
    }
    // Where an artifact has the path of another file, that one comes first and counts.
    draft.wanted.extend(carried.artifacts);
    if is_ours {
        note_records(source, &mut draft).map_err(read)?;
    }
    if draft.wanted.iter().all(|it| it.path != AGENT_ID_FILE.as_bytes()) {
        draft.wanted.push(agent_id_file(source.manifest()));
    }
    if let Some(structured) = identity.as_ref().and_then(|it| it.structured.as_ref()) {
        note_capabilities(machine, structured, &mut draft);
    }
    note_artifacts(source, &mut draft).map_err(read)?;
    if let Some(credentials) = source.credentials().map_err(read)? {
        plan_credentials(machine, target, options, credentials, &mut draft);
    }
    plan::plan(&target.workspace, draft, source, options)
}

fn agent_id_file(manifest: &Manifest) -> Wanted {
    Wanted::text(AGENT_ID_FILE, manifest.agent.id.to_string(), manifest.created_at.clone())
}

/// The files of a snapshot that belong into this workspace.
#[derive(Default)]
struct Carried {
    /// Files of this runtime.
    raw: Vec<Wanted>,
    artifacts: Vec<Wanted>,
}

fn carried_files(source: &dyn SnapshotSource, notes: &mut Vec<NotRestored>) -> Carried {
    let mut others: BTreeMap<&str, u64> = BTreeMap::new();
    let mut carried = Carried::default();
    for (index, file) in source.files().iter().enumerate() {
        match &file.root {
            FileRoot::Raw(runtime) if runtime == RUNTIME => {
                carried.raw.push(Wanted::carried(index, file));
            }
            FileRoot::Raw(runtime) => *others.entry(runtime).or_default() += 1,
            FileRoot::Artifacts => carried.artifacts.push(Wanted::carried(index, file)),
            FileRoot::Other => notes.push(NotRestored {
                what: "file",
                path: Some(lossy(&file.path)),
                reason: "the snapshot does not say where it belongs".to_owned(),
            }),
        }
    }
    for (runtime, files) in others {
        let noun = if files == 1 { "file" } else { "files" };
        notes.push(NotRestored {
            what: "files",
            path: Some(format!("raw/{runtime}")),
            reason: format!("{files} {noun} of {runtime} mean nothing to {RUNTIME}"),
        });
    }
    carried
}

/// Counts the records that the carried files hold, and notes those that no file holds.
fn note_records(source: &dyn SnapshotSource, draft: &mut Draft) -> io::Result<()> {
    let files: HashSet<&[u8]> = draft.wanted.iter().map(|it| &it.path[..]).collect();
    let mut lost = Lost::default();
    let mut held = 0;
    source.each_record_place(&mut |place| {
        if place.deleted {
            lost.deleted += 1;
        } else if place.origin_file.is_some_and(|file| files.contains(file.as_bytes())) {
            held += 1;
        } else if place.namespace == SESSION {
            lost.session += 1;
        } else {
            lost.other += 1;
        }
    })?;
    draft.records = held;
    draft.not_restored.extend(lost.notes());
    Ok(())
}

/// Records that no file holds.
#[derive(Default)]
struct Lost {
    deleted: u64,
    session: u64,
    other: u64,
}

impl Lost {
    fn notes(&self) -> impl Iterator<Item = NotRestored> {
        [
            (self.deleted, "only the mark is left that they were deleted"),
            (
                self.session,
                "transcripts lie outside the workspace, in a store of the runtime's own",
            ),
            (self.other, "no file of the snapshot holds them"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, reason)| {
            let noun = if count == 1 { "record" } else { "records" };
            NotRestored { what: "records", path: None, reason: format!("{count} {noun}: {reason}") }
        })
    }
}

/// Notes artifacts that the snapshot only names.
fn note_artifacts(source: &dyn SnapshotSource, draft: &mut Draft) -> io::Result<()> {
    let Some(list) = source.attachments()? else { return Ok(()) };
    for it in list.attachments.iter().filter(|it| it.archive_path.0.is_none()) {
        let mut reason =
            format!("only named: {} bytes, {} {}", it.size_bytes, it.hash.algorithm, it.hash.value);
        if let Some(place) = &it.remote_ref.0 {
            reason.push_str(", at ");
            reason.push_str(place);
        }
        let path = Some(it.source_path.clone());
        draft.not_restored.push(NotRestored { what: "artifact", path, reason });
    }
    Ok(())
}

/// Plans how credentials go into the store of the install, and notes those that do not.
fn plan_credentials(
    machine: &Machine,
    target: &FoundAgent,
    options: &PlanOptions<'_>,
    credentials: Credentials,
    draft: &mut Draft,
) {
    let mut opened = Vec::new();
    for credential in credentials.credentials {
        let reason = if credential.encrypted_payload == NOT_EXPORTED {
            "its secret was not exported; sign in again".to_owned()
        } else if let Some(key) = options.vault_key {
            match key.open(&credential) {
                Ok(_) if target.install.is_none() => {
                    "the workspace belongs to no install that could keep it".to_owned()
                }
                Ok(secret) => {
                    opened.push((credential, secret));
                    continue;
                }
                Err(error) => error.to_string(),
            }
        } else {
            "its secret is sealed, and no vault key was given".to_owned()
        };
        draft.not_restored.push(not_restored(&credential, reason));
    }
    if opened.is_empty() {
        return;
    }
    let on_existing = match options.on_conflict {
        OnConflict::Theirs => OnExisting::Replace,
        OnConflict::Stop | OnConflict::Ours | OnConflict::Both => OnExisting::Keep,
    };
    match plan_store(machine, target, &opened, on_existing) {
        Ok(change) => {
            draft.credentials = Some(CredentialsStep {
                store: change.path.clone(),
                added: change.added.clone(),
                replaced: change.replaced.clone(),
                kept: change.kept.clone(),
                change: Box::new(change),
            });
        }
        Err(warning) => {
            let note = |(it, _): &(Credential, _)| not_restored(it, warning.message.clone());
            draft.not_restored.extend(opened.iter().map(note));
        }
    }
}

fn not_restored(credential: &Credential, reason: String) -> NotRestored {
    let name = match &credential.label {
        Some(label) => format!("{}: {label}", credential.service),
        None => credential.service.clone(),
    };
    NotRestored { what: "credential", path: Some(name), reason }
}

/// Notes what the agent could do elsewhere and cannot do here.
fn note_capabilities(machine: &Machine, identity: &StructuredIdentity, draft: &mut Draft) {
    let inner = identity.sub_agents.iter().flat_map(|it| &it.capabilities);
    for capability in identity.capabilities.iter().chain(inner) {
        let portability = capability.portability.as_ref().map(Portability::effective);
        if portability != Some(&Portability::HostDependent) {
            continue;
        }
        if let Some(missing) = missing_requirement(machine, capability) {
            draft.not_restored.push(NotRestored {
                what: "capability",
                path: Some(capability.name.clone()),
                reason: format!("it needs {missing}, which is not here"),
            });
        }
    }
}

/// Returns the first thing that a capability needs and the machine does not have.
fn missing_requirement<'a>(machine: &Machine, capability: &'a Capability) -> Option<&'a str> {
    let needs = capability.host_requirements.as_deref().unwrap_or(&capability.name);
    let mut needs = needs.split([',', ';', '\n']).map(str::trim).filter(|it| !it.is_empty());
    needs.find(|need| {
        if need.starts_with('/') {
            return fs_err::symlink_metadata(need).is_err();
        }
        !on_path(machine, &need.to_lowercase().replace(' ', "-"))
    })
}

fn on_path(machine: &Machine, program: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '+' | '-');
    if program.is_empty() || !program.chars().all(plain) {
        return false;
    }
    let Some(path) = machine.variable("PATH") else { return false };
    std::env::split_paths(path).any(|folder| is_executable(&folder.join(program)))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs_err::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// Makes the files that say who the agent is.
fn write_identity(identity: &Identity, draft: &mut Draft) {
    let at = || identity.updated_at.clone();
    let prose = identity.prose.as_ref();
    let mut files: Vec<(&str, String)> = Vec::new();
    let mut instructions = None;
    if let Some(prose) = prose {
        files.extend(prose.soul.clone().map(|text| ("SOUL.md", text)));
        files.extend(prose.identity_profile.clone().map(|text| ("IDENTITY.md", text)));
        instructions.clone_from(&prose.operating_instructions);
        for (name, text) in prose.custom_blocks.iter().flat_map(|it| it.iter()) {
            let file = match name {
                "tools_guidance" => "TOOLS.md",
                "heartbeat_checklist" => "HEARTBEAT.md",
                "boot_checklist" => "BOOT.md",
                "bootstrap" => "BOOTSTRAP.md",
                _ => {
                    draft.not_restored.push(NotRestored {
                        what: "text",
                        path: Some(name.to_owned()),
                        reason: format!("{RUNTIME} has no file for it"),
                    });
                    continue;
                }
            };
            files.push((file, text.clone()));
        }
    }
    let structured = identity.structured.as_ref();
    let has_prose = !files.is_empty() || instructions.is_some();
    if let Some(structured) = structured.filter(|_| !has_prose) {
        files.push(("IDENTITY.md", identity_card(structured)));
    }
    let sub_agents = structured.map_or(&[][..], |it| &it.sub_agents);
    let missing = sub_agents.iter().filter(|it| !names_sub_agent(instructions.as_deref(), it));
    let sections: Vec<String> = missing.map(sub_agent_section).collect();
    if !sections.is_empty() || instructions.is_some() {
        let mut text = instructions.unwrap_or_default();
        for section in sections {
            push_paragraph(&mut text, &section);
        }
        files.push(("AGENTS.md", text));
    }
    draft.wanted.extend(files.into_iter().map(|(path, text)| Wanted::text(path, text, at())));
}

/// Adds text after a blank line.
fn push_paragraph(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    text.push_str(more);
}

/// Returns text on one line, fit for a heading or a list.
fn one_line(text: &str) -> String {
    let plain = text.replace(char::is_control, " ");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn names_sub_agent(instructions: Option<&str>, agent: &SubAgent) -> bool {
    let name = one_line(&agent.name);
    instructions.unwrap_or_default().lines().any(|line| {
        line.trim_start()
            .strip_prefix("## ")
            .map(str::trim)
            .and_then(|heading| heading.strip_prefix("SubAgent"))
            .is_some_and(|rest| rest.trim_start_matches(':').trim() == name)
    })
}

fn sub_agent_section(agent: &SubAgent) -> String {
    let mut text = format!("## SubAgent: {}\n", one_line(&agent.name));
    let mut add = |line: String| push_line(&mut text, &line);
    for (label, value) in [
        ("Description", &agent.description),
        ("Routing", &agent.routing_hints),
        ("Performance", &agent.performance_notes),
    ] {
        if let Some(value) = value {
            add(format!("- **{label}:** {}", one_line(value)));
        }
    }
    if let Some(model) = agent.model_hints.as_ref().and_then(|it| it.primary_model.as_ref()) {
        add(format!("- **Model:** {}", one_line(model)));
    }
    if !agent.capabilities.is_empty() {
        add(format!("- **Capabilities:** {}", capability_names(&agent.capabilities)));
    }
    add(format!("- **Status:** {}", one_line(agent.status.as_str())));
    text
}

/// Adds a line of a list, the first one after a blank line.
fn push_line(text: &mut String, line: &str) {
    if !text.lines().last().is_some_and(|last| last.starts_with("- ")) {
        text.push('\n');
    }
    text.push_str(line);
    text.push('\n');
}

fn capability_names(list: &[Capability]) -> String {
    list.iter().map(|it| one_line(&it.name)).collect::<Vec<_>>().join(", ")
}

/// Writes a persona of which only fields are known, in the shape that OpenClaw reads.
fn identity_card(identity: &StructuredIdentity) -> String {
    let mut text = "# IDENTITY.md - Who Am I?\n".to_owned();
    let names = identity.names.as_ref();
    let fields = [
        ("Name", names.map(|it| &it.primary)),
        ("Nickname", names.and_then(|it| it.nickname.as_ref())),
        ("Full name", names.and_then(|it| it.full.as_ref())),
        ("Role", identity.role.as_ref()),
    ];
    for (label, value) in fields {
        if let Some(value) = value {
            push_line(&mut text, &format!("- **{label}:** {}", one_line(value)));
        }
    }
    for (heading, items) in [
        ("Goals", identity.goals.iter().map(|it| one_line(it)).collect::<Vec<_>>()),
        ("Capabilities", identity.capabilities.iter().map(capability_line).collect()),
    ] {
        if !items.is_empty() {
            push_paragraph(&mut text, &format!("## {heading}\n"));
            items.iter().for_each(|it| push_line(&mut text, &format!("- {it}")));
        }
    }
    text
}

fn capability_line(capability: &Capability) -> String {
    let name = one_line(&capability.name);
    match &capability.description {
        Some(description) => format!("{name}: {}", one_line(description)),
        None => name,
    }
}

/// Makes a file for everybody the agent works for.
fn write_principals(principals: &[Principal], draft: &mut Draft) {
    for (index, principal) in principals.iter().enumerate() {
        let profile = &principal.profile;
        let prose = profile.prose.as_ref().and_then(|it| it.user_profile.clone());
        let card = || profile.structured.as_ref().map(profile_card);
        let Some(text) = prose.or_else(card) else {
            draft.not_restored.push(NotRestored {
                what: "principal",
                path: Some(principal.id.to_string()),
                reason: "nothing is known about them".to_owned(),
            });
            continue;
        };
        let path = match index {
            0 => "USER.md".to_owned(),
            _ => format!("users/{}/USER.md", principal.id),
        };
        draft.wanted.push(Wanted::text(&path, text, profile.updated_at.clone()));
    }
}

/// Writes a principal of whom only fields are known.
fn profile_card(profile: &StructuredProfile) -> String {
    let name = profile.name.as_deref().map_or_else(|| "User".to_owned(), one_line);
    let mut text = format!("# {name}\n");
    if let Some(zone) = &profile.timezone {
        push_paragraph(&mut text, &format!("## Timezone\n\n{}\n", one_line(zone)));
    }
    let wishes = profile.communication_preferences.as_ref();
    let work = profile.work_context.as_ref();
    let projects = work.map(|it| it.projects.join(", ")).filter(|it| !it.is_empty());
    let sections = [
        (
            "Preferences",
            vec![
                ("Tone", wishes.and_then(|it| it.tone.clone())),
                ("Response length", wishes.and_then(|it| it.response_length.clone())),
                ("Formatting", wishes.and_then(|it| it.formatting.clone())),
                ("Language", profile.locale.clone()),
            ],
        ),
        (
            "Work",
            vec![
                ("Role", work.and_then(|it| it.role.clone())),
                ("Company", work.and_then(|it| it.company.clone())),
                ("Projects", projects),
            ],
        ),
    ];
    for (heading, fields) in sections {
        if fields.iter().any(|(_, value)| value.is_some()) {
            push_paragraph(&mut text, &format!("## {heading}\n"));
            for (label, value) in fields {
                if let Some(value) = value {
                    push_line(&mut text, &format!("- {label}: {}", one_line(&value)));
                }
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use anemone_format::{
        Entity, EntityKind, ItemId, Names, Nullable, Opaque, Pairs, PrincipalType, Principals,
        Profile, ProseIdentity, ProseProfile, Record, RecordId, Snapshot, Status, SubAgentStatus,
        Unknown,
    };

    use super::records::{file_of, is_memory_file};
    use super::*;
    use crate::plan::{Action, Step, WantedNode};
    use crate::source::InMemory;
    use crate::tree::tests::{at, file, snapshot};

    fn machine(path: &Path) -> Machine {
        Machine {
            home: path.to_owned(),
            variables: BTreeMap::from([("PATH".to_owned(), path.join("bin").into())]),
            database_reader: path.join("none"),
            scratch: path.to_owned(),
        }
    }

    fn agent(workspace: &Path, generation: Option<&'static str>) -> FoundAgent {
        FoundAgent {
            runtime: RUNTIME,
            generation,
            alias: "main".to_owned(),
            workspace: workspace.to_owned(),
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
        let source = InMemory::new(snapshot);
        let options = PlanOptions { on_conflict: OnConflict::Stop, vault_key: None };
        let target = agent(&root.path().join("w"), generation);
        let plan = plan(&machine(root.path()), &source, &target, &options).unwrap();
        let read = |step: &Step| {
            let WantedNode::File { size, content, .. } = &step.node else { return None };
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
            \n## more\n\n<!-- category: misc -->\nmore";
        let (_, files) = planned(&with_records(records.clone()), Some("gen-3"));
        assert_eq!(files["memory/core.md"], text);
        let (_, files) = planned(&with_records(records), Some("gen-9"));
        let recent = text
            .replace("Likes oolong.\n", "Likes oolong. <!-- importance: 9 -->\n")
            .replace("i=0.7] Shell\n", "i=0.7] Shell <!-- importance: 7 -->\n");
        assert_eq!(files["memory/core.md"], recent);
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
        let reasons: Vec<&str> = plan.not_restored.iter().map(|it| it.reason.as_str()).collect();
        assert!(reasons[0].starts_with("1 record: "), "{reasons:?}");
        assert!(reasons[1].starts_with("2 records: transcripts"), "{reasons:?}");
        assert_eq!((reasons.len(), plan.records), (2, 1));
        // With files of its own runtime, a record counts when its file is there.
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
            plan.not_restored.iter().filter_map(|it| it.path.as_deref()).collect();
        assert_eq!(missing, ["anthem", "containers", "sensor", "git"]);
        // A sub-agent that the instructions name stays as they say it.
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
    fn a_program_is_found_on_the_path() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();
        let machine = machine(root.path());
        let program = root.path().join("bin/docker");
        fs_err::create_dir(root.path().join("bin")).unwrap();
        assert!(!on_path(&machine, "docker"));
        fs_err::write(&program, "").unwrap();
        fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(!on_path(&machine, "docker"));
        fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(on_path(&machine, "docker"));
        assert!(!on_path(&machine, "../bin/docker"));
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
        assert_eq!(files["MEMORY.md"], "memory");
        let paths: Vec<_> = plan.not_restored.iter().filter_map(|it| it.path.as_deref()).collect();
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
        let step = plan.steps.iter().find(|it| it.path == AGENT_ID_FILE.as_bytes()).unwrap();
        assert_eq!(step.mode, Some(0o640));
        snapshot.files.clear();
        let (plan, _) = planned(&snapshot, None);
        assert_eq!((plan.steps[0].mode, plan.steps[0].size()), (Some(0o644), 36));
        assert_eq!(plan.steps[0].mtime, Some(at("2026-03-01T10:00:00Z")));
    }
}
