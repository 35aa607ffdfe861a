//! The descriptor of a runtime: plain data, and its capabilities.
//!
//! Every capability is optional. Callers ask the descriptor and get an error that names the runtime
//! if the capability is missing, or an empty result where that is correct.

use std::fmt;
use std::path::{Path, PathBuf};

use anemone_format::{AgentId, Record, Sink};
use anemone_memory::{Clock, ContextRules, MarkdownLayout, RowStore};

use crate::kit::{
    Check, Conversation, FileCounter, FoundAgent, Issue, IssueKind, Machine, Namespaces,
    NativeSearch, NativeTools, Plan, PlanError, PlanOptions, Reach, ReadConversationError,
    ReadError, ReadOptions, Reading, RestoreSource, RowSchema, RowVectors, RuntimeSettings,
    Searchable, SearchableRecord, SearchedFile, SearchedFolder, Severity, StateTable, StoreKind,
    TranscriptFormat, Unchanged, UnsearchedCounts, VectorOf, WORKSPACE_FILES, WantedModel,
    connect::Connect, conversation::injected::InjectedText, mapping::Mapping,
};

/// A program that runs agents: what it is called, where its things are, what its files mean, and
/// what can be done with its agents.
pub struct Runtime {
    /// Its name in records, manifests, paths and arguments, such as `openclaw`.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What the names of the environment variables that it reads begin with.
    pub variables: &'static [&'static str],
    /// Where its agents usually are; `None` where it has no agents of its own.
    pub places: Option<UsualPlaces>,
    /// The files of its workspaces, and what they are.
    pub files: WorkspaceFiles,
    /// Ends of the paths of files in any folder that make it run something; a folder, of which every
    /// file does, ends in `/`.
    pub(crate) run_by: &'static [&'static str],
    /// The table of its state database in which an import may write rows.
    pub(crate) state_table: Option<StateTable>,
    /// How it lays out memories in Markdown.
    pub layout: MarkdownLayout,
    /// What its versions put before a session, the oldest first.
    pub contexts: &'static [&'static ContextRules],
    /// Returns the rules of an install of this generation; `None` where the rules of a plain folder
    /// apply.
    pub context_of: Option<fn(Option<&str>) -> &'static ContextRules>,
    /// What its records say besides what every record says.
    pub records: RecordRules,
    /// The search index that the runtime itself keeps of its files, if any.
    pub own_index: Option<OwnIndex>,
    /// What becomes of a snapshot of another runtime, for each memory backend; the first is the
    /// default. Without a mapping, no snapshot can move in.
    pub mappings: &'static [Mapping],
    /// Finds its agents.
    pub find: Option<&'static dyn FindAgents>,
    /// Reads an agent as a snapshot.
    pub read: Option<&'static dyn ReadAgents>,
    /// Returns what of an agent can be searched.
    pub search: Option<&'static dyn SearchAgents>,
    /// Keeps what an agent remembers in rows of a database.
    pub rows: Option<OpenRows>,
    /// Restores agents from snapshots of this runtime, also from one that comes back from another.
    pub restore: Option<PlanAgent>,
    /// Lets agents of other runtimes move in, as a [`Mapping`] says.
    pub move_in: Option<PlanAgent>,
    /// Reads the conversations of an agent.
    pub conversations: Option<ReadConversation>,
    /// How it is given a memory.
    pub connect: Option<&'static Connect>,
    /// How it searches memories itself, where that can be reproduced.
    pub native_search: Option<&'static NativeSearch>,
    /// Returns what its configuration says about an agent's memory.
    pub settings: Option<ReadSettings>,
    /// The tools by which its agents know their memory.
    pub native_tools: Option<&'static NativeTools>,
    /// How its transcripts are read, by their lines alone.
    pub(crate) transcripts: Option<TranscriptFormat>,
    /// What it puts into messages, or sends in the place of a user.
    pub(crate) injected: InjectedText,
}

/// Where the agents of a runtime usually are.
#[derive(Clone, Copy, Debug)]
pub struct UsualPlaces {
    /// The file with its settings, in the install.
    pub config: &'static str,
    /// The folders where an install is looked for, below the home folder; a `*` is any text.
    pub folders: &'static [&'static str],
    /// The variables that name another folder; the first names the install.
    pub variables: &'static [&'static str],
    /// Further variables that have a say in where agents are looked for.
    pub other_variables: &'static [&'static str],
    /// Whether one install has several agents in folders of its choice, so that the install is
    /// named and not a workspace.
    pub holds_several: bool,
    /// Returns where the first agent goes when there is none yet.
    pub first: fn(&Machine) -> PathBuf,
}

