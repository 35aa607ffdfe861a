//! AIEOS 1.1: a persona as a JSON document.
//!
//! Fields that our format has too are taken over; the rest of the document is kept beside them
//! unchanged. A value is removed from the rest only when the field holds all of it and it was at
//! its usual path, so that fields and rest together are the document again. Where a document has a
//! value under another name, or all sections below `identity`, the value stays in the rest as well,
//! and a changed field is written to its original path.

use std::collections::{HashMap, HashSet};

use anemone_format::{
    Capability, Identity, Names, Opaque, Portability, StructuredIdentity, Unknown,
};
use serde_json::{Map, Value, json};

/// The name of the framework with the five great traits.
const OCEAN: &str = "OCEAN";

/// Reads a document; `None` when it is not one.
pub(super) fn structured(json: &str) -> Option<StructuredIdentity> {
    let document: Value = serde_json::from_str(json).ok()?;
    if !document.is_object() {
        return None;
    }
    let (fields, rest) = taken_apart(&document);
    let is_empty = rest.as_object().is_none_or(Map::is_empty);
    let aieos_extensions = if is_empty { None } else { Some(Opaque::new(&rest).ok()?) };
    Some(StructuredIdentity { aieos_extensions, ..fields })
}

/// Returns the document of an identity: the original if there is one and nothing changed, or else
/// one generated from the fields.
pub(super) fn document(identity: &Identity) -> Option<String> {
    let structured = identity.structured.as_ref();
    let original = identity.raw_source.as_ref().map(Opaque::as_str);
    if let Some(original) = original
        && let Some(read) = self::structured(original)
        // Compares only what a document can express.
        && structured.is_none_or(|structured| put_together(structured) == put_together(&read))
    {
        return Some(original.to_owned());
    }
    let document = put_together(structured?);
    let mut text = serde_json::to_string_pretty(&document).ok()?;
    text.push('\n');
    Some(text)
}

/// A value of a document and the field that it becomes.
struct FieldSlot {
    /// The paths at which a document may have it; the first is the usual one.
    places: &'static [&'static str],
    /// Reads a value as the field has it, as JSON; `None` when it does not fit.
    read: fn(&Value) -> Option<Value>,
    /// Where the field is in a structured identity that is written as JSON.
    field: &'static str,
}

/// The scores of a personality; the field also names their framework.
const TRAITS: &str = "psychology/personality_traits/scores";
/// The framework of a personality.
const FRAMEWORK: &str = "psychology/personality_traits/framework";

/// Every slot; sections may also be below `identity`.
const SLOTS: &[FieldSlot] = &[
    slot(&["history/occupation"], text, "role"),
    slot(&["psychology/neural_matrix"], shares, "psychology/neural_matrix"),
    slot(&["psychology/ocean", "psychology/traits/ocean"], numbers, TRAITS),
    slot(&["psychology/mbti", "psychology/traits/mbti"], text, "psychology/mbti"),
    slot(&["psychology/moral_compass/alignment"], text, "psychology/moral_alignment"),
    slot(
        &[
            "linguistics/formality",
            "linguistics/formality_level",
            "linguistics/text_style/formality_level",
        ],
        share,
        "linguistics/formality_level",
    ),
    slot(
        &["linguistics/verbosity", "linguistics/text_style/verbosity_level"],
        share,
        "linguistics/verbosity",
    ),
    slot(
        &["linguistics/humor_level", "linguistics/text_style/humor_level"],
        share,
        "linguistics/humor_level",
    ),
    slot(
        &["linguistics/slang_usage", "linguistics/text_style/slang_usage"],
        |value| value.is_boolean().then(|| value.clone()),
        "linguistics/slang_usage",
    ),
    slot(&["linguistics/preferred_language"], text, "linguistics/preferred_language"),
    slot(
        &["linguistics/catchphrases", "linguistics/idiolect/catchphrases"],
        texts,
        "linguistics/idiolect/catchphrases",
    ),
    slot(&["linguistics/idiolect/verbal_tics"], texts, "linguistics/idiolect/verbal_tics"),
    slot(
        &["linguistics/forbidden_words", "linguistics/idiolect/forbidden_words"],
        texts,
        "linguistics/idiolect/avoided_words",
    ),
];

