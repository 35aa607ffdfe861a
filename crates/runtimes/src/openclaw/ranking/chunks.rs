//! OpenClaw's own chunks, of either generation, to the byte: the same ids as in its database.
//!
//! OpenClaw counts text in UTF-16 units, so one character here may be two there. The third
//! generation even cuts such a character in half; it then stores two replacement characters, and so
//! do we.

mod annotations;

use std::borrow::Cow;
use std::ops::Range;

use anemone_format::sha256_hex;
use anemone_index::RankingTuning;

use super::script::{self, is_space};
use annotations::Annotations;
pub(super) use annotations::INVALID_PROJECT;

/// The default size of a chunk, in tokens of four units.
const TOKENS: u32 = 400;
/// How much of a chunk the next one repeats by default, in tokens.
const OVERLAP_TOKENS: u32 = 80;
/// The smallest size of a chunk, in UTF-16 units.
const SMALLEST: usize = 32;
/// Bytes of a chunk that an embedding service is asked for at once, at most. The ninth generation
/// has the limit too, but its chunks, of at most 1600 units of three bytes, never reach it.
const MAX_BYTES: usize = 8000;
/// The files whose entries become separate chunks in the ninth generation.
const BY_ENTRY: [&str; 2] = ["MEMORY.md", "USER.md"];

/// The size of chunks, in UTF-16 units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChunkSize {
    size: usize,
    overlap: usize,
}

impl Default for ChunkSize {
    fn default() -> Self {
        Self::of(&RankingTuning::default())
    }
}

impl ChunkSize {
    /// Returns the size that a configuration asks for. OpenClaw accepts any overlap that is smaller
    /// than a chunk; here it is at most nine tenths, because chunks that repeat more would take many
    /// times the memory of the text.
    pub(super) fn of(tuning: &RankingTuning) -> Self {
        let units = |tokens: u32| usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(4);
        let size = units(tuning.chunk_tokens.unwrap_or(TOKENS)).max(SMALLEST);
        let overlap = units(tuning.chunk_overlap.unwrap_or(OVERLAP_TOKENS)).min(size / 10 * 9);
        Self { size, overlap }
    }
}

/// Which OpenClaw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Generation {
    /// 2026.3.
    Three,
    /// 2026.9.
    Nine,
}

/// One of OpenClaw's chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenClawChunk {
    /// Its first line, from 1.
    pub start_line: u32,
    /// Its last line.
    pub end_line: u32,
    /// Its text.
    pub text: String,
    /// SHA-256 of the text, in hex.
    pub hash: String,
    /// The importance that an annotation gives it, from 1 to 10.
    pub importance: Option<u8>,
    /// The project that an annotation names; several with `; ` between them. A malformed one hides
    /// the entry there and reads `!invalid-project-annotation`.
    pub project: Option<String>,
}

impl OpenClawChunk {
    /// Returns the id that OpenClaw gives the chunk.
    #[must_use]
    pub(crate) fn id(&self, source: &str, path: &str, model: &str) -> String {
        let Self { start_line, end_line, hash, .. } = self;
        let name = format!("{source}:{path}:{start_line}:{end_line}:{hash}:{model}");
        sha256_hex(name.as_bytes())
    }
}

