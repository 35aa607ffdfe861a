//! The steps of the demo. Each step runs commands as a user would type them, checks their answers,
//! and returns what to show.

use std::io;

use anemone_runtimes::{SAMPLE_INSTALL, SAMPLE_TARGET};
use anemone_sample::record_id;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::files::{content_of, holds, read_all};
use super::stage::{Stage, claim};
use super::words::shared;
use crate::output::Result;

/// The archive that the demo makes.
const ARCHIVE: &str = "clawdia.alf";
/// The file with Jonas' secret, and a word that occurs only in the secret.
const SECRET_FILE: &str = "memory/2026-01-23.md";
const SECRET_WORD: &str = "Teekannenform";
/// What Clawdia remembers in the demo.
const TOLD: &str = "The lute man is called Ansgar Quint, and he is afraid of cats.";
const ASKED: &str = "What is the lute man called?";

/// A question of the demo, the place of its answer, and words of the answer.
struct Question {
    shows: &'static str,
    question: &'static str,
    path: &'static str,
    answer: &'static str,
}

const QUESTIONS: [Question; 3] = [
    Question {
        shows: "by its words",
        question: "Who was lying on the router?",
        path: "memory/2026-01-15.md",
        answer: "Kapitän was lying on the router",
    },
    Question {
        shows: "in Chinese",
        question: "妈妈每个星期几打视频？",
        path: "MEMORY.md",
        answer: "每个星期天上午十点打视频",
    },
    Question {
        shows: PARAPHRASE,
        question: "Which overseas purchase arrived through the website?",
        path: "memory/2026-03-04.md",
        answer: "first order from outside Germany",
    },
];
const PARAPHRASE: &str = "in other words: the question shares none with its answer";

#[derive(Deserialize, Serialize)]
pub(super) struct DiscoverStep {
    #[serde(default)]
    pub(super) command: String,
    pub(super) runtime: String,
    pub(super) alias: String,
    pub(super) workspace: String,
    pub(super) files: u64,
    pub(super) records: u64,
    pub(super) bytes: u64,
}

