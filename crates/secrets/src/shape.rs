//! The shape of secrets: alphabets, boundaries, placeholders, and how random a value is.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// A set of ASCII bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Alphabet(u16);

const DIGIT: u16 = 1;
const LOWER_AF: u16 = 1 << 1;
const LOWER_GZ: u16 = 1 << 2;
const UPPER_AF: u16 = 1 << 3;
const UPPER_GZ: u16 = 1 << 4;
const UNDERSCORE: u16 = 1 << 5;
const DASH: u16 = 1 << 6;
const DOT: u16 = 1 << 7;
const PLUS: u16 = 1 << 8;
const SLASH: u16 = 1 << 9;
const EQUALS: u16 = 1 << 10;
const TILDE: u16 = 1 << 11;
const PERCENT: u16 = 1 << 12;
const DOLLAR: u16 = 1 << 13;
const AT: u16 = 1 << 14;
const BANG: u16 = 1 << 15;

const UPPER: u16 = UPPER_AF | UPPER_GZ;
const LOWER: u16 = LOWER_AF | LOWER_GZ;

/// `0-9`
pub(crate) const DIGITS: Alphabet = Alphabet(DIGIT);
/// `0-9a-f`
pub(crate) const HEX: Alphabet = Alphabet(DIGIT | LOWER_AF);
/// `a-z0-9`
pub(crate) const LOWER_NUM: Alphabet = Alphabet(DIGIT | LOWER);
/// `a-z0-9_`
pub(crate) const LOWER_NUM_UNDERSCORE: Alphabet = Alphabet(LOWER_NUM.0 | UNDERSCORE);
/// `A-Z0-9`
pub(crate) const UPPER_NUM: Alphabet = Alphabet(DIGIT | UPPER);
/// `A-Za-z0-9`
pub(crate) const ALNUM: Alphabet = Alphabet(DIGIT | LOWER | UPPER);
/// `A-Za-z0-9_`
pub(crate) const WORD: Alphabet = Alphabet(ALNUM.0 | UNDERSCORE);
/// `A-Za-z0-9_-`
pub(crate) const URL64: Alphabet = Alphabet(WORD.0 | DASH);
/// `A-Za-z0-9_.-`
pub(crate) const URL64_DOT: Alphabet = Alphabet(URL64.0 | DOT);
/// `A-Za-z0-9+/=`
pub(crate) const BASE64: Alphabet = Alphabet(ALNUM.0 | PLUS | SLASH | EQUALS);
/// `A-Za-z0-9+/`
pub(crate) const BASE64_BARE: Alphabet = Alphabet(ALNUM.0 | PLUS | SLASH);
/// `A-Za-z0-9_.~-`
pub(crate) const UNRESERVED: Alphabet = Alphabet(URL64_DOT.0 | TILDE);
/// What a long run without whitespace is made of, but for the padding of base64.
pub(crate) const OPAQUE: Alphabet = Alphabet(UNRESERVED.0 | PLUS | SLASH);
/// Everything that any kind of token is made of.
pub(crate) const ANY_TOKEN: Alphabet = Alphabet(UNRESERVED.0 | BASE64.0);

const SETS: [u16; 256] = {
    let mut sets = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        sets[byte] = match byte as u8 {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'f' => LOWER_AF,
            b'g'..=b'z' => LOWER_GZ,
            b'A'..=b'F' => UPPER_AF,
            b'G'..=b'Z' => UPPER_GZ,
            b'_' => UNDERSCORE,
            b'-' => DASH,
            b'.' => DOT,
            b'+' => PLUS,
            b'/' => SLASH,
            b'=' => EQUALS,
            b'~' => TILDE,
            b'%' => PERCENT,
            b'$' => DOLLAR,
            b'@' => AT,
            b'!' => BANG,
            _ => 0,
        };
        byte += 1;
    }
    sets
};

impl Alphabet {
    /// Reads characters and ranges, such as `A-Z0-9_-`; a dash at the end is itself.
    pub(crate) fn of(text: &str) -> Self {
        let (mut rest, mut set) = (text.as_bytes(), 0);
        while let [first, after @ ..] = rest {
            let (last, more) = match after {
                [b'-', last, more @ ..] => (last, more),
                _ => (first, after),
            };
            set = (*first..=*last).fold(set, |set, byte| set | SETS[usize::from(byte)]);
            rest = more;
        }
        Self(set)
    }

    pub(crate) fn has(self, byte: u8) -> bool {
        SETS[usize::from(byte)] & self.0 != 0
    }

    /// Counts the bytes at the start that belong to the set, up to `most`.
    pub(crate) fn run(self, bytes: &[u8], most: usize) -> usize {
        bytes.iter().take(most).take_while(|&&byte| self.has(byte)).count()
    }

    /// Counts the bytes at the end that belong to the set, up to `most`.
    pub(crate) fn run_back(self, bytes: &[u8], most: usize) -> usize {
        bytes.iter().rev().take(most).take_while(|&&byte| self.has(byte)).count()
    }
}

