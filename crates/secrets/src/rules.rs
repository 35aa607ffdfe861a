//! The rules that run around an anchor.
//!
//! A rule sees a window of bytes around its anchor and nothing else, so that it finds the same in
//! a stream as in the whole. It reads no byte that the next anchor would read again, or only a
//! bounded number of them: the time stays linear whatever the input.

use std::ops::Range;

use base64::Engine as _;
use memchr::{memchr, memmem};

use crate::anchors::{Anchor, NameWord, Rule, SpokenWord};
use crate::kinds::{BodyShape, Prefix};
use crate::shape::{
    self, ALNUM, Alphabet, BASE64, BASE64_BARE, DIGITS, HEX, Texture, UNRESERVED, URL64, WORD,
    all_three, begins_after, digit_or_capital, is_placeholder, is_placeholder_body, kebab_words,
    texture,
};
use crate::{assignments, commands, encoded, headers, markup, payment, prose, tables};

/// How far before its anchor a rule may look.
pub(crate) const BEFORE: usize = 256;
/// How far behind the start of its anchor a rule may look; the longest secret fits.
pub(crate) const AFTER: usize = 64 * 1024;

/// A rule that recognises a kind of secret.
pub(crate) const MARKER: &[u8] = b"[redacted:";

/// Something that may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) kind: &'static str,
    pub(crate) range: Range<usize>,
    pub(crate) rank: Rank,
}

impl Candidate {
    /// A secret that is known by the name in front of it.
    pub(crate) const fn named(kind: &'static str, range: Range<usize>) -> Self {
        Self { kind, range, rank: Rank::Named }
    }

    /// A secret that is known by its shape, or by a name that tells whose it is.
    pub(crate) const fn shaped(kind: &'static str, range: Range<usize>) -> Self {
        Self { kind, range, rank: Rank::Shaped }
    }
}

/// How sure a rule is of the kind; of two that overlap, the surer one names the hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Known by the name it is assigned to.
    Named,
    /// Known by a name that tells whose it is, or by its shape.
    Shaped,
    /// Known by a prefix, the more so the longer that is.
    Prefixed(usize),
}

/// Looks around an anchor that begins at `at`.
pub(crate) fn check(
    window: &[u8],
    anchor: &Anchor,
    at: usize,
    depth: u8,
    found: &mut impl FnMut(Candidate),
) {
    // Digits are everywhere, so this comes first.
    if matches!(anchor.rule, Rule::Card) {
        let inside = window[..at].last().is_some_and(u8::is_ascii_digit);
        if inside || !(b'2'..=b'6').contains(&window[at]) {
            return;
        }
    }
    if inside_marker(&window[..at]) {
        return;
    }
    let end = at + anchor.literal.len();
    let candidate = match anchor.rule {
        Rule::Prefix(prefix) => {
            let candidate = prefixed(window, anchor.literal, prefix, at);
            if let Some(id) = candidate.as_ref().filter(|c| c.kind == "aws_access_key_id") {
                aws_secret_behind(window, id.range.end).into_iter().for_each(&mut *found);
            }
            candidate
        }
        Rule::Name(word) => {
            let (spoken, name) = spoken(window, word, anchor, at);
            if word == NameWord::Password {
                commands::sql_password(window, name.clone()).into_iter().for_each(&mut *found);
                commands::inserted(window, name.clone(), found);
            }
            match markup::check(window, &name, word) {
                Some(candidate) => found(candidate),
                None => assignments::check(window, name.clone(), word, found),
            }
            tables::check(window, &name, spoken, found);
            return prose::check(window, name, spoken, found);
        }
        Rule::Spoken(word) => {
            tables::check(window, &(at..end), word, found);
            return prose::check(window, at..end, word, found);
        }
        Rule::Card => payment::card(window, at),
        Rule::CardCode => payment::card_code(window, at..end),
        Rule::Cookie => return headers::cookies(window, at..end, found),
        Rule::SessionCookie => headers::session_cookie(window, at..end),
        Rule::Authorization => headers::authorization(window, at..end),
        Rule::Escape => return encoded::escaped(window, at, depth, found),
        Rule::Command(forms) => return commands::check(window, at..end, forms, found),
        Rule::Piped => commands::piped(window, at..end),
        Rule::IdentifiedBy => commands::identified_by(window, at..end),
        Rule::OneTime => one_time(window, end),
        Rule::WifiCode => wifi_code(window, end),
        Rule::Codes => return prose::codes(window, end, found),
        Rule::LoginWith => prose::login_with(window, at..end),
        Rule::Pgpass => headers::pgpass(window, at..end),
        Rule::Putty => headers::putty(window, at..end),
        Rule::StaticKey => headers::static_key(window, at..end),
        Rule::Jwt => jwt(window, at),
        Rule::Pem => pem(window, at..end),
        Rule::Url => url_password(window, at..end),
        Rule::Bearer => bearer(window, at..end),
        Rule::Basic => basic(window, at..end),
        Rule::Telegram => telegram(window, at),
        Rule::Discord => discord_behind(window, at..end),
        Rule::Mailchimp => mailchimp(window, at..end),
        Rule::AzureSecret => azure_secret(window, at),
        Rule::OauthLogin => oauth_login(window, at..end),
        Rule::RegistryAuth => registry_auth(window, end),
        Rule::Netrc => netrc(window, at..end),
    };
    let over_lines = match anchor.rule {
        Rule::Prefix(_) | Rule::Jwt => over_lines(window, anchor, at, candidate.as_ref()),
        _ => None,
    };
    candidate.into_iter().chain(over_lines).for_each(found);
}