const fn slot(
    places: &'static [&'static str],
    read: fn(&Value) -> Option<Value>,
    field: &'static str,
) -> FieldSlot {
    FieldSlot { places, read, field }
}

const FIRST: &str = "identity/names/first";
const LAST: &str = "identity/names/last";
const NICKNAME: &str = "identity/names/nickname";
const FULL: &str = "identity/names/full";

/// Lists that become goals.
const GOALS: [&str; 5] = [
    "motivations/core_drive",
    "motivations/long_term_goals",
    "motivations/goals/long_term",
    "motivations/short_term_goals",
    "motivations/goals/short_term",
];
/// Where a new goal goes.
const NEW_GOALS: &str = "motivations/short_term_goals";

const SKILLS: &str = "capabilities/skills";
const TOOLS: &str = "capabilities/tools";

/// Takes the fields out of a document, and returns them with the rest of it.
fn taken_apart(document: &Value) -> (StructuredIdentity, Value) {
    let mut rest = document.clone();
    let mut fields = json!({});
    for slot in SLOTS {
        let Some((place, value)) = slot.find(document) else { continue };
        let Some(read) = (slot.read)(value) else { continue };
        if place == slot.usual() && read == *value {
            remove(&mut rest, &place);
        }
        if slot.field == TRAITS {
            put(&mut fields, FRAMEWORK, json!(OCEAN));
        }
        put(&mut fields, slot.field, read);
    }
    // Every slot only reads what its field can hold.
    let fields: StructuredIdentity = serde_json::from_value(fields).unwrap_or_default();
    let (goals, capabilities) = (goals(document), capabilities(document));
    let mut fields = StructuredIdentity { goals, capabilities, ..fields };
    fields.names = names(document, &mut rest);
    (fields, rest)
}

/// Generates a document from the fields and the rest.
fn put_together(fields: &StructuredIdentity) -> Value {
    let rest =
        fields.aieos_extensions.as_ref().and_then(|extension| extension.parse::<Value>().ok());
    let mut document = rest.filter(Value::is_object).unwrap_or_else(|| json!({}));
    put_names(&mut document, fields.names.as_ref());
    // A field whose number cannot be written as JSON counts as absent.
    let told = serde_json::to_value(fields).unwrap_or_default();
    let framework = at(&told, FRAMEWORK).and_then(Value::as_str).unwrap_or_default();
    let is_ocean = framework.eq_ignore_ascii_case(OCEAN);
    for slot in SLOTS {
        let there = slot.find(&document);
        let read = there.as_ref().and_then(|(_, value)| (slot.read)(value));
        let field = at(&told, slot.field).filter(|value| !value.is_null()).cloned();
        let field = field.filter(|_| slot.field != TRAITS || is_ocean);
        if read == field {
            continue;
        }
        let place = there.map_or_else(|| slot.usual().to_owned(), |(place, _)| place);
        match field {
            Some(field) => {
                let old = at(&document, &place).cloned();
                put(&mut document, &place, merged(old, read.as_ref(), field));
            }
            None => remove(&mut document, &place),
        }
    }
    // The format may know a framework that AIEOS has no name for.
    if let Some(scores) = at(&told, TRAITS).filter(|_| !is_ocean) {
        let name = framework.to_lowercase();
        let traits = at(&document, "psychology/traits").cloned().unwrap_or_else(|| json!({}));
        if let Value::Object(mut traits) = traits {
            traits.insert(name, scores.clone());
            put(&mut document, "psychology/traits", traits.into());
        }
    }
    put_goals(&mut document, &fields.goals);
    put_capabilities(&mut document, &fields.capabilities);
    document
}

impl FieldSlot {
    fn usual(&self) -> &'static str {
        self.places[0]
    }

    /// Finds the value: the first place that has one which can be read.
    fn find<'a>(&self, document: &'a Value) -> Option<(String, &'a Value)> {
        let mut places = self.places.iter().flat_map(|place| spellings(place));
        places.find_map(|place| {
            let value = at(document, &place).filter(|value| (self.read)(value).is_some())?;
            Some((place, value))
        })
    }
}

