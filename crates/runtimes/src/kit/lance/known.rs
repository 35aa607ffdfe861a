//! Whether the descriptions in the files of a table say only what is known of it: its columns, and
//! no settings or notes of anybody.

use super::budget::Budget;
use super::bytes::{Bytes, index};
use super::manifest::{ManifestField, message_of};
use super::page::DataFile;
use super::protobuf::Message;
use super::{LanceError, read_description};
use crate::kit::Workspace;

/// The settings of a table that the library writes by itself begin with this.
const OWN_SETTINGS: &str = "lance.auto_cleanup.";

/// Returns whether every version, transaction and data file among these files of a table has only
/// these columns and no metadata, neither of the table nor of a column. `files` are their paths in
/// the store.
pub(crate) fn has_only_columns(
    store: &Workspace,
    files: &[&[u8]],
    columns: &[&str],
) -> Result<bool, LanceError> {
    for &path in files {
        let is_known = if path.ends_with(b".manifest") {
            is_known_manifest(&read_description(store, path)?, columns)?
        } else if path.ends_with(b".txn") {
            let bytes = read_description(store, path)?;
            is_known_transaction(&Message::parse(&bytes)?, columns)?
        } else if path.ends_with(b".lance") {
            let file = store.file(path)?;
            let budget = Budget::of_files(file.metadata()?.len());
            let description = DataFile::open(file, &budget)?.description()?;
            let description = Message::parse(&description)?;
            let schema = description.message(1)?.ok_or(LanceError::Damaged("description"))?;
            description.has_only(&[1])
                && schema.has_only(&[1])
                && are_known_columns(&schema, 1, columns)?
        } else {
            true
        };
        if !is_known {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A manifest may have columns, fragments, its time, the name of its transaction, its writer, its
/// format and settings.
fn is_known_manifest(bytes: &[u8], columns: &[&str]) -> Result<bool, LanceError> {
    let message = message_of(bytes)?;
    // A newer program also writes the transaction into the manifest.
    for start in message.numbers(21)? {
        let rest = bytes.get(index(start)?..).ok_or(LanceError::Damaged("manifest"))?;
        let mut rest = Bytes(rest);
        let length = rest.u32()? as usize;
        if !is_known_transaction(&Message::parse(rest.take(length)?)?, columns)? {
            return Ok(false);
        }
    }
    Ok(message.has_only(&[1, 2, 7, 12, 13, 15, 16])
        && are_known_columns(&message, 1, columns)?
        && are_own_settings(&message, 16)?)
}

/// A transaction may append rows, delete them, write the table anew, compact it, go back to a
/// version, set fragments aside and change rows. Any other may change columns or metadata.
fn is_known_transaction(message: &Message<'_>, columns: &[&str]) -> Result<bool, LanceError> {
    if !message.has_only(&[2, 100, 101, 102, 104, 106, 107, 108]) {
        return Ok(false);
    }
    for anew in message.all(102) {
        let anew = Message::parse(anew)?;
        let is_known = anew.has_only(&[1, 2, 4])
            && are_known_columns(&anew, 2, columns)?
            && are_own_settings(&anew, 4)?;
        if !is_known {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A column may have a name and a type.
fn are_known_columns(
    message: &Message<'_>,
    number: u64,
    columns: &[&str],
) -> Result<bool, LanceError> {
    for bytes in message.all(number) {
        let field = ManifestField::parse(bytes)?;
        let is_known = field.is_whole
            && columns.contains(&field.name.as_str())
            && Message::parse(bytes)?.has_only(&[2, 5]);
        if !is_known {
            return Ok(false);
        }
    }
    Ok(true)
}

fn are_own_settings(message: &Message<'_>, number: u64) -> Result<bool, LanceError> {
    for setting in message.all(number) {
        if !Message::parse(setting)?.text(1)?.starts_with(OWN_SETTINGS) {
            return Ok(false);
        }
    }
    Ok(true)
}
