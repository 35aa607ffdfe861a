//! The Markdown files of an agent: those of its workspace, and what its configuration adds.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anemone_embed::ModelIdentity;
use anemone_files::FileStat;
use anemone_index::{
    CarriedVector, Document, DocumentSource, FileSource, FolderLimit, FolderRules, FolderSource,
    Listing, MarkdownFolder, Provenance, SkipReason, SkippedDocument, SourceEntry, SourceError,
    is_markdown, markdown_document,
};
use anemone_runtimes::{ExtraPlace, FoundAgent, Machine, Runtime, SearchedFile, SearchedFolder};

use super::vectors;
use crate::search::SourceNote;

/// Which files of a workspace are memories.
#[derive(Clone)]
pub(super) struct AgentRules(pub &'static Runtime);

impl AgentRules {
    /// Classifies a file of a workspace: a document without its text, or the reason why it is
    /// skipped.
    pub(super) fn place(&self, path: &str) -> Result<Document, Option<SkipReason>> {
        let facts = match self.0.searched_file(path) {
            SearchedFile::Memory(facts) => facts,
            SearchedFile::MachineState => return Err(Some(SkipReason::MachineState)),
            SearchedFile::Other => return Err(None),
        };
        Ok(Document {
            path: path.to_owned(),
            date: facts.date,
            // A lasting document; a day in a heading does not age it.
            evergreen: self.0.files.evergreen.contains(&path),
            memory_type: facts.memory_type,
            namespace: facts.namespace,
            provenance: Provenance {
                source: "memory".to_owned(),
                session: facts.session,
                ..Provenance::default()
            },
            ..Document::default()
        })
    }
}

impl FolderRules for AgentRules {
    fn identity(&self) -> String {
        self.0.name.to_owned()
    }

    fn enters(&self, folder: &str) -> Result<(), SkipReason> {
        match self.0.searched_folder(folder) {
            SearchedFolder::Memory => Ok(()),
            SearchedFolder::MachineState => Err(SkipReason::MachineState),
            SearchedFolder::OfTool | SearchedFolder::Other => Err(SkipReason::Ignored),
        }
    }

    fn document(&self, path: &str) -> Option<Document> {
        self.place(path).ok()
    }
}

/// Which files of a folder are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The memories of an agent.
    Memories,
    /// Every Markdown file; memories are known as such.
    Everything,
}

/// Every Markdown file of a folder that may or may not be an agent's workspace.
struct EverythingRules {
    agent: AgentRules,
    rest: MarkdownFolder,
}

impl FolderRules for EverythingRules {
    fn identity(&self) -> String {
        format!("{} and {}", self.agent.identity(), self.rest.identity())
    }

    fn enters(&self, folder: &str) -> Result<(), SkipReason> {
        match self.agent.enters(folder) {
            Err(SkipReason::Ignored) => self.rest.enters(folder),
            known => known,
        }
    }

    fn document(&self, path: &str) -> Option<Document> {
        match self.agent.place(path) {
            Ok(document) => Some(document),
            Err(Some(_)) => None,
            Err(None) => self.rest.document(path),
        }
    }
}

/// The files of a workspace.
pub(super) struct WorkspaceSource {
    runtime: &'static Runtime,
    scope: Scope,
    files: FolderSource,
    /// Whose index has vectors of the files.
    indexed_for: Option<(Machine, Arc<FoundAgent>)>,
}

impl WorkspaceSource {
    pub(super) fn new(runtime: &'static Runtime, workspace: PathBuf, scope: Scope) -> Self {
        let agent = AgentRules(runtime);
        let rules: Box<dyn FolderRules> = match scope {
            Scope::Memories => Box::new(agent),
            Scope::Everything => {
                Box::new(EverythingRules { agent, rest: MarkdownFolder::default() })
            }
        };
        let files = FolderSource::new(workspace, String::new(), rules);
        Self { runtime, scope, files, indexed_for: None }
    }

    /// Takes vectors from the index that the runtime keeps of the files.
    pub(super) fn indexed_for(self, machine: Machine, agent: Arc<FoundAgent>) -> Self {
        Self { indexed_for: Some((machine, agent)), ..self }
    }
}

impl DocumentSource for WorkspaceSource {
    fn identity(&self) -> String {
        self.files.identity()
    }

    fn list(&self) -> Result<Listing, SourceError> {
        let mut listing = self.files.list()?;
        // The rest of a workspace is no memory that is missing.
        listing.skipped.retain(|skipped| {
            skipped.reason != SkipReason::Ignored
                || self.scope == Scope::Everything
                || self.runtime.searched_folder(&skipped.path) != SearchedFolder::Other
        });
        Ok(listing)
    }