/// A section is at the top level or, in the first documents, below `identity`.
fn spellings(place: &str) -> [String; 2] {
    [place.to_owned(), format!("identity/{place}")]
}

/// Returns the value at a path: names with `/` between.
fn at<'a>(document: &'a Value, place: &str) -> Option<&'a Value> {
    place.split('/').try_fold(document, |value, name| value.as_object()?.get(name))
}

/// Removes a value, and every object that becomes empty.
fn remove(document: &mut Value, place: &str) {
    let Some(object) = document.as_object_mut() else { return };
    let Some((first, below)) = place.split_once('/') else {
        object.remove(place);
        return;
    };
    let Some(inner) = object.get_mut(first) else { return };
    let had = inner.as_object().is_some_and(|object| !object.is_empty());
    remove(inner, below);
    if had && inner.as_object().is_some_and(Map::is_empty) {
        object.remove(first);
    }
}

/// Puts a value, unless the path leads through something that is not an object.
fn put(document: &mut Value, place: &str, value: Value) {
    let Some(object) = document.as_object_mut() else { return };
    match place.split_once('/') {
        None => drop(object.insert(place.to_owned(), value)),
        Some((name, below)) => {
            put(object.entry(name).or_insert_with(|| json!({})), below, value);
        }
    }
}

/// Puts a changed field over the old value; unreadable parts of an object or a list stay.
fn merged(old: Option<Value>, read: Option<&Value>, field: Value) -> Value {
    match (old, field) {
        (Some(Value::Object(mut old)), Value::Object(field)) => {
            let read = read.and_then(Value::as_object);
            for (name, _) in read.into_iter().flatten() {
                if !field.contains_key(name) {
                    old.remove(name);
                }
            }
            for (name, value) in field {
                let was = read.and_then(|read| read.get(&name));
                if was != Some(&value) {
                    old.insert(name, value);
                }
            }
            Value::Object(old)
        }
        (_, field) => field,
    }
}

fn string(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

fn text(value: &Value) -> Option<Value> {
    string(value).map(Value::String)
}

fn texts(value: &Value) -> Option<Value> {
    let texts: Vec<Value> = value.as_array()?.iter().filter_map(text).collect();
    (!texts.is_empty()).then_some(Value::Array(texts))
}

/// A number in the field's form: `1` is `1.0` there.
fn number(number: f64) -> Option<Value> {
    number.is_finite().then(|| json!(number))
}

fn share(value: &Value) -> Option<Value> {
    value.as_f64().filter(|f64| (0.0..=1.0).contains(f64)).and_then(number)
}

fn shares(value: &Value) -> Option<Value> {
    each(value, share)
}

fn numbers(value: &Value) -> Option<Value> {
    each(value, |value| value.as_f64().and_then(number))
}

fn each(value: &Value, read: fn(&Value) -> Option<Value>) -> Option<Value> {
    let object = value.as_object()?.iter();
    let read: Map<String, Value> =
        object.filter_map(|(name, value)| Some((name.clone(), read(value)?))).collect();
    (!read.is_empty()).then_some(Value::Object(read))
}

fn name_at(document: &Value, place: &str) -> Option<String> {
    at(document, place).and_then(string)
}

/// Reads the names. Without a first name, the display name is the nickname, or else the full name.
/// A missing full name is made of the first and the last.
fn names(document: &Value, rest: &mut Value) -> Option<Names> {
    let [first, last, nickname, full] =
        [FIRST, LAST, NICKNAME, FULL].map(|place| name_at(document, place));
    let primary = first.clone().or_else(|| nickname.clone()).or_else(|| full.clone())?;
    let made = made_full(&primary, last.as_deref());
    if nickname.is_some() {
        remove(rest, NICKNAME);
    }
    // If another name could be taken for the first name, the rest records that the document has it.
    let stands_in = nickname.as_ref().or(full.as_ref());
    if first.is_some() && first.as_ref() != stands_in {
        remove(rest, FIRST);
    }
    if full.is_some() && full != made {
        remove(rest, FULL);
    }
    let full = full.or_else(|| made.filter(|_| first.is_some()));
    Some(Names { primary, nickname, full, unknown: Unknown::default() })
}

fn made_full(first: &str, last: Option<&str>) -> Option<String> {
    last.map(|last| format!("{first} {last}"))
}

/// Sets or removes a name, unless the document says the same already.
fn put_name(document: &mut Value, place: &str, name: Option<&String>) {
    let known = name_at(document, place);
    match name {
        Some(name) if known.as_ref() != Some(name) => put(document, place, json!(name)),
        None if known.is_some() => remove(document, place),
        _ => {}
    }
}

fn put_names(document: &mut Value, names: Option<&Names>) {
    put_name(document, NICKNAME, names.and_then(|name| name.nickname.as_ref()));
    let Some(names) = names else {
        put_name(document, FIRST, None);
        put_name(document, FULL, None);
        return;
    };
    let last = name_at(document, LAST);
    let made = made_full(&names.primary, last.as_deref());
    if name_at(document, FULL).is_some() || names.full != made {
        put_name(document, FULL, names.full.as_ref());
    }
    // A display name that replaces the first name is not written as the first name.
    let first = name_at(document, FIRST);
    let stands_in = name_at(document, NICKNAME).or_else(|| name_at(document, FULL));
    let shown = first.or(stands_in);
    if shown.as_ref() != Some(&names.primary) {
        put(document, FIRST, json!(names.primary));
    }
}

/// Reads a goal or a list of goals.
fn goals_at(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().filter_map(string).collect(),
        value => string(value).into_iter().collect(),
    }
}

