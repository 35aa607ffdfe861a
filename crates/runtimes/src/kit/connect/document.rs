//! A configuration file as text: the entries we want in it, how they are added and removed.
//!
//! Every change is verified before it is written: the file is parsed before and after, and only
//! the wanted entries may differ.

use anemone_format::sha256_hex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{edit, edit::AppliedEdit, edit::Edit, json_file, own::OwnRanges, toml_cut, toml_file};

/// Larger than any configuration that a person keeps.
pub const MAX_BYTES: u64 = 32 << 20;

/// How a file is written.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfigFormat {
    /// JSON, with whatever JSON5 allows.
    Json,
    /// TOML.
    Toml,
}

/// One thing that should be in a file.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ConfigEdit {
    /// A member of the object at a path.
    Member {
        /// Where the object is.
        path: Vec<String>,
        /// The member's key.
        key: String,
        /// Its value.
        value: Value,
    },
    /// An element of the array at a path.
    Element {
        /// Where the array is.
        path: Vec<String>,
        /// The element.
        value: Value,
    },
    /// A switch that is on, for the array `of` beside it.
    Switch {
        /// Where the object with the switch is.
        path: Vec<String>,
        /// The switch.
        key: String,
        /// The array that it switches on.
        of: String,
    },
}

/// Why a file is not changed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefuseError {
    /// It cannot be parsed.
    #[error("it cannot be parsed at line {line}, column {column}: {expected} was expected")]
    Unparsable {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What should be there.
        expected: String,
    },
    /// Another program or the user has an entry of that name.
    #[error("{0} already exists and was not written by anemone")]
    Taken(String),
    /// Something is of another type than it has to be.
    #[error("{path} is not what it should be: {expected} was expected")]
    Shape {
        /// Where it is.
        path: String,
        /// The type that is needed.
        expected: &'static str,
    },
    /// What would have to be switched on has other users, too.
    #[error("{0} is switched off; switching it on would start every configured server")]
    SwitchedOff(String),
    /// The agent that was named does not exist.
    #[error("it has no agent {name:?} that could be given the tools")]
    NoAgent {
        /// The name.
        name: String,
        /// The agents that exist.
        there: Vec<String>,
        /// How the user adds an agent.
        remedy: &'static str,
    },
    /// There is no agent.
    #[error("it has no agent that could be given the tools")]
    NoAgents(&'static str),
    /// No agent was named, and there is more than one.
    #[error("it has several agents, and none was named")]
    ManyAgents(Vec<String>),
    /// Nothing can be added to it line by line.
    #[error("{0} is written in a form to which nothing can be added line by line")]
    Form(String),
    /// Our text cannot be told from what surrounds it now.
    #[error("the entry added at {0} cannot be told apart from changes around it")]
    Entangled(String),
}

/// One thing that was put in.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct ChangeStep {
    /// `None` for the parts that an empty file needs to be valid, such as braces.
    want: Option<ConfigEdit>,
    /// How many of the objects or tables around it were created for it.
    made: usize,
    edits: Vec<AppliedEdit>,
    /// The digest of the array that a switch turns on, before the switch was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    beside: Option<String>,
}

/// A changed text, and how it came about.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ConfigChanges {
    format: ConfigFormat,
    /// The digest of the text with the changes.
    digest: String,
    steps: Vec<ChangeStep>,
    /// What was put in, for people.
    lines: Vec<String>,
}

impl ConfigEdit {
    /// Returns the path for people: `mcp.servers`.
    pub fn name(&self) -> String {
        match self {
            Self::Member { path, key, .. } | Self::Switch { path, key, .. } => {
                let names: Vec<&str> = path.iter().chain([key]).map(String::as_str).collect();
                names.join(".")
            }
            Self::Element { path, .. } => path.join("."),
        }
    }

    /// Returns the path of the table or list that contains it.
    fn path(&self) -> &[String] {
        match self {
            Self::Member { path, .. } | Self::Element { path, .. } | Self::Switch { path, .. } => {
                path
            }
        }
    }

    /// Returns whether the other has the same name at the same path.
    pub fn is_called(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Member { path, key, .. },
                Self::Member { path: other_path, key: other_key, .. },
            ) => path == other_path && key == other_key,
            (Self::Element { path, value }, Self::Element { path: other_path, value: other }) => {
                path == other_path && has_name_of(value, other)
            }
            _ => false,
        }
    }

    /// Returns the existing value in its place.
    fn in_the_way<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        match self {
            Self::Member { path, key, .. } => at(document, path)?.get(key),
            Self::Element { path, value } => {
                at(document, path)?.as_array()?.iter().find(|element| has_name_of(value, element))
            }
            Self::Switch { .. } => None,
        }
    }

    /// Returns whether a document has it already.
    pub fn is_in(&self, document: &Value) -> bool {
        match self {
            Self::Member { path, key, value } => {
                at(document, path).and_then(|object| object.get(key)) == Some(value)
            }
            Self::Element { path, value } => {
                let elements = at(document, path).and_then(Value::as_array);
                elements.is_some_and(|elements| elements.contains(value))
            }
            Self::Switch { path, key, .. } => {
                at(document, path).and_then(|object| object.get(key)) == Some(&Value::Bool(true))
            }
        }
    }
}

