//! Removes the secrets of a configuration from its text, at the positions that the parser reports,
//! so that everything else stays as it was written.
//!
//! A value is secret either because of the name of its key, whatever it looks like, or because of
//! what it looks like. The same holds for settings that are commented out.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use toml_edit::{Document, Item, TableLike, Value};
use zeroize::Zeroizing;

use crate::kit::{Warning, WordList};
use anemone_secrets as secrets;

/// What a secret is replaced with.
pub(in crate::zeroclaw) const PLACEHOLDER: &str = "<redacted>";
/// How the mark begins that replaces a secret inside a longer text.
const MARK: &str = "[redacted:";
/// The prefix of a reference to a password store; it is not a secret itself.
const REFERENCE: &str = "op://";
/// How encrypted values begin, now and on the first day.
pub(in crate::zeroclaw) const ENCRYPTED: [&str; 2] = ["enc2:", "enc:"];
/// How often the result is scanned again.
const ROUNDS: usize = 4;
/// Keys with a secret in them, at most; each is looked for in the whole text.
const MAX_KEYS: usize = 100;

/// The fields that the runtime itself calls secret, wherever they are (0.8.7).
const FIELDS: WordList = WordList(include_str!("words/secret_fields.txt"));

/// Maps that it calls secret: every value in them is.
const MAPS: [&str; 6] = ["config", "env", "extra_headers", "headers", "otel_headers", "secrets"];

/// Fields of other versions and of what people add.
const MORE_FIELDS: WordList = WordList(include_str!("words/more_secret_fields.txt"));

/// Last words of names whose texts are secret.
const LAST_WORDS: WordList = WordList(include_str!("words/last_words.txt"));
/// Those of them whose numbers are secret too; a number of tokens only counts them.
const NUMBERS_TOO: [&str; 9] =
    ["secret", "password", "passwd", "pass", "pwd", "pw", "passcode", "passphrase", "token"];
/// Words before `key` and `keys` that make it a secret one.
const BEFORE_KEY: WordList = WordList(include_str!("words/before_key.txt"));
/// Words of names that count tokens of a model.
const COUNTS: [&str; 6] = ["max", "min", "chunk", "context", "budget", "limit"];
/// Keys with a command line, or parts of one.
const COMMANDS: [&str; 4] = ["command", "cmd", "args", "arguments"];
/// Keys that identify the tables of a list.
const NAMES: [&str; 4] = ["name", "id", "hint", "alias"];

/// A value of a configuration that is a secret, and its position.
#[derive(Clone)]
pub(in crate::zeroclaw) struct SecretLeaf {
    /// The keys and positions on the way to it.
    pub(in crate::zeroclaw) path: Vec<String>,
    /// As it is written: plain, `enc:`, `enc2:` or a reference `op://`, which also stays in the
    /// text. A number or a list with a secret in it is here as TOML.
    pub(in crate::zeroclaw) value: Zeroizing<String>,
    /// Whether it is a string in the configuration.
    pub(in crate::zeroclaw) is_text: bool,
    /// The names of tables of lists on the way.
    pub(in crate::zeroclaw) names: Vec<ElementName>,
}

/// The name of a table in a list, so that it is found again when others were inserted before it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(in crate::zeroclaw) struct ElementName {
    /// Its position in the path.
    pub(in crate::zeroclaw) at: usize,
    /// The key that identifies the table.
    pub(in crate::zeroclaw) key: String,
    /// The value of that key.
    pub(in crate::zeroclaw) name: String,
}

impl SecretLeaf {
    /// Returns whether it only refers to where the secret is.
    pub(in crate::zeroclaw) fn is_reference(&self) -> bool {
        self.is_text && is_reference(&self.value)
    }
}

/// A configuration without its secrets.
pub(in crate::zeroclaw) struct RedactedConfig {
    /// Parses as TOML, with every comment and type; empty when that was not possible.
    pub(in crate::zeroclaw) text: String,
    pub(in crate::zeroclaw) secrets: Vec<SecretLeaf>,
    /// Comments that contained a secret, which cannot be restored.
    pub(in crate::zeroclaw) comments: usize,
    /// Set when the text is withheld.
    pub(in crate::zeroclaw) warning: Option<Warning>,
}

