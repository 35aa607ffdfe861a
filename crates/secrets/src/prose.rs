//! Passwords that people name in a sentence: "the router password is ...", "das Passwort lautet
//! ...".
//!
//! A password that a person makes up has no shape of its own; the words around it give it away. A
//! rule here starts at a word such as `password`, follows the line to a link (`is`, `:`, `lautet`,
//! `是`) and judges what comes next. The weaker the link, the less the value may look like a word.

mod lists;
mod phrases;
mod value;

use std::borrow::Cow;
use std::ops::Range;

use self::lists::{CHANGED, FUNCTION_WORDS, NOT_ITSELF, OWNERS, USERS};
use self::phrases::{has_predicate_ending, is_technical};
pub(crate) use self::phrases::{
    is_about_passwords, is_made_up, is_number, is_plain_word, is_quoted_phrase, names_itself,
    refers,
};
use self::value::value_at;
pub(crate) use self::value::{bare, hex_pairs};
use crate::anchors::SpokenWord;
use crate::rules::Candidate;
use crate::shape::is_placeholder;

/// How far behind the name a value is searched for.
const REACH: usize = 240;
/// The longest password that a sentence may state.
const LONGEST: usize = 100;
/// How far in front of the name a value is searched for.
const REACH_BACK: usize = 96;
/// How many words may be between the name and the link.
const MOST_BETWEEN: usize = 10;

/// Searches for a value around `name`, a word that names a secret.
pub(crate) fn check(
    window: &[u8],
    name: Range<usize>,
    word: SpokenWord,
    found: &mut impl FnMut(Candidate),
) {
    if !stands_alone(window, &name, word) {
        return;
    }
    let rest = with_latin_letters(&window[name.end..window.len().min(name.end + REACH)]);
    let rest = &*rest;
    // Text after an assignment sign has its own rules.
    let makes_one_time = matches!(word, SpokenWord::Secret | SpokenWord::Key)
        && names_one_time_secret(&window[..name.start]);
    let assigned = matches!(word, SpokenWord::Token | SpokenWord::Secret | SpokenWord::Key)
        && !makes_one_time
        && rest.first().is_none_or(|byte| *byte != b' ');
    let blank = rest.iter().take(LONGEST + 32).any(|byte| *byte <= b' ');
    if assigned || !blank && rest.len() > LONGEST + 32 {
        return;
    }
    let line = line_of(rest);
    let before = &window[..name.start];
    let value = match word {
        SpokenWord::Ideographic => ideographic_value(line),
        SpokenWord::Pin if counts_pins(window, &name) => None,
        _ if makes_one_time => one_time_secret(line),
        _ => value_behind(line, word, &Before(before)),
    };
    let value = value.or_else(|| {
        let is_password = word == SpokenWord::Password || word == SpokenWord::Ideographic;
        is_password.then(|| value_below(rest, line, before)).flatten()
    });
    let range = match value {
        Some(value) => Some(name.end + value.start..name.end + value.end),
        None if matches!(word, SpokenWord::Password | SpokenWord::Pin) => {
            value_before(before, word)
        }
        None => None,
    };
    let has_old = word == SpokenWord::Password && range.is_some();
    let old = has_old.then(|| old_value(line)).flatten();
    let old = old.map(|old| name.end + old.start..name.end + old.end);
    for range in range.into_iter().chain(old).filter(|range| !range.is_empty()) {
        found(Candidate::named(kind_of(word), range));
    }
}

/// Replaces a few letters of Latin-1, which would end the text, with one of ASCII; every byte stays
/// in its place.
fn with_latin_letters(rest: &[u8]) -> Cow<'_, [u8]> {
    const MOST: usize = 8;
    let (mut at, mut letters) = (0, Vec::new());
    for chunk in rest.utf8_chunks() {
        at += chunk.valid().len();
        if let [letter] = chunk.invalid()
            && *letter >= 0xc0
        {
            letters.push(at);
        }
        at += chunk.invalid().len();
    }
    let is_data = || rest.iter().any(|byte| *byte < b' ' && !byte.is_ascii_whitespace());
    if letters.is_empty() || letters.len() > MOST || is_data() {
        return Cow::Borrowed(rest);
    }
    let mut text = rest.to_owned();
    letters.into_iter().for_each(|at| text[at] = b'e');
    Cow::Owned(text)
}

