//! Parses queries. Any text is a valid query.

use std::collections::HashMap;
use std::ops::Range;

use super::chars::{Class, class};
use super::fold::{flat, lower};
use super::language::{Language, Votes};
use super::{Kind, Term, Token, months, stemmed, tokens};

/// Bytes of a query that are read, at most.
const MAX_QUERY: usize = 8 << 10;
/// Terms of a query, at most.
const MAX_TERMS: usize = 64;
/// Phrases of a query, and phrases that it excludes, at most.
const MAX_PHRASES: usize = 16;
/// Languages in which a query is read, at most.
const MAX_LANGUAGES: usize = 8;

/// A parsed query.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Words {
    /// The terms to find, in their order, each once.
    pub(crate) terms: Vec<QueryTerm>,
    /// A quoted phrase; its words are among the terms as well.
    pub(crate) phrases: Vec<Phrase>,
    /// Terms that must not be in a hit.
    pub(crate) excluded: Vec<QueryTerm>,
    /// Phrases that must not be in a hit.
    pub(crate) excluded_phrases: Vec<Phrase>,
}

/// A term to find, in all its forms.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QueryTerm {
    /// As it was typed.
    pub(crate) surface: String,
    /// How it may be written in the index; an occurrence of any counts, and counts once.
    pub(crate) forms: Vec<Form>,
    /// What it is.
    pub(crate) kind: Kind,
}

/// One form of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// The token.
    pub(crate) text: String,
    /// Its hash.
    pub(crate) term: Term,
}

impl QueryTerm {
    fn add(&mut self, text: &str) {
        if self.forms.iter().all(|form| form.text != text) {
            self.forms.push(Form { text: text.to_owned(), term: Term::of(text) });
        }
    }
}

/// Words that must follow each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Phrase {
    /// As it was typed, without the quotes.
    pub(crate) surface: String,
    /// Its words; a text that has the phrase has each of them.
    pub(crate) words: Vec<QueryTerm>,
    flat: String,
}

impl Phrase {
    /// Returns the phrase of a text; `None` when it has no word.
    pub(crate) fn of(surface: &str) -> Option<Self> {
        let flat = flat(surface);
        (flat.len() > 1).then(|| Self {
            surface: surface.trim().to_owned(),
            words: Vec::new(),
            flat,
        })
    }

    /// Whether a text has the phrase: lower-cased and folded, without comparing the whitespace and
    /// punctuation between the words.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        flat(text).contains(&self.flat)
    }
}

/// Parses a query, for an index that contains these languages, the most common first.
pub(crate) fn parse(query: &str, languages: &[Language]) -> Words {
    let query = &query[..query.floor_char_boundary(MAX_QUERY)];
    let spans = split(query);
    let reader = QueryReader::new(query, languages);
    let wanted = |spans: &[Span]| {
        let wanted = spans.iter().filter(|span| !span.excluded);
        wanted.flat_map(|span| reader.read(&query[span.bytes.clone()])).collect::<Vec<_>>()
    };
    let found = wanted(&spans);
    let mut words = Words { terms: unique(found), ..Words::default() };
    months(&mut words.terms);
    shorten(&mut words.terms);
    for span in spans.iter().filter(|span| span.excluded || span.quoted) {
        let surface = &query[span.bytes.clone()];
        let phrases = if span.excluded { &mut words.excluded_phrases } else { &mut words.phrases };
        if let (true, Some(term)) = (span.excluded && !span.quoted, reader.only_word(surface)) {
            if words.excluded.len() < MAX_TERMS {
                words.excluded.push(term);
            }
        } else if phrases.len() < MAX_PHRASES {
            let mut phrase = Phrase::of(surface);
            if let Some(phrase) = &mut phrase {
                phrase.words = reader.certain(surface);
            }
            phrases.extend(phrase);
        }
    }
    words
}

/// A part of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    /// Without its quotes and hyphen.
    bytes: Range<usize>,
    quoted: bool,
    excluded: bool,
}

/// Opening quotation marks, with the marks that close them.
const QUOTES: &[(char, &[char])] = &[
    ('"', &['"']),
    ('“', &['”']),
    ('„', &['“', '”']),
    ('«', &['»']),
    ('「', &['」']),
    ('『', &['』']),
    ('＂', &['＂']),
];