/// How much of the value of a key is secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Secrecy {
    /// Only parts that look secret.
    Looks,
    /// Texts.
    Texts,
    /// Texts and numbers.
    Field,
    /// All of it.
    Everything,
}

static SECRET_FIELDS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| FIELDS.iter().chain(MORE_FIELDS.iter()).map(plain_name).collect());
static SECRET_MAPS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| MAPS.iter().map(|map| plain_name(map)).collect());

#[expect(clippy::unwrap_used, reason = "the patterns are constants, and a test compiles them")]
mod patterns {
    use super::{LazyLock, Regex};

    /// The user in front of a host.
    pub(super) static USER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"(://)([^\s"'<>]+)@"#).unwrap());
    /// A parameter of an address.
    pub(super) static PARAMETER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"([?&#;])([A-Za-z_.-]+)=([^&#;\s"'<>]+)"#).unwrap());
    /// An option with its value, or a variable.
    pub(super) static OPTION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(^|[\s"'])(-{0,2})([A-Za-z][A-Za-z0-9_-]*)(=|\s+)("[^"]*"|'[^']*'|[^\s"']+)"#)
            .unwrap()
    });
    /// A header with credentials.
    pub(super) static HEADER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"(?i)((?:proxy-)?authorization|x-api-key|api-key|cookie|x-auth-token)(\s*:\s*)((?:bearer|basic|token)\s+)?([^\s"']+)"#,
        )
        .unwrap()
    });
    /// A value that the runtime encrypted.
    pub(super) static ENCRYPTED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\benc2?:[0-9A-Fa-f]{2,}").unwrap());
}

/// Returns a name without differences in spelling.
fn plain_name(name: &str) -> String {
    name.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Returns how much is secret of a value with a name.
fn rule_of_name(name: &str) -> Secrecy {
    let plain = plain_name(name);
    if SECRET_MAPS.contains(&plain) {
        return Secrecy::Everything;
    }
    if SECRET_FIELDS.contains(&plain) {
        return Secrecy::Field;
    }
    let words = words_of(name);
    let Some((last, before)) = words.split_last() else { return Secrecy::Looks };
    let is_key = (last == "key" || last == "keys")
        && before.last().is_some_and(|word| BEFORE_KEY.contains(word));
    let is_count = last == "tokens" && before.iter().any(|word| COUNTS.contains(&word.as_str()));
    if NUMBERS_TOO.contains(&last.as_str()) {
        return Secrecy::Field;
    }
    if is_key || LAST_WORDS.contains(last) && !is_count {
        return Secrecy::Texts;
    }
    Secrecy::Looks
}

/// Splits a name at signs and where capitals begin.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars() {
        let starts = letter.is_uppercase() && was_small;
        if starts || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        was_small = letter.is_lowercase() || letter.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns how much of the value of a key of a table is secret.
pub(super) fn rule_below(path: &[String], rule: Secrecy, key: &str, shape: ItemShape) -> Secrecy {
    let is_table = shape != ItemShape::Value;
    let own = match path {
        // The key only switches encryption on or off; a text does not belong there.
        [] if key == "secrets" && is_table => Secrecy::Texts,
        // The key is the name of an agent.
        [agents] if agents == "agents" && is_table => Secrecy::Looks,
        _ => match rule_of_name(key) {
            // A guess, only good enough for a value, or for a flat table of named values.
            own if shape == ItemShape::Section && own < Secrecy::Everything => {
                if SECRET_FIELDS.contains(&plain_name(key)) { own } else { Secrecy::Looks }
            }
            own => own,
        },
    };
    rule.max(own)
}

/// What kind of value a key has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemShape {
    Value,
    /// A table of values and nothing else, on one line or not.
    Flat,
    /// Tables with others in them.
    Section,
}

impl ItemShape {
    pub(super) fn of(item: &Item) -> Self {
        let is_value =
            |(_, item): (&str, &Item)| !item.is_table_like() && !item.is_array_of_tables();
        match item {
            Item::Value(Value::InlineTable(table))
                if table.iter().all(|(_, table)| !is_nested(table)) =>
            {
                Self::Flat
            }
            Item::Table(table) if table.iter().all(is_value) && is_only_texts(table) => Self::Flat,
            Item::Table(_) | Item::ArrayOfTables(_) | Item::Value(Value::InlineTable(_)) => {
                Self::Section
            }
            Item::None | Item::Value(_) => Self::Value,
        }
    }
}

