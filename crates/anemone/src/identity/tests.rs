use anemone_files::faults::{FaultKind, InjectedFault, TornWrite, with_faults};
use anemone_runtimes::by_name;
use fs_err as fs;

use super::*;

/// A machine with folders of agents on it.
struct Place {
    folder: tempfile::TempDir,
    host: Host,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let host = crate::testing::host(&real(folder.path()));
        Self { folder, host }
    }

    fn path(&self, name: &str) -> PathBuf {
        real(self.folder.path()).join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Makes a workspace, and says which agent it is.
    fn workspace(&self, name: &str) -> AgentIdentity {
        self.write(&format!("{name}/MEMORY.md"), "# Memory\n");
        self.identify(name)
    }

    fn identify(&self, name: &str) -> AgentIdentity {
        self.identify_as(name, "main", false)
    }

    fn identify_as(&self, name: &str, alias: &str, shares_workspace: bool) -> AgentIdentity {
        let workspace = self.path(name);
        let agent = FoundAgent::without_install("openclaw", alias.to_owned(), workspace);
        let agent = FoundAgent { shares_workspace, ..agent };
        identify(by_name("openclaw").unwrap(), &agent, &self.host)
    }

    fn claim(&self, name: &str) -> AgentIdentity {
        let mut identity = self.identify(name);
        identity.claim(&self.path(name), &self.host);
        identity
    }

    fn derived(&self, name: &str) -> AgentId {
        let agent = FoundAgent::without_install("openclaw", "main".to_owned(), self.path(name));
        by_name("openclaw").unwrap().derive_id(&agent)
    }

    fn state(&self) -> PathBuf {
        self.host.folders.own_state()
    }

    /// Makes the state of an agent as earlier versions kept it.
    fn earlier_state(&self, workspace: &str) -> [PathBuf; 2] {
        let digest = &sha256_hex(self.path(workspace).as_os_str().as_encoded_bytes())[..32];
        let files = [
            format!("state/anemone/memory/{digest}/journal/1.json"),
            format!("state/anemone/exports/{digest}.json"),
        ];
        files.map(|file| self.write(&file, "earlier"))
    }
}

fn text(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path.as_ref()).ok()
}

#[test]
fn the_first_id_is_derived_from_the_path_and_nothing_is_written_to_find_it() {
    let place = Place::new();
    let identity = place.workspace("w");
    assert_eq!(identity.id, place.derived("w"));
    assert!(identity.dirs.state.ends_with(identity.id.to_string()));
    assert!(!place.state().exists());
    let claimed = place.claim("w");
    assert_eq!((claimed.id, &claimed.dirs), (identity.id, &identity.dirs));
    assert!(identity.dirs.state.join("agent.json").is_file());
    assert_eq!(fs::read_dir(place.path("w")).unwrap().count(), 1, "the workspace is as it was");
}

#[test]
fn an_agent_keeps_its_id_and_its_folders_when_its_workspace_moves() {
    let place = Place::new();
    place.workspace("w");
    let before = place.claim("w");
    fs::create_dir_all(place.path("other")).unwrap();
    fs::rename(place.path("w"), place.path("other/v")).unwrap();
    let after = place.identify("other/v");
    assert_eq!((after.id, &after.dirs), (before.id, &before.dirs));
    // The note follows, so the agent is found a second time.
    place.claim("other/v");
    fs::rename(place.path("other/v"), place.path("u")).unwrap();
    assert_eq!(place.identify("u").id, before.id);
}

#[test]
fn an_agent_that_moved_to_another_disk_is_found_by_the_id_in_its_workspace() {
    let place = Place::new();
    place.workspace("w");
    let id = "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f";
    place.write("w/.alf-agent-id", id);
    let before = place.claim("w");
    assert_eq!(before.id.to_string(), id);
    place.write("v/MEMORY.md", "# Memory\n");
    place.write("v/.alf-agent-id", id);
    fs::remove_dir_all(place.path("w")).unwrap();
    let after = place.identify("v");
    assert_eq!((after.id, &after.dirs), (before.id, &before.dirs));
}

