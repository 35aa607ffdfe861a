//! How somebody would type what is searched, for the commands that we suggest.

use std::path::Path;

use super::SourceChoice;

impl SourceChoice {
    /// Returns the arguments that name what is searched, each behind a space.
    pub fn words(&self, source: Option<&Path>) -> String {
        let mut words = String::new();
        let mut add = |flag: &str, value: Option<String>| {
            if let Some(value) = value {
                words.push_str(flag);
                words.push(' ');
                words.push_str(&quoted(&value));
            }
        };
        let text = |path: &Path| path.display().to_string();
        add("", source.map(text));
        add(" -r", self.agent.runtime.clone());
        add(" -w", self.agent.workspace.as_deref().map(text));
        add(" --agent", self.agent.agent.clone());
        add(" --index-dir", self.index_dir.as_deref().map(text));
        if self.sessions {
            words.push_str(" --sessions");
        }
        if self.private {
            words.push_str(" --private");
        }
        words
    }
}

/// Quotes a word where a shell would not leave it as it is.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@%+=,".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::AgentChoice;

    #[test]
    fn what_is_searched_is_named_as_a_shell_takes_it() {
        let agent = AgentChoice { runtime: None, workspace: None, agent: None };
        let mut args = SourceChoice { agent, sessions: false, private: false, index_dir: None };
        assert_eq!(args.words(None), "");
        assert_eq!(args.words(Some(Path::new("notes/a.md"))), " notes/a.md");
        args.agent.workspace = Some("it's mine".into());
        args.index_dir = Some("own".into());
        args.private = true;
        assert_eq!(args.words(None), " -w 'it'\\''s mine' --index-dir own --private");
    }
}
