//! A small install for demonstrations.

/// A small install of a runtime, written into an empty folder.
#[derive(Clone, Copy, Debug)]
pub struct SampleInstall {
    /// The runtime.
    pub runtime: &'static str,
    /// The variable that names the install's folder.
    pub variable: &'static str,
    /// Returns the files of an install with one agent, by their paths in it.
    pub files: fn(&SampleAgent<'_>) -> Vec<SampleFile>,
}

/// The agent of a sample install.
#[derive(Clone, Copy, Debug)]
pub struct SampleAgent<'a> {
    /// Its alias.
    pub alias: &'a str,
    /// Its workspace.
    pub workspace: &'a str,
}

/// A file of a sample install.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleFile {
    /// Its path in the install.
    pub path: String,
    /// Its text.
    pub text: String,
}
