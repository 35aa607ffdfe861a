//! Questions with their answers, one JSON object a line.

use std::fmt;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize, Serializer};

use super::EvalError;
use super::metrics::RelevantLine;

/// A question and the lines that answer it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Query {
    pub(super) id: String,
    pub(super) query: String,
    pub(super) category: QueryCategory,
    /// Sorted, each once.
    pub(super) relevant: Vec<RelevantLine>,
}

/// The category of a question: a number, a word, or none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QueryCategory {
    /// A number.
    Number(u64),
    /// A word.
    Word(String),
    /// None is given.
    None,
}

impl QueryCategory {
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.to_string() == name
    }
}

impl fmt::Display for QueryCategory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => f.pad(word),
            Self::None => f.pad("none"),
        }
    }
}

impl Serialize for QueryCategory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A line as it is written.
#[derive(Deserialize)]
struct QueryLine {
    id: Option<Name>,
    query: String,
    category: Option<Name>,
    #[serde(default)]
    relevant: Vec<RelevantLine>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Name {
    Number(u64),
    Word(String),
}

/// Reads questions from a file.
pub(super) fn read(path: &Path) -> Result<Vec<Query>, EvalError> {
    /// Real questions are shorter.
    const MAX_LINE: u64 = 1 << 20;
    let mut file = BufReader::new(fs_err::File::open(path)?);
    let mut queries = Vec::new();
    for number in 1.. {
        let mut line = Vec::new();
        if (&mut file).take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let wrong =
            |reason: String| EvalError::Line { path: path.to_owned(), line: number, reason };
        if line.len() as u64 == MAX_LINE {
            return Err(wrong("the line is too long".to_owned()));
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        queries.push(parse(&line, number).map_err(|error| wrong(why(&error)))?);
    }
    Ok(queries)
}

/// Describes the error in a line, without the parser's position, which counts from the start of the
/// line.
fn why(error: &serde_json::Error) -> String {
    if !error.is_data() {
        return format!(
            "this is no JSON object: something is wrong at character {}",
            error.column()
        );
    }
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(&*text, |once| once.0).to_owned()
}

fn parse(line: &[u8], number: u64) -> serde_json::Result<Query> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let QueryLine { id, query, category, mut relevant } = serde_json::from_slice(line)?;
    relevant.sort();
    relevant.dedup();
    Ok(Query {
        id: match id {
            Some(Name::Word(id)) => id,
            Some(Name::Number(id)) => id.to_string(),
            None => format!("line {number}"),
        },
        query,
        category: match category {
            Some(Name::Number(number)) => QueryCategory::Number(number),
            Some(Name::Word(word)) => QueryCategory::Word(word),
            None => QueryCategory::None,
        },
        relevant,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(path: &str, line: u32) -> RelevantLine {
        RelevantLine { path: path.to_owned(), line }
    }

    #[test]
    fn a_line_is_a_question_with_its_answers() {
        let text = r#"{"id": "q1", "query": "Which tea?", "category": 2, "extra": [1],
            "relevant": [{"path": "b.md", "line": 7, "x": 0}, {"path": "a.md", "line": 3},
            {"path": "b.md", "line": 7}]}"#;
        let query = parse(text.as_bytes(), 1).unwrap();
        assert_eq!((query.id.as_str(), query.query.as_str()), ("q1", "Which tea?"));
        assert_eq!(query.category, QueryCategory::Number(2));
        assert_eq!(query.relevant, [line("a.md", 3), line("b.md", 7)], "each once");
    }

    #[test]
    fn categories_are_numbers_or_words_and_numbers_come_first() {
        let category = |text: &str| parse(text.as_bytes(), 9).unwrap().category;
        let mut all = [
            category(r#"{"query":"x"}"#),
            category(r#"{"query":"x","category":"german"}"#),
            category(r#"{"query":"x","category":10}"#),
            category(r#"{"query":"x","category":9}"#),
        ];
        all.sort();
        assert_eq!(all.map(|value| value.to_string()), ["9", "10", "german", "none"]);
        assert_eq!(parse(br#"{"query":"x"}"#, 9).unwrap().id, "line 9");
        assert_eq!(parse(br#"{"query":"x","id":4}"#, 9).unwrap().id, "4");
    }

    #[test]
    fn a_wrong_line_is_named_by_its_number() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queries.jsonl");
        for bad in ["{", "[]", "{\"id\":1}", "{\"query\":1}", "{\"query\":\"x\",\"relevant\":[{}]}"]
        {
            fs_err::write(&path, format!("{{\"query\":\"x\"}}\n\n{bad}\n")).unwrap();
            let error = read(&path).unwrap_err();
            assert!(matches!(error, EvalError::Line { .. }), "{bad}");
            let message = error.to_string();
            assert!(!message.contains("at line"), "{bad}: {message}");
            assert!(message.contains("line 3: "), "{bad}: {message}");
        }
    }
}
