//! Values that are secret because of the name they are assigned to.
//!
//! The same rule reads `.env` files, shell, JSON (also inside a JSON string), YAML, TOML, source
//! code, headers, queries, command lines and Markdown tables: a name, a sign, a value. The looser
//! the form, the more random the value has to look.

use std::ops::Range;

use memchr::{memchr, memmem};

use crate::anchors::NameWord;
use crate::prose;
use crate::rules::{Candidate, Rank, find_aws_secret, is_discord_token, is_wireguard_key};
use crate::shape::{Texture, URL64, WORD, is_placeholder, texture};

/// The longest name that is examined.
const NAME: usize = 64;
/// Longest value without quotes.
const BARE: usize = 256;
/// Longest value in quotes.
const QUOTED: usize = 4096;
/// Most values of a list.
const LIST: usize = 16;

/// Searches for an assignment after `word`, which is part of its name.
pub(crate) fn check(
    window: &[u8],
    word: Range<usize>,
    kind: NameWord,
    found: &mut impl FnMut(Candidate),
) {
    let signed = sign_behind(window, &word).or_else(|| value_of_pair(window, &word));
    let Some((name_end, sign, after)) = signed else { return };
    let Some(name) = Name::read(window, &word, name_end, kind, sign) else { return };
    let sign = match sign {
        Sign::Equals if name.upper && after == name_end + 1 => Sign::Env,
        Sign::Pair if name.upper => Sign::Env,
        Sign::Pair => Sign::Colon,
        sign => sign,
    };
    if matches!(kind, NameWord::Key | NameWord::Secret)
        && let Some(length) = prose::hex_pairs(&window[after..])
    {
        let range = after..after + length;
        return found(Candidate::named(kind_by_word(kind), range));
    }
    let Some(value) = Value::read(window, after, sign) else {
        return phrase(window, after, sign, &name).into_iter().for_each(found);
    };
    if let Some(candidate) = judge(window, &name, sign, &value) {
        found(candidate);
    }
    if value.in_list {
        let mut end = value.range.end;
        for _ in 1..LIST {
            let Some(next) = next_of_list(window, end) else { break };
            end = next.range.end;
            if let Some(candidate) = judge(window, &name, sign, &next) {
                found(candidate);
            }
        }
    }
}

/// A passphrase with spaces in it, in quotes.
fn phrase(window: &[u8], at: usize, sign: Sign, name: &Name) -> Option<Candidate> {
    let start = open_quote(window, at)?;
    if !matches!(name.word, NameWord::Password | NameWord::Pass) || sign == Sign::Cell {
        return None;
    }
    let rest = &window[start..window.len().min(start + 100)];
    let length =
        rest.iter().position(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b'\n'))?;
    let text = str::from_utf8(&rest[..length]).ok()?;
    (rest[length] != b'\n' && prose::is_quoted_phrase(text))
        .then_some(Candidate::named("password", start..start + length))
}

/// The text between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// `NAME=`
    Env,
    /// `=`, `:=` or `=>`
    Equals,
    /// `:`
    Colon,
    /// The border of a table cell.
    Cell,
    /// Only whitespace, after `--name`.
    Blank,
    /// `name: NAME` and `value: `, as lists of variables have it.
    Pair,
}

/// Returns where the name ends, the sign behind it, and where the value may begin.
fn sign_behind(window: &[u8], word: &Range<usize>) -> Option<(usize, Sign, usize)> {
    let tail = URL64.run(&window[word.end..], 25);
    if tail > 24 || !is_tail(&window[word.end..word.end + tail]) {
        return None;
    }
    let name_end = word.end + tail;
    let mut at = name_end;
    let closing = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b']' | b'*');
    at += window[at..].iter().take(5).take_while(|byte| closing(byte)).count();
    let blanks = blanks(window, at);
    at += blanks;
    let rest = window.get(at..)?;
    let (sign, length) = match rest {
        [b'=', b'=' | b'~', ..] | [b':', b':', ..] => return None,
        [b'=', b'>', ..] | [b':', b'=', ..] => (Sign::Equals, 2),
        [b'=', ..] => (Sign::Equals, 1),
        [b':', ..] => (Sign::Colon, 1),
        // The colon of Chinese and Japanese.
        [0xef, 0xbc, 0x9a, ..] => (Sign::Colon, 3),
        [b'|', ..] if blanks > 0 => (Sign::Cell, 1),
        _ if blanks == 1 => (Sign::Blank, 0),
        _ => return None,
    };
    at += length;
    at += window[at..].iter().take(2).take_while(|&&byte| byte == b'*').count();
    let after = at + self::blanks(window, at);
    Some((name_end, sign, after))
}

