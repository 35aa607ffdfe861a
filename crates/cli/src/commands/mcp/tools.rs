//! Sets of tools, as they are named on the command line.

use anemone_mcp::{ToolSet, ToolWords, Words};
use anemone_runtimes::{NativeTools, ToolForm, native_tools};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// The name of our own set.
pub(super) const OURS: &str = "anemone";
const ABOUT_OURS: &str =
    "memory_search, memory_get, memory_remember, memory_forget, memory_context, memory_status";

/// Reads the name of a set.
pub(super) fn tool_sets() -> impl TypedValueParser<Value = ToolSet> {
    let ours = PossibleValue::new(OURS).help(ABOUT_OURS);
    let native = native_tools().map(|tools| PossibleValue::new(tools.name).help(tools.about));
    PossibleValuesParser::new(std::iter::once(ours).chain(native)).map(|name| {
        native_tools().find(|tools| tools.name == name).map_or(ToolSet::Anemone, tool_set)
    })
}

fn tool_set(tools: &NativeTools) -> ToolSet {
    let words = |words: anemone_runtimes::ToolWords| {
        let anemone_runtimes::ToolWords { name, title, description, example } = words;
        Words { name, title, description, example }
    };
    let set = ToolWords {
        recall: words(tools.recall),
        store: words(tools.store),
        forget: words(tools.forget),
        advice: tools.advice,
    };
    match tools.form {
        ToolForm::Texts => ToolSet::Texts(set),
        ToolForm::Keyed => ToolSet::Keyed(set),
    }
}
