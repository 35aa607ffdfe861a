//! What a server is told when it starts.

/// How a memory is offered.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The version of the program, as clients are told.
    pub version: String,
    /// Whether clients may remember and forget.
    pub allow_write: bool,
    /// Which tools there are.
    pub tools: ToolSet,
}

/// Tools under the names that an agent knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolSet {
    /// Ours: `memory_search`, `memory_get`, `memory_remember`, `memory_forget`, `memory_context`,
    /// `memory_status`.
    #[default]
    Anemone,
    /// `memory_recall`, `memory_store` and `memory_forget`, as OpenClaw's plugin with vectors has
    /// them.
    OpenClaw,
    /// `memory_recall`, `memory_store` and `memory_forget`, as ZeroClaw has them.
    ZeroClaw,
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