/// Whether `name` names a secret in a text, and no policy or manager of secrets.
pub(crate) fn names(text: &str, name: Range<usize>, word: SpokenWord) -> bool {
    let rest = &text[name.end..];
    let next = tokens(rest).next().map(|token| bare(&rest[token]).to_lowercase());
    // "password again" is no compound, "password manager" is one.
    let is_compound = |next: &String| {
        let is_small = next == "again" || FUNCTION_WORDS.contains(next.as_str());
        is_about_passwords(next) && !is_small
    };
    stands_alone(text.as_bytes(), &name, word)
        && !(word == SpokenWord::Pin && text[..name.start].to_lowercase().contains("which"))
        && !next.as_ref().is_some_and(is_compound)
}

/// Returns the kind of a secret that is named so.
pub(crate) const fn kind_of(word: SpokenWord) -> &'static str {
    match word {
        SpokenWord::Pin => "pin",
        SpokenWord::Password | SpokenWord::Pass | SpokenWord::Ideographic | SpokenWord::Login => {
            "password"
        }
        SpokenWord::Token => "token",
        SpokenWord::Secret => "secret",
        SpokenWord::Key => "api_key",
    }
}

/// The words before a name.
struct Before<'a>(&'a [u8]);

impl Before<'_> {
    /// Calls `test` with the words of the line, the last one first, until it holds.
    fn any(&self, most: usize, test: impl Fn(&str) -> bool) -> bool {
        let near = &self.0[self.0.len().saturating_sub(72)..];
        let near = String::from_utf8_lossy(near).to_lowercase();
        let line = near.rsplit(['\n', '!', '?']).next().unwrap_or_default();
        line.split_whitespace().rev().take(most).any(test)
    }

    /// Whether they say that what is named was changed.
    fn is_changed(&self) -> bool {
        self.any(4, |word| CHANGED.contains(word) || word == "habe")
    }

    /// Whether they say who logs in.
    fn has_user(&self) -> bool {
        self.any(usize::MAX, |word| {
            word.contains('@') || USERS.contains(word.trim_matches(|c: char| !c.is_alphanumeric()))
        })
    }
}

/// Whether the word before `key` makes it the password of a wireless network.
pub(crate) fn is_wifi_key(before: &[u8]) -> bool {
    const NETWORKS: &[&[u8]] = &[b"wpa", b"wpa2", b"wpa3", b"wifi", b"fi", b"wlan", b"wep"];
    let word = last_word(before);
    let near = &before[before.len().saturating_sub(40)..];
    NETWORKS.iter().any(|network| word.eq_ignore_ascii_case(network))
        || near.windows(5).any(|part| part.eq_ignore_ascii_case(b"ssid "))
}

/// Returns the last word of a text, which may be followed by a space or a dash.
fn last_word(before: &[u8]) -> &[u8] {
    let before = before.strip_suffix(b" ").or(before.strip_suffix(b"-")).unwrap_or(before);
    let length = before.iter().rev().take(24).take_while(|b| b.is_ascii_alphanumeric()).count();
    &before[before.len() - length..]
}

/// Whether `pin` is one of a chip, or something that is fastened; a number behind it counts pins.
fn counts_pins(window: &[u8], name: &Range<usize>) -> bool {
    const PARTS: &str = "gpio header connector chip arduino esp32 led dac adc data clock digital analog bcm \
         board output input io power ground port signal reset interrupt jumper socket i2c spi \
         uart pwm physical";
    const OTHERS: &str = "rx tx please to we and or bowling safety rolling";
    const LOCKS: &[&str] =
        &["safe", "lock", "locker", "padlock", "vault", "suitcase", "gate", "door"];
    let has = |words: &str, word: &str| words.split(' ').any(|one| one == word);
    let literal = &window[name.clone()];
    let before = String::from_utf8_lossy(last_word(&window[..name.start])).to_lowercase();
    if literal.eq_ignore_ascii_case(b"safe code") {
        // Code that is type-safe.
        return window[..name.start].ends_with(b"-");
    }
    if literal.eq_ignore_ascii_case(b"combination") {
        return !LOCKS.contains(&before.as_str());
    }
    if !literal.eq_ignore_ascii_case(b"pin") {
        return false;
    }
    let behind = &window[name.end..window.len().min(name.end + 48)];
    let behind = String::from_utf8_lossy(behind).to_lowercase();
    let is_part = |text: &str| {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| has(PARTS, word) || matches!(word, "connected" | "wired"))
    };
    // A card has a PIN; `pin 12` without more than a space is one of many.
    let is_spelled = literal == b"PIN" || OWNERS.contains(before.as_str());
    let is_sign = behind.trim_start().starts_with([':', '=']);
    has(PARTS, &before)
        || has(OTHERS, &before)
        || is_part(&behind)
        || !is_spelled && !is_sign && !is_linked(&behind)
}

