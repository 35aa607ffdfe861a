//! A seam for tests: every operation on the files of a change passes through here, so that a test
//! can make any of them fail, tear any write, or stop as if the process had been killed.
//!
//! Outside tests the functions do what they say and nothing else.

#[cfg(test)]
pub(crate) use self::injected::{Fault, How, Torn, step, sync, with_faults, write_all};
#[cfg(not(test))]
pub(crate) use self::real::{step, sync, write_all};

#[cfg(not(test))]
mod real {
    use std::io::{self, Write};

    /// Precedes an operation that is not a write.
    #[expect(clippy::unnecessary_wraps, reason = "in tests it fails")]
    pub(crate) const fn step() -> io::Result<()> {
        Ok(())
    }

    /// Makes something durable.
    pub(crate) fn sync(work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        work()
    }

    /// Writes all bytes.
    pub(crate) fn write_all(file: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }
}

#[cfg(test)]
mod injected {
    use std::cell::RefCell;
    use std::io::{self, Write};

    /// What happens at a step.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum How {
        /// The operation fails; the next one succeeds.
        Error,
        /// The disk is full from here on.
        Full,
        /// The process ends: nothing that follows changes a file.
        Kill,
    }

    /// How much of a write is on the disk when it fails.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum Torn {
        Nothing,
        Half,
        AllButOne,
    }

    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Fault {
        /// The number of the step, from 0.
        pub(crate) at: usize,
        pub(crate) how: How,
        pub(crate) torn: Torn,
    }

    #[derive(Default)]
    struct Run {
        faults: Vec<Fault>,
        steps: usize,
        writes: Vec<usize>,
        syncs: usize,
        is_dead: bool,
        is_full: bool,
    }

    /// What was met in a run.
    #[derive(Debug)]
    pub(crate) struct Met {
        /// How many steps there were.
        pub(crate) steps: usize,
        /// Which of them were writes.
        pub(crate) writes: Vec<usize>,
        /// How often something was made durable.
        pub(crate) syncs: usize,
    }

    thread_local! {
        static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
    }

    /// Runs something with faults, and says what steps it had.
    pub(crate) fn with_faults<T>(faults: &[Fault], work: impl FnOnce() -> T) -> (T, Met) {
        let run = Run { faults: faults.to_vec(), ..Run::default() };
        RUN.with(|it| *it.borrow_mut() = Some(run));
        let done = work();
        let run = RUN.with(|it| it.borrow_mut().take()).unwrap();
        (done, Met { steps: run.steps, writes: run.writes, syncs: run.syncs })
    }

    fn next(is_write: bool) -> Result<(), (io::Error, Option<Torn>)> {
        RUN.with(|it| {
            let mut it = it.borrow_mut();
            let Some(run) = it.as_mut() else { return Ok(()) };
            if run.is_dead {
                return Err((io::ErrorKind::Other.into(), None));
            }
            let at = run.steps;
            run.steps += 1;
            if is_write {
                run.writes.push(at);
            }
            if let Some(fault) = run.faults.iter().find(|it| it.at == at).copied() {
                match fault.how {
                    How::Error => {}
                    How::Full => run.is_full = true,
                    How::Kill => run.is_dead = true,
                }
                return Err((io::Error::from_raw_os_error(5), Some(fault.torn)));
            }
            if run.is_full && is_write {
                return Err((io::ErrorKind::StorageFull.into(), None));
            }
            Ok(())
        })
    }

    pub(crate) fn step() -> io::Result<()> {
        next(false).map_err(|(error, _)| error)
    }

    /// With faults nothing has to reach the disk.
    pub(crate) fn sync(work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        step()?;
        let is_injected =
            RUN.with(|it| it.borrow_mut().as_mut().map(|run| run.syncs += 1)).is_some();
        if is_injected { Ok(()) } else { work() }
    }

    pub(crate) fn write_all(file: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
        let Err((error, torn)) = next(true) else { return file.write_all(bytes) };
        let length = match torn {
            None | Some(Torn::Nothing) => 0,
            Some(Torn::Half) => bytes.len() / 2,
            Some(Torn::AllButOne) => bytes.len().saturating_sub(1),
        };
        file.write_all(&bytes[..length])?;
        Err(error)
    }
}
