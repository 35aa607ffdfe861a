//! Why an embedder cannot be used, or did not fill an index, in words.

use anemone::embedder::{EmbedderError, FillError, FillReport};
use anemone_embed::{EmbedError, KeyError, ModelError, RemoteError};
use serde::Serialize;

use super::{Explain, Kind, UserError};
use crate::index_command;

impl Explain for EmbedderError {
    fn explain(&self) -> UserError {
        match self {
            Self::UrlWithoutService => {
                let message = "--embedder-url says where a service is, and none is named";
                UserError::usage(message).hint("name it too, as in --embedder openai")
            }
            Self::NoModel(name) => {
                self.failure("no_model").hint(format!("`anemone model get {name}` fetches it"))
            }
            Self::NoKeyFile(_) => self
                .failure("key")
                .hint("put the key into a file that only you can read, and give its path"),
            Self::NoKey(service) => {
                let (name, variable) = (service.name(), service.key_variable());
                self.failure("no_key").hint(format!(
                    "set {}, or key_file in [embedding.{name}] of the config",
                    variable.unwrap_or_default()
                ))
            }
            Self::NotAUrl => self.misuse("usage"),
            Self::OtherPlace { .. } => self.failure("embedder").hint(
                "nothing was sent; `anemone index --embedder NAME --reembed` fills the index from \
                 there",
            ),
            Self::SecretInUrl(_) => self
                .misuse("usage")
                .hint("give the key by key_file in the config, or by the environment"),
            Self::Model { path, source } => source.explain().about(path),
            Self::NotReached(error) => UserError { code: "embedder_failed", ..error.explain() },
            Self::KeyFile { path, source } => source.explain().about(path),
            other => pass_on!(other, "embedder", [Service, Key, Config, Index]),
        }
    }
}

/// The JSON details of a filling that failed.
#[derive(Serialize)]
struct Details<'a> {
    filled: &'a FillReport,
}

impl Explain for FillError {
    fn explain(&self) -> UserError {
        match self {
            Self::LargeJob { embedder, .. } => self
                .failure("large_job")
                .hint(format!("to confirm: {} --yes", index_command(embedder))),
            Self::NotConfirmed => self.failure("not_confirmed"),
            Self::OtherModel { embedder, .. } => {
                let command = index_command(embedder);
                self.conflict("other_model")
                    .hint(format!("they stay in use; {command} --reembed replaces them"))
            }
            Self::Stopped { filled, embedder } => {
                UserError::from_error(Kind::Interrupted, "interrupted", self)
                    .hint(format!("`{}` goes on from here", index_command(embedder)))
                    .with_details(&Details { filled })
            }
            Self::Failed { source, filled, embedder } => {
                let remote = match source {
                    EmbedError::Failed { source, .. } => source.downcast_ref::<RemoteError>(),
                    EmbedError::Unusable { .. } => None,
                };
                let command = index_command(embedder);
                let then = match filled.embedded {
                    0 => format!("then `{command}`"),
                    _ => format!("what was embedded is kept; `{command}` goes on from here"),
                };
                let hint = match remote.and_then(RemoteError::hint) {
                    Some(hint) => format!("{hint}; {then}"),
                    None => then,
                };
                UserError::failure_from("embedder_failed", source)
                    .hint(hint)
                    .with_details(&Details { filled })
            }
            other => pass_on!(other, "embedder_failed", [Index, Console]),
        }
    }
}

failures! {
    ModelError => "model", "`anemone model get minilm` fetches the model";
}

impl Explain for KeyError {
    fn explain(&self) -> UserError {
        self.failure("key").maybe_hint(self.hint())
    }
}

impl Explain for RemoteError {
    fn explain(&self) -> UserError {
        self.failure("embedder").maybe_hint(self.hint())
    }
}