    fn listing_of(&self, walked: &[(String, FileStat)]) -> Option<Listing> {
        // All Markdown of a folder is more than what counts as an agent's.
        if self.scope == Scope::Everything { None } else { self.files.listing_of(walked) }
    }

    fn load(
        &self,
        entry: &SourceEntry,
        each: &mut dyn FnMut(Document),
    ) -> Result<Vec<SkippedDocument>, SourceError> {
        self.files.load(entry, each)
    }

    fn read(&self, path: &str) -> Result<Option<Document>, SourceError> {
        self.files.read(path)
    }

    fn carried(
        &self,
        identity: &ModelIdentity,
        each: &mut dyn FnMut(CarriedVector),
    ) -> Result<(), SourceError> {
        let Some((machine, agent)) = &self.indexed_for else { return Ok(()) };
        vectors::of_agent(self.runtime, machine, agent, false, identity, each)
    }
}

/// Makes the sources of an agent's extra places; a document of an earlier source is not repeated in
/// a later one.
pub(super) fn extra_sources(
    runtime: &'static Runtime,
    workspace: &Path,
    places: &[ExtraPlace],
    notes: &mut Vec<SourceNote>,
) -> Vec<Box<dyn DocumentSource>> {
    let mut sources: Vec<Box<dyn DocumentSource>> = Vec::new();
    let agent = Arc::new(AgentRules(runtime));
    let mut earlier = vec![ClaimedFolder { root: text(workspace), rules: agent }];
    for place in places {
        let rules = match place.pattern.as_deref().map(MarkdownFolder::matching).transpose() {
            Ok(rules) => rules.unwrap_or_default(),
            Err(error) => {
                let (place, reason) = (place.path.clone(), error.to_string());
                notes.push(SourceNote::PlaceNotSearched { place, reason });
                continue;
            }
        };
        let own = ClaimedFolder { root: text(&place.path), rules: Arc::new(rules) };
        let rules = ExtraRules { own: own.clone(), earlier: earlier.clone() };
        earlier.push(own);
        sources.push(Box::new(ExtraSource::new(workspace, place, rules)));
    }
    sources
}

/// What one extra place may hold; somebody may have named a folder far above the notes.
const PLACE_LIMIT: FolderLimit = FolderLimit { names: 1_000_000, files: 50_000, bytes: 1 << 30 };

/// The folder of a source, and what the source takes of it.
#[derive(Clone)]
struct ClaimedFolder {
    root: String,
    rules: Arc<dyn FolderRules>,
}

impl ClaimedFolder {
    /// Whether the source takes the file at an absolute path.
    fn has(&self, path: &str) -> bool {
        let below = path.strip_prefix(self.root.as_str()).and_then(|rest| rest.strip_prefix('/'));
        // A place may be one file.
        let Some(below) = below else { return path == self.root };
        let mut folders = below.match_indices('/').map(|(at, _)| &below[..at]);
        folders.all(|folder| self.rules.enters(folder).is_ok())
            && self.rules.document(below).is_some()
    }
}

/// Markdown below an extra place that no earlier source has.
struct ExtraRules {
    own: ClaimedFolder,
    earlier: Vec<ClaimedFolder>,
}

impl ExtraRules {
    fn is_taken(&self, path: &str) -> bool {
        self.earlier.iter().any(|earlier| earlier.has(path))
    }
}

impl FolderRules for ExtraRules {
    fn identity(&self) -> String {
        let earlier = self.earlier.iter();
        let earlier = earlier.map(|other| format!("{} {:?}", other.rules.identity(), other.root));
        let earlier: Vec<String> = earlier.collect();
        format!("{} but not {}", self.own.rules.identity(), earlier.join(", "))
    }

    fn enters(&self, folder: &str) -> Result<(), SkipReason> {
        self.own.rules.enters(folder)
    }

    fn document(&self, path: &str) -> Option<Document> {
        let document = self.own.rules.document(path)?;
        (!self.is_taken(&format!("{}/{path}", self.own.root))).then_some(document)
    }
}

/// An extra place: a folder, or one file. A link in its stead is not followed.
struct ExtraSource {
    path: PathBuf,
    /// What its documents are called: relative to the workspace, as the runtime has it.
    name: String,
    /// Whether an earlier source has it, when it is a file.
    is_taken: bool,
    /// Whether its texts are read without secrets.
    redacted: bool,
    folder: FolderSource,
    file: FileSource,
}

enum ExtraKind {
    Link,
    Folder,
    File,
    Absent,
    Unreadable,
}