#[test]
fn a_copy_is_another_agent_as_long_as_the_original_exists() {
    let place = Place::new();
    place.workspace("w");
    let id = "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f";
    for with_id in [false, true] {
        let original = place.claim("w");
        let copy = place.workspace("copy");
        assert_ne!(copy.id, original.id);
        assert_ne!(copy.dirs, original.dirs);
        assert_eq!(copy.id, place.derived("copy"));
        assert_eq!(place.identify("w").id, original.id);
        if !with_id {
            place.write("w/.alf-agent-id", id);
            place.write("copy/.alf-agent-id", id);
        }
    }
}

#[test]
fn an_agent_that_a_command_put_elsewhere_keeps_its_id_and_has_its_own_folders() {
    let place = Place::new();
    place.workspace("w");
    let original = place.claim("w");
    place.write("target/.alf-agent-id", &original.id.to_string());
    assert_ne!(place.identify("target").id, original.id);
    crate::known_folders::note_folder(&place.host, FolderKind::Copy, &place.path("target"), None);
    let moved = place.claim("target");
    assert_eq!(moved.id, original.id);
    assert_ne!(moved.dirs, original.dirs);
    assert_eq!(place.identify("w").dirs, original.dirs);
    assert_eq!(place.identify("target").dirs, moved.dirs);
}

#[test]
fn two_agents_that_came_with_one_id_take_folders_of_their_own_though_both_begin_at_once() {
    let place = Place::new();
    let id = "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f";
    let [mut one, mut other] = ["a", "b"].map(|name| {
        place.write(&format!("{name}/.alf-agent-id"), id);
        crate::known_folders::note_folder(&place.host, FolderKind::Copy, &place.path(name), None);
        place.workspace(name)
    });
    let index = |identity: &AgentIdentity| identity.index("x", place.path("none"));
    assert_ne!(index(&one), index(&other), "not even what is only read is shared");
    one.claim(&place.path("a"), &place.host);
    other.claim(&place.path("b"), &place.host);
    assert_eq!((one.id, one.id.to_string().as_str()), (other.id, id));
    assert_ne!(one.dirs, other.dirs);
    assert_eq!(place.identify("a").dirs, one.dirs);
    assert_eq!(place.identify("b").dirs, other.dirs);
}

#[test]
fn what_is_kept_about_a_deleted_agent_goes_to_no_other_one_with_its_id() {
    let place = Place::new();
    let id = "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f";
    for name in ["a", "b"] {
        place.write(&format!("{name}/.alf-agent-id"), id);
        crate::known_folders::note_folder(&place.host, FolderKind::Copy, &place.path(name), None);
    }
    let gone = place.claim("a");
    fs::remove_dir_all(place.path("a")).unwrap();
    let other = place.identify("b");
    assert_eq!(other.id, gone.id);
    assert_ne!(other.dirs, gone.dirs);
}

#[test]
fn a_copy_that_is_known_keeps_its_folders_while_the_original_is_away() {
    let place = Place::new();
    let id = "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f";
    for name in ["disk/w", "copy"] {
        place.workspace(name);
        place.write(&format!("{name}/.alf-agent-id"), id);
    }
    let original = place.claim("disk/w");
    let copy = place.claim("copy");
    assert_ne!(copy.dirs, original.dirs);
    fs::rename(place.path("disk"), place.path("unmounted")).unwrap();
    assert_eq!(place.claim("copy").dirs, copy.dirs);
    fs::rename(place.path("unmounted"), place.path("disk")).unwrap();
    assert_eq!(place.identify("disk/w").dirs, original.dirs);
}

#[test]
fn an_id_that_somebody_puts_into_the_workspace_counts_and_the_folders_stay() {
    let place = Place::new();
    place.workspace("w");
    let before = place.claim("w");
    let id = "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f";
    place.write("w/.alf-agent-id", id);
    let after = place.claim("w");
    assert_eq!((after.id.to_string().as_str(), &after.dirs), (id, &before.dirs));
    fs::remove_file(place.path("w/.alf-agent-id")).unwrap();
    assert_eq!(place.identify("w").id.to_string(), id, "it is remembered");
}

#[test]
fn a_new_agent_in_the_place_of_one_that_moved_is_not_that_agent() {
    let place = Place::new();
    place.workspace("w");
    let first = place.claim("w");
    fs::rename(place.path("w"), place.path("v")).unwrap();
    place.claim("v");
    let second = place.workspace("w");
    assert_ne!(second.id, first.id);
    assert_ne!(second.dirs, first.dirs);
    assert_eq!(place.identify("v").id, first.id);
}

