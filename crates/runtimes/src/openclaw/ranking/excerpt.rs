//! The answers of OpenClaw's `memory_get`, of both generations.
//!
//! They count lines and characters in their own way: only a line feed ends a line, a character is
//! a unit of UTF-16, and the newer one puts a notice behind a text that goes on.

use serde::Serialize;

use super::script::prefix;

/// Lines that the newer generation returns by default.
const LINES: usize = 120;
/// Units of UTF-16 that it returns at most.
const UNITS: usize = 12_000;

/// What `memory_get` of March 2026 answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct MemoryGet3 {
    /// The lines; empty when there is no such file.
    pub text: String,
    /// The file, relative to the workspace.
    pub path: String,
}

/// What `memory_get` of September 2026 answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(crate) enum MemoryGet9 {
    /// The file exists.
    Ok {
        /// The lines, followed by a notice when more follows.
        text: String,
        /// The file, relative to the workspace.
        path: String,
        /// The first line, from 1.
        from: usize,
        /// How many lines.
        lines: usize,
        /// Whether more follows.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        truncated: bool,
        /// The line to continue with; absent when a line was cut.
        #[serde(skip_serializing_if = "Option::is_none")]
        next_from: Option<usize>,
    },
    /// There is no such file.
    NotFound {
        /// Empty.
        text: String,
        /// The file.
        path: String,
    },
}

impl MemoryGet3 {
    /// Answers from the text of a file, or from its absence.
    #[must_use]
    pub(crate) fn of(
        path: &str,
        text: Option<&str>,
        from: Option<usize>,
        lines: Option<usize>,
    ) -> Self {
        let text = text.unwrap_or_default();
        let text = match (from, lines) {
            (None, None) => text.to_owned(),
            _ => {
                let skipped = from.unwrap_or(1).max(1) - 1;
                let taken = lines.map_or(usize::MAX, |lines| lines.max(1));
                let lines: Vec<&str> = text.split('\n').skip(skipped).take(taken).collect();
                lines.join("\n")
            }
        };
        Self { text, path: path.to_owned() }
    }
}

impl MemoryGet9 {
    /// Answers from the text of a file, or from its absence; `units` is the limit of characters
    /// where one is configured.
    #[must_use]
    pub(crate) fn of(
        path: &str,
        text: Option<&str>,
        from: Option<usize>,
        lines: Option<usize>,
        units: Option<usize>,
    ) -> Self {
        let path = path.to_owned();
        let Some(text) = text else { return Self::NotFound { text: String::new(), path } };
        let from = from.unwrap_or(1).max(1);
        let asked = lines.unwrap_or(LINES).max(1);
        let most = units.unwrap_or(UNITS).max(1);

        let mut rest = text.split_terminator('\n').skip(from - 1);
        let mut body = String::new();
        let mut lines = 0;
        let mut length = 0_usize;
        let mut more = false;
        for line in rest.by_ref() {
            let longer = length + usize::from(lines > 0) + line.encode_utf16().count();
            if lines == asked || (lines > 0 && longer > most) {
                more = true;
                break;
            }
            if lines > 0 {
                body.push('\n');
            }
            body.push_str(line);
            length = longer;
            lines += 1;
        }
        let cut = length > most;
        if cut {
            body.truncate(prefix(&body, most).len());
        }
        let next_from = (more && !cut).then(|| from.saturating_add(lines));
        let truncated = more || cut;
        if truncated && (cut || !body.is_empty()) {
            body.push_str(&notice(&path, next_from));
        }
        Self::Ok { text: body, path, from, lines, truncated, next_from }
    }
}

/// The notice after a text that continues.
fn notice(path: &str, next_from: Option<usize>) -> String {
    if let Some(next) = next_from {
        return format!("\n\n[More content available. Use from={next} to continue.]");
    }
    let way = if is_memory(path) {
        " If you need the full raw line, use read on the source file."
    } else {
        ""
    };
    format!(
        "\n\n[More content available. Requested excerpt exceeded the default maxChars budget.{way}]"
    )
}

