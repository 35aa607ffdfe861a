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

/// The tools of a server, under the names that an agent knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolSet {
    /// Ours: `memory_search`, `memory_get`, `memory_remember`, `memory_forget`, `memory_context`,
    /// `memory_status`.
    #[default]
    Anemone,
    /// Tools that recall, store and forget texts by their meaning, and answer with data.
    Texts(ToolWords),
    /// Tools that recall, store and forget texts under keys, and answer in words alone.
    Keyed(ToolWords),
}

/// What a model is told of the tools of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolWords {
    /// Of the tool that searches.
    pub recall: Words,
    /// Of the tool that remembers.
    pub store: Words,
    /// Of the tool that forgets.
    pub forget: Words,
    /// How to fill in the arguments of the tool that remembers.
    pub advice: &'static str,
}

/// What a model and its user are told of one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// When to call it, above all.
    pub description: &'static str,
    /// Arguments that are right, as JSON.
    pub example: &'static str,
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
