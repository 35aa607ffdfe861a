//! Offers a memory to agents over the Model Context Protocol.
//!
//! The operations of a memory are behind one trait, [`MemoryService`]; [`LocalMemoryService`]
//! implements it with the use cases of the library. The rest of this crate turns tool calls into
//! calls of that trait, and its answers into results that a model can use. Only this crate names
//! types of the protocol. It prints nothing and reads no environment: its caller passes a host,
//! streams, a listener and a token.

#![warn(missing_docs)]

mod answer;
mod arguments;
mod changes;
mod handler;
mod http;
mod local;
mod lock;
mod message;
mod near;
mod prompts;
mod quote;
mod resources;
mod schema;
mod service;
mod settings;
mod stdio;
mod subscriptions;
mod tools;

pub use http::{HttpSettings, is_token, serve_http};
pub use local::{LocalMemoryService, OpenServiceError, ServeOptions};
pub use service::{
    CitationsArgument, ContextArguments, ContextResult, DocumentChanges, ForgetArguments,
    ForgetResult, ForgottenEntry, Holder, MemoryService, MemorySource, MemoryStatus, ReadArguments,
    ReadResult, ReadStatus, RefusalKind, RememberArguments, RememberResult, SearchArguments,
    SearchResult, SearchResults, ServiceRefusal, SessionArgument, SimilarMemory, Watch,
};
pub use settings::{ServeError, Settings};
pub use stdio::serve_stdio;