/// Whether a verb follows: "pin is", "pin of the card is".
fn is_linked(behind: &str) -> bool {
    let verbs = ["is", "was", "ist", "lautet", "est", "es", "è", "é"];
    behind.split_whitespace().take(6).any(|word| verbs.contains(&word))
        && !behind.trim_start().starts_with(|c: char| c.is_ascii_digit())
}

/// Whether the words before say that a key or secret makes one-time passwords.
fn names_one_time_secret(before: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(24)..];
    let near = String::from_utf8_lossy(near).to_lowercase();
    let words = near.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).rev();
    words.take(2).any(|word| {
        matches!(word, "totp" | "otp" | "2fa" | "mfa" | "authenticator" | "setup" | "hotp")
    })
}

/// Finds a secret in base32, which may be written in groups of four.
fn one_time_secret(line: &str) -> Option<Range<usize>> {
    let is_digit = |c: char| c.is_ascii_alphabetic() || ('2'..='7').contains(&c);
    let mut from = 0;
    for _ in 0..MOST_BETWEEN {
        let token = tokens(&line[from..]).next()?;
        let (start, mut end) = (from + token.start, from + token.end);
        let first = bare(&line[start..end]);
        let start = start + line[start..end].find(first)?;
        end = start + first.len();
        let mut digits = first.len();
        if first.len() == 4 && first.chars().all(is_digit) {
            while let Some(next) = tokens(&line[end..]).next()
                && next.start == 1
                && bare(&line[end..][next.clone()]).len() == 4
                && bare(&line[end..][next.clone()]).chars().all(is_digit)
            {
                end += 5;
                digits += 4;
            }
        }
        let text = &line[start..end];
        let drawn = text.bytes().any(|byte| byte.is_ascii_digit())
            || text.bytes().all(|byte| byte.is_ascii_uppercase());
        if digits >= 16 && drawn && text.chars().all(|c| c == ' ' || is_digit(c)) {
            return Some(start..end);
        }
        from += token.end;
    }
    None
}

/// Finds the value that a password had: "changed from X to Y".
fn old_value(line: &str) -> Option<Range<usize>> {
    let mut words = tokens(line).take(5);
    let from = words.find(|token| matches!(&line[token.clone()], "from" | "von"))?;
    let token = tokens(&line[from.end..]).next()?;
    let (start, end) = (from.end + token.start, from.end + token.end);
    let text = bare(&line[start..end]);
    let start = start + line[start..end].find(text)?;
    let fits = is_made_up(text) && !refers(text) && !is_placeholder(text.as_bytes());
    fits.then_some(start..start + text.len())
}

/// Finds the codes behind or below `recovery codes`.
pub(crate) fn codes(window: &[u8], from: usize, found: &mut impl FnMut(Candidate)) {
    let rest = &window[from..window.len().min(from + 1024)];
    let Some(text) = rest.utf8_chunks().next().map(|chunk| chunk.valid()) else { return };
    let mut at = 0;
    let mut is_first = true;
    for line in text.split_inclusive('\n').take(32) {
        let mut is_code_line = line.trim().is_empty() || is_first;
        for token in tokens(line) {
            let code = bare(&line[token.clone()]);
            let marker = code.trim_end_matches(['.', ')']);
            let is_marker = matches!(marker, "-" | "" | "+") || marker.len() <= 2;
            if is_recovery_code(code) {
                let start = at + token.start + line[token].find(code).unwrap_or(0);
                let range = from + start..from + start + code.len();
                found(Candidate::named("recovery_code", range));
                is_code_line = true;
            } else if !is_marker && !is_first {
                return;
            }
        }
        if !is_code_line {
            return;
        }
        is_first = false;
        at += line.len();
    }
}

