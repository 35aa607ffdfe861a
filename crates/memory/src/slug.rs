//! A short name for a conversation: one to three of its most telling words.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;

use crate::capture::sentences;

/// The longest name.
const MAX_CHARS: usize = 30;
/// The most words.
const MAX_WORDS: usize = 3;
/// A word that is said more often in one message does not tell more.
const MOST_IN_ONE: f64 = 2.0;

/// Words that are in every conversation.
const COMMON: &str = "
    a able about above actually add after again all almost already also always am an and any anything
    are around as ask at away back be because been before being below better between both bring but
    by call came can cannot check clear come could did didn different do does doesn doing don done
    down each else end enough even ever every everything few file find fine first for from full fully
    get gets getting give given go goes going gone good got great had happy has have haven having he
    hello help her here hers hey hi him his hope how however i idea if in instead into is isn it its
    just keep kind know last later least leave less let like likely line little ll long look lot made
    make makes making many may maybe me mean might mind mine more most much must my need needed needs
    never new next nice no non none nor not note nothing now of off often ok okay old on once one
    only onto open or other our out over own part per perhaps place please point possible probably put
    question quite rather re really reply right run said same say see seem seems set shall she should
    show shown simple since so some something soon sorry sounds start step still stop such suggest sure
    take tell than thank thanks that the their them then there these they thing things think this those
    though through time to today told tomorrow too took try trying turn two under until up upon us use
    used useful using user ve very via wait want wants was way we well were what when where whether
    which while who whole why will with without won word work works would write wrong yes yesterday yet
    you your yours
    aber alle alles als also am an andere auch auf aus bei beim bin bis bist bitte da damit danach dann
    danke das dass dein deine dem den denn der des dich die dies diese diesem diesen dieser dieses dir
    doch dort du durch ein eine einem einen einer eines er es etwas euch für gar gibt gut habe haben hat
    hatte hier ich ihm ihn ihr ihre im immer in ist ja jede jeder jetzt kann kannst kein keine können
    machen macht man mehr mein meine mich mir mit muss nach nicht nichts noch nun nur ob oder ohne schon
    sehr sein seine sich sie sind so soll sollen sollte sondern über um und uns unser unter viel vom von
    vor war warum was weil wenn wer werden wie wieder will wir wird wo würde zu zum zur
    al algo ante antes así aún bien cada como cómo con cual cuando de del desde donde dos el él ella
    ellos en entre era eres es esa ese eso esta está están estar este esto fue gracias ha hace hacer han
    hasta hay hola la las le les lo los más me mi mis mucho muy nada ni no nos nosotros o otra otro para
    pero por porque puede puedes que qué quiero se sea ser si sí sin sobre solo son soy su sus también
    tan te tengo ti tiene todo todos tu tú tus un una uno usted y ya yo
    ai alors après as au aussi autre aux avec avez avoir avons bien bonjour bon ça car ce cela ces cet
    cette chaque chez comme comment dans de des deux dire doit donc dont du elle elles en encore entre
    est et été être eux fait faire faut fois ici il ils je la là le les leur lui ma mais me merci mes
    moi mon ne nos notre nous on ont ou où par pas peu peut peux plus pour pourquoi quand que quel quelle
    qui quoi sa sans se ses si son sont sous suis sur ta tes toi ton tous tout toute très tu un une va
    veux vos votre vous y";

static STOPPED: LazyLock<HashSet<String>> =
    LazyLock::new(|| COMMON.split_whitespace().map(plain).collect());

/// Says whether a word is in every conversation.
pub(crate) fn is_common(word: &str) -> bool {
    STOPPED.contains(&plain(word))
}

/// Something that was said, for its words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightedText<'a> {
    /// What was said.
    pub text: &'a str,
    /// How much its words count.
    pub weight: f64,
}

/// Makes a name of the most telling words: `None` where there is none in Latin letters.
///
/// A word tells more the more messages use it and the longer it is. Words come in the order in
/// which they were said, so that the name reads like the conversation.
#[must_use]
pub fn telling_slug(spoken: &[WeightedText<'_>]) -> Option<String> {
    struct Word {
        first: usize,
        score: f64,
    }
    let mut words: HashMap<String, Word> = HashMap::new();
    let mut place = 0;
    for it in spoken {
        let mut here: HashMap<String, f64> = HashMap::new();
        // A sentence that held a secret names nothing: its words may be a part of it.
        let open =
            sentences(it.text).into_iter().filter(|sentence| !sentence.contains("[redacted"));
        for word in open.flat_map(words_of) {
            place += 1;
            let known = words.entry(word.clone()).or_insert(Word { first: place, score: 0.0 });
            let said = here.entry(word).or_insert(0.0);
            *said += 1.0;
            if *said <= MOST_IN_ONE {
                known.score += it.weight / *said;
            }
        }
    }
    let mut ranked: Vec<(String, usize, f64)> = words
        .into_iter()
        .map(|(word, other)| {
            let length = word.len() as f64;
            (word, other.first, other.score * (1.0 + length.ln()))
        })
        .collect();
    ranked.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.1.cmp(&b.1)));
    let mut chosen: Vec<(usize, String)> = Vec::new();
    let mut length = 0;
    for (word, first, _) in ranked {
        // Forms of one word say nothing new.
        let is_form =
            |(_, value): &(usize, String)| value.starts_with(&word) || word.starts_with(value);
        let longer = length + word.len() + usize::from(!chosen.is_empty());
        if longer <= MAX_CHARS && !chosen.iter().any(is_form) {
            length = longer;
            chosen.push((first, word));
        }
        if chosen.len() == MAX_WORDS {
            break;
        }
    }
    chosen.sort();
    let words: Vec<_> = chosen.into_iter().map(|(_, word)| word).collect();
    (!words.is_empty()).then(|| words.join("-"))
}

