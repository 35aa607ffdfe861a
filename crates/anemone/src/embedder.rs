//! What compares meanings in one run: which embedder, and why that one.
//!
//! Somebody names it, or `auto` finds it: what the index was filled with, else what the config
//! says, else the table inside the program. No text goes to a service that nobody named, on the
//! command line or in the config, and nothing that takes minutes begins unasked.

mod fill;
mod guard;
mod name;
mod service;
mod stop;

use anemone_embed::{Builtin, BuiltinQuality, Effort, Embedder, Identity, MiniLm, Provider};
use anemone_index::{Index, VectorSet};

use crate::config::Config;
use crate::error::{Error, Kind};
use crate::host::Host;
use crate::models::{MODELS, Model};
use crate::search_index::{NotedEmbedder, Warning, noted_embedder};
use crate::searched::{SearchTarget, quoted};

pub use fill::{
    Filled, Filling, Job, Signals, VectorLine, failed_note, fill, notes_of, take_carried,
    take_carried_for, top_up, vector_lines,
};
pub use guard::Guarded;
pub use name::{Choice, Name, Wanted};
use service::Asked;
pub use stop::Stop;

/// What compares meanings, as somebody asked for it.
#[derive(Clone, Debug, Default)]
pub struct EmbedderChoice {
    /// The embedder; `auto` where nobody says.
    pub embedder: Option<Choice>,
    /// Address of the service, instead of its usual or configured one.
    pub url: Option<String>,
}

impl EmbedderChoice {
    /// Returns what was asked for.
    #[must_use]
    pub fn choice(&self) -> Choice {
        self.embedder.clone().unwrap_or(Choice::Auto)
    }

    /// Refuses a URL without a service, before anything is opened.
    pub fn check(&self) -> Result<(), Error> {
        let is_service =
            |choice: &Choice| matches!(choice, Choice::This(Wanted { name: Name::Service(_), .. }));
        if self.url.is_none() || self.embedder.as_ref().is_some_and(is_service) {
            return Ok(());
        }
        Err(url_of_nothing())
    }

    /// Whether an embedder was named.
    #[must_use]
    pub const fn is_named(&self) -> bool {
        matches!(self.embedder, Some(Choice::This(_)))
    }
}

/// An embedder, and how it is called.
pub struct Chosen {
    pub wanted: Wanted,
    pub embedder: Box<dyn Embedder>,
    /// Where its texts go, when they leave this program.
    pub host: Option<String>,
    /// The URL that somebody gave for it, at this run or when the index was filled.
    pub given_url: Option<String>,
    /// The arguments that name what it is used for.
    pub words: String,
}

impl Chosen {
    pub fn identity(&self) -> &Identity {
        self.embedder.identity()
    }

    /// Whether its vectors are worth keeping, and have to be asked for.
    pub fn is_work(&self) -> bool {
        self.embedder.effort() != Effort::Trivial
    }

    pub fn is_remote(&self) -> bool {
        self.embedder.effort() == Effort::Remote
    }

    /// Returns what is noted beside an index that is filled with it.
    pub fn to_note(&self) -> NotedEmbedder {
        NotedEmbedder { name: self.wanted.to_string(), url: self.given_url.clone() }
    }

    /// Returns the command that fills in its vectors.
    pub fn command(&self) -> String {
        let url = self.given_url.as_deref();
        let url = url.map(|it| format!(" --embedder-url {}", quoted(it))).unwrap_or_default();
        let wanted = quoted(&self.wanted.to_string());
        format!("anemone index --embedder {wanted}{url}{}", self.words)
    }
}

/// The embedders of one run.
pub struct Embedders {
    /// The one that counts where it has vectors.
    pub main: Option<Chosen>,
    /// The one that serves where the first has none, or fails.
    pub fallback: Option<Chosen>,
    /// What somebody should know about the choice.
    pub notes: Vec<Warning>,
}

impl Embedders {
    /// Only words are compared.
    pub const NONE: Self = Self { main: None, fallback: None, notes: Vec::new() };

    /// Returns them in the order in which they count.
    pub fn list(&self) -> Vec<&dyn Embedder> {
        let both = [&self.main, &self.fallback];
        both.into_iter().flatten().map(|it| &*it.embedder).collect()
    }