/// Which files of a workspace are what.
#[derive(Clone, Copy, Debug)]
pub struct WorkspaceFiles {
    /// Files beside the memories that belong to a workspace.
    pub known: &'static [&'static str],
    /// Files that are kept up to date and do not age.
    pub evergreen: &'static [&'static str],
    /// Files that the runtime puts into a workspace and before a model. One of them may be there for
    /// other reasons: repositories have an `AGENTS.md`.
    pub bootstrap: &'static [&'static str],
    /// Files that nothing but an agent's workspace has.
    pub unmistakable: &'static [&'static str],
}

/// What the records of a runtime say besides what every record says.
#[derive(Clone, Copy, Debug)]
pub struct RecordRules {
    /// Which of them stay true however old they are.
    pub evergreen: EvergreenRecords,
    /// Says whether a record with this original form is for one person only; `None` where no record
    /// is made from a row.
    pub(crate) rows: Option<RowRules>,
    /// Whether the vectors of a record are those of its text, and not of pieces of its file.
    pub(crate) vectors_are_of_text: bool,
}

/// The search index that a runtime keeps of its files.
#[derive(Clone, Copy, Debug)]
pub struct OwnIndex {
    /// The command that rebuilds it, so that it keeps nothing that the files no longer have.
    pub rebuild: &'static str,
}

/// Which records stay true however old they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvergreenRecords {
    /// All that are no episodes.
    NotEpisodic,
    /// Those of one namespace.
    Namespace(&'static str),
}

/// How the private rows of a database are recognized.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowRules {
    /// What the key of a row begins with that only one person sees.
    pub(crate) private_key: &'static str,
    /// The column that names this person.
    pub(crate) owner_column: &'static str,
    /// The tables that they are in.
    pub(crate) schema: &'static RowSchema,
    /// Returns how an agent's rows get their vectors.
    pub(crate) vectors: fn(&FoundAgent) -> RowVectors,
    /// The command of the runtime that makes the vectors that are missing.
    pub(crate) fill_vectors: &'static str,
}

/// Finds the agents of a runtime; reads little and writes nothing.
pub trait FindAgents: Sync {
    /// Finds every agent on the machine.
    fn discover(&self, machine: &Machine) -> Vec<FoundAgent>;

    /// Takes a folder as a workspace: the discovered agent that lives there, or one without an
    /// install. A runtime that keeps several agents in one install also takes the install's
    /// folder, and then `alias` says which agent is meant.
    fn locate(&self, machine: &Machine, folder: &Path, alias: Option<&str>) -> FoundAgent;

    /// Derives the id of an agent that is not known: from the path of its workspace, and from its
    /// name if another agent has that workspace first.
    fn derive_id(&self, agent: &FoundAgent) -> AgentId {
        Namespaces::of_name(agent.runtime).derive(agent)
    }

    /// Finds agents as [`discover`](Self::discover) does, by files and folders alone: it is quick,
    /// and agents that only a database knows are not found.
    fn discover_by_files(&self, machine: &Machine) -> Vec<FoundAgent> {
        self.discover(machine)
    }

    /// Takes a folder as [`locate`](Self::locate) does, and looks into a database only where
    /// nothing else names an agent.
    fn locate_by_files(&self, machine: &Machine, folder: &Path, alias: Option<&str>) -> FoundAgent {
        self.locate(machine, folder, alias)
    }
}

/// Reads an agent as a snapshot.
pub trait ReadAgents: Sync {
    /// Returns whether an agent can be exported, and what prevents it, with the agent that
    /// was opened for it.
    fn check(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
    ) -> (Check, Result<Box<dyn OpenAgent>, ReadError>);

    /// Opens an agent's workspace and walks it: once, to see whether the agent changed and to read
    /// it.
    fn open(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
    ) -> Result<Box<dyn OpenAgent>, ReadError>;
}

/// An agent whose workspace was walked.
pub trait OpenAgent {
    /// Returns the result for an agent that still is what `options.earlier` says; `None` when it is
    /// not, or when only reading it can tell.
    fn is_unchanged(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
    ) -> Result<Option<Unchanged>, ReadError>;

