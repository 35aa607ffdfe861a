//! The terminal, as the library sees it: progress on stderr, questions, stdin and stdout.

use std::io::{self, IsTerminal as _, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anemone::error::{Error, Kind};
use anemone::host::{ByteProgress, Console, Total};
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

    fn standard_input(&self) -> Result<Box<dyn Read>, Error> {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        let usage = |message: &str| Error::new(Kind::Usage, "usage", message);
        if io::stdin().is_terminal() {
            return Err(usage("`-` reads stdin, which is a terminal")
                .hint("pipe an archive in, or give the path of a file"));
        }
        if TAKEN.swap(true, Ordering::Relaxed) {
            return Err(usage("`-` was given twice; stdin can be read once")
                .hint("give the path of a file for one of them"));
        }
        Ok(Box::new(io::stdin()))
    }

    fn check_standard_output(&self) -> Result<(), Error> {
        if io::stdout().is_terminal() {
            let message = "`-o -` writes an archive to stdout, which is a terminal";
            return Err(Error::new(Kind::Usage, "usage", message)
                .hint("pipe it into another program or a file, or give -o FILE"));
        }
        leave_stdout_to_data();
        Ok(())
    }

    fn standard_output(&self) -> Box<dyn Write> {
        Box::new(io::stdout().lock())
    }
}