/// Returns whether a section holds texts only: a section of settings has switches and numbers too.
fn is_only_texts(table: &toml_edit::Table) -> bool {
    !table.is_empty() && table.iter().all(|(_, item)| item.is_str())
}

/// Returns whether the runtime expects an encrypted value at a path.
pub(in crate::zeroclaw) fn is_encrypted_field(path: &[String]) -> bool {
    let is_map = |key: &String| MAPS.contains(&key.as_str());
    let last = path.iter().rev().find(|key| key.parse::<usize>().is_err());
    last.is_some_and(|key| FIELDS.contains(key))
        || path.len() > 1 && path[1..].iter().any(is_map)
        || path.first().is_some_and(|first| first != "secrets" && is_map(first))
}

fn is_reference(text: &str) -> bool {
    text.trim_start().starts_with(REFERENCE)
}

/// Returns whether a text had a secret in it.
pub(super) fn is_redacted(text: &str) -> bool {
    text.contains(PLACEHOLDER) || text.contains(MARK)
}

/// Returns a name or a text in a form that may be shown.
pub(in crate::zeroclaw) fn shown(text: &str) -> Cow<'_, str> {
    without_secret(text, Secrecy::Looks, false).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Returns a text without its secret; `None` when it has none.
fn without_secret(text: &str, rule: Secrecy, is_command: bool) -> Option<String> {
    let start = text.trim_start();
    if start.is_empty() || text == PLACEHOLDER {
        return None;
    }
    if ENCRYPTED.iter().any(|mark| start.starts_with(mark)) {
        return Some(PLACEHOLDER.to_owned());
    }
    if rule > Secrecy::Looks {
        return (!is_reference(text)).then(|| PLACEHOLDER.to_owned());
    }
    let mut kept = without_addresses(text);
    if is_command {
        kept = without_options(&kept);
    }
    let hits = secrets::scan(kept.as_bytes());
    if !hits.is_empty() {
        let bytes = secrets::redact(kept.as_bytes(), &hits).into_owned();
        kept = String::from_utf8(bytes).unwrap_or_else(|_| PLACEHOLDER.to_owned());
    }
    (kept != text).then_some(kept)
}

/// Removes users, passwords and keys from addresses.
fn without_addresses(text: &str) -> String {
    let user = patterns::USER.replace_all(text, |found: &Captures<'_>| {
        let user = &found[2];
        // A name after the host is part of a path, unless a password precedes it; then it may be a
        // password with any characters.
        let host = user.find(['/', '?', '#']).unwrap_or(user.len());
        let is_path = host < user.len() && !user[..host].contains([':', '@']);
        if user == "git" || is_path || user == PLACEHOLDER {
            return found[0].to_owned();
        }
        format!("{}{PLACEHOLDER}@", &found[1])
    });
    let parameter = |found: &Captures<'_>| {
        let (sign, name, value) = (&found[1], &found[2], &found[3]);
        let is_key = matches!(plain_name(name).as_str(), "key" | "sig" | "signature" | "auth");
        if (is_key || rule_of_name(name) >= Secrecy::Texts) && !value.starts_with('$') {
            format!("{sign}{name}={PLACEHOLDER}")
        } else {
            found[0].to_owned()
        }
    };
    patterns::PARAMETER.replace_all(&user, parameter).into_owned()
}

/// Removes the values of options and variables with a secret name from a command line.
fn without_options(text: &str) -> String {
    let header = patterns::HEADER.replace_all(text, |found: &Captures<'_>| {
        let scheme = found.get(3).map_or("", |found| found.as_str());
        let is_variable = found[4].starts_with('$') || found[4] == *PLACEHOLDER;
        let value = if is_variable { &found[4] } else { PLACEHOLDER };
        format!("{}{}{scheme}{value}", &found[1], &found[2])
    });
    let option = |found: &Captures<'_>| {
        let (before, dashes, name, sign, value) =
            (&found[1], &found[2], &found[3], &found[4], &found[5]);
        // Two consecutive words mean nothing, unless the first is an option.
        let is_assigned = sign == "=" || !dashes.is_empty();
        let is_other = value.trim_matches(['"', '\'']).starts_with(['$', '-']);
        if is_assigned && !is_other && rule_of_name(name) >= Secrecy::Texts {
            format!("{before}{dashes}{name}{sign}{PLACEHOLDER}")
        } else {
            found[0].to_owned()
        }
    };
    patterns::OPTION.replace_all(&header, option).into_owned()
}

