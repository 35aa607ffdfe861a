//! How OpenClaw shortens `AGENTS.md` since 2026.9: 45 % of the limit from the beginning, up to 35 %
//! of lines that look like rules, 15 % from the end.

use super::cut::{Kept, first, last, length, share};

/// A line of the digest is no longer.
const LINE: usize = 240;
/// Words that make a line a rule, and those that make it one of the first to be kept.
const URGENT: &str = "AGENTS.md|scoped|required|must|never|\
    do not|before subtree|read scoped|security|secret|credential";
const OTHER: &str = "owner|test|validation|command|commit|push|github|pr";
/// The same in Chinese, where words have no bounds.
const URGENT_SIGNS: &str = "\u{1f534}|\u{7981}\u{6b62}|\u{56b4}\u{7981}|\
    \u{4e0d}\u{5f97}|\u{7d55}\u{4e0d}|\u{7d55}\u{5c0d}\u{4e0d}|\u{5207}\u{52ff}";
const OTHER_SIGNS: &str = "\u{5fc5}\u{9808}|\u{52d9}\u{5fc5}|\u{4e00}\u{5f8b}|\u{7d05}\u{7dda}";

struct Rule {
    text: String,
    is_urgent: bool,
}

struct Digest {
    text: String,
    left_out: usize,
}

/// Shortens the file.
pub(super) fn with_rules(text: &str, limit: usize, total: usize) -> Kept {
    let mut head = share(limit, 0.45);
    let mut tail = share(limit, 0.15);
    let mut budget = share(limit, 0.35);
    let rules = if budget == 0 { Vec::new() } else { rules(text) };
    let mut digest = Digest::of(&rules, budget);
    let written = |head: usize, tail: usize, digest: &Digest| {
        let kept = length(&digest.text);
        let parts = [
            first(text, head).to_owned(),
            "[...truncated, read AGENTS.md for full content...]".to_owned(),
            if kept > 0 { "[Policy digest from AGENTS.md]".to_owned() } else { String::new() },
            digest.text.clone(),
            match digest.left_out {
                0 => String::new(),
                number => format!("[...{number} more policy lines omitted...]"),
            },
            format!(
                "\u{2026}(truncated AGENTS.md: kept {head}+policy {kept}+{tail} chars of {total})\u{2026}"
            ),
            last(text, tail).to_owned(),
        ];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("\n")
    };
    let mut result = written(head, tail, &digest);
    while length(&result) > limit && (tail > 0 || head > 1 || budget > 0) {
        let over = length(&result) - limit;
        if tail > 0 {
            tail = tail.saturating_sub(over);
        } else if head > 1 {
            head = head.saturating_sub(over).max(1);
        } else {
            budget = budget.saturating_sub(over);
            digest = Digest::of(&rules, budget);
        }
        result = written(head, tail, &digest);
    }
    Kept { text: first(&result, limit).to_owned(), total, head: Some(head), tail }
}

impl Digest {
    /// Takes rules as long as there is room, the urgent ones first, in the order of the file.
    fn of(rules: &[Rule], budget: usize) -> Self {
        if budget == 0 {
            return Self { text: String::new(), left_out: 0 };
        }
        let mut taken = vec![false; rules.len()];
        let mut used = 0;
        let mut number = 0;
        for urgent in [true, false] {
            for (rule, taken) in rules.iter().zip(&mut taken) {
                let cost = length(&rule.text) + usize::from(number > 0);
                if *taken || (urgent && !rule.is_urgent) || used + cost > budget {
                    continue;
                }
                *taken = true;
                used += cost;
                number += 1;
            }
        }
        let kept = rules.iter().zip(&taken).filter(|(_, taken)| **taken);
        let kept: Vec<_> = kept.map(|(rule, _)| rule.text.as_str()).collect();
        Self { text: kept.join("\n"), left_out: rules.len() - number }
    }
}

/// Finds lines that look like rules, each with the line of prose before it.
fn rules(text: &str) -> Vec<Rule> {
    let mut found = Vec::new();
    let mut before: Option<String> = None;
    for line in text.split('\n') {
        let line = shortened(line);
        if line.is_empty() || is_fence(&line) {
            before = None;
        } else if is_rule(&line) {
            let is_urgent = has_word(&line, URGENT) || has_sign(&line, URGENT_SIGNS);
            let text = match before.take() {
                Some(before) => format!("{before}\n{line}"),
                None => line,
            };
            found.push(Rule { text, is_urgent });
        } else {
            before = Some(line);
        }
    }
    found
}

fn shortened(line: &str) -> String {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if length(&line) <= LINE {
        return line;
    }
    format!("{}\u{2026}", first(&line, LINE - 1))
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

fn is_rule(line: &str) -> bool {
    let marked = line.split_once(' ').is_some_and(|(mark, rest)| {
        let number = mark.strip_suffix(['.', ')']).unwrap_or_default();
        let is_heading = mark.len() <= 6 && mark.chars().all(|c| c == '#');
        let is_item = matches!(mark, "-" | "*" | "+");
        let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
        !rest.is_empty() && (is_heading || is_item || is_number)
    });
    marked
        || has_word(line, URGENT)
        || has_word(line, OTHER)
        || has_sign(line, URGENT_SIGNS)
        || has_sign(line, OTHER_SIGNS)
}

fn has_sign(line: &str, signs: &str) -> bool {
    signs.split('|').any(|sign| line.contains(sign))
}

/// Says whether a line has one of these words, whatever their case.
fn has_word(line: &str, words: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let is_word =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    words.split('|').any(|word| {
        let word = word.to_ascii_lowercase();
        line.match_indices(&word).any(|(at, _)| {
            let before = at.checked_sub(1).and_then(|difference| line.as_bytes().get(difference));
            !is_word(before) && !is_word(line.as_bytes().get(at + word.len()))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_kept_from_the_middle_of_the_file() {
        let prose = "some prose without anything in it that matters\n".repeat(20);
        let text = format!("# Start\n{prose}\nYou must never push.\n\n{prose}the end");
        let kept = with_rules(&text, 600, length(&text));
        assert!(length(&kept.text) <= 600);
        assert!(
            kept.text.contains(
                "[...truncated, read AGENTS.md for full content...]\n\
             [Policy digest from AGENTS.md]\n# Start\nYou must never push.\n"
            ),
            "{}",
            kept.text
        );
    }

    #[test]
    fn words_have_bounds() {
        assert!(has_word("a PR, please", OTHER));
        assert!(!has_word("a sprint", OTHER));
        assert!(is_rule("1. x") && is_rule("- x") && is_rule("## x"));
        assert!(!is_rule("1x. y") && !is_rule("plain"));
    }
}