#[test]
fn workspaces_that_were_exchanged_stay_the_agents_whose_ids_they_have() {
    let place = Place::new();
    let claim = |name: &str, id: &str| {
        place.workspace(name);
        place.write(&format!("{name}/.alf-agent-id"), id);
        place.claim(name)
    };
    let one = claim("one", "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f");
    let other = claim("other", "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e70");
    fs::rename(place.path("one"), place.path("aside")).unwrap();
    fs::rename(place.path("other"), place.path("one")).unwrap();
    assert_eq!(place.identify("one").dirs, other.dirs);
    assert_eq!(place.identify("aside").dirs, one.dirs);
    fs::rename(place.path("aside"), place.path("other")).unwrap();
    assert_eq!((place.claim("one").id, place.claim("one").dirs), (other.id, other.dirs));
    assert_eq!((place.claim("other").id, place.claim("other").dirs), (one.id, one.dirs));
}

#[test]
fn a_restore_in_place_is_the_same_agent() {
    let place = Place::new();
    place.workspace("w");
    let before = place.claim("w");
    fs::rename(place.path("w"), place.path("aside")).unwrap();
    place.write("w/MEMORY.md", "# Restored\n");
    place.write("w/.alf-agent-id", &before.id.to_string());
    assert_eq!(place.identify("w").dirs, before.dirs);
    assert_ne!(place.identify("aside").dirs, before.dirs);
}

#[test]
fn agents_that_share_a_workspace_have_ids_of_their_own_and_one_set_of_notes_about_its_files() {
    let place = Place::new();
    place.workspace("w");
    let mut ids = Vec::new();
    for (alias, shares) in [("ada", false), ("bob", true), ("eve", true)] {
        let mut identity = place.identify_as("w", alias, shares);
        identity.claim(&place.path("w"), &place.host);
        ids.push(identity.id);
    }
    assert_eq!(ids[0], place.derived("w"));
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    let runtime = by_name("openclaw").unwrap();
    let keeper = |alias: &str, shares_workspace| {
        let agent = FoundAgent::without_install("openclaw", alias.to_owned(), place.path("w"));
        let agent = FoundAgent { shares_workspace, ..agent };
        identify_keeper(runtime, &agent, &place.path("w"), &place.host).dirs
    };
    assert_eq!(keeper("bob", true), keeper("ada", false));
    // Who comes first may change; each of them stays who it is.
    let bob = place.identify_as("w", "bob", true).id;
    assert_eq!(place.identify_as("w", "bob", false).id, bob);
    fs::rename(place.path("w"), place.path("v")).unwrap();
    assert_eq!(place.identify_as("v", "bob", true).id, bob);
    assert_eq!(place.identify_as("v", "ada", false).dirs, keeper("ada", false));
}

#[test]
fn what_earlier_versions_kept_is_read_where_it_is_and_taken_over_by_the_first_write() {
    let place = Place::new();
    let identity = place.workspace("w");
    let root = place.path("w");
    let [journal, export] = place.earlier_state("w");
    let memory = identity.memory_state(&root, &place.host);
    assert_eq!(text(memory.join("journal/1.json")).as_deref(), Some("earlier"));
    assert_eq!(identity.export_note(&place.host), export);
    for _ in 0..2 {
        let identity = place.claim("w");
        let memory = identity.memory_state(&root, &place.host);
        assert_eq!(memory, identity.dirs.memory());
        assert_eq!(text(memory.join("journal/1.json")).as_deref(), Some("earlier"));
        assert_eq!(text(identity.export_note(&place.host)).as_deref(), Some("earlier"));
        assert!(identity.export_note(&place.host).starts_with(&identity.dirs.state));
        assert!(!journal.exists() && !export.exists());
    }
}