/// Returns what the word of a name means in a sentence, and its range.
pub(crate) fn spoken(
    window: &[u8],
    word: NameWord,
    anchor: &Anchor,
    at: usize,
) -> (SpokenWord, Range<usize>) {
    // The sign behind a short name belongs to its literal.
    let is_sign = |byte: &&u8| byte.is_ascii() && !byte.is_ascii_alphabetic();
    let signs = anchor.literal.iter().rev().take_while(is_sign).count();
    let name = at..at + anchor.literal.len() - signs;
    let spoken = match word {
        NameWord::Password => SpokenWord::Password,
        NameWord::Pass if name.len() == 2 => SpokenWord::Password,
        NameWord::Pass => SpokenWord::Pass,
        NameWord::Token => SpokenWord::Token,
        NameWord::Secret => SpokenWord::Secret,
        NameWord::Key if prose::is_wifi_key(&window[..at]) => SpokenWord::Password,
        NameWord::Key => SpokenWord::Key,
    };
    (spoken, name)
}

/// Finds a token that goes on in the next line.
fn over_lines(
    window: &[u8],
    anchor: &Anchor,
    at: usize,
    whole: Option<&Candidate>,
) -> Option<Candidate> {
    if !begins_after(&window[..at], shape::URL64_DOT) {
        return None;
    }
    let joined = encoded::joined(window, at)?;
    let start = at.min(8);
    let text = &joined.text;
    let candidate = match anchor.rule {
        Rule::Prefix(prefix) => prefixed(text, anchor.literal, prefix, start),
        _ => jwt(text, start),
    }?;
    let range = joined.source(candidate.range.clone());
    // A token that is whole in its line goes on only with more of the same.
    let more = whole.is_none_or(|whole| {
        let tail =
            &text[text.len().min(candidate.range.start + whole.range.len())..candidate.range.end];
        tail.len() >= 8 && texture(tail) == Texture::Random
    });
    more.then_some(Candidate { range, ..candidate })
}

/// Whether `before` ends inside `[redacted:kind`.
fn inside_marker(before: &[u8]) -> bool {
    let name = shape::LOWER_NUM_UNDERSCORE.run_back(before, 40);
    before[..before.len() - name].ends_with(MARKER)
}

