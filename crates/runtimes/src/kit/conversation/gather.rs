//! Collects messages, the last one first.

use std::ops::ControlFlow;

use anemone_secrets::scan;

use super::clean::{CleanText, PrivateSections, clean, private_sections};
use super::event::{Boundary, Entrance, Event, Message, TranscriptFormat, read};
use super::{Conversation, ConversationMessage, Reach, Role};

/// A longer line is seldom a question or its answer.
const SHORT_LINE: usize = 4096;
/// A longer message is cut.
const MAX_MESSAGE_CHARS: usize = 32_000;
/// Names of sessions are cut to this.
const MAX_NAME_CHARS: usize = 200;
/// Characters of a token, as runtimes estimate it.
const TOKEN_CHARS: u64 = 4;

/// What is known of a session from elsewhere than its transcript.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionFacts {
    pub(crate) session_id: Option<String>,
    pub(crate) session_key: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) compaction_count: Option<u64>,
}

/// Gathers messages from the end of a transcript.
pub(crate) struct MessageCollector<'a> {
    formats: &'a [TranscriptFormat],
    reach: Reach,
    conversation: Conversation,
    /// What was said, the last message first.
    entries: Vec<GatheredMessage>,
    /// How many of the entries have a text.
    messages: usize,
    /// Whether all requested messages were found. Reading on then only finds what is private or
    /// secret in them.
    is_enough: bool,
    /// The tokens of the last request for which they are recorded.
    tokens: Option<u64>,
    /// Characters since then.
    characters_since: u64,
    /// Whether a compaction was found: what is read from then on does not count.
    pub(super) ended: bool,
    /// Whether any line was a line of a transcript.
    pub(super) known: bool,
    nameless: bool,
    channel: Option<&'static str>,
    typed: bool,
    scripted: bool,
    /// The two messages after the one that is read next, the earlier one first.
    following: Vec<String>,
    /// Whether a message was read before those that were asked for.
    looked_back: bool,
}

/// A message, before it is known which private sections cover it.
struct GatheredMessage {
    /// Its own text, if there is any.
    said: Option<ConversationMessage>,
    role: Role,
    /// What is left of it if an earlier message opened the section that it closes.
    behind_close: Option<String>,
    ends_open: bool,
}

impl<'a> MessageCollector<'a> {
    pub(crate) fn new(formats: &'a [TranscriptFormat], reach: Reach) -> Self {
        Self {
            formats,
            reach,
            conversation: Conversation::default(),
            entries: Vec::new(),
            messages: 0,
            is_enough: false,
            tokens: None,
            characters_since: 0,
            ended: false,
            known: false,
            nameless: false,
            channel: None,
            typed: false,
            scripted: false,
            following: Vec::new(),
            looked_back: false,
        }
    }

