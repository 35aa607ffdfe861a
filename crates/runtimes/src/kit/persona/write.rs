//! Generates the files of a persona from an identity.

use std::collections::HashSet;
use std::io;

use anemone_format::{
    Capability, Identity, Moment, Principal, SnapshotSource, StructuredIdentity, StructuredProfile,
    SubAgent,
};

use super::identity::{CUSTOM_BLOCKS, sub_agents as sub_agents_in};
use crate::kit::{NotRestoredKind, PlanBuilder};

/// Makes the files that say who the agent is and whom it works for.
pub(crate) fn documents(
    source: &dyn SnapshotSource,
    identity: Option<&Identity>,
    draft: &mut PlanBuilder,
) -> io::Result<Vec<(String, String, Moment)>> {
    let mut files = Vec::new();
    if let Some(identity) = identity {
        files.extend(write_identity(identity, draft));
    }
    if let Some(principals) = source.principals()? {
        files.extend(write_principals(&principals.principals, draft));
    }
    Ok(files)
}

/// Makes the files that say who the agent is.
fn write_identity(identity: &Identity, draft: &mut PlanBuilder) -> Vec<(String, String, Moment)> {
    let prose = identity.prose.as_ref();
    let mut files: Vec<(&str, String)> = Vec::new();
    let mut instructions = None;
    if let Some(prose) = prose {
        files.extend(prose.soul.clone().map(|text| ("SOUL.md", text)));
        files.extend(prose.identity_profile.clone().map(|text| ("IDENTITY.md", text)));
        instructions.clone_from(&prose.operating_instructions);
        for (name, text) in prose.custom_blocks.iter().flat_map(|block| block.iter()) {
            match CUSTOM_BLOCKS.into_iter().find(|(block, _)| *block == name) {
                Some((_, file)) => files.push((file, text.clone())),
                None => draft.omit(NotRestoredKind::Text, name, "no file is known for it"),
            }
        }
    }
    let structured = identity.structured.as_ref();
    let has_prose = !files.is_empty() || instructions.is_some();
    if let Some(structured) = structured.filter(|_| !has_prose) {
        files.push(("IDENTITY.md", identity_card(structured)));
    }
    let sub_agents = structured.map_or(&[][..], |structured| &structured.sub_agents);
    let named: HashSet<String> = sub_agents_in(instructions.as_deref().unwrap_or_default())
        .iter()
        .map(|agent| one_line(&agent.name))
        .collect();
    let missing = sub_agents.iter().filter(|agent| !named.contains(&one_line(&agent.name)));
    let sections: Vec<String> = missing.map(sub_agent_section).collect();
    if !sections.is_empty() || instructions.is_some() {
        let mut text = instructions.unwrap_or_default();
        for section in sections {
            push_paragraph(&mut text, &section);
        }
        files.push(("AGENTS.md", text));
    }
    let at = || identity.updated_at.clone();
    files.into_iter().map(|(path, text)| (path.to_owned(), text, at())).collect()
}

/// Adds text after a blank line.
fn push_paragraph(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    text.push_str(more);
}