/// Whether it is one of several codes: digits and letters, or enough digits.
fn is_recovery_code(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let letters = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_date = text.len() == 10 && text.starts_with("20") && text.contains('-');
    (6..=40).contains(&text.len())
        && plain
        && !is_date
        && !(letters && is_technical(text))
        && (letters && digits >= 2 || digits >= 8)
}

/// Whether the name is a word of its own, and not a part of an identifier.
fn stands_alone(window: &[u8], name: &Range<usize>, word: SpokenWord) -> bool {
    if word == SpokenWord::Ideographic {
        return true;
    }
    let before = window[..name.start].last();
    let escape = window[..name.start].ends_with(b"\\n") || window[..name.start].ends_with(b"\\t");
    // German writes compounds as one word: Routerpasswort.
    let literal = &window[name.clone()];
    let compound =
        literal.eq_ignore_ascii_case(b"passwort") || literal.eq_ignore_ascii_case(b"kennwort");
    let begins = match before {
        None => true,
        Some(byte) if byte.is_ascii_alphanumeric() => compound || escape,
        Some(b'_' | b'$' | b'.' | b'@' | b'#') => false,
        // One-pass, and the word that tests print.
        Some(b'-') if word == SpokenWord::Pass => false,
        Some(byte) => byte.is_ascii() || compound || !literal.is_ascii(),
    };
    let plural = usize::from(matches!(window.get(name.end), Some(b's' | b'S')));
    let ends = |at: usize| match window.get(at) {
        None => true,
        Some(b'_' | b'(') => false,
        Some(b'-') => !window.get(at + 1).is_some_and(u8::is_ascii_alphanumeric),
        Some(byte) => !byte.is_ascii_alphanumeric(),
    };
    if word == SpokenWord::Pass && literal == b"PASS" {
        return false;
    }
    // A key or token in prose is "the API key", not "keys".
    let key_is_secret = word != SpokenWord::Key
        || secret_key(&window[..name.start])
        || names_one_time_secret(&window[..name.start]);
    begins && (ends(name.end) || ends(name.end + plural)) && key_is_secret
}

/// Whether the word before `key` makes it a private key.
fn secret_key(before: &[u8]) -> bool {
    const KEYS: &str = "api secret access private license licence encryption auth signing master recovery \
         activation service deploy wallet aes hmac symmetric setup";
    let word = last_word(before).to_ascii_lowercase();
    KEYS.split(' ').any(|key| key.as_bytes() == word) || is_wifi_key(before)
}

/// Returns the valid text up to the end of the line, whose break may be escaped.
fn line_of(rest: &[u8]) -> &str {
    // Nothing follows at the end of a text, and a value may still come before the name.
    let text = rest.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let end = text.find(['\n', '\r', '\0']).unwrap_or(text.len());
    let text = &text[..end];
    let end = text.find("\\n").unwrap_or(text.len());
    let text = &text[..end];
    &text[..text.find("[redacted:").unwrap_or(text.len())]
}

/// Finds a value that is alone on the line below `name:`, as in YAML and letters.
fn value_below(rest: &[u8], line: &str, before: &[u8]) -> Option<Range<usize>> {
    let sign = after_sign(line).map(str::trim);
    let is_block = sign.is_some_and(|sign| matches!(sign, "|" | ">" | "|-" | ">-"));
    let is_title = is_title(before, line);
    let is_parent = is_parent_item(before, line, &rest[line.len()..]);
    if !is_block && !is_title && !is_parent && !sign.is_some_and(|sign| matches!(sign, "" | "**")) {
        return None;
    }
    let gap = rest[line.len()..].iter().take(16).take_while(|byte| byte.is_ascii_whitespace());
    let start = line.len() + gap.count();
    let below = line_of(&rest[start..]);
    // An item of a list, or the answer to a question.
    let item = ["- ", "* ", "> ", "A: ", "A. "].iter().find(|item| below.starts_with(**item));
    let text = &below[item.map_or(0, |item| item.len())..];
    let marked = text.trim_start().starts_with(['`', '"', '*']);
    let text = bare(text.trim());
    let offset = below.find(text).filter(|_| start > line.len() && !text.is_empty())?;
    if refers(text) || is_placeholder(text.as_bytes()) || text.len() > LONGEST {
        return None;
    }
    let is_told = is_block || is_title;
    let fits = if text.contains(' ') {
        let is_lower = !text.chars().any(char::is_uppercase);
        is_told && (is_lower || marked || is_block) && is_quoted_phrase(text)
    } else {
        let mixed = text.chars().any(|c| c.is_ascii_digit()) && !text.contains([':', '/', '=']);
        let plain = (marked || is_block || item.is_some())
            && text.chars().count() >= 4
            && text.split(['_', '-']).all(is_plain_word);
        is_made_up(text) && (mixed || is_told) || is_told && plain
    };
    fits.then_some(start + offset..start + offset + text.len())
}

