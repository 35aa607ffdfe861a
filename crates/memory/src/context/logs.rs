//! Excerpts of the notes of today and yesterday, see [`DailyNotes::Excerpts`]: each file has a
//! limit, and all together have one. A runtime has its own way to quote them; here they are in our
//! frame.

use jiff::civil::Date;

use super::cut::{first, length};
use super::outdated::MarkedFiles;
use super::{ComposeRequest, DailyNotes, Fate, LogChoice, Part, PartPlace, readable};
use crate::frame::{Frame, frame};
use crate::hidden::hidden_count;
use crate::reading;
use crate::store::MarkdownStore;

/// How much of a file is read.
const READ_BYTES: usize = 16 << 10;
/// So much of it is shown.
const OF_ONE: usize = 1_200;
/// So much of all of them.
const OF_ALL: usize = 2_800;
/// How many files with a name of their own a day has at most.
const NAMED: usize = 4;

/// Returns the notes of today and yesterday.
pub(super) fn notes(site: &MarkdownStore, asked: &ComposeRequest) -> Vec<Part> {
    if asked.rules.notes != DailyNotes::Excerpts {
        return Vec::new();
    }
    let mut left = OF_ALL;
    let days = [Some(asked.today), asked.today.yesterday().ok()];
    let listed = fs_err::read_dir(site.root().join("memory")).into_iter().flatten().flatten();
    let listed: Vec<fs_err::DirEntry> = listed.collect();
    let paths: Vec<String> = days
        .into_iter()
        .flatten()
        .flat_map(|day| {
            // The log itself is shown whole where the caller wants it.
            let skipped = usize::from(asked.logs == LogChoice::Shown);
            of_day(site, &listed, day).into_iter().skip(skipped)
        })
        .collect();
    let may_be_shown = asked.session.may_recall();
    let shown = paths.iter().filter(|_| may_be_shown).map(String::as_str);
    let mut marks = MarkedFiles::read(site, asked.session, shown);
    let note = |path: String| {
        let part = if may_be_shown {
            note(site, &path, left, &mut marks)
        } else {
            Part::out(&path, Fate::Private)
        };
        left = match part.fate {
            Fate::NoRoom => 0,
            _ => left - part.included_chars,
        };
        Part { place: PartPlace::Notes, ..part }
    };
    paths.into_iter().map(note).collect()
}

/// Reads a file, as much of it as there is room for.
fn note(site: &MarkdownStore, path: &str, left: usize, marks: &mut MarkedFiles) -> Part {
    let text = match reading::read(site, path) {
        Ok(Some(file)) => marks.marked(path, file.text),
        Ok(None) => return Part::out(path, Fate::Absent),
        Err(why) => return Part::out(path, Fate::PassedOver(why)),
    };
    let read = within_bytes(&text, READ_BYTES).trim();
    if read.is_empty() {
        return Part::out(path, Fate::Empty);
    }
    let hidden = hidden_count(read);
    let read = readable(read);
    let total_chars = length(readable(&text).trim());
    let Some((content, limit)) = fitted(path, &shortened(&read, OF_ONE), left) else {
        return Part { total_chars, ..Part::out(path, Fate::NoRoom) };
    };
    let limit = limit.unwrap_or(OF_ONE);
    let cut = (total_chars > limit).then_some(Fate::Cut { limit, head: limit, tail: 0 });
    let fate = cut.unwrap_or(Fate::Whole);
    let included_chars = quoted_length(path, &content);
    Part { included_chars, total_chars, content, hidden, ..Part::out(path, fate) }
}

/// Returns the files of a day: the log, then those with a name of their own, the newest first.
fn of_day(site: &MarkdownStore, listed: &[fs_err::DirEntry], day: Date) -> Vec<String> {
    let mut named = Vec::new();
    let prefix = format!("{day}-");
    for one in listed {
        let Ok(name) = one.file_name().into_string() else { continue };
        let is_file = one.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && name.starts_with(&prefix) && name.ends_with(".md") {
            let changed = one.metadata().and_then(|metadata| metadata.modified()).ok();
            named.push((changed, name));
        }
    }
    named.sort();
    let named = named.into_iter().rev().take(NAMED).map(|(_, name)| format!("memory/{name}"));
    std::iter::once(site.daily(day)).chain(named).collect()
}

fn within_bytes(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

fn shortened(text: &str, limit: usize) -> String {
    let text = text.trim();
    if length(text) <= limit {
        return text.to_owned();
    }
    format!("{}\n...[truncated]...", first(text, limit))
}

/// Returns as much of a note as there is room for when it is quoted; says how much, where it is
/// less than all.
fn fitted(path: &str, note: &str, room: usize) -> Option<(String, Option<usize>)> {
    if quoted_length(path, note) <= room {
        return Some((note.to_owned(), None));
    }
    let (mut low, mut high, mut best) = (0, length(note), None);
    while low <= high {
        let middle = (low + high) / 2;
        let part = shortened(note, middle);
        if quoted_length(path, &part) <= room {
            (best, low) = (Some((part, Some(middle))), middle + 1);
        } else if middle == 0 {
            break;
        } else {
            high = middle - 1;
        }
    }
    best
}

/// Returns how long a note is when it is quoted.
fn quoted_length(path: &str, note: &str) -> usize {
    let out = Part { content: note.to_owned(), ..Part::out(path, Fate::Whole) };
    length(&frame(&[out.framed()], "")) - length(&Frame::new("").finish())
}
