//! The names of months, so that a date in a question meets the date of a note.

/// The names in English, from January.
const ENGLISH: &str =
    "january february march april may june july august september october november december";

/// Names in other languages and short ones, folded, from January.
const OTHERS: [&str; 12] = [
    "jan januar janvier enero janeiro gennaio januari tammikuu tammikuuta stycznia styczen ocak \
     januar ianuarie januara января январь январе січня січень يناير ιανουαριου ιανουαριοσ",
    "feb febr februar fevrier febrero fevereiro febbraio februari helmikuu helmikuuta lutego luty \
     subat februarie февраля февраль феврале лютого лютий فبراير φεβρουαριου φεβρουαριοσ",
    "mar marz mars marzo marco maart maaliskuu maaliskuuta marca marzec mart marcius martie maret \
     марта март марте березня березень مارس μαρτιου μαρτιοσ",
    "apr avril abril aprile huhtikuu huhtikuuta kwietnia kwiecien nisan aprilis aprilie \
     апреля апрель апреле квітня квітень ابريل απριλιου απριλιοσ",
    "mai mayo maio maggio mei maj toukokuu toukokuuta maja mayis majus \
     мая май мае травня травень مايو μαιου μαιοσ",
    "jun juni juin junio junho giugno kesakuu kesakuuta czerwca czerwiec haziran junius iunie \
     июня июнь июне червня червень يونيو ιουνιου ιουνιοσ",
    "jul juli juillet julio julho luglio heinakuu heinakuuta lipca lipiec temmuz julius iulie \
     июля июль июле липня липень يوليو ιουλιου ιουλιοσ",
    "aug aout agosto augustus augusti elokuu elokuuta sierpnia sierpien agustos augusztus \
     августа август августе серпня серпень اغسطس αυγουστου αυγουστοσ",
    "sep sept septembre septiembre setembro settembre syyskuu syyskuuta wrzesnia wrzesien eylul \
     szeptember septembrie сентября сентябрь сентябре вересня вересень سبتمبر σεπτεμβριου",
    "oct okt oktober octobre octubre outubro ottobre lokakuu lokakuuta pazdziernika pazdziernik \
     ekim octombrie октября октябрь октябре жовтня жовтень اكتوبر οκτωβριου",
    "nov novembre noviembre novembro marraskuu marraskuuta listopada listopad kasim noiembrie \
     ноября ноябрь ноябре листопада листопад نوفمبر νοεμβριου",
    "dec dez des dezember decembre diciembre dezembro dicembre joulukuu joulukuuta grudnia grudzien \
     aralik decembrie desember декабря декабрь декабре грудня грудень ديسمبر δεκεμβριου",
];

/// Returns the English name of a month, counted from one.
pub(super) fn name(month: i8) -> &'static str {
    let place = usize::try_from(month).unwrap_or_default().saturating_sub(1);
    ENGLISH.split(' ').nth(place).unwrap_or_default()
}

/// Returns the English name of the month that a folded word names. Beside a number, names in other
/// languages and short ones count: alone they may be anything (`mars`, `mar`).
pub(super) fn of_word(folded: &str, number: bool) -> Option<&'static str> {
    let place = ENGLISH.split(' ').position(|name| name == folded).or_else(|| {
        let names = |names: &str| names.split_ascii_whitespace().any(|name| name == folded);
        number.then(|| OTHERS.iter().position(|name| names(name)))?
    })?;
    ENGLISH.split(' ').nth(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_known_by_many_names() {
        for (word, month) in [
            ("mai", "may"),
            ("mayo", "may"),
            ("мая", "may"),
            ("marz", "march"),
            ("dezember", "december"),
            ("jan", "january"),
            ("july", "july"),
        ] {
            assert_eq!(of_word(word, true), Some(month), "{word}");
        }
        assert_eq!(of_word("mars", false), None);
        assert_eq!(of_word("january", false), Some("january"));
        assert_eq!(name(5), "may");
        assert_eq!(name(13), "");
    }
}