fn prefixed(
    window: &[u8],
    literal: &[u8],
    prefix: &'static Prefix,
    at: usize,
) -> Option<Candidate> {
    let before = &window[..at];
    if literal[0].is_ascii_alphanumeric()
        && !begins_after(before, prefix.alphabet)
        && !(literal.len() >= 4 && follows_word(before))
    {
        return None;
    }
    if in_base64(window, literal, prefix, at) {
        return None;
    }
    // Or a name inside a value would be taken for the next name.
    if window[..at].ends_with(b"=") && literal.ends_with(b"=") {
        return None;
    }
    let start = at + literal.len();
    let mut length = prefix.alphabet.run(&window[start..], prefix.most + 1);
    if window.get(start + length).is_some_and(|&byte| WORD.has(byte) || byte == b'+') {
        return None;
    }
    // A full stop behind a token ends the sentence.
    while length > 0 && matches!(window[start + length - 1], b'.' | b'/') {
        length -= 1;
    }
    let body = &window[start..start + length];
    if !(prefix.least..=prefix.most).contains(&length)
        || !fits(prefix.shape, body)
        || is_placeholder_body(body)
        // The names of OpenSSH for keys in hardware.
        || literal == b"sk-" && (body.starts_with(b"ecdsa-") || body.starts_with(b"ssh-"))
    {
        return None;
    }
    let begin = if prefix.literal_is_secret { at } else { start };
    let rank = match prefix.kind {
        "sk_api_key" => Rank::Shaped,
        _ => Rank::Prefixed(literal.len()),
    };
    let kind = match prefix.kind {
        // What OpenAI's keys without a further prefix have in their middle.
        "sk_api_key" if memmem::find(body, b"T3BlbkFJ").is_some() => "openai_api_key",
        kind => kind,
    };
    Some(Candidate { kind, range: begin..start + length, rank })
}

/// Whether `before` ends with a short word and a hyphen or an underscore, as in `github-ghp_`. A
/// longer run could be a token of another kind, in which such a prefix occurs by chance.
fn follows_word(before: &[u8]) -> bool {
    const MOST: usize = 24;
    let run = shape::URL64.run_back(before, MOST + 1);
    let word = &before[before.len() - run..];
    let is_plain = |byte: &u8| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_');
    run <= MOST
        && word.last().is_some_and(|byte| matches!(byte, b'-' | b'_'))
        && word.iter().all(is_plain)
}

/// Whether a short literal of letters is only inside a longer text in base64, where chance puts
/// such letters.
fn in_base64(window: &[u8], literal: &[u8], prefix: &Prefix, at: usize) -> bool {
    let by_chance = literal.len() <= 4
        && literal.iter().all(u8::is_ascii_alphanumeric)
        && prefix.alphabet.has(b'z')
        && prefix.alphabet.has(b'Z');
    by_chance && matches!(window[..at].last(), Some(b'+' | b'/'))
}

fn fits(shape: BodyShape, body: &[u8]) -> bool {
    match shape {
        BodyShape::Ordinary => digit_or_capital(body),
        BodyShape::NotWords => digit_or_capital(body) && !kebab_words(body),
        BodyShape::AllThree => all_three(body),
        BodyShape::SendGrid => parts(body, b'.', &[16..=32, 32..=64]),
        BodyShape::Airtable => parts(body, b'.', &[14..=14, 64..=64]),
        BodyShape::DiscordWebhook => {
            parts(body, b'/', &[15..=22, 40..=100]) && DIGITS.run(body, 15) == 15
        }
        BodyShape::Path => body.split(|&byte| byte == b'/').count() >= 3 && digit_or_capital(body),
        BodyShape::OnePassword => {
            body.iter().any(u8::is_ascii_digit) && body.split(|&byte| byte == b'-').count() >= 5
        }
        BodyShape::ClickUp => {
            let digits = DIGITS.run(body, 12);
            let rest = body[digits..].strip_prefix(b"_");
            (4..=12).contains(&digits)
                && rest.is_some_and(|rest| {
                    rest.len() == 32
                        && shape::UPPER_NUM.run(rest, 32) == 32
                        && digit_or_capital(rest)
                })
        }
        BodyShape::Salesforce => matches!(memchr(b'!', body), Some(12 | 15)) && all_three(body),
        BodyShape::Uuid => parts(body, b'-', &[8..=8, 4..=4, 4..=4, 4..=4, 12..=12]),
    }
}

