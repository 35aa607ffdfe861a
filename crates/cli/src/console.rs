//! The terminal, as the library sees it: progress on stderr, questions, stdin and stdout.

use std::io::{self, IsTerminal as _, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anemone::host::{ByteProgress, Console, StandardStreamError, Total};
use zeroize::Zeroizing;

use crate::output::{ask, leave_stdout_to_data, notice};
use crate::progress::{ByteBar, Embedding, Indexing};
use crate::signals;

/// The terminal of this process.
pub(crate) struct Terminal {
    /// Whether a person can be asked a question.
    pub(crate) can_ask: bool,
    /// Whether bars are drawn.
    pub(crate) shows_progress: bool,
}

impl Console for Terminal {
    fn can_ask(&self) -> bool {
        self.can_ask
    }

    fn confirm(&self, question: &str) -> io::Result<bool> {
        ask(question)
    }

    fn passphrase(&self, prompt: &str) -> io::Result<Zeroizing<String>> {
        Ok(Zeroizing::new(rpassword::prompt_password(prompt)?))
    }

    fn notice(&self, message: &str) {
        notice(message);
    }

    fn bytes(&self, what: &str, total: Total) -> Option<Arc<dyn ByteProgress>> {
        self.shows_progress.then(|| Arc::new(ByteBar::new(what, total)) as Arc<dyn ByteProgress>)
    }

    fn indexing(&self) -> Box<dyn anemone_index::IndexProgress> {
        Box::new(Indexing::new(self.shows_progress))
    }

    fn embedding(&self, embedder: &str) -> Box<dyn anemone_index::IndexProgress> {
        Box::new(Embedding::new(self.shows_progress, embedder))
    }

    fn when_interrupted(&self, state: &'static str) {
        signals::when_interrupted(state);
    }

    fn on_first_interrupt(&self, tell: Box<dyn FnOnce() + Send>) {
        signals::on_first_signal(tell);
    }

    fn forget_first_interrupt(&self) {
        signals::forget_first_signal();
    }

    fn standard_input(&self) -> Result<Box<dyn Read>, StandardStreamError> {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        if io::stdin().is_terminal() {
            return Err(StandardStreamError::InputIsTerminal);
        }
        if TAKEN.swap(true, Ordering::Relaxed) {
            return Err(StandardStreamError::InputTaken);
        }
        Ok(Box::new(io::stdin()))
    }

    fn check_standard_output(&self) -> Result<(), StandardStreamError> {
        if io::stdout().is_terminal() {
            return Err(StandardStreamError::OutputIsTerminal);
        }
        leave_stdout_to_data();
        Ok(())
    }

    fn standard_output(&self) -> Box<dyn Write> {
        Box::new(io::stdout().lock())
    }
}