/// Cuts a memory file as OpenClaw does.
#[must_use]
pub(super) fn openclaw_chunks(
    path: &str,
    text: &str,
    generation: Generation,
    size: ChunkSize,
) -> Vec<OpenClawChunk> {
    match generation {
        Generation::Three => {
            let cuts = cut(text, generation, size, false);
            let parts = cuts.iter().filter(|cut| !is_blank(&cut.text)).flat_map(|cut| {
                by_bytes(&cut.text).map(|part| chunk(cut.lines.clone(), part.to_owned()))
            });
            parts.collect()
        }
        Generation::Nine => {
            let path = path.replace('\\', "/");
            let by_entry = BY_ENTRY.contains(&path.as_str());
            let annotations = Annotations::new(&path, text);
            let cuts = cut(&annotations.without(text), generation, size, by_entry);
            let mut last = None;
            let chunks = cuts.into_iter().filter(|cut| !is_blank(&cut.text)).map(|cut| {
                let lines = cut.entry.unwrap_or_else(|| cut.lines.clone());
                // The pieces of a long entry have the same annotations, which are only looked up
                // once.
                let said = match last.take() {
                    Some((of, said)) if of == lines => said,
                    _ => annotations.of_lines(lines.clone()),
                };
                let chunk = OpenClawChunk {
                    importance: said.importance,
                    project: said.project.clone(),
                    ..chunk(cut.lines, cut.text)
                };
                last = Some((lines, said));
                chunk
            });
            chunks.collect()
        }
    }
}

fn chunk(lines: Range<u32>, text: String) -> OpenClawChunk {
    let (start_line, end_line) = (lines.start, lines.end - 1);
    let hash = sha256_hex(text.as_bytes());
    OpenClawChunk { start_line, end_line, text, hash, importance: None, project: None }
}

fn is_blank(text: &str) -> bool {
    text.chars().all(is_space)
}

/// A chunk before its annotations are read.
struct RawChunk {
    text: String,
    lines: Range<u32>,
    /// The lines of the entry that it is a piece of.
    entry: Option<Range<u32>>,
}

/// A line, or a piece of a long one.
#[derive(Clone)]
struct Segment<'a> {
    text: Cow<'a, str>,
    /// Its size, without the line break.
    size: usize,
    line: u32,
}

struct Cutter<'a> {
    generation: Generation,
    /// The size of chunks.
    limit: ChunkSize,
    current: Vec<Segment<'a>>,
    size: usize,
    cuts: Vec<RawChunk>,
}

fn cut(text: &str, generation: Generation, limit: ChunkSize, by_entry: bool) -> Vec<RawChunk> {
    let mut cutter = Cutter { generation, limit, current: Vec::new(), size: 0, cuts: Vec::new() };
    let mut entry: Option<(u32, usize)> = None;
    let mut number = 0;
    for line in text.split('\n') {
        number += 1;
        let is_entry = line.starts_with("- ");
        if by_entry && (is_entry || is_heading(line) || number == 1) {
            cutter.flush();
            cutter.current.clear();
            cutter.size = 0;
            cutter.note_entry(entry, number);
            entry = is_entry.then_some((number, cutter.cuts.len()));
        }
        cutter.line(line, number);
    }
    cutter.flush();
    cutter.note_entry(entry, number + 1);
    cutter.cuts
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - rest.len())) && rest.chars().next().is_none_or(is_space)
}

impl<'a> Cutter<'a> {
    fn line(&mut self, line: &'a str, number: u32) {
        match self.generation {
            Generation::Three => self.line_of_three(line, number),
            Generation::Nine => self.line_of_nine(line, number),
        }
    }

    fn line_of_three(&mut self, line: &'a str, number: u32) {
        let mut rest = line;
        let mut half = false;
        loop {
            let head = script::prefix(rest, self.limit.size - usize::from(half));
            let mut text = Cow::Borrowed(head);
            let mut size = script::units(head);
            if half {
                text = Cow::Owned(format!("\u{fffd}{text}"));
                size += 1;
            }
            rest = &rest[head.len()..];
            // One unit is left, and a character of two units follows: it is cut in half.
            half = size < self.limit.size && !rest.is_empty();
            if half {
                text.to_mut().push('\u{fffd}');
                size += 1;
                rest = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
            }
            self.push(Segment { text, size, line: number });
            if rest.is_empty() && !half {
                return;
            }
        }
    }

