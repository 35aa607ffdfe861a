//! The memory of an agent on this machine, or a path that is only read, behind the tools.
//!
//! Every call does what the command of the same name does, with the same checks; only the index
//! stays open from one search to the next.

mod entries;
mod newest;
mod refusal;
mod results;
mod watch;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use anemone::agent::FOLDER;
use anemone::agent_memory::{Access, AgentMemory, AgentMemoryError, MemoryChoice, delimiter};
use anemone::context::{ContextRequest, RecallCounting, context};
use anemone::exports::last_of;
use anemone::forget::{Confirmation, ForgetChoice, ForgetRequest, forget};
use anemone::host::{Host, OwnMachine};
use anemone::identity::identify;
use anemone::remember::{DuplicateCheck, MemoryPart, RememberError, RememberRequest, remember};
use anemone::search::index::{
    IndexFallback, OpenIndex, Rebuild, left_out, open_fresh, read_document,
};
use anemone::search::read::{LineRange, ReadDocumentError, ReadRequest, read_in, split};
use anemone::search::target::{SearchTarget, TargetChoice, TargetError};
use anemone::search::{Citations, SearchRequest, ask, sink_superseded, verify_in};
use anemone::status::SearchStatus;
use anemone_index::{ExcerptLimits, KnownDocument};
use anemone_memory::{Budget, Category, Finality, Importance, SessionKind};
use anemone_messages::{given_day, warning};
use anemone_runtimes::MemoryBackend;

use self::refusal::{of_forget, of_read, of_remember, read_hint};
use crate::lock::locked;
use crate::service::{
    ContextArguments, ContextResult, DocumentChanges, ForgetArguments, ForgetResult, MemoryService,
    MemoryStatus, ReadArguments, ReadResult, ReadStatus, RememberArguments, RememberResult, Result,
    SearchArguments, SearchResults, ServiceRefusal, Watch,
};

/// A query that lists the newest memories, as one without words does.
const EVERYTHING: &str = "*";

/// Results at most, whatever a client asks for.
const MOST_RESULTS: u32 = 50;

/// Which memory is served, and how.
pub struct ServeOptions {
    /// Folders, clock and keys of this machine.
    pub host: Host,
    /// The search target: an agent's memory, or an archive, a folder or a database, which is only
    /// read.
    pub target: TargetChoice,
    /// Whether clients may remember and forget.
    pub allow_write: bool,
    /// Whether results of a search are cited, where a client does not say.
    pub citations: Citations,
}

impl ServeOptions {
    /// Whether an agent's memory is served, rather than a file or a folder.
    fn is_of_agent(&self) -> bool {
        self.target.path.is_none() && self.target.agent.runtime.as_deref() != Some(FOLDER)
    }
}

