//! Chooses the embedder of a run, and says why.
//!
//! The user names it, or `auto` finds it: the embedder that filled the index, else the configured
//! one, else the built-in table. No text is sent to a service that the user did not name on the
//! command line or in the config, and nothing that takes minutes begins unasked.

mod fill;
mod guard;
mod name;
mod service;
mod stop;

use std::path::PathBuf;

use anemone_embed::{
    Builtin, Effort, Embedder, KeyError, LocalModel, ModelError, ModelIdentity, Provider,
    RemoteError,
};
use anemone_format::with_causes;
use anemone_index::{Index, StoreError, VectorSet};

use crate::config::{Config, ConfigError};
use crate::host::Host;
use crate::models::{MINILM, MODELS};
use crate::search::index::{NotedEmbedder, is_in_cache, noted_embedder};
use crate::search::target::SearchTarget;
use crate::search::{NamedEmbedder, SearchNote, VectorNote};

pub use fill::{
    FillError, FillReport, Filling, Job, LargeJobs, Signals, VectorLine, fill, notes_of,
    other_model, take_carried, take_carried_for, top_up, vector_lines,
};
pub use guard::{JobGuard, Refused};
pub use name::{EmbedderKind, EmbedderName, EmbedderSetting};
use service::ServiceRequest;
pub use stop::Stop;

pub(crate) use fill::milliseconds;

/// What compares meanings, as the user asked for it.
#[derive(Clone, Debug, Default)]
pub struct EmbedderChoice {
    /// The embedder; `auto` by default.
    pub embedder: Option<EmbedderSetting>,
    /// Address of the service, instead of its usual or configured one.
    pub url: Option<String>,
}

impl EmbedderChoice {
    /// Returns the requested embedder.
    #[must_use]
    pub fn choice(&self) -> EmbedderSetting {
        self.embedder.clone().unwrap_or(EmbedderSetting::Auto)
    }

    /// Refuses a URL without a service, before anything is opened.
    pub fn check(&self) -> Result<(), EmbedderError> {
        let is_service = |name: &EmbedderName| matches!(name.name, EmbedderKind::Service(_));
        let names_service =
            matches!(&self.embedder, Some(EmbedderSetting::This(name)) if is_service(name));
        if self.url.is_none() || names_service {
            return Ok(());
        }
        Err(EmbedderError::UrlWithoutService)
    }

    /// Whether an embedder was named.
    #[must_use]
    pub const fn is_named(&self) -> bool {
        matches!(self.embedder, Some(EmbedderSetting::This(_)))
    }
}

