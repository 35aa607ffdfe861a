//! The options that a user would type to name a search target.

use std::path::Path;

use anemone::connect::quoted;
use anemone::search::target::TargetChoice;

/// Returns the arguments that name what is searched, each behind a space.
#[must_use]
pub fn target_words(choice: &TargetChoice) -> String {
    let mut words = String::new();
    let mut add = |flag: &str, value: Option<String>| {
        if let Some(value) = value {
            words.push_str(flag);
            words.push(' ');
            words.push_str(&quoted(&value));
        }
    };
    let text = |path: &Path| path.display().to_string();
    add("", choice.path.as_deref().map(text));
    add(" -r", choice.agent.runtime.clone());
    add(" -w", choice.agent.workspace.as_deref().map(text));
    add(" --agent", choice.agent.agent.clone());
    add(" --index-dir", choice.index_dir.as_deref().map(text));
    if choice.sessions {
        words.push_str(" --sessions");
    }
    if choice.private {
        words.push_str(" --private");
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_searched_is_named_as_a_shell_takes_it() {
        let mut choice = TargetChoice::default();
        assert_eq!(target_words(&choice), "");
        choice.path = Some("notes/a.md".into());
        assert_eq!(target_words(&choice), " notes/a.md");
        choice.path = None;
        choice.agent.workspace = Some("it's mine".into());
        choice.index_dir = Some("own".into());
        choice.private = true;
        assert_eq!(target_words(&choice), " -w 'it'\\''s mine' --index-dir own --private");
    }
}