/// Separates phrases and exclusions from the rest.
fn split(query: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    // A mark without its partner is only searched for once.
    let mut unclosed = [false; QUOTES.len()];
    let mut plain = 0;
    let mut at = 0;
    let mut before = None;
    while let Some(c) = query[at..].chars().next() {
        let hyphen = c == '-' && before.is_none_or(|c: char| c.is_whitespace() || c == '(');
        let start = if hyphen { at + 1 } else { at };
        let quoted =
            if hyphen || opens(before) { quotation(query, start, &mut unclosed) } else { None };
        let span = match quoted {
            Some((bytes, end)) => Some((Span { bytes, quoted: true, excluded: hyphen }, end)),
            None if hyphen && excludes(&query[start..]) => {
                let rest = &query[start..];
                let end = start + rest.find(char::is_whitespace).unwrap_or(rest.len());
                Some((Span { bytes: start..end, quoted: false, excluded: true }, end))
            }
            None => None,
        };
        if let Some((span, end)) = span {
            spans.push(Span { bytes: plain..at, quoted: false, excluded: false });
            spans.push(span);
            before = query[..end].chars().next_back();
            (at, plain) = (end, end);
        } else {
            before = Some(c);
            at += c.len_utf8();
        }
    }
    spans.push(Span { bytes: plain..query.len(), quoted: false, excluded: false });
    spans.retain(|span| !span.bytes.is_empty());
    spans
}

/// Whether a quotation mark may open after a character: `5"` is a length.
fn opens(before: Option<char>) -> bool {
    before.is_none_or(|c| !matches!(class(c), Class::Letter | Class::Digit | Class::Mark))
}

/// Whether a hyphen is followed by a word, not by a number, a flag or a smiley.
fn excludes(rest: &str) -> bool {
    let mut chars = rest.chars();
    let is_word = |c: Option<char>| {
        matches!(c.map(class), Some(Class::Letter | Class::Spaceless(_) | Class::Emoji))
    };
    match chars.next() {
        Some('@' | '#') => is_word(chars.next()),
        first => is_word(first),
    }
}

/// Returns the quoted text from a position on, and where the quotation ends.
fn quotation(
    query: &str,
    at: usize,
    unclosed: &mut [bool; QUOTES.len()],
) -> Option<(Range<usize>, usize)> {
    let mark = query[at..].chars().next()?;
    let place = QUOTES.iter().position(|(open, _)| *open == mark)?;
    let seen = unclosed.get_mut(place)?;
    if *seen {
        return None;
    }
    let start = at + mark.len_utf8();
    let closing = QUOTES.get(place)?.1;
    let Some((end, close)) = query[start..].char_indices().find(|(_, c)| closing.contains(c))
    else {
        *seen = true;
        return None;
    };
    Some((start..start + end, start + end + close.len_utf8()))
}

/// Reads parts of a query in several languages.
struct QueryReader {
    /// The query's own language first, the one without stems last.
    languages: Vec<Language>,
    /// Whether words are cut into pieces: not if the query is in a language without long compounds.
    cuts: bool,
}

impl QueryReader {
    fn new(query: &str, languages: &[Language]) -> Self {
        let own = Votes::of(query).clear_language();
        let first = languages.first().copied().unwrap_or_default();
        let mut all = vec![own.unwrap_or(first)];
        for language in languages.iter().take(MAX_LANGUAGES).chain(&[Language::Other]) {
            if !all.contains(language) {
                all.push(*language);
            }
        }
        Self { languages: all, cuts: own.is_none_or(Language::compounds) }
    }

    /// Returns the terms of a part of a query, in its order, with all their forms.
    fn read(&self, part: &str) -> Vec<QueryTerm> {
        self.read_places(part).into_iter().map(|(_, term)| term).collect()
    }

