//! The tools of a server, under the names that its agents know.

mod anemone;
mod keyed;
mod texts;

use std::sync::Arc;

use anemone_runtimes::{ToolForm, ToolWords};
use rmcp::model::{JsonObject, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::answer::Answer;
use crate::arguments;
use crate::schema::{input_schema, output_schema};
use crate::service::{
    ForgetArguments, ForgetResult, MemoryService, RefusalKind, Result, ServiceRefusal,
};
use crate::settings::Settings;

type Call = Box<dyn Fn(&dyn MemoryService, JsonObject) -> Result<Answer> + Send + Sync>;

/// A tool: its description, and its implementation.
pub(crate) struct Tool {
    words: ToolWords,
    effect: Effect,
    input: Arc<JsonObject>,
    output: Option<Arc<JsonObject>>,
    call: Call,
}

/// What a tool does to the memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Nothing.
    Reads,
    /// It adds to it.
    Adds,
    /// It replaces something.
    Replaces,
    /// It removes something.
    Removes,
}

impl Tool {
    /// Returns a tool that answers in words only.
    fn new<I>(
        words: ToolWords,
        effect: Effect,
        run: impl Fn(&dyn MemoryService, I) -> Result<Answer> + Send + Sync + 'static,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema,
    {
        let input = input_schema::<I>();
        let schema = Arc::clone(&input);
        let example = words.example;
        let call = move |service: &dyn MemoryService, given: JsonObject| {
            run(service, arguments::read::<I>(given, &schema, example)?)
        };
        Self { words, effect, input, output: None, call: Box::new(call) }
    }

    /// Makes it answer in data of type `O`, too.
    fn returning<O: JsonSchema>(self) -> Self {
        Self { output: Some(output_schema::<O>()), ..self }
    }

    /// Leaves out hints of the memory about tools that are not in this tool's set.
    fn with_fitting_hints(self) -> Self {
        let Self { call, .. } = self;
        let call = move |service: &dyn MemoryService, given: JsonObject| {
            call(service, given).map_err(|mut refusal| {
                refusal.hint =
                    refusal.hint.filter(|hint| !ONLY_OURS.iter().any(|name| hint.contains(name)));
                refusal
            })
        };
        Self { call: Box::new(call), ..self }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.words.name
    }

    /// Whether it changes the memory.
    pub(crate) fn writes(&self) -> bool {
        self.effect != Effect::Reads
    }

    /// Runs the tool. Blocks.
    pub(crate) fn call(&self, service: &dyn MemoryService, given: JsonObject) -> Result<Answer> {
        (self.call)(service, given)
    }

    /// Returns the tool as the protocol has it.
    pub(crate) fn announced(&self) -> rmcp::model::Tool {
        let annotations = ToolAnnotations::new()
            .read_only(self.effect == Effect::Reads)
            .destructive(matches!(self.effect, Effect::Replaces | Effect::Removes))
            .idempotent(self.effect != Effect::Adds)
            .open_world(false);
        let ToolWords { name, title, description, .. } = self.words;
        let mut tool = rmcp::model::Tool::new(name, description, Arc::clone(&self.input))
            .with_title(title)
            .with_annotations(annotations);
        tool.output_schema.clone_from(&self.output);
        tool
    }
}

/// Returns all tools of a set, also those that may not be called.
pub(crate) fn tools(settings: &Settings) -> Vec<Tool> {
    let Some(native) = settings.tools else { return anemone::tools(settings.allow_write) };
    let tools = match native.form {
        ToolForm::Texts => texts::tools(native),
        ToolForm::Keyed => keyed::tools(native),
    };
    tools.into_iter().map(Tool::with_fitting_hints).collect()
}

/// Tools and arguments that a memory may name in a hint, and that only our own set has.
const ONLY_OURS: [&str; 7] = [
    "memory_search",
    "memory_get",
    "memory_remember",
    "memory_context",
    "memory_status",
    "supersedes",
    "force",
];

/// Returns the refusal of a tool that would write.
pub(crate) fn read_only(name: &str) -> ServiceRefusal {
    let message = format!("{name} would change the memory, and this server only reads it");
    ServiceRefusal::new("read_only", message)
        .with_hint("tell the user: `anemone mcp --allow-write` starts a server that may write")
}

/// Forgets an entry; `None` if it does not exist.
fn forget_one(
    service: &dyn MemoryService,
    asked: &ForgetArguments,
) -> Result<Option<ForgetResult>> {
    match service.forget(asked) {
        Ok(forgotten) => Ok(Some(forgotten).filter(|gone| !gone.entries.is_empty())),
        Err(refusal) if refusal.kind == RefusalKind::NothingToForget => Ok(None),
        Err(refusal) => Err(refusal),
    }
}
