//! Sets of tools, as they are named on the command line.

use anemone_runtimes::{NativeTools, native_tools};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// The name of Anemone's own set.
pub(super) const OURS: &str = "anemone";
const ABOUT_OURS: &str =
    "memory_search, memory_get, memory_remember, memory_forget, memory_context, memory_status";

/// A set of tools; `None` is Anemone's own.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToolSet(pub(super) Option<&'static NativeTools>);

/// Reads the name of a set.
pub(super) fn tool_sets() -> impl TypedValueParser<Value = ToolSet> {
    let ours = PossibleValue::new(OURS).help(ABOUT_OURS);
    let native = native_tools().map(|tools| PossibleValue::new(tools.name).help(tools.about));
    PossibleValuesParser::new(std::iter::once(ours).chain(native))
        .map(|name| ToolSet(native_tools().find(|tools| tools.name == name)))
}
