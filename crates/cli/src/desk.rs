//! A memory as it is offered to agents: what tools ask, answered by what commands do.
//!
//! Every call does what the command of the same name would do, with the same checks; only the
//! index stays open from one search to the next.

mod answers;
mod entries;
mod error;
mod newest;
mod watch;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use anemone_index::{ExcerptLimits, KnownDocument};
use anemone_mcp::{
    Changed, ContextAsked, ContextText, Document, Forgetting, Forgotten, Found, MemoryService,
    ReadLines, ReadStatus, Reading, Refusal, Remembered, Remembering, SearchQuestion, SessionKind,
    Status, Watching,
};
use anemone_memory::{Budget, Finality, Importance};
use anemone_runtimes::MemoryBackend;
use jiff::civil::Date;

pub(crate) use self::error::ServiceError;
use self::error::{read_hint, refusal};
use crate::agent::FOLDER;
use crate::commands::forget::Forgotten as ForgottenInWords;
use crate::exports;
use crate::living::{AgentMemory, delimiter};
use crate::words::warning;
use anemone::context::{ContextRequest, RecallCounting, context as compose};
use anemone::days::day;
use anemone::forget::{Confirmation, ForgetChoice, ForgetRequest, forget};
use anemone::host::{Host, OwnMachine};
use anemone::identity::identify;
use anemone::living::{Access, MemoryChoice};
use anemone::remember::{DuplicateCheck, MemoryPart, RememberRequest, remember};
use anemone::search::index::{
    IndexFallback, OpenIndex, Rebuild, left_out, open_fresh, read_document,
};
use anemone::search::read::{LineRange, ReadError, ReadRequest, read_in, split};
use anemone::search::target::{SearchTarget, TargetChoice};
use anemone::search::{SearchRequest, ask, sink_superseded, verify_in};

/// Results at most, whatever is asked.
const MOST_RESULTS: u32 = 50;

/// What is offered.
pub(crate) struct ServeOptions {
    pub(crate) host: Host,
    /// What is searched: an agent's memory, or an archive, a folder or a database, which is only
    /// read.
    pub(crate) target: TargetChoice,
    pub(crate) allow_write: bool,
}

impl ServeOptions {
    /// Whether it is an agent's memory, and not a file or a folder of somebody's.
    fn is_of_agent(&self) -> bool {
        self.target.path.is_none() && self.target.agent.runtime.as_deref() != Some(FOLDER)
    }
}

/// A memory at which tools ask.
#[derive(Clone)]
pub(crate) struct LocalMemoryService {
    inner: Arc<Inner>,
}

struct Inner {
    offer: ServeOptions,
    machine: OwnMachine,
    /// What is sealed, opened: nobody is asked for its key twice.
    sealed: OnceLock<Arc<SearchTarget>>,
    /// The index, open between searches, but held by nobody.
    warm: Mutex<Option<Warm>>,
}

struct Warm {
    folder: PathBuf,
    opened: OpenIndex,
}

impl LocalMemoryService {
    /// Finds what is offered, so that nobody asks in vain.
    pub(crate) fn open(offer: ServeOptions) -> Result<Self, ServiceError> {
        if offer.allow_write && !offer.is_of_agent() {
            return Err(ServiceError::NotAnAgent);
        }
        let machine = offer.host.machine()?;
        let inner = Inner { offer, machine, sealed: OnceLock::new(), warm: Mutex::new(None) };
        inner.searched()?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns where the memory is that is offered.
    pub(crate) fn place(&self) -> Result<String, ServiceError> {
        Ok(self.inner.searched()?.place.display().to_string())
    }
}

impl Inner {
    fn host(&self) -> &Host {
        &self.offer.host
    }

    fn ask<T>(&self, work: impl FnOnce(&Host) -> Result<T, ServiceError>) -> Result<T, Refusal> {
        work(self.host()).map_err(refusal)
    }

