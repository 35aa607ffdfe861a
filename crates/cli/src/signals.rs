//! What happens when the user interrupts the process, or the system ends it.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anemone::files::remove_unfinished;

use crate::output::notice;

/// What is printed when a signal ends the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnSignal {
    /// The document that programs expect of a command.
    PrintDocument,
    SayNothing,
}

/// Takes unfinished files away when the user interrupts us or the system ends.
pub(crate) fn tidy_up_on_signals(on_signal: OnSignal) {
    // Without a handler we only leave a temporary file behind.
    ctrlc::set_handler(move || {
        if let Some(tell) = first_signal().take() {
            tell();
            return;
        }
        say_interrupted();
        // Held to the end, so that nothing gets its name any more.
        let _unfinished = remove_unfinished();
        if on_signal == OnSignal::PrintDocument {
            print_interrupted();
        }
        end(INTERRUPTED);
    })
    .ok();
}

/// Prints that the command was interrupted, unless the reader has stopped.
fn print_interrupted() {
    /// The thread that holds the output may be waiting for a reader that has stopped.
    const PATIENCE: Duration = Duration::from_millis(300);
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let text = r#"{"ok":false,"error":"interrupted","code":"interrupted"}"#;
        writeln!(io::stdout(), "{text}").ok();
        done.send(()).ok();
    });
    is_done.recv_timeout(PATIENCE).ok();
}

/// The message for an interrupted process: the state of its work.
static STATE: Mutex<Option<&'static str>> = Mutex::new(None);

/// Sets the message for an interruption from here on.
pub(crate) fn when_interrupted(state: &'static str) {
    *STATE.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
}

/// Prints that the process was interrupted, if a state was set with [`when_interrupted`].
fn say_interrupted() {
    let Some(state) = *STATE.lock().unwrap_or_else(PoisonError::into_inner) else { return };
    // A bar may be on the line.
    let line = if io::stderr().is_terminal() { "\n" } else { "" };
    notice(&format!("{line}interrupted; {state}"));
}

/// The action for the first signal, which runs instead of ending the process.
static FIRST_SIGNAL: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

fn first_signal() -> MutexGuard<'static, Option<Box<dyn FnOnce() + Send>>> {
    FIRST_SIGNAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the action for the first signal; the second signal ends the process at once.
pub(crate) fn on_first_signal(tell: Box<dyn FnOnce() + Send>) {
    *first_signal() = Some(tell);
}

/// Lets the next signal end the process.
pub(crate) fn forget_first_signal() {
    *first_signal() = None;
}

/// What shells make of an interrupt: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

#[expect(clippy::exit, reason = "there is nobody to return to from a signal")]
fn end(code: i32) {
    std::process::exit(code);
}
