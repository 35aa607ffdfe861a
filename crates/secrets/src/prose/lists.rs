//! The words by which passwords are recognised in prose, by language.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Words that say who logs in.
pub(super) const USERS: &[&str] = &[
    "user",
    "username",
    "login",
    "log",
    "account",
    "admin",
    "root",
    "benutzer",
    "benutzername",
    "konto",
    "nutzer",
    "utilisateur",
    "identifiant",
    "compte",
    "usuario",
    "cuenta",
    "utente",
    "usuário",
    "conta",
    "gebruiker",
    "gebruikersnaam",
];

/// Words that stand between a link and its value and change nothing.
pub(super) const FILLERS: &[&str] = &[
    "now",
    "currently",
    "just",
    "still",
    "actually",
    "simply",
    "again",
    "therefore",
    "jetzt",
    "nun",
    "aktuell",
    "derzeit",
    "ahora",
    "maintenant",
    "désormais",
    "agora",
    "set",
    "to",
    "changed",
    "called",
    "the",
    "word",
    "phrase",
    "also",
    "always",
];

/// What may stand between "is" and "password".
pub(super) const OWNERS: &[&str] = &[
    "the",
    "my",
    "our",
    "your",
    "his",
    "her",
    "their",
    "a",
    "das",
    "mein",
    "unser",
    "dein",
    "ihr",
    "sein",
    "euer",
    "le",
    "mon",
    "notre",
    "votre",
    "ton",
    "son",
    "la",
    "mi",
    "tu",
    "su",
    "nuestra",
    "new",
    "old",
    "wifi",
    "wi-fi",
    "wlan",
    "router",
    "admin",
    "root",
    "database",
    "db",
    "master",
    "default",
    "current",
    "neue",
    "neues",
    "alte",
    "altes",
    "login",
    "email",
    "guest",
    "main",
    "temporary",
    "initial",
    "de",
    "du",
    "del",
];

/// After these, "to" names the new value.
pub(super) const CHANGED: &[&str] = &[
    "set",
    "reset",
    "changed",
    "change",
    "updated",
    "update",
    "rotated",
    "switched",
    "renewed",
    "geändert",
    "gesetzt",
    "geändert:",
    "cambiada",
    "cambiado",
    "cambié",
    "changé",
    "remplacé",
    "modifié",
    "switch",
    "altered",
    "alterada",
    "mudada",
    "changing",
    "setting",
];

/// What makes a compound that is no password: a password manager, a password policy.
pub(super) static NOT_ITSELF: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    "manager managers policy policies reset resets hash hashes hashing hint hints field fields file files \
     length strength generator protection protected prompt rotation expiry expires expired expiration \
     history requirement requirements recovery change changes input vault store storage box dialog form \
     page link email entry auth authentication based cracking complexity rules settings column \
     parameter argument option flag variable type check checks validation salt safe database list \
     breach leak attack spraying reuse sharing less only again before after twice must should needs \
     isn't wasn't doesn't won't cannot can't may might could would will contains includes between \
     or und oder and ou o et y strip stars validator confirm confirmation mismatch failed failure \
     wechsel manager: count counts budget budgets limit limits window usage ring rings pair pairs \
     value values name names store: management stretching derivation exchange size format bytes bucket"
        .split_whitespace()
        .collect()
});

/// What is counted, so that a number in front of it is no password.
pub(super) const UNITS: &[&str] = &[
    "characters",
    "character",
    "chars",
    "char",
    "digits",
    "digit",
    "letters",
    "days",
    "day",
    "hours",
    "minutes",
    "months",
    "years",
    "weeks",
    "seconds",
    "times",
    "users",
    "attempts",
    "bits",
    "bit",
    "bytes",
    "words",
    "zeichen",
    "stellen",
    "tage",
    "tagen",
    "stunden",
    "mal",
    "caracteres",
    "dígitos",
    "días",
    "caractères",
    "chiffres",
    "jours",
    "tokens",
    "percent",
    "%",
    "entries",
];

/// Words that hold a sentence together. No password has one of them.
pub(super) static FUNCTION_WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("../function_words.txt").split_whitespace().collect());

/// Words that say something about a password. None of them is one.
pub(super) static COMMON_WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("../common_words.txt").split_whitespace().collect());
