//! `anemone export`

use std::io::{self, Write};
use std::path::PathBuf;

use anemone::export::{
    ExportReport, ExportRequest, ExportSummary, NotRequestedItem, RequestWords, export,
};
use anemone::files::Existing;
use anemone_runtimes::{
    DEFAULT_ARTIFACT_LIMIT, LeftOut, LeftOutReason, NotRequested, NotRequestedKind, SecretPolicy,
    Warning, of_plain_folders,
};
use clap::Args;

use super::Context;
use crate::args::AgentArgs;
use crate::output::{BAD, BOLD, DIM, ODD, Report, Result, bytes, count, safe};

/// Write everything about an agent into an archive
///
/// Reads the workspace and what its install knows of it: memory as records, persona, principals,
/// credentials (metadata only), and every file byte for byte: Markdown of any size, other files up
/// to 64 MiB each. Nothing is written into the workspace. Files that are not in the archive are
/// listed with the reason; patterns in .alfignore (gitignore syntax) keep files out. Transcripts
/// of conversations are included with --sessions.
///
/// A secret in a file stops the export: it is listed by file and line, and you decide. A folder
/// without memories and persona is an error, because it is probably the wrong one.
#[derive(Args, Debug)]
#[command(after_help = examples())]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    agent: AgentArgs,

    /// The archive to write [default: the name of the agent, here]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Show what would be included and what would not, and write nothing
    #[arg(long, short = 'n')]
    dry_run: bool,

    /// Overwrite an existing archive
    #[arg(long)]
    force: bool,

    /// Write the archive even if no memories and no persona are found
    #[arg(long)]
    allow_empty: bool,

    /// Compare with an earlier archive of this agent: what did not change keeps its times, and
    /// when nothing changed nothing is written
    #[arg(long, value_name = "ARCHIVE")]
    since: Option<PathBuf>,

    /// Turn conversation transcripts into records too; secrets in them are replaced
    #[arg(long)]
    sessions: bool,

    /// Include entries that the runtime keeps for one person only
    #[arg(long)]
    private: bool,

    /// Include the secrets of credentials, sealed with --vault-key
    #[arg(long, requires = "vault_key")]
    credentials: bool,

    /// The key that seals them; `anemone vault keygen` makes one
    #[arg(long, value_name = "FILE", requires = "credentials")]
    vault_key: Option<PathBuf>,

    /// Include files other than Markdown up to this many bytes; larger ones are only listed, with
    /// their SHA-256
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_ARTIFACT_LIMIT)]
    artifact_threshold: u64,

    /// Export although files hold secrets: anyone who can read the archive can read them
    #[arg(long, conflicts_with = "redact_secrets")]
    allow_secrets: bool,

    /// Export this file as it is, although it holds a secret or something that looks like one; may
    /// be given more than once. Name the file as the error names it
    #[arg(long, value_name = "PATH", conflicts_with = "allow_secrets")]
    allow_secret: Vec<String>,

    /// Export although files hold secrets, and write `[redacted:KIND]` in place of each; the files
    /// themselves are not changed, and an import cannot bring the secrets back
    #[arg(long)]
    redact_secrets: bool,

    /// Keep the agent's id in the workspace (.alf-agent-id), so that it survives a move
    #[arg(long)]
    write_agent_id: bool,

    /// Encrypt the archive for this age recipient (age1...); may be given more than once
    #[arg(long, value_name = "RECIPIENT")]
    recipient: Vec<String>,
}

/// Returns examples; the folder is the first one in which the runtime of plain folders is searched
/// for.
fn examples() -> String {
    let folder = of_plain_folders().places.and_then(|places| places.folders.first().copied());
    format!(
        "Examples:
  anemone export                                  the one agent on this machine, to ./NAME.alf
  anemone export -w ~/{}/workspace -o a.alf
  anemone export --since a.alf -o b.alf           only if something changed; times carry over
  anemone export --credentials --vault-key k.txt  secrets of credentials travel, sealed",
        folder.unwrap_or_default()
    )
}

/// Says how to request something.
fn request_words(not_requested: NotRequested) -> RequestWords {
    let NotRequested { kind, count: number, bytes: size } = not_requested;
    let include_with = match kind {
        NotRequestedKind::Transcripts => Some("--sessions"),
        NotRequestedKind::PrivateEntries => Some("--private"),
        NotRequestedKind::CredentialSecrets => Some("--credentials --vault-key FILE"),
        NotRequestedKind::Settings => None,
    };
    let what = match kind {
        NotRequestedKind::Transcripts => {
            format!("conversations: {} ({})", count(number, "file"), bytes(size))
        }
        NotRequestedKind::PrivateEntries => {
            format!("entries for one person only: {number}")
        }
        NotRequestedKind::CredentialSecrets => {
            format!("secrets of credentials: {number} (their metadata is included)")
        }
        NotRequestedKind::Settings => {
            format!("settings of the install ({}): copy the file itself", bytes(size))
        }
    };
    let message = match include_with {
        Some(options) => format!("{what}; include with {options}"),
        None => what,
    };
    RequestWords { include_with, message }
}

