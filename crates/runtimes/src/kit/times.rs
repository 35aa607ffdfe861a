//! Times that people and runtimes write into names, headings and headers.
//!
//! A time without a zone is taken as UTC, so that the same file gives the same record on every
//! machine.

use std::fs::Metadata;
use std::sync::LazyLock;

use anemone_files::FileStat;
use anemone_format::Moment;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};

use crate::kit::Value;
use anemone_markdown::{Page, front_matter};

/// The built-in zones: the machine's own may differ.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Bytes of the name of a zone, at most.
const MAX_ZONE_BYTES: usize = 64;

/// Unix times from here on are in milliseconds; in seconds this would be the year 5138.
const FIRST_MILLIS: i64 = 100_000_000_000;

/// The name of a dated file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DailyName {
    /// The day.
    pub(crate) date: Date,
    /// The time of `YYYY-MM-DD-HHMM`.
    pub(crate) time: Option<Time>,
    /// What follows.
    pub(crate) slug: Option<String>,
}

/// A day, perhaps with a time, perhaps with an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DatedName {
    /// The day.
    pub(crate) date: Date,
    /// The time of that day.
    pub(crate) time: Option<Time>,
    /// Its offset from UTC, when one is written.
    pub(crate) offset: Option<Offset>,
}

/// What the runtime's session-memory hook writes at the top of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionHeader {
    /// When the session was saved; `None` if its time zone is unknown.
    pub(crate) at: Option<Moment>,
    /// The runtime's key of the conversation, such as `agent:main:main`.
    pub(crate) session_key: Option<String>,
    /// The id of the session.
    pub(crate) session_id: Option<String>,
    /// The channel it came through.
    pub(crate) source: Option<String>,
    /// Why the session ended.
    pub(crate) reason: Option<String>,
}

impl DatedName {
    /// Returns the instant; without a time it is midnight, without an offset it is in UTC.
    pub(crate) fn moment(self) -> Option<Moment> {
        let local = self.date.to_datetime(self.time.unwrap_or(Time::midnight()));
        let offset = self.offset.unwrap_or(Offset::UTC);
        offset.to_timestamp(local).ok().and_then(moment)
    }
}

/// Returns the moment of a time of day in UTC, such as `2026-01-15T10:30:00Z`.
pub(crate) fn at(date: Date, time: Time) -> Option<Moment> {
    DatedName { date, time: Some(time), offset: None }.moment()
}

/// Returns the midnight that opens a day in UTC, such as `2026-01-15T00:00:00Z`.
pub(crate) fn midnight(date: Date) -> Option<Moment> {
    at(date, Time::midnight())
}

/// Returns when a file was last modified, unless an archive cannot say it.
pub(crate) fn mtime_of(stat: &FileStat) -> Option<Moment> {
    let nanoseconds = i32::try_from(stat.modified.nanoseconds).ok()?;
    Timestamp::new(stat.modified.seconds, nanoseconds).ok().and_then(moment)
}

/// Returns when a file was last written.
pub(crate) fn modified(metadata: &Metadata) -> Option<Moment> {
    metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok()).and_then(moment)
}

/// Takes an instant in the years that a moment can express: years before our era cannot be written.
pub(crate) fn moment(instant: Timestamp) -> Option<Moment> {
    instant.to_string().parse().ok()
}

/// Takes milliseconds since 1970.
pub(crate) fn from_millis(millis: i64) -> Option<Moment> {
    Timestamp::from_millisecond(millis).ok().and_then(moment)
}

/// Takes milliseconds since 1970; zero and below are unset fields.
pub(crate) fn from_set_millis(millis: i64) -> Option<Moment> {
    from_millis(millis).filter(|_| millis > 0)
}

/// Reads a time in one of the formats that people write into SQLite. Without an offset it is in
/// UTC, as in SQLite's own functions.
pub(crate) fn in_cell(value: &Value) -> Option<Moment> {
    let text = match value {
        Value::Text(text) => text.trim(),
        Value::Integer(number) => return from_unix(*number),
        #[expect(clippy::cast_possible_truncation, reason = "a float out of range saturates")]
        Value::Real(number) => return from_unix(*number as i64),
        Value::Null | Value::OddText(_) | Value::Blob(_) | Value::TooLong(_) => return None,
    };
    if let Ok(moment) = text.parse() {
        return Some(moment);
    }
    if let Ok(number) = text.parse() {
        return from_unix(number);
    }
    let civil = text.parse::<DateTime>().or_else(|_| text.parse::<Date>().map(DateTime::from));
    moment(Offset::UTC.to_timestamp(civil.ok()?).ok()?)
}

fn from_unix(number: i64) -> Option<Moment> {
    let instant = if number >= FIRST_MILLIS {
        Timestamp::from_millisecond(number)
    } else {
        Timestamp::from_second(number)
    };
    // Zero and below are unset fields.
    instant.ok().filter(|_| number > 0).and_then(moment)
}

