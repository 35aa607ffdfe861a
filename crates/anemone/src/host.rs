//! What a program hands to the library: folders, a clock, ids, keys, and the user to ask.
//!
//! Nothing in this crate reads the environment, asks the system's clock, makes a random id or
//! prints. A command line, a server and a test each hand in their own. What is not handed in:
//! durations are measured with `Instant`, and keys are made by `system.rs`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anemone_format::{Bytes, Moment, ReaderAt};
use anemone_index::NoProgress;
use anemone_memory::Clock;
use anemone_runtimes::{KnownConfigs, Machine};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::files::Scratch;
use crate::keys::Keys;

/// The name of our folder in each of the user's folders.
const OWN: &str = "anemone";

/// Folders of the user on whose behalf something is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders {
    /// The home folder, below which runtimes are looked for.
    pub home: PathBuf,
    /// Where programs look for their settings.
    pub config: PathBuf,
    /// Where programs keep what they must not lose.
    pub data: PathBuf,
    /// Where programs keep what they can rebuild.
    pub cache: PathBuf,
    /// Where programs keep data that they should not lose, but that is not backed up.
    pub state: PathBuf,
}

impl Folders {
    /// Returns folders below one folder, as on a new machine.
    #[must_use]
    pub fn below(folder: &Path) -> Self {
        Self {
            home: folder.join("home"),
            config: folder.join("config"),
            data: folder.join("share"),
            cache: folder.join("cache"),
            state: folder.join("state"),
        }
    }

    /// Returns where our settings are.
    #[must_use]
    pub fn own_config(&self) -> PathBuf {
        self.config.join(OWN)
    }

    /// Returns where we keep what must not be lost.
    #[must_use]
    pub fn own_data(&self) -> PathBuf {
        self.data.join(OWN)
    }

    /// Returns where we keep what can be rebuilt.
    #[must_use]
    pub fn own_cache(&self) -> PathBuf {
        self.cache.join(OWN)
    }

    /// Returns where we keep what should not be lost.
    #[must_use]
    pub fn own_state(&self) -> PathBuf {
        self.state.join(OWN)
    }
}

/// Everything that use cases take from outside.
#[derive(Clone)]
pub struct Host {
    /// The user's folders.
    pub folders: Folders,
    /// Variables that tell runtimes where their things are, and `PATH`.
    pub variables: BTreeMap<String, OsString>,
    /// A program that calls [`serve_database`](anemone_runtimes::serve_database) when its first
    /// argument is [`SERVE_ARGUMENT`](anemone_runtimes::SERVE_ARGUMENT): databases of foreign
    /// origin are read in a process of their own.
    pub database_reader: PathBuf,
    /// The folder for temporary files: copies of foreign databases, and indexes that are not kept.
    pub scratch: PathBuf,
    /// How many threads long work may use.
    pub threads: usize,
    /// The time, the time zone, and new ids.
    pub clock: SharedClock,
    /// Who is shown progress and asked questions.
    pub console: Arc<dyn Console>,
    /// Keys of sealed archives.
    pub keys: Keys,
    /// Keys of services that embed or chat, by the name of a variable.
    pub service_keys: Arc<dyn ServiceKeys>,
}

impl Host {
    /// Returns a host whose folders are all below one folder. It asks no questions, shows nothing
    /// and has no keys.
    #[must_use]
    pub fn below(folder: &Path, clock: SharedClock) -> Self {
        Self {
            folders: Folders::below(folder),
            variables: BTreeMap::new(),
            database_reader: PathBuf::new(),
            scratch: folder.join("scratch"),
            threads: 1,
            clock,
            console: Arc::new(Quiet),
            keys: Keys::default(),
            service_keys: Arc::new(NoServiceKeys),
        }
    }

    /// Returns the time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the time as archives write it.
    #[must_use]
    pub fn moment(&self) -> Moment {
        Moment::from(self.now())
    }

    /// Returns the user's time zone.
    #[must_use]
    pub fn zone(&self) -> TimeZone {
        self.clock.zone()
    }

    /// Returns the day that it is for the user.
    #[must_use]
    pub fn today(&self) -> Date {
        self.now().to_zoned(self.zone()).date()
    }

    /// Returns an id that nothing else has.
    #[must_use]
    pub fn fresh_id(&self) -> Uuid {
        self.clock.fresh_id()
    }

    /// Returns what runtimes may know of this machine, with a folder for copies that is removed
    /// with it.
    pub fn machine(&self) -> io::Result<OwnMachine> {
        let scratch = Scratch::below(&self.scratch)?;
        let machine = Machine {
            home: self.folders.home.clone(),
            variables: self.variables.clone(),
            database_reader: self.database_reader.clone(),
            scratch: scratch.path().to_owned(),
            configs: KnownConfigs::default(),
        };
        Ok(OwnMachine { machine, _scratch: scratch })
    }

    /// Shows progress in bytes of a work whose size is known.
    #[must_use]
    pub fn progress(&self, what: &str) -> Progress {
        Progress(self.console.bytes(what, Total::Known))
    }

    /// Shows progress in bytes of an operation of unknown size.
    #[must_use]
    pub fn counting(&self, what: &str) -> Progress {
        Progress(self.console.bytes(what, Total::Unknown))
    }
}

/// The machine, as long as its scratch folder exists.
pub struct OwnMachine {
    machine: Machine,
    _scratch: Scratch,
}

