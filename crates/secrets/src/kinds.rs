//! The prefixes by which most kinds of secrets are known.

use std::sync::LazyLock;

use crate::shape::Alphabet;

/// Literals that have the same kind of body behind them.
#[derive(Debug)]
pub(crate) struct Prefix {
    pub(crate) kind: &'static str,
    /// The texts in front of the body, each in its own case.
    pub(crate) literals: Vec<&'static str>,
    /// What the body is made of.
    pub(crate) alphabet: Alphabet,
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// What else must hold of the body.
    pub(crate) shape: BodyShape,
    /// Whether the literal belongs to the secret; an address or a name does not.
    pub(crate) literal_is_secret: bool,
}

/// What must hold of a body beside its length and alphabet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyShape {
    /// A digit or a capital.
    Ordinary,
    /// More than words in lower case and short numbers.
    NotWords,
    /// Upper case, lower case and digits.
    AllThree,
    /// `22 . 43` characters.
    SendGrid,
    /// `14 . 64` characters.
    Airtable,
    /// A number, a slash and a token.
    DiscordWebhook,
    /// At least three parts with slashes between.
    Path,
    /// Groups with dashes between, the last ones of five.
    OnePassword,
    /// A number, an underscore and 32 capitals and digits.
    ClickUp,
    /// The id of an organisation, `!` and a token.
    Salesforce,
    /// Groups of 8, 4, 4, 4 and 12 digits.
    Uuid,
}

impl Prefix {
    /// Reads a line of the table.
    fn read(line: &'static str) -> Option<Self> {
        let mut columns = line.splitn(5, ' ');
        let (kind, alphabet) = (columns.next()?, Alphabet::of(columns.next()?));
        let (least, most) = columns.next()?.split_once("..")?;
        let shape = columns.next()?;
        let own = shape.strip_suffix(",behind");
        Some(Self {
            kind,
            literals: columns.next()?.split(',').collect(),
            alphabet,
            least: least.parse().ok()?,
            most: most.parse().ok()?,
            shape: BodyShape::of_word(own.unwrap_or(shape))?,
            literal_is_secret: own.is_none(),
        })
    }
}

impl BodyShape {
    fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "ordinary" => Self::Ordinary,
            "not-words" => Self::NotWords,
            "all-three" => Self::AllThree,
            "sendgrid" => Self::SendGrid,
            "airtable" => Self::Airtable,
            "discord-webhook" => Self::DiscordWebhook,
            "path" => Self::Path,
            "onepassword" => Self::OnePassword,
            "clickup" => Self::ClickUp,
            "salesforce" => Self::Salesforce,
            "uuid" => Self::Uuid,
            _ => return None,
        })
    }
}

/// Every prefix. One position may have several; the longest literal is the most specific.
pub(crate) static PREFIXES: LazyLock<Vec<Prefix>> = LazyLock::new(|| {
    let lines = include_str!("prefixes.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| Prefix::read(line).expect("every line of the table is complete")).collect()
});

#[cfg(test)]
pub(crate) mod tests;
