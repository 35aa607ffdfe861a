//! Why an embedder cannot be used, or did not fill an index, in words.

use anemone::embedder::{EmbedderError, FillError, FillReport};
use anemone_embed::{EmbedError, KeyError, ModelError, RemoteError};
use serde::Serialize;

use super::{Kind, UserError};
use crate::index_command;

impl From<EmbedderError> for UserError {
    fn from(error: EmbedderError) -> Self {
        let said = |kind, code| Self::from_error(kind, code, &error);
        match &error {
            EmbedderError::UrlWithoutService => {
                let message = "--embedder-url says where a service is, and none is named";
                Self::usage(message).hint("name it too, as in --embedder openai")
            }
            EmbedderError::NoModel { name } => said(Kind::Failed, "no_model")
                .hint(format!("`anemone model get {name}` fetches it")),
            EmbedderError::NoKeyFile { .. } => said(Kind::Failed, "key")
                .hint("put the key into a file that only you can read, and give its path"),
            EmbedderError::NoKey { service } => {
                let (name, variable) = (service.name(), service.key_variable());
                said(Kind::Failed, "no_key").hint(format!(
                    "set {}, or key_file in [embedding.{name}] of the config",
                    variable.unwrap_or_default()
                ))
            }
            EmbedderError::NotAUrl => said(Kind::Usage, "usage"),
            EmbedderError::SecretInUrl { .. } => said(Kind::Usage, "usage")
                .hint("give the key by key_file in the config, or by the environment"),
            _ => match error {
                EmbedderError::Model { path, source } => Self::from(source).about(&path),
                EmbedderError::NotReached(error) => {
                    Self { code: "embedder_failed", ..error.into() }
                }
                EmbedderError::KeyFile { path, source } => Self::from(source).about(&path),
                other => pass_on!(other, "embedder", EmbedderError, [Service, Key, Config, Index]),
            },
        }
    }
}

/// What programs are told of a filling that failed.
#[derive(Serialize)]
struct Details<'a> {
    filled: &'a FillReport,
}

impl From<FillError> for UserError {
    fn from(error: FillError) -> Self {
        let said = |kind, code| Self::from_error(kind, code, &error);
        match &error {
            FillError::LargeJob { embedder, .. } => said(Kind::Failed, "large_job")
                .hint(format!("to confirm: {} --yes", index_command(embedder))),
            FillError::NotConfirmed => said(Kind::Failed, "not_confirmed"),
            FillError::OtherModel { embedder, .. } => {
                let command = index_command(embedder);
                said(Kind::Conflict, "other_model")
                    .hint(format!("they stay in use; {command} --reembed replaces them"))
            }
            FillError::Stopped { filled, embedder } => said(Kind::Interrupted, "interrupted")
                .hint(format!("`{}` goes on from here", index_command(embedder)))
                .with_details(&Details { filled }),
            FillError::Failed { source, filled, embedder } => {
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
                Self::failure_from("embedder_failed", source)
                    .hint(hint)
                    .with_details(&Details { filled })
            }
            _ => pass_on!(error, "embedder_failed", FillError, [Index, Console]),
        }
    }
}

impl From<ModelError> for UserError {
    fn from(error: ModelError) -> Self {
        Self::failure_from("model", &error).hint("`anemone model get minilm` fetches the model")
    }
}

impl From<KeyError> for UserError {
    fn from(error: KeyError) -> Self {
        let whole = Self::failure_from("key", &error);
        Self { hint: error.hint().map(str::to_owned), ..whole }
    }
}

impl From<RemoteError> for UserError {
    fn from(error: RemoteError) -> Self {
        let whole = Self::failure_from("embedder", &error);
        Self { hint: error.hint(), ..whole }
    }
}