/// Returns the first moment of 1970, for when no better one is known.
pub(crate) fn epoch() -> Moment {
    Moment::from(Timestamp::UNIX_EPOCH)
}

/// Parses `YYYY-MM-DD`.
pub(crate) fn date(text: &str) -> Option<Date> {
    match leading_date(text)? {
        (date, "") => Some(date),
        _ => None,
    }
}

fn leading_date(text: &str) -> Option<(Date, &str)> {
    let (head, rest) = text.split_at_checked(10)?;
    let bytes = head.as_bytes();
    let dashes = bytes[4] == b'-' && bytes[7] == b'-';
    if !dashes || !bytes.iter().enumerate().all(|(at, b)| at == 4 || at == 7 || b.is_ascii_digit())
    {
        return None;
    }
    let year: i16 = head[..4].parse().ok().filter(|year| *year > 0)?;
    Some((Date::new(year, head[5..7].parse().ok()?, head[8..].parse().ok()?).ok()?, rest))
}

/// Reads the date in the name of a Markdown file: `YYYY-MM-DD.md`, `YYYY-MM-DD-HHMM.md` or
/// `YYYY-MM-DD-slug.md`.
pub(crate) fn date_in_name(path: &str) -> Option<DailyName> {
    let name = path.rsplit('/').next()?;
    let (stem, extension) = name.rsplit_once('.')?;
    if !extension.eq_ignore_ascii_case("md") {
        return None;
    }
    let (date, rest) = leading_date(stem)?;
    let slug = match rest {
        "" => return Some(DailyName { date, time: None, slug: None }),
        rest => rest.strip_prefix('-').filter(|slug| !slug.is_empty())?,
    };
    // The runtime numbers files of the same minute: `-1430`, `-1430-2`.
    let (digits, number) = slug.split_once('-').unwrap_or((slug, "0"));
    let numbered = number.len() <= 3 && number.bytes().all(|byte| byte.is_ascii_digit());
    match compact_time(digits).filter(|_| numbered && !number.is_empty()) {
        Some(time) => {
            let slug = slug.get(5..).map(str::to_owned);
            Some(DailyName { date, time: Some(time), slug })
        }
        None => Some(DailyName { date, time: None, slug: Some(slug.to_owned()) }),
    }
}

fn compact_time(digits: &str) -> Option<Time> {
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Time::new(digits[..2].parse().ok()?, digits[2..].parse().ok()?, 0, 0).ok()
}

/// Words before a time of day.
const WORDS_BEFORE_TIME: &[&str] = &[
    "ab", "alas", "alle", "around", "as", "at", "from", "gegen", "kello", "kl", "kl.", "las",
    "lúc", "o", "om", "pukul", "saat", "since", "um", "until", "vers", "à", "às", "в",
];
/// Words before two numbers with a colon that are no time of day: ratios, scores, and verses.
const WORDS_BEFORE_RATIO: &[&str] = &[
    "acts",
    "aspect",
    "ergebnis",
    "exodus",
    "genesis",
    "maßstab",
    "proverbs",
    "psalm",
    "psalms",
    "rapport",
    "ratio",
    "relación",
    "resultado",
    "result",
    "romans",
    "scale",
    "score",
    "spielstand",
    "stand",
    "sura",
    "surah",
    "verhältnis",
    "verse",
    "vers.",
    "v.",
    "échelle",
    "比",
];
/// What says before an hour, in writing without spaces, which half of the day it is in.
const HALVES: &[(&str, i8)] = &[
    ("上午", 0),
    ("下午", 12),
    ("早上", 0),
    ("凌晨", 0),
    ("中午", 12),
    ("晚上", 12),
    ("午前", 0),
    ("午後", 12),
    ("오전", 0),
    ("오후", 12),
    ("上晝", 0),
    ("下晝", 12),
];

/// A time of day at the beginning of a text.
struct WrittenClock<'a> {
    time: Time,
    /// Whether two numbers alone make it: a ratio looks the same.
    is_bare: bool,
    /// Whether the hour has two digits.
    is_padded: bool,
    /// What follows.
    rest: &'a str,
}

/// Finds the time of day that a heading of a log states, with its offset or zone: `10:30 +02:00`,
/// `Session — 10:30 AM`, `9am`, `10.30 Uhr`, `下午3点`. Two numbers with a colon count where a person
/// puts a time: first, last, behind a dash or a word such as `at`, or in brackets.
pub(crate) fn clock_in_heading(date: Date, heading: &str) -> Option<DatedName> {
    let starts = |(at, c): (usize, char)| {
        let is_half = HALVES.iter().any(|(half, _)| heading[at..].starts_with(half));
        let in_number = heading[..at].ends_with(|c: char| c.is_ascii_digit());
        (is_half || (c.is_ascii_digit() && !in_number)).then_some(at)
    };
    heading.char_indices().filter_map(starts).find_map(|at| {
        let (before, from) = heading.split_at(at);
        let clock = written_clock(from)?;
        let local = date.to_datetime(clock.time);
        let is_west = is_offset_to_the_west(clock.rest, clock.time);
        let (offset, rest) = offset(clock.rest, local, is_west).unwrap_or((None, clock.rest));
        let is_last = rest.trim_matches(|c: char| !c.is_alphanumeric()).is_empty();
        let counts = stands_before_time(before)
            || (may_precede_time(before) && !clock.is_bare)
            || (before.ends_with(' ') && is_last && clock.is_padded && !is_ratio(before));
        counts.then_some(DatedName { date, time: Some(clock.time), offset })
    })
}