/// Returns whether an argument is an option whose value is the next argument, and may be secret.
fn wants_value(argument: &str) -> bool {
    let name = argument.trim_start_matches('-');
    let is_short = argument.len() == 2 && matches!(name, "p" | "P" | "k" | "t" | "u" | "a" | "H");
    let is_header = matches!(name, "header" | "headers" | "user" | "auth" | "key");
    name.len() < argument.len()
        && !name.contains('=')
        && (is_short || is_header || rule_of_name(name) >= Secrecy::Texts)
}

/// Returns whether the value of a short option is a number, such as a server's port.
fn is_port(option: &str, value: &str) -> bool {
    option == "-p" && value.parse::<u16>().is_ok()
}

/// Removes the secrets from a text that is TOML.
pub(super) fn redacted(text: &str) -> RedactedConfig {
    let mut now = Zeroizing::new(text.to_owned());
    let mut leaves: Vec<SecretLeaf> = Vec::new();
    let mut comments = 0;
    let mut known: BTreeSet<Vec<String>> = BTreeSet::new();
    for _ in 0..ROUNDS {
        let Some((walk, found)) = RedactionPass::over(&now) else { break };
        comments += found;
        // A secret that is found later was hidden by a neighbour, and already has its path.
        leaves.extend(walk.leaves.into_iter().filter(|leaf| known.insert(leaf.path.clone())));
        if walk.edits.is_empty() && walk.keys.is_empty() || walk.keys.len() > MAX_KEYS {
            break;
        }
        now = Zeroizing::new(edited(&now, walk.edits, &walk.keys));
    }
    // The text still parses, and no secrets are left in it.
    if RedactionPass::over(&now)
        .is_some_and(|(walk, _)| walk.edits.is_empty() && walk.keys.is_empty())
    {
        return RedactedConfig {
            text: now.as_str().to_owned(),
            secrets: leaves,
            comments,
            warning: None,
        };
    }
    let warning = Warning::new(
        "config_withheld",
        "the configuration does not travel: it cannot be had without its secrets",
    );
    RedactedConfig { text: String::new(), secrets: leaves, comments, warning: Some(warning) }
}

/// Replaces ranges of bytes.
fn edited(text: &str, mut edits: Vec<(Range<usize>, String)>, keys: &[(String, String)]) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (range, new) in &edits {
        // Ranges come from the parser and do not overlap; an overlapping one would not be replaced.
        let (Some(before), true) = (text.get(from..range.start), range.end <= text.len()) else {
            continue;
        };
        out.push_str(before);
        out.push_str(new);
        from = range.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    for (key, new) in keys {
        out = out.replace(key.as_str(), new);
    }
    out
}

/// One pass over a document.
#[derive(Default)]
struct RedactionPass<'a> {
    text: &'a str,
    path: Vec<String>,
    names: Vec<ElementName>,
    edits: Vec<(Range<usize>, String)>,
    leaves: Vec<SecretLeaf>,
    /// Every text value, so that a `#` in it is not taken for a comment.
    strings: Vec<Range<usize>>,
    /// Texts without a secret so far, and their positions.
    clean: Vec<(Range<usize>, SecretLeaf)>,
    /// Where sections begin, and how much of them is secret.
    sections: Vec<(usize, Secrecy)>,
    /// Lists and inline tables that are secret; comments in them are secret too.
    secret_ranges: Vec<Range<usize>>,
    /// Keys that contain a secret, as they are written, and their replacements.
    keys: Vec<(String, String)>,
}

impl<'a> RedactionPass<'a> {
    /// Scans a text, and counts the comments with a secret; `None` when the text is not TOML.
    fn over(text: &'a str) -> Option<(Self, usize)> {
        let document = Document::parse(text).ok()?;
        let mut walk = Self { text, ..Self::default() };
        walk.table(document.as_table(), Secrecy::Looks);
        walk.context();
        let comments = walk.comments();
        Some((walk, comments))
    }

