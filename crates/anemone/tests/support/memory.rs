//! A memory, and what people and programs do with it.

use std::ops::Deref;

use anemone::agent::AgentChoice;
use anemone::agent_memory::MemoryChoice;
use anemone::export::{ExportReport, ExportRequest, export};
use anemone::forget::{
    Confirmation, ForgetChoice, ForgetError, ForgetReport, ForgetRequest, forget,
};
use anemone::list::{ListReport, ListRequest, list};
use anemone::remember::{RememberError, RememberReport, RememberRequest, remember};
use anemone::search::read::{LineRange, ReadDocumentError, ReadReport, ReadRequest, read};
use anemone::search::target::TargetChoice;
use anemone::search::{SearchError, SearchReport, SearchRequest, search};
use anemone::undo::{UndoAction, UndoError, UndoReport, UndoRequest, undo};
use anemone_memory::Finality;
use anemone_runtimes::SecretPolicy;

use super::TestMachine;

/// A machine with one agent, by default in the folder `ws`, and its memory.
pub(crate) struct TestMemory {
    pub(crate) machine: TestMachine,
    pub(crate) agent: AgentChoice,
}

impl Deref for TestMemory {
    type Target = TestMachine;

    fn deref(&self) -> &TestMachine {
        &self.machine
    }
}

impl TestMemory {
    /// Makes a machine with an agent whose files are still to be written.
    pub(crate) fn new() -> Self {
        let machine = TestMachine::new();
        let agent = AgentChoice { workspace: Some(machine.path("ws")), ..AgentChoice::default() };
        Self { machine, agent }
    }

    /// Makes a machine with an agent of a runtime.
    pub(crate) fn of(runtime: &str) -> Self {
        let mut memory = Self::new();
        memory.agent.runtime = Some(runtime.to_owned());
        memory
    }

    /// Makes a machine with an agent that has files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let memory = Self::new();
        for (name, text) in files {
            memory.write(&format!("ws/{name}"), text);
        }
        memory
    }

    /// Returns the memory as requests name it.
    pub(crate) fn choice(&self) -> MemoryChoice {
        MemoryChoice { agent: self.agent.clone(), index_dir: None }
    }

    /// Returns the memory as it is searched.
    pub(crate) fn target(&self) -> TargetChoice {
        TargetChoice { agent: self.agent.clone(), ..TargetChoice::default() }
    }

    /// Returns something else in the folder to work in, as it is searched.
    pub(crate) fn target_at(&self, name: &str) -> TargetChoice {
        TargetChoice { path: Some(self.path(name)), ..TargetChoice::default() }
    }

    /// Returns the text of a file of the workspace.
    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(&format!("ws/{name}"))).unwrap()
    }

    pub(crate) fn search(&self, query: &str) -> SearchReport {
        self.search_with(query, |_| {})
    }

    pub(crate) fn search_with(
        &self,
        query: &str,
        change: impl FnOnce(&mut SearchRequest),
    ) -> SearchReport {
        self.try_search(query, change).unwrap()
    }

    pub(crate) fn try_search(
        &self,
        query: &str,
        change: impl FnOnce(&mut SearchRequest),
    ) -> Result<SearchReport, SearchError> {
        let mut request = SearchRequest::new(query, self.target());
        change(&mut request);
        request.check()?;
        self.run(|host| search(&request, host))
    }

    /// Reads a document, or the lines of a citation.
    pub(crate) fn get(&self, path: &str) -> Result<ReadReport, ReadDocumentError> {
        self.get_with(path, |_| {})
    }

    pub(crate) fn get_with(
        &self,
        path: &str,
        change: impl FnOnce(&mut ReadRequest),
    ) -> Result<ReadReport, ReadDocumentError> {
        let mut request = ReadRequest {
            path: path.to_owned(),
            target: self.target(),
            lines: LineRange::default(),
            chars: 12_000,
        };
        change(&mut request);
        self.run(|host| read(&request, host))
    }

    pub(crate) fn remember(&self, text: &str) -> RememberReport {
        self.remember_with(text, |_| {})
    }

    pub(crate) fn remember_with(
        &self,
        text: &str,
        change: impl FnOnce(&mut RememberRequest),
    ) -> RememberReport {
        self.try_remember(text, change).unwrap()
    }

    pub(crate) fn try_remember(
        &self,
        text: &str,
        change: impl FnOnce(&mut RememberRequest),
    ) -> Result<RememberReport, RememberError> {
        let mut request = RememberRequest::new(text, self.choice());
        change(&mut request);
        self.run(|host| remember(&request, host))
    }

    /// Forgets what is chosen, in a way that can be undone.
    pub(crate) fn forget(&self, choice: ForgetChoice) -> ForgetReport {
        self.forget_with(choice, |_| {})
    }

    pub(crate) fn forget_for_good(&self, choice: ForgetChoice) -> ForgetReport {
        self.forget_with(choice, |request| request.finality = Finality::ForGood)
    }

    pub(crate) fn forget_with(
        &self,
        choice: ForgetChoice,
        change: impl FnOnce(&mut ForgetRequest),
    ) -> ForgetReport {
        self.try_forget(choice, Confirmation::Given, change).unwrap()
    }

    pub(crate) fn try_forget(
        &self,
        choice: ForgetChoice,
        confirmation: Confirmation<'_>,
        change: impl FnOnce(&mut ForgetRequest),
    ) -> Result<ForgetReport, ForgetError> {
        let mut request = ForgetRequest {
            memory: self.choice(),
            choice,
            finality: Finality::Undoable,
            dry_run: false,
        };
        change(&mut request);
        self.run(|host| {
            let mut report = forget(&request, confirmation, host)?;
            report.told();
            Ok(report)
        })
    }

    pub(crate) fn undo(&self) -> UndoReport {
        self.try_undo(|_| {}).unwrap()
    }

    pub(crate) fn try_undo(
        &self,
        change: impl FnOnce(&mut UndoRequest),
    ) -> Result<UndoReport, UndoError> {
        let mut request =
            UndoRequest { memory: self.choice(), action: UndoAction::Revert, dry_run: false };
        change(&mut request);
        self.run(|host| undo(&request, host))
    }

    pub(crate) fn list(&self) -> ListReport {
        self.list_with(|_| {})
    }

    pub(crate) fn list_with(&self, change: impl FnOnce(&mut ListRequest)) -> ListReport {
        let mut request = ListRequest::new(self.choice());
        change(&mut request);
        self.run(|host| list(&request, host)).unwrap()
    }

    /// Exports the agent into an archive, with the secrets that it may hold.
    pub(crate) fn export(&self, archive: &str) -> ExportReport {
        let request = ExportRequest {
            output: Some(self.path(archive)),
            secrets: SecretPolicy::Allow,
            ..ExportRequest::new(self.agent.clone())
        };
        self.run(|host| export(&request, host)).unwrap()
    }
}

/// Chooses the entry with an id, or of a citation.
pub(crate) fn id(id: &str) -> ForgetChoice {
    ForgetChoice::Ids(vec![id.to_owned()])
}

/// Chooses the entries with a key.
pub(crate) fn key(key: &str) -> ForgetChoice {
    ForgetChoice::Key(key.to_owned())
}

/// Chooses the one entry that a query finds first.
pub(crate) fn query(text: &str) -> ForgetChoice {
    ForgetChoice::Query { text: text.to_owned(), limit: 1 }
}
