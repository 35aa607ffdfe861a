//! Transcripts of each runtime, and of unknown programs.

use std::io::Write as _;
use std::path::PathBuf;

use serde_json::json;
use tempfile::TempDir;

use crate::{
    Conversation, ConversationMessage, OmittedCounts, Reach, ReadConversationError, read_transcript,
};

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn write(&self, name: &str, lines: &[String]) -> PathBuf {
        let path = self.0.path().join(name);
        fs_err::write(&path, lines.join("\n")).unwrap();
        path
    }
}

fn texts(conversation: &Conversation) -> Vec<String> {
    let said = |value: &ConversationMessage| format!("{}: {}", value.role.as_str(), value.text);
    conversation.messages.iter().map(said).collect()
}

fn openclaw(role: &str, text: &str) -> String {
    let content = json!([{ "type": "text", "text": text }]);
    json!({ "type": "message", "id": "x", "message": { "role": role, "content": content } })
        .to_string()
}

fn claude(role: &str, content: &serde_json::Value) -> String {
    json!({
        "type": role, "sessionId": "c1", "cwd": "/w", "timestamp": "2026-11-16T10:00:00Z",
        "message": { "role": role, "content": content },
    })
    .to_string()
}

#[test]
fn a_transcript_of_openclaw_gives_what_was_said() {
    let home = Home::new();
    let call = json!({ "type": "message", "message": { "role": "assistant", "content": [
        { "type": "thinking", "thinking": "hm" },
        { "type": "toolCall", "name": "x", "arguments": {} },
        { "type": "text", "text": "Looking." },
    ], "usage": { "input": 900, "output": 50, "cacheRead": 50, "totalTokens": 1000 } } });
    let path = home.write(
        "s1.jsonl",
        &[
            json!({ "type": "session", "version": 3, "id": "s1" }).to_string(),
            openclaw("user", "What about the API design?"),
            call.to_string(),
            openclaw("toolResult", "42"),
            openclaw("user", "/status"),
            openclaw("user", "<system-reminder>x</system-reminder>"),
            "no json".to_owned(),
            openclaw("user", "My key is AKIAQX3LZ7PNW4TJ6KDB, keep it."),
            openclaw("user", &"abcd".repeat(100)),
        ],
    );
    let list = r#"{"agent:main:main":{"sessionId":"s1","channel":"telegram","compactionCount":2,
        "skillsSnapshot":{}}}"#;
    fs_err::write(home.0.path().join("sessions.json"), list).unwrap();
    let found = read_transcript(&path, Reach::Messages(15)).unwrap();
    let said = texts(&found);
    assert_eq!(&said[..2], ["user: What about the API design?", "assistant: Looking."]);
    assert!(said[2].contains("[redacted:") && !said[2].contains("AKIAQX3"), "{}", said[2]);
    assert_eq!(said.len(), 4);
    assert_eq!(found.session_id.as_deref(), Some("s1"));
    assert_eq!(found.session_key.as_deref(), Some("agent:main:main"));
    assert_eq!(found.source.as_deref(), Some("telegram"));
    assert_eq!(found.compaction_count, Some(2));
    // 1,000 of the last request, and what was added since: the tool, two messages, a reminder.
    assert!((1100..1200).contains(&found.tokens_used.unwrap()), "{:?}", found.tokens_used);
    let wanted = OmittedCounts {
        commands: 1,
        injected: 1,
        tools: 2,
        other: 1,
        undecodable: 1,
        redacted: 1,
        ..OmittedCounts::default()
    };
    assert_eq!(found.left_out, wanted);
}

#[test]
fn a_transcript_of_claude_code_gives_what_was_said() {
    let home = Home::new();
    let meta = json!({ "type": "user", "isMeta": true, "sessionId": "c1",
        "message": { "role": "user", "content": "Caveat" } });
    let side = json!({ "type": "assistant", "isSidechain": true, "sessionId": "c1",
        "message": { "role": "assistant", "content": "to myself" } });
    let used = json!({ "type": "assistant", "sessionId": "c1", "message": { "role": "assistant",
        "content": [{ "type": "text", "text": "Done." }],
        "usage": { "input_tokens": 3, "cache_read_input_tokens": 15_000,
            "cache_creation_input_tokens": 100, "output_tokens": 7 } } });
    let path = home.write(
        "c1.jsonl",
        &[
            json!({ "type": "summary", "summary": "x", "leafUuid": "y" }).to_string(),
            meta.to_string(),
            claude("user", &json!("fix the build")),
            claude("user", &json!("<command-name>/clear</command-name>")),
            claude("assistant", &json!([{ "type": "tool_use", "name": "Bash", "input": {} }])),
            claude("user", &json!([{ "type": "tool_result", "content": "ok" }])),
            side.to_string(),
            used.to_string(),
        ],
    );
    let found = read_transcript(&path, Reach::Compaction(15)).unwrap();
    assert_eq!(texts(&found), ["user: fix the build", "assistant: Done."]);
    assert_eq!(found.session_id.as_deref(), Some("c1"));
    assert_eq!(found.tokens_used, Some(15_110));
    assert_eq!(found.messages[0].at.as_ref().unwrap().as_str(), "2026-11-16T10:00:00Z");
    let left_out = found.left_out;
    assert_eq!((left_out.commands, left_out.tools, left_out.system), (1, 3, 1));
}