    fn read_places(&self, part: &str) -> Vec<(Range<usize>, QueryTerm)> {
        let mut terms: Vec<(Range<usize>, QueryTerm)> = Vec::new();
        let mut places: HashMap<(usize, usize), usize> = HashMap::new();
        for language in &self.languages {
            tokens(part, *language, &mut |token: &Token<'_>| {
                let key = (token.bytes.start, token.bytes.end);
                let new = !places.contains_key(&key);
                if new && token.kind == Kind::Part && language.compounds() && !self.cuts {
                    return;
                }
                let place = *places.entry(key).or_insert(terms.len());
                if place == terms.len() {
                    let surface = part[token.bytes.clone()].to_owned();
                    let term = QueryTerm { surface, forms: Vec::new(), kind: token.kind };
                    terms.push((token.bytes.clone(), term));
                }
                if let Some((_, term)) = terms.get_mut(place) {
                    term.add(token.text);
                    if *language == Language::German
                        && token.kind == Kind::Word
                        && let Some(word) = other_umlauts(&term.surface)
                    {
                        stemmed(&word, Language::German, |stem| term.add(stem));
                    }
                    // A query without diacritics omits all of them.
                    if *language == Language::Other && !term.surface.is_ascii() {
                        for other in &self.languages {
                            stemmed(token.text, *other, |stem| term.add(stem));
                        }
                    }
                }
            });
        }
        terms
    }

    /// Returns the words that every text with a phrase has: no pieces of others.
    fn certain(&self, phrase: &str) -> Vec<QueryTerm> {
        let mut end = 0;
        let mut words = self.read_places(phrase);
        words.retain(|(bytes, term)| {
            let is_piece = bytes.start < end;
            if !is_spaceless(&term.surface) {
                end = end.max(bytes.end);
            }
            !is_piece && is_certain(term)
        });
        words.into_iter().map(|(_, term)| term).collect()
    }

    /// Returns the one word that a part of a query is, if it is one.
    fn only_word(&self, part: &str) -> Option<QueryTerm> {
        let mut terms = self.read_places(part).into_iter();
        let (bytes, word) = terms.next()?;
        let inside = terms.all(|(other, _)| other.end <= bytes.end);
        let is_word = matches!(word.kind, Kind::Word | Kind::Weak);
        (inside && is_word).then_some(word)
    }
}

/// Returns a lower-cased German word with its umlauts spelled the other way: `ue` for `ü`, or `ü`
/// for `ue`.
fn other_umlauts(word: &str) -> Option<String> {
    let mut lowered = String::new();
    lower(word, &mut lowered);
    if !lowered.chars().all(char::is_alphabetic) {
        return None;
    }
    let mut other = String::with_capacity(lowered.len());
    let mut before = ' ';
    let mut chars = lowered.chars().peekable();
    while let Some(c) = chars.next() {
        // `Steuer`, `neue` and `Quelle` have none.
        let written_out = chars.peek() == Some(&'e') && !"aeiouyq".contains(before);
        match c {
            'ä' => other.push_str("ae"),
            'ö' => other.push_str("oe"),
            'ü' => other.push_str("ue"),
            'a' | 'o' | 'u' if written_out && lowered.is_ascii() => {
                chars.next();
                other.push(match c {
                    'a' => 'ä',
                    'o' => 'ö',
                    _ => 'ü',
                });
            }
            _ => other.push(c),
        }
        before = c;
    }
    (other != lowered).then_some(other)
}

/// Whether every text that has a phrase with this term has the term, however the phrase is joined
/// and spaced there: `well known` has no `wellknown`.
fn is_certain(term: &QueryTerm) -> bool {
    let plain = |c| {
        matches!(
            class(c),
            Class::Letter | Class::Digit | Class::Mark | Class::Spaceless(_) | Class::Emoji
        )
    };
    matches!(term.kind, Kind::Word | Kind::Weak | Kind::Single)
        && term.surface.chars().all(plain)
        && !flat(&term.surface).trim().contains(' ')
}

fn is_spaceless(text: &str) -> bool {
    text.chars().next().is_some_and(|c| matches!(class(c), Class::Spaceless(_)))
}

/// Keeps every term once, at its first position.
fn unique(found: Vec<QueryTerm>) -> Vec<QueryTerm> {
    let mut terms: Vec<QueryTerm> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for term in found {
        let known = term.forms.first().and_then(|form| places.get(&form.text));
        if let Some(known) = known.and_then(|place| terms.get_mut(*place)) {
            // A term that is a word in one place is a word.
            if rank(term.kind) < rank(known.kind) {
                known.kind = term.kind;
            }
            continue;
        }
        for form in &term.forms {
            places.entry(form.text.clone()).or_insert(terms.len());
        }
        terms.push(term);
    }
    terms
}

/// Adds to months their names in the dates of documents.
fn months(terms: &mut [QueryTerm]) {
    let number = terms.iter().any(|term| term.surface.chars().any(|c| class(c) == Class::Digit));
    for term in terms {
        let month = term.forms.iter().find_map(|form| months::of_word(&form.text, number));
        if let Some(month) = month {
            stemmed(month, Language::English, |stem| term.add(stem));
        }
    }
}

/// Which terms are dropped when there are too many: the higher, the sooner.
fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::Word | Kind::Pair => 0,
        Kind::Part => 1,
        Kind::Weak => 2,
        Kind::Single => 3,
    }
}