/// Returns the same for `name: NAME` with `value:` behind it or in the next line.
fn value_of_pair(window: &[u8], word: &Range<usize>) -> Option<(usize, Sign, usize)> {
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'\\');
    let name_end = word.end + URL64.run(&window[word.end..], 25);
    if !is_tail(&window[word.end..name_end]) {
        return None;
    }
    let start = word.start - URL64.run_back(&window[..word.start], NAME);
    let before = &window[start.saturating_sub(16)..start];
    let end = before.iter().rposition(|byte| !is_quote(byte) && *byte != b' ')?;
    let before = before[..=end].strip_suffix(b":")?;
    let end = before.iter().rposition(|byte| !is_quote(byte) && *byte != b' ')?;
    let label = before[..=end].to_ascii_lowercase();
    if !label.ends_with(b"name") && !label.ends_with(b"key") {
        return None;
    }
    let between = |byte: &u8| is_quote(byte) || byte.is_ascii_whitespace() || *byte == b',';
    let rest = &window[name_end..window.len().min(name_end + 64)];
    let gap = rest.iter().take_while(|byte| between(byte)).count();
    let (label, behind) = rest[gap..].split_at_checked(5)?;
    let quotes = behind.iter().take_while(|byte| is_quote(byte) || **byte == b' ').count();
    if gap == 0 || !label.eq_ignore_ascii_case(b"value") || behind.get(quotes) != Some(&b':') {
        return None;
    }
    let after = name_end + gap + 5 + quotes + 1;
    Some((name_end, Sign::Pair, after + blanks(window, after)))
}

