//! The parts of an import that are the same for every runtime.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use anemone_format::{
    Capability, Manifest, Portability, Record, RecordPlace, SnapshotSource, StructuredIdentity,
};

use crate::kit::{
    AGENT_ID_FILE, Machine, NotRestored, NotRestoredKind, PlanBuilder, PlanError, PlannedFile,
};

/// The shelf of transcripts, which are outside the workspace.
pub(crate) const SESSION: &str = "session";

pub(crate) fn agent_id_file(manifest: &Manifest) -> PlannedFile {
    PlannedFile::text(AGENT_ID_FILE, manifest.agent.id.to_string(), manifest.created_at.clone())
}

/// Yields every record of a snapshot; write errors are those of the scratch file.
pub(crate) fn each_record(
    source: &dyn SnapshotSource,
    take: &mut dyn FnMut(&Record) -> io::Result<()>,
) -> Result<(), PlanError> {
    let mut failed = None;
    let walked = source.each_record(&mut |record| {
        take(record).map_err(|error| {
            failed = Some(error);
            io::ErrorKind::Other.into()
        })
    });
    walked.map_err(|error| match failed {
        Some(error) => PlanError::Scratch(error),
        None => PlanError::Source(error),
    })
}

/// Notes artifacts that the snapshot only names.
pub(crate) fn note_artifacts(
    source: &dyn SnapshotSource,
    draft: &mut PlanBuilder,
) -> io::Result<()> {
    let Some(list) = source.attachments()? else { return Ok(()) };
    for it in list.attachments.iter().filter(|attachment| attachment.archive_path.0.is_none()) {
        let mut reason =
            format!("only named: {} bytes, {} {}", it.size_bytes, it.hash.algorithm, it.hash.value);
        if let Some(place) = &it.remote_ref.0 {
            reason.push_str(", at ");
            reason.push_str(place);
        }
        draft.omit(NotRestoredKind::Artifact, &it.source_path, reason);
    }
    Ok(())
}

/// Notes what the agent could do elsewhere and cannot do here.
pub(crate) fn note_capabilities(
    machine: &Machine,
    identity: &StructuredIdentity,
    draft: &mut PlanBuilder,
) {
    let inner = identity.sub_agents.iter().flat_map(|agent| &agent.capabilities);
    for capability in identity.capabilities.iter().chain(inner) {
        let portability = capability.portability.as_ref().map(Portability::effective);
        if portability != Some(&Portability::HostDependent) {
            continue;
        }
        if let Some(missing) = missing_requirement(machine, capability) {
            let reason = format!("it needs {missing}, which is not here");
            draft.omit(NotRestoredKind::Capability, capability.name.clone(), reason);
        }
    }
}

/// Returns the first thing that a capability needs and the machine does not have.
fn missing_requirement<'a>(machine: &Machine, capability: &'a Capability) -> Option<&'a str> {
    let needs = capability.host_requirements.as_deref().unwrap_or(&capability.name);
    let mut needs = needs.split([',', ';', '\n']).map(str::trim).filter(|value| !value.is_empty());
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
    fs_err::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Counts the records that the carried files hold, and notes those that no file holds;
/// `is_elsewhere` says which ones are in no file, and need none.
pub(crate) fn note_records(
    source: &dyn SnapshotSource,
    is_elsewhere: &dyn Fn(&RecordPlace<'_>) -> bool,
    draft: &mut PlanBuilder,
) -> io::Result<()> {
    let files: HashSet<&[u8]> = draft.wanted.iter().map(|file| &file.path[..]).collect();
    let mut lost = UnwrittenRecords::default();
    let mut held = 0;
    source.each_record_place(&mut |place| {
        if is_elsewhere(place) {
            return;
        }
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
    draft.records += held;
    draft.not_restored.extend(lost.notes());
    Ok(())
}

/// Records that no file holds.
#[derive(Default)]
pub(crate) struct UnwrittenRecords {
    pub(crate) deleted: u64,
    pub(crate) session: u64,
    pub(crate) private: u64,
    pub(crate) blank: u64,
    pub(crate) other: u64,
}

impl UnwrittenRecords {
    pub(crate) fn notes(&self) -> impl Iterator<Item = NotRestored> {
        [
            (self.deleted, "only a deletion marker remains"),
            (self.session, "transcripts are outside the workspace, in the runtime's own store"),
            (self.private, "they are kept for one person, and rest in the folder .alf-origin"),
            (self.blank, "there is nothing to read in them; they rest in the folder .alf-origin"),
            (self.other, "no file of the snapshot holds them"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, reason)| {
            let noun = if count == 1 { "record" } else { "records" };
            NotRestored::new(NotRestoredKind::Records, format!("{count} {noun}: {reason}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::agent::KnownConfigs;

    #[test]
    fn a_program_is_found_on_the_path() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();
        let machine = Machine {
            home: root.path().to_owned(),
            variables: [("PATH".to_owned(), root.path().join("bin").into())].into(),
            database_reader: root.path().join("none"),
            scratch: root.path().to_owned(),
            configs: KnownConfigs::default(),
        };
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
}
