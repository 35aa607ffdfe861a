//! Who the agent is, from the files at the root of its workspace.
//!
//! The files themselves are the prose. Fields are only read from files that were filled in, because
//! a new workspace holds templates.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use anemone_format::{
    AgentId, Capability, Identity, ItemId, Moment, Names, Nullable, Pairs, Portability,
    ProseIdentity, StructuredIdentity, SubAgent, SubAgentStatus, Unknown,
};

use anemone_markdown::{Block, BlockKind, Conventions, Page, Table, outline, tables};

/// The texts of the files that make up an identity.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IdentityFiles<'a> {
    /// SOUL.md.
    pub(crate) soul: Option<&'a str>,
    /// IDENTITY.md.
    pub(crate) identity: Option<&'a str>,
    /// AGENTS.md.
    pub(crate) agents: Option<&'a str>,
    /// TOOLS.md.
    pub(crate) tools: Option<&'a str>,
    /// HEARTBEAT.md.
    pub(crate) heartbeat: Option<&'a str>,
    /// BOOT.md.
    pub(crate) boot: Option<&'a str>,
    /// BOOTSTRAP.md.
    pub(crate) bootstrap: Option<&'a str>,
}

/// The custom blocks of an identity, with the files they come from.
pub(crate) const CUSTOM_BLOCKS: [(&str, &str); 4] = [
    ("tools_guidance", "TOOLS.md"),
    ("heartbeat_checklist", "HEARTBEAT.md"),
    ("boot_checklist", "BOOT.md"),
    ("bootstrap", "BOOTSTRAP.md"),
];

/// Makes the identity; `None` when the workspace has none of the files.
pub(crate) fn identity(
    runtime: &str,
    files: &IdentityFiles<'_>,
    agent_id: AgentId,
    id: ItemId,
    version: u64,
    updated_at: Moment,
) -> Option<Identity> {
    let prose = prose(files)?;
    Some(Identity {
        id,
        agent_id,
        version,
        updated_at,
        structured: structured(files),
        prose: Some(prose),
        source_format: Some(runtime.to_owned()),
        raw_source: None,
        unknown: Unknown::default(),
    })
}

/// Words of the titles that describe a file and name nobody, in many languages.
static TITLE_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lines = include_str!("title_words.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
});

/// Words in the name of an agent, at most, where IDENTITY.md has another one.
const MAX_NAME_WORDS: usize = 3;

/// Returns the agent's name, if it was given one: the title of SOUL.md, unless it describes the
/// file, as that of the template does, else what IDENTITY.md says.
pub(crate) fn agent_name(files: &IdentityFiles<'_>) -> Option<String> {
    let given = files.identity.and_then(|text| {
        let page = Page::parse(text);
        let fields = page.fields(0..text.len());
        let name = fields.iter().find(|field| field.label.eq_ignore_ascii_case("name"))?;
        Some(name.value.to_owned())
    });
    let titled = files.soul.and_then(|soul| name_in_title(&Page::parse(soul), "SOUL"));
    let (Some(given), Some(titled)) = (&given, &titled) else { return given.or(titled) };
    let words = || titled.split([' ', ':', '-', '—', '–', ',']).filter(|word| !word.is_empty());
    let bare = |word: &str| word.trim_end_matches("'s").trim_end_matches("’s").to_lowercase();
    let describes = words().count() > MAX_NAME_WORDS
        || words().any(|word| TITLE_WORDS.contains(bare(word).as_str()));
    Some(if describes { given } else { titled }.clone())
}

/// Returns whether two identities say the same, whatever their ids, versions and times.
pub(crate) fn same_identity(a: &Identity, b: &Identity) -> bool {
    a.agent_id == b.agent_id
        && a.structured == b.structured
        && a.prose == b.prose
        && a.source_format == b.source_format
        && a.raw_source == b.raw_source
        && a.unknown == b.unknown
}