/// Makes a file name of a proposal; `None` when nothing is left of it.
#[must_use]
pub fn slug_of(proposed: &str) -> Option<String> {
    let line = proposed.lines().map(str::trim).find(|value| !value.is_empty())?;
    let line: String = line.chars().take(200).collect();
    let mut slug = String::new();
    for word in plain(&line).split(|c: char| !c.is_ascii_alphanumeric()) {
        if word.is_empty() {
            continue;
        }
        if slug.is_empty() {
            slug.extend(word.chars().take(MAX_CHARS));
        } else if slug.len() + 1 + word.len() <= MAX_CHARS {
            slug.push('-');
            slug.push_str(word);
        } else {
            break;
        }
    }
    slug.contains(|c: char| c.is_ascii_alphabetic()).then_some(slug)
}

/// Returns words that may tell something.
fn words_of(text: &str) -> impl Iterator<Item = String> {
    let of_link = |word: &&str| !word.contains("://");
    text.split_whitespace()
        .filter(of_link)
        .flat_map(|word| word.split(|c: char| !c.is_alphanumeric()))
        .map(plain)
        .filter(|word| {
            (3..=20).contains(&word.len())
                && word.chars().all(|c| c.is_ascii_alphanumeric())
                && word.chars().filter(char::is_ascii_alphabetic).count() * 2 > word.len()
                && !STOPPED.contains(word)
        })
}

/// Returns a text in small letters without accents.
fn plain(text: &str) -> String {
    let is_mark = |c: &char| matches!(c, '\u{300}'..='\u{36f}');
    let text = text.to_lowercase().replace('ß', "ss").replace('æ', "ae").replace('ø', "o");
    text.nfkd().filter(|c| !is_mark(c)).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn telling(texts: &[&str]) -> Option<String> {
        let spoken: Vec<_> = texts.iter().map(|text| WeightedText { text, weight: 1.0 }).collect();
        telling_slug(&spoken)
    }

    #[test]
    fn a_conversation_is_named_by_what_it_is_about() {
        for (texts, wanted) in [
            (
                &["What about the API design?", "For the API design I suggest REST."][..],
                "api-design-rest",
            ),
            (
                &["Wie läuft die Müllabfuhr?", "Die Müllabfuhr kommt am Montag."],
                "lauft-mullabfuhr-montag",
            ),
            (&["yes", "ok, thanks", "vendor pitch tomorrow"], "vendor-pitch"),
            (&["internationalization counterrevolutionary x"], "internationalization"),
            (&["see https://example.org/path 12345 a1b2c3"], ""),
            (
                &["My krabbe password is [redacted:password]! We meet at the harbour."],
                "meet-harbour",
            ),
            (&["今天讨论了数据库迁移方案"], ""),
            (&["今天讨论了 SQLite 迁移"], "sqlite"),
            (&[], ""),
        ] {
            assert_eq!(telling(texts).unwrap_or_default(), wanted, "{texts:?}");
        }
    }

    #[test]
    fn words_of_a_sentence_that_held_a_secret_name_nothing() {
        let texts = ["The sommer krabbe is [redacted:password]! Lanterns hang in the orchard."];
        let spoken: Vec<_> = texts.iter().map(|text| WeightedText { text, weight: 1.0 }).collect();
        let slug = telling_slug(&spoken).expect("a sentence is left");
        assert!(!slug.contains("sommer") && !slug.contains("krabbe"), "{slug}");
        assert!(slug.contains("lanterns") || slug.contains("orchard"), "{slug}");
    }

    #[test]
    fn a_proposal_is_taken_without_what_no_file_name_has() {
        for (proposed, wanted) in [
            ("api-design", "api-design"),
            ("  \"Vendor Pitch!\"\nbecause", "vendor-pitch"),
            ("../../etc/passwd", "etc-passwd"),
            ("Müll & Abfuhr", "mull-abfuhr"),
            ("a-very-long-name-that-goes-on-and-on", "a-very-long-name-that-goes-on"),
            ("1234", ""),
            ("数据库", ""),
            ("\u{0}\n\n", ""),
        ] {
            assert_eq!(slug_of(proposed).unwrap_or_default(), wanted, "{proposed:?}");
        }
    }

    proptest! {
        #[test]
        fn every_name_is_a_plain_one(text in "(?s).{0,200}") {
            for slug in [telling(&[&text]), slug_of(&text)].into_iter().flatten() {
                prop_assert!(slug.len() <= MAX_CHARS && !slug.is_empty());
                prop_assert!(!slug.starts_with('-') && !slug.ends_with('-'));
                let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                prop_assert!(slug.chars().all(is_plain), "{slug}");
            }
        }
    }
}
