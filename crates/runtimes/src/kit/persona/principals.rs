//! The people the agent works for: USER.md, and one USER.md per person on a shared gateway.

use std::collections::BTreeMap;
use std::ops::Range;

use anemone_format::{
    AgentId, CommunicationPreferences, Moment, Opaque, Principal, PrincipalType, Principals,
    Profile, ProseProfile, StructuredProfile, Unknown, WorkContext,
};

use super::identity::name_in_title;
use crate::kit::ids;
use anemone_markdown::{Heading, LabelledItem, Page};
use serde_json::Value;

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

/// The titles of chapters about preferences, as keys.
const PREFERENCES: [&str; 14] = [
    "communication_preferences",
    "kommunikation",
    "preferences",
    "preferencias",
    "preferenze",
    "preferências",
    "präferenzen",
    "préférences",
    "voorkeuren",
    "vorlieben",
    "предпочтения",
    "偏好",
    "好み",
    "선호",
];
/// The titles of chapters about work.
const WORK: [&str; 13] = [
    "arbeit",
    "beruf",
    "lavoro",
    "trabajo",
    "trabalho",
    "travail",
    "werk",
    "work",
    "work_context",
    "работа",
    "工作",
    "仕事",
    "업무",
];
/// The titles of chapters, and the labels of fields, about the time zone.
const TIME_ZONE: [&str; 12] = [
    "fuseau_horaire",
    "fuso_horário",
    "fuso_orario",
    "huso_horario",
    "time_zone",
    "timezone",
    "tijdzone",
    "zeitzone",
    "zona_horaria",
    "часовой_пояс",
    "时区",
    "タイムゾーン",
];

/// Returns the chapters of a page, and the parts of chapters with headings of their own.
fn chapters<'a>(page: &'a Page<'_>) -> impl Iterator<Item = (&'a Heading, Range<usize>)> {
    let end = page.whole().last().map_or(0, |whole| whole.start + whole.text.len());
    page.chapters().chain(page.headings_in(0..end, 3))
}