/// Whether two elements have a name, and the same one.
fn has_name_of(one: &Value, other: &Value) -> bool {
    let name = |value: &Value| value.get("name").and_then(Value::as_str).map(str::to_owned);
    name(one).is_some() && name(one) == name(other)
}

/// Returns the digest of the array that a switch turns on.
fn switched(want: &ConfigEdit, document: &Value) -> Option<String> {
    let ConfigEdit::Switch { path, of, .. } = want else { return None };
    let there =
        at(document, path).and_then(|object| object.get(of)).filter(|value| !is_void(value));
    Some(sha256_hex(there.map(Value::to_string).unwrap_or_default().as_bytes()))
}

/// Returns the value at a path.
pub fn at<'a>(document: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(document, |value, key| value.get(key))
}

impl ConfigFormat {
    /// Parses a text.
    pub fn parse(self, text: &str) -> Result<Value, RefuseError> {
        match self {
            Self::Json if text.trim().is_empty() => Ok(Value::Object(serde_json::Map::new())),
            Self::Json => json_file::parse(text),
            Self::Toml => toml_file::parse(text),
        }
    }

    fn plan(self, text: &str, want: &ConfigEdit) -> Result<(Vec<Edit>, usize), RefuseError> {
        match self {
            Self::Json => json_file::plan(text, want),
            Self::Toml => toml_file::plan(text, want),
        }
    }

    /// Removes an entry by its content, not by its recorded position.
    fn take_out(self, text: &str, want: &ConfigEdit, step: &ChangeStep) -> Option<String> {
        match self {
            Self::Json => json_file::take_out(text, want, step.made),
            Self::Toml => toml_cut::take_out(text, want, step.made, step.was_off()),
        }
    }
}

/// Inserts the wanted entries that do not exist yet.
pub fn put_in(
    format: ConfigFormat,
    text: &str,
    wants: &[ConfigEdit],
) -> Result<(String, ConfigChanges), RefuseError> {
    let mut text = text.to_owned();
    let mut steps = Vec::new();
    let mut own = OwnRanges::default();
    let mut turned = Vec::new();
    if format == ConfigFormat::Json && !wants.is_empty() && text.trim().is_empty() {
        let edits = [Edit::insert(text.len(), "{}\n")];
        own.note(&edits);
        text = edit::apply(&text, &edits);
        let edits = edit::note(&edits, &text);
        steps.push(ChangeStep { want: None, made: 0, edits, beside: None });
    }
    for want in wants {
        let before = format.parse(&text)?;
        if want.is_in(&before) {
            continue;
        }
        if want.in_the_way(&before).is_some() {
            return Err(RefuseError::Taken(want.name()));
        }
        let (edits, made) = format.plan(&text, want)?;
        let changed = edit::apply(&text, &edits);
        let form = || RefuseError::Form(want.name());
        let after = format.parse(&changed).map_err(|_| form())?;
        let noted = edit::note(&edits, &changed);
        let beside = switched(want, &before);
        let step = ChangeStep { want: Some(want.clone()), made, edits: noted, beside };
        // Only what is wanted may differ.
        if !want.is_in(&after) || step.removed_from(&after) != before {
            return Err(form());
        }
        own.note(&edits);
        if edits.iter().any(|edit| !edit.old.is_empty()) {
            turned.push(format!("{} = true", want.name()));
        }
        steps.push(step);
        text = changed;
    }
    let digest = sha256_hex(text.as_bytes());
    // A switch that was turned on is one word in an existing line.
    let put_in = own.lines(&text).into_iter().filter(|line| line != "true");
    let lines = turned.into_iter().chain(put_in).collect();
    Ok((text, ConfigChanges { format, digest, steps, lines }))
}

impl ConfigChanges {
    /// Returns the format of the text.
    #[must_use]
    pub const fn format(&self) -> ConfigFormat {
        self.format
    }

    /// Whether nothing was put in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether the text is unchanged since.
    pub fn is_as_written(&self, text: &str) -> bool {
        sha256_hex(text.as_bytes()) == self.digest
    }

    /// Returns what was put in.
    pub fn wants(&self) -> impl Iterator<Item = &ConfigEdit> {
        self.steps.iter().filter_map(|step| step.want.as_ref())
    }

