//! The memory tools that agents of a runtime know, so that a server can offer the same.

use crate::RUNTIMES;

/// The tools of one runtime: the data; the server has the forms.
#[derive(Clone, Copy, Debug)]
pub struct NativeTools {
    /// The name by which a user chooses them.
    pub name: &'static str,
    /// The tools and the program that has them, for a help text.
    pub about: &'static str,
    /// How they take and return memories.
    pub form: ToolForm,
    /// The tool that searches.
    pub recall: ToolWords,
    /// The tool that remembers.
    pub store: ToolWords,
    /// The tool that forgets.
    pub forget: ToolWords,
    /// How a model fills in the arguments of the tool that remembers.
    pub advice: &'static str,
}

/// How tools take and return memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolForm {
    /// Texts with a category and an importance; answers are data.
    Texts,
    /// Texts under keys; answers are words alone.
    Keyed,
}

/// The description of a tool for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolWords {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// When to call it, above all.
    pub description: &'static str,
    /// Arguments that are right, as JSON.
    pub example: &'static str,
}

/// Returns the tools of all runtimes that have some.
pub fn native_tools() -> impl Iterator<Item = &'static NativeTools> {
    RUNTIMES.iter().filter_map(|runtime| runtime.native_tools)
}
