//! `alf help`

use anemone::alf::{AlfSettings, SyncState, sync_states};
use anemone_messages::{UserError, plain};
use clap::{Args, CommandFactory as _};
use serde::Serialize;

use super::{Cli, warn};
use crate::commands::{Context, print_bytes};
use crate::output::{Result, json_text};

const OVERVIEW: &str = include_str!("help/overview.txt");
const FILES: &str = include_str!("help/files.txt");
const TROUBLESHOOT: &str = include_str!("help/troubleshoot.txt");

#[derive(Args, Debug)]
pub(super) struct HelpArgs {
    /// overview, status, files, troubleshoot, or a command
    #[arg(default_value = "overview")]
    topic: String,

    /// Print the text as JSON
    #[arg(long, hide = true)]
    json: bool,
}

/// The state of the existing tool on this machine.
#[derive(Serialize)]
struct Status {
    config_path: String,
    config_exists: bool,
    api_key_set: bool,
    state_dir: String,
    state_dir_exists: bool,
    service_reachable: bool,
    agents: Vec<SyncState>,
    agent_service_status: Vec<ServiceAnswer>,
}

/// The service's answer about an agent; here the service is not asked.
#[derive(Serialize)]
struct ServiceAnswer {
    agent_id: String,
    online: bool,
    name: Option<String>,
    server_latest_sequence: Option<u64>,
    error: &'static str,
}

#[derive(Serialize)]
struct Topic<'a> {
    topic: &'a str,
    text: &'a str,
}

pub(super) fn run(args: &HelpArgs, context: &Context<'_>) -> Result<()> {
    if args.topic == "status" {
        return print_line(&status(context)?);
    }
    let text = text(&args.topic)?;
    if args.json {
        return print_line(&Topic { topic: &args.topic, text: &text });
    }
    print_bytes(text.as_bytes())
}

fn text(topic: &str) -> Result<String> {
    match topic {
        "overview" => return Ok(OVERVIEW.to_owned()),
        "files" => return Ok(FILES.to_owned()),
        "troubleshoot" => return Ok(TROUBLESHOOT.to_owned()),
        _ => {}
    }
    let mut cli = Cli::command();
    cli.build();
    match cli.find_subcommand_mut(topic) {
        Some(command) => Ok(command.render_long_help().to_string()),
        None => {
            let message = format!("there is no help on {topic:?}");
            let hint = "topics are: overview, status, files, troubleshoot, or a command";
            Err(UserError::failure("unknown_topic", message).hint(hint))
        }
    }
}

fn print_line(value: &impl Serialize) -> Result<()> {
    let mut line = json_text(value)?;
    line.push('\n');
    print_bytes(line.as_bytes())
}

fn status(context: &Context<'_>) -> Result<Status> {
    let home = &context.environment.folders.home;
    let settings = AlfSettings::read(home)?;
    let folder = SyncState::folder(home);
    let (states, skipped) = sync_states(home);
    let skipped: Vec<String> = skipped.iter().map(|problem| plain(problem)).collect();
    warn(&skipped);
    let asked = states.iter().map(|state| ServiceAnswer {
        agent_id: state.agent_id.clone(),
        online: false,
        name: None,
        server_latest_sequence: None,
        error: "not asked: this program asks no service",
    });
    Ok(Status {
        config_path: AlfSettings::path(home).display().to_string(),
        config_exists: settings.exists,
        api_key_set: settings.key_is_set || context.environment.alf_key_is_set,
        state_dir: folder.display().to_string(),
        state_dir_exists: folder.is_dir(),
        service_reachable: false,
        agent_service_status: asked.collect(),
        agents: states,
    })
}