impl ExtraSource {
    fn new(workspace: &Path, place: &ExtraPlace, rules: ExtraRules) -> Self {
        let name = relative(workspace, &place.path);
        let prefix = if name.is_empty() { String::new() } else { format!("{name}/") };
        let is_taken = rules.is_taken(&rules.own.root);
        Self {
            path: place.path.clone(),
            is_taken,
            redacted: place.redacted,
            file: FileSource::new(&place.path, markdown_document(&name)),
            folder: FolderSource::new(place.path.clone(), prefix, Box::new(rules))
                .limited(PLACE_LIMIT),
            name,
        }
    }

    /// Takes the secrets out of a document where the place asks for that.
    fn cleaned(&self, mut document: Document) -> Document {
        if self.redacted {
            document.text = anemone_secrets::redact_text(&document.text).0.into_owned();
        }
        document
    }

    fn shape(&self) -> ExtraKind {
        match fs_err::symlink_metadata(&self.path) {
            Ok(there) if there.is_symlink() => ExtraKind::Link,
            Ok(there) if there.is_dir() => ExtraKind::Folder,
            Ok(_) if is_markdown(&self.name) && !self.is_taken => ExtraKind::File,
            Ok(_) => ExtraKind::Absent,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => ExtraKind::Absent,
            Err(_) => ExtraKind::Unreadable,
        }
    }
}

impl DocumentSource for ExtraSource {
    fn identity(&self) -> String {
        let identity = format!("{} or {}", self.folder.identity(), self.file.identity());
        if self.redacted { format!("{identity}, redacted") } else { identity }
    }

    fn list(&self) -> Result<Listing, SourceError> {
        let skipped = |reason| {
            let skipped = vec![SkippedDocument { path: self.name.clone(), reason }];
            Ok(Listing { skipped, ..Listing::default() })
        };
        match self.shape() {
            ExtraKind::Link => skipped(SkipReason::Symlink),
            ExtraKind::Folder => self.folder.list().or_else(|_| skipped(SkipReason::Unreadable)),
            ExtraKind::File => self.file.list(),
            ExtraKind::Absent => Ok(Listing::default()),
            ExtraKind::Unreadable => skipped(SkipReason::Unreadable),
        }
    }

    fn load(
        &self,
        entry: &SourceEntry,
        each: &mut dyn FnMut(Document),
    ) -> Result<Vec<SkippedDocument>, SourceError> {
        let each = &mut |document| each(self.cleaned(document));
        match self.shape() {
            ExtraKind::Folder => self.folder.load(entry, each),
            ExtraKind::File => self.file.load(entry, each),
            ExtraKind::Link | ExtraKind::Absent | ExtraKind::Unreadable => Ok(Vec::new()),
        }
    }

    fn read(&self, path: &str) -> Result<Option<Document>, SourceError> {
        let document = match self.shape() {
            ExtraKind::Folder => self.folder.read(path)?,
            ExtraKind::File => self.file.read(path)?,
            ExtraKind::Link | ExtraKind::Absent | ExtraKind::Unreadable => None,
        };
        Ok(document.map(|document| self.cleaned(document)))
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().trim_end_matches('/').to_owned()
}

/// Returns a path relative to a folder, both absolute: the result may begin with `../`.
fn relative(folder: &Path, path: &Path) -> String {
    let mut from = folder.components().peekable();
    let mut to = path.components().peekable();
    while let (Some(one), Some(other)) = (from.peek(), to.peek())
        && one == other
    {
        from.next();
        to.next();
    }
    let up = from.map(|_| "..".to_owned());
    let down = to.filter(|value| !matches!(value, Component::RootDir));
    let down = down.map(|down| down.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use anemone_runtimes::by_name;

    use super::*;

    fn openclaw() -> &'static Runtime {
        by_name("openclaw").unwrap()
    }

    fn write(folder: &Path, names: &[&str]) {
        for name in names {
            let path = folder.join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, "# Text\n").unwrap();
        }
    }

    /// Returns what a source has, and what it skips.
    fn look(source: &dyn DocumentSource) -> (Vec<String>, Vec<(String, SkipReason)>) {
        let listing = source.list().unwrap();
        let mut skipped = listing.skipped;
        let mut paths = Vec::new();
        for entry in &listing.entries {
            skipped.extend(source.load(entry, &mut |document| paths.push(document.path)).unwrap());
        }
        (paths, skipped.into_iter().map(|skipped| (skipped.path, skipped.reason)).collect())
    }

    #[test]
    fn a_path_is_seen_from_the_workspace() {
        for (path, wanted) in [
            ("/home/a/w/notes", "notes"),
            ("/home/a/w", ""),
            ("/home/a", ".."),
            ("/home/b/x", "../../b/x"),
            ("/srv", "../../../srv"),
        ] {
            assert_eq!(relative(Path::new("/home/a/w"), Path::new(path)), wanted, "{path}");
        }
    }