/// Whether a minus sign behind a time of day begins an offset, and not the end of a period: no period
/// ends before it begins, and offsets are those of a whole or a half hour up to twelve.
fn is_offset_to_the_west(rest: &str, time: Time) -> bool {
    let Some(rest) = rest.trim_start().strip_prefix(['-', '\u{2212}']) else { return false };
    let Some((hours, rest)) = two_digits(rest) else { return false };
    let minutes = two_digits(rest.strip_prefix(':').unwrap_or(rest)).map(|(minutes, _)| minutes);
    let is_offset = hours <= 12 && matches!(minutes, Some(0 | 30));
    is_offset && (hours, minutes.unwrap_or(0)) < (time.hour(), time.minute())
}

/// Whether a time of day is expected behind a text.
fn stands_before_time(before: &str) -> bool {
    let trimmed = before.trim_end();
    let is_apart = trimmed.len() < before.len();
    let Some(last) = trimmed.chars().next_back() else { return true };
    let word = trimmed.rsplit(char::is_whitespace).next().unwrap_or_default().to_lowercase();
    match last {
        '—' | '–' | '|' | '·' | '•' | '(' | '[' | '（' | '【' | '「' | '@' | '~' | '→' => {
            !is_ratio(before)
        }
        '-' | ',' | ':' | ';' => is_apart && !is_ratio(before),
        'T' | 't' if !is_apart => may_precede_time(before),
        '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => !is_ratio(before),
        _ => {
            is_apart && (WORDS_BEFORE_TIME.contains(&word.as_str()) || self::date(&word).is_some())
        }
    }
}

/// Whether two numbers behind a text are no time of day.
fn is_ratio(before: &str) -> bool {
    let is_part = |c: char| c.is_whitespace() || "-—–,:;([（".contains(c);
    let word = before.trim_end_matches(is_part).rsplit(is_part).next().unwrap_or_default();
    WORDS_BEFORE_RATIO.contains(&word.to_lowercase().as_str())
}

fn written_clock(text: &str) -> Option<WrittenClock<'_>> {
    let half = HALVES
        .iter()
        .find_map(|(half, hours)| Some((*hours, text.strip_prefix(half)?.trim_start())));
    let (half, text) = half.map_or((None, text), |(hours, rest)| (Some(hours), rest));
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, after) = text.split_at_checked(digits).filter(|_| (1..=2).contains(&digits))?;
    let hour: i8 = number.parse().ok()?;
    let hour_of = |hour: i8| match half {
        Some(hours) => (1..=12).contains(&hour).then_some(hour % 12 + hours),
        None => Some(hour),
    };
    let spaced = after.strip_prefix(' ').unwrap_or(after);
    let (hour, minute, second, rest, is_bare) = if let Some((minute, rest)) =
        after.strip_prefix(':').and_then(two_digits)
    {
        let seconds = rest.strip_prefix(':').and_then(two_digits);
        let (second, rest) = seconds.unwrap_or((0, rest));
        let twelve = twelve_hours(hour, rest)?;
        let (rest, has_half) = after_half(rest).map_or((rest, false), |rest| (rest, true));
        (hour_of(twelve)?, minute, second, rest, !has_half && half.is_none())
    } else if let Some(rest) = after_half(after) {
        (twelve_hours(hour, after)?, 0, 0, rest, false)
    } else if let Some(rest) = spaced.strip_prefix(['点', '點', '時', '时', '시']) {
        let minutes = rest.trim_start().bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = rest.trim_start().split_at(minutes);
        let minute = after.strip_prefix(['\u{5206}', '\u{bd84}']).and(number.parse().ok());
        let minute = minute.or(rest.starts_with('半').then_some(30)).unwrap_or(0);
        (hour_of(hour)?, minute, 0, "", false)
    } else if let Some(rest) = after_word(spaced, "uhr") {
        (hour, 0, 0, rest, false)
    } else {
        let is_french = after.starts_with('h');
        let (minute, rest) = two_digits(after.strip_prefix(['.', 'h'])?)?;
        let rest =
            if is_french { after_word(rest, "")? } else { after_word(rest.trim_start(), "uhr")? };
        (hour, minute, 0, rest, false)
    };
    let time = Time::new(hour, minute, second, 0).ok()?;
    Some(WrittenClock { time, is_bare, is_padded: digits == 2, rest })
}