/// Returns whether a path is one of the workspace's own, not one of the extra ones.
fn is_memory(path: &str) -> bool {
    path.starts_with("memory/")
        || matches!(path, "MEMORY.md" | "USER.md")
        || path.eq_ignore_ascii_case("dreams.md")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn newer(text: &str, from: usize, lines: usize, units: Option<usize>) -> Value {
        let answer = MemoryGet9::of("memory/a.md", Some(text), Some(from), Some(lines), units);
        serde_json::to_value(answer).unwrap()
    }

    #[test]
    fn the_newer_generation_says_where_to_go_on() {
        let text = "1\n2\n3\n4\n5\n6\n7\n";
        assert_eq!(
            newer(text, 1, 6, None),
            json!({
                "status": "ok",
                "text": "1\n2\n3\n4\n5\n6\n\n[More content available. Use from=7 to continue.]",
                "path": "memory/a.md", "from": 1, "lines": 6, "truncated": true, "nextFrom": 7,
            })
        );
        assert_eq!(
            newer(text, 7, 6, None),
            json!({"status": "ok", "text": "7", "path": "memory/a.md", "from": 7, "lines": 1})
        );
        assert_eq!(
            newer(text, 8, 6, None),
            json!({"status": "ok", "text": "", "path": "memory/a.md", "from": 8, "lines": 0})
        );
        let written = serde_json::to_string(&MemoryGet9::of("a.md", Some(""), None, None, None));
        assert_eq!(
            written.unwrap(),
            r#"{"status":"ok","text":"","path":"a.md","from":1,"lines":0}"#
        );
    }

    #[test]
    fn the_newer_generation_keeps_returns_and_blank_lines() {
        let text = |text, lines| newer(text, 1, lines, None)["text"].as_str().unwrap().to_owned();
        assert_eq!(text("one\r\ntwo\r\n", 2), "one\r\ntwo\r");
        assert_eq!(text("one\n\n", 2), "one\n");
        assert_eq!(text("one\n\n\n", 3), "one\n\n");
        assert_eq!(text("one\ntwo", 2), "one\ntwo");
        // An empty line alone gets no notice.
        let blank = newer("\nx\n", 1, 1, None);
        assert_eq!((&blank["text"], &blank["nextFrom"]), (&json!(""), &json!(2)));
    }

    #[test]
    fn the_newer_generation_counts_units_of_utf_16() {
        let answer = newer("aaaa\nbbbb\n", 1, 9, Some(8));
        assert_eq!((&answer["lines"], &answer["nextFrom"]), (&json!(1), &json!(2)));
        assert_eq!(newer("aaaa\nbbbb\n", 1, 9, Some(9))["truncated"], Value::Null);
        // Three units would tear the second pair apart.
        let cut = newer("😀😀😀\nx\n", 1, 9, Some(3));
        let text = "😀\n\n[More content available. Requested excerpt exceeded the default maxChars budget. If you need the full raw line, use read on the source file.]";
        assert_eq!(cut["text"], text);
        assert_eq!(cut["truncated"], true);
        assert_eq!(cut["nextFrom"], Value::Null);
        let extra = MemoryGet9::of("../notes/a.md", Some("abcdef"), None, None, Some(3));
        let extra = serde_json::to_value(extra).unwrap();
        let text = "abc\n\n[More content available. Requested excerpt exceeded the default maxChars budget.]";
        assert_eq!(extra["text"], text);
    }

    #[test]
    fn a_file_that_is_not_there_has_no_text() {
        let newer = MemoryGet9::of("memory/a.md", None, Some(1), None, None);
        let expected = json!({"status": "not_found", "text": "", "path": "memory/a.md"});
        assert_eq!(serde_json::to_value(newer).unwrap(), expected);
        let older = MemoryGet3::of("memory/a.md", None, Some(1), None);
        let expected = json!({"text": "", "path": "memory/a.md"});
        assert_eq!(serde_json::to_value(older).unwrap(), expected);
    }

    #[test]
    fn the_older_generation_returns_lines_and_nothing_else() {
        let text = |from, lines| MemoryGet3::of("a.md", Some("1\n2\n3\n"), from, lines).text;
        assert_eq!(text(None, None), "1\n2\n3\n");
        assert_eq!(text(Some(2), None), "2\n3\n");
        assert_eq!(text(Some(2), Some(1)), "2");
        assert_eq!(text(None, Some(2)), "1\n2");
        assert_eq!(text(Some(0), Some(0)), "1");
        assert_eq!(text(Some(99), None), "");
        assert_eq!(text(Some(usize::MAX), Some(usize::MAX)), "");
    }
}
