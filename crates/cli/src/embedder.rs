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
use clap::Args;

use crate::commands::Context;
use crate::config::Config;
use crate::environment::Environment;
use crate::error::{CliError, Kind};
use crate::models::{MODELS, Model};
use crate::search_index::{NotedEmbedder, Warning, noted_embedder};
use crate::searched::{SearchTarget, quoted};

pub(crate) use fill::{
    Filled, Filling, Job, Signals, VectorLine, failed_note, fill, notes_of, take_carried,
    take_carried_for, top_up, vector_lines,
};
pub(crate) use guard::Guarded;
pub(crate) use name::{Choice, Name, Wanted};
use service::Asked;
pub(crate) use stop::Stop;

/// Arguments that say what compares meanings.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct EmbedderArgs {
    /// The embedding model that compares meanings besides words: none, builtin, builtin-quality,
    /// minilm, openai, ollama, gemini, voyage or mistral [default: auto]
    ///
    /// builtin and builtin-quality are part of the program: the first is always used, the second
    /// finds more and needs some time at `anemone index --embedder builtin-quality`. minilm is a
    /// larger model, which `anemone model get minilm` downloads. The others call a service, with
    /// the key in OPENAI_API_KEY, GEMINI_API_KEY, VOYAGE_API_KEY or MISTRAL_API_KEY: texts leave
    /// this machine, unless it is a local Ollama. Name one of a service's models after a colon.
    ///
    /// auto uses the embedder that the index was built with, else the configured one, else builtin.
    /// Adding a model or setting a key changes nothing by itself: the first use of an embedder
    /// takes minutes or money, so name it once, here or in the config.
    #[arg(long, value_name = "NAME[:MODEL]")]
    pub(crate) embedder: Option<Choice>,

    /// Address of the service, instead of its usual or configured one
    ///
    /// It is remembered for this index. Settings for another host, such as its key_file, are not
    /// used for it; a key in the environment is.
    #[arg(long, value_name = "URL", requires = "embedder")]
    pub(crate) embedder_url: Option<String>,
}

impl EmbedderArgs {
    /// Returns what was asked for.
    pub(crate) fn choice(&self) -> Choice {
        self.embedder.clone().unwrap_or(Choice::Auto)
    }

    /// Refuses a URL without a service, before anything is opened.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        let is_service =
            |it: &Choice| matches!(it, Choice::This(Wanted { name: Name::Service(_), .. }));
        match self.embedder_url.is_none() || self.embedder.as_ref().is_some_and(is_service) {
            true => Ok(()),
            false => Err(url_of_nothing()),
        }
    }

    /// Whether an embedder was named.
    pub(crate) const fn is_named(&self) -> bool {
        matches!(self.embedder, Some(Choice::This(_)))
    }
}

/// An embedder, and how it is called.
pub(crate) struct Chosen {
    pub(crate) wanted: Wanted,
    pub(crate) embedder: Box<dyn Embedder>,
    /// Where its texts go, when they leave this program.
    pub(crate) host: Option<String>,
    /// The URL that somebody gave for it, at this run or when the index was filled.
    pub(crate) given_url: Option<String>,
    /// The arguments that name what it is used for.
    pub(crate) words: String,
}

impl Chosen {
    pub(crate) fn identity(&self) -> &Identity {
        self.embedder.identity()
    }

    /// Whether its vectors are worth keeping, and have to be asked for.
    pub(crate) fn is_work(&self) -> bool {
        self.embedder.effort() != Effort::Trivial
    }

    pub(crate) fn is_remote(&self) -> bool {
        self.embedder.effort() == Effort::Remote
    }

    /// Returns what is noted beside an index that is filled with it.
    pub(crate) fn to_note(&self) -> NotedEmbedder {
        NotedEmbedder { name: self.wanted.to_string(), url: self.given_url.clone() }
    }

    /// Returns the command that fills in its vectors.
    pub(crate) fn command(&self) -> String {
        let url = self.given_url.as_deref();
        let url = url.map(|it| format!(" --embedder-url {}", quoted(it))).unwrap_or_default();
        let wanted = quoted(&self.wanted.to_string());
        format!("anemone index --embedder {wanted}{url}{}", self.words)
    }
}

