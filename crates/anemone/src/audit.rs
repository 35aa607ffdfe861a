//! Examines the health of a memory, and changes nothing.

use anemone_format::StampId;
use anemone_memory::{
    AgeCounts, Audit, KindCounts, OversizedFile, SecretFinding, StaleReason, audit as examine,
};
use anemone_runtimes::{MemoryBackend, ReadOptions, context_rules};
use serde::Serialize;

use crate::agent_memory::{Access, AgentMemoryError, MemoryChoice};
use crate::config::Config;
use crate::entry_reference::{ContradictoryEntries, EntryReference, SimilarEntries, UnreadFile};
use crate::host::Host;
use crate::statement::Statement;
use crate::text::safe;

/// Which memory is examined.
#[derive(Clone, Debug)]
pub struct AuditRequest {
    /// Whose memory.
    pub memory: MemoryChoice,
}

/// How a memory is.
#[derive(Clone, Debug, Serialize)]
pub struct AuditReport {
    /// From 0 to 100.
    pub score: u8,
    /// Files of the memory.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Entries in them.
    pub entries: usize,
    /// Entries by the kind of their file.
    pub kinds: KindCounts,
    /// Entries by their age.
    pub ages: AgeCounts,
    /// The findings, the worst first.
    pub findings: Vec<AuditFinding>,
    /// Entries that say nearly the same.
    pub near: Vec<SimilarEntries>,
    /// Entries that contradict each other.
    pub contradictions: Vec<ContradictoryEntries>,
    /// Files that were not read.
    pub unread: Vec<UnreadFile>,
    /// Entries with an unknown stamp.
    pub unknown_stamps: usize,
    /// Entries that were compared by their letters only.
    pub not_compared: usize,
    /// Whether there may be more in `near`.
    pub near_is_cut: bool,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// Something that could be better, and what would make it so.
#[derive(Clone, Debug, Serialize)]
pub struct AuditFinding {
    /// What it is: `secret`, `suspicious`, `oversized`, `unreadable`, `contradiction`, `duplicate`,
    /// `near_duplicate` or `stale`.
    pub kind: &'static str,
    /// The file.
    pub path: String,
    /// The line in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What is wrong there.
    pub detail: String,
    /// What would set it right.
    pub fix: Statement<Fix>,
    /// Where each generation of a runtime cuts the file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<CutRange>,
}

/// The part of a file that a generation of a runtime does not see.
#[derive(Clone, Debug, Serialize)]
pub struct CutRange {
    /// The generation.
    pub generation: &'static str,
    /// How many characters of a file it sees.
    pub limit: usize,
    /// The first character that it does not see.
    pub from_char: usize,
    /// The line of that.
    pub from_line: usize,
    /// The first character that it sees again.
    pub until_char: usize,
    /// The line of that.
    pub until_line: usize,
}

/// What would set a finding right.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fix {
    /// Take a secret out of a line, and change it where it is used.
    RemoveSecret {
        /// The file.
        path: String,
        /// The line.
        line: usize,
    },
    /// Take a secret out of a name, and change it where it is used.
    RenameFile(String),
    /// Forget an entry.
    Forget(String),
    /// Change a line.
    Edit {
        /// The file.
        path: String,
        /// The line.
        line: usize,
    },
    /// Put a plain UTF-8 file in its place.
    ReplaceFile,
    /// Archive expired entries.
    Tidy,
    /// Find out whether an entry still holds.
    Review(String),
    /// Make the file shorter.
    Shorten,
}

impl Fix {
    /// Returns how an entry is taken away.
    fn removing(entry: &EntryReference) -> Self {
        if entry.is_stamped {
            Self::Forget(entry.id.clone())
        } else {
            Self::Edit { path: safe(&entry.path), line: entry.line }
        }
    }
}

/// Examines a memory.
pub fn audit(request: &AuditRequest, host: &Host) -> Result<AuditReport, AgentMemoryError> {
    let (machine, memory) = request.memory.open(Access::Read, host)?;
    let settings = Config::read(host)?.audit;
    let rules: Vec<_> = context_rules().collect();
    let mut audit =
        examine(&memory.site, &settings, memory.runtime.files.bootstrap, &rules, host.today());
    // The same secrets that `check` reports and an export stops at, whatever file they are in.
    let options = ReadOptions::default();
    let (check, _) = memory.runtime.check(&machine, &memory.agent, &options);
    let beside = check.secrets.into_iter();
    audit.add_secrets(beside.map(|secret| SecretFinding {
        path: secret.path,
        line: secret.line,
        kind: secret.kind,
    }));
    let mut report = AuditReport::of(&audit);
    report.notes.extend(memory.unreadable_config().map(str::to_owned));
    report.notes.extend(not_examined(&memory.keeps));
    Ok(report)
}

/// Lists the checks that were skipped because the memory is not in files.
fn not_examined(keeps: &MemoryBackend) -> Option<String> {
    Some(match keeps {
        MemoryBackend::Markdown => return None,
        MemoryBackend::None => "this agent is configured without a memory".to_owned(),
        MemoryBackend::Sqlite(database) => {
            let place = database.display();
            format!("this agent remembers in {place}: its rows were not examined, only its files")
        }
        MemoryBackend::External(place) => {
            format!("this agent remembers in {place}; only its files were examined")
        }
    })
}