impl std::ops::Deref for OwnMachine {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        &self.machine
    }
}

/// A clock that several threads and memories use.
#[derive(Clone)]
pub struct SharedClock(Arc<dyn Clock + Send + Sync>);

impl SharedClock {
    /// Shares a clock.
    pub fn new(clock: impl Clock + 'static) -> Self {
        Self(Arc::new(clock))
    }
}

impl Clock for SharedClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn zone(&self) -> TimeZone {
        self.0.zone()
    }

    fn fresh_id(&self) -> Uuid {
        self.0.fresh_id()
    }
}

/// Keys of services, by the name of the variable that holds them.
pub trait ServiceKeys: Send + Sync {
    /// Returns the first of these that has a value.
    fn find(&self, variables: &[&str]) -> Option<Zeroizing<String>>;
}

/// No keys at all.
pub struct NoServiceKeys;

impl ServiceKeys for NoServiceKeys {
    fn find(&self, _: &[&str]) -> Option<Zeroizing<String>> {
        None
    }
}

/// Whether the size of a work is known when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// It is, or will be soon.
    Known,
    /// Unknown.
    Unknown,
}

/// Why stdin or stdout is not used for an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StandardStreamError {
    /// A person would have to type the archive.
    #[error("stdin is a terminal")]
    InputIsTerminal,
    /// Stdin was read already.
    #[error("stdin can be read once")]
    InputTaken,
    /// A person would see the bytes of the archive.
    #[error("stdout is a terminal")]
    OutputIsTerminal,
    /// The program has none to offer.
    #[error("unsupported")]
    Unsupported,
}

/// Shows progress and asks questions. By default each method does nothing, and every question is
/// answered with no.
pub trait Console: Send + Sync {
    /// Whether a person can be asked a question.
    fn can_ask(&self) -> bool {
        false
    }

    /// Asks a question; whatever is no clear yes is a no.
    fn confirm(&self, _question: &str) -> io::Result<bool> {
        Ok(false)
    }

    /// Asks for a passphrase, without showing what is typed.
    fn passphrase(&self, _prompt: &str) -> io::Result<Zeroizing<String>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Says something while work goes on.
    fn notice(&self, _message: &str) {}

    /// Shows progress in bytes.
    fn bytes(&self, _what: &str, _total: Total) -> Option<Arc<dyn ByteProgress>> {
        None
    }

    /// Shows progress while documents are indexed.
    fn indexing(&self) -> Box<dyn anemone_index::IndexProgress> {
        Box::new(NoProgress)
    }

    /// Shows progress while texts are turned into vectors.
    fn embedding(&self, _embedder: &str) -> Box<dyn anemone_index::IndexProgress> {
        Box::new(NoProgress)
    }

    /// Says what state the work is in, for the case that the process is interrupted from here on.
    fn when_interrupted(&self, _state: &'static str) {}

    /// Calls this at the first interrupt instead of ending the process.
    fn on_first_interrupt(&self, _tell: Box<dyn FnOnce() + Send>) {}

    /// Lets the next interrupt end the process.
    fn forget_first_interrupt(&self) {}

    /// Returns what is piped in, for the path `-`.
    fn standard_input(&self) -> Result<Box<dyn Read>, StandardStreamError> {
        Err(StandardStreamError::Unsupported)
    }

    /// Checks that a result can be written to the path `-`.
    fn check_standard_output(&self) -> Result<(), StandardStreamError> {
        Err(StandardStreamError::Unsupported)
    }

    /// Returns where a result for the path `-` is written.
    fn standard_output(&self) -> Box<dyn Write> {
        Box::new(io::sink())
    }
}

/// A console without a user: nothing is shown and nothing is confirmed.
#[derive(Clone, Copy, Debug)]
pub struct Quiet;

impl Console for Quiet {}

/// A work in bytes, while it goes on.
pub trait ByteProgress: Send + Sync {
    /// Says that there will be this many bytes in all.
    fn expect(&self, bytes: u64);

    /// Says that there will be this many bytes more.
    fn expect_more(&self, bytes: u64);

    /// Says that this many more bytes are done.
    fn advance(&self, bytes: u64);
}

/// The progress of an operation in bytes; it does nothing if progress is not shown.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn ByteProgress>>);

impl Progress {
    /// Shows nothing.
    #[must_use]
    pub const fn hidden() -> Self {
        Self(None)
    }

    /// Says how many bytes there will be in all.
    pub fn expect(&self, bytes: u64) {
        if let Some(shown) = &self.0 {
            shown.expect(bytes);
        }
    }

    /// Says that this many more bytes are done.
    pub fn advance(&self, bytes: u64) {
        if let Some(shown) = &self.0 {
            shown.advance(bytes);
        }
    }

    /// Counts what is read from a source. It is read about twice: for its seal, then for itself.
    #[must_use]
    pub fn watch(&self, source: Bytes, length: u64) -> Bytes {
        let Some(shown) = &self.0 else { return source };
        shown.expect_more(2 * length);
        Box::new(ProgressReader { source, progress: Arc::clone(shown) })
    }
}

struct ProgressReader {
    source: Bytes,
    progress: Arc<dyn ByteProgress>,
}

impl ReaderAt for ProgressReader {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = self.source.read_at(buffer, offset)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}
