//! What a text is by itself: a word, a phrase, a number, or something that a person made up.

use super::lists::{COMMON_WORDS, FUNCTION_WORDS, NOT_ITSELF};

/// Returns the length of a passphrase of plain words that ends the sentence.
pub(super) fn phrase(text: &str) -> Option<usize> {
    let end =
        text.find(['.', ',', ';', '!', '?', '(', ')', '"', ':', '|', '<']).unwrap_or(text.len());
    let words = text[..end].trim_end();
    is_phrase(words, 3).then_some(words.len())
}

/// Whether a text is words drawn at random, and no part of a sentence.
fn is_phrase(text: &str, least: usize) -> bool {
    let (mut count, mut ordinary) = (0, 0);
    for word in text.split(' ') {
        let letters = word.chars().all(|c| c.is_alphabetic() || c.is_ascii_digit() || c == '-');
        let folded = word.to_lowercase();
        if !letters || word.chars().count() < 3 || FUNCTION_WORDS.contains(folded.as_str()) {
            return false;
        }
        ordinary += usize::from(is_common(&folded) || has_predicate_ending(&folded));
        count += 1;
    }
    // One word of a phrase may well say something of a password; two make a sentence.
    (least..=12).contains(&count) && ordinary <= usize::from(count >= 3)
}

/// Whether words in quotes are a phrase, which may have small words inside: "salt and lanterns".
pub(crate) fn is_quoted_phrase(text: &str) -> bool {
    const NUMBERS: &[&str] =
        &["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let words: Vec<String> = text.split(' ').map(str::to_lowercase).collect();
    let is_small = |word: &String| FUNCTION_WORDS.contains(word.as_str());
    let tells =
        |word: &&String| !NUMBERS.contains(&word.as_str()) && (word.len() < 3 || is_small(word));
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return false };
    let content: Vec<&String> = words.iter().filter(|word| !tells(word)).collect();
    let is_common = |word: &&&String| COMMON_WORDS.contains(word.as_str());
    let ends_as_adjective = |word: &&&String| has_predicate_ending(word);
    let (common, endings) = (
        content.iter().filter(is_common).count(),
        content.iter().filter(ends_as_adjective).count(),
    );
    let letters = |word: &String| {
        word.chars()
            .all(|c| c.is_alphabetic() || c.is_ascii_digit() || matches!(c, '-' | '\'' | '’'))
    };
    (2..=8).contains(&words.len())
        && words.iter().all(letters)
        && !tells(&first)
        && !tells(&last)
        && content.len() >= 2
        && content.len() * 2 >= words.len()
        && common <= usize::from(content.len() >= 3)
        && common + endings <= content.len() / 2
}

/// Whether it is words joined by a sign, of which a later one alone has a capital: `papaya-Bell`.
pub(super) fn is_joined(text: &str) -> bool {
    const PREFIXES: &[&str] =
        &["non", "pre", "post", "anti", "mid", "pro", "all", "self", "semi", "multi", "inter"];
    let parts: Vec<&str> = text.split(['-', '_', '.', '&']).collect();
    let is_capital = |part: &&str| part.starts_with(char::is_uppercase);
    let is_word = |part: &&str| {
        part.len() >= 3 && part.chars().all(char::is_alphabetic) && !is_common(&part.to_lowercase())
    };
    parts.len() >= 2
        && parts.iter().all(is_word)
        && !PREFIXES.contains(&parts[0])
        && parts[0].chars().all(char::is_lowercase)
        && parts[1..].iter().any(is_capital)
}

/// Whether it is words in lower case with dashes or underscores between: `correct-horse`.
pub(super) fn is_kebab(text: &str) -> bool {
    let is_word =
        |part: &str| part.len() >= 3 && part.chars().all(char::is_lowercase) && !is_common(part);
    text.contains(['-', '_']) && !names_itself(text) && text.split(['-', '_']).all(is_word)
}

/// Whether a text holds the word for what it should be.
pub(crate) fn names_itself(folded: &str) -> bool {
    ["pass", "pwd", "secret", "token", "kennwort", "user"].iter().any(|word| folded.contains(word))
}

/// Whether a word behind "password" makes it something else: a policy, a length.
pub(crate) fn is_about_passwords(word: &str) -> bool {
    NOT_ITSELF.contains(word)
}

/// Whether it is letters, and no word that says something about a password.
pub(crate) fn is_plain_word(text: &str) -> bool {
    text.chars().all(char::is_alphabetic) && !is_common(&text.to_lowercase())
}

/// Whether a lower-case word is no participle, adverb or adjective by its ending.
pub(super) fn is_rare_word(text: &str) -> bool {
    let folded = text.to_lowercase();
    text.is_ascii() && text == folded && !has_predicate_ending(&folded)
}

pub(super) fn has_predicate_ending(folded: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "ed", "ing", "able", "ible", "ly", "ive", "ant", "ent", "ous", "ful", "less", "ory", "ary",
        "lich", "bar", "isch", "ert", "iert", "ado", "ada", "ido", "ida", "ée", "é", "eux", "ible",
        "tion", "ment", "ung", "ción", "sson", "words", "word", "wort",
    ];
    ENDINGS.iter().any(|ending| folded.ends_with(ending))
        || folded.starts_with("ge") && folded.ends_with(['t', 'n'])
        || folded.starts_with("ver") && folded.ends_with(['t', 'n'])
}

