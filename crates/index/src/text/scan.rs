//! Finds the words, numbers and names of a text, one after the other.
//!
//! A name consists of pieces with joints between them: `src/foo/bar.rs`, `well-known`, `20.04`. It
//! is passed on as a whole and in its pieces, so that it is found by either.

use std::ops::Range;

use super::chars::{BYTES, Class, class, plain};
use super::language::{Alphabet, Language};
use super::stem::Stems;
use super::{Kind, Token, emit, number, spaceless};

/// Pieces of one name, at most; the rest is another name.
const MAX_PIECES: usize = 64;
/// Bytes of a piece that is searched for camel-case parts.
const MAX_HUMPED: usize = 64;
/// Camel-case parts of a piece that is split: more are noise.
const MAX_HUMPS: usize = 8;
/// Bytes of a word on the fast path.
const SHORT: usize = 31;

/// Letters of an n-gram of a long word.
const GRAM: usize = 5;
/// Letters of a word that is cut into n-grams, at most.
const MAX_CUT: usize = 48;

/// Buffers that are reused from text to text.
pub(super) struct Scratch {
    stems: Stems,
    lowered: String,
    whole: String,
    pieces: Vec<Piece>,
}

impl Scratch {
    pub(super) fn new() -> Self {
        Self {
            stems: Stems::new(),
            lowered: String::new(),
            whole: String::new(),
            pieces: Vec::new(),
        }
    }

    /// Returns the token of one lower-cased word.
    pub(super) fn stem(&mut self, word: &str, language: Language) -> &str {
        self.stems.of(word, language).0
    }
}

/// A piece of a name: letters, digits, marks and apostrophes.
#[derive(Clone, Debug)]
struct Piece {
    /// What joins it to the piece before.
    joint: Range<usize>,
    bytes: Range<usize>,
    letters: bool,
    digits: bool,
    apostrophe: bool,
}

impl Piece {
    fn is_number(&self) -> bool {
        self.digits && !self.letters
    }
}

pub(super) struct Scan<'a, 's> {
    pub(super) text: &'a str,
    pub(super) language: Language,
    pub(super) scratch: &'s mut Scratch,
    pub(super) each: &'s mut dyn FnMut(&Token<'_>),
}

impl Scan<'_, '_> {
    pub(super) fn run(mut self) {
        let mut at = 0;
        while at < self.text.len() {
            at = self.step(at);
        }
    }

    /// Passes on the token at a position; returns where it ends.
    fn step(&mut self, at: usize) -> usize {
        let byte = self.text.as_bytes()[at];
        if byte.is_ascii() {
            return match BYTES[usize::from(byte)] {
                Class::Letter => self.plain_word(at).unwrap_or_else(|| self.name(at, at)),
                Class::Digit => self.name(at, at),
                Class::Joint => self.marked(at),
                _ => at + 1,
            };
        }
        let Some(c) = self.text[at..].chars().next() else { return self.text.len() };
        match class(c) {
            Class::Letter | Class::Digit => self.name(at, at),
            Class::Joint => self.marked(at),
            Class::Spaceless(script) => spaceless::run(self.text, at, script, self.each),
            Class::Emoji => self.emoji(at),
            Class::Gap | Class::Mark | Class::Apostrophe | Class::Hidden => at + c.len_utf8(),
        }
    }

    /// The fast path for most words of most texts: ASCII letters with nothing joined to them.
    fn plain_word(&mut self, at: usize) -> Option<usize> {
        let rest = &self.text.as_bytes()[at..];
        let mut buffer = [0; SHORT];
        let mut len = 0;
        let mut capitals = 0;
        for byte in rest {
            if !byte.is_ascii_alphabetic() {
                break;
            }
            *buffer.get_mut(len)? = byte.to_ascii_lowercase();
            capitals += usize::from(byte.is_ascii_uppercase());
            len += 1;
        }
        let plural = capitals + 1 == len && rest[len - 1] == b's' && capitals > 1;
        let humped = capitals != 0
            && capitals != len
            && !(capitals == 1 && rest[0].is_ascii_uppercase())
            && !plural;
        if humped || !self.ends_plainly(at + len, len) {
            return None;
        }
        let word = std::str::from_utf8(buffer.get(..len)?).ok()?;
        let (text, weak) = self.scratch.stems.of(word, self.language);
        let kind = if weak { Kind::Weak } else { Kind::Word };
        emit(text, kind, at..at + len, self.each);
        if !weak {
            self.grams(at..at + len);
        }
        Some(at + len)
    }