    /// Finds what compares meanings in an index.
    pub fn choose(
        args: &EmbedderChoice,
        index: &Index,
        searched: &SearchTarget,
        haste: &LatencyBudget,
        host: &Host,
    ) -> Result<Self, Error> {
        if args.choice() == Choice::None {
            return Ok(Self::NONE);
        }
        let config = Config::read(host)?;
        let sets = index.vector_sets()?;
        let maker = Maker { config: &config, host, searched, sets: &sets, haste };
        let mut notes = Vec::new();
        let main = match args.choice() {
            Choice::None => None,
            Choice::This(wanted) => match maker.named(&wanted, args.url.as_deref()) {
                // There are other ways to answer.
                Err(error) if *haste == LatencyBudget::Answer && error.code == NOT_REACHED => {
                    let why = Warning::from(error).message;
                    notes.push(failed_note(&wanted.to_string(), &why));
                    Some(maker.table())
                }
                made => Some(made?),
            },
            Choice::Auto => maker.auto(&mut notes)?,
        };
        let Some(main) = main else { return Ok(Self { notes, ..Self::NONE }) };
        let fallback = match config.fallback.clone() {
            Some(Choice::None) => None,
            Some(Choice::This(wanted)) => match maker.make(&wanted, None) {
                Ok(fallback) if maker.has_vectors(&fallback) => Some(fallback),
                Ok(_) => Some(maker.table()),
                Err(error) => {
                    notes.push(not_had(&wanted, error));
                    None
                }
            },
            Some(Choice::Auto) | None => Some(maker.table()),
        };
        let fallback = fallback.filter(|it| it.identity() != main.identity());
        Ok(Self { main: Some(main), fallback, notes })
    }
}

fn url_of_nothing() -> Error {
    Error::new(Kind::Usage, "usage", "--embedder-url says where a service is, and none is named")
        .hint("name it too, as in --embedder openai")
}

/// Says that an embedder that somebody settled on cannot be had.
fn not_had(wanted: &Wanted, error: Error) -> Warning {
    let message = format!("{wanted} is not used: {}", Warning::from(error).message);
    Warning { code: "embedder_unavailable", message }
}

/// The code of an error: a service was not there to say how long its vectors are.
const NOT_REACHED: &str = "embedder_failed";

/// Makes embedders of their names.
struct Maker<'a> {
    config: &'a Config,
    host: &'a Host,
    searched: &'a SearchTarget,
    /// The vectors that the index has.
    sets: &'a [VectorSet],
    haste: &'a LatencyBudget,
}

/// How long somebody waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LatencyBudget {
    /// For an answer, which can be had without a service that is slow to answer.
    Answer,
    /// For the vectors themselves, until told to stop.
    Vectors(Stop),
    /// Not at all: nobody is asked anything.
    Plan,
}