    fn line_of_nine(&mut self, line: &'a str, number: u32) {
        let mut rest = line;
        loop {
            let coarse;
            (coarse, rest) = rest.split_at(script::prefix(rest, self.limit.size).len());
            let (mut start, mut size) = (0, 0);
            for (at, character) in coarse.char_indices() {
                let more = weight(character);
                if size + more > self.limit.size {
                    let text = Cow::Borrowed(&coarse[start..at]);
                    self.push(Segment { text, size, line: number });
                    (start, size) = (at, 0);
                }
                size += more;
            }
            self.push(Segment { text: Cow::Borrowed(&coarse[start..]), size, line: number });
            if rest.is_empty() {
                return;
            }
        }
    }

    fn push(&mut self, segment: Segment<'a>) {
        let size = segment.size + 1;
        let ChunkSize { size: most, overlap } = self.limit;
        if self.size + size > most && !self.current.is_empty() {
            self.flush();
            match self.generation {
                Generation::Three => self.carry_lines(),
                Generation::Nine => self.carry_tail(overlap.min(most.saturating_sub(size))),
            }
        }
        self.current.push(segment);
        self.size += size;
    }

    fn flush(&mut self) {
        let (Some(first), Some(last)) = (self.current.first(), self.current.last()) else { return };
        let lines = first.line..last.line + 1;
        let mut text =
            String::with_capacity(self.current.iter().map(|segment| segment.text.len() + 1).sum());
        for (position, segment) in self.current.iter().enumerate() {
            if position > 0 {
                text.push('\n');
            }
            text.push_str(&segment.text);
        }
        self.cuts.push(RawChunk { text, lines, entry: None });
    }

    /// Marks the chunks since an entry began as its pieces; it ends before this line.
    fn note_entry(&mut self, entry: Option<(u32, usize)>, end: u32) {
        if let Some((start, first)) = entry {
            self.cuts[first..].iter_mut().for_each(|cut| cut.entry = Some(start..end));
        }
    }

    /// Keeps whole lines until they are long enough.
    fn carry_lines(&mut self) {
        let (mut kept, mut size) = (self.current.len(), 0);
        while kept > 0 && size < self.limit.overlap {
            kept -= 1;
            size += self.current[kept].size + 1;
        }
        self.current.drain(..kept);
        self.size = size;
    }

    /// Keeps whole lines as long as they fit, or the end of the last one.
    fn carry_tail(&mut self, window: usize) {
        let (mut kept, mut size) = (self.current.len(), 0);
        while kept > 0 && size < window {
            let more = self.current[kept - 1].size + 1;
            if size + more > window {
                break;
            }
            kept -= 1;
            size += more;
        }
        let tail = match self.current.last() {
            Some(last) if kept == self.current.len() && window > 0 => tail(last, window - 1),
            _ => None,
        };
        self.current.drain(..kept);
        self.size = size;
        if let Some(tail) = tail {
            self.size = tail.size + 1;
            self.current.push(tail);
        }
    }
}

/// Returns the end of a segment that fits; `None` when not even one character fits.
fn tail<'a>(segment: &Segment<'a>, size: usize) -> Option<Segment<'a>> {
    let (mut start, mut taken) = (segment.text.len(), 0);
    for (at, character) in segment.text.char_indices().rev() {
        let more = weight(character);
        if taken + more > size {
            break;
        }
        (start, taken) = (at, taken + more);
    }
    if start == segment.text.len() {
        return None;
    }
    let text = match &segment.text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..]),
        Cow::Owned(text) => Cow::Owned(text[start..].to_owned()),
    };
    Some(Segment { text, size: taken, line: segment.line })
}

/// Cuts a text so that no part has too many bytes.
fn by_bytes(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let part;
        (part, rest) = rest.split_at(rest.floor_char_boundary(MAX_BYTES));
        (!part.is_empty()).then_some(part)
    })
}