fn structured(text: &str) -> Option<StructuredProfile> {
    let page = Page::parse(text);
    let all = page.fields(0..text.len());
    let mut custom = BTreeMap::new();
    let mut preferences = ChapterFields::in_chapter(&page, &PREFERENCES);
    let communication = CommunicationPreferences {
        tone: preferences.take(&["tone"]),
        response_length: preferences.take(&["response_length"]),
        formatting: preferences.take(&["formatting"]),
        ..CommunicationPreferences::default()
    };
    let mut work = ChapterFields::in_chapter(&page, &WORK);
    let (role, company) = (work.take(&["role"]), work.take(&["company"]));
    let said = match (&role, &company) {
        (None, None) => work.take_position(),
        _ => (None, None),
    };
    let work_context = WorkContext {
        role: role.or(said.0),
        company: company.or(said.1),
        projects: projects(work.take(&["project", "projects"])),
        ..WorkContext::default()
    };
    preferences.keep("preferences", &mut custom);
    work.keep("work", &mut custom);

    let structured = StructuredProfile {
        name: first(&all, &["name"]).or_else(|| name_in_title(&page, "USER")),
        timezone: zone_in_chapter(&page).or_else(|| first(&all, &TIME_ZONE)),
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

/// Whether what is before a colon is the label of a field rather than a part of a sentence.
fn is_label(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty()
        && text.split_whitespace().count() <= 3
        && !text.ends_with("http")
        && !text.ends_with("https")
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

/// Reads what follows in `## Timezone: Asia/Tokyo`, else the first zone such as `Europe/Berlin`
/// below `## Timezone`, else what is said there, such as `UTC+2`.
fn zone_in_chapter(page: &Page<'_>) -> Option<String> {
    let in_title = |text: &str| {
        let (title, value) = text.split_once(':').unwrap_or((text, ""));
        TIME_ZONE.contains(&&*key(title.trim())).then(|| value.trim().to_owned())
    };
    let (value, range) =
        chapters(page).find_map(|(heading, range)| Some((in_title(&heading.text)?, range)))?;
    if !value.is_empty() {
        return Some(value).filter(|value| value.chars().count() <= MAX_ZONE_CHARS);
    }
    let named = page.slice(range.clone()).split_whitespace().find_map(|word| {
        let zone = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let zone_like = zone.contains('/')
            && zone.bytes().all(|b| b.is_ascii_alphanumeric() || b"/_+-".contains(&b));
        zone_like.then(|| zone.to_owned())
    });
    let said = || {
        let said = page.statements(range).into_iter().next()?;
        let value = match said.split_once(':') {
            Some((label, value)) if TIME_ZONE.contains(&&*key(label.trim())) => value,
            _ => &said,
        };
        let value = value.trim().trim_end_matches('.');
        (!value.is_empty() && value.chars().count() <= MAX_ZONE_CHARS).then(|| value.to_owned())
    };
    named.or_else(said)
}

/// Reads `Staff engineer at Acme` and `I work at Acme as a staff engineer`: role and company.
fn position(statement: &str) -> Option<(Option<&str>, &str)> {
    let said = statement.trim_end_matches(['.', '!']);
    let after = |prefixes: &[&str], text: &str| -> Option<usize> {
        let starts = |prefix: &&&str| {
            text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
        };
        prefixes.iter().find(starts).map(|prefix| prefix.len())
    };
    // A clause of its own is about something else.
    if said.chars().count() > MAX_POSITION_CHARS || said.contains([',', ';', ':', '.', '?']) {
        return None;
    }
    let articles = ["a ", "an ", "the "];
    let works = ["works at ", "works for ", "i work at ", "i work for ", "employed at "];
    let (role, company) = if let Some(at) = after(&works, said) {
        match said[at..].split_once(" as ") {
            Some((company, role)) => (Some(role), company),
            None => (None, &said[at..]),
        }
    } else {
        let is = after(&["i am ", "i'm ", "i’m ", "works as ", "i work as "], said).unwrap_or(0);
        let (role, company) = said[is..].split_once(" at ")?;
        (Some(role), company)
    };
    let role = role.map(|role| role[after(&articles, role).unwrap_or(0)..].trim());
    let company = company.trim();
    let is_name = company.starts_with(|c: char| !c.is_lowercase());
    let is_role = role.is_none_or(|role| !role.is_empty() && role.split(' ').count() <= 5);
    (is_name && is_role && !company.is_empty()).then_some((role, company))
}

/// Longer texts name no zone.
const MAX_ZONE_CHARS: usize = 60;
/// Longer texts name no position.
const MAX_POSITION_CHARS: usize = 80;
/// The key of what is said in free sentences.
const NOTES: &str = "notes";

/// What a chapter says: its fields by key, and its free sentences.
struct ChapterFields {
    fields: BTreeMap<String, String>,
    notes: Vec<String>,
}

impl ChapterFields {
    fn in_chapter(page: &Page<'_>, titles: &[&str]) -> Self {
        let chapters = chapters(page).filter(|(heading, _)| {
            titles.contains(&key(heading.text.trim_end_matches(':')).as_str())
        });
        let mut read = Self { fields: BTreeMap::new(), notes: Vec::new() };
        for (_, range) in chapters {
            let fields = page.fields(range.clone());
            read.fields
                .extend(fields.iter().map(|field| (key(field.label), field.value.to_owned())));
            for statement in page.statements(range) {
                match statement.split_once(':').filter(|(label, _)| is_label(label)) {
                    // Empty labels are those of a template.
                    Some((label, value)) if !value.trim().is_empty() => {
                        let value = value.trim().to_owned();
                        read.fields.entry(key(label.trim())).or_insert(value);
                    }
                    Some(_) => {}
                    None => read.notes.push(statement),
                }
            }
        }
        read
    }

    fn take(&mut self, keys: &[&str]) -> Option<String> {
        keys.iter().filter_map(|key| self.fields.remove(*key)).next()
    }

    /// Takes the first sentence that says what somebody does, and where.
    fn take_position(&mut self) -> (Option<String>, Option<String>) {
        let found = self.notes.iter().enumerate().find_map(|(at, note)| {
            let (role, company) = position(note)?;
            Some((at, role.map(str::to_owned), company.to_owned()))
        });
        let Some((at, role, company)) = found else { return (None, None) };
        self.notes.remove(at);
        (role, Some(company))
    }

    /// Keeps what has no field of its own.
    fn keep(
        mut self,
        name: &'static str,
        custom: &mut BTreeMap<&'static str, BTreeMap<String, Value>>,
    ) {
        for elsewhere in ["name", "locale", "language"].iter().chain(&TIME_ZONE) {
            self.fields.remove(*elsewhere);
        }
        let mut kept: BTreeMap<String, Value> =
            self.fields.into_iter().map(|(key, value)| (key, Value::String(value))).collect();
        if !self.notes.is_empty() {
            kept.insert(NOTES.to_owned(), self.notes.into());
        }
        if !kept.is_empty() {
            custom.insert(name, kept);
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
    fn chapters_have_titles_of_any_level_and_in_many_languages() {
        let zone = |text: &str| structured(text)?.timezone;
        assert_eq!(zone("## Timezone: Asia/Tokyo\n").as_deref(), Some("Asia/Tokyo"));
        assert_eq!(zone("## Zeitzone\n\nEurope/Berlin\n").as_deref(), Some("Europe/Berlin"));
        assert_eq!(zone("- Zeitzone: Europe/Berlin\n").as_deref(), Some("Europe/Berlin"));
        let said = structured("## Lin\n\n### Preferences\n\n- tone: dry\n").unwrap();
        assert_eq!(said.communication_preferences.unwrap().tone.as_deref(), Some("dry"));
        let said = structured("## Arbeit\n\n- role: Gärtnerin\n- company: Grün\n").unwrap();
        assert_eq!(said.work_context.unwrap().company.as_deref(), Some("Grün"));
    }

    #[test]
    fn free_sentences_are_read_too() {
        let text = "## Preferences\n\n- likes dark mode\n- Tone: dry\n\nPlain words,\nshort ones.\n\n## Work\n\nStaff engineer at Acme\n\nOn call on Fridays.\n\n## Timezone\n\nUTC+2\n";
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let found = structured(&text).unwrap();
            assert_eq!(found.timezone.as_deref(), Some("UTC+2"));
            let work = found.work_context.unwrap();
            assert_eq!(work.role.as_deref(), Some("Staff engineer"));
            assert_eq!(work.company.as_deref(), Some("Acme"));
            assert_eq!(found.communication_preferences.unwrap().tone.as_deref(), Some("dry"));
            assert_eq!(
                found.custom_fields.unwrap().as_str(),
                r#"{"preferences":{"notes":["likes dark mode","Plain words, short ones."]},"work":{"notes":["On call on Fridays."]}}"#
            );
        }
    }

    #[test]
    fn a_position_is_a_role_and_a_company() {
        for (said, expected) in [
            ("Staff engineer at Acme", Some((Some("Staff engineer"), "Acme"))),
            ("I'm a nurse at St Mary", Some((Some("nurse"), "St Mary"))),
            ("I work at Acme as an engineer.", Some((Some("engineer"), "Acme"))),
            ("Works for 3M", Some((None, "3M"))),
            ("Researcher at 東京大学", Some((Some("Researcher"), "東京大学"))),
            ("Prefers to meet at noon", None),
            ("The crab that lives in the house at Acme", None),
            ("Left early, at Acme", None),
            ("At Acme", None),
            ("", None),
        ] {
            assert_eq!(position(said), expected, "{said}");
        }
    }

    #[test]
    fn a_zone_is_what_is_said_of_it() {
        for (said, expected) in [
            ("UTC+2", Some("UTC+2")),
            ("- GMT-05:30.", Some("GMT-05:30")),
            ("CET, so Europe/Berlin", Some("Europe/Berlin")),
            ("Timezone: Pacific Time", Some("Pacific Time")),
            ("_(where do they live?)_", None),
            ("", None),
        ] {
            let text = format!("# USER\n\n## Timezone\n\n{said}\n");
            let found = structured(&text).and_then(|found| found.timezone);
            assert_eq!(found.as_deref(), expected, "{said}");
        }
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
