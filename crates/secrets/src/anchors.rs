//! Finds the places to examine: a table of three-byte pieces, one of which occurs in every secret
//! or in front of it.
//!
//! Every byte has one of 32 classes (letters without case, digits as one), so three bytes make a
//! number of 15 bits, and a bitmap of 4 KiB tells whether any rule should examine that place. The
//! table is exact enough that ordinary prose is skipped at reading speed.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::commands::{COMMANDS, Form};
use crate::kinds::{PREFIXES, Prefix};

/// What to do at an anchor.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    /// A literal with a body of known shape behind it.
    Prefix(&'static Prefix),
    /// A word of a key's name, with an assignment behind it, or a word of a sentence.
    Name(NameWord),
    /// A word that names a secret in a sentence only.
    Spoken(SpokenWord),
    /// Three digits, which may begin the number of a card.
    Card,
    /// `cvv` and the like, with three or four digits behind it.
    CardCode,
    /// `Cookie:` or `Set-Cookie:`.
    Cookie,
    /// The name of a session cookie, with an equals sign behind it.
    SessionCookie,
    /// `Authorization:` with a token of any scheme.
    Authorization,
    /// `%XX`, `\\uXXXX`, `\\xXX` or `&#NN;`: text that may read otherwise once it is decoded.
    Escape,
    /// A command that may be given a password.
    Command(&'static [Form]),
    /// A command that reads a password from a pipe.
    Piped,
    /// `identified by`, of SQL.
    IdentifiedBy,
    /// The address of a one-time password.
    OneTime,
    /// What the code for a wireless network holds.
    WifiCode,
    /// `recovery codes`, with one or more codes behind or below it.
    Codes,
    /// `log in`, with a user and a password behind it.
    LoginWith,
    /// `:5432:` and the like, in a line of a pgpass file.
    Pgpass,
    /// The lines of a PuTTY key.
    Putty,
    /// The static key of an OpenVPN connection.
    StaticKey,
    /// Three parts in base64url.
    Jwt,
    /// A private key in PEM.
    Pem,
    /// A URL that may hold a password.
    Url,
    /// `Bearer` and a token.
    Bearer,
    /// `Basic` and credentials.
    Basic,
    /// Digits and a colon.
    Telegram,
    /// A word that a Discord token may follow.
    Discord,
    /// `-us`, with a Mailchimp key in front.
    Mailchimp,
    /// `Q~`, in the middle of an Azure client secret.
    AzureSecret,
    /// `"access"` and `"refresh"` of an OAuth login.
    OauthLogin,
    /// `"auth"` of a container registry.
    RegistryAuth,
    /// `machine`, the first word of a line in a netrc file.
    Netrc,
}

/// The word in a key's name that makes its value a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameWord {
    /// token
    Token,
    /// secret
    Secret,
    /// password, passwd, passphrase, pwd
    Password,
    /// pass, pw, psk: too short to be a secret's name at any position
    Pass,
    /// key
    Key,
}

/// What a word of a sentence names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpokenWord {
    /// A password, in a language that puts spaces between words.
    Password,
    /// A password, by a word that has other meanings: pass, pw.
    Pass,
    /// A password, in Chinese or Japanese.
    Ideographic,
    /// A number that opens something.
    Pin,
    /// A user and a password.
    Login,
    /// token
    Token,
    /// secret
    Secret,
    /// key, behind a word that makes it a secret one
    Key,
}

/// A literal that a rule hangs on.
pub(crate) struct Anchor {
    pub(crate) literal: &'static [u8],
    pub(crate) rule: Rule,
    exact_case: bool,
    /// How far the last byte of its piece is behind the literal's first.
    reach: usize,
}

impl Anchor {
    /// Returns where the literal begins when its piece ends with the byte at `last`.
    pub(crate) fn start(&self, bytes: &[u8], last: usize) -> Option<usize> {
        let start = last.checked_sub(self.reach)?;
        let found = bytes.get(start..start + self.literal.len())?;
        // Most pieces are by chance, and then the first byte already differs.
        if let (Some(a), Some(b)) = (found.first(), self.literal.first())
            && a | 0x20 != b | 0x20
        {
            return None;
        }
        // Byte by byte: most literals differ in their first two, and a call costs more than that.
        let same = found
            .iter()
            .zip(self.literal)
            .all(|(a, b)| if self.exact_case { a == b } else { a.eq_ignore_ascii_case(b) });
        same.then_some(start)
    }
}

