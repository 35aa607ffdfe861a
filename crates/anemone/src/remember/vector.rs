//! The vector of a new row, made as the runtime itself would make it.
//!
//! The settings of the runtime name the service, so a text goes to no other place than it would go
//! when the runtime stores it. A folder that was only named may have anybody's settings: its service
//! is not asked. Where there is no vector, the row is written without one.

use anemone_embed::{ApiKey, Embedder as _, Provider, Purpose, Remote, RemoteSettings};
use anemone_format::with_causes;
use anemone_memory::{Caution, RowVector};
use anemone_runtimes::{Machine, RowEmbedder, RowVectors};

use crate::agent_memory::AgentMemory;
use crate::host::Host;
use crate::settings::{FOREIGN_CONFIG, may_name_services};

/// Returns the vector of a row's text, or why there is none, if the runtime would make one.
pub(super) fn vector_of(
    memory: &AgentMemory,
    text: &str,
    machine: &Machine,
    host: &Host,
) -> (Option<RowVector>, Option<Caution>) {
    let AgentMemory { runtime, agent, .. } = memory;
    let why = match runtime.row_vectors(agent) {
        RowVectors::None => return (None, None),
        RowVectors::ByRuntime => "only the runtime can ask the embedder of its settings".to_owned(),
        RowVectors::OtherMachine => {
            "the address of the service in the runtime's settings is not on this machine".to_owned()
        }
        RowVectors::Service(_) if !may_name_services(runtime, agent, machine) => {
            FOREIGN_CONFIG.to_owned()
        }
        RowVectors::Service(service) => match ask(service, text, host) {
            Ok(vector) => return (Some(vector), None),
            Err(why) => why,
        },
    };
    let fill = memory.runtime.fills_vectors();
    let fill = fill.map(|command| format!("; `{command}` makes it")).unwrap_or_default();
    let message = format!("the row is written without a vector: {why}{fill}");
    (None, Some(Caution { code: "no_vector", message }))
}

fn ask(service: RowEmbedder, text: &str, host: &Host) -> Result<RowVector, String> {
    let RowEmbedder { provider, model, dimensions, url, key } = service;
    let mut settings = RemoteSettings::new(Provider::OpenAi);
    settings.key = match key {
        Some(key) => Some(key.to_string()),
        // The key of this provider is for no other.
        None if url.is_none() => {
            let variables: Vec<&str> = Provider::OpenAi.key_variable().into_iter().collect();
            host.service_keys.find(&variables).map(|key| key.to_string())
        }
        None => None,
    }
    .map(ApiKey::new)
    .transpose()
    .map_err(|error| with_causes(&error))?;
    settings.url = url;
    settings.model = Some(model.clone());
    // Somebody waits, and the row can be written without it.
    settings.patience = settings.query_patience;
    let mut remote = Remote::new(settings).map_err(|error| with_causes(&error))?;
    match dimensions.and_then(|length| usize::try_from(length).ok()) {
        Some(length) => remote = remote.knowing(length),
        // A model that nobody knows is asked for a vector once, to learn their length.
        None => remote.connect().map_err(|error| with_causes(&error))?,
    }
    let made = remote.embed(&[text], Purpose::Document).map_err(|error| with_causes(&error))?;
    let numbers = made.into_iter().next().unwrap_or_default();
    let is_length = dimensions.is_none_or(|wanted| wanted == numbers.len() as u64);
    if numbers.is_empty() || !is_length {
        let wanted = dimensions.unwrap_or_default();
        return Err(format!("the model made {} numbers instead of {wanted}", numbers.len()));
    }
    Ok(RowVector { provider, model, numbers })
}
