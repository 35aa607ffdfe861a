//! What readers of a workspace get wrong, one file for each.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use rusqlite::{Connection, params};

use super::{Kind, Writer};

const FACTS: &str = "
    CREATE TABLE facts (
        id INTEGER PRIMARY KEY, entity TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
        category TEXT NOT NULL, source TEXT, created_at TEXT, last_accessed TEXT,
        access_count INTEGER DEFAULT 0, permanent BOOLEAN DEFAULT 0);
    CREATE VIRTUAL TABLE facts_fts USING fts5(
        entity, key, value, content=facts, content_rowid=id);";
const CATEGORIES: [&str; 7] =
    ["person", "project", "decision", "convention", "preference", "date", "location"];
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

impl Writer {
    pub(super) fn edge_cases(&mut self) -> io::Result<()> {
        self.session_notes()?;
        self.odd_markdown()?;
        self.odd_names()?;
        self.facts(&self.root.join("memory/facts.db")).map_err(io::Error::other)?;
        self.artifacts()?;
        self.hidden_files()?;
        self.links()
    }

    fn session_notes(&mut self) -> io::Result<()> {
        let note = format!(
            "# Session: 2026-01-30 14:30:00 UTC\n\n- **Session Key**: agent:main:main\n\
             - **Session ID**: abc123def456\n- **Source**: telegram\n\n## Conversation Summary\n\n\
             user: What about the API design?\nassistant: {}\n",
            self.text(3)
        );
        self.put("memory/2026-01-30-memory-system-research.md", note)?;
        let note = format!(
            "# Session: 2026-02-11 09:00:00 UTC\n\n- **Session Key**: agent:main:main\n\n\
             ## Conversation Summary\n\n{}\n",
            self.text(4)
        );
        self.put("memory/2026-02-11-vendor-pitch.md", note)
    }

    fn odd_markdown(&mut self) -> io::Result<()> {
        self.put("memory/empty.md", "")?;
        self.put("memory/only-blank.md", "\n  \n\n")?;
        let title = format!("# Just a title\n\n{}", self.text(2));
        self.put("memory/h1-only.md", title)?;
        let front = format!(
            "---\ntitle: Front matter\ndate: 2025-12-24\ntags: [a, b]\n---\n\n## First\n\n{}\n",
            self.text(2)
        );
        self.put("memory/frontmatter.md", front)?;
        let lines = "# CRLF\n\n## One\n\ntext one\n\n## Two\n\ntext two\n";
        self.put("memory/crlf.md", lines.replace('\n', "\r\n"))?;
        self.put("memory/mixed-eol.md", "## A\r\nline1\nline2\r\n\r\n## B\nlast no newline")?;
        self.put("memory/old-mac-cr.md", "## A\rline\r## B\rline")?;
        self.put("memory/bom.md", "\u{feff}## With BOM\n\ntext\n")?;
        self.put(
            "memory/fences.md",
            "## Real one\n\n```md\n## fake in backticks\n```\n\n~~~\n## fake in tildes\n~~~\n\n\
             \x20   ## indented code\n\n## Real two\n\n<!--\n## in comment\n-->\n\n\
             \x20  ## three-space heading is H2\n\n##\tTab heading\n\n\
             Setext heading\n--------------\n",
        )?;
        let headings: Vec<String> = (0..400).map(|number| format!("Big {number}")).collect();
        let sections = self.sections(&headings, Kind::Plain);
        self.put("memory/big.md", sections)
    }