    /// Removes what was put in from the current text. Entries that are already gone are skipped,
    /// and a switch stays on if its array now has other elements.
    pub fn take_out(&self, text: &str) -> Result<String, RefuseError> {
        if self.is_as_written(text) {
            let exact = self
                .steps
                .iter()
                .rev()
                .try_fold(text.to_owned(), |text, step| edit::take_back(&text, &step.edits));
            if let Some(exact) = exact {
                return Ok(exact);
            }
        }
        let mut text = text.to_owned();
        for step in self.steps.iter().rev() {
            text = step.take_out(self.format, &text)?;
        }
        Ok(text)
    }

    /// Returns the lines that were put in, for people: nothing of the rest of the file.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}

impl ChangeStep {
    fn take_out(&self, format: ConfigFormat, text: &str) -> Result<String, RefuseError> {
        // The braces added to an empty file cannot be told from any others.
        let Some(want) = &self.want else { return Ok(text.to_owned()) };
        let now = format.parse(text)?;
        if !want.is_in(&now) || (self.beside.is_some() && switched(want, &now) != self.beside) {
            return Ok(text.to_owned());
        }
        // An empty table without a header does not exist in TOML.
        let most =
            if format == ConfigFormat::Toml { want.path().len().max(self.made) } else { self.made };
        let without = |made| Self { made, ..self.clone() }.removed_from(&now);
        let wanted: Vec<Value> = (self.made..=most).map(without).collect();
        let by_place = || edit::take_back_found(text, &self.edits);
        let by_nature = || format.take_out(text, want, self);
        let is_right =
            |text: &String| format.parse(text).is_ok_and(|document| wanted.contains(&document));
        by_place()
            .filter(is_right)
            .or_else(|| by_nature().filter(is_right))
            .ok_or_else(|| RefuseError::Entangled(want.name()))
    }

    /// Whether it set a switch that existed and was off.
    fn was_off(&self) -> bool {
        self.edits.iter().any(|edit| edit.replaced("false"))
    }

    /// Returns a document without what was put in. What was created around it is removed too if
    /// nothing else is in there now.
    fn removed_from(&self, document: &Value) -> Value {
        let mut document = document.clone();
        let Some(want) = &self.want else { return document };
        let mut path = want.path().to_vec();
        if let Some(around) = at_mut(&mut document, &path) {
            match want {
                ConfigEdit::Member { key, .. } => remove(around, key),
                ConfigEdit::Switch { key, .. } if self.was_off() => {
                    around[key.as_str()] = Value::Bool(false);
                }
                ConfigEdit::Switch { key, .. } => remove(around, key),
                ConfigEdit::Element { value, .. } => {
                    if let Some(elements) = around.as_array_mut()
                        && let Some(last) = elements.iter().rposition(|element| element == value)
                    {
                        elements.remove(last);
                    }
                }
            }
        }
        for _ in 0..self.made {
            if !at(&document, &path).is_some_and(is_void) {
                break;
            }
            let Some(key) = path.pop() else { break };
            if let Some(around) = at_mut(&mut document, &path) {
                remove(around, &key);
            }
        }
        document
    }
}

/// Removes what looks like ours from a file for which no changes were recorded.
pub fn take_out_known(
    format: ConfigFormat,
    text: &str,
    wants: &[ConfigEdit],
) -> Result<String, RefuseError> {
    let mut text = text.to_owned();
    for want in wants {
        let step =
            ChangeStep { want: Some(want.clone()), made: 0, edits: Vec::new(), beside: None };
        text = step.take_out(format, &text)?;
    }
    Ok(text)
}

fn at_mut<'a>(document: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(document, |value, key| value.get_mut(key))
}

fn remove(around: &mut Value, key: &str) {
    if let Some(members) = around.as_object_mut() {
        members.remove(key);
    }
}

/// Whether an object or an array is empty.
pub fn is_void(value: &Value) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty)
        || value.as_array().is_some_and(Vec::is_empty)
}

/// Returns where in a text a position is, counted as editors do.
pub(super) fn line_and_column(text: &str, position: usize) -> (usize, usize) {
    let before = text.get(..position).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

/// Returns the line break that a text uses.
pub(super) fn line_break(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Returns where the whitespace before a position begins, with at most one line break.
pub(super) fn start_of_gap(text: &str, position: usize) -> usize {
    let blank = text[..position].trim_end_matches([' ', '\t']).len();
    match text[..blank].strip_suffix('\n') {
        Some(rest) => rest.strip_suffix('\r').unwrap_or(rest).len(),
        None => blank,
    }
}

/// Returns the whitespace before a position, if its line begins with nothing else.
pub(super) fn indentation(text: &str, position: usize) -> Option<&str> {
    let start = text[..position].rfind('\n').map_or(0, |at| at + 1);
    let before = &text[start..position];
    (start > 0 && before.chars().all(|c| matches!(c, ' ' | '\t'))).then_some(before)
}