impl Maker<'_> {
    fn own(&self, wanted: Wanted, embedder: Box<dyn Embedder>) -> Chosen {
        let words = self.searched.words.clone();
        Chosen { wanted, embedder, host: None, given_url: None, words }
    }

    fn table(&self) -> Chosen {
        self.own(Wanted::of(Name::Builtin), Box::new(Builtin::new()))
    }

    /// Whether the index has vectors of an embedder.
    fn has_vectors(&self, chosen: &Chosen) -> bool {
        self.sets.iter().any(|it| it.identity == *chosen.identity() && it.chunks > 0)
    }

    /// Makes what somebody named. The service that was named for this index before is where it was
    /// then: its texts shall not go elsewhere because somebody left out the URL.
    fn named(&self, wanted: &Wanted, url: Option<&str>) -> Result<Chosen, Error> {
        let Name::Service(service) = wanted.name else { return self.make(wanted, None) };
        if url.is_some() {
            return self.make(wanted, url);
        }
        let settled = self.config.services.get(&service).and_then(|it| it.model.as_ref());
        let model = wanted.model.as_ref().or(settled);
        let is_meant = |it: &Wanted| {
            it.name == wanted.name && model.is_none_or(|model| it.model.as_ref() == Some(model))
        };
        match self.noted().filter(|it| is_meant(&it.0)) {
            Some((noted, url)) => self.make(&noted, url.as_deref()),
            None => self.make(wanted, None),
        }
    }

    /// Returns the embedder that was named for this index, and where it is.
    fn noted(&self) -> Option<(Wanted, Option<String>)> {
        let noted = noted_embedder(self.searched, self.host)?;
        Some((noted.name.parse().ok()?, noted.url))
    }

    fn make(&self, wanted: &Wanted, url: Option<&str>) -> Result<Chosen, Error> {
        let threads = self.host.threads;
        let embedder: Box<dyn Embedder> = match wanted.name {
            Name::Service(service) => {
                let settled = self.config.services.get(&service);
                let (sets, haste, words) = (self.sets, self.haste, &self.searched.words);
                let asked = Asked { wanted, service, url, sets, settled, haste, words };
                return asked.make(self.host);
            }
            Name::Builtin => return Ok(self.table()),
            Name::BuiltinQuality => Box::new(BuiltinQuality::new().with_threads(threads)),
            Name::MiniLm => {
                let model = Model::of_name(Name::MiniLm.name())?;
                let path = model.path(self.host);
                if !path.is_file() {
                    let message = "the model minilm is not on this machine";
                    return Err(Error::new(Kind::Failed, "no_model", message)
                        .hint("`anemone model get minilm` fetches it"));
                }
                let opened = MiniLm::open(&path);
                Box::new(
                    opened.map_err(|error| Error::from(error).about(&path))?.with_threads(threads),
                )
            }
        };
        Ok(self.own(wanted.clone(), embedder))
    }

    /// Finds what nobody named.
    fn auto(&self, notes: &mut Vec<Warning>) -> Result<Option<Chosen>, Error> {
        if let Some(chosen) = self.of_index(notes) {
            return Ok(Some(chosen));
        }
        let settled = match &self.config.embedder {
            Some(Choice::None) => return Ok(None),
            Some(Choice::This(wanted)) => Some(wanted),
            Some(Choice::Auto) | None => None,
        };
        // What is sealed is sent nowhere, unless somebody says so for this very archive.
        let is_sealed = self.searched.is_encrypted();
        let is_sendable = |it: &&Wanted| !(is_sealed && matches!(it.name, Name::Service(_)));
        if let Some(wanted) = settled.filter(is_sendable) {
            match self.make(wanted, None) {
                Ok(chosen) => return Ok(Some(chosen)),
                Err(error) => notes.push(not_had(wanted, error)),
            }
        }
        let mut order = self.config.order.iter().filter(is_sendable);
        if let Some(first) = order.find_map(|it| self.make(it, None).ok()) {
            return Ok(Some(first));
        }
        if settled.is_none() && self.config.order.is_empty() && *self.haste != LatencyBudget::Answer
        {
            notes.extend(self.unused_model());
        }
        Ok(Some(self.table()))
    }

    /// Says that a model was added and is not used, to somebody who cares for an index.
    fn unused_model(&self) -> Option<Warning> {
        let there = MODELS.iter().find(|it| it.is_there(self.host))?;
        let (name, words) = (there.name, &self.searched.words);
        let message = format!(
            "{name} is on this machine and not used here; `anemone index --embedder {name}{words}` \
             takes it"
        );
        Some(Warning { code: "model_unused", message })
    }

    /// Finds the embedder whose vectors an index has, or had before it was made anew.
    fn of_index(&self, notes: &mut Vec<Warning>) -> Option<Chosen> {
        let there = self.sets.iter().find(|it| !it.is_table && it.chunks > 0);
        let noted = self.noted();
        let wanted = match there {
            Some(set) => wanted_of(&set.identity)?,
            None => noted.as_ref()?.0.clone(),
        };
        let noted = noted.filter(|it| it.0 == wanted);
        if let Name::Service(service) = wanted.name
            && noted.is_none()
            && !self.is_settled(service)
        {
            let message = format!(
                "the index has vectors of {wanted}, which is asked only when it is named: \
                 --embedder {wanted}"
            );
            notes.push(Warning { code: "embedder_unnamed", message });
            return None;
        }
        match self.make(&wanted, noted.and_then(|it| it.1).as_deref()) {
            Ok(chosen) => Some(chosen),
            Err(error) => {
                notes.push(not_had(&wanted, error));
                None
            }
        }
    }

    /// Whether the config speaks of a service.
    fn is_settled(&self, service: Provider) -> bool {
        let named = |it: &Wanted| it.name == Name::Service(service);
        self.config.services.contains_key(&service)
            || self.config.order.iter().any(named)
            || matches!(&self.config.embedder, Some(Choice::This(it)) if named(it))
    }
}

/// Names the embedder that made vectors.
fn wanted_of(identity: &Identity) -> Option<Wanted> {
    let Identity { provider, model, .. } = identity;
    let own = |name| Some(Wanted::of(name));
    match provider.as_str() {
        "builtin" if model == "anemone-quality-1" => own(Name::BuiltinQuality),
        "local" => own(Name::MiniLm),
        provider => {
            let service = Provider::by_name(provider)?;
            let model = Some(identity.bare_model().to_owned());
            Some(Wanted { name: Name::Service(service), model })
        }
    }
}