/// Returns what follows `AM` or `PM`, in any of its spellings.
fn after_half(text: &str) -> Option<&str> {
    let text = text.trim_start();
    ["a.m.", "p.m.", "am", "pm"].iter().find_map(|half| after_word(text, half))
}

/// Returns what follows a word in any case.
fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(word.len())?;
    let ends = !rest.starts_with(char::is_alphanumeric);
    (head.eq_ignore_ascii_case(word) && ends).then_some(rest)
}

/// Finds the first time of day in a heading: `10:30 AM`, `14:30`, `[09:05]`, `10:30:15`.
pub(crate) fn time_in_heading(heading: &str) -> Option<Time> {
    let bytes = heading.as_bytes();
    memchr::memchr_iter(b':', bytes).find_map(|colon| {
        let hours = bytes[..colon].iter().rev().take(3).take_while(|b| b.is_ascii_digit()).count();
        let start = colon - hours;
        if hours == 0 || hours > 2 || !may_precede_time(&heading[..start]) {
            return None;
        }
        let (minute, mut rest) = two_digits(&heading[colon + 1..])?;
        let mut second = 0;
        if let Some((value, after)) = rest.strip_prefix(':').and_then(two_digits) {
            (second, rest) = (value, after);
        }
        let hour = twelve_hours(heading[start..colon].parse().ok()?, rest)?;
        Time::new(hour, minute, second, 0).ok()
    })
}

fn may_precede_time(before: &str) -> bool {
    let mut chars = before.chars().rev();
    match chars.next() {
        // The T of `2026-02-03T10:30`.
        Some('T' | 't') => chars.next().is_some_and(|c| c.is_ascii_digit()),
        Some(c) => !(c.is_ascii_alphanumeric() || matches!(c, ':' | '.' | ',' | '_')),
        None => true,
    }
}

fn two_digits(text: &str) -> Option<(i8, &str)> {
    let (digits, rest) = text.split_at_checked(2)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((digits.parse().ok()?, rest))
}

/// Returns the hour of the day, given what follows the minutes; `None` when it is not a time.
fn twelve_hours(hour: i8, after: &str) -> Option<i8> {
    // Programs put a narrow no-break space before AM.
    let word = after.trim_start();
    let half: String = word.chars().filter(|c| *c != '.').take(3).collect();
    let half = half.to_ascii_lowercase();
    let ends = !half.chars().nth(2).is_some_and(|c| c.is_ascii_alphanumeric());
    if ends && let Some(half @ ("am" | "pm")) = half.get(..2) {
        let noon = if half == "pm" { 12 } else { 0 };
        return (1..=12).contains(&hour).then_some(hour % 12 + noon);
    }
    match after.chars().next() {
        // More digits or letters: a version, an address, a ratio.
        Some(c) if c.is_ascii_alphanumeric() || c == ':' => (c == 'Z' || c == 'z').then_some(hour),
        _ => Some(hour),
    }
}

/// Finds the first full date in a heading, with the time that follows it.
pub(crate) fn moment_in_heading(heading: &str) -> Option<DatedName> {
    memchr::memchr_iter(b'-', heading.as_bytes()).find_map(|dash| {
        let start = dash.checked_sub(4)?;
        let before = heading.get(..start)?.chars().next_back();
        if before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '-') {
            return None;
        }
        dated(heading.get(start..)?)
    })
}

/// Reads a text that begins with a date.
fn dated(text: &str) -> Option<DatedName> {
    let (date, rest) = leading_date(text)?;
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Some(exact) = timestamp(text) {
        return Some(exact);
    }
    // Searched with its T, which distinguishes a time from a word.
    let time = time_in_heading(&text[9..]);
    Some(DatedName { date, time, offset: None })
}

/// Finds the full timestamps in a text, in order: `2026-03-01T10:00:00Z`,
/// `2026-03-01 10:00 Europe/Berlin`. A date or a time alone is none, nor is a part of a longer word,
/// such as the name of a file.
pub(crate) fn timestamps(text: &str) -> impl Iterator<Item = DatedName> {
    memchr::memchr_iter(b':', text.as_bytes()).filter_map(|colon| {
        let start = colon.checked_sub("2026-03-01T10".len())?;
        let (before, from) = text.split_at_checked(start)?;
        let in_word = |c: char| c.is_ascii_alphanumeric() || "-_/\\.:=?&%@#+".contains(c);
        if before.ends_with(in_word) { None } else { timestamp(from) }
    })
}