/// Why a memory cannot be served.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum OpenServiceError {
    /// Writing is allowed to something that is not an agent's memory.
    #[error("only an agent's memory can be written to")]
    NotAnAgent,
    /// The memory was not found.
    Target(#[from] TargetError),
    /// The operating system refused.
    Io(#[from] std::io::Error),
}

/// A memory on this machine.
#[derive(Clone)]
pub struct LocalMemoryService {
    inner: Arc<ServiceState>,
}

struct ServiceState {
    options: ServeOptions,
    machine: OwnMachine,
    /// An encrypted archive after it was opened, so that its key is only asked for once.
    unsealed: OnceLock<Arc<SearchTarget>>,
    /// The index, which stays open between searches without its lock.
    warm: Mutex<Option<WarmIndex>>,
}

struct WarmIndex {
    folder: PathBuf,
    index: OpenIndex,
}

impl LocalMemoryService {
    /// Finds the memory that is to be served.
    pub fn open(options: ServeOptions) -> Result<Self, OpenServiceError> {
        if options.allow_write && !options.is_of_agent() {
            return Err(OpenServiceError::NotAnAgent);
        }
        let machine = options.host.machine()?;
        let inner =
            ServiceState { options, machine, unsealed: OnceLock::new(), warm: Mutex::new(None) };
        inner.target()?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns the path of the memory.
    pub fn place(&self) -> Result<String, TargetError> {
        Ok(self.inner.target()?.place.display().to_string())
    }
}

impl ServiceState {
    fn target(&self) -> Result<Arc<SearchTarget>, TargetError> {
        if let Some(unsealed) = self.unsealed.get() {
            return Ok(Arc::clone(unsealed));
        }
        let target = Arc::new(self.options.target.find(&self.machine.again(), &self.options.host)?);
        if target.is_encrypted() {
            return Ok(Arc::clone(self.unsealed.get_or_init(|| target)));
        }
        Ok(target)
    }

    fn memory(&self) -> MemoryChoice {
        let TargetChoice { agent, index_dir, .. } = self.options.target.clone();
        MemoryChoice { agent, index_dir }
    }

    fn check_of_agent(&self) -> Result<()> {
        if self.options.is_of_agent() {
            return Ok(());
        }
        let message = "this source is read-only: it can be searched and read, and nothing else";
        Err(ServiceRefusal::new("only_read", message).with_hint("search it and read it"))
    }

    /// Refuses to write without `allow_write`, even if the caller did not check it.
    fn check_may_write(&self) -> Result<()> {
        self.check_of_agent()?;
        if self.options.allow_write {
            return Ok(());
        }
        Err(ServiceRefusal::new("read_only", "this memory is offered for reading only")
            .with_hint("to enable writing, start the server with `anemone mcp --allow-write`"))
    }

    fn agent_memory(&self) -> Result<AgentMemory, AgentMemoryError> {
        self.memory().find_for(Access::Read, &self.machine.again(), &self.options.host)
    }

    /// Brings the index up to date, works with it, and releases its lock.
    fn with_index<T>(
        &self,
        target: &SearchTarget,
        work: impl FnOnce(&mut OpenIndex) -> Result<T>,
    ) -> Result<T> {
        let host = &self.options.host;
        let open = || open_fresh(target, host, Rebuild::No, IndexFallback::Temporary);
        let mut warm = locked(&self.warm);
        let mut index = match warm.take().filter(|warm| warm.folder == target.index_folder) {
            Some(mut kept) => match kept.index.refresh(target, host) {
                Ok(()) => kept.index,
                // An index that cannot be refreshed may work again once it is reopened.
                Err(_) => {
                    drop(kept);
                    open()?
                }
            },
            None => open()?,
        };
        let done = work(&mut index);
        index.index.release();
        // A temporary index is not kept: the usual folder may be available next time.
        if !index.is_temporary() {
            *warm = Some(WarmIndex { folder: target.index_folder.clone(), index });
        }
        done
    }

    fn known_documents(&self) -> Result<Vec<KnownDocument>> {
        let target = self.target()?;
        self.with_index(&target, |opened| Ok(opened.index.known_documents()?))
    }
}

fn switched_off() -> ServiceRefusal {
    let message = "memory search is switched off for this agent by its settings";
    ServiceRefusal::new("search_off", message).with_hint(
        "`anemone config explain search.enabled` shows by which setting; `enabled = true` in \
         [search] of Anemone's config switches it on",
    )
}

impl MemoryService for LocalMemoryService {
    fn search(&self, arguments: &SearchArguments) -> Result<SearchResults> {
        let inner = &*self.inner;
        let is_of_agent = inner.options.is_of_agent();
        let host = &inner.options.host;
        let limit = arguments.max_results.map(|most| most.clamp(1, MOST_RESULTS));
        let settings = inner.target()?.config(host)?.search;
        if !settings.enabled {
            return Err(switched_off());
        }
        let choice = inner.options.target.clone();
        let mut request = SearchRequest::new(arguments.query.clone(), choice);
        let citations = arguments.citations.map_or(inner.options.citations, Citations::from);
        request.citations = citations.or(settings.citations);
        request.session = arguments.session.map(SessionKind::from);
        if matches!(arguments.query.trim(), "" | EVERYTHING) && is_of_agent {
            let limit = limit.unwrap_or(SearchRequest::USUAL_LIMIT);
            let mut results = newest::newest(arguments, limit as usize, inner)?;
            if let Some(session) = request.session {
                results.results.retain(|result| session.may_see(&result.path));
            }
            if !request.citations.are_shown(request.session) {
                results.results.iter_mut().for_each(|result| result.citation = None);
            }
            return Ok(results);
        }
        let started = Instant::now();
        request.limit = limit;
        request.since = given_day("since", arguments.since.as_deref(), host.today())?;
        request.until = given_day("until", arguments.until.as_deref(), host.today())?;
        request.paths.extend(arguments.path.clone());
        // Results below it are counted, and left out afterwards.
        request.ranking.min_score = arguments.min_score.map(|_| 0.0);
        if let Err(error) = request.check() {
            let hint = "since is the earlier day, until the later one";
            return Err(ServiceRefusal::from(error).with_hint(hint));
        }
        let target = inner.target()?;
        let mut report = inner
            .with_index(&target, |opened| Ok(ask(&request, &target, opened, started, host)?))?;
        if is_of_agent && let Ok(memory) = inner.agent_memory() {
            verify_in(&memory.site, &mut report.hits);
            sink_superseded(&mut report.hits);
        }
        report.cite(&request);
        let mut results = results::search(report, arguments.min_score);
        if arguments.offset.is_some_and(|offset| offset > 0) {
            let note = "offset turns the pages of the query *, and has no effect on words";
            results.notes.push(note.to_owned());
        }
        if is_of_agent {
            let memory = inner.agent_memory().ok();
            let memory = memory.as_ref().map(AgentMemory::memory);
            entries::name(&mut results.results, &target, memory.as_deref());
        }
        Ok(results)
    }

    fn read(&self, arguments: &ReadArguments) -> Result<ReadResult> {
        let inner = &*self.inner;
        let lines = LineRange {
            from: arguments.from.map(|line| line as usize),
            lines: arguments.lines.map(|count| count as usize),
        };
        let target = inner.target()?;
        // `from` and `lines` take precedence over the lines of a citation.
        let path = if lines == LineRange::default() {
            arguments.path.as_str()
        } else {
            split(&arguments.path).map_or(arguments.path.as_str(), |named| named.0)
        };
        let request = ReadRequest {
            path: path.to_owned(),
            target: target.choice.clone(),
            lines,
            chars: ExcerptLimits::default().chars,
        };
        match read_in(&request, &target) {
            Ok(report) => Ok(results::read(report)),
            Err(error @ ReadDocumentError::NotFound { .. }) => {
                let hint = read_hint(&error);
                let text = hint.map(|hint| format!("there is no such document; {hint}"));
                Ok(ReadResult {
                    status: ReadStatus::NotFound,
                    text: text.unwrap_or_default(),
                    path: arguments.path.clone(),
                    from: 1,
                    ..ReadResult::default()
                })
            }
            Err(error) => Err(of_read(error)),
        }
    }

    fn remember(&self, arguments: &RememberArguments) -> Result<RememberResult> {
        let inner = &*self.inner;
        let host = &inner.options.host;
        inner.check_may_write()?;
        // The command line reads standard input for a hyphen; a client may expect the same.
        if arguments.text == "-" {
            return Err(ServiceRefusal::new(
                "usage",
                "text: give a sentence that can be understood by itself",
            ));
        }
        let importance = |number| {
            let message = "importance: give a number from 0 to 1";
            Importance::new(number).ok_or_else(|| ServiceRefusal::new("usage", message))
        };
        let mut request = RememberRequest::new(arguments.text.clone(), inner.memory());
        request.key.clone_from(&arguments.key);
        request.kind.clone_from(&arguments.kind);
        request.category = arguments.category.as_deref().map(Category::from);
        request.importance = arguments.importance.map(importance).transpose()?;
        request.tags.clone_from(&arguments.tags);
        request.origin = arguments.source.unwrap_or_default().into();
        request.session.clone_from(&arguments.session);
        request.supersedes.clone_from(&arguments.supersedes);
        if arguments.curated {
            request.part = MemoryPart::Curated;
        }
        if arguments.force {
            request.duplicates = DuplicateCheck::Skip;
        }
        match remember(&request, host) {
            Ok(report) => Ok(results::remember(report)),
            Err(RememberError::Duplicate(report)) => Ok(results::duplicate(report)),
            Err(error) => Err(of_remember(error)),
        }
    }

    fn forget(&self, arguments: &ForgetArguments) -> Result<ForgetResult> {
        let inner = &*self.inner;
        let host = &inner.options.host;
        inner.check_may_write()?;
        let ForgetArguments { key, id, citation, dry_run, for_good } = arguments.clone();
        let choice = match (key, id, citation) {
            (Some(key), None, None) => ForgetChoice::Key(key),
            (None, Some(id), None) | (None, None, Some(id)) => ForgetChoice::Ids(vec![id]),
            _ => {
                let message = "key, id or citation: give exactly one of them";
                return Err(ServiceRefusal::new("usage", message));
            }
        };
        let finality = if for_good { Finality::ForGood } else { Finality::Undoable };
        let request = ForgetRequest { memory: inner.memory(), choice, finality, dry_run };
        // The index must be closed while its files are searched for the text.
        *locked(&inner.warm) = None;
        let mut report = forget(&request, Confirmation::Given, host).map_err(of_forget)?;
        report.told();
        Ok(results::forget(report, &request.memory))
    }

    fn context(&self, arguments: &ContextArguments) -> Result<ContextResult> {
        let inner = &*self.inner;
        let host = &inner.options.host;
        inner.check_of_agent()?;
        let session = SessionKind::from(arguments.session.unwrap_or_default());
        let mut request = ContextRequest::new(inner.memory(), session);
        // Where search is switched off, nothing is recalled either.
        let is_on = inner.target()?.config(host)?.search.enabled;
        request.query = arguments.query.clone().filter(|_| is_on);
        if let Some(tokens) = arguments.tokens {
            request.budget = Budget::Tokens(tokens as usize);
        }
        // A client that may only read must not influence which memories are kept.
        if !inner.options.allow_write {
            request.recalls = RecallCounting::NotCounted;
        }
        Ok(results::context(context(&request, host)?))
    }

    fn status(&self) -> Result<MemoryStatus> {
        let inner = &*self.inner;
        let host = &inner.options.host;
        let target = inner.target()?;
        let mut status = inner.with_index(&target, |opened| {
            let sets = opened.index.vector_sets()?;
            let notes = opened.notes(&target).into_iter();
            let warnings = notes.map(|note| warning(note).message);
            let skipped = left_out(&opened.freshness).into_iter();
            let skipped = skipped.map(|(why, count)| format!("not searched, {why}: {count}"));
            Ok(MemoryStatus {
                runtime: target.kind.to_owned(),
                workspace: target.place.display().to_string(),
                keeps: "files".to_owned(),
                documents: opened.freshness.documents,
                chunks: opened.freshness.chunks,
                model: sets.last().map(|set| set.identity.model.clone()),
                issues: warnings.chain(skipped).collect(),
                ..MemoryStatus::default()
            })
        })?;
        // The same counts as those of the command. Only an index that is not kept has no others.
        if let Ok(SearchStatus { documents: Some(documents), chunks: Some(chunks), .. }) =
            SearchStatus::of(&target, None)
        {
            (status.documents, status.chunks) = (documents, chunks);
        }
        if inner.options.is_of_agent() {
            let memory = inner.agent_memory()?;
            status.agent = memory.agent.alias.clone();
            status.keeps = match &memory.keeps {
                MemoryBackend::Markdown => "markdown".to_owned(),
                MemoryBackend::Sqlite(_) => "database".to_owned(),
                MemoryBackend::None => "nothing".to_owned(),
                MemoryBackend::External(name) => name.clone(),
            };
            let identity = identify(memory.runtime, &memory.agent, host);
            status.last_export = last_of(host, &identity).map(|last| last.at.to_string());
            status.writable = inner.options.allow_write && memory.check_writable().is_ok();
            let oddities = memory.agent.oddities.iter();
            status.issues.extend(oddities.map(|oddity| oddity.message.clone()));
        }
        Ok(status)
    }

    fn documents(&self) -> Result<Vec<String>> {
        Ok(self.inner.known_documents()?.into_iter().map(|known| known.path).collect())
    }

    fn document(&self, path: &str) -> Result<String> {
        let inner = &*self.inner;
        match read_document(&*inner.target()?, path)? {
            Some(document) => Ok(document.text),
            None => Err(ServiceRefusal::not_found(format!("there is no document {path:?}"))),
        }
    }

    fn delimiter(&self) -> Result<String> {
        Ok(delimiter()?)
    }

    fn watch(&self, tell: Box<dyn Fn(DocumentChanges) + Send + Sync>) -> Result<Watch> {
        watch::watch(Arc::clone(&self.inner), tell)
    }
}
