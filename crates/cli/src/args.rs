//! Arguments that several commands share, and the choices that they become.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use anemone::agent::AgentChoice;
use anemone::agent_memory::MemoryChoice;
use anemone::chat::ChatChoice;
use anemone::embedder::{EmbedderChoice, EmbedderSetting};
use anemone::restore::RestoreChoice;
use anemone::search::target::{TargetChoice, UseSettings};
use anemone_runtimes::{OnConflict, with_agents};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};

use crate::runtime_words;

/// Arguments that pick an agent.
#[derive(Args, Clone, Debug)]
pub(crate) struct AgentArgs {
    #[arg(
        long,
        short,
        value_name = "RUNTIME",
        value_parser = RuntimeParser,
        help = runtime_words::help(
            "The runtime",
            "; search and memory commands also take `folder`, for any folder of Markdown",
        )
    )]
    pub(crate) runtime: Option<String>,

    #[arg(
        long,
        short,
        value_name = "DIR",
        help = runtime_words::help_for(
            "The agent's workspace, or its install",
            runtime_words::holds_several,
            "; without it, the one agent that is found on this machine",
        )
    )]
    pub(crate) workspace: Option<PathBuf>,

    /// The agent with this name, as `anemone agents` lists it; with -w, the one in that install
    #[arg(long, value_name = "ALIAS")]
    pub(crate) agent: Option<String>,
}

/// Accepts any name of a runtime, and offers the known ones for shell completion; an unknown name
/// is refused where it is used, with a detailed message.
#[derive(Clone)]
pub(crate) struct RuntimeParser;

impl TypedValueParser for RuntimeParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(with_agents().map(|runtime| PossibleValue::new(runtime.name))))
    }
}

impl AgentArgs {
    pub(crate) fn choice(&self) -> AgentChoice {
        let Self { runtime, workspace, agent } = self.clone();
        AgentChoice { runtime, workspace, agent }
    }
}

/// Arguments that say what is searched.
#[derive(Args, Clone, Debug)]
pub(crate) struct SourceArgs {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,

    /// Search transcripts of conversations too
    #[arg(long)]
    pub(crate) sessions: bool,

    /// Search entries that the runtime keeps for one person only, too
    #[arg(long)]
    pub(crate) private: bool,

    /// Keep the search index in this folder [default: the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) index_dir: Option<PathBuf>,
}

impl SourceArgs {
    /// Returns the search target; `path` is an archive, a database, a folder or a file instead of
    /// an agent.
    pub(crate) fn choice(&self, path: Option<PathBuf>) -> TargetChoice {
        TargetChoice {
            path,
            agent: self.agent.choice(),
            sessions: self.sessions,
            private: self.private,
            index_dir: self.index_dir.clone(),
            settings: UseSettings::Yes,
        }
    }
}

/// Arguments that say whose memory is meant.
#[derive(Args, Clone, Debug)]
pub(crate) struct MemoryArgs {
    #[command(flatten)]
    pub(crate) agent: AgentArgs,

    /// Keep the search index in this folder [default: the user's cache folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) index_dir: Option<PathBuf>,
}

impl MemoryArgs {
    pub(crate) fn choice(&self) -> MemoryChoice {
        MemoryChoice { agent: self.agent.choice(), index_dir: self.index_dir.clone() }
    }
}

/// Arguments with which a sealed file is opened.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct KeyArgs {
    /// Open sealed archives with the age identities in this file
    #[arg(long, short = 'i', global = true, value_name = "FILE", help_heading = "Sealed archives")]
    pub(crate) identity: Vec<PathBuf>,

    /// Open sealed archives with the passphrase in this file (also: ANEMONE_PASSPHRASE, or a
    /// prompt)
    #[arg(long, global = true, value_name = "FILE", help_heading = "Sealed archives")]
    pub(crate) passphrase_file: Option<PathBuf>,
}

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
    pub(crate) embedder: Option<EmbedderSetting>,

    /// Address of the service, instead of its usual or configured one
    ///
    /// It is remembered for this index. Settings for another host, such as its key_file, are not
    /// used for it; a key in the environment is.
    #[arg(long, value_name = "URL", requires = "embedder")]
    pub(crate) embedder_url: Option<String>,
}

impl EmbedderArgs {
    pub(crate) fn choice(&self) -> EmbedderChoice {
        EmbedderChoice { embedder: self.embedder.clone(), url: self.embedder_url.clone() }
    }
}

/// Arguments that name a chat model.
#[derive(Args, Clone, Debug)]
pub(crate) struct ChatArgs {
    /// Ask the chat model at this URL (OpenAI's protocol), such as http://localhost:11434/v1
    #[arg(long, value_name = "URL")]
    chat_url: Option<String>,

    /// The name of the chat model
    #[arg(long, value_name = "NAME", requires = "chat_url")]
    chat_model: Option<String>,

    /// The file that holds the key to it; only you may be able to read it
    #[arg(long, value_name = "FILE", requires = "chat_url")]
    chat_key_file: Option<PathBuf>,

    /// How many seconds its answer may take: 1 to 300
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=300))]
    chat_timeout: Option<u64>,
}

impl ChatArgs {
    pub(crate) fn choice(&self) -> ChatChoice {
        ChatChoice {
            url: self.chat_url.clone(),
            model: self.chat_model.clone(),
            key_file: self.chat_key_file.clone(),
            timeout: self.chat_timeout.map(Duration::from_secs),
        }
    }
}

/// Arguments that say how a snapshot is put into a runtime.
#[derive(Args, Clone, Debug)]
pub(crate) struct RestoreArgs {
    /// What to do if a file in the workspace differs from the archive's: stop, take theirs (the
    /// archive's; yours is kept beside the workspace), keep ours, or keep both
    #[arg(
        long,
        value_parser = one_of(CONFLICT_WORDS),
        default_value = "stop",
        value_name = "WHAT",
        hide_possible_values = true
    )]
    pub(crate) on_conflict: OnConflict,

    #[arg(
        long,
        value_name = "HOW",
        help = runtime_words::help_for(
            "How a new install keeps memories: sqlite or markdown",
            runtime_words::has_backends,
            "",
        )
    )]
    pub(crate) backend: Option<String>,

    #[arg(
        long,
        value_name = "LAYOUT",
        help = runtime_words::help_for(
            "How a new install is laid out: workspace (until 0.7) or data (since 0.8)",
            runtime_words::has_backends,
            "",
        )
    )]
    pub(crate) layout: Option<String>,
}

/// The words of `--on-conflict`.
const CONFLICT_WORDS: [(&str, &str, OnConflict); 4] = [
    ("stop", "", OnConflict::Stop),
    ("theirs", "", OnConflict::Theirs),
    ("ours", "", OnConflict::Ours),
    ("both", "", OnConflict::Both),
];

impl RestoreArgs {
    pub(crate) fn choice(&self) -> RestoreChoice {
        RestoreChoice {
            on_conflict: self.on_conflict,
            backend: self.backend.clone(),
            layout: self.layout.clone(),
        }
    }
}

/// Returns a parser of some words: each with its help, which may be empty, and its value.
pub(crate) fn one_of<T: Clone + Send + Sync + 'static>(
    words: impl IntoIterator<Item = (&'static str, &'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let words: Vec<_> = words.into_iter().collect();
    let names = words.iter().map(|(name, help, _)| {
        PossibleValue::new(*name).help(Some(*help).filter(|help| !help.is_empty()))
    });
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(move |given| {
        let found = words.iter().find(|(name, ..)| *name == given);
        found.map(|(.., value)| value.clone()).ok_or("there is no such word")
    })
}