/// Reads a text that begins with a full timestamp: a date, `T` or a space, a time of day, and the
/// offset or the zone that may follow.
fn timestamp(text: &str) -> Option<DatedName> {
    let (date, rest) = leading_date(text)?;
    let separator = rest.chars().next().filter(|c| matches!(c, 'T' | 't' | ' '))?;
    let (hour, rest) = two_digits(&rest[1..])?;
    let (minute, mut rest) = two_digits(rest.strip_prefix(':')?)?;
    let (mut second, mut nanosecond) = (0, 0);
    let mut to_the_second = false;
    if let Some((value, after)) = rest.strip_prefix(':').and_then(two_digits) {
        // A leap second becomes the one before it; beyond that there are none.
        (second, rest, to_the_second) = (if value == 60 { 59 } else { value }, after, true);
        if let Some((value, after)) = fraction(rest) {
            (nanosecond, rest) = (value, after);
        }
    }
    let hour = twelve_hours(hour, rest)?;
    let local = date.to_datetime(Time::new(hour, minute, second, nanosecond).ok()?);
    // `10:00-11:00` after a space is a span of time.
    let may_be_west = to_the_second || separator != ' ';
    let (offset, rest) = offset(rest, local, may_be_west)?;
    let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/');
    let is_part = rest.starts_with(in_word)
        || rest.strip_prefix(['.', '-']).is_some_and(|rest| rest.starts_with(in_word));
    let spans = !may_be_west && rest.starts_with('-');
    (!is_part || spans).then_some(DatedName { date, time: Some(local.time()), offset })
}

/// Reads the fraction of a second, to the nanosecond.
fn fraction(text: &str) -> Option<(i32, &str)> {
    let rest = text.strip_prefix(['.', ','])?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let read = &rest[..digits.min(9)];
    let scale = 10_i32.pow(u32::try_from(9 - read.len()).ok()?);
    Some((read.parse::<i32>().ok()? * scale, &rest[digits..]))
}

/// Reads the offset or the zone of a time; `None` if it is one that does not exist.
fn offset(text: &str, local: DateTime, may_be_west: bool) -> Option<(Option<Offset>, &str)> {
    if let Some(rest) = text.strip_prefix(['Z', 'z']) {
        return Some((Some(Offset::UTC), rest));
    }
    let bare = text.strip_prefix(' ').unwrap_or(text);
    let sign = match bare.chars().next() {
        Some('+') => 1,
        Some('-' | '\u{2212}') if may_be_west => -1,
        _ => 0,
    };
    let after_sign = bare.trim_start_matches(['+', '-', '\u{2212}']);
    if sign != 0
        && let Some((hours, rest)) = two_digits(after_sign)
    {
        let minutes = rest.strip_prefix(':').unwrap_or(rest);
        let (minutes, rest) = two_digits(minutes).unwrap_or((0, rest));
        let seconds = sign * (i32::from(hours) * 60 + i32::from(minutes)) * 60;
        let offset = Offset::from_seconds(seconds).ok().filter(|_| hours < 24 && minutes < 60)?;
        return Some((Some(offset), after_zone_in_brackets(rest)));
    }
    let bracketed = in_brackets(text);
    let end = bare.find(|c: char| !(c.is_ascii_alphanumeric() || "/_+-".contains(c)));
    let (name, rest) = bracketed.unwrap_or_else(|| bare.split_at(end.unwrap_or(bare.len())));
    let zone = match name {
        "UTC" | "GMT" | "Z" => TimeZone::UTC,
        // Names without a slash are words too: `Cuba`, `EST`.
        name if name.contains('/') && name.len() <= MAX_ZONE_BYTES => match ZONES.get(name) {
            Ok(zone) => zone,
            Err(_) => return Some((None, text)),
        },
        _ => return Some((None, text)),
    };
    let at = zone.to_ambiguous_timestamp(local).compatible().ok()?;
    Some((Some(zone.to_offset(at)), rest))
}

/// Skips the name of a zone behind its offset: `+01:00[Europe/Berlin]`.
fn after_zone_in_brackets(text: &str) -> &str {
    in_brackets(text).map_or(text, |(_, rest)| rest)
}

/// Splits a text that begins with the name of a zone in brackets. A bracket that closes far away is
/// not looked for, because a hostile text may open very many.
fn in_brackets(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('[')?;
    let end = rest.bytes().take(MAX_ZONE_BYTES).position(|byte| byte == b']')?;
    Some((&rest[..end], &rest[end + 1..]))
}

/// Reads the header of a session-memory file: `# Session: 2026-01-30 14:30:00 UTC` and the lines
/// below it.
pub(crate) fn session_header(page: &Page<'_>) -> Option<SessionHeader> {
    let at = page.title()?.strip_prefix("Session:")?.trim();
    let mut header = SessionHeader { at: zoned(at), ..SessionHeader::default() };
    for field in page.fields(page.preamble()) {
        let value = Some(field.value.to_owned());
        match field.label.to_ascii_lowercase().as_str() {
            "session key" => header.session_key = value,
            "session id" => header.session_id = value,
            "source" => header.source = value,
            "reason" => header.reason = value,
            _ => {}
        }
    }
    Some(header)
}