/// Bytes in a piece.
const PIECE: usize = 3;
/// Bits of a class.
const BITS: u32 = 5;
/// All pieces.
const PIECES: usize = 1 << (BITS * PIECE as u32);
/// All pairs of classes.
const PAIRS: usize = 1 << (BITS * 2);
/// No literal is longer.
pub(crate) const LONGEST_LITERAL: usize = 32;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            letter @ b'a'..=b'z' => letter - b'a' + 1,
            letter @ b'A'..=b'Z' => letter - b'A' + 1,
            b'0'..=b'9' => 27,
            b'_' => 28,
            b'-' => 29,
            b':' | b'.' => 30,
            // What escapes and addresses begin with.
            b'&' | b'%' | b'\\' | b'/' => 31,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// All anchors, by their pieces.
pub(crate) struct Anchors {
    /// One bit per piece, by its first two classes and then its last one: small enough to stay in
    /// the nearest cache.
    wanted: [u32; PAIRS],
    /// For each piece the place of its anchors in `groups`; the first group is empty.
    group: Vec<u16>,
    groups: Vec<Vec<Anchor>>,
}

impl Anchors {
    fn new() -> Self {
        let groups = vec![Vec::new()];
        Self { wanted: [0; PAIRS], group: vec![0; PIECES], groups }
    }

    fn add(&mut self, piece: usize, anchor: Anchor) {
        let group = &mut self.group[piece];
        if *group == 0 {
            *group = u16::try_from(self.groups.len()).expect("there are fewer than 65536 pieces");
            self.groups.push(Vec::new());
            self.wanted[piece >> BITS] |= 1 << (piece % 32);
        }
        self.groups[usize::from(*group)].push(anchor);
    }

    /// Calls `take` with every anchor whose piece ends in `range`, in order.
    pub(crate) fn each(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        mut take: impl FnMut(&Anchor, usize),
    ) {
        let class = |byte: u8| usize::from(CLASSES[usize::from(byte)]);
        let before = |back| range.start.checked_sub(back).map_or(0, |at| class(bytes[at]));
        // Two classes instead of one combined number, so that no byte depends on the result for the
        // one before.
        let (mut first, mut second) = (before(2), before(1));
        for (index, &byte) in bytes[range.clone()].iter().enumerate() {
            let third = class(byte);
            let pair = (first << BITS | second) % PAIRS;
            if self.wanted[pair] >> third & 1 == 1 {
                self.each_at(bytes, pair << BITS | third, range.start + index, &mut take);
            }
            (first, second) = (second, third);
        }
    }

    /// Calls `take` with the anchors of a piece that ends at `last`. Kept out of the loop, which is
    /// then small enough to be fast.
    #[inline(never)]
    fn each_at(
        &self,
        bytes: &[u8],
        piece: usize,
        last: usize,
        take: &mut impl FnMut(&Anchor, usize),
    ) {
        // Numbers are everywhere; a card begins with the first digit of one.
        let is_inside = || last.checked_sub(PIECE).is_some_and(|at| bytes[at].is_ascii_digit());
        if piece == DIGITS && is_inside() {
            return;
        }
        for anchor in &self.groups[usize::from(self.group[piece])] {
            if let Some(start) = anchor.start(bytes, last) {
                take(anchor, start);
            }
        }
    }
}

/// The piece of three digits.
const DIGITS: usize = 27 << (2 * BITS) | 27 << BITS | 27;

#[inline]
fn step(state: u32, byte: u8) -> u32 {
    state << BITS | u32::from(CLASSES[usize::from(byte)])
}

/// The anchors of every rule.
pub(crate) static ANCHORS: LazyLock<Anchors> = LazyLock::new(|| {
    let mut anchors = Anchors::new();
    let mut hang = |literal, rule, exact_case| {
        let (piece, anchor) = rarest(literal, rule, exact_case);
        anchors.add(piece, anchor);
    };
    for (literal, prefix) in prefixes().filter(|(literal, _)| literal.len() >= PIECE) {
        hang(literal, Rule::Prefix(prefix), true);
    }
    for (literal, rule) in literals(LITERALS) {
        hang(literal, rule, false);
    }
    for &(literal, forms) in COMMANDS {
        hang(literal, Rule::Command(forms), false);
    }
    for (literal, prefix) in prefixes().filter(|(literal, _)| literal.len() < PIECE) {
        // Two letters are not a piece, so they are combined with the first characters that the body
        // may have.
        for next in b"0abcdef" {
            let text = [literal.as_bytes(), &[*next]].concat();
            anchors.add(piece(&text), anchor(literal, Rule::Prefix(prefix), true, PIECE - 1));
        }
    }
    anchors.add(piece(b"00:"), anchor(":", Rule::Telegram, true, 0));
    anchors.add(piece(b"000"), anchor("", Rule::Card, true, PIECE - 1));
    for escape in [b"%00", b"%0a", b"%0b", b"%0c", b"%0d", b"%0e", b"%0f"] {
        anchors.add(piece(escape), anchor("%", Rule::Escape, true, PIECE - 1));
    }
    anchors.add(piece(b"\\x0"), anchor("\\x", Rule::Escape, true, PIECE - 1));
    anchors.add(piece(b"&#0"), anchor("&#", Rule::Escape, true, PIECE - 1));
    anchors.add(piece(b"&#x"), anchor("&#", Rule::Escape, true, PIECE - 1));
    anchors.add(piece(b"0q~"), anchor("Q~", Rule::AzureSecret, true, 1));
    anchors
});