fn parts(body: &[u8], between: u8, lengths: &[std::ops::RangeInclusive<usize>]) -> bool {
    let mut parts = body.split(|&byte| byte == between);
    lengths.iter().all(|lengths| parts.next().is_some_and(|part| lengths.contains(&part.len())))
        && parts.next().is_none()
        && digit_or_capital(body)
}

/// The secret is often beside the id, without a name.
fn aws_secret_behind(window: &[u8], from: usize) -> Option<Candidate> {
    let near = &window[from..window.len().min(from + 160)];
    find_aws_secret(near).map(|range| {
        Candidate::shaped("aws_secret_access_key", from + range.start..from + range.end)
    })
}

/// Finds 40 characters that can only be drawn by lot.
pub(crate) fn find_aws_secret(near: &[u8]) -> Option<Range<usize>> {
    runs(near, BASE64).find(|run| {
        run.len() == 40 && all_three(&near[run.clone()]) && !near[run.clone()].contains(&b'=')
    })
}

/// Yields the runs of bytes that belong to an alphabet.
fn runs(bytes: &[u8], alphabet: Alphabet) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        from += bytes[from..].iter().position(|&byte| alphabet.has(byte))?;
        let start = from;
        from += alphabet.run(&bytes[from..], usize::MAX);
        Some(start..from)
    })
}

fn jwt(window: &[u8], at: usize) -> Option<Candidate> {
    if !window[at..].starts_with(b"eyJ") || !begins_after(&window[..at], shape::URL64_DOT) {
        return None;
    }
    let mut end = at + URL64.run(&window[at..], AFTER);
    if end - at < 12 {
        return None;
    }
    let mut more = 0;
    while window.get(end) == Some(&b'.') {
        let part = URL64.run(&window[end + 1..], AFTER);
        // The key of an encrypted token may be empty; its first parts may not.
        if part < 4 && more < 2 || part == 0 {
            break;
        }
        end += 1 + part;
        more += 1;
    }
    let token = &window[at..end];
    let whole = more >= 2 && all_three(token) && !is_placeholder_body(token);
    whole.then_some(Candidate::shaped("jwt", at..end))
}

/// A private key in PEM; `word` is `PRIVATE KEY` in its first line.
fn pem(window: &[u8], word: Range<usize>) -> Option<Candidate> {
    if &window[word.clone()] != b"PRIVATE KEY" {
        return None;
    }
    let line = &window[word.start.saturating_sub(48)..word.start];
    let begin = memmem::rfind(line, b"-----BEGIN ")?;
    if line[begin + 5..].iter().any(|byte| !matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b' ')) {
        return None;
    }
    let start = word.start - (line.len() - begin);
    let pgp = window[word.end..].starts_with(b" BLOCK");
    let head = word.end + if pgp { 6 } else { 0 };
    if !window[head..].starts_with(b"-----") {
        return None;
    }
    let body = head + 5;
    let (end, closed) = match memmem::find(&window[body..], b"-----") {
        Some(dashes) if window[body + dashes + 5..].starts_with(b"END ") => {
            let label = &window[body + dashes + 9..];
            let label = &label[..label.len().min(48)];
            let close = memmem::find(label, b"-----").map_or(label.len(), |close| close + 5);
            (body + dashes + 9 + close, true)
        }
        // Cut off: what looks like the key goes.
        Some(dashes) => (body + key_lines(&window[body..body + dashes]), false),
        None => (body + key_lines(&window[body..]), false),
    };
    let end_of_body = if closed { end.min(window.len()) } else { end };
    if longest_key_run(&window[body..end_of_body]) < 40 {
        return None;
    }
    let before = &window[start.saturating_sub(40)..start];
    let kind = match () {
        () if pgp => "pgp_private_key",
        () if memmem::find(before, b"private_key\"").is_some() => "gcp_service_account_key",
        () => "pem_private_key",
    };
    Some(Candidate { kind, range: start..end, rank: Rank::Prefixed(usize::MAX) })
}