/// Returns the title of a page, unless it only says which file this is: `SOUL.md - Who You Are`.
pub(crate) fn name_in_title(page: &Page<'_>, file_stem: &str) -> Option<String> {
    let title = page.title()?;
    let word = title.split([' ', ':', '-', '—', '.']).next()?;
    (!word.eq_ignore_ascii_case(file_stem)).then(|| title.to_owned())
}

fn prose(files: &IdentityFiles<'_>) -> Option<ProseIdentity> {
    let texts = [files.tools, files.heartbeat, files.boot, files.bootstrap];
    let mut blocks = Pairs::default();
    for ((name, _), text) in CUSTOM_BLOCKS.into_iter().zip(texts) {
        if let Some(text) = text {
            blocks.insert(name, text.to_owned());
        }
    }
    let any_block = blocks.iter().next().is_some();
    if !any_block && [files.soul, files.identity, files.agents].iter().all(Option::is_none) {
        return None;
    }
    Some(ProseIdentity {
        soul: files.soul.map(str::to_owned),
        operating_instructions: files.agents.map(str::to_owned),
        identity_profile: files.identity.map(str::to_owned),
        custom_blocks: any_block.then_some(blocks),
        unknown: Unknown::default(),
    })
}

fn structured(files: &IdentityFiles<'_>) -> Option<StructuredIdentity> {
    let names = agent_name(files).map(|primary| Names { primary, ..Names::default() });
    let capabilities = files.identity.map(capabilities).unwrap_or_default();
    let sub_agents = files.agents.map(sub_agents).unwrap_or_default();
    if names.is_none() && capabilities.is_empty() && sub_agents.is_empty() {
        return None;
    }
    Some(StructuredIdentity { names, capabilities, sub_agents, ..StructuredIdentity::default() })
}

/// Reads the list below `## Capabilities`.
fn capabilities(text: &str) -> Vec<Capability> {
    let page = Page::parse(text);
    let below =
        page.chapters().filter(|(heading, _)| heading.text.eq_ignore_ascii_case("capabilities"));
    below.flat_map(|(_, range)| page.items(range)).filter_map(capability).collect()
}

/// Reads `docker_management (needs Docker)` or `web_search: finds pages`.
fn capability(item: &str) -> Option<Capability> {
    let (item, needs) = split_needs(item.trim());
    let (name, description) = [": ", " — ", " - "]
        .iter()
        .find_map(|separator| item.split_once(separator))
        .unwrap_or((item, ""));
    let name = name.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '`' | ':'));
    let description = description.trim_matches(|c: char| c.is_whitespace() || c == '*');
    let placeholder = name.starts_with("_(") || name.starts_with('(');
    if name.is_empty() || placeholder {
        return None;
    }
    Some(Capability {
        name: name.to_owned(),
        description: (!description.is_empty()).then(|| description.to_owned()),
        portability: Some(match needs {
            Some(_) => Portability::HostDependent,
            None => Portability::Intrinsic,
        }),
        host_requirements: needs.map(str::to_owned),
        ..Capability::default()
    })
}

/// Takes a closing `(needs …)` off an item.
fn split_needs(item: &str) -> (&str, Option<&str>) {
    let found = item.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')).and_then(
        |(before, inside)| {
            let (word, needs) = inside.trim().split_once(char::is_whitespace)?;
            let needs = needs.trim();
            (word.eq_ignore_ascii_case("needs") && !needs.is_empty())
                .then_some((before.trim_end(), needs))
        },
    );
    found.map_or((item, None), |(before, needs)| (before, Some(needs)))
}

/// The name of a sub-agent that has none.
const UNNAMED_SUB_AGENT: &str = "SubAgent";

/// Reads the `## SubAgent` sections: `## SubAgent: Name`, and `## SubAgent` or `## SubAgents`
/// without a name.
pub(super) fn sub_agents(text: &str) -> Vec<SubAgent> {
    let page = Page::parse(text);
    let mut agents = Vec::new();
    for (heading, body) in page.chapters() {
        match sub_agent_heading(&heading.text) {
            Some(SubAgentHeading::Named(name)) => agents.push(sub_agent(name, page.slice(body))),
            Some(kind @ (SubAgentHeading::One | SubAgentHeading::Many)) => {
                agents.extend(sub_agents_below(&page, body, &kind));
            }
            None => {}
        }
    }
    agents
}