pub(super) fn is_common(folded: &str) -> bool {
    FUNCTION_WORDS.contains(folded) || COMMON_WORDS.contains(folded)
}

pub(crate) fn is_number(text: &str, lengths: std::ops::RangeInclusive<usize>) -> bool {
    lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a value points to something else: a path, an address, a file, a variable.
pub(crate) fn refers(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let address = lower.contains('@')
        && lower.rsplit('@').next().is_some_and(|host| {
            host.contains('.')
                && host.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c))
        })
        && !lower.starts_with('@');
    const FILES: &[&str] = &[
        ".md", ".txt", ".env", ".json", ".yml", ".yaml", ".toml", ".kdbx", ".com", ".org", ".net",
        ".io", ".dev", ".local", ".rs", ".py", ".js", ".ts", ".go", ".html", ".pdf", ".gpg", ".de",
        ".fr", ".cn", ".jp", ".es", ".sh", ".conf", ".ini", ".log", ".php", ".java",
    ];
    let name = |c: char| c.is_alphabetic() || matches!(c, '_' | '\'');
    // Data that is no text; an escape begins a colour.
    let is_data = text.contains(|c: char| c.is_ascii_control() && c != '\x1b');
    let tag = text.starts_with(['!', '&', '@']) && text[1..].chars().all(name);
    text.starts_with(['/', '~', '$', '<', '{', '[', '%', '#'])
        || tag
        || is_data
        || text.contains("://")
        || text.contains("&amp;")
        || text.contains("::")
        || text.contains(['(', ')', '{', '}', '<', '>', '|', '[', ']', '"', '`'])
        || lower.starts_with("www.")
        || address
        || FILES.iter().any(|ending| lower.ends_with(ending))
        || text.contains('.') && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// Whether the text is not a word, a date, a number or the name of a technology.
pub(crate) fn is_made_up(text: &str) -> bool {
    let count = text.chars().count();
    if !(5..=128).contains(&count) || is_technical(text) {
        return false;
    }
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let symbols = text.chars().filter(|c| "!@#$%^&*+=~§€?_".contains(*c)).count();
    if letters == 0 {
        return symbols >= 2 && digits >= 4 && !text.contains(['+', '=', '%']);
    }
    let folded = text.to_lowercase();
    if digits > 0 {
        return true;
    }
    if names_itself(&folded) {
        return false;
    }
    if is_joined(text) {
        return true;
    }
    let constant = text.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let only_underscores = symbols > 0 && text.chars().all(|c| c.is_alphabetic() || c == '_');
    if symbols > 0 && !constant && !only_underscores {
        let inner = text.trim_end_matches(['!', '?', '*', '_']);
        return inner
            .contains(['!', '@', '#', '$', '%', '^', '&', '*', '+', '=', '~', '§', '€', '?'])
            || text.ends_with('!') && count >= 8 && text.chars().any(char::is_uppercase);
    }
    let parts: Vec<&str> = folded.split(['-', '.', '_']).collect();
    if parts.len() >= 3 && !constant && count >= 11 && !text.contains('_') {
        return parts.iter().all(|part| part.len() >= 3 && !is_common(part));
    }
    let humps = text
        .chars()
        .zip(text.chars().skip(1))
        .filter(|(a, b)| a.is_lowercase() && b.is_uppercase());
    humps.count() > 0 && letters == count && count >= 8 && !is_common(&folded)
}

/// Whether it is a date, a time, a version, a count with a unit, or a standard.
pub(super) fn is_technical(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.iter().all(|b| b.is_ascii_digit() || b":-./,+Tt%Zz".contains(b)) {
        return true;
    }
    let folded = text.to_ascii_lowercase();
    let head =
        folded.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.' | '_'));
    const STANDARDS: &[&str] = &[
        "sha", "md", "utf", "base", "ipv", "v", "http", "oauth", "tls", "ssl", "wpa", "argon",
        "aes", "rsa", "python", "java", "ios", "windows", "win", "p", "s", "k", "ec", "x", "h",
        "mp", "rfc", "iso", "gpt", "covid", "cve", "pbkdf", "php", "web", "version", "step",
        "phase", "chapter", "section", "table", "figure", "page", "issue", "pr", "ticket", "bug",
        "line", "option", "level", "tier", "part", "day", "week", "month", "q", "room", "nist",
        "owasp", "fido", "cwe", "ed", "curve", "secp", "hs", "rs", "es", "ps", "ripemd", "crc",
        "sqlite", "mysql", "psql",
    ];
    if head != folded && STANDARDS.contains(&head) {
        return true;
    }
    // `12-character`, `8+`, `3rd`, `24h`, `2FA`, `1Password`.
    let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    let rest = &folded[digits..];
    let counted = digits > 0
        && (rest.starts_with('-')
            && rest[1..].chars().all(|c| c.is_ascii_alphabetic() || c == '-')
            || [
                "st", "nd", "rd", "th", "fa", "h", "min", "s", "ms", "kb", "mb", "gb", "x", "d",
                "password",
            ]
            .contains(&rest));
    counted || folded.starts_with("u+") || folded.starts_with("cve-")
}
