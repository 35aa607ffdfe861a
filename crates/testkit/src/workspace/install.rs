//! An install of OpenClaw, third generation, around a workspace.

use std::io;
use std::path::Path;

use anemone_format::sha256_hex;
use rusqlite::{Connection, params};
use serde_json::{Value, json};

use super::Writer;

const INDEX: &str = "
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE files (
        path TEXT PRIMARY KEY, source TEXT NOT NULL DEFAULT 'memory', hash TEXT NOT NULL,
        mtime INTEGER NOT NULL, size INTEGER NOT NULL);
    CREATE TABLE chunks (
        id TEXT PRIMARY KEY, path TEXT NOT NULL, source TEXT NOT NULL DEFAULT 'memory',
        start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, hash TEXT NOT NULL,
        model TEXT NOT NULL, text TEXT NOT NULL, embedding TEXT NOT NULL,
        updated_at INTEGER NOT NULL);";
const DIMENSIONS: usize = 64;
/// A chunk has this many lines, of which the last ones are the first ones of the next chunk.
const LINES_A_CHUNK: usize = 24;
const LINES_BETWEEN_CHUNKS: usize = 20;

impl Writer {
    pub(super) fn install(&mut self, home: &Path) -> io::Result<()> {
        let install = Self { root: home.join(".openclaw"), prose: self.prose.clone() };
        let config = json!({
            "meta": { "lastTouchedVersion": "2026.3.13" },
            "agents": { "defaults": {
                "workspace": std::path::absolute(&self.root)?,
                "model": { "primary": "anthropic/claude-opus-4-5" },
            } },
            "channels": { "telegram": { "botToken": "123456:SECRETBOT" } },
        });
        install.put("openclaw.json", format!("{config:#}"))?;
        let credentials = json!({ "version": 1, "profiles": {
            "anthropic:default":
                { "type": "api_key", "provider": "anthropic", "key": "sk-ant-SECRET-1" },
            "openai:default": {
                "type": "oauth", "provider": "openai", "access": "SECRET-ACC",
                "refresh": "SECRET-REF", "expires": 1,
            },
        } });
        install.put("agents/main/agent/auth-profiles.json", format!("{credentials:#}"))?;
        let mut transcript = String::new();
        for _ in 0..100 {
            let message = json!({ "role": "user", "content": self.text(1) });
            let event = json!({ "type": "message", "message": message });
            transcript += &format!("{event}\n");
        }
        install.put("agents/main/sessions/s1.jsonl", transcript)?;
        install.put("memory/main.sqlite", "")?;
        let memory = fs_err::read_to_string(self.root.join("MEMORY.md"))?;
        self.index(&install.root.join("memory/main.sqlite"), &memory).map_err(io::Error::other)
    }

    fn index(&mut self, path: &Path, memory: &str) -> rusqlite::Result<()> {
        let mut database = Connection::open(path)?;
        database.execute_batch(INDEX)?;
        let transaction = database.transaction()?;
        let lines: Vec<&str> = memory.split('\n').collect();
        for start in (0..lines.len()).step_by(LINES_BETWEEN_CHUNKS) {
            let end = lines.len().min(start + LINES_A_CHUNK);
            let text = lines[start..end].join("\n");
            let hash = sha256_hex(text.as_bytes());
            let [first, last] = [start + 1, end].map(|line| line.to_string());
            let vector = Value::from_iter((0..DIMENSIONS).map(|_| self.coordinate())).to_string();
            transaction.execute(
                "INSERT INTO chunks VALUES (
                    ?1, 'MEMORY.md', 'memory', ?2, ?3, ?1, 'text-embedding-3-small', ?4, ?5,
                    1773000000000)",
                params![hash, first, last, text, vector],
            )?;
        }
        transaction.commit()
    }

    /// Returns a small number on either side of zero, with six digits.
    fn coordinate(&mut self) -> f64 {
        let digits = u32::try_from(self.prose.random.below(100_001)).expect("it is small");
        (f64::from(digits) - 50_000.0) / 1e6
    }
}
