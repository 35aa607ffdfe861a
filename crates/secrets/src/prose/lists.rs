//! The words by which passwords are recognised in prose, by language.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Words of a list; they are folded to lower case.
type WordSet = LazyLock<HashSet<&'static str>>;

/// Splits a list of words at whitespace.
fn set(words: &'static str) -> HashSet<&'static str> {
    words.split_whitespace().collect()
}

/// Words that say who logs in.
pub(super) static USERS: WordSet = WordSet::new(|| {
    set("user username login log account admin root benutzer benutzername konto nutzer \
         utilisateur identifiant compte usuario cuenta utente usuário conta gebruiker \
         gebruikersnaam")
});

/// Words between a link and its value that do not change the meaning.
pub(super) static FILLERS: WordSet = WordSet::new(|| {
    set("now currently just still actually simply again therefore jetzt nun aktuell derzeit \
         ahora maintenant désormais agora set to changed called the word phrase also always")
});

/// Words that may be between "is" and "password".
pub(super) static OWNERS: WordSet = WordSet::new(|| {
    set("the my our your his her their a das mein unser dein ihr sein euer le mon notre votre \
         ton son la mi tu su nuestra new old wifi wi-fi wlan router admin root database db \
         master default current neue neues alte altes login email guest main temporary initial \
         de du del")
});

/// After these, "to" names the new value.
pub(super) static CHANGED: WordSet = WordSet::new(|| {
    set("set reset changed change updated update rotated switched renewed geändert gesetzt \
         geändert: cambiada cambiado cambié changé remplacé modifié switch altered alterada \
         mudada changing setting")
});

/// What makes a compound that is no password: a password manager, a password policy.
pub(super) static NOT_ITSELF: WordSet = WordSet::new(|| {
    set(
        "manager managers policy policies reset resets hash hashes hashing hint hints field fields file files \
     length strength generator protection protected prompt rotation expiry expires expired expiration \
     history requirement requirements recovery change changes input vault store storage box dialog form \
     page link email entry auth authentication based cracking complexity rules settings column \
     parameter argument option flag variable type check checks validation salt safe database list \
     breach leak attack spraying reuse sharing less only again before after twice must should needs \
     isn't wasn't doesn't won't cannot can't may might could would will contains includes between \
     or und oder and ou o et y strip stars validator confirm confirmation mismatch failed failure \
     wechsel manager: count counts budget budgets limit limits window usage ring rings pair pairs \
     value values name names store: management stretching derivation exchange size format bytes bucket",
    )
});

/// What is counted, so that a number in front of it is no password.
pub(super) static UNITS: WordSet = WordSet::new(|| {
    set("characters character chars char digits digit letters days day hours minutes months \
         years weeks seconds times users attempts bits bit bytes words zeichen stellen tage \
         tagen stunden mal caracteres dígitos días caractères chiffres jours tokens percent % \
         entries")
});

/// Words that hold a sentence together. No password has one of them.
pub(super) static FUNCTION_WORDS: WordSet =
    WordSet::new(|| set(include_str!("../function_words.txt")));

/// Words that say something about a password. None of them is one.
pub(super) static COMMON_WORDS: WordSet = WordSet::new(|| set(include_str!("../common_words.txt")));