    /// Reads an agent: files and records go to the sink as they come, the rest is returned.
    fn read(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Reading, ReadError>;
}

/// Lists what can be searched of an agent, and reads memories that are not in files.
pub trait SearchAgents: Sync {
    /// Returns what can be searched of an agent; looks only at its configuration.
    fn searchable(&self, machine: &Machine, agent: &FoundAgent) -> Searchable;

    /// Names the files that an archive of the agent draws on though they may be outside the
    /// workspace: its configuration, its database.
    fn files_beside(&self, _agent: &FoundAgent) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns how a search treats a file, by its path in the workspace.
    fn file(&self, path: &str) -> SearchedFile;

    /// Returns how a search treats a folder, by its path in the workspace.
    fn folder(&self, path: &str) -> SearchedFolder;

    /// Takes a database by its path alone, for the agent of that name; `None` when the runtime has
    /// no such database.
    fn database(&self, _path: &Path, _alias: &str) -> Option<(FoundAgent, StoreKind)> {
        None
    }

    /// Reads a store of an agent, in a fixed order; entries for one person only if `private` says
    /// so. Pieces of one conversation come one after the other.
    fn read_store(
        &self,
        _machine: &Machine,
        _agent: &FoundAgent,
        _kind: StoreKind,
        _private: bool,
        _take: &mut dyn FnMut(SearchableRecord),
    ) -> Result<UnsearchedCounts, ReadError> {
        Ok(UnsearchedCounts::default())
    }