    fn searched(&self) -> Result<Arc<SearchTarget>, ServiceError> {
        if let Some(sealed) = self.sealed.get() {
            return Ok(Arc::clone(sealed));
        }
        let searched = Arc::new(self.offer.target.find(&self.machine, self.host())?);
        if searched.is_encrypted() {
            return Ok(Arc::clone(self.sealed.get_or_init(|| searched)));
        }
        Ok(searched)
    }

    fn memory(&self) -> MemoryChoice {
        let TargetChoice { agent, index_dir, .. } = self.offer.target.clone();
        MemoryChoice { agent, index_dir }
    }

    fn check_of_agent(&self) -> Result<(), ServiceError> {
        if self.offer.is_of_agent() { Ok(()) } else { Err(ServiceError::OnlyRead) }
    }

    /// Nothing is written when writing was not allowed, whatever the protocol's side let through.
    fn check_may_write(&self) -> Result<(), ServiceError> {
        self.check_of_agent()?;
        if self.offer.allow_write { Ok(()) } else { Err(ServiceError::ReadOnly) }
    }

    fn living(&self) -> Result<AgentMemory, ServiceError> {
        Ok(self.memory().find_for(Access::Read, &self.machine, self.host())?)
    }

    /// Reads a day as people say it.
    fn day(&self, field: &'static str, text: Option<&str>) -> Result<Option<Date>, ServiceError> {
        let Some(text) = text else { return Ok(None) };
        let day = day(text, self.host().today());
        day.map(Some).ok_or_else(|| ServiceError::NoDay { field, text: text.to_owned() })
    }

    fn warm(&self) -> MutexGuard<'_, Option<Warm>> {
        // What a panic left is a closed or an open index; both are looked at before they are used.
        self.warm.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the index, up to date, and lets others have it afterwards.
    fn with_index<T>(
        &self,
        searched: &SearchTarget,
        work: impl FnOnce(&mut OpenIndex) -> Result<T, ServiceError>,
    ) -> Result<T, ServiceError> {
        let host = self.host();
        let mut warm = self.warm();
        let kept = warm.take().filter(|kept| kept.folder == searched.index_folder);
        let mut opened = match kept {
            Some(mut kept) => match kept.opened.refresh(searched, host) {
                Ok(()) => kept.opened,
                // What went wrong with an index that was open may go well with one that is opened.
                Err(_) => {
                    drop(kept);
                    open_fresh(searched, host, Rebuild::No, IndexFallback::Temporary)?
                }
            },
            None => open_fresh(searched, host, Rebuild::No, IndexFallback::Temporary)?,
        };
        let done = work(&mut opened);
        opened.index.release();
        // What lies in a temporary folder is not kept: it may be that the usual one can be had.
        if !opened.is_temporary() {
            *warm = Some(Warm { folder: searched.index_folder.clone(), opened });
        }
        done
    }

    fn known_documents(&self) -> Result<Vec<KnownDocument>, ServiceError> {
        let searched = self.searched()?;
        self.with_index(&searched, |opened| Ok(opened.index.known_documents()?))
    }
}

impl MemoryService for LocalMemoryService {
    fn search(&self, question: &SearchQuestion) -> Result<Found, Refusal> {
        let inner = &*self.inner;
        inner.ask(|host| {
            let limit = question.max_results.map(|most| most.clamp(1, MOST_RESULTS));
            let limit = limit.unwrap_or(SearchRequest::USUAL_LIMIT);
            if question.query.trim().is_empty() && inner.offer.is_of_agent() {
                return newest::newest(question, limit as usize, inner);
            }
            let started = Instant::now();
            let target = inner.offer.target.clone();
            let mut request = SearchRequest::new(question.query.clone(), target);
            request.limit = limit;
            request.since = inner.day("since", question.since.as_deref())?;
            request.until = inner.day("until", question.until.as_deref())?;
            request.paths.extend(question.path.clone());
            // What is below it is counted and left out afterwards.
            request.ranking.min_score = question.min_score.map(|_| 0.0);
            request.check()?;
            let searched = inner.searched()?;
            let mut found = inner.with_index(&searched, |opened| {
                Ok(ask(&request, &searched, opened, started, host)?)
            })?;
            if inner.offer.is_of_agent()
                && let Ok(living) = inner.living()
            {
                verify_in(&living.site, &mut found.hits);
                sink_superseded(&mut found.hits);
            }
            let mut found = answers::found(found, question.min_score);
            if inner.offer.is_of_agent() {
                entries::name(&mut found.results, &searched);
            }
            Ok(found)
        })
    }