fn prefixes() -> impl Iterator<Item = (&'static str, &'static Prefix)> {
    PREFIXES.iter().flat_map(|prefix| prefix.literals.iter().map(move |literal| (*literal, prefix)))
}

/// Takes a table apart in which the literals of a rule are separated by `|`.
fn literals(
    table: &'static [(&'static str, Rule)],
) -> impl Iterator<Item = (&'static str, Rule)> + Clone {
    table.iter().flat_map(|&(literals, rule)| literals.split('|').map(move |one| (one, rule)))
}

/// The literals of all rules but prefixes, without regard to case.
const LITERALS: &[(&str, Rule)] = &[
    ("token", Rule::Name(NameWord::Token)),
    ("secret", Rule::Name(NameWord::Secret)),
    ("password|passwd|passphrase|pwd", Rule::Name(NameWord::Password)),
    ("key", Rule::Name(NameWord::Key)),
    ("pass|psk|pw:|pw=|pw ", Rule::Name(NameWord::Pass)),
    ("passcode|passwort|kennwort|contrasena|senha|wachtwoord", Rule::Name(NameWord::Password)),
    (
        "mot de passe|mots de passe|palavra-passe|mdp|clave|pass phrase",
        Rule::Spoken(SpokenWord::Password),
    ),
    ("seed", Rule::Spoken(SpokenWord::Key)),
    (
        "safe code|vault code|locker code|pin|pin code|pin-code|access code|door code|gate code|\
         alarm code|entry code|unlock code|zugangscode|pincode|pin number|pin-nummer|geheimzahl|\
         code secret|combination",
        Rule::Spoken(SpokenWord::Pin),
    ),
    (
        "passord|passordet|adgangskode|adgangskoden|wlan-schlüssel|netzwerkschlüssel|salasana|\
         heslo",
        Rule::Spoken(SpokenWord::Password),
    ),
    ("credentials|creds|login|zugangsdaten", Rule::Spoken(SpokenWord::Login)),
    (
        "cvv|cvc|security code|codice di sicurezza|code de sécurité|cryptogramme|\
         código de seguridad|kartenprüfnummer|prüfziffer",
        Rule::CardCode,
    ),
    ("cookie", Rule::Cookie),
    ("sessid=|jsessionid=|sessionid=|connect.sid=|_session=", Rule::SessionCookie),
    ("authorization", Rule::Authorization),
    ("\\u00|&quot;", Rule::Escape),
    ("chpasswd|-stdin|sudo -S|passphrase-fd", Rule::Piped),
    ("identified by|_password by", Rule::IdentifiedBy),
    ("otpauth:", Rule::OneTime),
    ("wifi:", Rule::WifiCode),
    ("log in |login |logged in |sign in ", Rule::LoginWith),
    ("recovery code|backup code|rescue code|wiederherstellungscode", Rule::Codes),
    (":5432:|:5433:|:6432:", Rule::Pgpass),
    ("Private-Lines: ", Rule::Putty),
    ("Static key V1", Rule::StaticKey),
    ("eyJ", Rule::Jwt),
    ("PRIVATE KEY", Rule::Pem),
    ("://", Rule::Url),
    ("bearer", Rule::Bearer),
    ("basic", Rule::Basic),
    ("discord|bot", Rule::Discord),
    ("-us", Rule::Mailchimp),
    ("\"access\"|\"refresh\"", Rule::OauthLogin),
    ("\"auth\"", Rule::RegistryAuth),
    ("machine ", Rule::Netrc),
];

