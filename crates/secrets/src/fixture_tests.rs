//! The second set: 120 plants and 84 harmless texts in `fixtures/`, written before the rules were
//! read.
//!
//! Texts are separated by lines that begin with `%%` and name a class. A secret is enclosed in `⟦`
//! and `⟧`, and hits must cover all of it. A `¦` keeps the scanners of hosting services from taking
//! a plant for a leak; it is removed before the search.

use std::ops::Range;

use crate::{redact, scan};

const PLANTS: &str = include_str!("../fixtures/plants.txt");
/// More forms of the same classes, written after the rules.
const FORMS: &str = include_str!("../fixtures/forms.txt");
const HARMLESS: &str = include_str!("../fixtures/harmless.txt");
/// More harmless texts of the same classes, written after the rules.
const HARMLESS_FORMS: &str = include_str!("../fixtures/harmless_forms.txt");

/// What an attack on the detector found missing, and harmless texts that look much the same.
const ATTACK: &str = include_str!("../fixtures/attack.txt");
const ATTACK_HARMLESS: &str = include_str!("../fixtures/attack_harmless.txt");

/// Yields the class and the text of each record.
fn records(file: &str) -> impl Iterator<Item = (&str, &str)> {
    let records = file.strip_prefix("%% ").unwrap_or(file).split("\n%% ");
    records.map(|record| {
        let (class, text) = record.split_once('\n').expect("a text follows the class");
        (class, text.trim_end_matches('\n'))
    })
}

/// Returns a text without its marks, and the ranges that were between them.
fn unmarked(marked: &str) -> (String, Vec<Range<usize>>) {
    let (mut text, mut secrets, mut start) = (String::new(), Vec::new(), 0);
    for character in marked.chars() {
        match character {
            '⟦' => start = text.len(),
            '⟧' => secrets.push(start..text.len()),
            '¦' => {}
            other => text.push(other),
        }
    }
    (text, secrets)
}

/// Yields every text of the fixtures, without marks.
pub(crate) fn texts() -> impl Iterator<Item = String> {
    let files = [PLANTS, FORMS, HARMLESS, HARMLESS_FORMS];
    files.into_iter().flat_map(records).map(|(_, marked)| unmarked(marked).0)
}

#[test]
fn the_second_set_has_120_plants_and_84_harmless_texts() {
    assert_eq!(records(PLANTS).count(), 120);
    assert_eq!(records(HARMLESS).count(), 84);
    assert!(records(PLANTS).all(|(_, text)| !unmarked(text).1.is_empty()));
}

fn assert_found_whole(file: &str) {
    let mut missed = Vec::new();
    for (class, marked) in records(file) {
        let (text, secrets) = unmarked(marked);
        let hits = scan(text.as_bytes());
        let is_covered = |secret: &Range<usize>| {
            let inside = |hit: &Range<usize>| hit.start <= secret.start && secret.end <= hit.end;
            hits.iter().any(|hit| inside(&hit.range))
        };
        if !secrets.iter().all(is_covered) {
            let found: Vec<_> =
                hits.iter().map(|hit| (hit.kind, &text[hit.range.clone()])).collect();
            missed.push(format!("{class}: {text:?} gave {found:?}"));
        }
        assert_eq!(scan(&redact(text.as_bytes(), &hits)), [], "{text}");
    }
    let all = records(file).count();
    assert!(missed.is_empty(), "{} of {all}:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn every_plant_of_the_second_set_is_found_whole() {
    assert_found_whole(PLANTS);
}

#[test]
fn more_forms_of_the_same_classes_are_found_whole() {
    assert_found_whole(FORMS);
}

fn assert_harmless(file: &str) {
    let alarms: Vec<String> = records(file)
        .flat_map(|(class, text)| {
            let hits = scan(text.as_bytes()).into_iter();
            hits.map(move |hit| {
                format!("{class}: {text:?} gave {} {:?}", hit.kind, &text[hit.range])
            })
        })
        .collect();
    let all = records(file).count();
    assert!(alarms.is_empty(), "{} in {all}:\n{}", alarms.len(), alarms.join("\n"));
}

#[test]
fn no_harmless_text_of_the_second_set_raises_an_alarm() {
    assert_harmless(HARMLESS);
}

#[test]
fn more_harmless_texts_of_the_same_classes_raise_no_alarm() {
    assert_harmless(HARMLESS_FORMS);
}

#[test]
fn what_an_attack_found_missing_is_found_whole() {
    assert_found_whole(ATTACK);
}

#[test]
fn texts_that_resemble_the_attack_raise_no_alarm() {
    assert_harmless(ATTACK_HARMLESS);
}

#[test]
fn a_letter_of_latin_1_does_not_hide_what_follows_it() {
    let text = b"Das Passwort f\xfcr den Router lautet Krabbe-77, gr\xfc\xdfe";
    let hits = scan(text);
    let found: Vec<_> = hits.iter().map(|hit| &text[hit.range.clone()]).collect();
    assert_eq!(found, [b"Krabbe-77"]);
}