pub(crate) fn run(args: &ExportArgs, context: &Context<'_>) -> Result<ExportReport> {
    Ok(shown(export(&args.request(), &context.host)?))
}

/// Puts a report into the words of the command line.
pub(crate) fn shown(mut report: ExportReport) -> ExportReport {
    if let Some(summary) = &mut report.summary {
        warn_of_missing_files(&summary.left_out, &mut summary.warnings);
        add_request_words(&mut summary.left_out_by_default);
    }
    if let Some(unchanged) = &mut report.unchanged {
        warn_of_missing_files(&unchanged.left_out, &mut unchanged.warnings);
        add_request_words(&mut unchanged.left_out_by_default);
    }
    report
}

fn add_request_words(items: &mut [NotRequestedItem]) {
    for item in items {
        item.words = Some(request_words(item.not_requested));
    }
}

impl ExportArgs {
    fn request(&self) -> ExportRequest {
        ExportRequest {
            agent: self.agent.choice(),
            output: self.output.clone(),
            existing: if self.force { Existing::Replace } else { Existing::Keep },
            dry_run: self.dry_run,
            allow_empty: self.allow_empty,
            since: self.since.clone(),
            sessions: self.sessions,
            private: self.private,
            vault_key: self.vault_key.clone().filter(|_| self.credentials),
            artifact_threshold: self.artifact_threshold,
            secrets: self.secret_policy(),
            allowed_secrets: self.allow_secret.clone(),
            write_agent_id: self.write_agent_id,
            recipients: self.recipient.clone(),
        }
    }

    fn secret_policy(&self) -> SecretPolicy {
        match (self.allow_secrets, self.redact_secrets) {
            (true, _) => SecretPolicy::Allow,
            (_, true) => SecretPolicy::Redact,
            _ => SecretPolicy::Report,
        }
    }
}

/// Warns of files that are missing from the archive although leaving them out was not requested.
fn warn_of_missing_files(left_out: &[LeftOut], warnings: &mut Vec<Warning>) {
    let missing = missing(left_out);
    if !missing.is_empty() {
        let message = format!("not in the archive: {}", missing_lines(&missing).join("; "));
        warnings.insert(0, Warning { code: "not_in_archive", path: None, message });
    }
}

fn missing(left_out: &[LeftOut]) -> Vec<&LeftOut> {
    left_out.iter().filter(|item| item.reason.is_missing()).collect()
}

/// Says which files are missing and how to include them: the number, then ten of them, then what
/// to do.
fn missing_lines(missing: &[&LeftOut]) -> Vec<String> {
    const SHOWN: usize = 10;
    let (files, size) = totals(missing);
    let mut lines = vec![format!("{} ({})", count(files, "file"), bytes(size))];
    for item in missing.iter().take(SHOWN) {
        let why = match item.reason {
            LeftOutReason::Referenced => "larger than --artifact-threshold",
            LeftOutReason::Unreadable => "cannot be read",
            LeftOutReason::TooDeep => "too many folders deep",
            LeftOutReason::Name => "its name cannot be in an archive",
            LeftOutReason::NotUnderstood => "not all of its memories could be read",
            LeftOutReason::Secret => "holds a secret that cannot be replaced in it",
            other => other.as_str(),
        };
        lines.push(format!("{} ({}): {why}", safe(&item.path), bytes(item.bytes)));
    }
    if missing.len() > SHOWN {
        lines.push(format!("and {} more", missing.len() - SHOWN));
    }
    let is_large = |item: &&&LeftOut| item.reason == LeftOutReason::Referenced;
    if let Some(largest) = missing.iter().filter(is_large).map(|item| item.bytes).max() {
        lines.push(format!("to include large files, give --artifact-threshold {largest}"));
    }
    if missing.iter().any(|item| item.reason == LeftOutReason::Secret) {
        lines.push(
            "to include files with a secret, give --allow-secret PATH for each, or --allow-secrets"
                .to_owned(),
        );
    }
    lines
}

fn totals(list: &[&LeftOut]) -> (u64, u64) {
    let files = list.iter().map(|item| item.files).sum();
    (files, list.iter().map(|item| item.bytes).fold(0, u64::saturating_add))
}