/// Keeps the most informative terms, in their order.
fn shorten(terms: &mut Vec<QueryTerm>) {
    if terms.len() <= MAX_TERMS {
        return;
    }
    let mut places: Vec<usize> = (0..terms.len()).collect();
    places.sort_by_key(|place| terms.get(*place).map(|term| rank(term.kind)));
    places.truncate(MAX_TERMS);
    let mut place = 0;
    places.sort_unstable();
    terms.retain(|_| {
        place += 1;
        places.binary_search(&(place - 1)).is_ok()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(query: &str) -> Words {
        parse(query, &[Language::English])
    }

    fn surfaces(terms: &[QueryTerm]) -> Vec<&str> {
        terms.iter().map(|term| term.surface.as_str()).collect()
    }

    fn phrases(phrases: &[Phrase]) -> Vec<&str> {
        phrases.iter().map(|phrase| phrase.surface.as_str()).collect()
    }

    #[test]
    fn terms_come_in_order_and_once() {
        let words = parsed("What did Ann paint, and what painting?");
        assert_eq!(surfaces(&words.terms), ["What", "did", "Ann", "paint", "and"]);
        let weak = words.terms.iter().filter(|term| term.kind == Kind::Weak);
        assert_eq!(weak.count(), 3);
    }

    #[test]
    fn a_term_has_a_form_in_every_language() {
        let words = parse("Datenbanken", &[Language::English, Language::German]);
        let forms: Vec<&str> = words.terms[0].forms.iter().map(|form| &*form.text).collect();
        assert_eq!(forms, ["datenbanken", "datenbank"]);
        let words = parse("running", &[Language::German, Language::English]);
        let forms: Vec<&str> = words.terms[0].forms.iter().map(|form| &*form.text).collect();
        assert_eq!(forms, ["running", "run"]);
    }

    #[test]
    fn umlauts_may_be_written_out_in_german() {
        let forms = |query: &str, language| {
            let words = parse(query, &[language]);
            words.terms[0].forms.iter().map(|form| form.text.clone()).collect::<Vec<_>>()
        };
        for (one, other) in [("Schluessel", "Schlüssel"), ("Haeuser", "Haus"), ("Öl", "Oel")] {
            let written = &forms(other, Language::Other)[0];
            assert!(forms(one, Language::German).contains(written), "{one} and {other}");
        }
        for word in ["Steuer", "neue", "Quelle", "Haus"] {
            assert_eq!(other_umlauts(word), None, "{word}");
        }
        assert!(!forms("Schluessel", Language::English).contains(&"schlussel".to_owned()));
    }

    #[test]
    fn weak_words_are_those_of_the_query() {
        let words = parse("wer hat die Datenbank verschoben", &[Language::English]);
        let strong = words.terms.iter().filter(|term| term.kind == Kind::Word);
        let strong: Vec<&str> = strong.map(|term| &*term.surface).collect();
        assert_eq!(strong, ["Datenbank", "verschoben"]);
        let words = parse("die hard", &[Language::English, Language::German]);
        assert!(words.terms.iter().all(|term| term.kind == Kind::Word));
    }

    #[test]
    fn long_words_are_cut_where_a_language_has_them() {
        let parts = |query, languages: &[Language]| {
            let words = parse(query, languages);
            words.terms.iter().filter(|term| term.kind == Kind::Part).count()
        };
        let both = [Language::English, Language::German];
        assert_eq!(parts("Wann wird die Heizung geliefert", &both), 3 + 5);
        assert_eq!(parts("Heizung", &both), 3);
        assert_eq!(parts("when does the heating arrive", &both), 0);
        assert_eq!(parts("Heizung", &[Language::English]), 0);
    }

    #[test]
    fn quotes_make_phrases() {
        for query in ["a \"big cat\"", "a “big cat”", "a „big cat“", "a «big cat»", "a 「big cat」"]
        {
            let words = parsed(query);
            assert_eq!(phrases(&words.phrases), ["big cat"], "{query}");
            assert_eq!(surfaces(&words.terms), ["a", "big", "cat"], "{query}");
        }
        for query in ["\"unclosed", "5\" disk 3\" tape", "\"", "\"\"", "\" \"", "“ a"] {
            assert!(parsed(query).phrases.is_empty(), "{query}");
        }
    }

    #[test]
    fn a_hyphen_before_a_word_excludes() {
        let words = parsed("cat -dog -\"blue bird\" -foo_bar -数据库");
        assert_eq!(surfaces(&words.terms), ["cat"]);
        assert_eq!(surfaces(&words.excluded), ["dog", "foo_bar"]);
        assert_eq!(phrases(&words.excluded_phrases), ["blue bird", "数据库"]);
        for query in
            ["a-b", "cat - dog", "cat --flag", "cat -5", "cat -", "-", "-\"", "cat -\"", "-)"]
        {
            let words = parsed(query);
            assert!(words.excluded.is_empty() && words.excluded_phrases.is_empty(), "{query}");
        }
    }

    #[test]
    fn exclusions_alone_ask_for_nothing() {
        let words = parsed("-x");
        assert_eq!((words.terms.len(), surfaces(&words.excluded)), (0, vec!["x"]));
        let words = parsed("-\"big cat\" -dog");
        assert_eq!((words.terms.len(), words.phrases.len()), (0, 0));
        assert_eq!(surfaces(&words.excluded), ["dog"]);
        assert_eq!(phrases(&words.excluded_phrases), ["big cat"]);
    }

    #[test]
    fn a_phrase_is_found_whatever_stands_between_its_words() {
        let is_in = |phrase, text| Phrase::of(phrase).unwrap().is_in(text);
        assert!(is_in("quick brown fox", "the Quick,\n**brown** _fox_."));
        assert!(is_in("don't", "I Don’t"));
        assert!(is_in("数据库迁移", "关于数据库 迁移方案"));
        assert!(is_in("Café", "a CAFE\u{301}"));
        assert!(is_in("well-known", "well known"));
        assert!(is_in("20.04", "Ubuntu 20.04 LTS"));
        assert!(!is_in("brown fox", "brown foxes"));
        assert!(!is_in("own fox", "brown fox"));
        assert!(!is_in("C++", "C and D"));
        assert!(Phrase::of(" *_* ").is_none());
    }

    #[test]
    fn a_phrase_knows_the_words_that_it_cannot_be_without() {
        for (query, words) in [
            ("\"the well-known fact\"", vec!["the", "fact"]),
            ("\"we'll see fooTo\"", vec!["see", "fooTo"]),
            ("\"Ubuntu 20.04 #tag C++\"", vec!["Ubuntu"]),
            ("\"数据库\"", vec!["数", "据", "库"]),
            ("\"什么 猫\"", vec!["什", "么", "猫"]),
        ] {
            assert_eq!(surfaces(&parsed(query).phrases[0].words), words, "{query}");
        }
    }

    #[test]
    fn spaceless_queries_are_pairs_and_singles() {
        let words = parsed("数据库");
        let kinds: Vec<_> = words.terms.iter().map(|term| (&*term.surface, term.kind)).collect();
        let (single, pair) = (Kind::Single, Kind::Pair);
        let expected =
            [("数", single), ("数据", pair), ("据", single), ("据库", pair), ("库", single)];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn nothing_that_can_be_typed_is_an_error() {
        let long = "x".repeat(100_000);
        let quotes = "\"".repeat(9000);
        let open = "«「“„".repeat(3000);
        let hyphens = " -a".repeat(4000);
        for query in [
            "",
            " ",
            "\"",
            "-x",
            "-",
            "--",
            "-\"",
            "*",
            "AND",
            "a AND",
            "NEAR(",
            "col:x",
            "{}",
            "\\",
            "a:b",
            "don't",
            "C++",
            "20.04",
            "🐙",
            "\u{200f}\u{202e}",
            "\"unclosed",
            "'",
            "''",
            "’",
            "@",
            "#",
            ".",
            "..",
            "a.",
            ".a",
            "://",
            "ﷺ",
            "½",
            "\0",
            "\u{301}",
            "a\u{301}\u{301}",
            &long,
            &quotes,
            &open,
            &hyphens,
        ] {
            let words = parsed(query);
            assert!(words.terms.len() <= MAX_TERMS && words.phrases.len() <= MAX_PHRASES);
        }
        for query in ["don't", "C++", "20.04", "a:b", "🐙", "AND", "col:x", "½"] {
            assert!(!parsed(query).terms.is_empty(), "{query}");
        }
    }

    #[test]
    fn a_long_query_keeps_what_tells_the_most() {
        let weak = "the of and to in is was ".repeat(3);
        let many: Vec<String> = (0..70).map(|place| format!("word{place}x")).collect();
        let words = parsed(&format!("{weak} {}", many.join(" ")));
        assert_eq!(words.terms.len(), MAX_TERMS);
        assert!(words.terms.iter().all(|term| term.kind == Kind::Word));
    }
}