#[derive(Serialize)]
pub(super) struct AnswerStep {
    pub(super) command: String,
    pub(super) shows: &'static str,
    pub(super) citation: String,
    pub(super) text: String,
    /// Words that question and answer share, apart from those that say nothing.
    pub(super) shared_words: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct RememberStep {
    pub(super) command: String,
    pub(super) path: String,
    pub(super) entry: String,
    /// Asking for it afterwards.
    pub(super) found: AnswerStep,
}

#[derive(Serialize)]
pub(super) struct ExportStep {
    pub(super) command: String,
    pub(super) archive: String,
    pub(super) file_size: u64,
    pub(super) records: u64,
    pub(super) files: u64,
    pub(super) credentials: u64,
    /// Credentials whose secret is in the archive.
    pub(super) credentials_sealed: u64,
    pub(super) left_out: Vec<LeftOut>,
}

#[derive(Deserialize, Serialize)]
pub(super) struct LeftOut {
    pub(super) path: String,
    pub(super) reason: String,
}

#[derive(Serialize)]
pub(super) struct DamageStep {
    pub(super) command: String,
    /// Digests that were compared in the archive itself, all of them right.
    pub(super) digests_compared: u64,
    pub(super) entry: String,
    /// The byte that was changed, counted from the beginning of the file.
    pub(super) byte: u64,
    pub(super) findings: Vec<Finding>,
}

#[derive(Deserialize, Serialize)]
pub(super) struct Finding {
    pub(super) path: String,
    pub(super) code: String,
    pub(super) message: String,
}

#[derive(Serialize)]
pub(super) struct MoveStep {
    pub(super) there: MigrationLeg,
    pub(super) back: MigrationLeg,
    /// Files that came home, byte for byte.
    pub(super) files_identical: u64,
}

/// One way of a journey.
#[derive(Serialize)]
pub(super) struct MigrationLeg {
    pub(super) command: String,
    pub(super) layers: Vec<LayerCounts>,
}

#[derive(Deserialize, Serialize)]
pub(super) struct LayerCounts {
    pub(super) layer: String,
    pub(super) total: u64,
    pub(super) carried: u64,
    pub(super) degraded: u64,
    pub(super) kept_aside: u64,
    pub(super) not_carried: u64,
    pub(super) lost: u64,
}

#[derive(Serialize)]
pub(super) struct PurgeStep {
    pub(super) command: String,
    pub(super) entries_searched: u64,
    pub(super) bytes_searched: u64,
    /// The forget in the workspace.
    pub(super) forgotten: ForgetStep,
}

#[derive(Serialize)]
pub(super) struct ForgetStep {
    pub(super) command: String,
    pub(super) text: String,
    /// Searched afterwards: the workspace, the index, and the undo journal.
    pub(super) files_searched: u64,
    pub(super) bytes_searched: u64,
}

pub(super) fn discover(stage: &Stage) -> Result<DiscoverStep> {
    let words = ["agents"];
    let listed = stage.run(&words)?;
    let agents: Vec<Value> = list(&listed["agents"]);
    claim(agents.len() == 1, "one agent is found")?;
    let agent = &agents[0];
    claim(agent["workspace"] == *stage.at("workspace"), "it is the one that was laid out")?;
    let found: DiscoverStep = serde_json::from_value(agent.clone()).map_err(io::Error::from)?;
    let workspace = stage.shown(&found.workspace);
    let found = DiscoverStep { command: stage.typed(&words), workspace, ..found };
    claim(found.files > 0 && found.records > 0, "it has files and memories")?;
    Ok(found)
}

pub(super) fn answer(stage: &Stage) -> Result<Vec<AnswerStep>> {
    QUESTIONS.iter().map(|question| ask(stage, question)).collect()
}

/// Asks one question; the answer is the first hit.
fn ask(stage: &Stage, question: &Question) -> Result<AnswerStep> {
    let words = ["search", question.question, "--limit", "1"];
    let found = stage.run(&words)?;
    let hit = &found["hits"][0];
    let (path, text_found) = (text(&hit["path"]), text(&hit["text"]));
    claim(
        path == question.path,
        &format!("{:?} is answered by {}", question.question, question.path),
    )?;
    claim(text_found.contains(question.answer), "the answer is in what is found first")?;
    let headings: Vec<String> = list(&hit["headings"]);
    let around = format!("{} {text_found}", headings.join(" "));
    let shared_words: Vec<String> = shared(question.question, &around).into_iter().collect();
    if question.shows == PARAPHRASE {
        claim(shared_words.is_empty(), "question and answer share no word")?;
    }
    Ok(AnswerStep {
        command: stage.typed(&words[..2]),
        shows: question.shows,
        citation: text(&hit["citation"]),
        text: text_found,
        shared_words,
    })
}

pub(super) fn remember(stage: &Stage) -> Result<RememberStep> {
    let words = ["remember", TOLD, "--source", "owner"];
    let written = stage.run(&words)?;
    claim(written["written"] == true, "it is written")?;
    let path = text(&written["path"]);
    let words_found = ["search", ASKED, "--limit", "1"];
    let found = stage.run(&words_found)?;
    let hit = &found["hits"][0];
    claim(text(&hit["path"]) == path, "what was remembered is found first")?;
    claim(text(&hit["text"]).contains("Ansgar Quint"), "it says what was remembered")?;
    Ok(RememberStep {
        command: stage.typed(&words),
        path,
        entry: text(&written["entry"]),
        found: AnswerStep {
            command: stage.typed(&words_found[..2]),
            shows: "what was remembered a moment ago",
            citation: text(&hit["citation"]),
            text: text(&hit["text"]),
            shared_words: shared(ASKED, TOLD).into_iter().collect(),
        },
    })
}

pub(super) fn export(stage: &Stage) -> Result<ExportStep> {
    let archive = stage.at(ARCHIVE);
    let words = ["export", "-o", &archive];
    let exported = stage.run(&words)?;
    let exported = ExportStep {
        command: stage.typed(&words),
        archive: ARCHIVE.to_owned(),
        file_size: number(&exported["file_size"]),
        records: number(&exported["memory_records"]),
        files: number(&exported["files_count"]),
        credentials: number(&exported["credentials_count"]),
        credentials_sealed: number(&exported["credentials_sealed"]),
        left_out: list(&exported["left_out"]),
    };
    claim(exported.records > 0, "memories are in the archive")?;
    claim(!exported.left_out.is_empty(), "what does not travel is named")?;
    claim(exported.credentials == 1 && exported.credentials_sealed == 0, "the secret stays here")?;
    Ok(exported)
}

pub(super) fn damage(stage: &Stage) -> Result<DamageStep> {
    let sound = stage.run(&["validate", &stage.at(ARCHIVE)])?;
    claim(sound["valid"] == true, "the archive itself is sound")?;
    let mut bytes = fs_err::read(stage.path(ARCHIVE))?;
    let entry = format!("raw/{}/MEMORY.md", SAMPLE_INSTALL.runtime);
    // A little into the content, where text is.
    let at = content_of(&bytes, &entry).map(|start| start + 40).filter(|at| *at < bytes.len());
    claim(at.is_some(), "the entry is in the archive")?;
    let at = at.unwrap_or_default();
    bytes[at] ^= 1;
    fs_err::write(stage.path("broken.alf"), &bytes)?;
    let broken = stage.at("broken.alf");
    let words = ["validate", &broken];
    let validated = stage.run(&words)?;
    claim(validated["valid"] == false, "the damage is noticed")?;
    let findings: Vec<Finding> = list(&validated["errors"]);
    claim(findings.iter().any(|finding| finding.path == entry), "the damaged entry is named")?;
    Ok(DamageStep {
        command: stage.typed(&words),
        digests_compared: number(&sound["checked"]["digests"]),
        entry,
        byte: at as u64,
        findings,
    })
}

pub(super) fn migrate(stage: &Stage, exported: &ExportStep) -> Result<MoveStep> {
    let home = SAMPLE_INSTALL.runtime;
    let from = format!("{home}:{}", stage.at("workspace"));
    let away = format!("{SAMPLE_TARGET}:{}", stage.at(SAMPLE_TARGET));
    let returned = format!("{home}:{}", stage.at("returned"));
    let there = leg(stage, &from, &away)?;
    let back = leg(stage, &away, &returned)?;
    let memory = |leg: &MigrationLeg| {
        leg.layers.iter().find(|layer| layer.layer == "memory").map(|layer| layer.total)
    };
    claim(memory(&there) == Some(exported.records), "every memory was moved")?;
    claim(memory(&back) == Some(exported.records), "every memory came back")?;
    let travels = |path: &str| {
        !exported.left_out.iter().any(|left| path.starts_with(left.path.trim_end_matches('/')))
    };
    let before = read_all(&stage.path("workspace"))?;
    let after = read_all(&stage.path("returned"))?;
    let mut files_identical = 0;
    for (path, bytes) in before.iter().filter(|(path, _)| travels(path)) {
        claim(after.get(path) == Some(bytes), &format!("{path} came home as it was"))?;
        files_identical += 1;
    }
    claim(files_identical > 0, "there was something to compare")?;
    Ok(MoveStep { there, back, files_identical })
}

/// Goes one way.
fn leg(stage: &Stage, from: &str, to: &str) -> Result<MigrationLeg> {
    let snapshots = stage.at("snapshots");
    let words = ["migrate", "--from", from, "--to", to, "--snapshots", &snapshots];
    let moved = stage.run(&words)?;
    let layers: Vec<LayerCounts> = list(&moved["proof"]["layers"]);
    claim(!layers.is_empty(), "there is a proof")?;
    claim(layers.iter().all(|layer| layer.lost == 0), "nothing is lost")?;
    Ok(MigrationLeg { command: stage.typed(&words[..5]), layers })
}

pub(super) fn purge(stage: &Stage) -> Result<PurgeStep> {
    let (archive, purged) = (stage.at(ARCHIVE), stage.at("clawdia-purged.alf"));
    claim(finds(stage, &archive, SECRET_WORD)?, "the secret is in the archive before")?;
    let record = record_id(SECRET_FILE, 0).to_string();
    let words = ["purge", &archive, "--record", &record, "-o", &purged];
    let report = stage.run(&words)?;
    let proof = &report["proof"];
    claim(proof["absent"] == true, "the secret is in no entry of the purged archive")?;
    claim(!finds(stage, &purged, SECRET_WORD)?, "search does not find it there either")?;
    Ok(PurgeStep {
        command: stage.typed(&words),
        entries_searched: number(&proof["entries_searched"]),
        bytes_searched: number(&proof["bytes_searched"]),
        forgotten: forget(stage)?,
    })
}

/// Forgets the secret in the workspace.
fn forget(stage: &Stage) -> Result<ForgetStep> {
    let found = stage.run(&["search", SECRET_WORD, "--limit", "1"])?;
    let citation = text(&found["hits"][0]["citation"]);
    claim(citation.starts_with(SECRET_FILE), "the secret is in the workspace before")?;
    let words = ["forget", "--id", &citation, "--for-good"];
    let forgotten = stage.run(&words)?;
    // The archives of the tour and the workspaces restored from them still contain it, and the
    // command says so.
    let holders: Vec<Value> = list(&forgotten["proof"]["holders"]);
    let is_archive =
        |holder: &Value| ["archive", "snapshot", "copy"].contains(&&*text(&holder["kind"]));
    let is_gone = forgotten["proof"]["unreadable"] == serde_json::json!([]);
    claim(is_gone && holders.iter().all(is_archive), "forget proves that it is gone")?;
    // The proof of the command is one thing, and bytes are another.
    let (mut files_searched, mut bytes_searched) = (0, 0);
    let workspace = stage.path("workspace");
    for folder in stage.own().into_iter().chain([workspace.as_path()]) {
        for (path, bytes) in read_all(folder)? {
            claim(!holds(&bytes, SECRET_WORD), &format!("the secret does not stand in {path}"))?;
            files_searched += 1;
            bytes_searched += bytes.len() as u64;
        }
    }
    Ok(ForgetStep {
        command: stage.typed(&words),
        text: text(&forgotten["entries"][0]["text"]),
        files_searched,
        bytes_searched,
    })
}

/// Whether a search of an archive finds this very word.
fn finds(stage: &Stage, archive: &str, word: &str) -> Result<bool> {
    // The index of an archive has the content of the archive, and does not belong to the workspace.
    let aside = stage.aside();
    let found = stage.run(&["search", word, archive, "--limit", "5", "--index-dir", &aside])?;
    let hits: Vec<Value> = list(&found["hits"]);
    Ok(hits.iter().any(|hit| text(&hit["text"]).contains(word)))
}

/// Reads a list of a result; any other value counts as empty, so that the claims about it fail.
fn list<T: DeserializeOwned>(value: &Value) -> Vec<T> {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}