/// Returns where the lines of base64 end, whose line breaks may be escaped.
fn key_lines(body: &[u8]) -> usize {
    let mut end = 0;
    while let Some(&byte) = body.get(end) {
        let escaped = byte == b'\\' && matches!(body.get(end + 1), Some(b'n' | b'r' | b'\\'));
        if !BASE64.has(byte) && !byte.is_ascii_whitespace() && !escaped {
            break;
        }
        end += 1;
    }
    body[..end].trim_ascii_end().len()
}

fn longest_key_run(body: &[u8]) -> usize {
    runs(body, BASE64).map(|run| run.len()).max().unwrap_or(0)
}

/// A password between `://user:` and `@host`.
fn url_password(window: &[u8], sign: Range<usize>) -> Option<Candidate> {
    let scheme = ALNUM.run_back(&window[..sign.start], 20);
    if scheme < 2 {
        return None;
    }
    let rest = &window[sign.end..window.len().min(sign.end + 300)];
    let end = rest.iter().position(|&byte| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b'|')
    });
    let authority = &rest[..end.unwrap_or(rest.len())];
    let at = memchr::memrchr(b'@', authority)?;
    let (user_info, host) = (&authority[..at], &authority[at + 1..]);
    let colon = memchr(b':', user_info)?;
    let (user, password) = (&user_info[..colon], &user_info[colon + 1..]);
    let folded = password.to_ascii_lowercase();
    let stand_in = password.len() < 4
        || password.contains(&b'{')
        || password.contains(&b'$')
        || password.contains(&b']')
        || folded.starts_with(b"pass")
        || user.eq_ignore_ascii_case(password)
        || is_placeholder(password);
    let nowhere = host.is_empty() || memmem::find(host, b"example").is_some();
    if stand_in || nowhere || (password.len() < 8 && texture(password) == Texture::Plain) {
        return None;
    }
    let start = sign.end + colon + 1;
    Some(Candidate::shaped("url_password", start..start + password.len()))
}

fn bearer(window: &[u8], word: Range<usize>) -> Option<Candidate> {
    if !begins_after(&window[..word.start], WORD) {
        return None;
    }
    let start = behind_blanks(window, word.end)?;
    let mut length = shape::ANY_TOKEN.run(&window[start..], 4096);
    while length > 0 && matches!(window[start + length - 1], b'.' | b'-' | b'/') {
        length -= 1;
    }
    let value = &window[start..start + length];
    let random = texture(value) == Texture::Random;
    // In prose a word follows; in a header or behind an equals sign it is a token.
    let quotes = |byte: &u8| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'`' | b'\\' | b'*');
    let before = window[..word.start].iter().rev().take(8).find(|byte| !quotes(byte));
    let header = matches!(before, Some(b':' | b'='));
    let enough = random && length >= 16 || header && length >= 8 && texture(value) > Texture::Plain;
    (enough && !is_placeholder(value))
        .then_some(Candidate::named("bearer_token", start..start + length))
}

/// Returns where the text continues after one to four whitespace characters.
fn behind_blanks(window: &[u8], from: usize) -> Option<usize> {
    let blanks = window[from..].iter().take(5).take_while(|b| matches!(b, b' ' | b'\t')).count();
    (1..=4).contains(&blanks).then_some(from + blanks)
}

fn basic(window: &[u8], word: Range<usize>) -> Option<Candidate> {
    let before = &window[word.start.saturating_sub(24)..word.start].to_ascii_lowercase();
    memmem::find(before, b"auth")?;
    let start = behind_blanks(window, word.end)?;
    let length = BASE64.run(&window[start..], 512);
    user_and_password(&window[start..start + length])
        .then_some(Candidate::shaped("basic_auth", start..start + length))
}

/// Whether base64 contains text with a colon, followed by a password that is not a placeholder.
fn user_and_password(encoded: &[u8]) -> bool {
    let bare = encoded.iter().rposition(|&byte| byte != b'=').map_or(0, |last| last + 1);
    let Ok(text) = base64::engine::general_purpose::STANDARD_NO_PAD.decode(&encoded[..bare]) else {
        return false;
    };
    let Some(colon) = memchr(b':', &text) else { return false };
    let password = &text[colon + 1..];
    text.iter().all(|byte| (0x20..0x7f).contains(byte))
        && password.len() >= 4
        && !is_placeholder(password)
}

