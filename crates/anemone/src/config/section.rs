//! A section of the config that is read setting by setting: any other setting is unknown.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use toml_edit::{Item, TableLike};

use super::{ConfigProblem, Result};
use crate::nearest::Nearest;

/// Names by which people try to put a key into the config.
const KEYS: [&str; 6] = ["key", "api_key", "apikey", "api-key", "token", "secret"];

/// The folders that paths in the config refer to.
#[derive(Clone, Copy)]
pub(super) struct Folders<'a> {
    /// The folder of the config.
    pub config: &'a Path,
    pub home: &'a Path,
}

/// A section, while it is read.
pub(super) struct Section<'a> {
    /// What its settings begin with, such as `embedding.`.
    place: String,
    table: Option<&'a dyn TableLike>,
    /// The settings that were asked for.
    known: Vec<String>,
    folders: Folders<'a>,
}

impl<'a> Section<'a> {
    /// Begins with the whole file.
    pub(super) fn root(table: &'a dyn TableLike, folders: Folders<'a>) -> Self {
        Self { place: String::new(), table: Some(table), known: Vec::new(), folders }
    }

    fn take(&mut self, name: &str) -> Option<(String, &'a Item)> {
        self.known.push(name.to_owned());
        let item = self.table?.get(name)?;
        Some((format!("{}{name}", self.place), item))
    }

    /// Reads a section in this one; where it is not there, nothing in it is configured.
    pub(super) fn section(&mut self, name: &str) -> Result<Self> {
        let place = format!("{}{name}.", self.place);
        let table = match self.take(name) {
            None => None,
            Some((at, item)) => Some(
                item.as_table_like()
                    .ok_or_else(|| expected(&at, "a section", Some(&format!("[{at}]"))))?,
            ),
        };
        Ok(Self { place, table, known: Vec::new(), folders: self.folders })
    }

    /// Reads a section in this one, and refuses settings in it that are unknown.
    pub(super) fn within(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let mut section = self.section(name)?;
        read(&mut section)?;
        section.end()
    }

    /// Whether the config contains the section.
    pub(super) fn is_there(&self) -> bool {
        self.table.is_some()
    }