/// Whether a name ends an item of a list, with an item of a deeper list below it.
fn is_parent_item(before: &[u8], line: &str, below: &[u8]) -> bool {
    let before = &before[before.len().saturating_sub(80)..];
    let before = &before[memchr::memrchr(b'\n', before).map_or(0, |at| at + 1)..];
    let depth = |line: &[u8]| {
        let indent = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        matches!(line[indent..], [b'-' | b'*' | b'+', b' ', ..]).then_some(indent)
    };
    let breaks = below.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let below = &below[breaks..];
    matches!(line.trim(), "" | "**" | "s" | "s**")
        && depth(before).zip(depth(below)).is_some_and(|(upper, lower)| lower > upper)
}

/// Whether a name ends a heading, a line in bold, or a question.
fn is_title(before: &[u8], line: &str) -> bool {
    let before = &before[before.len().saturating_sub(80)..];
    let before = &before[memchr::memrchr(b'\n', before).map_or(0, |at| at + 1)..];
    let is_marked = before.starts_with(b"#") || before.starts_with(b"**");
    let end = line.trim_end();
    let is_question = end.ends_with('?') && end.split_whitespace().count() <= 8;
    is_marked && matches!(end, "" | "**" | ":" | ":**" | "**:" | "s" | "s:") || is_question
}

/// How strongly the words in front of a value say that it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Link {
    /// The value follows the name at once.
    None,
    /// `to`, in "was changed to".
    Changed,
    /// A colon behind other words: "password of the router:".
    Label,
    /// `are`, behind which a plain word says what they are: "name and password are strings".
    Plural,
    /// `is`, `est`, `es`.
    Verb,
    /// `lautet`, which has no other meaning.
    Names,
    /// `:` or `=`.
    Sign,
}

/// Follows a name to its value.
fn value_behind(line: &str, word: SpokenWord, before: &Before) -> Option<Range<usize>> {
    let closing = |c: char| matches!(c, '*' | '`' | '"' | '\'' | ')' | ']' | '\\' | '”' | '’');
    let head = line.len() - line.strip_prefix(['s', 'S']).unwrap_or(line).len();
    let head = head + (line[head..].len() - line[head..].trim_start_matches(closing).len());
    let rest = &line[head..];
    if let Some(after) = after_sign(rest) {
        let at = head + rest.len() - after.len();
        return value_at(line, at, Link::Sign, word);
    }
    if word == SpokenWord::Pass {
        return pass_behind(line, head, before);
    }
    // "the password's X"
    let head = head + if line[..head].ends_with('\'') && rest.starts_with("s ") { 1 } else { 0 };
    let owned = line[..head].ends_with("'s");
    let rest = &line[head..];
    if owned && let Some(value) = value_at(line, head, Link::Changed, word) {
        return Some(value);
    }
    if !rest.starts_with([' ', '\t', '(', ',', ';']) {
        return None;
    }
    let mut changed = false;
    for (number, token) in tokens(rest).take(MOST_BETWEEN + 1).enumerate() {
        let text = &rest[token.clone()];
        let folded = text.trim_matches(['(', ')', '*', '"', '\'', '`']).to_lowercase();
        let plain = folded.trim_end_matches([',', ';', ':', '.', '!', '?']);
        if number == 0 {
            if NOT_ITSELF.contains(plain) {
                return None;
            }
            let start = head + token.start;
            if let Some(value) = value_at(line, start, Link::None, word) {
                return Some(value);
            }
            if word == SpokenWord::Password {
                let value = value_at(line, start, Link::Changed, word);
                let mixed = |value: &Range<usize>| {
                    line[value.clone()].contains(|c: char| c.is_ascii_digit())
                };
                if let Some(value) = value.filter(|value| mixed(value) && before.has_user()) {
                    return Some(value);
                }
            }
        }
        let end = head + token.end;
        let link = match plain {
            _ if text.ends_with([':', '→', '：']) || text == "->" || text == "=>" => Link::Label,
            "–" | "—" | "-" if number == 0 => Link::Sign,
            "lautet" | "lautete" | "heißt" | "namens" | "luidt" | "brzmi" => Link::Names,
            "is" | "was" | "it's" | "it’s" | "ist" | "war" | "es" | "est" | "era" | "è" | "é"
            | "being" | "reads" | "equals" | "c'est" | "c’est" | "jest" | "är" | "er" | "je" => {
                Link::Verb
            }
            "are" | "sind" => Link::Plural,
            "–" | "—" | "-" if number <= 5 => Link::Changed,
            "to" if number < 4 && has_foreign_word(&rest[..token.start]) => Link::Verb,
            "to" | "in" | "auf" | "a" | "por" | "à" | "en" | "with" | "mit"
                if changed || before.is_changed() =>
            {
                Link::Changed
            }
            _ => {
                changed |= CHANGED.contains(plain);
                // The sentence is over.
                if text.ends_with(['.', '!', '?', ';', '。']) && text != ";" {
                    return None;
                }
                continue;
            }
        };
        let value = value_at(line, end, link, word);
        // A number far from the name counts something else.
        let far = number > 5 || rest.starts_with(';');
        if let Some(value) = value
            && !(far && line[value.clone()].bytes().all(|byte| byte.is_ascii_digit()))
        {
            return Some(value);
        }
    }
    None
}

