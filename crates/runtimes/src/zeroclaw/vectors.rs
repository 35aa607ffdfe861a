//! The vectors of ZeroClaw's rows: each is of the whole content of its row.
//!
//! Since 0.8.3 a database stores the model of its vectors, and drops them when the model changes.
//! Before that, only the configuration names it, and may have changed since: it is trusted if it
//! names the requested model and its dimensions, and the vectors have that length.

use super::brain::{Brain, MemoryRow, position_of};
use super::config::{Config, EmbeddingSettings};
use super::credentials::embedding_key;
use super::rows::{CONFIG, Model, vector_of};
use super::searchable::aliases;
use crate::kit::{
    DatabaseError, FoundAgent, Machine, ReadError, RowEmbedder, RowVectors, Value, VectorOf,
    WantedModel, is_local_url,
};

/// Where OpenRouter is.
const OPENROUTER: &str = "https://openrouter.ai/api/v1";

/// Yields vectors of a model; those of all agents if `agent` has no name.
pub(super) fn read(
    machine: &Machine,
    agent: &FoundAgent,
    wanted: &WantedModel<'_>,
    private: bool,
    take: &mut dyn FnMut(VectorOf<'_>, Vec<f32>),
) -> Result<(), ReadError> {
    let Some(path) = agent.database.as_deref() else { return Ok(()) };
    let failed = |error| ReadError::vectors(path, error);
    let Some(brain) = Brain::open(machine, path).map_err(failed)? else { return Ok(()) };
    let config = agent.config.as_ref().and_then(|file| Config::of(file).ok());
    let settings = config.as_deref().and_then(Config::embedding);
    if !is_wanted(&Model::of(&brain, settings.as_ref()), wanted) {
        return Ok(());
    }
    let place = |name: &str| position_of(&brain.columns, name);
    let (Some(content), Some(embedding)) = (place("content"), place("embedding")) else {
        return Ok(());
    };
    for alias in aliases(&brain, agent) {
        let each =
            brain.each_row::<DatabaseError>(&alias, private, &mut |MemoryRow { cells, .. }| {
                let (text, vector) = (cells.get(content), cells.get(embedding));
                let vector = vector
                    .and_then(|vector| vector_of(vector, None))
                    .filter(|value| wanted.fits(value));
                if let (Some(Value::Text(text)), Some(vector)) = (text, vector) {
                    take(VectorOf::Text(text), vector);
                }
                Ok(())
            });
        each.map_err(failed)?;
    }
    Ok(())
}

/// Returns how the runtime makes the vectors of new rows: with the service that its settings name.
/// It takes a provider that it does not know for none. An address of the user's own is asked by us
/// only if it is on this machine, as for a search.
pub(super) fn row_vectors(agent: &FoundAgent) -> RowVectors {
    let config = agent.config.as_ref().and_then(|file| Config::of(file).ok());
    let Some(config) = config else { return RowVectors::None };
    let Some(EmbeddingSettings { provider, model, dimensions }) = config.embedding() else {
        return RowVectors::None;
    };
    let url = match (provider.as_str(), provider.strip_prefix("custom:")) {
        ("openai", _) => None,
        ("openrouter", _) => Some(OPENROUTER.to_owned()),
        (_, Some(url)) if is_local_url(url.trim()) => Some(url.trim().to_owned()),
        (_, Some(_)) => return RowVectors::OtherMachine,
        // The name of an entry of the configuration.
        (name, None) if name.contains('.') => return RowVectors::ByRuntime,
        _ => return RowVectors::None,
    };
    let key = embedding_key(agent, &config, &provider);
    RowVectors::Service(RowEmbedder { provider, model, dimensions, url, key })
}

fn is_wanted(model: &Model, wanted: &WantedModel<'_>) -> bool {
    let is_length = |value: u64| value == wanted.dimensions as u64;
    let is_sure = match model.hearsay {
        None => model.dimensions.is_none_or(is_length),
        Some(CONFIG) => model.dimensions.is_some_and(is_length),
        Some(_) => false,
    };
    is_sure && wanted.is_named(&model.name)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::*;
    use crate::kit::agent::ConfigFile;
    use crate::kit::database::tests::machine;
    use crate::zeroclaw::RUNTIME;

    const ROWS: &str = "
        CREATE TABLE agents(id TEXT PRIMARY KEY, alias TEXT, created_at TEXT);
        INSERT INTO agents VALUES ('a1', 'default', ''), ('a2', 'nova', '');
        CREATE TABLE memories(id TEXT PRIMARY KEY, key TEXT, content TEXT, embedding BLOB,
          agent_id TEXT, principal_id TEXT);
        INSERT INTO memories VALUES
          ('1', 'a', 'tea', x'0000803f00000000', 'a1', NULL),
          ('2', 'b', 'no vector', NULL, 'a1', NULL),
          ('3', 'c', 'too short', x'0000803f', 'a1', NULL),
          ('4', 'd', 'half a number', x'0000803f0000', 'a1', NULL),
          ('5', 'e', 'no number', x'0000c07f00000000', 'a1', NULL),
          ('6', 'f', 'zeros', x'0000000000000000', 'a1', NULL),
          ('7', 'g', 'my own', x'0000803f00000000', 'a1', 'ann'),
          ('8', 'h', 'of nova', x'0000803f00000000', 'a2', NULL);
        CREATE TABLE memory_meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);";
    const META: &str = "INSERT INTO memory_meta VALUES ('embedding_provider', 'openai'),
        ('embedding_model', 'small'), ('embedding_dimensions', '2');";
    const SMALL: WantedModel<'_> =
        WantedModel { provider: "openai", model: "small", dimensions: 2 };

    struct Install {
        home: TempDir,
        agent: FoundAgent,
    }

    impl Install {
        fn new(meta: &str, config: Option<&str>) -> Self {
            let home = TempDir::new().unwrap();
            let path = home.path().join("brain.db");
            let database = Connection::open(&path).unwrap();
            database.execute_batch(&format!("{ROWS}{meta}")).unwrap();
            let folder = home.path().to_owned();
            let mut agent = FoundAgent::without_install(RUNTIME, "default".into(), folder);
            agent.database = Some(path);
            agent.config = config.map(|text| {
                let path = home.path().join("config.toml");
                fs_err::write(&path, text).unwrap();
                ConfigFile::new(path)
            });
            Self { home, agent }
        }

        fn texts(&self, wanted: &WantedModel<'_>, private: bool) -> Vec<String> {
            let mut texts = Vec::new();
            let machine = machine(self.home.path());
            read(&machine, &self.agent, wanted, private, &mut |of, vector| {
                assert_eq!(vector, [1.0, 0.0]);
                let VectorOf::Text(text) = of else { panic!("a row has its text") };
                texts.push(text.to_owned());
            })
            .unwrap();
            texts
        }
    }

    #[test]
    fn an_address_on_another_machine_is_left_to_the_runtime() {
        for (url, is_asked) in [("http://127.0.0.1:9/v1", true), ("https://192.0.2.2/v1", false)] {
            let config = format!("[memory]\nembedding_provider = \"custom:{url}\"\n");
            let install = Install::new("", Some(&config));
            let found = row_vectors(&install.agent);
            assert_eq!(matches!(found, RowVectors::Service(_)), is_asked, "{url}");
            assert_eq!(matches!(found, RowVectors::OtherMachine), !is_asked, "{url}");
        }
    }

    #[test]
    fn rows_of_the_agent_give_their_vectors_and_private_ones_when_asked() {
        let install = Install::new(META, None);
        assert_eq!(install.texts(&SMALL, false), ["tea"]);
        assert_eq!(install.texts(&SMALL, true), ["tea", "my own"]);
    }

    #[test]
    fn another_model_provider_or_length_gives_nothing() {
        let install = Install::new(META, None);
        for wanted in [
            WantedModel { model: "large", ..SMALL },
            WantedModel { provider: "gemini", ..SMALL },
            WantedModel { dimensions: 1, ..SMALL },
        ] {
            assert_eq!(install.texts(&wanted, false), <[String; 0]>::default(), "{wanted:?}");
        }
    }

    #[test]
    fn a_configuration_is_believed_when_it_names_model_and_length() {
        let config = |model: &str, rest: &str| {
            format!(
                "[memory]\nembedding_provider = \"openai\"\nembedding_model = \"{model}\"\n{rest}"
            )
        };
        for (config, count) in [
            (Some(config("small", "embedding_dimensions = 2\n")), 1),
            (Some(config("small", "")), 0),
            (Some(config("small", "embedding_dimensions = 3\n")), 0),
            (Some(config("large", "embedding_dimensions = 2\n")), 0),
            (None, 0),
        ] {
            let install = Install::new("", config.as_deref());
            assert_eq!(install.texts(&SMALL, false).len(), count, "{config:?}");
        }
        // The database takes precedence, whatever was configured since.
        let install = Install::new(META, Some(&config("large", "embedding_dimensions = 3\n")));
        assert_eq!(install.texts(&SMALL, false), ["tea"]);
    }
}