/// Reads a section whose heading has no name: each third-level heading below it is one, else a
/// `- name:` field, else, of several, each item of a list.
fn sub_agents_below(
    page: &Page<'_>,
    body: Range<usize>,
    heading: &SubAgentHeading<'_>,
) -> Vec<SubAgent> {
    let below = page.headings_in(body.clone(), 3).filter_map(|(heading, body)| {
        let name = match sub_agent_heading(&heading.text) {
            Some(SubAgentHeading::Named(name)) => name,
            _ => heading.text.as_str(),
        };
        (!name.is_empty()).then(|| sub_agent(name, page.slice(body)))
    });
    let below: Vec<SubAgent> = below.collect();
    if !below.is_empty() {
        return below;
    }
    let fields = page.fields(body.clone());
    if let Some(name) = fields.iter().find(|field| field.label.eq_ignore_ascii_case("name")) {
        return vec![sub_agent(name.value, page.slice(body))];
    }
    if let Some(name) = page.slice(body.clone()).lines().find_map(name_on_line) {
        return vec![sub_agent(name, page.slice(body))];
    }
    let rows = sub_agents_in_table(page.slice(body.clone()));
    if !rows.is_empty() {
        return rows;
    }
    if *heading == SubAgentHeading::Many {
        let items = page.items(body).filter_map(capability);
        let named = |item: Capability| {
            sub_agent(&item.name, item.description.as_deref().unwrap_or_default())
        };
        return items.map(named).collect();
    }
    let text = page.slice(body);
    let is_empty = text.trim().is_empty();
    if is_empty { Vec::new() } else { vec![sub_agent(UNNAMED_SUB_AGENT, text)] }
}

/// Reads a line such as `Name: Scout` that is in no list.
fn name_on_line(line: &str) -> Option<&str> {
    let (label, name) = line.trim().split_once(':')?;
    let [label, name] = [label, name].map(|part| part.trim().trim_matches('*').trim());
    (label.eq_ignore_ascii_case("name") && !name.is_empty()).then_some(name)
}

/// Reads the sub-agents in the first columns of tables, described by the other columns.
fn sub_agents_in_table(text: &str) -> Vec<SubAgent> {
    let blocks = outline(text, Conventions::PLAIN);
    let tables: Vec<Table> = tables(&blocks).collect();
    let is_row = |block: &&Block| {
        block.kind == BlockKind::Row
            && tables.iter().any(|table| table.lines.contains(&block.lines.start))
    };
    let read = |block: &Block| {
        let row = text[block.bytes.clone()].trim().trim_matches('|');
        let mut cells = row.split('|').map(|cell| cell.trim().trim_matches(['*', '`']).trim());
        let name = cells.next().filter(|name| !name.is_empty())?;
        let rest: Vec<&str> = cells.filter(|cell| !cell.is_empty()).collect();
        Some(sub_agent(name, &rest.join(" — ")))
    };
    blocks.iter().filter(is_row).filter_map(read).collect()
}

/// Words that follow `SubAgent` in headings about them, and name none.
const NO_NAMES: [&str; 14] = [
    "configuration",
    "delegation",
    "guide",
    "guidelines",
    "instructions",
    "list",
    "notes",
    "overview",
    "policies",
    "policy",
    "routing",
    "rules",
    "usage",
    "workflow",
];

fn sub_agent(name: &str, description: &str) -> SubAgent {
    let description = description.trim();
    SubAgent {
        agent_id: Nullable(None),
        name: name.to_owned(),
        description: (!description.is_empty()).then(|| description.to_owned()),
        capabilities: Vec::new(),
        model_hints: None,
        routing_hints: None,
        status: SubAgentStatus::Active,
        last_invoked_at: None,
        performance_notes: None,
        unknown: Unknown::default(),
    }
}