    #[test]
    fn a_workspace_has_its_memories_and_counts_what_is_left() {
        let folder = tempfile::tempdir().unwrap();
        write(
            folder.path(),
            &[
                "MEMORY.md",
                "USER.md",
                "SOUL.md",
                "notes.md",
                "skills/a/SKILL.md",
                ".git/x.md",
                ".alf-origin/files/a.md",
                "memory/2026-01-15.md",
                "memory/deep/er/x.md",
                "memory/node_modules/x.md",
                "memory/.dreams/x.md",
                "memory/dreaming/light/2026-01-01.md",
                "memory/.openclaw-repair/x.md",
                "memory/picture.png",
            ],
        );
        #[cfg(unix)]
        std::os::unix::fs::symlink("../SOUL.md", folder.path().join("memory/link.md")).unwrap();
        let source = WorkspaceSource::new(openclaw(), folder.path().to_owned(), Scope::Memories);
        let (paths, skipped) = look(&source);
        assert_eq!(paths, ["MEMORY.md", "USER.md", "memory/2026-01-15.md", "memory/deep/er/x.md"]);
        let skip = |path: &str, reason| (path.to_owned(), reason);
        assert_eq!(
            skipped,
            [
                skip(".alf-origin", SkipReason::MachineState),
                skip(".git", SkipReason::Ignored),
                skip("memory/.dreams", SkipReason::MachineState),
                skip("memory/.openclaw-repair", SkipReason::Ignored),
                skip("memory/dreaming", SkipReason::MachineState),
                skip("memory/link.md", SkipReason::Symlink),
                skip("memory/node_modules", SkipReason::Ignored),
            ]
        );
    }

    #[test]
    fn a_place_of_conversations_is_read_without_secrets() {
        let home = tempfile::tempdir().unwrap();
        let home = fs_err::canonicalize(home.path()).unwrap();
        write(&home, &["w/MEMORY.md"]);
        fs_err::create_dir(home.join("said")).unwrap();
        let text = "User: the router password is Krabbe-77\n";
        fs_err::write(home.join("said/a.md"), text).unwrap();
        let mut identities = Vec::new();
        for redacted in [true, false] {
            let place = ExtraPlace { path: home.join("said"), pattern: None, redacted };
            let mut notes = Vec::new();
            let sources = extra_sources(openclaw(), &home.join("w"), &[place], &mut notes);
            let source = &sources[0];
            let entry = source.list().unwrap().entries.remove(0);
            let mut found = Vec::new();
            source.load(&entry, &mut |document| found.push(document)).unwrap();
            found.extend(source.read("../said/a.md").unwrap());
            assert_eq!(found.len(), 2);
            for document in found {
                assert_eq!(document.text.contains("Krabbe-77"), !redacted, "{}", document.text);
            }
            identities.push(source.identity());
        }
        assert_ne!(identities[0], identities[1]);
    }

    #[test]
    fn extra_places_add_what_nothing_before_them_has() {
        let home = tempfile::tempdir().unwrap();
        let home = fs_err::canonicalize(home.path()).unwrap();
        let workspace = home.join("w");
        write(
            &home,
            &["w/MEMORY.md", "w/memory/a.md", "w/notes/b.md", "w/notes/c.txt", "wiki/d.md", "e.md"],
        );
        write(&home, &["wiki/x/f.md"]);
        let place = |path: &str, pattern: Option<&str>| ExtraPlace {
            path: home.join(path),
            pattern: pattern.map(str::to_owned),
            redacted: false,
        };
        let mut places = vec![
            place("w/notes", None),
            place("wiki", Some("*.md")),
            place("wiki/d.md", None),
            place("e.md", None),
            place("", None),
            place("gone", None),
            place("wiki", Some("a{")),
        ];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(home.join("wiki"), home.join("link")).unwrap();
            places.push(place("link", None));
        }
        let mut notes = Vec::new();
        let sources = extra_sources(openclaw(), &workspace, &places, &mut notes);
        let found: Vec<_> = sources.iter().map(|source| look(&**source)).collect();
        let paths: Vec<Vec<String>> = found.iter().map(|found| found.0.clone()).collect();
        assert_eq!(
            paths,
            [
                vec!["notes/b.md".to_owned()],
                vec!["../wiki/d.md".to_owned()],
                vec![],
                vec!["../e.md".to_owned()],
                vec!["../wiki/x/f.md".to_owned()],
                vec![],
                vec![],
            ]
        );
        assert_eq!(notes.len(), 1);
        assert_eq!(found[6].1, [("../link".to_owned(), SkipReason::Symlink)]);
        let read = sources[1].read("../wiki/d.md").unwrap().unwrap();
        assert_eq!(read.text, "# Text\n");
        assert_eq!(sources[1].read("../wiki/x/f.md").unwrap(), None);
    }
}
