//! The smallest runtime that can be found and searched: a descriptor and two capabilities.

use std::path::Path;

use anemone_memory::MarkdownLayout;
use tempfile::TempDir;

use crate::kit::database::tests::machine;
use crate::kit::persona::WORKSPACE_FILES;
use crate::kit::searchable::is_of_tool;
use crate::openclaw::SEPTEMBER;
use crate::{
    EvergreenRecords, FindAgents, FoundAgent, Machine, MemoryFacts, ReadError, RecordRules,
    Runtime, SearchAgents, Searchable, SearchedFile, SearchedFolder, UsualPlaces,
};

static NOTES: Runtime = Runtime {
    name: "notes",
    title: "Notes",
    variables: &["NOTES_"],
    places: Some(UsualPlaces {
        config: "notes.json",
        folders: &["notes"],
        variables: &["NOTES_DIR"],
        holds_several: false,
        first: |machine| machine.home.join("notes"),
    }),
    files: WORKSPACE_FILES,
    layout: MarkdownLayout::PLAIN,
    contexts: &[],
    context_of: |_| &SEPTEMBER,
    records: RecordRules {
        evergreen: EvergreenRecords::NotEpisodic,
        rows: None,
        vectors_are_of_text: true,
    },
    own_index: None,
    mappings: &[],
    find: Some(&Notes),
    read: None,
    search: Some(&Notes),
    rows: None,
    restore: None,
    move_in: None,
    conversations: None,
    connect: None,
    native_search: None,
    native_tools: None,
    transcripts: None,
};

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
        if is_of_tool(path) { SearchedFolder::OfTool } else { SearchedFolder::Memory }
    }
}

#[test]
fn a_runtime_of_two_capabilities_is_found_and_searched_and_says_what_it_cannot_do() {
    let home = TempDir::new().unwrap();
    fs_err::create_dir(home.path().join("notes")).unwrap();
    let machine = machine(home.path());
    let found = NOTES.discover(&machine);
    let [agent] = &found[..] else { panic!("{found:?}") };
    assert_eq!(agent.workspace, NOTES.first_place(&machine));
    assert!(NOTES.searchable(&machine, agent).files);
    assert_eq!(NOTES.searched_file("a.md"), SearchedFile::Memory(MemoryFacts::default()));
    assert_eq!(NOTES.searched_folder(".git"), SearchedFolder::OfTool);
    let check = NOTES.check(&machine, agent);
    assert!(check.exists && !check.is_ready());
    let vectors = crate::WantedModel { provider: "a", model: "b", dimensions: 1 };
    NOTES.read_vectors(&machine, agent, &vectors, false, &mut |_, _| {}).unwrap();
    let error = NOTES.reader().err();
    assert!(matches!(error, Some(ReadError::NotSupported { runtime: "Notes" })), "{error:?}");
    assert_eq!(NOTES.database(Path::new("/a.db"), ""), None);
}
