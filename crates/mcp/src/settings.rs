//! The settings of a server.

use anemone_runtimes::NativeTools;

/// How a memory is offered.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The version of the program that clients see.
    pub version: String,
    /// Whether clients may remember and forget.
    pub allow_write: bool,
    /// The tools of another program to offer instead of Anemone's own.
    pub tools: Option<&'static NativeTools>,
}

/// Why a server ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address or the streams.
    #[error("the server cannot go on")]
    Io(#[from] std::io::Error),
    /// A name to be called by is none.
    #[error("{0:?} is not the name of a host, such as memory.example or memory.example:8080")]
    Host(String),
    /// What is listed as an origin is none.
    #[error("{0:?} is not an origin, such as https://app.example")]
    Origin(String),
    /// The token could be guessed, or cannot be sent.
    #[error("the token must have at least 16 letters, digits or signs, and no spaces")]
    Token,
    /// The other end did not speak the protocol.
    #[error("the client did not begin as the protocol says: {0}")]
    Handshake(String),
}
