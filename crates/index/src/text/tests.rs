//! Texts and their expected tokens.

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;

use super::*;

fn all(text: &str, language: Language) -> Vec<(String, Kind, Range<usize>)> {
    let mut all = Vec::new();
    tokens(text, language, &mut |token| {
        all.push((token.text.to_owned(), token.kind, token.bytes.clone()));
    });
    all
}

/// The tokens of an English text.
pub(super) fn words(text: &str) -> Vec<String> {
    all(text, Language::English).into_iter().map(|(token, _, _)| token).collect()
}

/// The tokens of an English text with their kinds.
pub(super) fn kinds(text: &str) -> String {
    let all = all(text, Language::English);
    all.iter().map(|(token, kind, _)| format!("{token}:{kind:?}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn words_are_lower_cased_folded_and_stemmed() {
    assert_eq!(words("The Databases were migrated."), ["the", "databas", "were", "migrat"]);
    assert_eq!(words("Café naïve RÉSUMÉ"), words("cafe naive resume"));
    assert_eq!(kinds("Who did it?"), "who:Weak did:Weak it:Weak");
    assert_eq!(words("IDs URLs"), ["id", "url"]);
}

#[test]
fn apostrophes_do_not_part_words() {
    assert_eq!(kinds("don't dont don’t"), "dont:Weak dont:Weak dont:Weak");
    assert_eq!(words("Caroline's Caroline’s Carolines"), ["carolin"; 3]);
    assert_eq!(words("James' dogs'"), ["jame", "dog"]);
    assert_eq!(words("we'll I've she'd I'm they're it's"), ["we", "i", "she", "i", "they", "it"]);
    assert_eq!(words("O'Brien"), ["obrien", "brien"]);
    assert_eq!(words("rock'n'roll"), ["rocknrol"]);
    let elided = |text, language| -> Vec<String> {
        all(text, language).into_iter().map(|(token, _, _)| token).collect()
    };
    assert_eq!(elided("l'homme d’été qu'il", Language::French), ["homm", "ete", "il"]);
    assert_eq!(elided("dell'acqua", Language::Italian), ["acqua"]);
    assert_eq!(elided("Ankara'da", Language::Turkish), elided("Ankara", Language::Turkish));
    assert_eq!(elided("L'Oréal", Language::English), ["loreal", "oreal"]);
}

#[test]
fn numbers_are_whole_and_in_parts() {
    for (text, expected) in [
        ("20.04", "20.04:Word 20:Part 4:Part"),
        ("3.14", "3.14:Word 3:Part 14:Part"),
        ("1,000", "1000:Word"),
        ("1000", "1000:Word"),
        ("12:30", "12:30:Word 12:Part 30:Part"),
        ("2026-04-01", "2026-04-01:Word 2026:Part 4:Part 1:Part"),
        ("01.04.2026", "2026-04-01:Word 1:Part 4:Part 2026:Part"),
        ("v1.2.3", "v1.2.3:Word v1:Part 1:Part 2:Part 3:Part"),
        ("#123", "#123:Word 123:Part"),
        ("E1234", "e1234:Word 1234:Part"),
        ("192.168.1.1", "192.168.1.1:Word 192:Part 168:Part 1:Part 1:Part"),
        ("08", "8:Word"),
        ("3rd", "3rd:Word 3:Part"),
        ("5km", "5km:Word 5:Part km:Part"),
        ("$5, 50%", "5:Word 50:Word"),
        ("٢٠٢٣ ２０２３", "2023:Word 2023:Word"),
        ("1, 2", "1:Word 2:Word"),
        ("5月", "5:Word 5月:Pair 月:Word"),
        ("5월", "5:Word 5月:Pair 월:Word"),
    ] {
        assert_eq!(kinds(text), expected, "{text}");
    }
}

#[test]
fn names_are_whole_and_in_parts() {
    for (text, expected) in [
        ("fooBar", "foobar:Word foo:Part bar:Part"),
        ("HTTPServer", "httpserver:Word http:Part server:Part"),
        ("snake_case", "snakecas:Word snake:Part case:Part"),
        ("a-b_c", "abc:Word a:Weak b:Part c:Part"),
        ("well-known", "wellknown:Word well:Part known:Part"),
        ("src/foo/bar.rs", "src/foo/bar.rs:Word src:Part foo:Part bar:Part rs:Part"),
        (
            "https://example.com/a?b=c.",
            "https://example.com/a?b=c:Word https:Part exampl:Part com:Part a:Weak b:Part c:Part",
        ),
        ("jo@example.com", "jo@example.com:Word jo:Part exampl:Part com:Part"),
        ("ERR_FOO", "errfoo:Word err:Part foo:Part"),
        ("C++", "c++:Word c:Part"),
        ("C# code", "c#:Word c:Part code:Word"),
        (".NET", ".net:Word net:Part"),
        ("node.js", "nodej:Word node:Part js:Part"),
        ("@user", "@user:Word user:Part"),
        ("#tag", "#tag:Word tag:Part"),
        ("U.S.A.", "usa:Word"),
        ("std::fs", "std::fs:Word std:Part fs:Part"),
        ("foo/.git/_x", "foo/.git/x:Word foo:Part git:Part x:Part"),
        ("iPhone", "iphon:Word phone:Part"),
        ("gpt-4", "gpt4:Word gpt:Part 4:Part"),
        ("R&D", "r&d:Word r:Part d:Part"),
        ("--flag", "flag:Word"),
        ("word--word a...b", "word:Word word:Word a:Weak b:Word"),
        ("**bold** _it_ `code`", "bold:Word it:Weak code:Word"),
        ("end. Next", "end:Word next:Word"),
        ("ＡＢＣ－ｄ", "abcd:Word abc:Part d:Part"),
    ] {
        assert_eq!(kinds(text), expected, "{text}");
    }
    let id = "550e8400-e29b-41d4-a716-446655440000";
    assert_eq!(words(id)[0], words(&id.to_uppercase())[0]);
    assert_eq!(words("e-mail")[0], words("email")[0]);
    assert_eq!(words("foo_bar")[0], words("fooBar")[0]);
}

#[test]
fn long_words_are_cut_in_languages_that_make_them() {
    let german = |text| {
        all(text, Language::German).into_iter().map(|(token, _, _)| token).collect::<Vec<_>>()
    };
    assert_eq!(german("Bänke"), ["bank", "banke"]);
    assert!(german("Fensterbänke").contains(&"banke".to_owned()));
    assert!(german("Fensterbänke").contains(&"fenst".to_owned()));
    assert_eq!(german("nichts Haus"), ["nicht", "haus"]);
    assert_eq!(words("windowsill").len(), 1);
    let text = "Fensterbänke";
    let found = matches(text, Language::German, &["banke"].map(Term::of).into());
    assert_eq!(found.into_iter().map(|bytes| &text[bytes]).collect::<Vec<_>>(), ["bänke"]);
}

/// The tokens of a text with their ranges, composed.
fn composed(text: &str, language: Language) -> Vec<(String, Kind, String)> {
    let shown = |bytes: Range<usize>| text[bytes].nfc().collect();
    all(text, language)
        .into_iter()
        .map(|(token, kind, bytes)| (token, kind, shown(bytes)))
        .collect()
}

#[test]
fn letters_in_one_or_two_characters_are_the_same() {
    for text in [
        "Schlüssel, Fensterbänke und ÄÖÜ",
        "É.U. été_À HTTPÉcole naïve-café l'été ÀÉxy",
        "ёлка й Київ Άνθρωπος Nguyễn Đặng",
        "ガイドでパスワード、がぎぐ 서버 점검 간호사",
        "آدم أحمد ক\u{9cb} हिन्दी",
    ] {
        let apart: String = text.nfd().collect();
        assert_ne!(apart, text);
        for language in [Language::German, Language::French, Language::English, Language::Other] {
            assert_eq!(composed(&apart, language), composed(text, language), "{text}");
        }
        let languages = [Language::English, Language::German];
        let asked = |query: &str| {
            let terms = parse(query, &languages).terms.into_iter();
            terms.map(|term| (term.forms, term.kind)).collect::<Vec<_>>()
        };
        assert_eq!(asked(&apart), asked(text), "{text}");
        assert!(Phrase::of(&apart).unwrap().is_in(text), "{text}");
    }
}

#[test]
fn emoji_are_tokens() {
    assert_eq!(words("hi 🐙!"), ["hi", "🐙"]);
    assert_eq!(words("👍🏽👍"), ["👍", "👍"]);
    assert_eq!(words("👩‍💻"), ["👩💻"]);
    assert_eq!(words("🇩🇪🇫🇷"), ["🇩🇪", "🇫🇷"]);
    assert_eq!(words("❤️"), ["❤"]);
}

#[test]
fn what_cannot_be_seen_does_not_part_words() {
    assert_eq!(words("data\u{200B}base \u{202E}data\u{AD}base\u{202C}"), ["databas", "databas"]);
}

#[test]
fn a_long_word_is_short_and_its_own() {
    let (one, other) = ("a".repeat(100_000), format!("{}b", "a".repeat(99_999)));
    assert!(words(&one)[0].len() <= MAX_TOKEN);
    assert_ne!(words(&one), words(&other));
}

#[test]
fn the_words_of_a_day_meet_what_people_type() {
    let mut day = HashSet::new();
    date_tokens(jiff::civil::date(2023, 5, 3), &mut |token| {
        day.insert(token.text.to_owned());
    });
    let sorted = |set: &HashSet<String>| {
        let mut sorted: Vec<_> = set.iter().cloned().collect();
        sorted.sort();
        sorted
    };
    assert_eq!(sorted(&day), ["2023", "2023-05-03", "3", "5月", "may"]);
    for (query, expected) in [
        ("May 3, 2023", 3),
        ("2023-05-03", 3),
        ("3. Mai 2023", 3),
        ("3 de mayo de 2023", 3),
        ("3 мая 2023", 3),
        ("03.05.2023", 3),
        ("2023年5月3日", 3),
        ("2023년 5월 3일", 3),
    ] {
        for languages in [&[Language::English][..], &[Language::German, Language::Finnish]] {
            let words = parse(query, languages);
            let meets = |term: &&QueryTerm| term.forms.iter().any(|form| day.contains(&form.text));
            assert_eq!(words.terms.iter().filter(meets).count(), expected, "{query}");
        }
    }
}

#[test]
fn matches_are_where_the_terms_are() {
    let terms: HashSet<Term> = ["migrat", "数据", "据库", "bar"].map(Term::of).into();
    let text = "Migrated the 数据库 in src/bar.rs";
    let found = matches(text, Language::English, &terms);
    let found: Vec<&str> = found.into_iter().map(|bytes| &text[bytes]).collect();
    assert_eq!(found, ["Migrated", "数据库", "bar"]);
    let terms: HashSet<Term> = ["klein", "enhau"].map(Term::of).into();
    let found = matches("KleinGartenHaus", Language::German, &terms);
    assert_eq!(found, [0..5, 9..14]);
}

#[test]
fn a_token_may_be_met_while_another_text_is_taken_apart() {
    let mut seen = Vec::new();
    tokens("one two", Language::English, &mut |token| {
        tokens(token.text, Language::English, &mut |inner| seen.push(inner.text.to_owned()));
    });
    assert_eq!(seen, ["one", "two"]);
}

/// Difficult text: every script, every mark, in any order.
fn odd() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        "[a-zA-Z0-9 ._/:@#+&'-]{0,24}",
        "[àéßñøłİıﬁʼ’ΆςёйіїЖ]{0,8}",
        "[\u{600}-\u{6ff}]{0,8}",
        "[\u{e00}-\u{eff}\u{1000}-\u{109f}\u{1780}-\u{17ff}]{0,8}",
        "[一-龥ぁ-ヿ가-힣ｦ-ﾟ\u{1100}-\u{11ff}]{0,8}",
        "[\u{200b}-\u{206f}\u{300}-\u{36f}\u{fe00}-\u{fe0f}]{0,4}",
        "[🇦-🇿👍🏽👩💻\u{200d}\u{fe0f}]{0,6}",
        Just("\"".to_owned()),
        Just(" -".to_owned()),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn tokens_are_in_order_and_have_text(text in odd()) {
        for language in [Language::English, Language::French, Language::Turkish, Language::Other] {
            let mut before = 0;
            for (token, _, bytes) in all(&text, language) {
                prop_assert!(!token.is_empty() && !token.contains(char::is_whitespace));
                prop_assert!(token.len() <= MAX_TOKEN);
                prop_assert!(text.get(bytes.clone()).is_some_and(|part| !part.is_empty()));
                prop_assert!(bytes.start >= before);
                before = bytes.start;
            }
        }
    }

    #[test]
    fn every_stemmer_survives_every_word(text in odd()) {
        for code in "en de fr es pt it nl sv da no fi hu ro tr ru ar el und".split(' ') {
            all(&text, Language::of_code(code).unwrap());
        }
        Votes::of(&text).decide(&Votes::of(&text));
    }

    #[test]
    fn the_spelling_of_letters_does_not_matter(text in odd()) {
        let apart: String = text.nfd().collect();
        let together: String = text.nfc().collect();
        let texts = |text: &str| {
            let all = all(text, Language::German).into_iter();
            all.map(|(token, kind, _)| (token, kind)).collect::<Vec<_>>()
        };
        prop_assert_eq!(texts(&apart), texts(&together));
        prop_assert_eq!(texts(&text), texts(&together));
    }

    #[test]
    fn case_does_not_matter_but_to_parts(text in "[ -~]{0,40}") {
        let wholes = |text: &str| {
            let all = all(text, Language::Other).into_iter();
            let wholes = all.filter(|&(_, kind, _)| kind == Kind::Word);
            wholes.map(|(token, _, bytes)| (token, bytes)).collect::<Vec<_>>()
        };
        prop_assert_eq!(wholes(&text), wholes(&text.to_ascii_lowercase()));
    }

    #[test]
    fn anything_can_be_asked(query in odd(), text in odd()) {
        let words = parse(&query, &[Language::English, Language::German, Language::Russian]);
        prop_assert!(words.terms.len() <= 64);
        for phrase in words.phrases.iter().chain(&words.excluded_phrases) {
            phrase.is_in(&text);
            prop_assert!(phrase.is_in(&query));
        }
    }
}
