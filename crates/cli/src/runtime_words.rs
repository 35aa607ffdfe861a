//! What help texts say of runtimes, from their descriptors.

use anemone_runtimes::connect::{ConnectOption, ConnectedMemory};
use anemone_runtimes::{Runtime, UsualPlaces, connects, with_agents};

/// Names the runtimes that have agents, as they are typed.
pub(crate) fn names() -> String {
    listed(with_agents().map(|runtime| runtime.name), "or")
}

/// Returns a help text about a runtime, with the known ones; `rest` follows them.
pub(crate) fn help(what: &str, rest: &str) -> String {
    format!("{what}: {}{rest}", names())
}

/// Returns a help text that ends with the runtimes that it is about.
pub(crate) fn help_for(what: &str, is_meant: impl Fn(&Runtime) -> bool, rest: &str) -> String {
    let titles = with_agents().filter(|runtime| is_meant(runtime)).map(|runtime| runtime.title);
    format!("{what} ({}){rest}", listed(titles, "and"))
}

/// Whether an install of a runtime holds several agents.
pub(crate) fn holds_several(runtime: &Runtime) -> bool {
    runtime.places.is_some_and(|places| places.holds_several)
}

/// Whether a new install of a runtime can keep memories in several ways.
pub(crate) fn has_backends(runtime: &Runtime) -> bool {
    runtime.mappings.len() > 1
}

/// Lists the folders in which the agents of each runtime are searched for.
pub(crate) fn places() -> String {
    let of = |title: &str, places: &UsualPlaces| {
        let folders: Vec<String> =
            places.folders.iter().map(|folder| format!("~/{folder}")).collect();
        let variables = places.variables.iter().chain(places.other_variables).copied();
        let verb = if variables.clone().count() > 1 { "say" } else { "says" };
        format!("for {title} {}, and what {} {verb}", folders.join(", "), listed(variables, "and"))
    };
    let places = with_agents().filter_map(|runtime| Some((runtime.title, runtime.places?)));
    let said: Vec<String> = places.map(|(title, places)| of(title, &places)).collect();
    said.join("; ")
}

/// Names the programs that can be connected, as they are typed.
pub(crate) fn programs() -> String {
    connects().map(|connect| connect.name).collect::<Vec<_>>().join(", ")
}

/// Names the programs that accept an option of `anemone connect`, followed by its description.
pub(crate) fn help_of_option(option: ConnectOption, what: &str) -> String {
    let titles = connects().filter(|connect| connect.takes(option)).map(|connect| connect.title);
    format!("{}: {what}", listed(titles, "and"))
}

/// Says what each program is given.
pub(crate) fn connections() -> String {
    let is_agent = |memory: &ConnectedMemory| matches!(memory, ConnectedMemory::Agent);
    let (tools, sources): (Vec<_>, Vec<_>) =
        connects().partition(|connect| is_agent(&connect.memory));
    let hooks = tools.iter().filter(|connect| connect.takes(ConnectOption::Hooks));
    let titles = |list: &[&anemone_runtimes::connect::Connect]| {
        listed(list.iter().map(|connect| connect.title), "and")
    };
    format!(
        "Tools, from the MCP server: {}. Hooks that show the memory to each session: {}; --hooks \
         write also keeps notes of sessions, and --project limits all of it to one project. A \
         skill, and a plugin with which memory_search also finds what --source names, when it is \
         asked with corpus \"all\" or \"wiki\": {}.",
        titles(&tools),
        listed(hooks.map(|connect| connect.title), "and"),
        titles(&sources)
    )
}

/// Lists words with a word before the last one.
fn listed<'a>(words: impl Iterator<Item = &'a str>, last: &str) -> String {
    let words: Vec<&str> = words.collect();
    match words.split_last() {
        Some((end, [])) => (*end).to_owned(),
        Some((end, before)) => format!("{} {last} {end}", before.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_listed_as_people_do() {
        let list = |words: &[&'static str]| listed(words.iter().copied(), "or");
        assert_eq!(list(&[]), "");
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b"]), "a or b");
        assert_eq!(list(&["a", "b", "c"]), "a, b or c");
    }

    #[test]
    fn every_runtime_and_program_is_named() {
        for runtime in with_agents() {
            assert!(names().contains(runtime.name) && places().contains(runtime.title));
        }
        for connect in connects() {
            assert!(programs().contains(connect.name) && connections().contains(connect.title));
        }
    }
}