impl AuditReport {
    fn of(audit: &Audit) -> Self {
        Self {
            score: audit.score(),
            files: audit.files,
            bytes: audit.bytes,
            entries: audit.kinds.all(),
            kinds: audit.kinds,
            ages: audit.ages,
            findings: findings(audit),
            near: audit.repeats.near.iter().map(SimilarEntries::of).collect(),
            contradictions: audit.contradictions.iter().map(ContradictoryEntries::of).collect(),
            unread: audit.unread.iter().map(UnreadFile::of).collect(),
            unknown_stamps: audit.unknown_stamps,
            not_compared: audit.repeats.not_compared,
            near_is_cut: audit.repeats.near_is_cut,
            notes: Vec::new(),
        }
    }
}

/// Lists everything that was found, the worst first.
fn findings(audit: &Audit) -> Vec<AuditFinding> {
    let mut found: Vec<AuditFinding> = audit.oversized.iter().map(cut_finding).collect();
    let mut add = |kind, path: &str, line, detail, fix| {
        let path = path.to_owned();
        found.push(AuditFinding {
            kind,
            path,
            line,
            detail,
            fix: Statement::Typed(fix),
            cuts: Vec::new(),
        });
    };
    for secret in &audit.secrets {
        let path = secret.path.clone();
        // A secret in a file name or a link has no line.
        let line = usize::try_from(secret.line).ok().filter(|line| *line > 0);
        let fix = match line {
            Some(line) => Fix::RemoveSecret { path, line },
            None => Fix::RenameFile(path),
        };
        add("secret", &secret.path, line, secret.kind.to_owned(), fix);
    }
    for found in &audit.suspicious {
        let detail = format!("{}: {}", found.kind.as_str(), found.excerpt);
        let line = found.lines.0;
        let fix = match found.id.parse::<StampId>() {
            Ok(id) => Fix::Forget(id.to_string()),
            Err(_) => Fix::Edit { path: found.path.clone(), line },
        };
        add("suspicious", &found.path, Some(line), detail, fix);
    }
    for unread in &audit.unread {
        add("unreadable", &unread.path, None, unread.why.to_string(), Fix::ReplaceFile);
    }
    for found in audit.contradictions.iter().map(ContradictoryEntries::of) {
        let detail = format!("`{}` is said {} different ways", found.key, found.older.len() + 1);
        if let Some(older) = found.older.first() {
            let newer = &found.newer;
            add("contradiction", &newer.path, Some(newer.line), detail, Fix::removing(older));
        }
    }
    for group in &audit.repeats.same {
        for entry in group.iter().skip(1).map(EntryReference::of) {
            let detail = format!("said before: {}", entry.text);
            add("duplicate", &entry.path, Some(entry.line), detail, Fix::removing(&entry));
        }
    }
    for SimilarEntries { entries: [one, other], .. } in
        audit.repeats.near.iter().map(SimilarEntries::of)
    {
        let detail = format!("nearly as in {}: {}", one.place(), other.text);
        add("near_duplicate", &other.path, Some(other.line), detail, Fix::removing(&other));
    }
    for stale in &audit.stale {
        let entry = EntryReference::of(&stale.entry);
        let detail = format!("{}: {}", stale.why.as_str(), entry.text);
        let fix = match stale.why {
            // It is moved to the archive, not deleted.
            StaleReason::PastContext => Fix::Tidy,
            StaleReason::Superseded => Fix::removing(&entry),
            // That it is old does not make it wrong.
            StaleReason::OpenTask | StaleReason::PastSoon => Fix::Review(entry.place()),
        };
        add("stale", &entry.path, Some(entry.line), detail, fix);
    }
    found.sort_by_key(|finding| rank(finding.kind));
    found
}

fn rank(kind: &str) -> usize {
    let order = ["secret", "suspicious", "oversized", "unreadable", "contradiction", "duplicate"];
    order.iter().position(|ranked| *ranked == kind).unwrap_or(order.len())
}

fn cut_finding(file: &OversizedFile) -> AuditFinding {
    let limits: Vec<_> =
        file.cuts.iter().map(|cut| format!("{} {}", cut.rules, cut.limit)).collect();
    let cuts = file.cuts.iter().map(|cut| CutRange {
        generation: cut.rules,
        limit: cut.limit,
        from_char: cut.from.0,
        from_line: cut.from.1,
        until_char: cut.until.0,
        until_line: cut.until.1,
    });
    let cuts: Vec<_> = cuts.collect();
    let line = cuts.first().map(|cut| cut.from_line);
    let until = cuts.first().map_or(0, |cut| cut.until_line);
    let detail = format!(
        "{} characters, limits: {}; unseen from line {} to {until}",
        file.chars,
        limits.join(", "),
        line.unwrap_or(1)
    );
    let (kind, path) = ("oversized", file.path.clone());
    let fix = Statement::Typed(Fix::Shorten);
    AuditFinding { kind, path, line, detail, fix, cuts }
}
