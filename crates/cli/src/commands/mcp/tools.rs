//! Sets of tools, as they are named on the command line.

use anemone_runtimes::{NativeTools, native_tools};
use clap::builder::TypedValueParser;

use crate::args::one_of;

/// The name of Anemone's own set.
pub(super) const OURS: &str = "anemone";
const ABOUT_OURS: &str =
    "memory_search, memory_get, memory_remember, memory_forget, memory_context, memory_status";

/// A set of tools; `None` is Anemone's own.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToolSet(pub(super) Option<&'static NativeTools>);

/// Reads the name of a set.
pub(super) fn tool_sets() -> impl TypedValueParser<Value = ToolSet> {
    let native = native_tools().map(|tools| (tools.name, tools.about, ToolSet(Some(tools))));
    one_of(std::iter::once((OURS, ABOUT_OURS, ToolSet(None))).chain(native))
}