    fn read(&self, reading: &Reading) -> Result<ReadLines, Refusal> {
        let inner = &*self.inner;
        let lines = LineRange {
            from: reading.from.map(|line| line as usize),
            lines: reading.lines.map(|count| count as usize),
        };
        inner.ask(|_| {
            let searched = inner.searched()?;
            // Lines that are named beside a citation are what is meant.
            let path = if lines == LineRange::default() {
                reading.path.as_str()
            } else {
                split(&reading.path).map_or(reading.path.as_str(), |named| named.0)
            };
            let request = ReadRequest {
                path: path.to_owned(),
                target: searched.choice.clone(),
                lines,
                chars: ExcerptLimits::default().chars,
            };
            let report = match read_in(&request, &searched) {
                Err(error @ ReadError::NotFound { .. }) => {
                    return Ok(answers::nothing_read(&reading.path, read_hint(&error)));
                }
                report => report?,
            };
            Ok(ReadLines {
                status: ReadStatus::Ok,
                text: report.text,
                path: report.path,
                from: answers::number(report.from),
                lines: answers::number(report.lines),
                truncated: report.truncated,
                next_from: report.next_from.map(answers::number),
                line_chars: report.line_chars.map(answers::number),
                total_lines: Some(answers::number(report.total_lines)),
            })
        })
    }

    fn remember(&self, remembering: &Remembering) -> Result<Remembered, Refusal> {
        let inner = &*self.inner;
        inner.ask(|host| {
            inner.check_may_write()?;
            // A client that sends this means standard input, as on the command line.
            if remembering.text == "-" {
                return Err(ServiceError::Unwanted {
                    field: "text",
                    wanted: "a sentence that can be understood by itself",
                });
            }
            let mut request = RememberRequest::new(remembering.text.clone(), inner.memory());
            request.key.clone_from(&remembering.key);
            request.kind.clone_from(&remembering.kind);
            request.importance = match remembering.importance {
                None => None,
                Some(number) => Some(Importance::new(number).ok_or_else(|| {
                    ServiceError::Unwanted { field: "importance", wanted: "a number from 0 to 1" }
                })?),
            };
            request.tags.clone_from(&remembering.tags);
            request.origin = answers::origin(remembering.source.unwrap_or_default());
            request.session.clone_from(&remembering.session);
            request.supersedes.clone_from(&remembering.supersedes);
            if remembering.curated {
                request.part = MemoryPart::Curated;
            }
            if remembering.force {
                request.duplicates = DuplicateCheck::Skip;
            }
            answers::remembered(remember(&request, host))
        })
    }

    fn forget(&self, forgetting: &Forgetting) -> Result<Forgotten, Refusal> {
        let inner = &*self.inner;
        inner.ask(|host| {
            inner.check_may_write()?;
            let Forgetting { key, id, citation, dry_run, for_good } = forgetting.clone();
            let choice = match (key, id, citation) {
                (Some(key), None, None) => ForgetChoice::Key(key),
                (None, Some(id), None) | (None, None, Some(id)) => ForgetChoice::Ids(vec![id]),
                _ => {
                    return Err(ServiceError::Unwanted {
                        field: "key, id or citation",
                        wanted: "exactly one of them",
                    });
                }
            };
            let finality = if for_good { Finality::ForGood } else { Finality::Undoable };
            let memory = inner.memory();
            let request = ForgetRequest { memory, choice, finality, dry_run };
            // Nothing of the index stays open while it is looked through.
            *inner.warm() = None;
            let mut report = forget(&request, Confirmation::Given, host)?;
            report.told();
            Ok(answers::forgotten(ForgottenInWords::of(report, &request.memory)))
        })
    }