    fn table(&mut self, table: &dyn TableLike, rule: Secrecy) {
        for (key, item) in table.iter() {
            let rule = rule_below(&self.path, rule, key, ItemShape::of(item));
            if let Some(new) = without_secret(key, Secrecy::Looks, false)
                && let Some(raw) = table.key(key).and_then(toml_edit::Key::span)
                && let Some(raw) = self.text.get(raw)
            {
                self.keys.push((raw.to_owned(), Value::from(new).to_string()));
            }
            self.path.push(key.to_owned());
            match item {
                Item::None => {}
                Item::Value(value) => self.value(value, rule),
                Item::Table(table) => self.section(table, rule),
                Item::ArrayOfTables(tables) => {
                    for (at, table) in tables.iter().enumerate() {
                        self.element(at, table, |walk| walk.section(table, rule));
                    }
                }
            }
            self.path.pop();
        }
    }

    fn section(&mut self, table: &toml_edit::Table, rule: Secrecy) {
        if let Some(span) = table.span() {
            self.sections.push((span.start, rule));
        }
        self.table(table, rule);
    }

    /// Enters a table of a list, and records its name.
    fn element(&mut self, at: usize, table: &dyn TableLike, go: impl FnOnce(&mut Self)) {
        let named = self.names.len();
        let name = |key: &&str| {
            let name = table.get(key).and_then(Item::as_str)?;
            Some(ElementName { at: self.path.len(), key: (*key).to_owned(), name: name.to_owned() })
        };
        let name = NAMES.iter().find_map(name);
        self.names.extend(
            name.filter(|name| without_secret(&name.name, Secrecy::Looks, false).is_none()),
        );
        self.path.push(at.to_string());
        go(self);
        self.path.pop();
        self.names.truncate(named);
    }

    fn value(&mut self, value: &Value, rule: Secrecy) {
        if rule >= Secrecy::Texts
            && (value.is_array() || value.is_inline_table())
            && let Some(span) = value.span()
        {
            self.secret_ranges.push(span);
        }
        match value {
            Value::Array(array) if array.iter().any(is_nested) => {
                for (at, value) in array.iter().enumerate() {
                    if let Value::InlineTable(table) = value {
                        self.element(at, table, |walk| walk.table(table, rule));
                    } else {
                        self.path.push(at.to_string());
                        self.value(value, rule);
                        self.path.pop();
                    }
                }
            }
            Value::Array(array) => self.list(value, array, rule),
            Value::InlineTable(table) => self.table(table, rule),
            _ => {
                if self.scalar(value, rule, self.is_command()) {
                    self.leaves.push(self.leaf(value));
                }
            }
        }
    }

    /// A list of values is restored as a whole, so it is one secret if any of them is.
    fn list(&mut self, list: &Value, array: &toml_edit::Array, rule: Secrecy) {
        let is_command = self.is_command();
        let mut before = "";
        let mut found = false;
        for value in array {
            let text = value.as_str();
            let is_value = wants_value(before)
                && text.is_some_and(|text| !text.starts_with(['-', '$']) && !is_port(before, text));
            let rule = if is_value { rule.max(Secrecy::Texts) } else { rule };
            found |= self.scalar(value, rule, is_command);
            before = text.filter(|_| is_command).unwrap_or_default();
        }
        if found {
            self.leaves.push(self.leaf(list));
        }
    }

    fn is_command(&self) -> bool {
        self.path.last().is_some_and(|key| COMMANDS.contains(&key.as_str()))
    }

    /// Replaces a secret value; returns whether it was replaced, or that it contains a secret.
    fn scalar(&mut self, value: &Value, rule: Secrecy, is_command: bool) -> bool {
        let Some(span) = value.span() else { return false };
        let new = match value {
            Value::String(text) => {
                self.strings.push(span.clone());
                let new = without_secret(text.value(), rule, is_command);
                if new.is_none() {
                    self.clean.push((span, self.leaf(value)));
                    return rule >= Secrecy::Field && is_reference(text.value());
                }
                new.map(|new| Value::from(new).to_string())
            }
            Value::Integer(number) if rule >= Secrecy::Field && *number.value() != 0 => {
                Some("0".to_owned())
            }
            Value::Float(number) if rule >= Secrecy::Field && *number.value() != 0.0 => {
                Some("0.0".to_owned())
            }
            Value::Boolean(it) if rule == Secrecy::Everything && *it.value() => {
                Some("false".to_owned())
            }
            Value::Datetime(time) if rule == Secrecy::Everything => {
                let time = time.value();
                let date = time.date.map_or("", |_| "1970-01-01");
                let between = if time.date.is_some() && time.time.is_some() { "T" } else { "" };
                let clock = time.time.map_or("", |_| "00:00:00");
                let zone = time.offset.map_or("", |_| "Z");
                Some(format!("{date}{between}{clock}{zone}"))
            }
            _ => None,
        };
        match new {
            Some(new) if self.text.get(span.clone()) != Some(&new) => {
                self.edits.push((span, new));
                true
            }
            _ => false,
        }
    }