    /// Whether nothing is joined to a word that ends at a position.
    fn ends_plainly(&self, end: usize, len: usize) -> bool {
        let rest = &self.text.as_bytes()[end..];
        let of = |byte: &u8| BYTES.get(usize::from(*byte)).copied();
        let Some(next) = rest.first() else { return true };
        match of(next) {
            Some(Class::Gap) => true,
            Some(Class::Joint | Class::Apostrophe) => {
                let alone = rest.get(1).is_none_or(|after| of(after) == Some(Class::Gap));
                alone && !(len == 1 && *next == b'#')
            }
            _ => false,
        }
    }

    /// A mark before a name: `@user`, `#tag`, `.net`.
    fn marked(&mut self, at: usize) -> usize {
        let mut chars = self.text[at..].chars();
        let Some(mark) = chars.next() else { return self.text.len() };
        let after = at + mark.len_utf8();
        let next = chars.next().map_or(Class::Gap, class);
        let marks = match plain(mark) {
            '@' | '#' => matches!(next, Class::Letter | Class::Digit),
            '.' => next == Class::Letter && self.is_loose(at),
            _ => false,
        };
        if marks { self.name(at, after) } else { after }
    }

    /// Whether whitespace, a bracket or nothing is before a position.
    fn is_loose(&self, at: usize) -> bool {
        let before = self.text[..at].chars().next_back();
        before.is_none_or(|c| c.is_whitespace() || "([{`\"'*".contains(c))
    }

    /// Passes on a name that begins at `begin` with its mark, or at `at` without one.
    fn name(&mut self, begin: usize, at: usize) -> usize {
        let mut pieces = std::mem::take(&mut self.scratch.pieces);
        pieces.clear();
        let mut address = false;
        let mut joint = at..at;
        loop {
            let piece = self.piece(joint);
            let end = piece.bytes.end;
            let digit = piece.digits && ends_with_digit(&self.text[piece.bytes.clone()]);
            pieces.push(piece);
            if pieces.len() == MAX_PIECES {
                break;
            }
            match self.joint(end, digit, address) {
                Some(next) => joint = next,
                None => break,
            }
            address |= &self.text[joint.clone()] == "://";
        }
        let last = pieces.last().map_or(at, |piece| piece.bytes.end);
        let end = self.suffix(&pieces, last);
        match pieces.as_slice() {
            [piece] if begin == at && end == last => {
                self.word(piece, Kind::Word);
                if piece.is_number() {
                    self.counted(piece);
                }
            }
            _ => self.whole(begin..end, &pieces),
        }
        self.scratch.pieces = pieces;
        end
    }

    /// Reads the piece after a joint.
    fn piece(&self, joint: Range<usize>) -> Piece {
        let start = joint.end;
        let mut piece =
            Piece { joint, bytes: start..start, letters: false, digits: false, apostrophe: false };
        let mut letter = false;
        let mut chars = self.text[start..].chars().peekable();
        while let Some(c) = chars.next() {
            match class(c) {
                Class::Letter => {
                    piece.letters = true;
                    letter = true;
                }
                Class::Digit => {
                    piece.digits = true;
                    letter = false;
                }
                Class::Mark | Class::Hidden => {}
                Class::Apostrophe
                    if letter && chars.peek().is_some_and(|c| class(*c) == Class::Letter) =>
                {
                    piece.apostrophe = true;
                }
                _ => break,
            }
            piece.bytes.end += c.len_utf8();
        }
        piece
    }

    /// Returns the joint between the piece that ends at a position and the next one, if there is
    /// one.
    fn joint(&self, end: usize, digit: bool, address: bool) -> Option<Range<usize>> {
        let mut joint = String::new();
        let mut at = end;
        for c in self.text[end..].chars().take(4) {
            let joins = match class(c) {
                Class::Joint => true,
                Class::Gap => {
                    (plain(c) == ',' && digit) || (address && "?=&%~;,!$".contains(plain(c)))
                }
                Class::Letter | Class::Digit => {
                    let next = class(c);
                    let good = match joint.as_str() {
                        "" => false,
                        "," => next == Class::Digit || address,
                        "-" | "_" | "." | "/" | "\\" | ":" | "@" | "+" | "&" | "://" => true,
                        // Two dashes or dots separate sentences.
                        _ => {
                            address
                                || (joint.contains(['/', '\\', ':', '_'])
                                    && !joint.contains([',', '#'])
                                    && !joint.contains("--")
                                    && !joint.contains(".."))
                        }
                    };
                    return good.then_some(end..at);
                }
                _ => false,
            };
            if !joins {
                return None;
            }
            joint.push(plain(c));
            at += c.len_utf8();
        }
        None
    }