/// A heading about sub-agents.
#[derive(Debug, PartialEq, Eq)]
enum SubAgentHeading<'a> {
    /// It names one.
    Named(&'a str),
    /// `SubAgent`
    One,
    /// `SubAgents`
    Many,
}

fn sub_agent_heading(heading: &str) -> Option<SubAgentHeading<'_>> {
    let rest = ["subagent", "sub-agent", "sub agent"].iter().find_map(|word| {
        let (head, rest) = heading.split_at_checked(word.len())?;
        head.eq_ignore_ascii_case(word).then_some(rest)
    })?;
    let (many, rest) = match rest.strip_prefix(['s', 'S']) {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let name = rest.trim_start_matches([':', ' ', '-', '—', '–']).trim();
    if name.is_empty() {
        return Some(if many { SubAgentHeading::Many } else { SubAgentHeading::One });
    }
    // `SubAgentry` is another word, and what follows `SubAgents` is no name of one.
    let first = name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let is_rule = !rest.starts_with(':') && NO_NAMES.contains(&first.to_lowercase().as_str());
    let is_named = !many && !is_rule && rest.starts_with([':', ' ', '-', '—', '–']);
    is_named.then_some(SubAgentHeading::Named(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDENTITY: &str = "# IDENTITY\n\n- **Name:** Clawdia\n- **Creature:** lobster\n- **Emoji:** 🦞\n\n## Capabilities\n\n- docker_management (needs Docker)\n- web_search\n";
    const AGENTS: &str = "# Operating instructions\n\nBe good.\n\n## SubAgent: Researcher\n\nReads a lot.\n\n## SubAgent: Coder\n\nWrites code.\n\n### Tools\n\n- rust\n";
    /// The start of the file that the runtime writes into a new workspace.
    const STOCK_IDENTITY: &str = "# IDENTITY.md - Who Am I?\n\n_Fill this in during your first conversation. Make it yours._\n\n- **Name:**\n  _(pick something you like)_\n- **Creature:**\n  _(AI? robot? familiar? ghost in the machine? something weirder?)_\n\n---\n\nNotes:\n\n- Save this file at the workspace root as `IDENTITY.md`.\n- Fields are parsed as `- Label: value` lines.\n\n## Related\n\n- [Agent workspace](/concepts/agent-workspace)\n";
    const STOCK_SOUL: &str = "# SOUL.md - Who You Are\n\n_You're not a chatbot. You're becoming someone._\n\n## Core Truths\n";
    /// The titles of the other descendant's templates.
    const STOCK_TITLES: [&str; 2] = ["# IDENTITY.md — Who Am I?\n", "# SOUL.md — Who You Are\n"];
    const STOCK_AGENTS: &str = "# AGENTS.md - Your Workspace\n\n## First Run\n\nx\n\n## Tools\n\n- On Discord and WhatsApp, use bullet lists.\n";

    fn made(files: &IdentityFiles<'_>) -> Option<Identity> {
        let id = |text: &str| text.parse().unwrap();
        identity(
            "openclaw",
            files,
            "00000000-0000-0000-0000-000000000001".parse().unwrap(),
            id("00000000-0000-0000-0000-000000000002"),
            3,
            "2026-01-15T00:00:00Z".parse().unwrap(),
        )
    }

    #[test]
    fn files_become_prose_verbatim() {
        let files = IdentityFiles {
            soul: Some("# Clawdia\r\n\r\nkind"),
            identity: Some(IDENTITY),
            agents: Some(AGENTS),
            tools: Some("tools"),
            heartbeat: Some("beat"),
            boot: Some("boot"),
            bootstrap: Some(""),
        };
        let identity = made(&files).unwrap();
        assert_eq!((identity.version, identity.source_format.as_deref()), (3, Some("openclaw")));
        let prose = identity.prose.unwrap();
        assert_eq!(prose.soul.as_deref(), Some("# Clawdia\r\n\r\nkind"));
        assert_eq!(prose.identity_profile.as_deref(), Some(IDENTITY));
        assert_eq!(prose.operating_instructions.as_deref(), Some(AGENTS));
        let blocks = prose.custom_blocks.unwrap();
        assert_eq!(
            blocks.iter().map(|(name, text)| (name, text.as_str())).collect::<Vec<_>>(),
            [
                ("tools_guidance", "tools"),
                ("heartbeat_checklist", "beat"),
                ("boot_checklist", "boot"),
                ("bootstrap", "")
            ]
        );
    }

    #[test]
    fn names_capabilities_and_sub_agents_are_read() {
        let files =
            IdentityFiles { identity: Some(IDENTITY), agents: Some(AGENTS), ..Default::default() };
        let structured = made(&files).unwrap().structured.unwrap();
        assert_eq!(structured.names.unwrap().primary, "Clawdia");
        let capabilities: Vec<_> = structured
            .capabilities
            .iter()
            .map(|one| (&*one.name, one.portability.as_ref(), one.host_requirements.as_deref()))
            .collect();
        assert_eq!(
            capabilities,
            [
                ("docker_management", Some(&Portability::HostDependent), Some("Docker")),
                ("web_search", Some(&Portability::Intrinsic), None),
            ]
        );
        let agents: Vec<_> = structured
            .sub_agents
            .iter()
            .map(|one| (&*one.name, one.description.as_deref(), &one.status, &one.agent_id))
            .collect();
        let active = &SubAgentStatus::Active;
        assert_eq!(
            agents,
            [
                ("Researcher", Some("Reads a lot."), active, &Nullable(None)),
                ("Coder", Some("Writes code.\n\n### Tools\n\n- rust"), active, &Nullable(None)),
            ]
        );
    }

    #[test]
    fn a_template_is_nobody() {
        let files = IdentityFiles {
            soul: Some(STOCK_SOUL),
            identity: Some(STOCK_IDENTITY),
            agents: Some(STOCK_AGENTS),
            ..Default::default()
        };
        let identity = made(&files).unwrap();
        assert_eq!(identity.structured, None);
        assert!(identity.prose.is_some());
        assert_eq!(agent_name(&files), None);
        let [identity, soul] = STOCK_TITLES.map(Some);
        assert_eq!(agent_name(&IdentityFiles { soul, identity, ..Default::default() }), None);
        assert_eq!(made(&IdentityFiles::default()), None);
    }

    #[test]
    fn the_name_comes_from_the_soul_unless_its_title_describes_the_file() {
        let name =
            |soul, identity| agent_name(&IdentityFiles { soul, identity, ..Default::default() });
        assert_eq!(name(Some("# Clawdia\n"), None).as_deref(), Some("Clawdia"));
        // The seed's rule: the title of SOUL.md, where it is a name.
        let pinchy = Some("- Name: Pinchy\n");
        assert_eq!(name(Some("# Nova\n"), pinchy).as_deref(), Some("Nova"));
        assert_eq!(name(Some("# Nova Prime\n\n# x\n"), pinchy).as_deref(), Some("Nova Prime"));
        for title in [
            "# SOUL.md - Who You Are",
            "# Who You Are",
            "# The Soul of a crab",
            "# Pinchy's Soul",
            "# Core Truths",
            "# Persona",
            "# Guidelines",
            "# Persönlichkeit",
            "# 灵魂",
            "# Мой характер",
            "# Be kind to every single crab",
            "",
        ] {
            assert_eq!(name(Some(title), pinchy).as_deref(), Some("Pinchy"), "{title}");
        }
        assert_eq!(name(Some("# Clawdia\n"), Some(STOCK_IDENTITY)).as_deref(), Some("Clawdia"));
        assert_eq!(name(None, Some("- **Name:**\n  Pinchy\n")).as_deref(), Some("Pinchy"));
        assert_eq!(name(Some("```\n# No\n```\n"), None), None);
        assert_eq!(name(Some("# Soul\n"), None), None);
        assert_eq!(name(Some("# Soulmate\n"), None).as_deref(), Some("Soulmate"));
    }

    #[test]
    fn sub_agent_headings_come_in_several_spellings() {
        for (heading, expected) in [
            ("SubAgent: Researcher", Some(SubAgentHeading::Named("Researcher"))),
            ("SubAgent Researcher", Some(SubAgentHeading::Named("Researcher"))),
            ("sub-agent: Code Reviewer", Some(SubAgentHeading::Named("Code Reviewer"))),
            ("SUBAGENT — X", Some(SubAgentHeading::Named("X"))),
            ("SubAgents", Some(SubAgentHeading::Many)),
            ("Sub-agents:", Some(SubAgentHeading::Many)),
            ("SubAgent", Some(SubAgentHeading::One)),
            ("SubAgent:", Some(SubAgentHeading::One)),
            ("SubAgents and tools", None),
            ("SubAgentry", None),
            ("SubAgent: Guide", Some(SubAgentHeading::Named("Guide"))),
            ("Subagent rules", None),
            ("SubAgent policy: never spawn", None),
            ("Sub", None),
            ("日本語サブ", None),
        ] {
            assert_eq!(sub_agent_heading(heading), expected, "{heading}");
        }
        assert!(sub_agents("```\n## SubAgent: No\n```\n> ## SubAgent: No\n").is_empty());
    }

    #[test]
    fn a_section_without_a_name_has_its_sub_agents_below() {
        let read = |text: &str| -> Vec<(String, String)> {
            let agents = sub_agents(text).into_iter();
            agents.map(|one| (one.name, one.description.unwrap_or_default())).collect()
        };
        let one = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        assert_eq!(
            read(
                "## SubAgent\n\n### Scout\n\nLooks.\n\n#### How\n\nFar.\n\n### Cook\n\n## Tools\n\n### No\n"
            ),
            [one("Scout", "Looks.\n\n#### How\n\nFar."), one("Cook", "")]
        );
        assert_eq!(
            read("## SubAgent\r\n\r\n- **Name:** Scout\r\n- Task: looks\r\n"),
            [one("Scout", "- **Name:** Scout\r\n- Task: looks")]
        );
        assert_eq!(read("## SubAgent\n\nLooks around.\n"), [one("SubAgent", "Looks around.")]);
        assert_eq!(
            read("## SubAgent\n\nName: Scout\nDescription: looks\n"),
            [one("Scout", "Name: Scout\nDescription: looks")]
        );
        assert_eq!(
            read("## SubAgents\n\n| Name | Task |\n|---|---|\n| **Scout** | looks |\n| Cook | |\n"),
            [one("Scout", "looks"), one("Cook", "")]
        );
        assert_eq!(
            read("## SubAgents\n\n- **Scout**: looks\n- Cook\n"),
            [one("Scout", "looks"), one("Cook", "")]
        );
        assert_eq!(read("## SubAgents\n\nNobody yet.\n\n## SubAgent\n"), []);
    }

    #[test]
    fn capabilities_may_be_described() {
        let one = capability("**web_search**: finds pages (needs a browser)").unwrap();
        assert_eq!((&*one.name, one.description.as_deref()), ("web_search", Some("finds pages")));
        assert_eq!(one.host_requirements.as_deref(), Some("a browser"));
        let plain = capability("math (the easy kind)").unwrap();
        assert_eq!((&*plain.name, plain.host_requirements), ("math (the easy kind)", None));
        assert_eq!(capability("_(none yet)_"), None);
    }

    #[test]
    fn the_same_identity_has_any_id_version_and_time() {
        let files = IdentityFiles { soul: Some("# A\n"), ..Default::default() };
        let first = made(&files).unwrap();
        let mut second = first.clone();
        second.id = "00000000-0000-0000-0000-000000000009".parse().unwrap();
        second.version = 7;
        second.updated_at = "2027-01-15T00:00:00Z".parse().unwrap();
        assert!(same_identity(&first, &second));
        let changed = made(&IdentityFiles { soul: Some("# B\n"), ..Default::default() }).unwrap();
        assert!(!same_identity(&first, &changed));
    }
}
