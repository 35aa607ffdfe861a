//! `anemone config explain`

use std::io::{self, Write};
use std::path::Path;

use anemone::settings::{
    ExplainReport, ExplainRequest, ExplainedSetting, LostSetting, SettingOrigin, explain,
};
use clap::Args;
use serde_json::Value;

use super::super::Context;
use crate::args::AgentArgs;
use crate::output::{BOLD, DIM, ODD, Report, Result, safe};

/// Show which value of a setting counts, and which file and line it comes from
///
/// A flag of a command comes first, then config.toml, then the configuration of the agent's
/// runtime, then the default. KEY is the name of a setting in config.toml, such as search.sessions,
/// or in the runtime's configuration, such as memorySearch.sources. Without KEY, every setting that
/// is set somewhere is shown; --all also shows those at their default.
#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    /// The setting, or the section, to explain
    #[arg(value_name = "KEY")]
    key: Option<String>,

    /// Show settings at their default, too
    #[arg(long, conflicts_with = "key")]
    all: bool,

    #[command(flatten)]
    agent: AgentArgs,
}

pub(super) fn run(args: &ExplainArgs, context: &Context<'_>) -> Result<ExplainReport> {
    let request = ExplainRequest { key: args.key.clone(), agent: args.agent.choice() };
    let mut report = explain(&request, &context.host)?;
    if args.key.is_none() && !args.all && !context.printer.is_json() {
        let is_set = |setting: &ExplainedSetting| {
            setting.from != SettingOrigin::Default || !setting.others.is_empty()
        };
        report.settings.retain(is_set);
    }
    Ok(report)
}

/// What counts while a part of the runtime's configuration cannot be read.
const LEFT: &str = "what can be read of it, config.toml and the defaults";

impl Report for ExplainReport {
    fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some((runtime, agent)) = self.runtime.zip(self.agent.as_ref()) {
            writeln!(out, "{DIM}agent {} of {runtime}{DIM:#}", safe(agent))?;
        }
        for reason in &self.unreadable {
            let reason = safe(reason);
            writeln!(out, "{ODD}note:{ODD:#} {reason}; until that is mended, only {LEFT} count")?;
        }
        if self.settings.is_empty() {
            writeln!(out, "every setting is at its default; --all shows them")?;
        }
        self.settings.iter().try_for_each(|setting| write_setting(setting, out))
    }
}

fn write_setting(setting: &ExplainedSetting, out: &mut dyn Write) -> io::Result<()> {
    let value = shown(&setting.value);
    write!(out, "{BOLD}{}{BOLD:#} = {value}", safe(&setting.key))?;
    match (&setting.file, setting.from) {
        (Some(file), _) => {
            let name = setting.name.as_ref().map(|name| format!("  ({})", safe(name)));
            writeln!(out, "  {}{}", place(file, setting.line), name.unwrap_or_default())?;
        }
        (None, _) => writeln!(out, "  {DIM}default{DIM:#}")?,
    }
    if let Some(about) = &setting.about {
        writeln!(out, "    {DIM}{about}{DIM:#}")?;
    }
    if let Some(note) = setting.note {
        writeln!(out, "    {ODD}note:{ODD:#} {note}")?;
    }
    setting.others.iter().try_for_each(|other| write_lost(other, out))
}

fn write_lost(other: &LostSetting, out: &mut dyn Write) -> io::Result<()> {
    let place = place(&other.file, other.line);
    // A value of a wrong type may be anything, so it is not shown.
    let value = match &other.value {
        Value::Null if other.ignored => "(a value of another type)".to_owned(),
        value => shown(value),
    };
    let name = safe(&other.name);
    let mark = if other.ignored { "ignored" } else { "also set" };
    writeln!(out, "    {ODD}{mark}:{ODD:#} {name} = {value}  {place}: {}", other.reason)
}

fn place(file: &Path, line: Option<usize>) -> String {
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("{}{line}", safe(&file.display().to_string()))
}

/// Returns the beginning of a value, which may be a long prompt.
fn shown(value: &Value) -> String {
    const MOST: usize = 100;
    if value.is_null() {
        return "not set".to_owned();
    }
    let text = value.to_string();
    let cut = text.char_indices().nth(MOST).map(|(end, _)| format!("{}...", &text[..end]));
    safe(cut.as_deref().unwrap_or(&text))
}