    /// Takes a line.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        if self.is_enough {
            return self.look_back(bytes);
        }
        let Some(line) = read(self.formats, bytes) else { return self.skip() };
        let left_out = &mut self.conversation.left_out;
        if self.conversation.session_id.is_none() {
            self.conversation.session_id = line.session_id.as_deref().map(short);
        }
        self.known |= line.event != Event::Other;
        self.nameless |= line.nameless;
        self.channel = self.channel.or(line.channel);
        self.typed |= line.entrance == Some(Entrance::Typed);
        self.scripted |= line.entrance == Some(Entrance::Scripted);
        match line.event {
            Event::Header { session_id } => {
                self.conversation.session_id = Some(short(&session_id));
            }
            Event::Tool => left_out.tools += 1,
            Event::System => left_out.system += 1,
            Event::Other => {}
            Event::Boundary { kind, id } => return self.boundary(kind, id),
            Event::Message(message) => {
                if self.tokens.is_none() {
                    self.tokens = message.tokens;
                    if self.tokens.is_some() {
                        // The characters of the answer are included in these tokens.
                        self.conversation.characters += line.characters;
                        return self.message(message);
                    }
                }
                self.count(line.characters);
                return self.message(message);
            }
        }
        self.count(line.characters);
        ControlFlow::Continue(())
    }

    /// Skips a line that cannot be read.
    pub(crate) fn skip(&mut self) -> ControlFlow<()> {
        self.conversation.left_out.undecodable += 1;
        ControlFlow::Continue(())
    }

    fn count(&mut self, characters: u64) {
        self.conversation.characters += characters;
        if self.tokens.is_none() {
            self.characters_since += characters;
        }
    }

    fn boundary(&mut self, kind: Boundary, id: String) -> ControlFlow<()> {
        match (self.reach, kind) {
            (Reach::Compaction(_), _) => {
                self.conversation.compaction = Some(id);
                self.ended = true;
                ControlFlow::Break(())
            }
            // A reset with messages after it is where the requested part begins.
            (Reach::Messages(_), Boundary::Reset) if self.messages > 0 => {
                self.conversation.reset = Some(id);
                ControlFlow::Break(())
            }
            (Reach::Messages(_), _) => ControlFlow::Continue(()),
        }
    }

    /// Reads a line before the requested messages: a section that is private there, or a password
    /// that is named there, may be repeated in them.
    fn look_back(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        // Few lines need to be read: those with a tag, a secret, or the end of what is to be read.
        let matters = |part: &[u8]| part.eq_ignore_ascii_case(b"private") || part == b"\"reset\"";
        // Questions and answers are short, and the last question may have its answer behind it.
        let may_ask = bytes.len() <= SHORT_LINE || !self.looked_back;
        if !may_ask && !bytes.windows(7).any(matters) && scan(bytes).is_empty() {
            return ControlFlow::Continue(());
        }
        match read(self.formats, bytes).map(|line| line.event) {
            Some(Event::Boundary { kind: Boundary::Reset, id }) => {
                self.conversation.reset = Some(id);
                ControlFlow::Break(())
            }
            Some(Event::Message(message)) => {
                self.conversation.secrets.learn(&message.text);
                let found = private_sections(&message.text);
                if let CleanText::Said { text, .. } = clean(&found.text) {
                    self.looked_back = true;
                    self.learn_answer(&text);
                }
                self.push(message.role, None, found);
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Continue(()),
        }
    }

    /// Learns the answer to what a message asks for from the messages after it, which were read
    /// before.
    fn learn_answer(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.conversation.secrets.learn_answer(text, &self.following);
        self.following.truncate(1);
        self.following.insert(0, text.to_owned());
    }

    fn message(&mut self, message: Message) -> ControlFlow<()> {
        let left_out = &mut self.conversation.left_out;
        left_out.tools += message.tools;
        left_out.other += message.other;
        if message.text.is_empty() {
            return ControlFlow::Continue(());
        }
        self.conversation.secrets.learn(&message.text);
        let found = private_sections(&message.text);
        left_out.private += found.sections;
        let text = self.cleaned(message.role, &found.text);
        self.learn_answer(text.as_deref().unwrap_or_default());
        let is_wanted = self.messages < self.reach.messages();
        let Message { role, at, by_owner, .. } = message;
        let said =
            text.filter(|_| is_wanted).map(|text| ConversationMessage { role, text, at, by_owner });
        self.messages += usize::from(said.is_some());
        self.push(role, said, found);
        self.is_enough =
            matches!(self.reach, Reach::Messages(_)) && self.messages >= self.reach.messages();
        ControlFlow::Continue(())
    }

    /// Returns what the speaker said in a text, and counts the rest.
    fn cleaned(&mut self, role: Role, said: &str) -> Option<String> {
        let left_out = &mut self.conversation.left_out;
        let text = match clean(said) {
            CleanText::Command if role == Role::User => {
                left_out.commands += 1;
                return None;
            }
            // An agent gives no commands.
            CleanText::Command => said.to_owned(),
            CleanText::System => {
                left_out.system += 1;
                return None;
            }
            CleanText::Nothing { injected } => {
                left_out.injected += injected;
                return None;
            }
            CleanText::Said { text, injected } => {
                left_out.injected += injected;
                text
            }
        };
        Some(text)
    }

    fn push(&mut self, role: Role, said: Option<ConversationMessage>, found: PrivateSections) {
        let PrivateSections { behind_close, ends_open, .. } = found;
        if said.is_some() || behind_close.is_some() || ends_open {
            self.entries.push(GatheredMessage { said, role, behind_close, ends_open });
        }
    }

    /// Returns the messages in order, without the text of private sections that span several
    /// messages.
    ///
    /// An unclosed section that the agent opened hides only the rest of its message, because the
    /// agent may just have mentioned the tag. One that a person opened hides everything after it.
    fn shown(&mut self) -> Vec<ConversationMessage> {
        let entries: Vec<GatheredMessage> =
            std::mem::take(&mut self.entries).into_iter().rev().collect();
        let last_close = entries.iter().rposition(|entry| entry.behind_close.is_some());
        let mut messages = Vec::new();
        let mut is_private = false;
        for (at, entry) in entries.into_iter().enumerate() {
            let said = match (is_private, entry.behind_close) {
                (false, _) => entry.said,
                (true, None) => None,
                (true, Some(behind)) => {
                    is_private = false;
                    let text = self.cleaned(entry.role, &behind);
                    entry.said.zip(text).map(|(said, text)| ConversationMessage { text, ..said })
                }
            };
            messages.extend(said);
            is_private |= entry.ends_open
                && (entry.role == Role::User || last_close.is_some_and(|close| close > at));
        }
        messages
    }

    /// Reads only the name of the session from the first line.
    pub(super) fn header(&mut self, bytes: &[u8]) {
        let Some(line) = read(self.formats, bytes) else { return };
        if let Event::Header { session_id } = line.event {
            self.conversation.session_id = Some(short(&session_id));
            self.known = true;
        }
    }

    pub(super) fn session_id(&self) -> Option<&str> {
        self.conversation.session_id.as_deref()
    }

    pub(super) fn knows_session(&self) -> bool {
        self.conversation.session_id.is_some() || self.nameless
    }

    /// Whether no line says which session it is.
    pub(super) fn is_nameless(&self) -> bool {
        self.nameless && self.conversation.session_id.is_none()
    }

    /// Returns the conversation, given the size of what counts and the other known facts.
    pub(super) fn finish(mut self, bytes: u64, held: SessionFacts) -> Conversation {
        let mut messages = self.shown();
        let mut conversation = self.conversation;
        for said in &mut messages {
            let was_cut = cut(&mut said.text);
            conversation.left_out.cut += u64::from(was_cut);
            let (text, redacted) = conversation.secrets.redact(&said.text);
            conversation.left_out.redacted += redacted;
            said.text = text.into_owned();
        }
        conversation.messages = messages;
        conversation.bytes = bytes;
        conversation.tokens_used =
            self.tokens.map(|tokens| tokens.saturating_add(self.characters_since / TOKEN_CHARS));
        let name = |text: Option<String>| text.as_deref().map(short);
        conversation.session_id = name(conversation.session_id.or(held.session_id));
        conversation.session_key = name(held.session_key);
        let known = held.source.or_else(|| self.channel.map(str::to_owned));
        conversation.source = name(known);
        conversation.compaction_count = held.compaction_count;
        conversation.is_scripted = self.scripted && !self.typed;
        conversation
    }
}

/// Makes a name that fits on a line.
fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS).collect()
}

/// Cuts a text that is too long, and says whether it was.
fn cut(text: &mut String) -> bool {
    let end = text.char_indices().nth(MAX_MESSAGE_CHARS).map(|(at, _)| at);
    end.inspect(|at| text.truncate(*at)).is_some()
}