/// Whether Polish words precede "to", which then means "is".
fn has_foreign_word(between: &str) -> bool {
    between.split_whitespace().any(|word| matches!(word, "do" | "na" | "dla" | "od"))
}

/// Finds what follows `pass`, which has other meanings: "the pass is X1", "user admin, pass X".
fn pass_behind(line: &str, head: usize, before: &Before) -> Option<Range<usize>> {
    let rest = &line[head..];
    let mut words = tokens(rest);
    let first = words.next().filter(|token| token.start > 0)?;
    let is_link = matches!(&rest[first.clone()], "is" | "was" | "ist" | "est" | "es" | "è");
    let token = if is_link { words.next()? } else { first };
    let text = bare(&rest[token.clone()]);
    let start = head + token.start + rest[token].find(text)?;
    if is_placeholder(text.as_bytes()) || refers(text) || text.contains(['/', '=']) {
        return None;
    }
    let made_up = is_made_up(text) && text.chars().any(|c| !c.is_alphabetic());
    let plain = || {
        text.chars().count() >= 4
            && is_plain_word(text)
            && !has_predicate_ending(&text.to_lowercase())
            && !is_about_passwords(&text.to_lowercase())
            && ends_sentence(&line[start + text.len()..])
            // In `(user, pass) tuple`, both are names.
            && !line[..head].contains(')')
            && before.has_user()
    };
    let fits = made_up && (is_link || before.has_user()) || plain();
    fits.then_some(start..start + text.len())
}

/// Returns the value after a sign that directly follows the name.
fn after_sign(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches([' ', '\t']);
    if rest.starts_with("==") || rest.starts_with("::") || rest.starts_with("=~") {
        return None;
    }
    ["=>", ":=", "->", "→", "：", ":", "="].iter().find_map(|sign| rest.strip_prefix(sign))
}

/// Yields the ranges of the words.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = &text[from..];
        let start = from + rest.find(|c: char| !c.is_whitespace())?;
        let length = text[start..].find(char::is_whitespace).unwrap_or(text.len() - start);
        from = start + length;
        Some(start..from)
    })
}

/// Finds the password of "log in as root with hunter2horse!".
pub(crate) fn login_with(window: &[u8], words: Range<usize>) -> Option<Candidate> {
    let line = line_of(&window[words.end..window.len().min(words.end + REACH)]);
    let mut has_user = false;
    let mut parts = tokens(line).take(MOST_BETWEEN);
    loop {
        let part = &line[parts.next()?];
        if has_user && matches!(part, "with" | "using" | "mit" | "avec" | "con") {
            break;
        }
        if part.ends_with(['.', '!', '?', ';']) {
            return None;
        }
        has_user |= matches!(part, "as" | "als" | "como" | "comme");
    }
    let token = parts.next()?;
    let text = bare(&line[token.clone()]);
    let start = token.start + line[token].find(text)?;
    let range = words.end + start..words.end + start + text.len();
    // A product has its number at its end.
    let inside = text.as_bytes().windows(2).any(|pair| {
        pair[0].is_ascii_digit()
            && (pair[1].is_ascii_alphabetic() || b"!@#$%^&*".contains(&pair[1]))
    });
    let fits = text.chars().count() >= 8
        && inside
        && is_made_up(text)
        && ends_sentence(&line[start + text.len()..])
        && !refers(text)
        && !is_placeholder(text.as_bytes());
    fits.then_some(Candidate::named("password", range))
}