    fn context(&self, asked: &ContextAsked) -> Result<ContextText, Refusal> {
        let inner = &*self.inner;
        inner.ask(|host| {
            inner.check_of_agent()?;
            let session = match asked.session.unwrap_or_default() {
                SessionKind::Main => anemone_memory::SessionKind::Main,
                SessionKind::Group => anemone_memory::SessionKind::Group,
                SessionKind::Subagent => anemone_memory::SessionKind::Subagent,
                SessionKind::Cron => anemone_memory::SessionKind::Cron,
            };
            let mut request = ContextRequest::new(inner.memory(), session);
            request.query.clone_from(&asked.query);
            if let Some(tokens) = asked.tokens {
                request.budget = Budget::Tokens(tokens as usize);
            }
            // A reader does not decide what becomes of a memory.
            if !inner.offer.allow_write {
                request.recalls = RecallCounting::NotCounted;
            }
            Ok(answers::context(compose(&request, host)?))
        })
    }

    fn status(&self) -> Result<Status, Refusal> {
        let inner = &*self.inner;
        inner.ask(|host| {
            let searched = inner.searched()?;
            let mut status = inner.with_index(&searched, |opened| {
                let sets = opened.index.vector_sets()?;
                let notes = opened.notes(&searched).into_iter();
                let warnings = notes.map(|note| warning(note).message);
                let skipped = left_out(&opened.freshness).into_iter();
                let skipped = skipped.map(|(why, count)| format!("not searched, {why}: {count}"));
                Ok(Status {
                    runtime: searched.kind.to_owned(),
                    workspace: searched.place.display().to_string(),
                    keeps: "files".to_owned(),
                    documents: opened.freshness.documents,
                    chunks: opened.freshness.chunks,
                    model: sets.last().map(|set| set.identity.model.clone()),
                    issues: warnings.chain(skipped).collect(),
                    ..Status::default()
                })
            })?;
            if inner.offer.is_of_agent() {
                let living = inner.living()?;
                status.agent = living.agent.alias.clone();
                status.keeps = match &living.keeps {
                    MemoryBackend::Markdown => "markdown".to_owned(),
                    MemoryBackend::Sqlite(_) => "database".to_owned(),
                    MemoryBackend::None => "nothing".to_owned(),
                    MemoryBackend::External(name) => name.clone(),
                };
                let identity = identify(living.adapter, &living.agent, host);
                let last = exports::last_of(host, &identity);
                status.last_export = last.map(|last| last.at.to_string());
                status.writable = inner.offer.allow_write
                    && matches!(living.keeps, MemoryBackend::Markdown | MemoryBackend::Sqlite(_));
                status
                    .issues
                    .extend(living.agent.oddities.iter().map(|oddity| oddity.message.clone()));
            }
            Ok(status)
        })
    }

    fn documents(&self) -> Result<Vec<Document>, Refusal> {
        let known = self.inner.known_documents().map_err(refusal)?;
        Ok(known
            .into_iter()
            .map(|value| Document { path: value.path, bytes: None, modified: None })
            .collect())
    }

    fn document(&self, path: &str) -> Result<String, Refusal> {
        let inner = &*self.inner;
        inner.ask(|_| {
            let searched = inner.searched()?;
            match read_document(&searched, path)? {
                Some(document) => Ok(document.text),
                None => Err(ServiceError::NoDocument { path: path.to_owned() }),
            }
        })
    }

    fn delimiter(&self) -> Result<String, Refusal> {
        delimiter().map_err(|error| refusal(error.into()))
    }

    fn watch(&self, tell: Box<dyn Fn(Changed) + Send + Sync>) -> Result<Watching, Refusal> {
        watch::watch(self.inner.clone(), tell).map_err(refusal)
    }
}
