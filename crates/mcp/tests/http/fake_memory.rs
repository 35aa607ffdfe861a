//! A memory with one sentence, which counts how often it is asked.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};

use anemone_mcp::{
    ContextArguments, ContextResult, DocumentChanges, ForgetArguments, ForgetResult, MemoryService,
    MemoryStatus, ReadArguments, ReadResult, ReadStatus, RememberArguments, RememberResult,
    SearchArguments, SearchResult, SearchResults, ServiceRefusal, Watch,
};

use crate::wire::PATIENCE;

/// A text that only the memory contains.
pub(crate) const CANARY: &str = "the canary sings at dawn";

type Tell = Box<dyn Fn(DocumentChanges) + Send + Sync>;

/// Counts, and keeps whom to tell of changes.
#[derive(Default)]
pub(crate) struct CountingDesk {
    asked: AtomicUsize,
    /// Tells that `wait` is being remembered, and waits until that may go on.
    gate: Mutex<Option<(Sender<()>, Receiver<()>)>>,
    /// Whether it was.
    remembered: AtomicBool,
    watching: Arc<Mutex<Vec<Tell>>>,
}

impl CountingDesk {
    /// Lets the next call that remembers `wait` do so.
    pub(crate) fn hold(&self, began: Sender<()>, release: Receiver<()>) {
        *self.gate.lock().unwrap() = Some((began, release));
    }

    /// Whether `wait` was remembered.
    pub(crate) fn remembered(&self) -> bool {
        self.remembered.load(Ordering::SeqCst)
    }

    /// How often anything was asked of it.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// Tells everyone who watches, and returns how many do.
    pub(crate) fn change(&self, changed: &DocumentChanges) -> usize {
        let watching = self.watching.lock().unwrap();
        for tell in &*watching {
            tell(changed.clone());
        }
        watching.len()
    }

    fn count(&self) {
        self.asked.fetch_add(1, Ordering::SeqCst);
    }
}

impl MemoryService for CountingDesk {
    fn search(&self, _: &SearchArguments) -> Result<SearchResults, ServiceRefusal> {
        self.count();
        Ok(SearchResults {
            results: vec![SearchResult {
                path: "MEMORY.md".to_owned(),
                start_line: 1,
                end_line: 1,
                score: 1.0,
                snippet: CANARY.to_owned(),
                source: "memory".to_owned(),
                citation: Some("MEMORY.md#L1".to_owned()),
                ..SearchResult::default()
            }],
            mode: "lexical".to_owned(),
            ..SearchResults::default()
        })
    }

    fn read(&self, reading: &ReadArguments) -> Result<ReadResult, ServiceRefusal> {
        self.count();
        Ok(ReadResult {
            status: ReadStatus::Ok,
            text: CANARY.to_owned(),
            path: reading.path.clone(),
            from: 1,
            lines: 1,
            truncated: false,
            next_from: None,
            line_chars: None,
            total_lines: Some(1),
        })
    }

    fn remember(&self, remembering: &RememberArguments) -> Result<RememberResult, ServiceRefusal> {
        self.count();
        if remembering.text == "wait" {
            let (began, release) = self.gate.lock().unwrap().take().unwrap();
            began.send(()).unwrap();
            let _told = release.recv_timeout(PATIENCE);
            self.remembered.store(true, Ordering::SeqCst);
        }
        assert_ne!(remembering.text, "panic", "a test asked for a panic");
        Ok(RememberResult::default())
    }

    fn forget(&self, _: &ForgetArguments) -> Result<ForgetResult, ServiceRefusal> {
        self.count();
        Ok(ForgetResult::default())
    }

    fn context(&self, _: &ContextArguments) -> Result<ContextResult, ServiceRefusal> {
        self.count();
        Ok(ContextResult::default())
    }

    fn status(&self) -> Result<MemoryStatus, ServiceRefusal> {
        self.count();
        Ok(MemoryStatus::default())
    }

    fn documents(&self) -> Result<Vec<String>, ServiceRefusal> {
        self.count();
        Ok(vec!["MEMORY.md".to_owned()])
    }

    fn document(&self, _: &str) -> Result<String, ServiceRefusal> {
        self.count();
        Ok(CANARY.to_owned())
    }

    fn delimiter(&self) -> Result<String, ServiceRefusal> {
        Ok("7f3c".to_owned())
    }

    fn watch(&self, tell: Tell) -> Result<Watch, ServiceRefusal> {
        self.watching.lock().unwrap().push(tell);
        Ok(Box::new(()))
    }
}