/// Whether a token can begin after `before`: at the start, or after something that is no part of
/// a token. The letter of an escape (`\n`, `\u0022`, `%3D`, a colour) is no part of one; a full
/// stop is where tokens have some.
pub(crate) fn begins_after(before: &[u8], inner: Alphabet) -> bool {
    match before.last() {
        None => true,
        Some(b'.') => !inner.has(b'.'),
        Some(&byte) => !URL64.has(byte) || ends_with_escape(before),
    }
}

fn ends_with_escape(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => true,
        [.., b'\\', b'u', a, b, c, d] => [a, b, c, d].iter().all(|byte| byte.is_ascii_hexdigit()),
        [.., b'%', a, b] => a.is_ascii_hexdigit() && b.is_ascii_hexdigit(),
        [head @ .., b'm'] => ends_with_colour(head),
        _ => false,
    }
}

/// Whether the text ends like `ESC [ 1 ; 32`, whose `m` was cut off.
fn ends_with_colour(head: &[u8]) -> bool {
    let numbers = head.iter().rev().take(12).take_while(|b| matches!(b, b'0'..=b'9' | b';'));
    let head = &head[..head.len() - numbers.count()];
    matches!(head, [.., b'\x1b' | b'b' | b'B' | b'3' | b'e', b'['])
}

/// How random a value looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Texture {
    /// Words, or a number.
    Plain,
    /// Words with a digit on one of them, or in capitals with dashes between.
    Wordy,
    /// Not a name that a person would give.
    Random,
}

/// Tells how random a value looks, from the parts between its punctuation.
pub(crate) fn texture(value: &[u8]) -> Texture {
    let mut found = if shouting(value) { Texture::Wordy } else { Texture::Plain };
    for part in value.split(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric()) {
        found = found.max(part_texture(part));
        if found == Texture::Random {
            break;
        }
    }
    found
}

/// The kind of character of a byte, for distinguishing words from random strings.
#[derive(PartialEq, Eq)]
enum Class {
    Digit,
    Lower,
    Upper,
}

fn class(byte: u8) -> Class {
    match byte {
        b'0'..=b'9' => Class::Digit,
        b'A'..=b'Z' => Class::Upper,
        _ => Class::Lower,
    }
}

fn part_texture(part: &[u8]) -> Texture {
    let (mut digits, mut groups, mut crumbs) = (0, 0, 0);
    for run in part.chunk_by(|a, b| class(*a) == class(*b)) {
        match class(run[0]) {
            Class::Digit => {
                digits += run.len();
                groups += 1;
            }
            Class::Lower => crumbs += usize::from(run.len() == 1),
            // Words that are written together begin with one capital.
            Class::Upper => crumbs += usize::from(run.len() > 1),
        }
    }
    let digit_lower =
        part.windows(2).any(|pair| pair[0].is_ascii_digit() && pair[1].is_ascii_lowercase());
    let length = part.len();
    let mixed = digits > 0 && digits < length;
    let random = mixed && length >= 8 && groups >= 2
        || mixed && length >= 12 && digit_lower
        || length >= 16 && crumbs >= 4;
    match (random, mixed) {
        (true, _) => Texture::Random,
        (false, true) => Texture::Wordy,
        (false, false) => Texture::Plain,
    }
}

/// `CAPITALS-WITH-DASHES`: constants have underscores.
fn shouting(value: &[u8]) -> bool {
    value.contains(&b'-')
        && value.iter().filter(|byte| byte.is_ascii_uppercase()).count() >= 6
        && value.iter().all(|byte| !byte.is_ascii_lowercase() && URL64.has(*byte))
}

/// What people write where a secret belongs, anywhere in the value.
const STAND_INS: &str = "xxxx **** .... #### ____ ---- your example placeholder changeme change_me change-me \
     redacted insert replace dummy todo base64 foobar mysecret my_secret my-secret mypass \
     my_pass my-pass my_token my-token mytoken my_api my-api myapikey notasecret not-a- not_a_ \
     lorem keyhere key-here key_here here> … &lt;";

/// What people write where a secret belongs, as the whole value without punctuation.
const STAND_IN_WORDS: &str = "password passwd pass pwd passphrase secret token apikey key user username admin root guest \
     test testing foo bar baz string none null nil undefined true false default required \
     optional empty secretkey privatekey publickey accesstoken authtoken bearertoken apitoken \
     clientsecret topsecret verysecret supersecret unknown hidden masked mysql postgres mongo \
     rabbitmq letmein passwrd qwerty abc abcd srt scrt secrt credentials bearer basic disabled \
     enabled missing unset invalid wrong value something welcome";

/// The same in the body of a token with a known prefix, where letters drawn by lot may well hold
/// a short word.
const BODY_STAND_INS: &str = "xxxx .... ____ your example placeholder redacted dummy -here";