#[test]
fn a_taking_over_that_is_cut_off_anywhere_loses_nothing_and_is_finished_later() {
    for how in [FaultKind::Kill, FaultKind::Error, FaultKind::Full] {
        for at in 0.. {
            let place = Place::new();
            place.workspace("w");
            place.earlier_state("w");
            let root = place.path("w");
            let fault = InjectedFault { at, how, torn: TornWrite::Nothing };
            let (_, report) = with_faults(&[fault], || place.claim("w"));
            // A second fault in the same place, and then none.
            with_faults(&[fault], || place.claim("w"));
            for is_written in [false, true] {
                let identity = if is_written { place.claim("w") } else { place.identify("w") };
                let memory = identity.memory_state(&root, &place.host);
                assert_eq!(text(memory.join("journal/1.json")).as_deref(), Some("earlier"));
                let note = identity.export_note(&place.host);
                assert_eq!(text(&note).as_deref(), Some("earlier"));
                assert!(!is_written || note.starts_with(&identity.dirs.state));
            }
            if at >= report.steps {
                break;
            }
        }
    }
}

#[test]
fn an_index_is_taken_over_with_its_note_and_a_new_one_is_not_overwritten() {
    let place = Place::new();
    let earlier = place.path("cache/anemone/index/0123456789abcdef");
    let make = || {
        place.write("cache/anemone/index/0123456789abcdef/lock", "earlier");
        place.write("cache/anemone/index/0123456789abcdef.json", "note");
    };
    make();
    let new = place.path("cache/anemone/agents/a/index/00");
    assert_eq!(take_over_index(earlier.clone(), new.clone()), new);
    assert_eq!(text(new.join("lock")).as_deref(), Some("earlier"));
    assert_eq!(text(new.with_extension("json")).as_deref(), Some("note"));
    assert!(!earlier.exists());
    place.write("cache/anemone/agents/a/index/00/lock", "newer");
    make();
    assert_eq!(take_over_index(earlier, new.clone()), new);
    assert_eq!(text(new.join("lock")).as_deref(), Some("newer"));
}

#[test]
fn an_index_stays_with_an_agent_whose_id_is_noted_after_it_was_built() {
    let place = Place::new();
    place.write("w/.alf-agent-id", "0190f3a0-7f3c-7b1e-9d2a-1c2b3a4d5e6f");
    let index = |identity: &AgentIdentity| identity.index("x", place.path("none"));
    let before = index(&place.workspace("w"));
    fs::create_dir_all(&before).unwrap();
    fs::write(before.join("lock"), "built").unwrap();
    fs::write(before.with_extension("json"), "note").unwrap();
    let identity = place.claim("w");
    let after = index(&identity);
    assert_eq!(after, identity.dirs.indexes().join("x"));
    assert_eq!(text(after.join("lock")).as_deref(), Some("built"));
    assert_eq!(text(after.with_extension("json")).as_deref(), Some("note"));
    assert!(!before.exists());
}

#[test]
fn without_a_state_folder_the_id_is_derived() {
    let place = Place::new();
    place.workspace("w");
    place.write("state", "a file where the folder should be");
    let identity = place.claim("w");
    assert_eq!(identity.id, place.derived("w"));
    assert_eq!(place.identify("w").id, identity.id);
}

#[test]
fn a_note_from_another_agents_folder_orphans_no_journal() {
    let place = Place::new();
    place.workspace("a");
    place.workspace("b");
    let (one, other) = (place.claim("a"), place.claim("b"));
    let root = place.path("a");
    let journal = one.memory_state(&root, &place.host).join("journal");
    fs::create_dir_all(&journal).unwrap();
    fs::copy(other.dirs.state.join("agent.json"), one.dirs.state.join("agent.json")).unwrap();
    for is_written in [false, true] {
        let found = if is_written { place.claim("a") } else { place.identify("a") };
        assert_eq!((found.id, &found.dirs), (one.id, &one.dirs));
        assert_eq!(found.memory_state(&root, &place.host).join("journal"), journal);
        assert_eq!(place.identify("b").dirs, other.dirs);
    }
    let note = text(one.dirs.state.join("agent.json")).unwrap();
    assert!(note.contains(&one.id.to_string()), "{note}");
}

#[test]
fn a_note_that_is_no_note_says_nothing() {
    let place = Place::new();
    place.workspace("w");
    let identity = place.claim("w");
    let note = identity.dirs.state.join("agent.json");
    for damaged in ["", "{}", "\u{0}"] {
        fs::write(&note, damaged).unwrap();
        let found = place.identify("w");
        assert_eq!((found.id, &found.dirs), (identity.id, &identity.dirs));
        place.claim("w");
        assert!(text(&note).is_some_and(|text| text.contains(&identity.id.to_string())));
    }
}
