//! A shelf of documents that tests fill by hand, and unusual queries.

#![expect(clippy::unwrap_used, reason = "what does not hold in a test may panic")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anemone_index::{
    Document, DocumentSource, FileStamp, Index, Listing, NoProgress, Request, SkippedDocument,
    SourceEntry, SourceError, markdown_document,
};
use jiff::Timestamp;

/// Long after every stamp of a shelf, so that stamps are trusted.
pub(crate) const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

/// Documents in memory.
#[derive(Default)]
pub(crate) struct Shelf {
    documents: Mutex<BTreeMap<String, (String, i64)>>,
}

impl Shelf {
    pub(crate) fn put(&self, path: &str, text: &str) {
        let mut documents = self.documents.lock().unwrap();
        let changes = documents.get(path).map_or(1, |(_, changes)| changes + 1);
        documents.insert(path.to_owned(), (text.to_owned(), changes));
    }

    pub(crate) fn remove(&self, path: &str) {
        self.documents.lock().unwrap().remove(path);
    }
}

impl DocumentSource for Shelf {
    fn identity(&self) -> String {
        "shelf".to_owned()
    }

    fn list(&self) -> Result<Listing, SourceError> {
        let documents = self.documents.lock().unwrap();
        let entry = |(key, (text, changes)): (&String, &(String, i64))| SourceEntry {
            key: key.clone(),
            stamp: FileStamp {
                size: text.len() as u64,
                modified_ns: *changes,
                changed_ns: *changes,
                inode: 1,
            },
        };
        Ok(Listing { entries: documents.iter().map(entry).collect(), skipped: Vec::new() })
    }

    fn load(
        &self,
        entry: &SourceEntry,
        each: &mut dyn FnMut(Document),
    ) -> Result<Vec<SkippedDocument>, SourceError> {
        let documents = self.documents.lock().unwrap();
        if let Some((text, _)) = documents.get(&entry.key) {
            each(Document { text: text.clone(), ..markdown_document(&entry.key) });
        }
        Ok(Vec::new())
    }
}

/// Opens an index and brings it up to date.
pub(crate) fn refreshed(folder: &Path, shelf: &Shelf) -> Index {
    let mut index = Index::open(folder).unwrap();
    index.refresh(&[shelf], NOW, &NoProgress).unwrap();
    index
}

/// Path, lines and score of a hit; the score to the last bit.
pub(crate) type Place = (String, u32, u32, String);

/// Returns the locations of hits.
pub(crate) fn answer_of(index: &Index, query: &str, limit: usize) -> Vec<Place> {
    let mut request = Request::new(query, NOW);
    request.limit = limit;
    let hits = index.search(&request, &[]).unwrap().hits.into_iter();
    hits.map(|hit| (hit.path, hit.start_line, hit.end_line, format!("{:?}", hit.score))).collect()
}

/// Every file below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Finds the current file that corresponds to an earlier one: the same name, or the same extension.
pub(crate) fn same_kind(folder: &Path, file: &Path) -> Option<PathBuf> {
    let all = files(folder);
    let same = all.iter().find(|path| *path == file);
    same.or_else(|| all.iter().find(|path| path.extension() == file.extension())).cloned()
}

/// Ways to damage a file.
pub(crate) const DAMAGES: &[fn(&Path)] = &[
    |file| fs_err::remove_file(file).unwrap(),
    |file| fs_err::write(file, b"").unwrap(),
    |file| fs_err::write(file, b"not what was here").unwrap(),
    |file| {
        let mut bytes = fs_err::read(file).unwrap();
        let middle = bytes.len() / 2;
        if let Some(byte) = bytes.get_mut(middle) {
            *byte ^= 0x55;
        }
        fs_err::write(file, bytes).unwrap();
    },
    |file| {
        let bytes = fs_err::read(file).unwrap();
        fs_err::write(file, &bytes[..bytes.len() / 2]).unwrap();
    },
];

/// Xorshift, for random queries.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % bound
    }

    pub(crate) fn query(&mut self) -> String {
        let mut query = String::new();
        for _ in 0..self.below(12) {
            match self.below(4) {
                0 => query.extend(char::from_u32(u32::try_from(self.below(0x11_0000)).unwrap())),
                1 => query.push(' '),
                _ => query.push_str(ODD_QUERIES[self.below(ODD_QUERIES.len())]),
            }
        }
        query
    }
}

/// Notes with unusual content.
pub(crate) const ODD_NOTES: &str = "- C++ and C# on Ubuntu 20.04, error E1234 in fooBar_baz\n\
    - don't panic: a:b, src/main.rs, 192.168.1.1, 550e8400-e29b-41d4-a716-446655440000\n\
    - 数据库迁移方案定为先双写两周\n- 写真のバックアップは毎晩二時に\n- 데이터베이스를 옮겼다\n\
    - Der Stromzähler im Keller, naïve café, Straße\n- قاعدة البيانات في الخادم\n- 😀 party 🎉\n";