    fn leaf(&self, value: &Value) -> SecretLeaf {
        let text = match value.as_str() {
            Some(text) => text.to_owned(),
            None => value.span().and_then(|span| self.text.get(span)).unwrap_or("").to_owned(),
        };
        SecretLeaf {
            path: self.path.clone(),
            value: Zeroizing::new(text),
            is_text: value.is_str(),
            names: self.names.clone(),
        }
    }

    /// Replaces texts that are secret because of what they are assigned to.
    fn context(&mut self) {
        let hits = secrets::scan(self.text.as_bytes());
        self.clean.sort_by_key(|(range, _)| range.start);
        let mut done = BTreeSet::new();
        for hit in hits {
            let first = self.clean.partition_point(|(range, _)| range.end <= hit.range.start);
            let met = self.clean[first..].iter();
            for (range, leaf) in met.take_while(|(range, _)| range.start < hit.range.end) {
                let is_variable = leaf.path.last().is_some_and(|key| key.ends_with("_env"));
                if leaf.value.trim().is_empty()
                    || is_redacted(&leaf.value)
                    || is_variable
                    || leaf.is_reference()
                    || !done.insert(range.start)
                {
                    continue;
                }
                self.edits.push((range.clone(), format!("\"{PLACEHOLDER}\"")));
                self.leaves.push(leaf.clone());
            }
        }
    }

    /// Replaces secrets in comments; returns the number of these comments.
    fn comments(&mut self) -> usize {
        let text = self.text;
        self.strings.sort_by_key(|range| range.start);
        self.sections.sort_by_key(|(start, _)| *start);
        let inside = union_of(std::mem::take(&mut self.secret_ranges));
        let hits = secrets::scan(text.as_bytes());
        let mut commented = CommentReader::default();
        let mut count = 0;
        for range in comments_of(text, &self.strings) {
            let Some(comment) = text.get(range.clone()) else { continue };
            let section = self.sections.partition_point(|(start, _)| *start <= range.start);
            let rule = section.checked_sub(1).map_or(Secrecy::Looks, |at| self.sections[at].1);
            let before = inside.partition_point(|inside| inside.start <= range.start);
            let whole = before.checked_sub(1).is_some_and(|at| range.end <= inside[at].end);
            let first = hits.partition_point(|hit| hit.range.end <= range.start);
            let parts = hits[first..].iter().take_while(|hit| hit.range.start < range.end);
            let parts = parts.filter_map(|hit| {
                let start = hit.range.start.max(range.start + 1) - range.start;
                let end = hit.range.end.min(range.end) - range.start;
                (start < end).then(|| (start..end, PLACEHOLDER.to_owned()))
            });
            let cut = edited(comment, parts.collect(), &[]);
            let is_next = text[..range.start].trim_end_matches([' ', '\t']).ends_with('\n');
            let new = if whole { nothing_of(comment) } else { commented.line(&cut, rule, is_next) };
            if new != comment {
                self.edits.push((range, new));
                count += 1;
            }
        }
        count
    }
}

/// Sorts ranges, and joins those that overlap.
fn union_of(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut union: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match union.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => union.push(range),
        }
    }
    union
}

fn is_nested(value: &Value) -> bool {
    value.is_array() || value.is_inline_table()
}

/// Returns a comment of which nothing is left.
fn nothing_of(comment: &str) -> String {
    if comment.trim_matches(['#', ' ', '\t']).is_empty() {
        return comment.to_owned();
    }
    format!("# {PLACEHOLDER}")
}