    fn odd_names(&mut self) -> io::Result<()> {
        let meeting = format!("## 会議\n\n{} 🦞\n", self.cjk(200));
        self.put("memory/日本語 ノート.md", meeting)?;
        for (name, heading) in [
            ("memory/name with spaces & ünïcode.md", "## Nested name"),
            ("memory/topics/deep/nested/notes.md", "## Deep"),
            ("memory/topics/2025-11-03.md", "## Nested daily"),
            ("memory/archive/2024-05-05.md", "## Old daily in archive"),
            ("memory/README.MD", "## Upper-case extension"),
            ("notes/scratch.md", "# scratch"),
            ("skills/weather/SKILL.md", "---\nname: weather\n---\n\n# Weather"),
        ] {
            let text = format!("{heading}\n\n{}\n", self.text(2));
            self.put(name, text)?;
        }
        self.put("memory.md", "## lower-case memory.md\n\nseparate long-term file\n")
    }

    fn facts(&mut self, path: &Path) -> rusqlite::Result<()> {
        let mut database = Connection::open(path)?;
        database.execute_batch(FACTS)?;
        let transaction = database.transaction()?;
        for number in 0..60 {
            let entity = *self.prose.random.pick(&["Maria", "Acme", "Atlas"]);
            let category = *self.prose.random.pick(&CATEGORIES);
            transaction.execute(
                "INSERT INTO facts (entity, key, value, category, source, created_at)
                 VALUES (?1, ?2, ?3, ?4, 'conversation', '2026-02-01T10:00:00Z')",
                params![entity, format!("key_{number}"), self.text(1), category],
            )?;
        }
        transaction.execute("INSERT INTO facts_fts(facts_fts) VALUES ('rebuild')", [])?;
        transaction.commit()
    }

    fn artifacts(&mut self) -> io::Result<()> {
        let script = "skills/weather/run.sh";
        self.put(script, "#!/bin/sh\necho sunny\n")?;
        self.set_mode(script, 0o755)?;
        let script = "artifacts/deploy_script.sh";
        self.put(script, "#!/bin/bash\nset -e\nmake deploy\n")?;
        self.set_mode(script, 0o755)?;
        let mut report = "a,b,c\n".to_owned();
        for number in 0..300 {
            let random = self.prose.random.below(1_000_000);
            writeln!(report, "{number},0.{random:06},{}", self.prose.word())
                .expect("a string takes any text");
        }
        self.put("artifacts/report.csv", report)?;
        for (name, length) in [("artifacts/logo.png", 20_000), ("memory/diagram.png", 150_000)] {
            let image = [PNG, &self.bytes(length)].concat();
            self.put(name, image)?;
        }
        let large = self.bytes(500_000);
        self.put("artifacts/big.bin", large)?;
        let lines: String = (0..50)
            .map(|number| serde_json::json!({ "i": number, "t": self.text(1) }).to_string() + "\n")
            .collect();
        self.put("memory/data.jsonl", lines)
    }

    fn hidden_files(&mut self) -> io::Result<()> {
        self.put(".env", "OPENAI_API_KEY=sk-SECRETENV-0123456789\n")?;
        self.put("memory/.hidden-note.md", "## Hidden\n\nsecret sk-SECRETHIDDEN-42\n")?;
        self.put(".git/config", "[core]\n\tbare=false\n")?;
        let object = self.bytes(3000);
        self.put(".git/objects/aa/bb", object)?;
        for number in 0..40 {
            let script = format!("module.exports={number}\n");
            self.put(&format!("node_modules/pkg{number}/index.js"), script)?;
        }
        self.put("node_modules/pkg0/README.md", "# pkg0\n")
    }

    fn links(&self) -> io::Result<()> {
        let outside = self.root.with_file_name("outside-secret.md");
        fs_err::write(&outside, "## Outside\n\nOUTSIDE-WORKSPACE-SECRET\n")?;
        for (name, target) in [
            ("memory/link-inside.md", Path::new("project-atlas.md")),
            ("memory/link-outside.md", &outside),
            ("memory/dangling.md", Path::new("nowhere.md")),
            ("memory/link-dir", Path::new("topics")),
            ("current-log.md", Path::new("memory/active-context.md")),
        ] {
            fs_err::os::unix::fs::symlink(target, self.root.join(name))?;
        }
        Ok(())
    }
}
