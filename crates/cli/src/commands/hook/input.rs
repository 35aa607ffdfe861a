//! The JSON that a program gives a hook on stdin.

use std::io::{BufRead as _, Read as _};
use std::sync::mpsc::channel;
use std::time::Duration;

use anemone::hooks::HookInput;
use anemone_messages::UserError;

use crate::commands::Context;
use crate::output::Result;

/// More than a hook is ever told.
const MAX_BYTES: u64 = 4 << 20;
/// How long to wait for the first byte.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long to wait for the whole document.
const MOST_TIME: Duration = Duration::from_secs(5);

/// Reads stdin, unless a person sits there; nothing at all is nothing said.
pub(super) fn read(context: &Context<'_>) -> Result<HookInput> {
    if context.environment.stdin_is_terminal {
        return Ok(HookInput::default());
    }
    let (begun, has_begun) = channel();
    let (sender, receiver) = channel();
    // A program that keeps stdin open must not keep the session waiting.
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock().take(MAX_BYTES);
        stdin.fill_buf().ok();
        // The receiver is gone when it took too long.
        begun.send(()).ok();
        // Reads to the end of the document, which may come before that of stdin.
        let mut documents = serde_json::Deserializer::from_reader(stdin).into_iter::<HookInput>();
        sender.send(documents.next().transpose()).ok();
    });
    let wrong = || UserError::failure("hook_input", "stdin is not the JSON of a hook");
    if has_begun.recv_timeout(PATIENCE).is_err() {
        return Ok(HookInput::default());
    }
    match receiver.recv_timeout(MOST_TIME) {
        Ok(Ok(said)) => Ok(said.unwrap_or_default()),
        Ok(Err(_)) | Err(_) => Err(wrong()),
    }
}
