//! Numbers of payment cards, and the codes on their backs.

use std::ops::Range;

use crate::rules::Candidate;

/// The digits of a telephone number with its country code, at most (ITU-T E.164).
const MAX_PHONE_DIGITS: usize = 15;

/// Looks for the number of a card that begins at `at`, with three digits.
pub(crate) fn card(window: &[u8], at: usize) -> Option<Candidate> {
    let before = &window[..at];
    // The number of an account, a part of a longer number or of an id is no card.
    let glued = match before {
        [.., byte, b'-'] => byte.is_ascii_alphanumeric(),
        // The groups of a longer number, such as that of an account.
        [.., byte, b' '] => byte.is_ascii_digit(),
        [.., byte] => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'#' | b'/'),
        [] => false,
    };
    if glued && !before.ends_with(b"\\n") {
        return None;
    }
    let number = Number::read(window, at);
    if before.ends_with(b"+") && number.count <= MAX_PHONE_DIGITS {
        return None;
    }
    let end = at + number.length;
    let behind = window.get(end..).unwrap_or_default();
    let goes_on = match behind {
        [byte, ..] if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'%') => true,
        [b'.' | b',' | b'-' | b':' | b'/', byte, ..] => byte.is_ascii_alphanumeric(),
        _ => false,
    };
    let is_listed = is_in_a_list(before, behind);
    if goes_on || !number.is_card(is_listed, || speaks_of_a_card(before)) {
        return None;
    }
    Some(Candidate::shaped("card_number", at..end))
}

/// A number, and the lengths of the groups it is written in.
#[derive(Default)]
struct Number {
    digits: [u8; 20],
    count: usize,
    groups: [usize; 6],
    group_count: usize,
    /// How many bytes it takes.
    length: usize,
}

impl Number {
    /// Reads groups of digits with one space or dash between them.
    fn read(window: &[u8], at: usize) -> Self {
        let (mut number, mut between) = (Self::default(), None);
        for (offset, &byte) in window[at..].iter().enumerate().take(32) {
            match byte {
                b'0'..=b'9' if number.count < 20 => {
                    if number.length < offset || offset == 0 {
                        number.group_count += 1;
                    }
                    if number.group_count > 6 {
                        break;
                    }
                    number.groups[number.group_count - 1] += 1;
                    number.digits[number.count] = byte - b'0';
                    number.count += 1;
                    number.length = offset + 1;
                }
                b' ' | b'-'
                    if number.length == offset
                        && between.is_none_or(|separator| separator == byte) =>
                {
                    // No card begins with fewer than four digits and a space.
                    if number.groups[0] < 4 {
                        break;
                    }
                    between = Some(byte);
                }
                _ => break,
            }
        }
        number
    }

    fn digits(&self) -> &[u8] {
        &self.digits[..self.count]
    }

    fn is_card(&self, is_listed: bool, is_named: impl Fn() -> bool) -> bool {
        if !(13..=19).contains(&self.count) || !self.has_checksum() {
            return false;
        }
        let first = self.digits[0];
        if self.digits().iter().all(|digit| *digit == first) || !self.has_issuer() {
            return false;
        }
        let groups = &self.groups[..self.group_count];
        match groups {
            // Barcodes and ids have these lengths too.
            [13 | 17 | 18 | 19] => is_named(),
            [_] => !is_listed || is_named(),
            [4, 6, 4 | 5] => true,
            [4, 4, 4, 1..=4] | [4, 4, 4, 4, 1..=3] => true,
            _ => false,
        }
    }

    /// Whether some company gives out cards that begin so and are so long.
    fn has_issuer(&self) -> bool {
        let head = |digits: usize| {
            self.digits[..digits]
                .iter()
                .fold(0_u32, |number, digit| number * 10 + u32::from(*digit))
        };
        let length = self.count;
        match (head(1), head(2), head(3), head(4)) {
            (4, ..) => matches!(length, 13 | 16 | 19),
            (_, 51..=55, ..) | (_, _, _, 2221..=2720 | 2200..=2204) => length == 16,
            (_, 34 | 37, ..) => length == 15,
            (_, 36 | 38 | 39, ..) | (_, _, 300..=305, _) => length == 14,
            (_, 62 | 65, ..) | (_, _, 644..=649, _) | (_, _, _, 6011 | 3528..=3589) => {
                (16..=19).contains(&length)
            }
            (_, _, _, 5018 | 5020 | 5038 | 5893 | 6304 | 6759 | 6761..=6763) => length >= 13,
            _ => false,
        }
    }