/// The embedders of one run.
pub(crate) struct Embedders {
    /// The one that counts where it has vectors.
    pub(crate) main: Option<Chosen>,
    /// The one that serves where the first has none, or fails.
    pub(crate) fallback: Option<Chosen>,
    /// What somebody should know about the choice.
    pub(crate) notes: Vec<Warning>,
}

impl Embedders {
    /// Only words are compared.
    pub(crate) const NONE: Self = Self { main: None, fallback: None, notes: Vec::new() };

    /// Returns them in the order in which they count.
    pub(crate) fn list(&self) -> Vec<&dyn Embedder> {
        let both = [&self.main, &self.fallback];
        both.into_iter().flatten().map(|it| &*it.embedder).collect()
    }

    /// Finds what compares meanings in an index.
    pub(crate) fn choose(
        args: &EmbedderArgs,
        index: &Index,
        searched: &SearchTarget,
        haste: &LatencyBudget,
        context: &Context<'_>,
    ) -> Result<Self, CliError> {
        if args.choice() == Choice::None {
            return Ok(Self::NONE);
        }
        let environment = context.environment;
        let config = Config::read(environment)?;
        let sets = index.vector_sets()?;
        let maker = Maker { config: &config, environment, searched, sets: &sets, haste };
        let mut notes = Vec::new();
        let main = match args.choice() {
            Choice::None => None,
            Choice::This(wanted) => match maker.named(&wanted, args.embedder_url.as_deref()) {
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

fn url_of_nothing() -> CliError {
    CliError::new(Kind::Usage, "usage", "--embedder-url says where a service is, and none is named")
        .hint("name it too, as in --embedder openai")
}

/// Says that an embedder that somebody settled on cannot be had.
fn not_had(wanted: &Wanted, error: CliError) -> Warning {
    let message = format!("{wanted} is not used: {}", Warning::from(error).message);
    Warning { code: "embedder_unavailable", message }
}

/// The code of an error: a service was not there to say how long its vectors are.
const NOT_REACHED: &str = "embedder_failed";

/// Makes embedders of their names.
struct Maker<'a> {
    config: &'a Config,
    environment: &'a Environment,
    searched: &'a SearchTarget,
    /// The vectors that the index has.
    sets: &'a [VectorSet],
    haste: &'a LatencyBudget,
}

/// How long somebody waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LatencyBudget {
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
    fn named(&self, wanted: &Wanted, url: Option<&str>) -> Result<Chosen, CliError> {
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
        let noted = noted_embedder(self.searched, self.environment)?;
        Some((noted.name.parse().ok()?, noted.url))
    }

    fn make(&self, wanted: &Wanted, url: Option<&str>) -> Result<Chosen, CliError> {
        let threads = self.environment.threads;
        let embedder: Box<dyn Embedder> = match wanted.name {
            Name::Service(service) => {
                let settled = self.config.services.get(&service);
                let (sets, haste, words) = (self.sets, self.haste, &self.searched.words);
                let asked = Asked { wanted, service, url, sets, settled, haste, words };
                return asked.make(self.environment);
            }
            Name::Builtin => return Ok(self.table()),
            Name::BuiltinQuality => Box::new(BuiltinQuality::new().with_threads(threads)),
            Name::MiniLm => {
                let model = Model::of_name(Name::MiniLm.name())?;
                let path = model.path(self.environment);
                if !path.is_file() {
                    let message = "the model minilm is not on this machine";
                    return Err(CliError::new(Kind::Failed, "no_model", message)
                        .hint("`anemone model get minilm` fetches it"));
                }
                let opened = MiniLm::open(&path);
                Box::new(
                    opened
                        .map_err(|error| CliError::from(error).about(&path))?
                        .with_threads(threads),
                )
            }
        };
        Ok(self.own(wanted.clone(), embedder))
    }

    /// Finds what nobody named.
    fn auto(&self, notes: &mut Vec<Warning>) -> Result<Option<Chosen>, CliError> {
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
        let there = MODELS.iter().find(|it| it.is_there(self.environment))?;
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