fn blanks(window: &[u8], at: usize) -> usize {
    window[at..].iter().take(24).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// What may follow the telling word in a name; `token_url` and `tokenizer` name no token.
fn is_tail(tail: &[u8]) -> bool {
    const TAILS: &str = "s prod production dev development staging stage test live main backup old new primary \
         secondary base value plain text raw local default 1 2 3";
    let tail = tail.strip_prefix(b"_").or(tail.strip_prefix(b"-")).unwrap_or(tail);
    tail.is_empty() || TAILS.split(' ').any(|known| tail.eq_ignore_ascii_case(known.as_bytes()))
}

/// The name of a value.
struct Name {
    /// What precedes the keyword: lower case, letters and digits only.
    before: Vec<u8>,
    /// The same from the telling word on.
    rest: Vec<u8>,
    word: NameWord,
    /// Whether it is all in capitals, as variables of the environment are.
    upper: bool,
}

impl Name {
    fn read(
        window: &[u8],
        word: &Range<usize>,
        end: usize,
        kind: NameWord,
        sign: Sign,
    ) -> Option<Self> {
        let mut start = word.start - URL64.run_back(&window[..word.start], NAME);
        let dashes = window[start..word.start].iter().take_while(|&&byte| byte == b'-').count();
        if sign == Sign::Blank && dashes != 2 {
            return None;
        }
        start += dashes;
        // The letter of `\n` belongs to the escape, not to the name.
        if start < word.start && window[..start].last() == Some(&b'\\') {
            start += usize::from(matches!(window[start], b'n' | b'r' | b't'));
        }
        let mut before = fold(&window[start..word.start]);
        if kind == NameWord::Key && before.is_empty() {
            // "API key" and "secret key" are written as two words.
            let first = window[..start].strip_suffix(b" ").unwrap_or_default();
            before = fold(&first[first.len() - WORD.run_back(first, 16)..]);
        }
        if kind == NameWord::Pass && !is_pass_word(window, start, word) {
            return None;
        }
        let alone = &window[start..end] == b"key";
        let secret = is_secret(kind, &before) || alone && keeps_api_keys(&window[..start]);
        if !secret {
            return None;
        }
        let upper = window[start..end].iter().all(|byte| !byte.is_ascii_lowercase());
        Some(Self { before, rest: fold(&window[word.start..end]), word: kind, upper })
    }

    fn has(&self, word: &str) -> bool {
        memmem::find(&[&self.before[..], &self.rest].concat(), word.as_bytes()).is_some()
    }

    /// Whether values under this name are seldom anything but secrets.
    fn is_strong(&self) -> bool {
        match self.word {
            NameWord::Password | NameWord::Pass | NameWord::Key => true,
            NameWord::Secret => !self.before.is_empty(),
            NameWord::Token => {
                ["bot", "access", "auth", "api", "refresh", "bearer"].iter().any(|w| self.has(w))
            }
        }
    }
}

/// Whether a name with this word is that of a secret, by what precedes the word.
pub(crate) fn is_secret(word: NameWord, before: &[u8]) -> bool {
    const KEYS: &str = "api secret private access auth encryption signing master account shared preshared \
         service license admin session hmac deploy app storage";
    // Tokens of a text, of a list that goes on, or of a program's own flow.
    const OTHER_TOKENS: &str = "next page continuation cursor sync eos bos pad unk mask cls sep stop special max min \
         num cancel cancellation resume resumption skip change input output cached total prompt \
         completion reasoning per of csrf xsrf idempotency parse lex start end current prev \
         previous last public publickey";
    let ends_with = |words: &str| words.split(' ').any(|word| before.ends_with(word.as_bytes()));
    match word {
        NameWord::Key => ends_with(KEYS),
        NameWord::Token => !ends_with(OTHER_TOKENS),
        NameWord::Secret | NameWord::Password | NameWord::Pass => true,
    }
}

/// Whether `pass` is a word of its own in a name: `DB_PASS` and `smtpPass`, but not `bypass`.
fn is_pass_word(window: &[u8], start: usize, word: &Range<usize>) -> bool {
    let humped = window[word.start].is_ascii_uppercase()
        && window[..word.start].last().is_some_and(u8::is_ascii_lowercase);
    word.start == start || humped || matches!(window[word.start - 1], b'_' | b'-')
}

/// Returns the letters and digits of a name, in lower case.
pub(crate) fn fold(text: &[u8]) -> Vec<u8> {
    text.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect()
}

/// Whether the object that is open here says that it holds a key, as the profiles of agents do.
fn keeps_api_keys(before: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(160)..];
    let near = &near[memchr::memrchr2(b'{', b'}', near).unwrap_or(0)..];
    memmem::find(near, b"\"api_key\"").is_some()
}

/// A value, and how it is written.
struct Value {
    range: Range<usize>,
    quoted: bool,
    in_list: bool,
    /// Whether nothing but a comment follows on its line.
    ends_line: bool,
}

impl Value {
    fn read(window: &[u8], from: usize, sign: Sign) -> Option<Self> {
        let (at, in_list) = match window.get(from)? {
            b'[' => (from + 1 + blanks(window, from + 1), true),
            _ => (from, false),
        };
        let quoted = |at| {
            let start = open_quote(window, at)?;
            Self::quoted(window, start, in_list)
        };
        if open_quote(window, at).is_some() {
            return quoted(at);
        }
        if in_list {
            return None;
        }
        if sign == Sign::Colon
            && let Some(at) = behind_type(window, at)
        {
            return quoted(at);
        }
        Self::bare(window, at)
    }

    /// A value in quotes. Any quote or whitespace ends it, so that no byte is read twice.
    fn quoted(window: &[u8], start: usize, in_list: bool) -> Option<Self> {
        let rest = &window[start..window.len().min(start + QUOTED)];
        let ends = |byte: &u8| *byte <= b' ' || matches!(byte, b'"' | b'\'' | b'`' | 0x7f);
        let mut end = rest.iter().position(ends)?;
        // A line break ends the first line of a longer string.
        let closed = !matches!(rest[end], b' ' | b'\t');
        end -= rest[..end].iter().rev().take(8).take_while(|&&byte| byte == b'\\').count();
        let value = Self { range: start..start + end, quoted: true, in_list, ends_line: false };
        (closed && end > 0).then_some(value)
    }