/// A token of a Telegram bot; `colon` is in its middle.
fn telegram(window: &[u8], colon: usize) -> Option<Candidate> {
    let digits = DIGITS.run_back(&window[..colon], 11);
    let start = colon - digits;
    // In the address of the service the word `bot` directly precedes the number.
    let glued = window[..start].ends_with(b"/bot");
    let alone = begins_after(&window[..start], URL64) && !window[..start].ends_with(b"/");
    if !(6..=10).contains(&digits) || !(glued || alone) {
        return None;
    }
    let length = URL64.run(&window[colon + 1..], 101);
    let tail = &window[colon + 1..colon + 1 + length];
    let enough = match length {
        30..=100 => tail.iter().any(u8::is_ascii_alphabetic),
        8..30 => bot_before(&window[..start]) && !kebab_words(tail),
        _ => false,
    };
    // Nearly every JPEG holds a table of the alphabet, with `456789:` before it.
    let drawn = !tail.is_sorted() && !is_placeholder_body(tail);
    (enough && digit_or_capital(tail) && drawn).then_some(Candidate {
        kind: "telegram_bot_token",
        range: start..colon + 1 + length,
        rank: Rank::Prefixed(0),
    })
}

/// Whether the last words mention a bot. Words before a closing bracket do not count: if the
/// bracket encloses a replaced secret, distances have changed.
fn bot_before(before: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(48)..];
    let near = &near[memchr::memrchr(b']', near).map_or(0, |bracket| bracket + 1)..];
    let near = near.to_ascii_lowercase();
    memmem::find(&near, b"bot").is_some() || memmem::find(&near, b"telegram").is_some()
}

/// A token of a Discord bot near a word that announces it.
fn discord_behind(window: &[u8], word: Range<usize>) -> Option<Candidate> {
    let near = &window[word.end..window.len().min(word.end + 160)];
    // Cheaper than looking for the shape; most text ends here.
    memchr(b'.', near)?;
    runs(near, shape::URL64_DOT).find(|run| is_discord_token(&near[run.clone()])).map(|run| {
        Candidate {
            kind: "discord_bot_token",
            range: word.end + run.start..word.end + run.end,
            rank: Rank::Prefixed(0),
        }
    })
}

/// Whether it is the id of a bot in base64, a time and a signature.
pub(crate) fn is_discord_token(token: &[u8]) -> bool {
    matches!(token.first(), Some(b'M' | b'N' | b'O'))
        && parts(token, b'.', &[23..=28, 6..=7, 27..=40])
        && all_three(token)
        && !is_placeholder_body(token)
}

fn mailchimp(window: &[u8], suffix: Range<usize>) -> Option<Candidate> {
    let digits = HEX.run_back(&window[..suffix.start], 33);
    let centre = DIGITS.run(&window[suffix.end..], 3);
    let end = suffix.end + centre;
    let start = suffix.start - digits;
    let alone = begins_after(&window[..start], URL64)
        && !window.get(end).is_some_and(|&byte| WORD.has(byte));
    let fits = digits == 32 && (1..=2).contains(&centre) && alone;
    (fits && !is_placeholder_body(&window[start..suffix.start]))
        .then_some(Candidate::shaped("mailchimp_api_key", start..end))
}

/// A client secret of Microsoft: three characters and a digit, `Q~`, and 31 to 34 more.
fn azure_secret(window: &[u8], at: usize) -> Option<Candidate> {
    let start = at.checked_sub(4)?;
    let tail = UNRESERVED.run(&window[at + 2..], 40);
    let range = start..at + 2 + tail;
    let fits = UNRESERVED.run(&window[start..at], 4) == 4
        && begins_after(&window[..start], UNRESERVED)
        && (31..=34).contains(&tail)
        && all_three(&window[range.clone()]);
    fits.then_some(Candidate::shaped("azure_client_secret", range))
}