/// Returns text on one line, fit for a heading or a list.
pub(crate) fn one_line(text: &str) -> String {
    let plain = text.replace(char::is_control, " ");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns how a text starts, on one line, for people.
pub(crate) fn brief_line(text: &str) -> String {
    let line = one_line(text);
    match line.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

fn sub_agent_section(agent: &SubAgent) -> String {
    let mut text = format!("## SubAgent: {}\n", one_line(&agent.name));
    let mut add = |line: String| push_line(&mut text, &line);
    for (label, value) in [
        ("Description", &agent.description),
        ("Routing", &agent.routing_hints),
        ("Performance", &agent.performance_notes),
    ] {
        if let Some(value) = value {
            add(format!("- **{label}:** {}", one_line(value)));
        }
    }
    if let Some(model) = agent.model_hints.as_ref().and_then(|hint| hint.primary_model.as_ref()) {
        add(format!("- **Model:** {}", one_line(model)));
    }
    if !agent.capabilities.is_empty() {
        add(format!("- **Capabilities:** {}", capability_names(&agent.capabilities)));
    }
    add(format!("- **Status:** {}", one_line(agent.status.as_str())));
    text
}

/// Adds a line of a list, the first one after a blank line.
fn push_line(text: &mut String, line: &str) {
    if !text.lines().last().is_some_and(|last| last.starts_with("- ")) {
        text.push('\n');
    }
    text.push_str(line);
    text.push('\n');
}

fn capability_names(list: &[Capability]) -> String {
    list.iter().map(|list| one_line(&list.name)).collect::<Vec<_>>().join(", ")
}

/// Writes a persona of which only fields are known, in the shape that OpenClaw reads.
fn identity_card(identity: &StructuredIdentity) -> String {
    let mut text = "# IDENTITY.md - Who Am I?\n".to_owned();
    let names = identity.names.as_ref();
    let fields = [
        ("Name", names.map(|name| &name.primary)),
        ("Nickname", names.and_then(|name| name.nickname.as_ref())),
        ("Full name", names.and_then(|name| name.full.as_ref())),
        ("Role", identity.role.as_ref()),
    ];
    for (label, value) in fields {
        if let Some(value) = value {
            push_line(&mut text, &format!("- **{label}:** {}", one_line(value)));
        }
    }
    for (heading, items) in [
        ("Goals", identity.goals.iter().map(|goal| one_line(goal)).collect::<Vec<_>>()),
        ("Capabilities", identity.capabilities.iter().map(capability_line).collect()),
    ] {
        if !items.is_empty() {
            push_paragraph(&mut text, &format!("## {heading}\n"));
            items.iter().for_each(|item| push_line(&mut text, &format!("- {item}")));
        }
    }
    text
}

fn capability_line(capability: &Capability) -> String {
    let name = one_line(&capability.name);
    match &capability.description {
        Some(description) => format!("{name}: {}", one_line(description)),
        None => name,
    }
}

/// Makes a file for everybody the agent works for.
fn write_principals(
    principals: &[Principal],
    draft: &mut PlanBuilder,
) -> Vec<(String, String, Moment)> {
    let mut files = Vec::new();
    for (index, principal) in principals.iter().enumerate() {
        let profile = &principal.profile;
        let prose = profile.prose.as_ref().and_then(|prose| prose.user_profile.clone());
        let card = || profile.structured.as_ref().map(profile_card);
        let Some(text) = prose.or_else(card) else {
            draft.omit(NotRestoredKind::Principal, principal.id, "nothing is known about them");
            continue;
        };
        let path = match index {
            0 => "USER.md".to_owned(),
            _ => format!("users/{}/USER.md", principal.id),
        };
        files.push((path, text, profile.updated_at.clone()));
    }
    files
}

/// Writes a principal of whom only fields are known.
fn profile_card(profile: &StructuredProfile) -> String {
    let name = profile.name.as_deref().map_or_else(|| "User".to_owned(), one_line);
    let mut text = format!("# {name}\n");
    if let Some(zone) = &profile.timezone {
        push_paragraph(&mut text, &format!("## Timezone\n\n{}\n", one_line(zone)));
    }
    let wishes = profile.communication_preferences.as_ref();
    let work = profile.work_context.as_ref();
    let projects = work.map(|work| work.projects.join(", ")).filter(|value| !value.is_empty());
    let sections = [
        (
            "Preferences",
            vec![
                ("Tone", wishes.and_then(|wish| wish.tone.clone())),
                ("Response length", wishes.and_then(|wish| wish.response_length.clone())),
                ("Formatting", wishes.and_then(|wish| wish.formatting.clone())),
                ("Language", profile.locale.clone()),
            ],
        ),
        (
            "Work",
            vec![
                ("Role", work.and_then(|work| work.role.clone())),
                ("Company", work.and_then(|work| work.company.clone())),
                ("Projects", projects),
            ],
        ),
    ];
    for (heading, fields) in sections {
        if fields.iter().any(|(_, value)| value.is_some()) {
            push_paragraph(&mut text, &format!("## {heading}\n"));
            for (label, value) in fields {
                if let Some(value) = value {
                    push_line(&mut text, &format!("- {label}: {}", one_line(&value)));
                }
            }
        }
    }
    text
}
