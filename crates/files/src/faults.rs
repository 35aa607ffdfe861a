//! An interface for tests: every operation that changes a file passes through here, so that a test
//! can make any of them fail, tear any write, or stop as if the process had been killed.
//!
//! Without the feature `faults` the functions only do their work.

#[cfg(feature = "faults")]
pub use self::injected::{
    FaultKind, FaultReport, InjectedFault, TornWrite, step, sync, with_faults, write_all,
};
#[cfg(not(feature = "faults"))]
pub use self::real::{step, sync, write_all};

#[cfg(not(feature = "faults"))]
mod real {
    use std::io::{self, Write};

    /// Precedes an operation that is not a write.
    #[expect(clippy::unnecessary_wraps, reason = "in tests it fails")]
    pub const fn step() -> io::Result<()> {
        Ok(())
    }

    /// Makes something durable.
    pub fn sync(work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        work()
    }

    /// Writes all bytes.
    pub fn write_all(file: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }
}

#[cfg(feature = "faults")]
mod injected {
    use std::cell::RefCell;
    use std::io::{self, Write};

    /// What happens at a step.
    #[derive(Clone, Copy, Debug)]
    pub enum FaultKind {
        /// The operation fails; the next one succeeds.
        Error,
        /// The disk is full from here on.
        Full,
        /// The process ends: nothing that follows changes a file.
        Kill,
    }

    /// How much of a write is on the disk when it fails.
    #[derive(Clone, Copy, Debug)]
    pub enum TornWrite {
        /// Nothing of it.
        Nothing,
        /// The first half.
        Half,
        /// All but the last byte.
        AllButOne,
    }

    /// An injected failure.
    #[derive(Clone, Copy, Debug)]
    pub struct InjectedFault {
        /// The number of the step, from 0.
        pub at: usize,
        /// What happens there.
        pub how: FaultKind,
        /// What a write leaves.
        pub torn: TornWrite,
    }

    #[derive(Default)]
    struct Run {
        faults: Vec<InjectedFault>,
        steps: usize,
        writes: Vec<usize>,
        syncs: usize,
        is_dead: bool,
        is_full: bool,
    }

    /// The steps of a run.
    #[derive(Debug)]
    pub struct FaultReport {
        /// How many steps there were.
        pub steps: usize,
        /// Which of them were writes.
        pub writes: Vec<usize>,
        /// How often something was made durable.
        pub syncs: usize,
    }

    thread_local! {
        static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
    }

    /// Runs something with faults, and returns its steps.
    pub fn with_faults<T>(faults: &[InjectedFault], work: impl FnOnce() -> T) -> (T, FaultReport) {
        let run = Run { faults: faults.to_vec(), ..Run::default() };
        RUN.with(|current| *current.borrow_mut() = Some(run));
        let done = work();
        let run = RUN.with(|run| run.borrow_mut().take()).unwrap_or_default();
        (done, FaultReport { steps: run.steps, writes: run.writes, syncs: run.syncs })
    }

    fn next(is_write: bool) -> Result<(), (io::Error, Option<TornWrite>)> {
        RUN.with(|current| {
            let mut current = current.borrow_mut();
            let Some(run) = current.as_mut() else { return Ok(()) };
            if run.is_dead {
                return Err((io::ErrorKind::Other.into(), None));
            }
            let at = run.steps;
            run.steps += 1;
            if is_write {
                run.writes.push(at);
            }
            if let Some(fault) = run.faults.iter().find(|fault| fault.at == at).copied() {
                match fault.how {
                    FaultKind::Error => {}
                    FaultKind::Full => run.is_full = true,
                    FaultKind::Kill => run.is_dead = true,
                }
                return Err((io::Error::from_raw_os_error(5), Some(fault.torn)));
            }
            if run.is_full && is_write {
                return Err((io::ErrorKind::StorageFull.into(), None));
            }
            Ok(())
        })
    }

    /// Precedes an operation that is not a write.
    pub fn step() -> io::Result<()> {
        next(false).map_err(|(error, _)| error)
    }

    /// Makes something durable. With faults, nothing needs to reach the disk.
    pub fn sync(work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        step()?;
        let is_injected =
            RUN.with(|current| current.borrow_mut().as_mut().map(|run| run.syncs += 1)).is_some();
        if is_injected { Ok(()) } else { work() }
    }

    /// Writes all bytes, or as many as a fault leaves.
    pub fn write_all(file: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
        let Err((error, torn)) = next(true) else { return file.write_all(bytes) };
        let length = match torn {
            None | Some(TornWrite::Nothing) => 0,
            Some(TornWrite::Half) => bytes.len() / 2,
            Some(TornWrite::AllButOne) => bytes.len().saturating_sub(1),
        };
        file.write_all(&bytes[..length])?;
        Err(error)
    }
}