    /// Returns where a name ends with its suffix: `C++`, `C#`.
    fn suffix(&self, pieces: &[Piece], end: usize) -> usize {
        let Some(last) = pieces.last().filter(|last| last.letters) else { return end };
        let rest = &self.text[end..];
        let free = |len: usize| {
            let next = rest[len..].chars().next().map_or(Class::Gap, class);
            !matches!(next, Class::Letter | Class::Digit)
        };
        if rest.starts_with("++") && free(2) {
            return end + 2;
        }
        if rest.starts_with('#') && last.bytes.len() == 1 && free(1) {
            return end + 1;
        }
        end
    }

    /// Passes on a name of several pieces: as a whole, then in its pieces.
    fn whole(&mut self, bytes: Range<usize>, pieces: &[Piece]) {
        let text = self.text;
        let mut whole = std::mem::take(&mut self.scratch.whole);
        whole.clear();
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return };
        let (mark, suffix) =
            (&text[bytes.start..first.bytes.start], &text[last.bytes.end..bytes.end]);
        let bare = mark.is_empty() && suffix.is_empty();
        let mut abbreviation = bare && pieces.len() > 1;
        if bare && pieces.iter().all(Piece::is_number) {
            whole.push_str(&self.number(pieces));
            abbreviation = false;
            // The groups of one number are not separate numbers.
            if !whole.contains(|c: char| !c.is_ascii_digit()) {
                emit(&whole, Kind::Word, bytes, self.each);
                self.scratch.whole = whole;
                return;
            }
            emit(&whole, Kind::Word, bytes, self.each);
        } else {
            whole.extend(mark.chars().map(plain));
            let simple = pieces.iter().skip(1).all(|piece| {
                matches!(text[piece.joint.clone()].chars().map(plain).next(), Some('-' | '_' | '.'))
                    && !text[piece.joint.clone()]
                        .contains(['/', '\\', ':', '@', '+', '&', '?', '='])
            });
            let mut before = false;
            for piece in pieces {
                let raw = &text[piece.bytes.clone()];
                let starts = raw.chars().next().is_some_and(|c| class(c) == Class::Digit);
                // Hyphens are optional: `e-mail`, `foo_bar` and `fooBar` are one name each.
                let joint = text[piece.joint.clone()].chars().map(plain);
                whole.extend(joint.filter(|c| match c {
                    '-' | '_' => before && starts,
                    '.' => !simple || before || starts,
                    _ => true,
                }));
                before = ends_with_digit(raw);
                abbreviation &= raw.chars().take(2).count() == 1
                    && (piece.joint.is_empty() || &text[piece.joint.clone()] == ".");
                self.lower(piece);
                let cut = apostrophes(&self.scratch.lowered, self.language).0;
                whole.extend(cut.chars().filter(|c| *c != '\''));
            }
            whole.push_str(suffix);
            if whole.chars().all(char::is_alphabetic) {
                let text = self.scratch.stems.of(&whole, self.language).0;
                emit(text, Kind::Word, bytes, self.each);
            } else {
                self.scratch.lowered.clear();
                super::fold::fold(&whole, &mut self.scratch.lowered);
                emit(&self.scratch.lowered, Kind::Word, bytes, self.each);
            }
        }
        self.scratch.whole = whole;
        if !abbreviation {
            for piece in pieces {
                self.word(piece, Kind::Part);
            }
        }
    }

    /// Returns the compared form of a number with marks inside.
    fn number(&mut self, pieces: &[Piece]) -> String {
        let mut parts = Vec::with_capacity(pieces.len());
        let mut joints = Vec::with_capacity(pieces.len());
        for piece in pieces {
            self.lower(piece);
            parts.push(self.scratch.lowered.clone());
            let joint: String = self.text[piece.joint.clone()].chars().map(plain).collect();
            joints.push(joint);
        }
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let joints: Vec<&str> = joints.iter().skip(1).map(String::as_str).collect();
        number::whole(&parts, &joints)
    }

    /// Leaves a piece in lower case in `lowered`.
    fn lower(&mut self, piece: &Piece) {
        self.scratch.lowered.clear();
        super::fold::lower(&self.text[piece.bytes.clone()], &mut self.scratch.lowered);
    }

    /// Passes on one piece as a word or a part, and the parts that can be recognized inside it.
    fn word(&mut self, piece: &Piece, kind: Kind) {
        let text = self.text;
        self.lower(piece);
        let Scratch { stems, lowered, .. } = &mut *self.scratch;
        if piece.is_number() {
            return emit(number::small(lowered), kind, piece.bytes.clone(), self.each);
        }
        let mut rest = None;
        if piece.apostrophe {
            let (cut, tail) = apostrophes(lowered, self.language);
            rest = tail.map(str::to_owned);
            let cut = cut.to_owned();
            lowered.clear();
            lowered.extend(cut.chars().filter(|c| *c != '\''));
        }
        let (stem, weak) = stems.of(lowered, self.language);
        emit(stem, if weak { Kind::Weak } else { kind }, piece.bytes.clone(), self.each);
        if !weak && !piece.digits && !piece.apostrophe {
            self.grams(piece.bytes.clone());
        }
        let Scratch { stems, .. } = &mut *self.scratch;
        if let Some(rest) = rest {
            let raw = &text[piece.bytes.clone()];
            let after = raw.char_indices().find(|(_, c)| class(*c) == Class::Apostrophe);
            let start = after.map_or(0, |(at, c)| at + c.len_utf8());
            let bytes = piece.bytes.start + start..piece.bytes.end;
            let (stem, weak) = stems.of(&rest, self.language);
            return emit(stem, if weak { Kind::Weak } else { Kind::Part }, bytes, self.each);
        }
        if piece.bytes.len() <= MAX_HUMPED && !piece.apostrophe {
            self.humps(piece);
        }
    }

    /// Passes on the n-grams of a word that may be a compound: in languages where `Fensterbank` and
    /// `Bank am Fenster` are the same thing, every few letters count.
    fn grams(&mut self, bytes: Range<usize>) {
        let word = &self.text[bytes.clone()];
        if !self.language.compounds() || word.len() < GRAM || word.len() > MAX_CUT {
            return;
        }
        let ends = word.char_indices().map(|(at, c)| at + c.len_utf8()).skip(GRAM - 1);
        for ((start, _), end) in word.char_indices().zip(ends) {
            let Scratch { lowered, whole, .. } = &mut *self.scratch;
            lowered.clear();
            whole.clear();
            super::fold::lower(&word[start..end], lowered);
            super::fold::fold(lowered, whole);
            emit(whole, Kind::Part, bytes.start + start..bytes.start + end, self.each);
        }
    }

    /// Passes on the camel-case parts of `fooBar`, `HTTPServer`, `utf8`.
    fn humps(&mut self, piece: &Piece) {
        let raw = &self.text[piece.bytes.clone()];
        let mut borders = [0; MAX_HUMPS + 1];
        let mut count = 1;
        let mut turns = 0;
        let mut before = (LetterShape::Small, LetterShape::Small);
        let mut last = 0;
        for (at, c) in raw.char_indices() {
            let shape = LetterShape::of(c, before.1);
            let turn = at > 0 && (shape == LetterShape::Digit) != (before.1 == LetterShape::Digit);
            turns += usize::from(turn);
            let rises = shape == LetterShape::Capital && before.1 == LetterShape::Small;
            let falls = shape == LetterShape::Small
                && before == (LetterShape::Capital, LetterShape::Capital);
            let border = if falls { last } else { at };
            if at > 0 && (turn || rises || falls) {
                let Some(slot) = borders.get_mut(count) else { return };
                *slot = border;
                count += 1;
            }
            before = (before.1, shape);
            last = at;
        }
        // `IDs` is the plural of `ID`; alternating letters and digits are not words (`b2b`, a
        // hash).
        let plural = raw.ends_with('s') && count == 2 && borders[1] + 2 == raw.len() && turns == 0;
        if count == 1 || turns > 1 || plural || count > MAX_HUMPS {
            return;
        }
        for place in 0..count {
            let start = borders[place];
            let end = if place + 1 < count { borders[place + 1] } else { raw.len() };
            let Some(hump) = raw.get(start..end) else { continue };
            let bytes = piece.bytes.start + start..piece.bytes.start + end;
            self.scratch.lowered.clear();
            super::fold::lower(hump, &mut self.scratch.lowered);
            let Scratch { stems, lowered, .. } = &mut *self.scratch;
            if hump.chars().all(|c| class(c) == Class::Digit) {
                emit(number::small(lowered), Kind::Part, bytes, self.each);
            } else if lowered.chars().nth(1).is_some() && !(turns == 1 && is_ordinal(lowered)) {
                let (stem, weak) = stems.of(lowered, self.language);
                emit(stem, if weak { Kind::Weak } else { Kind::Part }, bytes, self.each);
            }
        }
    }

    /// A number directly followed by the sign for a year, a month or a day is one token.
    fn counted(&mut self, piece: &Piece) {
        let Some(sign) = self.text[piece.bytes.end..].chars().next() else { return };
        let unit = match sign {
            '年' | '년' => '年',
            '月' | '월' => '月',
            '日' | '号' | '號' | '일' => '日',
            _ => return,
        };
        if piece.bytes.len() > 12 {
            return;
        }
        self.lower(piece);
        let both = format!("{}{unit}", number::small(&self.scratch.lowered));
        emit(&both, Kind::Pair, piece.bytes.start..piece.bytes.end + sign.len_utf8(), self.each);
    }

    /// Passes on an emoji with everything that belongs to it; its colour is not compared.
    fn emoji(&mut self, at: usize) -> usize {
        let mut end = at;
        let mut joined = true;
        let mut flags = 0;
        self.scratch.lowered.clear();
        for c in self.text[at..].chars() {
            match u32::from(c) {
                0xFE0E..=0xFE0F | 0x20E3 | 0x1F3FB..=0x1F3FF | 0xE0020..=0xE007F if end > at => {}
                0x200D if end > at => joined = true,
                0x1F1E6..=0x1F1FF if flags == 1 || (joined && flags == 0) => {
                    flags += 1;
                    joined = false;
                    self.scratch.lowered.push(c);
                }
                _ if joined && class(c) == Class::Emoji && flags == 0 => {
                    joined = false;
                    self.scratch.lowered.push(c);
                }
                _ => break,
            }
            end += c.len_utf8();
        }
        emit(&self.scratch.lowered, Kind::Word, at..end, self.each);
        end.max(at + self.text[at..].chars().next().map_or(1, char::len_utf8))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LetterShape {
    Small,
    Capital,
    Digit,
}

impl LetterShape {
    /// Marks have the class of the letter before them.
    fn of(c: char, before: Self) -> Self {
        match class(c) {
            Class::Digit => Self::Digit,
            Class::Letter if c.is_uppercase() => Self::Capital,
            Class::Letter => Self::Small,
            _ => before,
        }
    }
}

fn is_ordinal(word: &str) -> bool {
    matches!(word, "st" | "nd" | "rd" | "th")
}

fn ends_with_digit(text: &str) -> bool {
    text.chars().next_back().is_some_and(|c| class(c) == Class::Digit)
}

/// What precedes an apostrophe and is not a separate word, in French, Italian and Portuguese.
const ELIDED: &[&str] = &[
    "l", "d", "j", "m", "t", "s", "n", "c", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu", "un",
    "all", "dell", "nell", "sull", "dall", "quest", "quell", "sant",
];

/// Returns the compared form of a lower-cased word with apostrophes, and an optional second form.
/// Apostrophes that are left inside do not count.
fn apostrophes(word: &str, language: Language) -> (&str, Option<&str>) {
    let Some((before, ending)) = word.rsplit_once('\'') else { return (word, None) };
    if matches!(ending, "s" | "ll" | "re" | "ve" | "d" | "m") {
        return (before, None);
    }
    let Some((head, tail)) = word.split_once('\'') else { return (word, None) };
    if language == Language::Turkish {
        return (head, None);
    }
    if Alphabet::of(word) != Alphabet::Latin || tail.contains('\'') {
        return (word, None);
    }
    if ELIDED.contains(&head) && starts_with_vowel(tail) {
        let elides = matches!(
            language,
            Language::French | Language::Italian | Language::Portuguese | Language::Other
        );
        return if elides { (tail, None) } else { (word, Some(tail)) };
    }
    let name = head.len() <= 2 && tail.len() > 2;
    (word, name.then_some(tail))
}

fn starts_with_vowel(word: &str) -> bool {
    let mut folded = String::new();
    if let Some(first) = word.get(..word.chars().next().map_or(0, char::len_utf8)) {
        super::fold::fold(first, &mut folded);
    }
    folded.starts_with(['a', 'e', 'i', 'o', 'u', 'y', 'h'])
}