fn goal_places(document: &Value) -> Vec<String> {
    let places = GOALS.iter().flat_map(|place| spellings(place));
    places.filter(|place| at(document, place).is_some()).collect()
}

fn goals(document: &Value) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut goals: Vec<String> = Vec::new();
    for place in goal_places(document) {
        let found = at(document, &place).map(goals_at).unwrap_or_default();
        goals.extend(found.into_iter().filter(|goal| seen.insert(goal.clone())));
    }
    goals
}

fn put_goals(document: &mut Value, wanted: &[String]) {
    let there = goals(document);
    if there == wanted {
        return;
    }
    let still: HashSet<&str> = wanted.iter().map(String::as_str).collect();
    for place in goal_places(document) {
        match at(document, &place).cloned() {
            Some(Value::Array(mut list)) => {
                list.retain(|list| list.as_str().is_none_or(|identity| still.contains(identity)));
                put(document, &place, Value::Array(list));
            }
            Some(Value::String(goal)) if !still.contains(&*goal) => remove(document, &place),
            _ => {}
        }
    }
    let there: HashSet<String> = there.into_iter().collect();
    let new = wanted.iter().filter(|goal| !there.contains(*goal)).map(|identity| json!(identity));
    append(document, NEW_GOALS, new.collect());
}

/// Appends to a list, wherever the document has it.
fn append(document: &mut Value, place: &str, new: Vec<Value>) {
    if new.is_empty() {
        return;
    }
    let [top, nested] = spellings(place);
    let is_list = |place: &String| at(document, place).is_some_and(Value::is_array);
    let place = if !is_list(&top) && is_list(&nested) { nested } else { top };
    let mut list = at(document, &place).and_then(Value::as_array).cloned().unwrap_or_default();
    list.extend(new);
    put(document, &place, Value::Array(list));
}

fn capability(value: &Value, portability: Option<Portability>) -> Option<Capability> {
    let object = value.as_object();
    let named = |name: &str| object?.get(name).and_then(string);
    let name = string(value).or_else(|| named("name"))?;
    Some(Capability {
        name,
        description: named("description"),
        priority: object
            .and_then(|object| object.get("priority")?.as_u64())
            .filter(|identity| *identity > 0),
        portability,
        ..Capability::default()
    })
}

fn capabilities(document: &Value) -> Vec<Capability> {
    let mut seen = HashSet::new();
    let mut found: Vec<Capability> = Vec::new();
    for (place, portability) in [(SKILLS, None), (TOOLS, Some(Portability::HostDependent))] {
        for place in spellings(place) {
            let list = at(document, &place).and_then(Value::as_array);
            let list = list.into_iter().flatten();
            let named = list.filter_map(|value| capability(value, portability.clone()));
            found.extend(named.filter(|one| seen.insert(one.name.clone())));
        }
    }
    found
}

