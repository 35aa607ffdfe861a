//! The smallest runtime that can be found, searched and read: a descriptor and three capabilities.

use std::io::Read;
use std::path::Path;

use anemone_format::{AgentInfo, FileHead, ReadingInfo, Record, Root, Sink, SinkError, Unknown};
use anemone_memory::MarkdownLayout;
use tempfile::TempDir;

use crate::kit::{
    Carrier, Namespaces, OpenWorkspace, ReadingParts, StableCopies, WORKSPACE_FILES,
    WalkedWorkspace, conversation::injected::InjectedText, database::tests::machine, end_reading,
    is_of_tool, lossy, times,
};
use crate::{
    Check, EvergreenRecords, FindAgents, FoundAgent, Machine, MemoryFacts, OpenAgent, ReadAgents,
    ReadError, ReadOptions, Reading, RecordRules, Runtime, SearchAgents, Searchable, SearchedFile,
    SearchedFolder, Unchanged, UsualPlaces,
};

const NOTES: Runtime = Runtime {
    name: "notes",
    title: "Notes",
    variables: &["NOTES_"],
    places: Some(UsualPlaces {
        config: "notes.json",
        folders: &["notes"],
        variables: &["NOTES_DIR"],
        other_variables: &[],
        holds_several: false,
        first: |machine| machine.home.join("notes"),
    }),
    files: WORKSPACE_FILES,
    run_by: &[],
    state_table: None,
    layout: MarkdownLayout::PLAIN,
    contexts: &[],
    context_of: None,
    records: RecordRules {
        evergreen: EvergreenRecords::NotEpisodic,
        rows: None,
        vectors_are_of_text: true,
    },
    own_index: None,
    mappings: &[],
    find: Some(&Notes),
    read: Some(&Notes),
    search: Some(&Notes),
    rows: None,
    restore: None,
    move_in: None,
    conversations: None,
    connect: None,
    native_search: None,
    settings: None,
    native_tools: None,
    transcripts: None,
    injected: InjectedText::NONE,
};

/// The same runtime without the capability that only an export needs.
const SEARCHED_NOTES: Runtime = Runtime { read: None, ..NOTES };

struct Notes;

impl FindAgents for Notes {
    fn discover(&self, machine: &Machine) -> Vec<FoundAgent> {
        let folder = machine.home.join("notes");
        let agent = folder.is_dir().then(|| self.locate(machine, &folder, None));
        agent.into_iter().collect()
    }

    fn locate(&self, _: &Machine, folder: &Path, _: Option<&str>) -> FoundAgent {
        FoundAgent::without_install(NOTES.name, "notes".to_owned(), folder.to_owned())
    }
}

impl SearchAgents for Notes {
    fn searchable(&self, _: &Machine, _: &FoundAgent) -> Searchable {
        Searchable { files: true, ..Searchable::default() }
    }

    fn file(&self, path: &str) -> SearchedFile {
        if path.ends_with(".md") {
            SearchedFile::Memory(MemoryFacts::default())
        } else {
            SearchedFile::Other
        }
    }

    fn folder(&self, path: &str) -> SearchedFolder {
        folder(path)
    }
}

fn folder(path: &str) -> SearchedFolder {
    if is_of_tool(path) { SearchedFolder::OfTool } else { SearchedFolder::Memory }
}

impl ReadAgents for Notes {
    fn check(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
    ) -> (Check, Result<Box<dyn OpenAgent>, ReadError>) {
        let workspace = agent.workspace.clone();
        let check = Check { exists: workspace.is_dir(), workspace, ..Check::default() };
        (check, self.open(machine, agent, options))
    }

    fn open(
        &self,
        _: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
    ) -> Result<Box<dyn OpenAgent>, ReadError> {
        let namespaces = Namespaces::of_name(NOTES.name);
        let walked = WalkedWorkspace::open(agent, options, "", folder)?;
        Ok(Box::new(OpenNotes(OpenWorkspace::of(walked, agent, options, &namespaces)?)))
    }
}

/// A folder of notes that was walked: every note is a record.
struct OpenNotes(OpenWorkspace);

impl OpenAgent for OpenNotes {
    fn is_unchanged(
        &self,
        _: &Machine,
        _: &FoundAgent,
        _: &ReadOptions<'_>,
    ) -> Result<Option<Unchanged>, ReadError> {
        Ok(None)
    }