/// Whether a value is a placeholder for a secret.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    let value = &value[..value.len().min(128)];
    if is_stand_in(value) || few_letters(value) {
        return true;
    }
    let bare: Vec<u8> =
        value.iter().filter(|b| b.is_ascii_alphabetic()).map(u8::to_ascii_lowercase).collect();
    STAND_IN_WORDS.split(' ').any(|word| word.as_bytes() == bare)
}

/// Whether a value cannot be a secret, however clearly a sentence calls it one: a
/// variable, a mark, or words such as `your-password`. A weak password is none of these.
pub(crate) fn is_stand_in(value: &[u8]) -> bool {
    let Some(&first) = value.first() else { return true };
    if matches!(first, b'<' | b'[' | b'{' | b'$' | b'%' | b'*' | b'(') {
        // `$2b$10$...` is a hash, not a variable; everything else that begins so refers to
        // something.
        return !value.starts_with(b"$2") || value.len() < 30;
    }
    STAND_IN_SEARCH.is_match(&value[..value.len().min(128)])
}

/// Whether the body of a token with a known prefix is a placeholder.
pub(crate) fn is_placeholder_body(body: &[u8]) -> bool {
    let body = &body[..body.len().min(256)];
    few_letters(body) || BODY_SEARCH.is_match(body)
}

static STAND_IN_SEARCH: LazyLock<AhoCorasick> = LazyLock::new(|| any_of(STAND_INS));
static BODY_SEARCH: LazyLock<AhoCorasick> = LazyLock::new(|| any_of(BODY_STAND_INS));

fn any_of(words: &str) -> AhoCorasick {
    let builder = AhoCorasick::builder().ascii_case_insensitive(true).build(words.split(' '));
    builder.expect("a few short words make a small automaton")
}

/// Whether a value repeats so few characters that it cannot be random.
fn few_letters(value: &[u8]) -> bool {
    let mut seen = [0_u64; 4];
    for byte in value.iter().map(u8::to_ascii_lowercase) {
        seen[usize::from(byte / 64)] |= 1 << (byte % 64);
    }
    let distinct: u32 = seen.iter().map(|bits| bits.count_ones()).sum();
    distinct < 4 || (value.len() >= 16 && distinct < 5)
}

/// Whether a digit or a capital is in it: words in lower case with dashes are names.
pub(crate) fn digit_or_capital(body: &[u8]) -> bool {
    body.iter().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

/// Whether it is words in lower case and short numbers, such as `container-id-1`.
pub(crate) fn kebab_words(body: &[u8]) -> bool {
    body.split(|byte| matches!(byte, b'-' | b'_')).all(|part| {
        part.iter().all(u8::is_ascii_lowercase)
            || (part.len() <= 4 && part.iter().all(u8::is_ascii_digit))
    })
}

/// Whether upper case, lower case and digits are all in it.
pub(crate) fn all_three(body: &[u8]) -> bool {
    body.iter().any(u8::is_ascii_digit)
        && body.iter().any(u8::is_ascii_uppercase)
        && body.iter().any(u8::is_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_plain_and_drawn_letters_are_random() {
        let cases = [
            ("identifier", Texture::Plain),
            ("correct-horse", Texture::Plain),
            ("AccessTokenResponse", Texture::Plain),
            ("1234567890", Texture::Plain),
            ("2026-03-20", Texture::Plain),
            ("sha256", Texture::Wordy),
            ("Ed25519KeyPair", Texture::Wordy),
            ("ecdsa-sha2-nistp256", Texture::Wordy),
            ("SECRET-PEM", Texture::Wordy),
            ("SECRET_PEM", Texture::Plain),
            ("h7Gk2mQ9", Texture::Random),
            ("550e8400-e29b-41d4-a716-446655440000", Texture::Random),
        ];
        for (value, expected) in cases {
            assert_eq!(texture(value.as_bytes()), expected, "{value}");
        }
    }

    #[test]
    fn a_token_begins_after_an_escape_but_not_inside_a_word() {
        for before in ["", " ", "=", "\"", "\\n", "\\u0022", "%3D", "\x1b[1;32m", "记"] {
            assert!(begins_after(before.as_bytes(), ALNUM), "{before:?}");
        }
        for before in ["a", "1", "-", "_", "ta", "nn"] {
            assert!(!begins_after(before.as_bytes(), ALNUM), "{before:?}");
        }
    }

    #[test]
    fn stand_ins_are_told_from_values() {
        for value in [
            "<key>",
            "${VAR}",
            "$VAR",
            "xxxxxxxx",
            "your-api-key",
            "changeme",
            "null",
            "[redacted:x]",
        ] {
            assert!(is_placeholder(value.as_bytes()), "{value}");
        }
        for value in ["SECRET-PEM", "h7Gk2mQ9", "123456:SECRETBOT"] {
            assert!(!is_placeholder(value.as_bytes()), "{value}");
        }
    }
}