#[test]
fn a_transcript_of_zeroclaw_is_named_by_its_file() {
    let home = Home::new();
    let path = home.write(
        "telegram_1_ann.jsonl",
        &[
            json!({ "role": "system", "content": "You are" }).to_string(),
            json!({ "role": "user", "content": "[Memory context]\n- a: b\n\nhello" }).to_string(),
            json!({ "role": "assistant", "content": "hi" }).to_string(),
        ],
    );
    let found = read_transcript(&path, Reach::Messages(15)).unwrap();
    assert_eq!(texts(&found), ["user: hello", "assistant: hi"]);
    assert_eq!(found.session_key.as_deref(), Some("telegram_1_ann"));
    assert_eq!((found.left_out.system, found.left_out.injected), (1, 1));
}

#[test]
fn only_the_end_of_a_long_transcript_is_read() {
    let home = Home::new();
    let path = home.0.path().join("long.jsonl");
    let mut file = std::io::BufWriter::new(fs_err::File::create(&path).unwrap());
    writeln!(file, "{}", json!({ "type": "session", "version": 3, "id": "long" })).unwrap();
    let tool = openclaw("toolResult", &"x".repeat(1 << 20));
    for _ in 0..40 {
        writeln!(file, "{tool}").unwrap();
    }
    for number in 0..30 {
        writeln!(file, "{}", openclaw("user", &format!("message {number}"))).unwrap();
    }
    file.flush().unwrap();
    let found = read_transcript(&path, Reach::Messages(15)).unwrap();
    assert_eq!(found.messages.len(), 15);
    assert_eq!(found.messages[0].text, "message 15");
    assert_eq!(found.session_id.as_deref(), Some("long"));
    assert_eq!(found.left_out.tools, 0, "nothing before them was read");
    let measured = read_transcript(&path, Reach::Compaction(2)).unwrap();
    assert_eq!(measured.messages.len(), 2);
    assert!(measured.bytes > 40 << 20);
    assert!(measured.left_out.tools <= 4);
}

#[test]
fn a_conversation_is_measured_from_its_last_compaction() {
    let home = Home::new();
    let lines = [
        openclaw("user", &"old ".repeat(1000)),
        json!({ "type": "compaction", "id": "k1", "summary": "s" }).to_string(),
        openclaw("user", "12345678"),
    ];
    let path = home.write("s.jsonl", &lines);
    let found = read_transcript(&path, Reach::Compaction(15)).unwrap();
    assert_eq!(texts(&found), ["user: 12345678"]);
    assert_eq!(found.compaction.as_deref(), Some("k1"));
    assert_eq!(found.bytes, lines[2].len() as u64);
    assert_eq!((found.tokens_used, found.characters), (None, 8));
    // For a note, the messages before it count as well.
    assert_eq!(read_transcript(&path, Reach::Messages(15)).unwrap().messages.len(), 2);
}

#[test]
fn what_is_no_transcript_is_said_to_be_none() {
    let home = Home::new();
    for (name, content) in [
        ("a.txt", "hello\nworld\n".as_bytes()),
        ("b.json", br#"{"a":1}"#),
        ("c.bin", &[0xff, 0xfe, 0, b'\n', 0xff]),
    ] {
        let path = home.0.path().join(name);
        fs_err::write(&path, content).unwrap();
        let error = read_transcript(&path, Reach::Messages(15)).unwrap_err();
        assert!(matches!(error, ReadConversationError::Unknown { .. }), "{name}: {error}");
    }
    for path in ["absent.jsonl", "", "/"] {
        let path = home.0.path().join(path);
        assert!(read_transcript(&path, Reach::Messages(15)).is_err());
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_a_transcript_is_read_and_a_folder_is_not() {
    let home = Home::new();
    let path = home.write("s.jsonl", &[openclaw("user", "x")]);
    let link = home.0.path().join("link.jsonl");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert_eq!(texts(&read_transcript(&link, Reach::Messages(15)).unwrap()), ["user: x"]);
    let folder = home.0.path().join("folder.jsonl");
    std::os::unix::fs::symlink(home.0.path(), &folder).unwrap();
    let error = read_transcript(&folder, Reach::Messages(15)).unwrap_err();
    assert!(matches!(error, ReadConversationError::Io { .. }));
}

#[test]
fn a_byte_order_mark_hides_no_line_and_a_blank_file_is_an_empty_transcript() {
    let home = Home::new();
    let path = home.0.path().join("c1.jsonl");
    for lines in [claude("user", &json!("hello there")), openclaw("user", "hello there")] {
        fs_err::write(&path, format!("\u{feff}{lines}\r\n")).unwrap();
        let found = read_transcript(&path, Reach::Messages(15)).unwrap();
        assert_eq!(texts(&found), ["user: hello there"]);
        assert_eq!(found.left_out.undecodable, 0);
    }
    fs_err::write(&path, "\n \r\n").unwrap();
    assert!(read_transcript(&path, Reach::Messages(15)).unwrap().messages.is_empty());
}