/// Literals with letters beyond ASCII, which have no pieces of their own. Both cases are written
/// out.
const FOREIGN: &[(&str, Rule)] = &[
    ("contraseña|Contraseña", Rule::Name(NameWord::Password)),
    (
        "密码|密碼|口令|パスワード|パスコード|暗証番号|비밀번호",
        Rule::Spoken(SpokenWord::Ideographic),
    ),
    (
        "пароль|Пароль|hasło|Hasło|lösenord|lösenordet|Lösenord|Lösenordet|şifre|Şifre|jelszó|\
         Jelszó",
        Rule::Spoken(SpokenWord::Password),
    ),
];

/// Finds all foreign literals in one pass.
pub(crate) struct ForeignAnchors {
    search: AhoCorasick,
    anchors: Vec<Anchor>,
}

pub(crate) static FOREIGN_ANCHORS: LazyLock<ForeignAnchors> = LazyLock::new(|| {
    let search = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(literals(FOREIGN).map(|(literal, _)| literal))
        .expect("a few short words make a small automaton");
    let anchors = literals(FOREIGN).map(|(literal, rule)| anchor(literal, rule, true, 0)).collect();
    ForeignAnchors { search, anchors }
});

impl ForeignAnchors {
    /// Calls `take` with every literal that ends in `range`, in order.
    pub(crate) fn each(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        mut take: impl FnMut(&Anchor, usize),
    ) {
        let from = range.start.saturating_sub(LONGEST_LITERAL);
        for found in self.search.find_iter(&bytes[from..range.end]) {
            if from + found.end() > range.start {
                take(&self.anchors[found.pattern()], from + found.start());
            }
        }
    }
}

fn anchor(literal: &'static str, rule: Rule, exact_case: bool, reach: usize) -> Anchor {
    Anchor { literal: literal.as_bytes(), rule, exact_case, reach }
}

/// Hangs a literal on the piece of it that prose holds least often.
fn rarest(literal: &'static str, rule: Rule, exact_case: bool) -> (usize, Anchor) {
    let pieces = literal.as_bytes().windows(PIECE).enumerate();
    let rarest = pieces.max_by_key(|(offset, text)| (rarity(text), usize::MAX - offset));
    let (offset, text) = rarest.expect("every literal of the tables has three bytes");
    (piece(text), anchor(literal, rule, exact_case, offset + PIECE - 1))
}

/// Pieces that prose or code is full of, though their letters are rare enough.
const COMMON_PIECES: &[&[u8]] = &[
    b"acc", b"com", b"con", b"cor", b"cre", b"cur", b"for", b"ing", b"key", b"loc", b"men", b"ock",
    b"par", b"pat", b"per", b"pre", b"pro", b"pub", b"ser", b"str", b"sub", b"use", b" us", b" by",
    b"uct", b"umb", b"urn", b"val", b"ype",
];

fn rarity(piece: &[u8]) -> usize {
    if COMMON_PIECES.iter().any(|common| common.eq_ignore_ascii_case(piece)) {
        return 1;
    }
    const BY_FREQUENCY: &[u8] = b"etaoinshrdlcumwfgypbvkjxqz";
    let letters = piece.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let digits = piece.iter().filter(|byte| byte.is_ascii_digit()).count();
    let sum: usize = piece
        .iter()
        .map(|byte| match byte {
            b'_' => 20,
            b'-' => 14,
            b'.' => 6,
            _ => BY_FREQUENCY.iter().position(|b| b.eq_ignore_ascii_case(byte)).unwrap_or(0),
        })
        .sum();
    match (letters, digits) {
        // Numbers and signs are everywhere.
        (0, _) => 0,
        (_, 0) => sum,
        // A digit inside a word is not.
        (_, _) => sum + 30,
    }
}

fn piece(text: &[u8]) -> usize {
    text.iter().fold(0, |state, &byte| step(state, byte)) as usize & (PIECES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, &'static str)> {
        let mut found = Vec::new();
        ANCHORS.each(text.as_bytes(), 0..text.len(), |anchor, start| {
            found.push((start, std::str::from_utf8(anchor.literal).unwrap()));
        });
        found
    }

    #[test]
    fn every_literal_is_found_where_it_stands() {
        let literals =
            prefixes().map(|(literal, _)| literal).chain(super::literals(LITERALS).map(|(l, _)| l));
        for literal in literals {
            let text = format!(" {literal}0");
            assert!(found(&text).contains(&(1, literal)), "{literal}");
            assert!(literal.len() <= LONGEST_LITERAL, "{literal}");
        }
        assert!(found("12345678:").contains(&(8, ":")));
        assert!(found("abc8Q~").contains(&(4, "Q~")));
    }

    #[test]
    fn prose_has_few_anchors() {
        let prose = "The quick brown fox jumps over the lazy dog, and a section was second best.";
        assert_eq!(found(prose), []);
    }
}
