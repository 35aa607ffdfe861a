//! The words that OpenClaw looks for when a whole question finds too little.
//!
//! Words of up to two Latin letters are never looked for, so the lists do not have them.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::script;

/// Words of all languages except Korean without meaning of their own.
static WEAK: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "
    about above after ago agora ahora ajuda amanhã and antes anything are ayer ayuda
    because been before being below between but can com como con could cuando cuándo cómo
    del depois despues después did does donde during dónde earlier ela elas ele eles ellas
    ellos entre esa ese essa esse esta estar este everything favor fazer find foi for foram
    from fue fueron get give haber hacer had has have help hoje how hoy into just las later
    los mas may mañana meu might minha nos nosotras nosotros nothing now nós onde ontem
    our over para pero please por porque porqué porquê quando que qué quê recentemente
    recently recientemente ser she should show sobre something son stuff são tell tener ter
    that the them then these they thing things this those through today tomorrow tus uma
    umas una unas under unos uns usted ustedes você vocês was were what when where which
    while who why will with would yesterday you your é أصبح أنا أو أين إلى
    ال الآن الى اليوم امس ب بالأمس بعد بل بين تكون
    تلك ثم ذلك ساعد صار على عن غدا فضلا في قبل ك كان
    كانت كيف ل لكن لماذا مؤخرا ماذا متى مع ممكن من
    نحن هذا هذه هل هم هنا هناك هو هي و يكون يمكن あそこ
    あの ある あれ いつ いる から ここ こと この これ さっき
    しかし した して する そこ そして その それ ため だけ できる
    です でも どう どこ どれ なぜ なる の ます また まで もの より
    与 东西 为什么 之前 之后 也 了 事 事情 什么 今 今天 今日 他
    他们 以前 以后 会 但 但是 何 你 你们 做 再 刚才 到 前 去 又 只
    可以 吗 吧 呀 告诉 呢 和 哪个 哪些 啊 啦 嘛 因为 在 地 多少 她
    如果 它 就 帮 帮忙 後 得 怎么 想 我 我们 或 所以 才 找 把 明天
    明日 昨天 昨日 是 最近 有 来 现在 用 的 看 着 给 而 能 虽然 被
    要 誰 让 说 请 过 还 这 这个 这些 那 那个 那些 都
    "
    .split_whitespace()
    .collect()
});

/// Korean words without meaning of their own; also checked without their particle.
static WEAK_KOREAN: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "
    가 가다 같이 거 거기 것 곳 과 그 그것 그녀 그들 그래서 그러나
    그러면 그런데 그리고 까지 께 나 나는 나를 나중 내가 내일 너
    너무 누구 는 대로 더 도 되다 등 때 또 또는 로 를 마다 만 많이
    매우 무엇 뭐 밖에 보다 부탁 부터 분 수 아까 아니다 아주 어디
    어떤 어떻게 어제 언제 없다 에 에게 에서 여기 오늘 오다 와 왜
    우리 으로 은 을 의 이 이것 이다 있다 잘 저 저것 저기 저희 전에
    정말 제발 좀 주다 중 지금 처럼 최근 하다 하지만 한테
    "
    .split_whitespace()
    .collect()
});

/// What follows a Korean noun, the longer ones first.
const PARTICLES: [&str; 25] = [
    "에서", "으로", "에게", "한테", "처럼", "같이", "보다", "까지", "부터", "마다", "밖에", "대로",
    "은", "는", "이", "가", "을", "를", "의", "에", "로", "와", "과", "도", "만",
];

static JAPANESE_RUN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[a-z0-9_]+|[\u{30a0}-\u{30ff}]+|[\u{4e00}-\u{9fff}]+|[\u{3040}-\u{309f}]{2,}")
        .expect("a fixed pattern")
});
static BETWEEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[\p{White_Space}\u{feff}\p{P}&&[^\u{85}]]+").expect("a fixed pattern")
});
static SIGNS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[\p{P}\p{S}]+$").expect("a fixed pattern"));

const fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}')
}

const fn is_kana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}')
}

const fn is_syllable(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7af}')
}

/// Returns the words to look for, each once, in the order of the query.
pub(super) fn keywords(query: &str) -> Vec<String> {
    let lower = script::trimmed(query).to_lowercase();
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut take = |token: &str| {
        if says_something(token) && !seen.contains(token) {
            seen.insert(token.to_owned());
            found.push(token.to_owned());
        }
    };
    for segment in BETWEEN.split(&lower).filter(|segment| !segment.is_empty()) {
        split(segment, &mut take);
    }
    found
}

/// Takes a segment apart by its script.
fn split(segment: &str, take: &mut impl FnMut(&str)) {
    if segment.contains(is_kana) {
        for run in JAPANESE_RUN.find_iter(segment) {
            take(run.as_str());
            if run.as_str().starts_with(is_ideograph) {
                pairs(&run.as_str().chars().collect::<Vec<_>>(), take);
            }
        }
    } else if segment.contains(is_ideograph) {
        let ideographs: Vec<char> = segment.chars().filter(|&c| is_ideograph(c)).collect();
        for c in &ideographs {
            take(c.encode_utf8(&mut [0; 4]));
        }
        pairs(&ideographs, take);
    } else if segment.contains(|c| is_syllable(c) || matches!(c, '\u{3131}'..='\u{3163}')) {
        let stem = PARTICLES
            .iter()
            .find_map(|particle| segment.strip_suffix(particle).filter(|stem| !stem.is_empty()));
        let weak_stem = stem.is_some_and(|stem| WEAK_KOREAN.contains(stem));
        if !weak_stem {
            take(segment);
        }
        if let Some(stem) = stem.filter(|stem| !weak_stem && is_stem(stem)) {
            take(stem);
        }
    } else {
        take(segment);
    }
}

/// Neighbouring characters, two by two.
fn pairs(characters: &[char], take: &mut impl FnMut(&str)) {
    for pair in characters.windows(2) {
        take(&pair.iter().collect::<String>());
    }
}

/// Whether what is left without a particle can be a word.
fn is_stem(stem: &str) -> bool {
    if stem.contains(is_syllable) {
        script::units(stem) >= 2
    } else {
        stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    }
}

fn says_something(token: &str) -> bool {
    let short_word = token.len() < 3 && token.bytes().all(|byte| byte.is_ascii_alphabetic());
    let number = token.bytes().all(|byte| byte.is_ascii_digit());
    !short_word
        && !number
        && !WEAK.contains(token)
        && !WEAK_KOREAN.contains(token)
        && !SIGNS.is_match(token)
}