/// Reads `2026-01-30 14:30:00 America/New_York`.
fn zoned(text: &str) -> Option<Moment> {
    let mut words = text.split_whitespace();
    let day = date(words.next()?)?;
    let time = words.next()?;
    let zone = words.next().unwrap_or("UTC");
    if words.next().is_some() || !matches!(time.len(), 5 | 8) {
        return None;
    }
    let local = day.to_datetime(time_in_heading(time)?);
    let zone = match zone {
        "UTC" | "GMT" | "Z" => TimeZone::UTC,
        name => ZONES.get(name).ok()?,
    };
    moment(zone.to_ambiguous_timestamp(local).compatible().ok()?)
}

/// Reads `date:`, else `created:`, from front matter.
pub(crate) fn front_matter_date(text: &str) -> Option<DatedName> {
    let matter = &text[front_matter(text)?];
    ["date", "created"].iter().find_map(|key| {
        matter.split(['\n', '\r']).find_map(|line| {
            let value = line.strip_prefix(key)?.trim_start().strip_prefix(':')?;
            dated(value.trim().trim_matches(['"', '\'']))
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clock(hour: i8, minute: i8) -> Time {
        Time::constant(hour, minute, 0, 0)
    }

    #[test]
    fn dated_names_are_read() {
        let name = |path| date_in_name(path).map(|one| (one.date.to_string(), one.time, one.slug));
        let day = "2026-01-15".to_owned();
        let slug = |text: &str| Some(text.to_owned());
        for (path, expected) in [
            ("memory/2026-01-15.md", (None, None)),
            ("memory/topics/deep/2026-01-15.MD", (None, None)),
            ("2026-01-15-memory-system-research.md", (None, slug("memory-system-research"))),
            ("memory/2026-01-15-1430.md", (Some(clock(14, 30)), None)),
            ("memory/2026-01-15-1430-2.md", (Some(clock(14, 30)), slug("2"))),
            ("memory/2026-01-15-2025-review.md", (None, slug("2025-review"))),
            ("memory/2026-01-15-9999.md", (None, slug("9999"))),
            ("memory/2026-01-15-会議.md", (None, slug("会議"))),
            ("memory/2026-01-15-a.b.md", (None, slug("a.b"))),
        ] {
            assert_eq!(name(path), Some((day.clone(), expected.0, expected.1)), "{path}");
        }
        for path in [
            "memory/2026-02-30.md",
            "memory/2026-13-01.md",
            "memory/2026-1-15.md",
            "memory/20260115.md",
            "memory/2026-01-15.txt",
            "memory/2026-01-15",
            "memory/2026-01-15-.md",
            "memory/2026-01-15x.md",
            "memory/x-2026-01-15.md",
            "memory/2026-01-15.md/x.md",
            "memory/0000-01-01.md",
            "MEMORY.md",
            "会会会会.md",
            "",
        ] {
            assert_eq!(date_in_name(path), None, "{path}");
        }
    }

    #[test]
    fn times_in_headings_are_read() {
        for (heading, expected) in [
            ("Session — 10:30 AM", (10, 30)),
            ("Session — 10:30 AM 8", (10, 30)),
            ("Session — 2:15 PM", (14, 15)),
            ("2:15pm", (14, 15)),
            ("2:15\u{202f}PM", (14, 15)),
            ("2:15 p.m.", (14, 15)),
            ("12:00 AM", (0, 0)),
            ("12:05 PM", (12, 5)),
            ("14:30", (14, 30)),
            ("[09:05] x", (9, 5)),
            ("会議 10:30開始", (10, 30)),
            ("10:30 America/New_York", (10, 30)),
            ("ratio 16:9, at 08:15", (8, 15)),
            ("2026-02-03T10:30Z", (10, 30)),
            ("10:30–11:45", (10, 30)),
        ] {
            assert_eq!(time_in_heading(heading), Some(clock(expected.0, expected.1)), "{heading}");
        }
        assert_eq!(time_in_heading("10:30:15"), Some(Time::constant(10, 30, 15, 0)));
        for heading in [
            "",
            "1:2",
            "16:9 display",
            "25:00",
            "10:60",
            "100:30",
            "10:305",
            "a10:30",
            "v1.2:30",
            "13:30 PM",
            "0:30 AM",
            "::1:22:33:44",
            "host:8080",
            "10:3",
            "Note: 30",
            "10:30x",
            "é:é",
        ] {
            assert_eq!(time_in_heading(heading), None, "{heading}");
        }
    }

    #[test]
    fn a_heading_of_a_log_states_a_time_where_a_person_puts_one() {
        let date = Date::constant(2026, 7, 15);
        let read = |heading: &str| {
            let moment = clock_in_heading(date, heading)?.moment()?.to_string();
            moment.strip_prefix("2026-07-15T")?.strip_suffix(":00Z").map(str::to_owned)
        };
        for (heading, expected) in [
            ("10:30 +02:00", "08:30"),
            ("10:30 -08:00", "18:30"),
            ("10:30-08:00", "18:30"),
            ("10:30 -11:00", "10:30"),
            ("10:30 Europe/Berlin", "08:30"),
            ("10:30Z", "10:30"),
            ("10:30-11:45", "10:30"),
            ("Session — 2:15 PM 8", "14:15"),
            ("Standup 09:15", "09:15"),
            ("Standup (9:15)", "09:15"),
            ("ratio 16:9, at 08:15", "08:15"),
            ("Ruf um 9:05 an", "09:05"),
            ("Cita a las 8:05 con Ana", "08:05"),
            ("会議 10:30開始", "10:30"),
            ("2026-07-15 10:30 call", "10:30"),
            ("2026-07-15T10:30", "10:30"),
            ("9am", "09:00"),
            ("Tea at 12 a.m. sharp", "00:00"),
            ("10.30 Uhr", "10:30"),
            ("Anruf 9 Uhr", "09:00"),
            ("Rendez-vous 10h30", "10:30"),
            ("下午3点", "15:00"),
            ("下午3点半", "15:30"),
            ("会議 午前9時05分", "09:05"),
            ("오후 3시 회의", "15:00"),
        ] {
            assert_eq!(read(heading).as_deref(), Some(expected), "{heading}");
        }
        for heading in [
            "Ratio 16:09",
            "Score: 13:10",
            "Score 3:10 win",
            "Matthew 5:30",
            "Psalm 23:10",
            "https://x.y:8080/12:30",
            "build 12:34 failed twice",
            "Version 10.30 notes",
            "Uhr 10.30",
            "3 points",
            "90am",
            "a9am",
        ] {
            assert_eq!(clock_in_heading(date, heading), None, "{heading}");
        }
    }

    #[test]
    fn dates_in_headings_are_read() {
        let read = |heading| Some(moment_in_heading(heading)?.moment()?.to_string());
        for (heading, expected) in [
            ("2026-02-03 — call", "2026-02-03T00:00:00Z"),
            ("Promoted From Short-Term Memory (2026-02-03)", "2026-02-03T00:00:00Z"),
            ("Call 2026-02-03 at 4:05 PM", "2026-02-03T16:05:00Z"),
            ("2026-02-03T10:30:00Z", "2026-02-03T10:30:00Z"),
            ("(2026-02-03T10:30:00+02:00)", "2026-02-03T08:30:00Z"),
            ("2026-02-03 10:30", "2026-02-03T10:30:00Z"),
            ("2026-02-03 10:30:00-01:30 x", "2026-02-03T12:00:00Z"),
            ("2026-02-03T10:30", "2026-02-03T10:30:00Z"),
            ("会議 2026-02-03", "2026-02-03T00:00:00Z"),
            // New York is five hours behind in winter.
            ("2026-02-03 10:30:00 America/New_York", "2026-02-03T15:30:00Z"),
        ] {
            assert_eq!(read(heading).as_deref(), Some(expected), "{heading}");
        }
        for heading in ["", "2026-02-30", "12026-02-03", "2026-02-031", "a-b", "—-—", "2026-02"]
        {
            assert_eq!(moment_in_heading(heading), None, "{heading}");
        }
    }

    #[test]
    fn full_timestamps_are_found_in_texts() {
        let read = |text: &str| {
            timestamps(text).filter_map(|at| Some(at.moment()?.to_string())).collect::<Vec<_>>()
        };
        for (text, expected) in [
            ("On 2026-03-01T10:00:00Z we met.", "2026-03-01T10:00:00Z"),
            ("(2026-03-01T10:00:00+02:00)", "2026-03-01T08:00:00Z"),
            ("at 2026-03-01T10:00:00.25-0130, then", "2026-03-01T11:30:00.25Z"),
            ("2026-03-01t10:00:00,123456789999z", "2026-03-01T10:00:00.123456789Z"),
            ("2026-03-01 10:00", "2026-03-01T10:00:00Z"),
            ("2026-03-01 10:00-11:30", "2026-03-01T10:00:00Z"),
            ("2026-03-01T10:00-05:00", "2026-03-01T15:00:00Z"),
            ("2026-03-01 10:00 PM", "2026-03-01T22:00:00Z"),
            // Berlin is an hour ahead in winter, two in summer.
            ("2026-03-01 10:00 Europe/Berlin.", "2026-03-01T09:00:00Z"),
            ("2026-07-01T10:00:00[Europe/Berlin]", "2026-07-01T08:00:00Z"),
            ("2026-07-01T10:00:00+02:00[Europe/Berlin]", "2026-07-01T08:00:00Z"),
            ("2026-03-01 10:00 and/or later", "2026-03-01T10:00:00Z"),
            ("会議2026-03-01T10:00:00Z。", "2026-03-01T10:00:00Z"),
            ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
            ("2026-03-01 10:00:00 +0200", "2026-03-01T08:00:00Z"),
        ] {
            assert_eq!(read(text), [expected], "{text}");
        }
        assert_eq!(
            read("2026-03-01T10:00Z, 2026-03-02T10:00Z"),
            ["2026-03-01T10:00:00Z", "2026-03-02T10:00:00Z"]
        );
        for text in [
            "",
            "2026-03-01",
            "10:00",
            "2026-03-01, 10:00",
            "2026-02-30T10:00:00Z",
            "2026-03-01T24:00:00Z",
            "2026-03-01T10:60:00Z",
            "2026-03-01T10:00:61Z",
            "2026-03-01T10:00:00+25:00",
            "log-2026-03-01T10:00:00Z",
            "/var/2026-03-01T10:00:00Z",
            "2026-03-01T10:00:00Z.json",
            "2026-03-01T10:00:00Zulu",
            "v2026-03-01T10:00",
            "12026-03-01T10:00",
        ] {
            assert_eq!(read(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn session_headers_are_read() {
        let text = "# Session: 2026-01-30 14:30:00 UTC\n\n- **Session Key**: agent:main:main\n- **Session ID**: abc123def456\n- **Source**: telegram\n\n## Conversation Summary\n\n- **Session ID**: not this\n";
        let header = session_header(&Page::parse(text)).unwrap();
        assert_eq!(header.at.unwrap().as_str(), "2026-01-30T14:30:00Z");
        assert_eq!(header.session_key.as_deref(), Some("agent:main:main"));
        assert_eq!(header.session_id.as_deref(), Some("abc123def456"));
        assert_eq!(header.source.as_deref(), Some("telegram"));
        let at = |text: &str| {
            let title = format!("# Session: {text}\n\n- **Reason**: idle\n");
            let header = session_header(&Page::parse(&title)).unwrap();
            assert_eq!(header.reason.as_deref(), Some("idle"));
            Some(header.at?.to_string())
        };
        // New York is five hours behind in winter, four in summer.
        assert_eq!(at("2026-01-16 14:30:00 America/New_York").unwrap(), "2026-01-16T19:30:00Z");
        assert_eq!(at("2026-07-16 14:30:00 America/New_York").unwrap(), "2026-07-16T18:30:00Z");
        assert_eq!(at("2026-01-16 14:30:00 Mars/Olympus"), None);
        assert_eq!(at("2026-01-16 14:30:00 America/New York"), None);
        assert_eq!(at("soon"), None);
        assert!(session_header(&Page::parse("# Notes\n")).is_none());
        assert!(
            session_header(&Page::parse("```\n# Session: 2026-01-30 14:30:00 UTC\n```\n"))
                .is_none()
        );
    }

    #[test]
    fn front_matter_dates_are_read() {
        let read = |text: &str| Some(front_matter_date(text)?.moment()?.to_string());
        for (text, expected) in [
            ("---\ntitle: x\ndate: 2025-12-24\ntags: [a, b]\n---\n", "2025-12-24T00:00:00Z"),
            ("---\r\ndate: \"2025-12-24\"\r\n---\r\n", "2025-12-24T00:00:00Z"),
            ("\u{feff}---\ncreated: 2025-12-24T10:00:00.5+01:00\n---\n", "2025-12-24T09:00:00.5Z"),
            ("---\ncreated: 2024-01-01\ndate: 2025-12-24 08:00\n---\n", "2025-12-24T08:00:00Z"),
        ] {
            assert_eq!(read(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "date: 2025-12-24\n",
            "\n---\ndate: 2025-12-24\n---\n",
            "---\ntitle: x\n  date: 2025-12-24\n---\n",
            "---\ndate: tomorrow\n---\n",
            "---\ndate: 2025-12-24\n",
            "---\ndated: 2025-12-24\n---\n",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn moments_are_written_in_utc() {
        let day = Date::constant(2026, 1, 15);
        assert_eq!(midnight(day).unwrap().as_str(), "2026-01-15T00:00:00Z");
        assert_eq!(at(day, clock(10, 30)).unwrap().as_str(), "2026-01-15T10:30:00Z");
        assert_eq!(at(Date::MIN, clock(0, 0)), None, "a moment has no years before Christ");
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC{0,40}|[0-9T:+.Z -]{0,40}|2026-0[0-9]-[0-9:T+Zé -]{0,20}") {
            drop((time_in_heading(&text), moment_in_heading(&text).map(DatedName::moment)));
            drop((date_in_name(&format!("{text}.md")), zoned(&text)));
            timestamps(&format!("2026-03-01T10:00{text}")).map(DatedName::moment).count();
            drop(front_matter_date(&format!("---\ndate: {text}\n---\n")).map(DatedName::moment));
            drop(session_header(&Page::parse(&format!("# Session: {text}\n"))));
        }

        #[test]
        fn every_time_of_day_is_read_back(hour in 0_i8..24, minute in 0_i8..60) {
            let time = clock(hour, minute);
            let half = if hour < 12 { "AM" } else { "PM" };
            let twelve = (hour + 11) % 12 + 1;
            prop_assert_eq!(time_in_heading(&format!("at {hour:02}:{minute:02}.")), Some(time));
            prop_assert_eq!(time_in_heading(&format!("at {twelve}:{minute:02} {half}")), Some(time));
        }
    }
}