    /// The check of Luhn: every second digit from the right is doubled.
    fn has_checksum(&self) -> bool {
        let doubled = |(place, digit): (usize, &u8)| match (place % 2, u32::from(*digit) * 2) {
            (1, twice @ 10..) => twice - 9,
            (1, twice) => twice,
            (_, _) => u32::from(*digit),
        };
        self.digits().iter().rev().enumerate().map(doubled).sum::<u32>() % 10 == 0
    }
}

/// Whether a number is in a list of numbers, such as constants and data, or is a JSON number.
fn is_in_a_list(before: &[u8], behind: &[u8]) -> bool {
    let last = before.trim_ascii_end().last();
    let next = behind.trim_ascii_start();
    let more = next.first() == Some(&b',')
        && next[1..]
            .trim_ascii_start()
            .first()
            .is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-');
    matches!(last, Some(b',' | b'[' | b'-' | b'{')) || more || before.ends_with(b":")
}

fn speaks_of_a_card(before: &[u8]) -> bool {
    const WORDS: &str = "card visa karte carte tarjeta cartão 卡 カード maestro credit amex";
    let near = &before[before.len().saturating_sub(72)..];
    let near = String::from_utf8_lossy(near).to_lowercase();
    WORDS.split(' ').any(|word| near.contains(word))
}

/// Three or four digits behind `cvv`.
pub(crate) fn card_code(window: &[u8], word: Range<usize>) -> Option<Candidate> {
    if window[..word.start].last().is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    // Other things have security codes and check digits too.
    let is_plain = word.len() > 3;
    if is_plain && !speaks_of_a_card(&window[..word.start]) {
        return None;
    }
    let rest = &window[word.end..window.len().min(word.end + 24)];
    let rest = rest.strip_prefix(b"2").unwrap_or(rest);
    let gap = rest.iter().position(u8::is_ascii_digit)?;
    let between = rest[..gap].to_ascii_lowercase();
    let text = between.trim_ascii();
    let links: [&[u8]; 9] =
        [b"", b":", b"=", b"is", b"code", b"code:", b"code is", b"number", b"ist"];
    let quotes = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`' | b'*');
    let bare: Vec<u8> = text.iter().copied().filter(|byte| !quotes(byte)).collect();
    if gap == 0 || !links.contains(&bare.trim_ascii()) {
        return None;
    }
    let digits = rest[gap..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let alone = !rest.get(gap + digits).is_some_and(|byte| byte.is_ascii_alphanumeric());
    let skipped = window[word.end..].len().min(24) - rest.len();
    let start = word.end + skipped + gap;
    (matches!(digits, 3 | 4) && alone)
        .then_some(Candidate::named("card_code", start..start + digits))
}

#[cfg(test)]
mod tests {
    use crate::scan;

    #[test]
    fn phone_numbers_with_the_checksum_of_a_card_are_no_cards() {
        for text in [
            "My phone number is +49 151 12345678",
            "+4915112345678",
            "reach me at +49 151-1234-5678.",
            "Tel. 0049 151 12345678",
            "phone:+4915112345678",
            "(+49) 151 12345678",
            "+49 (151) 12345678",
            "＋49 151 12345678",
        ] {
            assert!(kinds(text).is_empty(), "{text}: {:?}", kinds(text));
        }
        // No telephone number has 16 digits.
        assert_eq!(kinds("+4111111111111111"), ["card_number"]);
        assert!(kinds("+411111111111111").is_empty());
    }

    fn kinds(text: &str) -> Vec<&'static str> {
        scan(text.as_bytes()).into_iter().map(|hit| hit.kind).collect()
    }

    #[test]
    fn cards_are_found_by_issuer_length_and_checksum() {
        for text in [
            "my card is 4111 1111 1111 1111",
            "4111111111111111",
            "5500-0000-0000-0004, valid 12/28",
            "Amex 3782 822463 10005.",
            "paid with 6011000990139424",
            "{\"card\":\"4012888888881881\"}",
        ] {
            assert_eq!(kinds(text), ["card_number"], "{text}");
        }
        assert_eq!(kinds("card 4111 1111 1111 1111 cvv 123"), ["card_number", "card_code"]);
    }

    #[test]
    fn other_long_numbers_are_no_cards() {
        for text in [
            "4111 1111 1111 1112",
            "ISBN 978-3-16-148410-0",
            "IMEI 490154203237518",
            "0.4111111111111111",
            "barcode 4006381333931",
            "+49 30 1234567890123",
            "id 1234567890123456789",
            "DE89 3704 0044 0532 0130 00",
            "4111-1111-1111-1111-1111",
            "a4111111111111111",
            "1700000000000000",
        ] {
            assert_eq!(kinds(text), [""; 0], "{text}");
        }
    }
}
