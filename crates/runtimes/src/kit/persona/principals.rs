//! The people the agent works for: USER.md, and one USER.md per person on a shared gateway.

use std::collections::BTreeMap;

use anemone_format::{
    AgentId, CommunicationPreferences, Moment, Opaque, Principal, PrincipalType, Principals,
    Profile, ProseProfile, StructuredProfile, Unknown, WorkContext,
};

use super::identity::name_in_title;
use crate::kit::ids;
use anemone_markdown::{LabelledItem, Page};

/// Makes one human of each file; `others` are `users/<profile id>/USER.md`.
///
/// Ids are derived from the agent and the file, so that the same person keeps the same id.
pub(crate) fn principals(
    runtime: &str,
    user_md: Option<&str>,
    others: &[(String, &str)],
    agent_id: AgentId,
    updated_at: &Moment,
) -> Option<Principals> {
    let main = user_md.map(|text| ("USER.md".to_owned(), text));
    let others = others.iter().map(|(id, text)| (format!("users/{id}/USER.md"), *text));
    let principals: Vec<_> = main
        .into_iter()
        .chain(others)
        .map(|(path, text)| principal(runtime, &path, text, agent_id, updated_at))
        .collect();
    (!principals.is_empty()).then(|| Principals { principals, unknown: Unknown::default() })
}

/// Returns whether two profiles say the same, whatever their ids, versions and times.
pub(crate) fn same_profile(a: &Profile, b: &Profile) -> bool {
    a.structured == b.structured && a.prose == b.prose && a.source_format == b.source_format
}

fn principal(
    runtime: &str,
    path: &str,
    text: &str,
    agent_id: AgentId,
    updated_at: &Moment,
) -> Principal {
    let id = |kind: &str| ids::item(agent_id, &format!("{kind}:{path}"));
    let profile = Profile {
        id: id("profile"),
        agent_id,
        principal_id: id("principal"),
        version: 1,
        updated_at: updated_at.clone(),
        structured: structured(text),
        prose: Some(ProseProfile {
            user_profile: Some(text.to_owned()),
            unknown: Unknown::default(),
        }),
        source_format: Some(runtime.to_owned()),
        raw_source: None,
        unknown: Unknown::default(),
    };
    Principal {
        id: profile.principal_id,
        principal_type: PrincipalType::Human,
        agent_id: None,
        profile,
        unknown: Unknown::default(),
    }
}

fn structured(text: &str) -> Option<StructuredProfile> {
    let page = Page::parse(text);
    let all = page.fields(0..text.len());
    let mut custom = BTreeMap::new();
    let mut preferences =
        ChapterFields::in_chapter(&page, &["preferences", "communication preferences"]);
    let communication = CommunicationPreferences {
        tone: preferences.take(&["tone"]),
        response_length: preferences.take(&["response_length"]),
        formatting: preferences.take(&["formatting"]),
        ..CommunicationPreferences::default()
    };
    let mut work = ChapterFields::in_chapter(&page, &["work", "work context"]);
    let work_context = WorkContext {
        role: work.take(&["role"]),
        company: work.take(&["company"]),
        projects: projects(work.take(&["project", "projects"])),
        ..WorkContext::default()
    };
    preferences.keep("preferences", &mut custom);
    work.keep("work", &mut custom);

    let structured = StructuredProfile {
        name: first(&all, &["name"]).or_else(|| name_in_title(&page, "USER")),
        timezone: zone_in_chapter(&page).or_else(|| first(&all, &["timezone"])),
        locale: first(&all, &["locale", "language"]),
        communication_preferences: unless_default(communication),
        work_context: unless_default(work_context),
        custom_fields: unless_default(custom).and_then(|custom| Opaque::new(&custom).ok()),
        ..StructuredProfile::default()
    };
    unless_default(structured)
}

fn unless_default<T: Default + PartialEq>(value: T) -> Option<T> {
    (value != T::default()).then_some(value)
}