/// Settings in comments, line by line.
#[derive(Default)]
struct CommentReader {
    /// How much is secret of the section that a comment began.
    rule: Option<Secrecy>,
    /// What ends a value that goes over several lines.
    open: Option<&'static str>,
}

impl CommentReader {
    /// Returns a comment without its secrets. `rule` says how much of the enclosing section is
    /// secret, `alone` whether nothing precedes the comment on its line.
    fn line(&mut self, comment: &str, rule: Secrecy, alone: bool) -> String {
        let body = comment.trim_start_matches(['#', ' ', '\t']);
        if !alone {
            self.open = None;
        }
        if let Some(end) = self.open {
            if body.contains(end) {
                self.open = None;
            }
            return nothing_of(comment);
        }
        if let Some(header) = body.trim().strip_prefix('[')
            && let Some(header) = header.strip_suffix(']')
            && let Ok(keys) = toml_edit::Key::parse(header.trim_matches(['[', ']']))
        {
            let keys: Vec<String> = keys.iter().map(|key| key.get().to_owned()).collect();
            let below =
                |rule, at: usize| rule_below(&keys[..at], rule, &keys[at], ItemShape::Section);
            self.rule = Some((0..keys.len()).fold(Secrecy::Looks, below));
        }
        if let Some(kept) = self.assignment(comment, body, self.rule.unwrap_or(rule)) {
            return kept;
        }
        let kept = patterns::ENCRYPTED.replace_all(comment, PLACEHOLDER);
        let kept = without_options(&kept);
        without_secret(&kept, Secrecy::Looks, false).unwrap_or(kept)
    }

    /// Returns a setting without its value, if that is secret.
    fn assignment(&mut self, comment: &str, body: &str, rule: Secrecy) -> Option<String> {
        let (key, value) = body.split_once('=')?;
        let keys = toml_edit::Key::parse(key.trim()).ok()?;
        let keys: Vec<String> = keys.iter().map(|key| key.get().to_owned()).collect();
        let value = value.trim();
        let last = if value.starts_with('{') { ItemShape::Flat } else { ItemShape::Value };
        let below = |rule, at: usize| {
            // The enclosing path does not matter: comments do not name agents.
            let shape = if at + 1 < keys.len() { ItemShape::Section } else { last };
            rule_below(&keys[..at], rule, &keys[at], shape)
        };
        let rule = (0..keys.len()).fold(rule, below);
        let bare = value.trim_matches(['"', '\'']);
        let is_plain = matches!(bare, "" | "true" | "false" | PLACEHOLDER | "[]" | "{}");
        let is_number = bare.parse::<f64>().is_ok();
        if rule == Secrecy::Looks
            || is_plain
            || is_reference(bare)
            || rule == Secrecy::Texts && is_number
        {
            return None;
        }
        self.open = [("\"\"\"", "\"\"\""), ("'''", "'''"), ("[", "]"), ("{", "}")]
            .into_iter()
            .find(|(start, _)| value.starts_with(start))
            .and_then(|(start, end)| (!value[start.len()..].contains(end)).then_some(end));
        let at = comment.find('=')?;
        Some(format!("{}= \"{PLACEHOLDER}\"", &comment[..at]))
    }
}

/// Finds the comments of a document, from `#` to the end of the line. `strings` are the ranges of
/// its texts, in order.
fn comments_of(text: &str, strings: &[Range<usize>]) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut comments = Vec::new();
    let mut strings = strings.iter().peekable();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        while strings.next_if(|string| string.start < at).is_some() {}
        if let Some(string) = strings.next_if(|string| string.start == at) {
            at = string.end.max(at + 1);
            continue;
        }
        match byte {
            b'#' => {
                let rest = &bytes[at..];
                let line = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                let end = at + line - usize::from(rest[..line].ends_with(b"\r"));
                comments.push(at..end);
                at += line;
            }
            // A key in quotes.
            b'"' | b'\'' => {
                at += 1;
                while let Some(inner) = bytes.get(at) {
                    at += 1;
                    match inner {
                        b'\\' if *byte == b'"' => at += 1,
                        inner if inner == byte => break,
                        _ => {}
                    }
                }
            }
            _ => at += 1,
        }
    }
    comments
}

#[cfg(test)]
mod tests;