fn put_capabilities(document: &mut Value, wanted: &[Capability]) {
    let there = capabilities(document);
    let same = |a: &Capability, b: &Capability| {
        a.name == b.name && a.description == b.description && a.priority == b.priority
    };
    let unchanged =
        there.len() == wanted.len() && there.iter().zip(wanted).all(|(a, b)| same(a, b));
    if unchanged {
        return;
    }
    let named: HashMap<&str, &Capability> =
        wanted.iter().map(|identity| (&*identity.name, identity)).collect();
    for place in [SKILLS, TOOLS].into_iter().flat_map(spellings) {
        let Some(list) = at(document, &place).and_then(Value::as_array) else { continue };
        let mut list = list.clone();
        list.retain_mut(|value| {
            let Some(old) = capability(value, None) else { return true };
            let Some(new) = named.get(&*old.name) else { return false };
            if !same(&old, new) {
                *value = described(value.as_object(), new);
            }
            true
        });
        put(document, &place, Value::Array(list));
    }
    let there: HashSet<&str> = there.iter().map(|identity| &*identity.name).collect();
    let is_new = |one: &&Capability| !there.contains(&*one.name);
    let (tools, skills): (Vec<&Capability>, Vec<_>) =
        wanted.iter().filter(is_new).partition(|identity| {
            identity.portability.as_ref().map(Portability::effective)
                == Some(&Portability::HostDependent)
        });
    for (place, new) in [(SKILLS, skills), (TOOLS, tools)] {
        append(
            document,
            place,
            new.into_iter().map(|identity| described(None, identity)).collect(),
        );
    }
}