/// Whether nothing follows but the end of the sentence, or a new clause.
fn ends_sentence(behind: &str) -> bool {
    let rest = behind.trim_start_matches(['"', '\'', '`', '*', ')', '”', '“', '»', '\\']);
    rest.trim().is_empty()
        || rest.starts_with([',', ';'])
        || rest.starts_with(['.', '!'])
            && rest[1..].chars().next().is_none_or(|c| !c.is_alphanumeric())
}

/// Finds the password in "... is the password".
fn value_before(before: &[u8], word: SpokenWord) -> Option<Range<usize>> {
    let near = &before[before.len().saturating_sub(REACH_BACK)..];
    let offset = before.len() - near.len();
    let near_start = near.utf8_chunks().last().filter(|chunk| chunk.invalid().is_empty())?.valid();
    let skipped = near.len() - near_start.len();
    let line = near_start.rsplit(['\n', '\r', ']']).next()?;
    let skipped = skipped + near_start.len() - line.len();
    let words: Vec<Range<usize>> = tokens(line).collect();
    let mut left = words.iter().rev();
    let mut between = 0;
    let link = loop {
        let token = left.next()?;
        let text = line[token.clone()].to_lowercase();
        if matches!(
            text.as_str(),
            "is" | "as" | "was" | "ist" | "als" | "est" | "comme" | "es" | "como"
        ) {
            break token.start;
        }
        between += 1;
        if between > 4 || !OWNERS.contains(text.as_str()) {
            return None;
        }
    };
    let token = left.next()?;
    // The token may have been cut by the window.
    if token.start == 0 && offset > 0 && skipped == 0 {
        return None;
    }
    let raw = &line[token.clone()];
    let text = bare(raw);
    let start = token.start + raw.find(text)?;
    let base = offset + skipped;
    if word == SpokenWord::Pin {
        return is_number(text, 4..=8).then_some(base + start..base + start + text.len());
    }
    let strong = text.chars().any(|c| c.is_ascii_digit() || "!@#$%^&*".contains(c));
    let fits = start + text.len() <= link
        && text.chars().count() >= 6
        && strong
        && is_made_up(text)
        && !refers(text)
        && !is_placeholder(text.as_bytes());
    fits.then_some(base + start..base + start + text.len())
}

/// Finds the value behind a name in Chinese or Japanese, which have no spaces.
fn ideographic_value(line: &str) -> Option<Range<usize>> {
    let mut foreign = 0;
    let mut linked = false;
    let mut start = None;
    for (at, c) in line.char_indices() {
        match c {
            '。' | '！' | '？' | '\n' => return None,
            ' ' | '\u{3000}' | '"' | '\'' | '`' | '“' | '「' | '『' | '*' | '\\' | '(' | '（' =>
                {}
            ':' | '=' | '：' | '是' | '为' | '為' | '成' | 'は' | 'を' | 'が' => {
                linked = true;
            }
            c if c.is_ascii() => {
                start = Some(at);
                break;
            }
            '」' | '”' | '，' | '、' | '）' => linked = false,
            _ => {
                foreign += 1;
                if foreign > 16 {
                    return None;
                }
            }
        }
    }
    let start = start?;
    let rest = &line[start..];
    let length = rest
        .find(|c: char| !c.is_ascii_graphic() || matches!(c, '"' | '`' | '\\' | '<' | '|'))
        .unwrap_or(rest.len());
    let text = rest[..length].trim_end_matches(['.', ',', ';', '?', ')', '\'', '*']);
    let counted = rest[text.len()..]
        .trim_start()
        .starts_with(['年', '位', '个', '個', '桁', '文', '月', '天', '日', '次', '回']);
    let number = linked && is_number(text, 4..=16);
    let fits = number || is_made_up(text) && !refers(text) && !is_placeholder(text.as_bytes());
    (fits && !counted).then_some(start..start + text.len())
}