/// The size of a character in the ninth generation: about its share of a token, in quarters.
fn weight(character: char) -> usize {
    match u32::from(character) {
        ..=0x7f => 1,
        0xb7 | 0x3000..=0x319f | 0x4e00..=0x9fa5 | 0xac00..=0xd7af | 0xff01..=0xff60 => 4,
        0x1100..=0x11ff
        | 0x2e80..=0x2fff
        | 0x31a0..=0x4dff
        | 0x9fa6..=0xa4ff
        | 0xa700..=0xa707
        | 0xa960..=0xa97f
        | 0xd7b0..=0xd7ff
        | 0xf900..=0xfaff => 12,
        0x2c7
        | 0x2c9..=0x2cb
        | 0x2d9
        | 0x2ea..=0x2eb
        | 0x305
        | 0x323
        | 0xfe10..=0xfe4f
        | 0xff61..=0xffdc
        | 0xffe0..=0xffe6 => 8,
        0x1d360..=0x1d371 => 12,
        0x16fe0..=0x16fff
        | 0x1aff0..=0x1b16f
        | 0x1f200..=0x1f2ff
        | 0x20000..=0x2fa1f
        | 0x30000..=0x3347f => 16,
        _ => character.len_utf16(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Golden = (&'static str, Generation, &'static [(u32, u32, &'static str)]);

    /// What OpenClaw 2026.3.24 and 2026.9.6 gave: first line, last line, beginning of the hash.
    const GOLDEN: &[Golden] = &[
        (
            "words",
            Generation::Three,
            &[
                (1, 17, "4924974facab"),
                (14, 29, "37a805244b2a"),
                (26, 42, "0e7a91ad0366"),
                (39, 53, "f58f22b7cf57"),
                (50, 66, "b12ed6b9b0e6"),
                (62, 78, "0b530f45afa3"),
                (75, 88, "35468aa43de6"),
                (85, 91, "cd25ec0cdc90"),
            ],
        ),
        (
            "words",
            Generation::Nine,
            &[
                (1, 17, "4924974facab"),
                (15, 30, "b25baf9a680c"),
                (28, 44, "cf036be8c383"),
                (41, 56, "b1c65aaa07b3"),
                (54, 69, "9bb9ef60ed3f"),
                (67, 83, "95e056663234"),
                (81, 91, "97cef454c870"),
            ],
        ),
        (
            "crlf",
            Generation::Three,
            &[
                (1, 17, "bad29a5bd534"),
                (14, 29, "8ec7b4db7070"),
                (26, 42, "ba313e5c0f8c"),
                (39, 53, "1fd7606b9648"),
                (50, 66, "0774f29b4aae"),
                (62, 78, "178e18bf2b50"),
                (75, 88, "3dcca5822dd6"),
                (85, 90, "927e01ac7bcb"),
            ],
        ),
        (
            "crlf",
            Generation::Nine,
            &[
                (1, 17, "bad29a5bd534"),
                (15, 30, "42cb437d02e6"),
                (28, 44, "7ad3026d796f"),
                (41, 56, "343e8d2ed5d8"),
                (54, 69, "8752ebddabab"),
                (67, 82, "6529ebc2a970"),
                (80, 90, "5be50b374e34"),
            ],
        ),
        ("ideographs", Generation::Three, &[(1, 6, "9c00fc09951e")]),
        (
            "ideographs",
            Generation::Nine,
            &[
                (1, 2, "1ed417480472"),
                (3, 3, "858a567f655e"),
                (3, 3, "075ff7b0efb6"),
                (3, 6, "9559485bb51b"),
            ],
        ),
        (
            "crabs",
            Generation::Three,
            &[
                (1, 1, "fc24f4a14211"),
                (1, 1, "c8a4b034ff0b"),
                (1, 1, "bc2082a2b3cb"),
                (1, 3, "0ac836e9c5ad"),
            ],
        ),
        (
            "crabs",
            Generation::Nine,
            &[
                (1, 1, "ace587c023ee"),
                (1, 1, "0e90f759a393"),
                (1, 1, "34880004d65d"),
                (2, 2, "2c9d99340acd"),
                (2, 3, "6a291446ee24"),
            ],
        ),
        (
            "han_line",
            Generation::Three,
            &[
                (1, 1, "8ac9f1fb43a3"),
                (1, 1, "979ca0a93d1e"),
                (1, 1, "8ed44c1692aa"),
                (1, 1, "979ca0a93d1e"),
                (1, 1, "8ed44c1692aa"),
                (1, 1, "eab00c2922c0"),
                (1, 2, "55fcb0d06367"),
                (1, 3, "d51aecafee2d"),
            ],
        ),
        (
            "han_line",
            Generation::Nine,
            &[
                (1, 1, "a46c643724f1"),
                (1, 1, "a46c643724f1"),
                (1, 1, "a46c643724f1"),
                (1, 1, "a46c643724f1"),
                (1, 1, "a46c643724f1"),
                (1, 1, "a46c643724f1"),
                (1, 1, "a46c643724f1"),
                (1, 1, "a46c643724f1"),
                (1, 1, "a46c643724f1"),
                (1, 1, "a46c643724f1"),
                (1, 1, "a46c643724f1"),
                (1, 1, "a46c643724f1"),
                (1, 3, "c0cb5e9e60f2"),
            ],
        ),
        (
            "entries",
            Generation::Three,
            &[
                (1, 7, "ad51af431bd5"),
                (1, 8, "172f750ed3b6"),
                (8, 8, "8fbc8d43318a"),
                (8, 8, "5fad7465e7d4"),
                (8, 11, "da0635da2a20"),
            ],
        ),
        (
            "entries",
            Generation::Nine,
            &[
                (1, 2, "d7870cdadd1a"),
                (3, 4, "ce4d9c8f1695"),
                (5, 5, "7600a2614877"),
                (6, 6, "3c90728b5e91"),
                (7, 7, "e81b2a0cdf8f"),
                (8, 8, "cbcfa8275f94"),
                (8, 8, "0236dcfb5da3"),
                (8, 9, "fd6d6e7a828b"),
                (10, 11, "32c4858e22cc"),
            ],
        ),
    ];

    fn words(end_of_line: &str) -> String {
        let lines = (0..90).map(|number| format!("{number}: {}", "lorem ".repeat(number * 7 % 31)));
        lines.collect::<Vec<_>>().join(end_of_line)
    }

    fn text(name: &str) -> String {
        let repeated = |text: &str, count| text.repeat(count);
        match name {
            "words" => words("\n") + "\n",
            "crlf" => words("\r\n"),
            "ideographs" => {
                let sentences = repeated("数据库迁移的方案已经决定了。", 60);
                format!("# 会\n\n{sentences}\n\nend\n")
            }
            "crabs" => {
                let (crabs, rare) = (repeated("\u{1f980}", 2000), repeated("\u{20bb7}野", 150));
                format!("x{crabs}\n{rare}\nend")
            }
            "han_line" => format!("{}\nlast\n", repeated("界", 5000)),
            _ => {
                let long = repeated("long ", 700);
                format!("{ENTRIES}- {long}<!-- importance: 4 -->\n\n#\n")
            }
        }
    }

    const ENTRIES: &str = "# Memory\n\n- Keep the gateway on loopback. \
        <!-- trigger: gateway setup, network safety --> <!-- importance: 9 --> \
        <!-- project: GitHub.com/O/R -->\n  more of it  \n- second <!-- importance: 11 -->\n\
        ## Preferences\n- third <!-- project: a>b -->\n";

    #[test]
    fn the_chunks_are_those_of_the_real_program() {
        for (name, generation, expected) in GOLDEN {
            let path = if *name == "entries" { "MEMORY.md" } else { "memory/a.md" };
            let chunks = openclaw_chunks(path, &text(name), *generation, ChunkSize::default());
            let chunks: Vec<_> = chunks
                .iter()
                .map(|chunk| (chunk.start_line, chunk.end_line, &chunk.hash[..12]))
                .collect();
            assert_eq!(chunks, *expected, "{name} {generation:?}");
        }
    }

    #[test]
    fn annotations_are_read_and_not_searched() {
        let chunks =
            openclaw_chunks("MEMORY.md", &text("entries"), Generation::Nine, ChunkSize::default());
        let said: Vec<_> = chunks
            .iter()
            .map(|chunk| (chunk.start_line, chunk.importance, chunk.project.as_deref()))
            .collect();
        let expected = [
            (1, None, None),
            (3, Some(9), Some("github.com/O/R")),
            (5, None, None),
            (6, None, None),
            (7, None, Some("!invalid-project-annotation")),
            (8, Some(4), None),
            (8, Some(4), None),
            (8, Some(4), None),
            (10, None, None),
        ];
        assert_eq!(said, expected);
        assert_eq!(chunks[1].text, "- Keep the gateway on loopback.\n  more of it");
        // The older generation does not know annotations.
        let chunks =
            openclaw_chunks("MEMORY.md", &text("entries"), Generation::Three, ChunkSize::default());
        assert!(chunks[0].text.contains("importance: 9"));
        assert_eq!(chunks[0].importance, None);
    }

    #[test]
    fn only_the_curated_files_are_cut_by_entry_and_have_importance() {
        let text = "- a <!-- importance: 3 -->\n- b <!-- project: p -->\n";
        let project = || Some("p".to_owned());
        let is = |path: &str, expected: &[(u32, Option<u8>, Option<String>)]| {
            let chunks = openclaw_chunks(path, text, Generation::Nine, ChunkSize::default());
            let chunks =
                chunks.into_iter().map(|chunk| (chunk.end_line, chunk.importance, chunk.project));
            assert_eq!(chunks.collect::<Vec<_>>(), expected, "{path}");
        };
        is("MEMORY.md", &[(1, Some(3), None), (3, None, project())]);
        is("USER.md", &[(1, Some(3), None), (3, None, None)]);
        is("memory.md", &[(3, Some(3), project())]);
        is("memory/MEMORY.md", &[(3, None, project())]);
        is("user.md", &[(3, None, None)]);
    }

    #[test]
    fn an_id_is_that_of_the_real_database() {
        let text = "# Long-term Memory\n\n## Preferences\n- x\n";
        let chunk = &openclaw_chunks("MEMORY.md", text, Generation::Nine, ChunkSize::default())[1];
        assert_eq!(
            chunk.id("memory", "MEMORY.md", "text-embedding-3-small"),
            "21863207bcfac9da467da9a0003067823f4979f7ddbb0e912d0634f430e42a7c"
        );
    }

    #[test]
    fn nothing_is_made_of_white_space() {
        for text in ["", "\n", "\n \t\n\u{feff}\n", "<!-- importance: 3 -->\n"] {
            let path = "MEMORY.md";
            assert_eq!(
                openclaw_chunks(path, text, Generation::Nine, ChunkSize::default()),
                [],
                "{text:?}"
            );
        }
        assert_eq!(
            openclaw_chunks("a.md", "\n \u{feff}", Generation::Three, ChunkSize::default()),
            []
        );
        // JavaScript does not treat this character as whitespace.
        assert_eq!(
            openclaw_chunks("a.md", "\u{85}", Generation::Three, ChunkSize::default()).len(),
            1
        );
    }

    proptest! {
        #[test]
        fn any_text_is_cut(
            text in "(-{0,2}[>!<] ?|project:|importance: 1|\r?\n|- |# |\\PC{0,3}|[🦀界x]{0,99}){0,90}",
            path in "MEMORY.md|USER.md|a.md",
        ) {
            for generation in [Generation::Three, Generation::Nine] {
                let chunks = openclaw_chunks(&path, &text, generation, ChunkSize::default());
                let lines = text.split('\n').count() as u32;
                for chunk in chunks {
                    prop_assert!(1 <= chunk.start_line && chunk.start_line <= chunk.end_line);
                    prop_assert!(chunk.end_line <= lines);
                    prop_assert!(chunk.text.len() <= MAX_BYTES);
                }
            }
        }
    }
}