    fn bare(window: &[u8], start: usize) -> Option<Self> {
        // Bold text has its stars on both sides.
        let stars = window[start..].iter().take(2).take_while(|byte| **byte == b'*').count();
        let start = start + stars;
        let rest = &window[start..window.len().min(start + BARE)];
        let length = rest.iter().position(|&byte| ends_bare(byte)).unwrap_or(rest.len());
        let call = matches!(rest.get(length), Some(b'(' | b'[' | b'{'))
            || rest.get(length) == Some(&b'<') && !begins_markup(&rest[length..]);
        // Data that is no text has such bytes anywhere.
        let is_data = matches!(rest.get(length), Some(0x01..=0x08 | 0x0e..=0x1a | 0x1c..=0x1f));
        if call || is_data || length == BARE {
            return None;
        }
        let text = &rest[..length];
        let signs =
            |byte: &&u8| matches!(byte, b'.' | b':' | b'!' | b'?') || stars > 0 && **byte == b'*';
        let length = text.len() - text.iter().rev().take_while(signs).count();
        let line = &rest[text.len()..];
        let line = &line[..memchr(b'\n', line).unwrap_or(line.len())];
        let ends_line = is_remark(line, &rest[..length]) || is_distinct(&rest[..length]);
        let value = Self { range: start..start + length, quoted: false, in_list: false, ends_line };
        (length > 0).then_some(value)
    }
}

/// Whether `<` begins a tag or a comment instead of the parameters of a type.
fn begins_markup(text: &[u8]) -> bool {
    text.starts_with(b"</") || text.starts_with(b"<!--") || text.starts_with(b"<br")
}

/// Whether what follows a value on its line is nothing, or something that is no part of an
/// expression: a comment, a stamp, a tag, the border of a cell, words in brackets.
fn is_remark(line: &[u8], value: &[u8]) -> bool {
    let rest = line.trim_ascii_start();
    let is_parted = rest.len() < line.len();
    // Code ends its statements so, and an identifier in it is a variable.
    let is_variable = || str::from_utf8(value).is_ok_and(is_identifier);
    match rest {
        [] | [b'\\', b'n' | b'r', ..] | [b'|', ..] => true,
        [b';', ..] => !is_variable(),
        [b'/', b'/' | b'*', ..] => is_parted && !is_variable(),
        [b'<', ..] => begins_markup(rest),
        [b'#' | b'(' | b'*', ..] | [b'-', b'-' | b' ', ..] => is_parted,
        // Dashes.
        [0xe2, 0x80, 0x93 | 0x94, ..] => is_parted,
        _ => false,
    }
}

/// Whether a value contains something that no expression contains, so that it is a value regardless
/// of the text after it.
fn is_distinct(value: &[u8]) -> bool {
    let is_sign = |byte: &u8| b"!@#$^?".contains(byte);
    let inner = &value[value.len().min(1)..];
    value.len() >= 8
        && inner.iter().any(is_sign)
        && value.iter().all(|byte| byte.is_ascii_alphanumeric() || is_sign(byte))
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().filter(|byte| byte.is_ascii_alphabetic()).count() >= 4
}

fn ends_bare(byte: u8) -> bool {
    byte <= b' '
        || matches!(byte, b',' | b';' | b'(' | b')' | b'{'..=b'}' | b'['..=b']' | b'<' | b'>')
        || matches!(byte, b'`' | b'"' | b'\'' | 0x7f)
}

/// Returns where a string begins: behind `"`, `\"`, `"""`, `b"` and the like.
fn open_quote(window: &[u8], at: usize) -> Option<usize> {
    let rest = &window[at..];
    let letters = rest.iter().take(2).take_while(|b| b.is_ascii_alphabetic()).count();
    let slashes = rest[letters..].iter().take(8).take_while(|&&byte| byte == b'\\').count();
    let quote = *rest.get(letters + slashes)?;
    if !matches!(quote, b'"' | b'\'' | b'`') {
        return None;
    }
    let mut start = letters + slashes + 1;
    if rest[start..].starts_with(&[quote, quote]) {
        start += 2;
    }
    Some(at + start)
}