/// Why an embedder cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum EmbedderError {
    /// A URL was given, and no service.
    #[error("there is an address of a service, and no service is named")]
    UrlWithoutService,
    /// The model was not added.
    #[error("the model {0} is not on this machine")]
    NoModel(&'static str),
    /// The file of the model cannot be used.
    #[error("{}: {source}", .path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ModelError,
    },
    /// The service did not answer.
    NotReached(RemoteError),
    /// The settings of the service make no sense.
    Service(RemoteError),
    /// The config names a key file that does not exist. The name is left out of the message,
    /// because people write the key itself there.
    #[error("key_file in [embedding.{}] of the config names no file", .0.name())]
    NoKeyFile(Provider),
    /// The file with the key cannot be used.
    #[error("{}: {source}", .path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: KeyError,
    },
    /// The key cannot be used.
    Key(#[from] KeyError),
    /// The config.
    Config(#[from] ConfigError),
    /// The service does not answer without a key.
    #[error("there is no key for {}", .0.name())]
    NoKey(Provider),
    /// The address is no URL.
    #[error("the address of the embedder is not a URL")]
    NotAUrl,
    /// The configured address is not the one that an index has vectors from. Texts that were meant
    /// for one place do not go to another one because a configuration was changed.
    #[error("the index has vectors from {there}, and the service is now at {configured}")]
    OtherPlace {
        /// The host of the vectors.
        there: String,
        /// The host of the configuration.
        configured: String,
    },
    /// The address holds something that may be secret.
    #[error("the URL of the embedder holds {0}")]
    SecretInUrl(&'static str),
    /// The index does not say whose vectors it has.
    Index(#[from] StoreError),
}

/// An embedder, and how it is called.
pub struct ChosenEmbedder {
    /// Its name, its URL, where the user gave one at this run or when the index was filled, and
    /// what it is used for.
    pub named: NamedEmbedder,
    /// The embedder.
    pub embedder: Box<dyn Embedder>,
    /// Where its texts go, when they leave this program.
    pub host: Option<String>,
    /// Whether it refused a job because it is large.
    pub refused: Refused,
}

impl ChosenEmbedder {
    /// Returns whose vectors it makes.
    pub fn identity(&self) -> &ModelIdentity {
        self.embedder.identity()
    }

    /// Whether its vectors are worth keeping, and have to be asked for.
    pub fn is_work(&self) -> bool {
        self.embedder.effort() != Effort::Trivial
    }

    /// Whether its texts leave this program.
    pub fn is_remote(&self) -> bool {
        self.embedder.effort() == Effort::Remote
    }

    /// Says that its vectors are to replace those of another one.
    fn change_note(&self, there: &Self) -> SearchNote {
        SearchNote::ModelChanged {
            embedder: Box::new(self.named.clone()),
            is_remote: self.is_remote(),
            to: self.identity().model.clone(),
            from: there.identity().model.clone(),
        }
    }

    /// Returns the note for an index that is filled with it.
    pub fn to_note(&self) -> NotedEmbedder {
        NotedEmbedder { name: self.named.wanted.to_string(), url: self.named.url.clone() }
    }
}

/// The embedders of one run.
pub struct Embedders {
    /// The embedder that is used where it has vectors.
    pub main: Option<ChosenEmbedder>,
    /// The embedder that is used where the main one has no vectors, or fails.
    pub fallback: Option<ChosenEmbedder>,
    /// The embedder of the config, if it is on this machine and the index has vectors of another
    /// one: a search replaces them when they are few.
    pub successor: Option<ChosenEmbedder>,
    /// What the user should know about the choice.
    pub notes: Vec<SearchNote>,
}

impl Embedders {
    /// Only words are compared.
    pub const NONE: Self = Self { main: None, fallback: None, successor: None, notes: Vec::new() };

    /// Returns them in the order in which they count.
    pub fn list(&self) -> Vec<&dyn Embedder> {
        let both = [&self.main, &self.fallback];
        both.into_iter().flatten().map(|both| &*both.embedder).collect()
    }

    /// Finds what compares meanings in an index.
    pub fn choose(
        args: &EmbedderChoice,
        index: &Index,
        searched: &SearchTarget,
        haste: &LatencyBudget,
        host: &Host,
    ) -> Result<Self, EmbedderError> {
        if args.choice() == EmbedderSetting::None {
            return Ok(Self::NONE);
        }
        let config = searched.config(host)?;
        let sets = index.vector_sets()?;
        let maker = EmbedderFactory { config: &config, host, searched, sets: &sets, haste };
        let mut notes = Vec::new();
        let mut successor = None;
        let main = match args.choice() {
            EmbedderSetting::None => None,
            EmbedderSetting::This(wanted) => match maker.named(&wanted, args.url.as_deref()) {
                // There are other ways to answer.
                Err(EmbedderError::NotReached(error)) if matches!(haste, LatencyBudget::Answer) => {
                    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
                    let reason = with_causes(&error) + &hint;
                    let embedder = wanted.to_string();
                    notes.push(SearchNote::Vectors(VectorNote::Failed {
                        embedder,
                        reason,
                        is_large_job: false,
                    }));
                    Some(maker.table())
                }
                made => Some(made?),
            },
            EmbedderSetting::Auto => maker.auto(&mut successor, &mut notes)?,
        };
        let Some(main) = main else { return Ok(Self { notes, ..Self::NONE }) };
        let fallback = match config.fallback.clone() {
            Some(EmbedderSetting::None) => None,
            Some(EmbedderSetting::This(wanted)) => match maker.make(&wanted, None) {
                Ok(fallback) if maker.has_vectors(&fallback) => Some(fallback),
                Ok(_) => Some(maker.table()),
                Err(error) => {
                    notes.push(SearchNote::EmbedderUnavailable { embedder: wanted, error });
                    None
                }
            },
            Some(EmbedderSetting::Auto) | None => Some(maker.table()),
        };
        let fallback = fallback.filter(|fallback| fallback.identity() != main.identity());
        Ok(Self { main: Some(main), fallback, successor, notes })
    }
}

/// Makes embedders of their names.
struct EmbedderFactory<'a> {
    config: &'a Config,
    host: &'a Host,
    searched: &'a SearchTarget,
    /// The vectors that the index has.
    sets: &'a [VectorSet],
    haste: &'a LatencyBudget,
}

/// How long the user waits.
#[derive(Clone, Debug)]
pub enum LatencyBudget {
    /// For an answer, which can be had without a service that is slow to answer.
    Answer,
    /// For the vectors themselves, until told to stop.
    Vectors(Stop),
    /// Not at all: no service is called.
    Plan,
}

impl EmbedderFactory<'_> {
    fn own(&self, wanted: EmbedderName, embedder: Box<dyn Embedder>) -> ChosenEmbedder {
        let named = NamedEmbedder { wanted, url: None, target: self.searched.choice.clone() };
        ChosenEmbedder { named, embedder, host: None, refused: Refused::default() }
    }

    fn table(&self) -> ChosenEmbedder {
        self.own(EmbedderName::of(EmbedderKind::Builtin), Box::new(Builtin::new()))
    }

    /// Whether the index has vectors of an embedder.
    fn has_vectors(&self, chosen: &ChosenEmbedder) -> bool {
        self.sets.iter().any(|set| set.identity == *chosen.identity() && set.chunks > 0)
    }

    /// Creates the embedder that the user named. A service that was named for this index before
    /// keeps its former URL: texts must not go to another place because the user left out the URL.
    fn named(
        &self,
        wanted: &EmbedderName,
        url: Option<&str>,
    ) -> Result<ChosenEmbedder, EmbedderError> {
        let EmbedderKind::Service(service) = wanted.name else { return self.make(wanted, None) };
        if url.is_some() {
            return self.make(wanted, url);
        }
        let configured =
            self.config.services.get(&service).and_then(|service| service.model.as_ref());
        let model = wanted.model.as_ref().or(configured);
        let is_meant = |value: &EmbedderName| {
            value.name == wanted.name
                && model.is_none_or(|model| value.model.as_ref() == Some(model))
        };
        match self.noted().filter(|noted| is_meant(&noted.0)) {
            Some((noted, url)) => self.make(&noted, url.as_deref()),
            None => self.make(wanted, None),
        }
    }

    /// Returns the embedder that was named for this index, and where it is.
    fn noted(&self) -> Option<(EmbedderName, Option<String>)> {
        let noted = noted_embedder(self.searched, self.host)?;
        Some((noted.name.parse().ok()?, noted.url))
    }

    fn make(
        &self,
        wanted: &EmbedderName,
        url: Option<&str>,
    ) -> Result<ChosenEmbedder, EmbedderError> {
        let threads = self.host.threads;
        let embedder: Box<dyn Embedder> = match wanted.name {
            EmbedderKind::Service(service) => {
                return ServiceRequest { maker: self, wanted, service, url, identity: None }.make();
            }
            EmbedderKind::Builtin => return Ok(self.table()),
            EmbedderKind::BuiltinQuality => Box::new(LocalModel::builtin().with_threads(threads)),
            EmbedderKind::MiniLm => {
                let path = MINILM.path(self.host);
                if !path.is_file() {
                    return Err(EmbedderError::NoModel(MINILM.name));
                }
                let model = LocalModel::minilm(&path);
                let model = model.map_err(|source| EmbedderError::Model { path, source })?;
                Box::new(model.with_threads(threads))
            }
        };
        Ok(self.own(wanted.clone(), embedder))
    }

    /// Chooses an embedder when none was named.
    fn auto(
        &self,
        successor: &mut Option<ChosenEmbedder>,
        notes: &mut Vec<SearchNote>,
    ) -> Result<Option<ChosenEmbedder>, EmbedderError> {
        if let Some(chosen) = self.of_index(notes) {
            let Some(wanted) = self.changed_config(&chosen) else { return Ok(Some(chosen)) };
            // A search answers from the existing vectors of the index, and does not call a service that
            // it does not use.
            let is_answer = matches!(self.haste, LatencyBudget::Answer);
            if is_answer && matches!(wanted.name, EmbedderKind::Service(_)) {
                let target = self.searched.choice.clone();
                notes.push(SearchNote::ModelChanged {
                    embedder: Box::new(NamedEmbedder { wanted: wanted.clone(), url: None, target }),
                    is_remote: true,
                    to: wanted.to_string(),
                    from: chosen.identity().model.clone(),
                });
                return Ok(Some(chosen));
            }
            let Ok(changed) = self.make(wanted, None) else { return Ok(Some(chosen)) };
            if !is_answer {
                return Ok(Some(changed));
            }
            *successor = Some(changed);
            return Ok(Some(chosen));
        }
        let configured = match &self.config.embedder {
            Some(EmbedderSetting::None) => return Ok(None),
            Some(EmbedderSetting::This(wanted)) => Some(wanted),
            Some(EmbedderSetting::Auto) | None => None,
        };
        // Sealed content is not sent to any service, unless the user allows it for this very
        // archive.
        let is_sealed = self.searched.is_encrypted();
        let is_sendable =
            |value: &&EmbedderName| !(is_sealed && matches!(value.name, EmbedderKind::Service(_)));
        if let Some(wanted) = configured.filter(is_sendable) {
            match self.make(wanted, None) {
                Ok(chosen) => return Ok(Some(chosen)),
                Err(error) => {
                    notes.push(SearchNote::EmbedderUnavailable { embedder: wanted.clone(), error });
                }
            }
        }
        let mut order = self.config.order.iter().filter(is_sendable);
        if let Some(first) = order.find_map(|order| self.make(order, None).ok()) {
            return Ok(Some(first));
        }
        if configured.is_none()
            && self.config.order.is_empty()
            && !matches!(self.haste, LatencyBudget::Answer)
        {
            notes.extend(self.unused_model());
        }
        Ok(Some(self.table()))
    }

    /// Says that a model was added and is not used, to the user who cares for an index.
    fn unused_model(&self) -> Option<SearchNote> {
        let there = MODELS.iter().find(|model| model.is_there(self.host))?;
        let target = self.searched.choice.clone();
        Some(SearchNote::ModelUnused { model: there.name, target })
    }

    /// Finds the embedder whose vectors an index has, or had before it was rebuilt.
    fn of_index(&self, notes: &mut Vec<SearchNote>) -> Option<ChosenEmbedder> {
        let there = self.sets.iter().find(|set| !set.is_static && set.chunks > 0);
        let noted = self.noted();
        let wanted = match there {
            Some(set) => wanted_of(&set.identity)?,
            None => noted.as_ref()?.0.clone(),
        };
        let noted = noted.filter(|noted| noted.0 == wanted);
        if let EmbedderKind::Service(service) = wanted.name
            && noted.is_none()
            && !self.is_configured(service)
        {
            notes.push(SearchNote::EmbedderNotNamed(wanted));
            return None;
        }
        let url = noted.and_then(|noted| noted.1);
        let made = match (wanted.name, there) {
            (EmbedderKind::Service(service), Some(set)) => {
                let identity = Some(&set.identity);
                let url = url.as_deref();
                ServiceRequest { maker: self, wanted: &wanted, service, url, identity }.make()
            }
            _ => self.make(&wanted, url.as_deref()),
        };
        match made {
            Ok(chosen) => Some(chosen),
            Err(error) => {
                notes.push(SearchNote::EmbedderUnavailable { embedder: wanted, error });
                None
            }
        }
    }

    /// Returns the embedder of the config, if it is not the one whose vectors an index has. An
    /// embedder that was named for this very index stays, and so does that of an index in a folder
    /// of the user, which has no note of who was named.
    fn changed_config(&self, there: &ChosenEmbedder) -> Option<&EmbedderName> {
        let Some(EmbedderSetting::This(wanted)) = &self.config.embedder else { return None };
        let model = match wanted.name {
            // Its vectors are made with every index.
            EmbedderKind::Builtin => return None,
            EmbedderKind::Service(_) if self.searched.is_encrypted() => return None,
            EmbedderKind::Service(service) => {
                let configured = self.config.services.get(&service);
                wanted.model.as_ref().or_else(|| configured?.model.as_ref())
            }
            EmbedderKind::BuiltinQuality | EmbedderKind::MiniLm => None,
        };
        let is_own = is_in_cache(&self.searched.index_folder, self.host);
        if !is_own || self.noted().is_some() || !self.has_vectors(there) {
            return None;
        }
        let is_same = wanted_of(there.identity()).is_some_and(|old| {
            old.name == wanted.name && model.is_none_or(|model| old.model.as_ref() == Some(model))
        });
        (!is_same).then_some(wanted)
    }

    /// Whether the config speaks of a service.
    fn is_configured(&self, service: Provider) -> bool {
        let named = |value: &EmbedderName| value.name == EmbedderKind::Service(service);
        self.config.services.contains_key(&service)
            || self.config.order.iter().any(named)
            || matches!(&self.config.embedder, Some(EmbedderSetting::This(it)) if named(it))
    }
}

/// Names the embedder that made vectors.
fn wanted_of(identity: &ModelIdentity) -> Option<EmbedderName> {
    let ModelIdentity { provider, model, .. } = identity;
    let own = |name| Some(EmbedderName::of(name));
    match provider.as_str() {
        "builtin" if model == "anemone-quality-1" => own(EmbedderKind::BuiltinQuality),
        "local" => own(EmbedderKind::MiniLm),
        provider => {
            let service = Provider::by_name(provider)?;
            let model = Some(identity.bare_model().to_owned());
            Some(EmbedderName { name: EmbedderKind::Service(service), model })
        }
    }
}