/// Writes a capability: its name, or an object if there is more to write.
fn described(old: Option<&Map<String, Value>>, one: &Capability) -> Value {
    if old.is_none() && one.description.is_none() && one.priority.is_none() {
        return json!(one.name);
    }
    let mut object = old.cloned().unwrap_or_default();
    object.insert("name".to_owned(), json!(one.name));
    let fields = [
        ("description", one.description.as_ref().map(|description| json!(description))),
        ("priority", one.priority.map(Value::from)),
    ];
    for (name, value) in fields {
        match value {
            Some(value) => object.insert(name.to_owned(), value),
            None => object.remove(name),
        };
    }
    Value::Object(object)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every name that the real program reads, in the first spelling of each.
    const FLAT: &str = r#"{
      "identity": {"names": {"first": "Nova", "last": "Star", "nickname": "Nov"}, "bio": {"born": 2026, "@type": "x"}},
      "psychology": {"neural_matrix": {"creativity": 0.9, "logic": 1}, "mbti": "ENTP",
        "ocean": {"openness": 0.8, "neuroticism": 0.1},
        "moral_compass": {"alignment": "Neutral Good", "core_values": ["truth"]}},
      "linguistics": {"style": ["warm"], "formality": 0.25, "catchphrases": ["Onward!"], "forbidden_words": ["synergy"]},
      "motivations": {"core_drive": "learn", "short_term_goals": ["ship"], "long_term_goals": ["understand"], "fears": ["loss"]},
      "capabilities": {"skills": ["rust", {"name": "search", "description": "finds", "uri": "x"}], "tools": ["shell"]},
      "history": {"occupation": "engineer", "origin_story": "x"},
      "x-own": [1, null, 1e300]
    }"#;
    /// The same in the other spellings, all below `identity` as the first documents have it.
    const NESTED: &str = r#"{"identity": {
      "names": {"first": "Nova", "last": "Star", "nickname": "Nov"},
      "psychology": {"neural_matrix": {"creativity": 0.9, "logic": 1},
        "traits": {"mbti": "ENTP", "ocean": {"openness": 0.8, "neuroticism": 0.1}},
        "moral_compass": {"alignment": "Neutral Good"}},
      "linguistics": {"text_style": {"formality_level": 0.25, "style_descriptors": ["warm"]},
        "idiolect": {"catchphrases": ["Onward!"], "forbidden_words": ["synergy"]}},
      "motivations": {"core_drive": "learn", "goals": {"short_term": ["ship"], "long_term": ["understand"]}},
      "capabilities": {"skills": ["rust", {"name": "search", "description": "finds"}], "tools": ["shell"]},
      "history": {"occupation": "engineer"}
    }}"#;

    fn identity(structured: Option<StructuredIdentity>, raw: Option<&str>) -> Identity {
        Identity {
            id: "00000000-0000-0000-0000-000000000002".parse().unwrap(),
            agent_id: "00000000-0000-0000-0000-000000000001".parse().unwrap(),
            version: 1,
            updated_at: "2026-01-15T00:00:00Z".parse().unwrap(),
            structured,
            prose: None,
            source_format: Some("aieos".to_owned()),
            raw_source: raw.map(|raw| serde_json::from_str(raw).unwrap()),
            unknown: Unknown::default(),
        }
    }

    fn rebuilt(structured: StructuredIdentity) -> Value {
        serde_json::from_str(&document(&identity(Some(structured), None)).unwrap()).unwrap()
    }

    fn value(json: &str) -> Value {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn formality_is_read_under_each_of_its_names() {
        for linguistics in [
            r#"{"formality": 0.7}"#,
            r#"{"formality_level": 0.7}"#,
            r#"{"text_style": {"formality_level": 0.7}}"#,
        ] {
            let found = structured(&format!(r#"{{"linguistics": {linguistics}}}"#)).unwrap();
            assert_eq!(found.linguistics.unwrap().formality_level, Some(0.7), "{linguistics}");
        }
    }

    #[test]
    fn every_spelling_becomes_the_same_fields() {
        for json in [FLAT, NESTED] {
            let found = structured(json).unwrap();
            let names = found.names.unwrap();
            assert_eq!(
                (&*names.primary, names.nickname.as_deref(), names.full.as_deref()),
                ("Nova", Some("Nov"), Some("Nova Star"))
            );
            assert_eq!(found.role.as_deref(), Some("engineer"));
            assert_eq!(found.goals, ["learn", "understand", "ship"]);
            let psychology = found.psychology.unwrap();
            assert_eq!(psychology.mbti.as_deref(), Some("ENTP"));
            assert_eq!(psychology.moral_alignment.as_deref(), Some("Neutral Good"));
            assert_eq!(psychology.neural_matrix.unwrap().get("logic"), Some(&1.0));
            let traits = psychology.personality_traits.unwrap();
            assert_eq!((&*traits.framework, traits.scores.get("openness")), ("OCEAN", Some(&0.8)));
            let linguistics = found.linguistics.unwrap();
            assert_eq!(linguistics.formality_level, Some(0.25));
            let idiolect = linguistics.idiolect.unwrap();
            assert_eq!(idiolect.catchphrases, ["Onward!"]);
            assert_eq!(idiolect.avoided_words, ["synergy"]);
            let names: Vec<_> =
                found.capabilities.iter().map(|capability| &*capability.name).collect();
            assert_eq!(names, ["rust", "search", "shell"]);
            assert_eq!(found.capabilities[1].description.as_deref(), Some("finds"));
        }
    }

    #[test]
    fn fields_and_the_rest_are_the_document_again() {
        for json in [FLAT, NESTED, "{}", r#"{"identity":{"names":{}}}"#, r#"{"psychology":7}"#] {
            assert_eq!(rebuilt(structured(json).unwrap()), value(json), "{json}");
        }
        let rest = structured(FLAT).unwrap().aieos_extensions.unwrap();
        let rest: Value = rest.parse().unwrap();
        assert_eq!(rest["psychology"].get("mbti"), None);
        assert_eq!(rest["x-own"], json!([1, null, 1e300]));
        for json in ["[]", "7", "", "{"] {
            assert_eq!(structured(json), None, "{json}");
        }
    }

    #[test]
    fn an_original_that_still_holds_comes_back_byte_for_byte() {
        let whole = identity(structured(FLAT), Some(FLAT));
        assert_eq!(document(&whole).as_deref(), Some(FLAT));
        assert_eq!(document(&identity(None, Some(FLAT))).as_deref(), Some(FLAT));
        assert_eq!(document(&identity(None, None)), None);
        let mut changed = whole;
        changed.structured.as_mut().unwrap().role = Some("pilot".to_owned());
        let document = value(&document(&changed).unwrap());
        assert_eq!(document["history"]["occupation"], "pilot");
        assert_eq!(document["history"]["origin_story"], "x");
    }

    #[test]
    fn a_changed_field_goes_to_where_it_came_from() {
        let mut fields = structured(NESTED).unwrap();
        let psychology = fields.psychology.as_mut().unwrap();
        psychology.mbti = Some("INTJ".to_owned());
        psychology.neural_matrix.as_mut().unwrap().insert("logic", 0.5);
        fields.goals = vec!["learn".to_owned(), "rest".to_owned()];
        fields.capabilities.remove(0);
        fields.names.as_mut().unwrap().nickname = None;
        let document = rebuilt(fields.clone());
        let nested = &document["identity"];
        assert_eq!(nested["psychology"]["traits"]["mbti"], "INTJ");
        assert_eq!(nested["psychology"]["neural_matrix"], json!({"creativity": 0.9, "logic": 0.5}));
        assert_eq!(nested["names"], json!({"first": "Nova", "last": "Star"}));
        assert_eq!(nested["motivations"]["goals"], json!({"short_term": [], "long_term": []}));
        assert_eq!(document["motivations"]["short_term_goals"], json!(["rest"]));
        assert_eq!(nested["capabilities"]["skills"][0]["name"], "search");
        let again = structured(&serde_json::to_string(&document).unwrap()).unwrap();
        assert_eq!((again.goals, again.names), (fields.goals, fields.names));
    }

    #[test]
    fn fields_of_another_runtime_make_a_document() {
        let mut fields = structured("{}").unwrap();
        fields.names = Some(Names {
            primary: "Clawdia".to_owned(),
            nickname: None,
            full: None,
            unknown: Unknown::default(),
        });
        fields.capabilities =
            vec![capability(&json!("web"), Some(Portability::Intrinsic)).unwrap()];
        assert_eq!(
            rebuilt(fields),
            json!({"identity": {"names": {"first": "Clawdia"}}, "capabilities": {"skills": ["web"]}})
        );
    }

    /// Values where the document has them, and values where it does not.
    fn documents() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            (0..=4).prop_map(|identity| json!(f64::from(identity) / 4.0)),
            "[ a-c]{0,3}".prop_map(Value::from),
        ];
        let name = proptest::sample::select(vec![
            "identity",
            "names",
            "first",
            "last",
            "nickname",
            "full",
            "psychology",
            "traits",
            "mbti",
            "ocean",
            "openness",
            "neural_matrix",
            "moral_compass",
            "alignment",
            "linguistics",
            "text_style",
            "formality",
            "formality_level",
            "idiolect",
            "catchphrases",
            "forbidden_words",
            "motivations",
            "core_drive",
            "goals",
            "short_term",
            "short_term_goals",
            "capabilities",
            "skills",
            "tools",
            "name",
            "priority",
            "history",
            "occupation",
            "other",
        ]);
        let tree = leaf.prop_recursive(4, 48, 6, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                proptest::collection::btree_map(name.clone().prop_map(str::to_owned), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        });
        // Random values alone rarely put the names where they belong.
        (
            tree,
            prop::option::of("[ab]{0,2}"),
            prop::option::of("[ab]{0,2}"),
            prop::option::of("[ab ]{0,4}"),
        )
            .prop_map(|(mut tree, first, nickname, full)| {
                if !tree.is_object() {
                    tree = json!({ "psychology": tree });
                }
                for (place, name) in [(FIRST, first), (NICKNAME, nickname), (FULL, full)] {
                    if let Some(name) = name {
                        put(&mut tree, place, json!(name));
                    }
                }
                tree
            })
    }

    proptest! {
        #[test]
        fn nothing_of_any_document_is_lost(document in documents()) {
            let json = serde_json::to_string(&document).unwrap();
            let fields = structured(&json).unwrap();
            prop_assert_eq!(rebuilt(fields), document);
        }
    }
}
