//! Why nothing was remembered, in words.

use anemone::agent_memory::NotWritable;
use anemone::remember::{RememberError, RememberReport};

use super::memory::config_unreadable;
use super::{Explain, Kind, UserError};

impl Explain for RememberError {
    fn explain(&self) -> UserError {
        match self {
            Self::Secret(report) => secret(report),
            Self::Duplicate(report) => duplicate(report),
            Self::NotWritable(NotWritable::KeepsNothing) => {
                let message = "this agent is set to keep no memory";
                UserError::failure("no_memory", message)
                    .hint("choose a memory in its settings first")
            }
            Self::NotWritable(NotWritable::KeptElsewhere(place)) => {
                let message =
                    format!("this agent keeps its memory in {place}, out of reach from here");
                UserError::failure("not_supported", message)
                    .hint("ask the agent itself to remember it")
            }
            Self::NotWritable(why @ NotWritable::ConfigUnreadable(_)) => config_unreadable(why),
            other => pass_on!(other, "memory", [Memory, Open]),
        }
    }
}

fn secret(report: &RememberReport) -> UserError {
    let (kind, place) = match report.secrets.first() {
        Some(found) if found.part == "text" => (found.kind, format!("line {}", found.line)),
        Some(found) => (found.kind, format!("the {}", found.part)),
        None => ("secret", "the text".to_owned()),
    };
    let message = format!("there is a secret in it: {kind} in {place}; nothing was written");
    UserError::failure("secret", message)
        .with_details(report)
        .hint("leave it out, or write [redacted:KIND] in its place with --redact")
}

fn duplicate(report: &RememberReport) -> UserError {
    let first = report.duplicates.first();
    let is_equal = first.is_none_or(|same| same.similarity >= 1.0);
    let likeness = if is_equal { "already says this" } else { "says nearly the same" };
    let path = first.map_or(report.path.as_str(), |same| same.path.as_str());
    let place = match (first, &report.row) {
        (Some(same), None) => format!(" in line {}", same.lines.0),
        _ => String::new(),
    };
    let message = format!("{path} {likeness}{place}; nothing was written");
    let hint = match first.and_then(|same| same.id.as_deref()) {
        Some(id) => format!("--supersedes {id} replaces it; --force writes it anyway"),
        None => "--force writes it anyway".to_owned(),
    };
    UserError::new(Kind::Conflict, "duplicate", message).with_details(report).hint(hint)
}