fn first(fields: &[LabelledItem<'_>], labels: &[&str]) -> Option<String> {
    let found = fields.iter().find(|field| labels.contains(&key(field.label).as_str()))?;
    Some(found.value.to_owned())
}

/// `Response length` and `response_length` are the same key.
fn key(label: &str) -> String {
    label.to_lowercase().replace([' ', '-'], "_")
}

fn projects(value: Option<String>) -> Vec<String> {
    let value = value.unwrap_or_default();
    let names = value.split([',', ';']).map(str::trim).filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

/// Reads the first zone such as `Europe/Berlin` below `## Timezone`.
fn zone_in_chapter(page: &Page<'_>) -> Option<String> {
    let chapter = |(heading, _): &(&anemone_markdown::Heading, _)| {
        matches!(key(&heading.text).as_str(), "timezone" | "time_zone")
    };
    let (_, range) = page.chapters().find(chapter)?;
    page.slice(range).split_whitespace().find_map(|word| {
        let zone = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let zone_like = zone.contains('/')
            && zone.bytes().all(|b| b.is_ascii_alphanumeric() || b"/_+-".contains(&b));
        zone_like.then(|| zone.to_owned())
    })
}

/// The fields of a chapter, by key.
struct ChapterFields(BTreeMap<String, String>);

impl ChapterFields {
    fn in_chapter(page: &Page<'_>, titles: &[&str]) -> Self {
        let chapters = page
            .chapters()
            .filter(|(heading, _)| titles.contains(&heading.text.to_lowercase().as_str()));
        let fields = chapters.flat_map(|(_, range)| page.fields(range));
        Self(fields.map(|field| (key(field.label), field.value.to_owned())).collect())
    }

    fn take(&mut self, keys: &[&str]) -> Option<String> {
        keys.iter().filter_map(|key| self.0.remove(*key)).next()
    }

    /// Keeps what has no field of its own.
    fn keep(
        mut self,
        name: &'static str,
        custom: &mut BTreeMap<&'static str, BTreeMap<String, String>>,
    ) {
        for elsewhere in ["name", "timezone", "locale", "language"] {
            self.0.remove(elsewhere);
        }
        if !self.0.is_empty() {
            custom.insert(name, self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: &str = "# Alex Example\n\n## Preferences\n\n- tone: casual\n- response_length: concise\n\n## Work\n\n- role: engineer\n- company: Acme\n\n## Timezone\n\nAmerica/Los_Angeles\n";
    const STOCK_OLD: &str = "# USER.md - About Your Human\n\n_Learn about the person you're helping. Update this as you go._\n\n- **Name:**\n- **What to call them:**\n- **Pronouns:** _(optional)_\n- **Timezone:**\n- **Notes:**\n\n## Context\n\n_(What do they care about?)_\n\n---\n\nThe more you know, the better you can help.\n";
    const STOCK_NEW: &str = "# USER.md - User Model\n\nUse one directive per entry:\n\n```md\n<!-- observed: YYYY-MM-DD | status: active -->\n\n- Prefer concise progress updates during implementation work.\n```\n\n- Begin each directive with an imperative such as `Always`, `Never`, or `Prefer`.\n- Save this file at the workspace root as `USER.md`.\n\n## Directives\n\n<!-- observed: YYYY-MM-DD | status: active -->\n\n- Prefer ...\n\n## Related\n\n- [Agent workspace](/concepts/agent-workspace)\n";

    fn made(user: Option<&str>, others: &[(String, &str)]) -> Option<Principals> {
        let agent = "00000000-0000-0000-0000-000000000001".parse().unwrap();
        principals("openclaw", user, others, agent, &"2026-01-15T00:00:00Z".parse().unwrap())
    }

    #[test]
    fn a_filled_in_file_becomes_fields() {
        let found = made(Some(USER), &[]).unwrap().principals.pop().unwrap();
        assert_eq!(found.principal_type, PrincipalType::Human);
        assert_eq!(found.id, found.profile.principal_id);
        assert_eq!(found.profile.prose.unwrap().user_profile.as_deref(), Some(USER));
        let structured = found.profile.structured.unwrap();
        assert_eq!(structured.name.as_deref(), Some("Alex Example"));
        assert_eq!(structured.timezone.as_deref(), Some("America/Los_Angeles"));
        let preferences = structured.communication_preferences.unwrap();
        assert_eq!(preferences.tone.as_deref(), Some("casual"));
        assert_eq!(preferences.response_length.as_deref(), Some("concise"));
        assert_eq!(preferences.formatting, None);
        let work = structured.work_context.unwrap();
        assert_eq!(work.role.as_deref(), Some("engineer"));
        assert_eq!(work.company.as_deref(), Some("Acme"));
        assert_eq!(structured.custom_fields, None);
    }

    #[test]
    fn other_lines_are_kept_as_custom_fields() {
        let text = "- **Name:** Alex\n- **Timezone:** Europe/Berlin\n- Locale: de-DE\n\n## Preferences\n\n- Formatting: minimal markdown\n- editor: vim\n\n## Work\n\n- projects: atlas, billing\n- team: core\n";
        let structured = structured(text).unwrap();
        assert_eq!(structured.name.as_deref(), Some("Alex"));
        assert_eq!(structured.timezone.as_deref(), Some("Europe/Berlin"));
        assert_eq!(structured.locale.as_deref(), Some("de-DE"));
        assert_eq!(structured.work_context.unwrap().projects, ["atlas", "billing"]);
        assert_eq!(
            structured.communication_preferences.unwrap().formatting.as_deref(),
            Some("minimal markdown")
        );
        assert_eq!(
            structured.custom_fields.unwrap().as_str(),
            r#"{"preferences":{"editor":"vim"},"work":{"team":"core"}}"#
        );
    }

    #[test]
    fn a_template_says_nothing() {
        for text in [STOCK_OLD, STOCK_NEW, ""] {
            let found = made(Some(text), &[]).unwrap().principals.pop().unwrap();
            assert_eq!(found.profile.structured, None, "{text}");
            assert_eq!(found.profile.prose.unwrap().user_profile.as_deref(), Some(text));
        }
        assert_eq!(made(None, &[]), None);
    }

    #[test]
    fn everybody_has_an_id_that_stays() {
        let others = [("anna".to_owned(), "# Anna\n"), ("ben".to_owned(), "# Ben\n")];
        let found = made(Some(USER), &others).unwrap().principals;
        let names: Vec<_> = found
            .iter()
            .map(|one| one.profile.structured.as_ref().unwrap().name.as_deref().unwrap())
            .collect();
        assert_eq!(names, ["Alex Example", "Anna", "Ben"]);
        let mut ids: Vec<_> = found.iter().flat_map(|one| [one.id, one.profile.id]).collect();
        assert_eq!(made(Some("x"), &[]).unwrap().principals[0].id, ids[0]);
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 6);
        assert!(same_profile(&found[1].profile, &found[1].profile.clone()));
        assert!(!same_profile(&found[1].profile, &found[2].profile));
    }
}