/// Returns where the string of `name: Type = "..."` begins.
fn behind_type(window: &[u8], at: usize) -> Option<usize> {
    let near = &window[at..window.len().min(at + 48)];
    let equals = memchr(b'=', near)?;
    let of_type = |b: &u8| b.is_ascii_alphanumeric() || b" _&'<>[]:|?.".contains(b);
    if !near[..equals].iter().all(of_type) {
        return None;
    }
    let start = at + equals + 1;
    let start = start + blanks(window, start);
    open_quote(window, start).map(|_| start)
}

fn next_of_list(window: &[u8], end: usize) -> Option<Value> {
    let gap = window[end..].iter().take(48).position(|byte| {
        !byte.is_ascii_whitespace() && !matches!(byte, b',' | b'"' | b'\'' | b'`' | b'\\')
    })?;
    // The last byte of the gap has to be the quote of the next string.
    let opened = gap >= 3 && matches!(window[end + gap - 1], b'"' | b'\'' | b'`');
    let parted = memchr(b',', &window[end..end + gap]).is_some();
    (opened && parted).then(|| Value::quoted(window, end + gap, true)).flatten()
}

/// Decides whether a value is a secret, and of which kind.
fn judge(window: &[u8], name: &Name, sign: Sign, value: &Value) -> Option<Candidate> {
    let mut range = value.range.clone();
    if sign != Sign::Env && !value.quoted {
        // In a query, the next value follows.
        let text = &window[range.clone()];
        range.end = range.start + memchr(b'&', text).unwrap_or(text.len());
    }
    let text = &window[range.clone()];
    let is_login = || {
        let is_word = str::from_utf8(text).is_ok_and(prose::is_plain_word);
        let alone = value.ends_line || value.quoted;
        alone && is_word && text.len() >= 4 && logs_in(&window[..range.start])
    };
    let is_pass = name.word == NameWord::Pass && matches!(sign, Sign::Colon | Sign::Equals);
    if !(looks_secret(name, sign, value, text) || is_pass && is_login())
        || refers(text, value.quoted)
        || is_placeholder(text)
    {
        return None;
    }
    let (kind, rank) = kind_of(name, text);
    Some(Candidate { kind, range, rank })
}

/// Whether the lines above name a user, as the settings of a login do.
fn logs_in(before: &[u8]) -> bool {
    let near = before[before.len().saturating_sub(160)..].to_ascii_lowercase();
    let lines = near.split(|byte| matches!(byte, b'\n' | b',' | b'{')).rev().skip(1).take(4);
    lines.into_iter().any(|line| {
        let name = &line[..line.iter().position(|b| matches!(b, b':' | b'=')).unwrap_or(0)];
        [&b"user"[..], b"login"].iter().any(|word| memmem::find(name, word).is_some())
    })
}

/// Whether a value points to something else (a path, an address, a variable), or is sealed.
fn refers(text: &[u8], quoted: bool) -> bool {
    let tagged = !quoted && matches!(text.first(), Some(b'!' | b'&' | b'@' | b'#'));
    tagged
        || text.starts_with(b"enc2:")
        || text.starts_with(b"/")
        || text.starts_with(b"./")
        || text.starts_with(b"~/")
        || text.contains(&b'{')
        || memmem::find(text, b"://").is_some()
        || memmem::find(text, b"::").is_some()
        || memmem::find(text, b"$(").is_some()
        || text.iter().all(|byte| !byte.is_ascii_alphabetic())
}

fn looks_secret(name: &Name, sign: Sign, value: &Value, text: &[u8]) -> bool {
    let texture = texture(text);
    let random = texture == Texture::Random;
    let length = text.len();
    if length < 5 {
        return false;
    }
    let password = matches!(name.word, NameWord::Password | NameWord::Pass);
    if password && is_human(name, sign, value, text) {
        return true;
    }
    if name.word == NameWord::Pass && name.before.is_empty() {
        return false;
    }
    let shouted = texture == Texture::Wordy && text.contains(&b'-') && !has_lower(text);
    match (sign, value.quoted) {
        (Sign::Env, quoted) => length >= 8 && (quoted || value.ends_line || random),
        (Sign::Cell | Sign::Blank, _) => length >= 12 && random,
        (_, true) => {
            length >= 8 && (random || shouted || texture == Texture::Wordy && name.is_strong())
                || password && (texture == Texture::Wordy || marked(text))
        }
        (_, false) => {
            length >= 16 && random
                || value.ends_line && name.is_strong() && length >= 12 && random
                || value.ends_line
                    && password
                    && length >= 8
                    && (texture > Texture::Plain || marked(text))
        }
    }
}

