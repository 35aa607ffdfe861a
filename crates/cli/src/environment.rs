//! Everything we take from the environment, in one place.

use std::io::IsTerminal as _;

use zeroize::Zeroizing;

/// Text output when set to anything but an empty text, `0` or `false`.
pub(crate) const ALF_HUMAN: &str = "ALF_HUMAN";
/// The passphrase of a sealed archive.
pub(crate) const ANEMONE_PASSPHRASE: &str = "ANEMONE_PASSPHRASE";

/// What the environment says.
pub(crate) struct Environment {
    pub(crate) human: bool,
    pub(crate) passphrase: Option<Zeroizing<String>>,
    pub(crate) stdout_is_terminal: bool,
    pub(crate) stderr_is_terminal: bool,
    pub(crate) stdin_is_terminal: bool,
    pub(crate) threads: usize,
}

impl Environment {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub(crate) fn read() -> Self {
        let human = std::env::var(ALF_HUMAN).unwrap_or_default();
        let off = ["", "0", "false", "no", "off"];
        Self {
            human: !off.contains(&human.to_ascii_lowercase().as_str()),
            passphrase: std::env::var(ANEMONE_PASSPHRASE).ok().map(Zeroizing::new),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            stdin_is_terminal: std::io::stdin().is_terminal(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}
