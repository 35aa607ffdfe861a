//! A sample install with one agent and one key.

use serde_json::json;

use super::RUNTIME;
use crate::kit::{SampleAgent, SampleFile, SampleInstall};

/// The install.
pub const SAMPLE_INSTALL: SampleInstall =
    SampleInstall { runtime: RUNTIME, variable: "OPENCLAW_STATE_DIR", files };

fn files(agent: &SampleAgent<'_>) -> Vec<SampleFile> {
    let SampleAgent { alias, workspace } = agent;
    let config = json!({
        "agents": {
            "defaults": { "workspace": workspace },
            "list": [{ "id": alias, "default": true, "workspace": workspace }],
        },
    });
    // The key is made up: it shows that an export leaves keys behind.
    let profiles = json!({
        "version": 1,
        "profiles": {
            "tidepool:default": {
                "type": "api_key", "provider": "tidepool", "key": "the-tide-is-out",
            },
        },
    });
    vec![
        SampleFile { path: "openclaw.json".to_owned(), text: format!("{config:#}\n") },
        SampleFile {
            path: format!("agents/{alias}/agent/auth-profiles.json"),
            text: format!("{profiles:#}\n"),
        },
    ]
}
