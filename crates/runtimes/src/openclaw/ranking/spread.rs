//! Maximal marginal relevance: what says the same as a better hit moves down.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::script;

/// The default weight of relevance; difference has the rest.
pub(super) const LAMBDA: f64 = 0.7;

static ASCII_WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("[a-z0-9_]+").expect("a fixed pattern"));

/// An item without a position yet.
struct Candidate {
    place: usize,
    score: f64,
    relevance: f64,
    /// The highest similarity to an item that has a position.
    likeness: f64,
}

/// Returns the order in which to show items with these scores and texts, by position. `lambda` is
/// the weight of relevance.
pub(super) fn spread(items: &[(f64, &str)], lambda: f64) -> Vec<usize> {
    if items.len() <= 1 {
        return (0..items.len()).collect();
    }
    let texts: Vec<String> =
        items.iter().map(|(_, text)| script::trimmed(text).to_lowercase()).collect();
    let mut numbers = HashMap::new();
    let sets: Vec<Vec<usize>> = texts.iter().map(|text| numbered(text, &mut numbers)).collect();
    let best = items.iter().map(|item| item.0).fold(f64::NEG_INFINITY, f64::max);
    let worst = items.iter().map(|item| item.0).fold(f64::INFINITY, f64::min);
    let range = best - worst;
    let mut waiting: Vec<Candidate> = (items.iter().enumerate())
        .map(|(place, &(score, _))| Candidate {
            place,
            score,
            relevance: if range == 0.0 { 1.0 } else { (score - worst) / range },
            likeness: 0.0,
        })
        .collect();
    let mut order = Vec::with_capacity(items.len());
    while let Some(next) = best_of(&waiting, lambda) {
        let placed = waiting.remove(next).place;
        order.push(placed);
        for other in &mut waiting {
            let likeness = if sets[placed].is_empty() && sets[other.place].is_empty() {
                f64::from(u8::from(texts[placed] == texts[other.place]))
            } else {
                jaccard(&sets[placed], &sets[other.place])
            };
            other.likeness = other.likeness.max(likeness);
        }
    }
    order
}

fn best_of(waiting: &[Candidate], lambda: f64) -> Option<usize> {
    let worth = |item: &Candidate| lambda * item.relevance - (1.0 - lambda) * item.likeness;
    let mut best: Option<(usize, f64, f64)> = None;
    for (at, item) in waiting.iter().enumerate() {
        let worth = worth(item);
        if best.is_none_or(|(_, w, score)| worth > w || (worth == w && item.score > score)) {
            best = Some((at, worth, item.score));
        }
    }
    best.map(|(at, ..)| at)
}

/// The tokens of a text as sorted numbers: ASCII words, characters without word boundaries and
/// their pairs.
fn numbered(lower: &str, numbers: &mut HashMap<String, usize>) -> Vec<usize> {
    let mut set = Vec::new();
    let mut add = |token: String| {
        let next = numbers.len();
        set.push(*numbers.entry(token).or_insert(next));
    };
    for word in ASCII_WORD.find_iter(lower) {
        add(word.as_str().to_owned());
    }
    let mut before = None;
    for c in lower.chars() {
        let single = is_single(c).then_some(c);
        if let Some(c) = single {
            add(c.to_string());
            if let Some(before) = before {
                add(String::from_iter([before, c]));
            }
        }
        before = single;
    }
    set.sort_unstable();
    set.dedup();
    set
}

const fn is_single(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// How much two sorted sets have in common.
fn jaccard(a: &[usize], b: &[usize]) -> f64 {
    let (mut i, mut j, mut common) = (0, 0, 0_usize);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        i += usize::from(x <= y);
        j += usize::from(y <= x);
        common += usize::from(x == y);
    }
    let all = a.len() + b.len() - common;
    #[expect(clippy::cast_precision_loss, reason = "sets of a snippet are small")]
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twin_gives_way_to_something_else() {
        // The twin is worth 0.7 · 0.9 - 0.3 once the first is placed, the next 0.7 · 0.8.
        let items = [(1.0, "red green"), (0.9, "red green"), (0.8, "blue"), (0.0, "grey")];
        assert_eq!(spread(&items, LAMBDA), [0, 2, 1, 3]);
    }

    #[test]
    fn characters_count_by_themselves_and_in_pairs() {
        // 数 据 数据 against 数 库 数库: one of five.
        let mut numbers = HashMap::new();
        let (a, b) = (numbered("数据", &mut numbers), numbered("数库", &mut numbers));
        assert_eq!(jaccard(&a, &b), 0.2);
    }

    #[test]
    fn texts_without_tokens_are_alike_only_when_equal() {
        let items = [(1.0, "мир"), (0.9, "Мир"), (0.8, "сон"), (0.0, "дом")];
        assert_eq!(spread(&items, LAMBDA), [0, 2, 1, 3]);
    }
}