/// Whether a value that a person made up is assigned to a name that says it is a password.
fn is_human(name: &Name, sign: Sign, value: &Value, text: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(text) else { return false };
    // The name alone says little: `pass: true`, `pass = x1`.
    let sure = name.word == NameWord::Password || !name.before.is_empty();
    let mixed = text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_uppercase() || b"!@#$%^*-".contains(&byte));
    if !sure && (!mixed || name.upper || text.contains('/')) {
        return false;
    }
    let call = text.contains(['(', ')', '[', ']', '<', '>', ';', '$']) && !value.quoted;
    let member = text.contains('.') && text.split('.').all(is_identifier) && !value.quoted;
    if call || member || !sure && text.len() < 6 {
        return false;
    }
    match sign {
        Sign::Env => sure,
        Sign::Equals | Sign::Colon if value.quoted || value.ends_line => {
            prose::is_made_up(text) && text.bytes().any(|byte| !byte.is_ascii_alphabetic())
        }
        Sign::Cell => {
            text.len() >= 6
                && prose::is_made_up(text)
                && text.bytes().any(|byte| !byte.is_ascii_alphanumeric())
        }
        _ => false,
    }
}

fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn has_lower(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_lowercase)
}

/// Whether it has what rules for passwords ask for: letters of both cases and a sign.
fn marked(text: &[u8]) -> bool {
    text.len() >= 8
        && has_lower(text)
        && text.iter().any(u8::is_ascii_uppercase)
        && text.iter().any(|byte| b"!@#$%^&*?".contains(byte))
        && text.iter().all(u8::is_ascii_graphic)
        && !text.iter().any(|byte| b"()\\|".contains(byte))
}

/// Whose secret it is, when the name tells.
const VENDORS: &[(&str, &str)] = &[
    ("awssecret", "aws_secret_access_key"),
    ("secretaccesskey", "aws_secret_access_key"),
    ("cohere", "cohere_api_key"),
    ("mistral", "mistral_api_key"),
    ("cloudflare", "cloudflare_api_token"),
    ("cfapi", "cloudflare_api_token"),
    ("twilio", "twilio_auth_token"),
    ("heroku", "heroku_api_key"),
    ("postmark", "postmark_token"),
    ("railway", "railway_token"),
    ("asana", "asana_token"),
    ("snyk", "snyk_token"),
    ("datadog", "datadog_api_key"),
    ("ddapi", "datadog_api_key"),
    ("wandb", "wandb_api_key"),
    ("mailgun", "mailgun_api_key"),
    ("discord", "discord_bot_token"),
    ("telegram", "telegram_bot_token"),
];

fn kind_of(name: &Name, text: &[u8]) -> (&'static str, Rank) {
    if is_discord_token(text) {
        return ("discord_bot_token", Rank::Shaped);
    }
    let vendor = VENDORS.iter().find(|(word, _)| name.has(word));
    if let Some((_, kind)) = vendor {
        return (kind, Rank::Shaped);
    }
    if name.has("aws") && name.has("secret") || name.has("access") && is_aws_secret(text) {
        return ("aws_secret_access_key", Rank::Shaped);
    }
    if (name.has("privatekey") || name.has("presharedkey")) && is_wireguard_key(text) {
        return ("wireguard_private_key", Rank::Shaped);
    }
    let kind = match name.word {
        NameWord::Key if name.has("privatekey") => "private_key",
        word => kind_by_word(word),
    };
    (kind, Rank::Named)
}

/// Returns the kind of a secret of which only the name is known.
pub(crate) const fn kind_by_word(word: NameWord) -> &'static str {
    match word {
        NameWord::Key => "api_key",
        NameWord::Token => "token",
        NameWord::Secret => "secret",
        NameWord::Password | NameWord::Pass => "password",
    }
}

fn is_aws_secret(text: &[u8]) -> bool {
    find_aws_secret(text) == Some(0..text.len())
}