impl Report for ExportReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(summary) = &self.summary {
            write_summary(summary, out)?;
        }
        if let Some(unchanged) = &self.unchanged {
            write_left_out(&unchanged.left_out, &unchanged.left_out_by_default, out)?;
            write_warnings(&unchanged.warnings, &unchanged.left_out, out)?;
            write_missing_files(&unchanged.left_out, out)?;
        }
        if let Some(path) = &self.agent_id_file {
            writeln!(out, "wrote {path}")?;
        }
        match (&self.output, self.file_size) {
            (Some(path), Some(size)) => {
                writeln!(out, "wrote {BOLD}{path}{BOLD:#} ({})", bytes(size))
            }
            _ if self.no_changes => {
                writeln!(out, "nothing changed since the earlier archive; nothing written")
            }
            _ if self.would_stop => writeln!(
                out,
                "nothing written: this was a dry run; the export would stop because of the secrets"
            ),
            _ => writeln!(out, "nothing written: this was a dry run"),
        }
    }
}

fn write_summary(summary: &ExportSummary, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}", safe(&summary.agent_name), summary.agent_id)?;
    let records = count(summary.memory_records, "record");
    let (files, size) = (count(summary.files_count, "file"), bytes(summary.total_size));
    writeln!(out, "  {records}, {files} ({size})")?;
    if summary.embeddings > 0 {
        writeln!(out, "  {} from the runtime's index", count(summary.embeddings, "vector"))?;
    }
    if summary.credentials_count > 0 {
        let sealed = match summary.credentials_sealed {
            0 => "metadata only".to_owned(),
            sealed => format!("{sealed} sealed"),
        };
        writeln!(out, "  {} ({sealed})", count(summary.credentials_count, "credential"))?;
    }
    if let Some(sessions) = &summary.sessions {
        let transcripts = count(sessions.transcripts, "transcript");
        let messages = count(sessions.messages, "message");
        let (redacted, unknown) = (sessions.redacted, sessions.undecodable);
        writeln!(out, "  {transcripts}, {messages}, {redacted} redacted, {unknown} not decoded")?;
    }
    write_left_out(&summary.left_out, &summary.left_out_by_default, out)?;
    for secret in &summary.secrets {
        let path = safe(&secret.path);
        writeln!(out, "{ODD}secret:{ODD:#} {path}:{}: {}", secret.line, secret.kind)?;
    }
    write_warnings(&summary.warnings, &summary.left_out, out)?;
    write_missing_files(&summary.left_out, out)
}

/// Writes what was left out by choice or by default, one line for each reason.
fn write_left_out(
    left_out: &[LeftOut],
    by_default: &[NotRequestedItem],
    out: &mut dyn Write,
) -> io::Result<()> {
    const SHOWN: usize = 5;
    if !by_default.is_empty() {
        writeln!(out, "  left out by default:")?;
    }
    for words in by_default.iter().filter_map(|item| item.words.as_ref()) {
        writeln!(out, "    {}", words.message)?;
    }
    let chosen: Vec<&LeftOut> = left_out.iter().filter(|item| !item.reason.is_missing()).collect();
    let mut reasons: Vec<&str> = chosen.iter().map(|item| item.reason.as_str()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    for reason in reasons {
        let list: Vec<&LeftOut> =
            chosen.iter().copied().filter(|item| item.reason.as_str() == reason).collect();
        let (files, size) = totals(&list);
        let (files, size) = (count(files, "file"), bytes(size));
        let paths: Vec<String> = list.iter().take(SHOWN).map(|item| safe(&item.path)).collect();
        let more = if list.len() > SHOWN { ", ..." } else { "" };
        let paths = paths.join(", ");
        writeln!(out, "  left out, {reason}: {files} ({size}): {paths}{more}")?;
    }
    Ok(())
}

/// Writes which files are missing, in a conspicuous place.
fn write_missing_files(left_out: &[LeftOut], out: &mut dyn Write) -> io::Result<()> {
    let missing = missing(left_out);
    if missing.is_empty() {
        return Ok(());
    }
    let mut lines = missing_lines(&missing).into_iter();
    writeln!(out, "{BAD}NOT IN THE ARCHIVE:{BAD:#} {}", lines.next().unwrap_or_default())?;
    lines.try_for_each(|line| writeln!(out, "  {line}"))
}

/// Writes warnings. The first one says for programs which files are missing, if any are; people
/// get that from [`write_missing_files`].
fn write_warnings(
    warnings: &[Warning],
    left_out: &[LeftOut],
    out: &mut dyn Write,
) -> io::Result<()> {
    let for_programs = usize::from(!missing(left_out).is_empty());
    for warning in warnings.iter().skip(for_programs) {
        let path = warning.path.as_deref().map(|path| format!("{}: ", safe(path)));
        let message = safe(&warning.message);
        writeln!(out, "{ODD}warning:{ODD:#} {}{message}", path.unwrap_or_default())?;
    }
    Ok(())
}