    /// Hands out the vectors of one model that the runtime made of an agent's memories, in no
    /// particular order; those of entries for one person only if `private` says so.
    fn read_vectors(
        &self,
        _machine: &Machine,
        _agent: &FoundAgent,
        _wanted: &WantedModel<'_>,
        _private: bool,
        _take: &mut dyn FnMut(VectorOf<'_>, Vec<f32>),
    ) -> Result<(), ReadError> {
        Ok(())
    }
}

/// Returns the rows of an agent in a database. Nothing is opened yet.
pub type OpenRows = fn(&Path, &str, Box<dyn Clock>) -> Box<dyn RowStore>;

/// Plans how a snapshot becomes the workspace of an agent; changes nothing.
pub type PlanAgent =
    fn(&Machine, &RestoreSource<'_>, &FoundAgent, &PlanOptions<'_>) -> Result<Plan, PlanError>;

/// Reads the end of one session of an agent, by its id or its key; `None` is the conversation that
/// the agent had last.
pub type ReadConversation =
    fn(&Machine, &FoundAgent, Option<&str>, Reach) -> Result<Conversation, ReadConversationError>;

/// Returns what the configuration of an agent says about its memory.
pub type ReadSettings = fn(&Machine, &FoundAgent) -> RuntimeSettings;

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for Runtime {
    /// Runtimes with the same name are the same.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Runtime {}

impl Runtime {
    /// A program without agents of its own: it works in the workspace of an agent.
    pub(crate) const WITHOUT_AGENTS: Self = Self {
        name: "",
        title: "",
        variables: &[],
        places: None,
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
        find: None,
        read: None,
        search: None,
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

    /// Whether it has agents that can be found.
    #[must_use]
    pub const fn has_agents(&self) -> bool {
        self.find.is_some()
    }

    /// Whether agents may keep memories in rows of a database, each with a key.
    #[must_use]
    pub const fn keeps_rows(&self) -> bool {
        self.records.rows.is_some()
    }

    /// Finds every agent; none where it has none of its own.
    #[must_use]
    pub fn discover(&self, machine: &Machine) -> Vec<FoundAgent> {
        self.find.map(|find| find.discover(machine)).unwrap_or_default()
    }

    /// Finds agents by files and folders alone, see [`FindAgents::discover_by_files`].
    #[must_use]
    pub fn discover_by_files(&self, machine: &Machine) -> Vec<FoundAgent> {
        self.find.map(|find| find.discover_by_files(machine)).unwrap_or_default()
    }

    /// Takes a folder as a workspace, see [`FindAgents::locate`].
    #[must_use]
    pub fn locate(&self, machine: &Machine, folder: &Path, alias: Option<&str>) -> FoundAgent {
        let found = self.find.map(|find| find.locate(machine, folder, alias));
        found.unwrap_or_else(|| self.bare(folder))
    }

    /// Takes a folder as a workspace, see [`FindAgents::locate_by_files`].
    #[must_use]
    pub fn locate_by_files(
        &self,
        machine: &Machine,
        folder: &Path,
        alias: Option<&str>,
    ) -> FoundAgent {
        let found = self.find.map(|find| find.locate_by_files(machine, folder, alias));
        found.unwrap_or_else(|| self.bare(folder))
    }

    fn bare(&self, folder: &Path) -> FoundAgent {
        FoundAgent::without_install(self.name, String::new(), folder.to_owned())
    }

    /// Derives the id of an agent that is not known, see [`FindAgents::derive_id`].
    #[must_use]
    pub fn derive_id(&self, agent: &FoundAgent) -> AgentId {
        match self.find {
            Some(find) => find.derive_id(agent),
            None => Namespaces::of_name(self.name).derive(agent),
        }
    }

    /// Returns where its first agent goes when there is none yet.
    #[must_use]
    pub fn first_place(&self, machine: &Machine) -> PathBuf {
        match &self.places {
            Some(places) => (places.first)(machine),
            None => machine.home.join(format!(".{}", self.name)),
        }
    }

    /// Returns the folder that names an agent to a person: its workspace, or the install where one
    /// holds several agents.
    #[must_use]
    pub fn named_place<'a>(&self, agent: &'a FoundAgent) -> &'a Path {
        let holds_several = self.places.is_some_and(|places| places.holds_several);
        agent.install.as_deref().filter(|_| holds_several).unwrap_or(&agent.workspace)
    }

    /// Returns whether an agent can be exported, see [`ReadAgents::check`].
    pub fn check(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
    ) -> (Check, Result<Box<dyn OpenAgent>, ReadError>) {
        if let Some(read) = self.read {
            return read.check(machine, agent, options);
        }
        let check = Check {
            workspace: agent.workspace.clone(),
            exists: agent.workspace.is_dir(),
            issues: vec![Issue {
                severity: Severity::Error,
                kind: IssueKind::NotSupported,
                message: format!("agents of {} cannot be exported", self.title),
                suggestion: "its files can be searched".into(),
            }],
            ..Check::default()
        };
        (check, Err(ReadError::NotSupported(self.title)))
    }

    /// Opens an agent to read it, see [`ReadAgents::open`].
    pub fn open(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
    ) -> Result<Box<dyn OpenAgent>, ReadError> {
        let read = self.read.ok_or(ReadError::NotSupported(self.title))?;
        read.open(machine, agent, options)
    }

    /// Reads an agent, see [`ReadAgents::open`] and [`OpenAgent::read`].
    pub fn read(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        options: &ReadOptions<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Reading, ReadError> {
        self.open(machine, agent, options)?.read(machine, agent, options, sink)
    }

    /// Plans how a snapshot becomes an agent: one of this runtime is restored, and one of another
    /// runtime moves in.
    pub fn plan(
        &self,
        machine: &Machine,
        source: &RestoreSource<'_>,
        target: &FoundAgent,
        options: &PlanOptions<'_>,
    ) -> Result<Plan, PlanError> {
        let plan = if source.is_of(self.name) { self.restore } else { self.move_in };
        let plan = plan.ok_or(PlanError::NotSupported(self.title))?;
        plan(machine, source, target, options)
    }

    /// Returns what can be searched of an agent: nothing where the runtime cannot say.
    #[must_use]
    pub fn searchable(&self, machine: &Machine, agent: &FoundAgent) -> Searchable {
        self.search.map(|search| search.searchable(machine, agent)).unwrap_or_default()
    }

    /// Returns what the configuration of an agent says about its memory; nothing where the runtime
    /// has no such configuration.
    #[must_use]
    pub fn settings_of(&self, machine: &Machine, agent: &FoundAgent) -> RuntimeSettings {
        self.settings.map(|read| read(machine, agent)).unwrap_or_default()
    }

    /// Names files beside the workspace, see [`SearchAgents::files_beside`].
    #[must_use]
    pub fn files_beside(&self, agent: &FoundAgent) -> Vec<PathBuf> {
        self.search.map(|search| search.files_beside(agent)).unwrap_or_default()
    }

    /// Returns how a search treats a file, by its path in the workspace.
    #[must_use]
    pub fn searched_file(&self, path: &str) -> SearchedFile {
        self.search.map_or(SearchedFile::Other, |search| search.file(path))
    }

    /// Returns how a search treats a folder, by its path in the workspace.
    #[must_use]
    pub fn searched_folder(&self, path: &str) -> SearchedFolder {
        self.search.map_or(SearchedFolder::Other, |search| search.folder(path))
    }

    /// Returns whether a file in a workspace counts as the agent's, by its path there.
    #[must_use]
    pub fn counts(&self, path: &Path) -> bool {
        let kind_of = |path: &str| self.searched_folder(path);
        FileCounter::new(&kind_of).takes(path.as_os_str().as_encoded_bytes())
    }

    /// Takes a database by its path alone, see [`SearchAgents::database`].
    #[must_use]
    pub fn database(&self, path: &Path, alias: &str) -> Option<(FoundAgent, StoreKind)> {
        self.search?.database(path, alias)
    }

    /// Reads a store of an agent, see [`SearchAgents::read_store`].
    pub fn read_store(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        kind: StoreKind,
        private: bool,
        take: &mut dyn FnMut(SearchableRecord),
    ) -> Result<UnsearchedCounts, ReadError> {
        self.searcher()?.read_store(machine, agent, kind, private, take)
    }

    /// Yields the vectors of one model, see [`SearchAgents::read_vectors`].
    pub fn read_vectors(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        wanted: &WantedModel<'_>,
        private: bool,
        take: &mut dyn FnMut(VectorOf<'_>, Vec<f32>),
    ) -> Result<(), ReadError> {
        self.searcher()?.read_vectors(machine, agent, wanted, private, take)
    }

    fn searcher(&self) -> Result<&'static dyn SearchAgents, ReadError> {
        self.search.ok_or(ReadError::NotSupported(self.title))
    }

    /// Returns the rows of an agent in a database that it keeps its memory in; `None` where the
    /// runtime has no such database. Nothing is opened yet.
    #[must_use]
    pub fn memory_rows(
        &self,
        database: &Path,
        alias: &str,
        clock: Box<dyn Clock>,
    ) -> Option<Box<dyn RowStore>> {
        Some(self.rows?(database, alias, clock))
    }

    /// Returns how an agent's rows get their vectors.
    #[must_use]
    pub fn row_vectors(&self, agent: &FoundAgent) -> RowVectors {
        self.records.rows.map_or(RowVectors::None, |rows| (rows.vectors)(agent))
    }

    /// Returns the command of the runtime that makes the vectors that rows lack.
    #[must_use]
    pub fn fills_vectors(&self) -> Option<&'static str> {
        Some(self.records.rows?.fill_vectors)
    }

    /// Reads the end of one session of an agent, by its id or its key; `None` is the conversation
    /// that the agent had last.
    pub fn read_conversation(
        &self,
        machine: &Machine,
        agent: &FoundAgent,
        session: Option<&str>,
        reach: Reach,
    ) -> Result<Conversation, ReadConversationError> {
        let not_supported = ReadConversationError::NotSupported(self.title);
        self.conversations.ok_or(not_supported)?(machine, agent, session, reach)
    }
}

impl RecordRules {
    /// Whether a record stays true however old it is.
    pub(crate) fn is_evergreen(&self, namespace: &str, is_episodic: bool) -> bool {
        match self.evergreen {
            EvergreenRecords::NotEpisodic => !is_episodic,
            EvergreenRecords::Namespace(kept) => namespace == kept,
        }
    }

    /// Whether a record was made from a row that only one person sees.
    pub(crate) fn is_private(&self, record: &Record) -> bool {
        let Some(rules) = self.rows else { return false };
        let raw: serde_json::Value =
            record.raw_source_format.as_ref().and_then(|raw| raw.parse().ok()).unwrap_or_default();
        let text = |name: &str| raw.get(name).and_then(serde_json::Value::as_str);
        let columns = raw.get("row").and_then(serde_json::Value::as_object);
        let owner = columns.and_then(|columns| {
            columns.iter().find(|(name, _)| name.eq_ignore_ascii_case(rules.owner_column))
        });
        text("key").is_some_and(|key| key.starts_with(rules.private_key))
            || owner.is_some_and(|(_, owner)| !owner.is_null())
    }
}