    fn read(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Reading, ReadError> {
        let OpenWorkspace { path, workspace, walked, agent_id } = &self.0;
        let copies = StableCopies::take(workspace, path, &walked.found, &machine.scratch);
        let mut carrier = Carrier::new(workspace, options, sink, &[], copies);
        self.0.tell(is_note, &mut carrier);
        let namespaces = Namespaces::of_name(NOTES.name);
        for (root, found) in self.0.placed(NOTES.name, is_note) {
            if !carrier.is_there(found) || !carrier.may_be_named(found) {
                continue;
            }
            if !found.is_file() {
                carrier.other(root, found)?;
                continue;
            }
            if root == Root::Artifacts {
                carrier.artifact(found)?;
                continue;
            }
            let Some(note) = carrier.load(found) else { continue };
            carrier.file(root, found, &note)?;
            let at = note.mtime.clone().unwrap_or_else(times::epoch);
            let id = namespaces.record(&lossy(&found.path), 0);
            carrier.record(Record::new(id, *agent_id, NOTES.name, at, &lossy(&note.bytes)))?;
        }
        let inputs = String::new();
        let (adapter, unknown) = (NOTES.name.to_owned(), Unknown::default());
        let parts = ReadingParts {
            agent: AgentInfo::new(*agent_id, &agent.alias, NOTES.name),
            hints: None,
            info: ReadingInfo { adapter, revision: 1, inputs, unknown },
            identity: None,
            principals: None,
            credentials: None,
            sessions: None,
            not_requested: Vec::new(),
            count: walked.count,
        };
        Ok(end_reading(parts, carrier, options))
    }
}

fn is_note(path: &[u8]) -> bool {
    path.ends_with(b".md")
}

#[test]
fn a_runtime_of_two_capabilities_is_found_and_searched_and_says_what_it_cannot_do() {
    let home = TempDir::new().unwrap();
    fs_err::create_dir(home.path().join("notes")).unwrap();
    let machine = machine(home.path());
    let notes = SEARCHED_NOTES;
    let found = notes.discover(&machine);
    let [agent] = &found[..] else { panic!("{found:?}") };
    assert_eq!(agent.workspace, notes.first_place(&machine));
    assert!(notes.searchable(&machine, agent).files);
    assert_eq!(notes.searched_file("a.md"), SearchedFile::Memory(MemoryFacts::default()));
    assert_eq!(notes.searched_folder(".git"), SearchedFolder::OfTool);
    let (check, _) = notes.check(&machine, agent, &ReadOptions::default());
    assert!(check.exists && !check.is_ready());
    let vectors = crate::WantedModel { provider: "a", model: "b", dimensions: 1 };
    notes.read_vectors(&machine, agent, &vectors, false, &mut |_, _| {}).unwrap();
    let error = notes.open(&machine, agent, &ReadOptions::default()).err();
    assert!(matches!(error, Some(ReadError::NotSupported("Notes"))), "{error:?}");
    assert_eq!(notes.database(Path::new("/a.db"), ""), None);
}

#[test]
fn a_runtime_of_one_more_capability_is_read_as_a_snapshot() {
    let home = TempDir::new().unwrap();
    let folder = home.path().join("notes");
    fs_err::create_dir_all(folder.join(".git")).unwrap();
    for (name, text) in [("a.md", "The gate is red."), ("b.txt", "x"), (".git/HEAD", "x")] {
        fs_err::write(folder.join(name), text).unwrap();
    }
    let machine = machine(home.path());
    let agent = NOTES.discover(&machine).remove(0);
    let (check, opened) = NOTES.check(&machine, &agent, &ReadOptions::default());
    assert!(check.is_ready() && opened.is_ok());
    let mut snapshot = KeptRecords::default();
    let reading = NOTES.read(&machine, &agent, &ReadOptions::default(), &mut snapshot).unwrap();
    assert_eq!((reading.records, reading.files, reading.count.files), (1, 2, 2));
    assert_eq!(snapshot.0, ["The gate is red."]);
    assert_eq!(reading.manifest.agent.id, NOTES.derive_id(&agent));
}

/// Keeps what records say.
#[derive(Default)]
struct KeptRecords(Vec<String>);

impl Sink for KeptRecords {
    fn file(&mut self, head: &FileHead<'_>, _: &mut dyn Read) -> Result<String, SinkError> {
        Ok(lossy(head.path))
    }

    fn symlink(&mut self, _: &FileHead<'_>, _: &[u8]) -> Result<(), SinkError> {
        Ok(())
    }

    fn folder(&mut self, _: &FileHead<'_>) -> Result<(), SinkError> {
        Ok(())
    }

    fn record(&mut self, record: &Record) -> Result<(), SinkError> {
        self.0.push(record.content.clone());
        Ok(())
    }
}