    /// Reads a setting with a custom reader.
    pub(super) fn read<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str, &Item) -> Result<T>,
    ) -> Result<Option<T>> {
        self.take(name).map(|(at, item)| read(&at, item)).transpose()
    }

    /// Reads a text.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>> {
        self.read(name, text)
    }

    /// Reads the name of a file: `~/x` is in the home folder, `x` beside the config.
    pub(super) fn file(&mut self, name: &str) -> Result<Option<PathBuf>> {
        let folders = self.folders;
        Ok(self.text(name)?.map(|text| match text.strip_prefix("~/") {
            Some(rest) => folders.home.join(rest),
            None => folders.config.join(text),
        }))
    }

    /// Reads the names of files and folders; an absolute path, or one in the home folder.
    pub(super) fn files(&mut self, name: &str) -> Result<Option<Vec<PathBuf>>> {
        let folders = self.folders;
        self.read(name, |at, item| {
            let wrong = || expected(at, "a list of paths", Some("[\"~/notes\"]"));
            let one = |value: &toml_edit::Value| {
                let text = value.as_str().filter(|text| !text.trim().is_empty())?;
                Some(match text.strip_prefix("~/") {
                    Some(rest) => folders.home.join(rest),
                    None => folders.config.join(text),
                })
            };
            let array = item.as_array().ok_or_else(wrong)?;
            array.iter().map(one).collect::<Option<Vec<_>>>().ok_or_else(wrong)
        })
    }

    /// Reads a number from 1 on.
    pub(super) fn count(&mut self, name: &str) -> Result<Option<usize>> {
        self.read(name, |at, item| {
            let number = item.as_integer().and_then(|integer| usize::try_from(integer).ok());
            number
                .filter(|number| *number > 0)
                .ok_or_else(|| expected(at, "a number from 1 on", None))
        })
    }

    /// Reads a number of anything that may be none at all.
    pub(super) fn amount<T: TryFrom<i64>>(&mut self, name: &str, into: &mut T) -> Result<()> {
        let read = self.read(name, |at, item| {
            let number = item.as_integer().and_then(|integer| T::try_from(integer).ok());
            number.ok_or_else(|| expected(at, "a number from 0 on", None))
        })?;
        if let Some(number) = read {
            *into = number;
        }
        Ok(())
    }

    /// Reads a share from 0 to 1.
    pub(super) fn share<T: FromStr>(&mut self, name: &str, into: &mut T) -> Result<()> {
        let read = self.read(name, |at, item| {
            let wrong = || expected(at, "a number from 0 to 1", None);
            let text = match (item.as_float(), item.as_integer()) {
                (Some(number), _) if (0.0..=1.0).contains(&number) => number.to_string(),
                (_, Some(number @ 0..=1)) => number.to_string(),
                _ => return Err(wrong()),
            };
            text.parse().map_err(|_| wrong())
        })?;
        if let Some(number) = read {
            *into = number;
        }
        Ok(())
    }

    /// Reads a share from 0 to 1, if the setting is present.
    pub(super) fn maybe_share(&mut self, name: &str, into: &mut Option<f64>) -> Result<()> {
        let mut share = f64::NAN;
        self.share(name, &mut share)?;
        *into = Some(share).filter(|share| !share.is_nan()).or(*into);
        Ok(())
    }

    /// Reads a number of anything, if the setting is present.
    pub(super) fn maybe_amount<T: TryFrom<i64>>(
        &mut self,
        name: &str,
        into: &mut Option<T>,
    ) -> Result<()> {
        let read = self.read(name, |at, item| {
            let number = item.as_integer().and_then(|integer| T::try_from(integer).ok());
            number.ok_or_else(|| expected(at, "a number from 0 on", None))
        })?;
        *into = read.or(into.take());
        Ok(())
    }

    /// Reads a boolean, if the setting is present.
    pub(super) fn maybe(&mut self, name: &str) -> Result<Option<bool>> {
        self.read(name, |at, item| {
            item.as_bool().ok_or_else(|| expected(at, "true or false", None))
        })
    }

    /// Reads whether something is so.
    pub(super) fn truth(&mut self, name: &str, into: &mut bool) -> Result<()> {
        *into = self.maybe(name)?.unwrap_or(*into);
        Ok(())
    }

    /// Refuses unknown settings, and suggests the one that was probably meant.
    pub(super) fn end(self) -> Result<()> {
        let Some(table) = self.table else { return Ok(()) };
        let unknown = table.iter().map(|(name, _)| name);
        let Some(name) =
            unknown.into_iter().find(|unknown| !self.known.iter().any(|one| one == unknown))
        else {
            return Ok(());
        };
        let place = &self.place;
        let has_key = self.known.iter().any(|value| value == "key_file");
        let setting = format!("{place}{name}");
        if has_key && KEYS.contains(&name.to_lowercase().as_str()) {
            return Err(ConfigProblem::KeyInConfig(setting));
        }
        let near = Nearest::among(name, self.known.iter().map(String::as_str));
        let nearest = near.first().map(|name| format!("{place}{name}"));
        Err(ConfigProblem::UnknownSetting { setting, nearest, known: self.known })
    }
}

pub(super) fn expected(
    setting: &str,
    expected: &'static str,
    example: Option<&str>,
) -> ConfigProblem {
    let (setting, example) = (setting.to_owned(), example.map(str::to_owned));
    ConfigProblem::WrongType { setting, expected, example }
}

pub(super) fn text(place: &str, item: &Item) -> Result<String> {
    let text = item.as_str().filter(|item| !item.trim().is_empty());
    text.map(str::to_owned).ok_or_else(|| expected(place, "a text", Some("it in quotes")))
}