/// Ordinary and hostile queries.
pub(crate) const ODD_QUERIES: &[&str] = &[
    "",
    " ",
    "\t\n",
    "don't",
    "dont",
    "don’t",
    "C++",
    "c#",
    ".NET",
    "node.js",
    "20.04",
    "3.14",
    "a:b",
    "\"",
    "\"\"",
    "\"\"\"",
    "\"unclosed",
    "unopened\"",
    "-",
    "--",
    "---",
    "-x",
    "--x",
    "-\"x\"",
    "- x",
    "x -",
    "x -x",
    "-x -y",
    "*",
    "x*",
    "*x",
    "**",
    "?",
    "x?",
    "(",
    ")",
    "()",
    "(x",
    "x)",
    "[",
    "]",
    "{",
    "}",
    "{}",
    "<",
    ">",
    "<x>",
    "AND",
    "OR",
    "NOT",
    "a AND",
    "AND b",
    "NOT x",
    "NEAR",
    "NEAR(",
    "NEAR(a b)",
    "a NEAR b",
    "col:x",
    "text:x",
    "text:",
    ":x",
    "^x",
    "x^2",
    "x~",
    "x~2",
    "~",
    "\\",
    "\\\\",
    "\\\"",
    "'",
    "''",
    "'x'",
    "`",
    "``",
    "$",
    "$x",
    "%",
    "%20",
    "&",
    "&&",
    "|",
    "||",
    "!",
    "!x",
    "@",
    "@x",
    "#",
    "#x",
    "#123",
    "+",
    "+x",
    "x+",
    "=",
    "==",
    "/",
    "//",
    "/x/",
    "/etc/passwd",
    "../..",
    "..",
    ".",
    "...",
    ",",
    ";",
    "x;y",
    "--flag",
    "-5",
    "5-",
    "1e999",
    "-1",
    "NaN",
    "Infinity",
    "0x1F",
    "1,000",
    "12:30",
    "2026-04-01",
    "v1.2.3",
    "E1234",
    "ERR_FOO",
    "fooBar",
    "HTTPServer",
    "snake_case",
    "a-b_c",
    "kebab-case",
    "src/main.rs",
    "https://example.org/x?y=z",
    "a@b.org",
    "550e8400-e29b-41d4-a716-446655440000",
    "192.168.1.1",
    "😀",
    "👩‍👩‍👧",
    "🇩🇪",
    "❤️",
    "é",
    "e\u{301}",
    "ß",
    "ẞ",
    "İ",
    "ı",
    "ﬁ",
    "ｆｕｌｌ",
    "～",
    "Ⅳ",
    "½",
    "²",
    "数据库",
    "数据库迁移方案最后怎么定的",
    "数",
    "数 据",
    "写真のバックアップ",
    "バックアップ",
    "ﾊﾞｯｸ",
    "です",
    "데이터베이스",
    "데이터베이스를 마이그레이션했다",
    "قاعدة",
    "البيانات",
    "قَاعِدَة",
    "مرحبا بالعالم",
    "שלום",
    "שָׁלוֹם",
    "नमस्ते",
    "ไทย",
    "ກ",
    "Straße",
    "strasse",
    "Zähler",
    "naïve",
    "naive",
    "ёж",
    "еж",
    "Москва",
    "ΑΘΗΝΑ",
    "Αθήνα",
    "\u{0}",
    "\u{1}",
    "\u{7f}",
    "\u{200b}",
    "\u{200d}",
    "\u{202e}abc",
    "\u{feff}",
    "\u{fffd}",
    "\u{10ffff}",
    "\u{e000}",
    "a\u{0}b",
    "a\u{200b}b",
    "the",
    "the the the",
    "to be or not to be",
    "who are you",
    "what",
    "and or not",
    "a",
    "I",
    "x",
    "aa",
    "zzzzzz",
    "SELECT * FROM x",
    "'; DROP TABLE chunk; --",
    "%s%s%n",
    "${x}",
    "$(x)",
    "<script>",
    "null",
    "undefined",
    "true",
    "who said \"red fox\" -hound",
    "“red fox”",
    "„red fox“",
    "«red fox»",
    "「数据库」",
    "‘x’",
    "x—y",
    "x–y",
    "x…",
    "a.b.c.d.e.f.g",
    "a_b_c_d_e",
    "aBcDeFg",
    "____",
    "....",
    "----x",
    "x----",
    "(((((((((x",
    "x)))))))))",
];
