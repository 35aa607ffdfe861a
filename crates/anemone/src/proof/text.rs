//! Compares texts, whatever headings, tags and comments a runtime adds to them.

/// Says whether a text equals another one but for an added heading, tag and comments, which a
/// runtime with Markdown memories adds.
pub(super) fn holds(native: &str, text: &str) -> bool {
    let (native, text) = (native.trim(), text.trim());
    native == text
        || equals_but_labels(native, text)
        || without_tagged_title(native).is_some_and(|native| equals_but_labels(&native, text))
        || is_row_of(native, text)
}

/// Returns a text without the tagged line below its heading, if that line repeats the heading: a
/// text that starts with a list or has several paragraphs cannot have a tag in its own first line.
fn without_tagged_title(native: &str) -> Option<String> {
    let heading = native.lines().next()?.trim_start_matches('#').trim();
    let repeats = |line: &&str| is_tag(line) && without_labels(line) == heading;
    let title = native.lines().find(repeats)?;
    let (before, after) = native.split_once(title)?;
    (!after.trim().is_empty()).then(|| [before, after].concat())
}

fn equals_but_labels(native: &str, text: &str) -> bool {
    let mut wanted = text.lines().peekable();
    // Empty lines may follow what was added, and precede the first line.
    let mut after_added = true;
    let mut started = false;
    for line in native.lines() {
        let next = wanted.peek().map(|line| line.trim_end());
        let bare = line.trim_end();
        if next == Some(bare) || next.is_some_and(|next| without_labels(bare) == next.trim_start())
        {
            wanted.next();
            (started, after_added) = (true, false);
            continue;
        }
        let blank = bare.trim().is_empty();
        let added = (!started && bare.starts_with('#')) || is_comment(bare) || is_tag(bare);
        if !(added || (blank && (after_added || next.is_none()))) {
            return false;
        }
        after_added |= added;
    }
    wanted.all(|line| line.trim().is_empty())
}

/// Says whether a table has a text as a row: on one line, with bars between its cells.
pub(super) fn is_row_of(native: &str, text: &str) -> bool {
    if !native.lines().any(|line| line.trim_start().starts_with('|')) {
        return false;
    }
    let joined = |text: &str| {
        let mut joined = String::from(" ");
        for word in words(text) {
            joined.push_str(word);
            joined.push(' ');
        }
        joined
    };
    let mut bare = String::with_capacity(native.len());
    let mut rest = native;
    while let Some((before, comment)) = rest.split_once("<!--") {
        bare.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, rest)| rest);
    }
    bare.push_str(rest);
    joined(&bare).contains(&joined(text))
}

/// Returns the words of a text: whitespace and the bars of a table separate them.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| c.is_whitespace() || matches!(c, '|' | '\\'));
    parts.filter(|word| !word.is_empty())
}

pub(super) fn is_comment(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("<!--") && line.ends_with("-->")
}

/// Says whether a line starts with a tag such as `- [decision|i=0.9]`.
pub(super) fn is_tag(line: &str) -> bool {
    let tag = line.trim_start().strip_prefix("- [").and_then(|rest| rest.split_once(']'));
    tag.is_some_and(|(tag, _)| tag.contains("|i="))
}

/// Returns a line without the tag before it and the comment behind it.
pub(super) fn without_labels(line: &str) -> &str {
    let mut line = line.trim();
    if is_tag(line) {
        line = line.split_once(']').map_or(line, |(_, rest)| rest.trim_start());
    }
    if line.ends_with("-->")
        && let Some(start) = line.rfind("<!--")
    {
        line = line[..start].trim_end();
    }
    line
}