/// A token of a login, in an object that says it is one.
fn oauth_login(window: &[u8], name: Range<usize>) -> Option<Candidate> {
    let range = json_string_behind(window, name.end)?;
    let value = &window[range.clone()];
    if value.len() < 8 || is_placeholder(value) || !in_oauth_object(window, &name, range.end) {
        return None;
    }
    Some(Candidate::named("oauth_login", range))
}

fn in_oauth_object(window: &[u8], name: &Range<usize>, value_end: usize) -> bool {
    let before = &window[name.start.saturating_sub(BEFORE)..name.start];
    let before = &before[memchr::memrchr2(b'{', b'}', before).unwrap_or(0)..];
    let behind = &window[value_end..window.len().min(value_end + 512)];
    let behind = &behind[..memchr(b'}', behind).unwrap_or(behind.len())];
    [before, behind].iter().any(|side| memmem::find(side, b"\"oauth\"").is_some())
}

fn registry_auth(window: &[u8], from: usize) -> Option<Candidate> {
    let range = json_string_behind(window, from)?;
    user_and_password(&window[range.clone()]).then_some(Candidate::shaped("registry_auth", range))
}

/// Returns the string behind `"name"`: a colon, whitespace and quotes around it.
fn json_string_behind(window: &[u8], from: usize) -> Option<Range<usize>> {
    let rest = &window[from..];
    let colon = rest.iter().take(8).position(|byte| !byte.is_ascii_whitespace())?;
    if rest[colon] != b':' {
        return None;
    }
    let quote = rest[colon + 1..].iter().take(8).position(|byte| !byte.is_ascii_whitespace())?;
    let start = colon + 1 + quote + 1;
    if rest[start - 1] != b'"' {
        return None;
    }
    let length = shape::ANY_TOKEN.run(&rest[start..], 4096);
    (rest.get(start + length) == Some(&b'"')).then_some(from + start..from + start + length)
}

/// `machine NAME login NAME password SECRET`, on one line.
fn netrc(window: &[u8], word: Range<usize>) -> Option<Candidate> {
    if window[..word.start].last().is_some_and(|byte| *byte != b'\n') {
        return None;
    }
    let line = &window[word.end..window.len().min(word.end + 300)];
    let line = &line[..memchr(b'\n', line).unwrap_or(line.len())];
    memmem::find(line, b" login ")?;
    let start = memmem::find(line, b" password ")? + 10;
    let length = line[start..].iter().take_while(|byte| byte.is_ascii_graphic()).count();
    let value = &line[start..start + length];
    (length >= 6 && !is_placeholder(value))
        .then_some(Candidate::shaped("netrc_password", word.end + start..word.end + start + length))
}

/// The secret of `otpauth://totp/name?secret=...`.
fn one_time(window: &[u8], from: usize) -> Option<Candidate> {
    let address = &window[from..window.len().min(from + 512)];
    let address = &address[..address.iter().position(|b| *b <= b' ').unwrap_or(address.len())];
    let start = memmem::find(address, b"secret=")? + 7;
    let length = shape::ALNUM.run(&address[start..], 128);
    (length >= 8 && !is_placeholder_body(&address[start..start + length]))
        .then_some(Candidate::shaped("one_time_secret", from + start..from + start + length))
}

/// The password of `WIFI:T:WPA;S:name;P:password;;`.
fn wifi_code(window: &[u8], from: usize) -> Option<Candidate> {
    let code = &window[from..window.len().min(from + 200)];
    if !matches!(code, [b'T' | b'S' | b'P' | b'H', b':', ..]) {
        return None;
    }
    let start = if code.starts_with(b"P:") { 2 } else { memmem::find(code, b";P:")? + 3 };
    let body = &code[start..];
    let length = body.iter().position(|byte| matches!(byte, b';' | b'\n'))?;
    (length >= 4 && !is_placeholder(&body[..length]))
        .then_some(Candidate::shaped("password", from + start..from + start + length))
}

/// Whether it is a key of WireGuard: 32 bytes in base64.
pub(crate) fn is_wireguard_key(value: &[u8]) -> bool {
    value.len() == 44 && value.ends_with(b"=") && BASE64_BARE.run(value, 44) == 43
}
