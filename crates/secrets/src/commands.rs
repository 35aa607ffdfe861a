//! Passwords in command lines, and in statements of SQL.

use std::ops::Range;

use memchr::memmem;

use crate::prose;
use crate::rules::Candidate;
use crate::shape::is_placeholder;

/// Longest command line that is read.
const LINE: usize = 512;
/// How much of a statement of SQL is read.
const INSERT: usize = 4096;
/// Most words of a command line that are read.
const WORDS: usize = 48;

/// How a command is given a password.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// `-p VALUE`, also with an equals sign.
    Option(&'static str),
    /// `-pVALUE`.
    Glued(&'static str),
    /// `-u user:VALUE` with a sign of its own, also glued.
    Behind(&'static str, u8),
    /// Any word `pass:VALUE` with this beginning.
    Word(&'static str),
    /// The argument of this number, not counting options.
    Argument(usize),
    /// `user/VALUE@host`, as the first argument.
    Login,
    /// The argument behind `\\server\share`.
    BehindShare,
    /// `NAME VALUE`, where the name is that of a secret.
    Setting,
}

use Form::{Argument, Behind, BehindShare, Glued, Login, Option as Given, Setting, Word};

/// Commands that take passwords, by the words they begin with. The names of options keep their
/// case: `-p` is a password where `-P` is a port.
pub(crate) const COMMANDS: &[(&str, &[Form])] = &[
    ("curl ", &[Behind("-u", b':'), Behind("--user", b':'), Behind("--proxy-user", b':')]),
    ("wget ", &[Given("--password"), Given("--http-password"), Given("--ftp-password")]),
    ("sshpass ", &[Given("-p"), Glued("-p")]),
    ("docker login", &[Given("-p"), Given("--password")]),
    ("podman login", &[Given("-p"), Given("--password")]),
    ("registry login", &[Given("-p"), Given("--password")]),
    ("oc login", &[Given("-p"), Given("--password"), Given("--token")]),
    ("az login", &[Given("-p"), Given("--password")]),
    ("mysql ", &[Glued("-p"), Given("--password")]),
    ("mysqldump ", &[Glued("-p"), Given("--password")]),
    ("mysqladmin ", &[Glued("-p"), Given("--password")]),
    ("mysqlimport ", &[Glued("-p"), Given("--password")]),
    ("mariadb ", &[Glued("-p"), Given("--password")]),
    ("mariadb-dump ", &[Glued("-p"), Given("--password")]),
    ("mongosh ", &[Given("-p"), Given("--password")]),
    ("mongodump ", &[Given("-p"), Given("--password")]),
    ("mongorestore ", &[Given("-p"), Given("--password")]),
    ("redis-cli ", &[Given("-a"), Given("--pass")]),
    ("sqlcmd ", &[Given("-P"), Glued("-P")]),
    ("sqlplus ", &[Login]),
    ("ldapsearch ", &[Given("-w")]),
    ("ldapadd ", &[Given("-w")]),
    ("ldapmodify ", &[Given("-w")]),
    ("smbclient ", &[Behind("-U", b'%'), Behind("--user", b'%')]),
    ("lftp ", &[Behind("-u", b',')]),
    ("net use ", &[BehindShare]),
    ("net user ", &[Argument(1)]),
    ("cmdkey ", &[Word("/pass:")]),
    ("xfreerdp ", &[Word("/p:")]),
    ("rdesktop ", &[Given("-p")]),
    ("wpa_passphrase ", &[Argument(1)]),
    ("wpa-psk ", &[Argument(0)]),
    ("requirepass ", &[Argument(0)]),
    ("masterauth ", &[Argument(0)]),
    ("nmcli ", &[Given("password")]),
    ("openssl ", &[Word("pass:")]),
    ("openssl enc ", &[Given("-k"), Given("-K")]),
    ("openssl aes-", &[Given("-k"), Given("-K")]),
    ("keytool ", &[Given("-storepass"), Given("-keypass")]),
    ("htpasswd -", &[Argument(2)]),
    ("7z a ", &[Glued("-p")]),
    ("7z x ", &[Glued("-p")]),
    ("unrar ", &[Glued("-p")]),
    ("unzip ", &[Given("-P")]),
    ("configure set ", &[Setting]),
    ("npm config set ", &[Setting]),
    ("git config ", &[Setting]),
];

/// Reads the command line that begins at `command`.
pub(crate) fn check(
    window: &[u8],
    command: Range<usize>,
    forms: &[Form],
    found: &mut impl FnMut(Candidate),
) {
    let before = window[..command.start].last();
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
        return;
    }
    let literal = &window[command.clone()];
    let is_batch = literal.eq_ignore_ascii_case(b"htpasswd -");
    // The flags of such a command belong to its words.
    let from = command.end - usize::from(is_batch);
    let line = line(window, from);
    let words: Vec<Range<usize>> = words(line).take(WORDS).collect();
    let text = |word: &Range<usize>| &line[word.clone()];
    if is_batch && !words.first().is_some_and(|flags| text(flags).contains(&b'b')) {
        return;
    }
    // An option of Windows, without which two words behind `net user` may well be a sentence.
    let has_switch = words
        .iter()
        .any(|word| matches!(text(word), [b'/', letter, ..] if letter.is_ascii_alphabetic()));
    let mut take = |value: Range<usize>, is_sure: bool| {
        let bytes = &line[value.clone()];
        let is_made_up = || str::from_utf8(bytes).is_ok_and(prose::is_made_up);
        if is_password(bytes) && (is_sure || is_made_up()) {
            let range = from + value.start..from + value.end;
            found(Candidate::named("password", range));
        }
    };
    let behind = |word: &Range<usize>, name: &str| {
        let rest = text(word).strip_prefix(name.as_bytes())?;
        Some(word.end - rest.len()..word.end)
    };
    // The first argument is the name, even after options.
    let setting = words.iter().position(|word| !text(word).starts_with(b"-"));
    for form in forms {
        for (at, word) in words.iter().enumerate() {
            let next = words.get(at + 1).cloned();
            match *form {
                Given(name) if text(word) == name.as_bytes() => {
                    if let Some(value) = next {
                        take(value, true);
                    }
                }
                Given(name) => {
                    let value = behind(word, name).filter(|rest| text(rest).starts_with(b"="));
                    if let Some(value) = value {
                        take(unquoted(line, value.start + 1..value.end), true);
                    }
                }
                Glued(name) => {
                    if let Some(value) = behind(word, name) {
                        take(unquoted(line, value), true);
                    }
                }
                Word(name) => {
                    if let Some(value) = behind(word, name) {
                        take(value, true);
                    }
                }
                Behind(name, sign) => {
                    let value = match behind(word, name) {
                        Some(rest) if rest.is_empty() => next,
                        Some(rest) if name.starts_with("--") => {
                            Some(rest.start + 1..rest.end).filter(|_| text(&rest).starts_with(b"="))
                        }
                        rest => rest,
                    };
                    let Some(value) = value.filter(|value| !value.is_empty()) else { continue };
                    let cut = memchr::memchr(sign, text(&value));
                    if let Some(cut) = cut.filter(|cut| *cut > 0) {
                        take(value.start + cut + 1..value.end, true);
                    }
                }
                BehindShare if text(word).starts_with(b"\\\\") => {
                    if let Some(value) = next {
                        take(value, has_switch);
                    }
                }
                Setting if Some(at) == setting && is_secret_setting(text(word)) => {
                    if let Some(value) = next {
                        take(value, true);
                    }
                }
                Login if at == 0 => {
                    let end =
                        memchr::memchr(b'@', text(word)).map_or(word.end, |at| word.start + at);
                    let cut = memchr::memchr(b'/', &line[word.start..end]);
                    if let Some(cut) = cut.filter(|cut| *cut > 0) {
                        take(word.start + cut + 1..end, end < word.end);
                    }
                }
                BehindShare | Setting | Login | Argument(_) => {}
            }
        }
        if let Argument(number) = *form {
            let is_switch = |word: &&Range<usize>| matches!(text(word).first(), Some(b'-' | b'/'));
            // A path is an argument where the options have dashes.
            let is_option = |word: &&Range<usize>| {
                if is_batch { text(word).starts_with(b"-") } else { is_switch(word) }
            };
            if let Some(value) = words.iter().filter(|word| !is_option(word)).nth(number) {
                let is_sure = has_switch || !literal.eq_ignore_ascii_case(b"net user ");
                take(value.clone(), is_sure);
            }
        }
    }
}

/// Finds text that is piped into a command that reads a password: `echo PASSWORD | command`.
pub(crate) fn piped(window: &[u8], command: Range<usize>) -> Option<Candidate> {
    let before = &window[command.start.saturating_sub(160)..command.start];
    let before = &before[memchr::memrchr(b'\n', before).map_or(0, |at| at + 1)..];
    let pipe = memchr::memrchr(b'|', before)?;
    let (echo, length) = [&b"echo "[..], b"printf "]
        .iter()
        .find_map(|echo| memmem::rfind(&before[..pipe], echo).map(|at| (at, echo.len())))?;
    let start = command.start - before.len() + echo + length;
    let line = &window[start..command.start - before.len() + pipe];
    let mut value = words(line).find(|word| !line[word.clone()].starts_with(b"-"))?;
    if window[command].eq_ignore_ascii_case(b"chpasswd") {
        value.start += memchr::memchr(b':', &line[value.clone()])? + 1;
    }
    is_password(&line[value.clone()])
        .then_some(Candidate::named("password", start + value.start..start + value.end))
}

/// Finds the password of `CREATE USER x IDENTIFIED BY 'password'`.
pub(crate) fn identified_by(window: &[u8], words: Range<usize>) -> Option<Candidate> {
    let before = window[words.start.saturating_sub(200)..words.start].to_ascii_lowercase();
    let of_user = [&b"create user"[..], b"alter user", b"create role", b"alter role", b"grant "]
        .iter()
        .any(|verb| memmem::find(&before, verb).is_some());
    if !of_user {
        return None;
    }
    let rest = &window[words.end..window.len().min(words.end + LINE)];
    let gap = rest.iter().take(8).take_while(|byte| byte.is_ascii_whitespace()).count();
    let at = words.end + gap;
    let range = match sql_string(window, at) {
        Some(range) => range,
        // Oracle takes a bare word.
        None => {
            let ends = |byte: &u8| !byte.is_ascii_graphic() || matches!(byte, b';' | b',' | b')');
            let length = rest[gap..].iter().position(ends).unwrap_or(rest.len() - gap);
            at..at + length
        }
    };
    is_password(&window[range.clone()]).then_some(Candidate::named("password", range))
}

/// Finds the password of `ALTER ROLE x PASSWORD 'password'` and `PASSWORD('password')`; `name` is
/// the word.
pub(crate) fn sql_password(window: &[u8], name: Range<usize>) -> Option<Candidate> {
    let rest = &window[name.end..window.len().min(name.end + 8)];
    let gap = rest.iter().take_while(|byte| matches!(byte, b' ' | b'(')).count();
    let range = (gap > 0).then(|| sql_string(window, name.end + gap)).flatten()?;
    let before = window[name.start.saturating_sub(128)..name.start].to_ascii_lowercase();
    let verbs = [&b"create "[..], b"alter ", b"set password", b" login", b" encrypted", b"grant "];
    let is_statement = verbs.iter().any(|verb| memmem::find(&before, verb).is_some());
    (is_statement && is_password(&window[range.clone()]))
        .then_some(Candidate::named("password", range))
}

/// Finds the values of a column in `INSERT INTO t (name, password) VALUES ('x', 'y')`; `name` is in
/// the name of the column.
pub(crate) fn inserted(window: &[u8], name: Range<usize>, found: &mut impl FnMut(Candidate)) {
    let before = window[name.start.saturating_sub(200)..name.start].to_ascii_lowercase();
    let Some(open) = memchr::memrchr(b'(', &before) else { return };
    if memmem::find(&before[..open], b"insert into").is_none() {
        return;
    }
    let column = memchr::memchr_iter(b',', &before[open..]).count();
    let end = window.len().min(name.end + INSERT);
    let rest = &window[name.end..end];
    let Some(close) = memchr::memchr(b')', rest) else { return };
    let is_column = matches!(rest[0], b',' | b')' | b' ' | b'`' | b'"' | b']' | b'\'' | b'\\');
    let behind = &rest[close + 1..];
    let Some(values) =
        memmem::find(&behind[..behind.len().min(32)].to_ascii_lowercase(), b"values")
    else {
        return;
    };
    if !is_column {
        return;
    }
    let mut at = name.end + close + 1 + values;
    let (mut depth, mut number) = (0, 0);
    while at < end {
        if let Some(range) = sql_string(window, at) {
            at = range.end + usize::from(window[range.end] == b'\\') + 1;
            if depth == 1 && number == column && is_password(&window[range.clone()]) {
                found(Candidate::named("password", range));
            }
            continue;
        }
        match window[at] {
            b'(' => {
                number = if depth == 0 { 0 } else { number };
                depth += 1;
            }
            b')' => depth -= 1,
            b',' if depth == 1 => number += 1,
            b';' if depth == 0 => return,
            _ => {}
        }
        at += 1;
    }
}

/// Returns the text in SQL quotes that open at `at`.
fn sql_string(window: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = &window[at.min(window.len())..window.len().min(at + 128)];
    let slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
    let quote = *rest.get(slashes).filter(|byte| matches!(byte, b'\'' | b'"'))?;
    let body = &rest[slashes + 1..];
    let length = body.iter().position(|byte| *byte == quote || *byte == b'\n')?;
    let text = &body[..length];
    let text = text.strip_suffix(b"\\").unwrap_or(text);
    let start = at + slashes + 1;
    (body[length] == quote).then_some(start..start + text.len())
}

/// Whether the name of a setting is that of a secret.
fn is_secret_setting(name: &[u8]) -> bool {
    let folded = name.to_ascii_lowercase();
    ["secret", "token", "password", "apikey", "api_key"]
        .iter()
        .any(|word| memmem::find(&folded, word.as_bytes()).is_some())
}

/// Whether the value of an option is a password, and not a variable, another option or a
/// placeholder.
fn is_password(value: &[u8]) -> bool {
    value.len() >= 4
        && value.iter().all(|byte| *byte >= b' ')
        && !matches!(value[0], b'-' | b'$' | b'<' | b'/' | b'@' | b'\\' | b'%')
        && memmem::find(value, b"$(").is_none()
        && memmem::find(value, b"${").is_none()
        && memmem::find(value, b"{{").is_none()
        && !is_placeholder(value)
}

/// Returns the rest of the line, which may be one of a JSON string or of inline code.
fn line(window: &[u8], from: usize) -> &[u8] {
    let line = &window[from.min(window.len())..window.len().min(from + LINE)];
    let line =
        &line[..line.iter().position(|b| matches!(b, b'\n' | b'\r' | b'`')).unwrap_or(line.len())];
    &line[..memmem::find(line, b"\\n")
        .filter(|at| !line[..*at].ends_with(b"\\"))
        .unwrap_or(line.len())]
}

/// Takes the quotes off a value.
fn unquoted(line: &[u8], value: Range<usize>) -> Range<usize> {
    let quote = |byte: &&u8| matches!(byte, b'"' | b'\'' | b'\\');
    let text = &line[value.clone()];
    let front = text.iter().take_while(quote).count();
    let back = text[front..].iter().rev().take_while(quote).count();
    value.start + front..value.end - back
}

/// Yields the words of a command line, without the quotes around them, up to the next command.
fn words(line: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        from += line[from..].iter().position(|byte| !blank(byte))?;
        let rest = &line[from..];
        if matches!(rest[0], b'|' | b';' | b'>' | b'<') || rest.starts_with(b"&&") {
            return None;
        }
        let slashes = rest.iter().take(2).take_while(|byte| **byte == b'\\').count();
        let quote = rest.get(slashes).filter(|byte| matches!(byte, b'"' | b'\''));
        if let Some(quote) = quote.filter(|_| slashes < 2) {
            let start = from + slashes + 1;
            let length = line[start..].iter().position(|byte| byte == quote)?;
            let text = &line[start..start + length];
            let text = text.strip_suffix(b"\\").unwrap_or(text);
            from = start + length + 1;
            return Some(start..start + text.len());
        }
        let length = rest.iter().position(blank).unwrap_or(rest.len());
        let start = from;
        from += length;
        let word = &rest[..length];
        let kept = word.iter().rposition(|byte| !matches!(byte, b';' | b',' | b')' | b'"'));
        Some(start..start + kept.map_or(0, |last| last + 1))
    })
}
