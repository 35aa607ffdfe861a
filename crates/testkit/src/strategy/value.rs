//! Values that fields are made of: odd texts, times, numbers, unknown fields.

use anemone_format::{Moment, Opaque, Pairs, Unknown};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::value::RawValue;

/// Which whitespace a value may contain: a record is one line, a document is many.
#[derive(Clone, Copy, Debug)]
pub(super) enum Space {
    Line,
    Document,
}

const PLAIN: &[&str] =
    &["tea", "daily", "The blue tin is not sugar.", "记忆", "a/b", "0", "Übermut"];

const PIECES: &[&str] = &[
    "word ",
    "忆",
    "🦞",
    "👩‍💻",
    "e\u{301}",
    "\u{e9}",
    "\r\n",
    "\n",
    "\0",
    "\u{1f}",
    "\u{7f}",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\u{feff}",
    "\u{202e}",
    "\u{fffd}",
    "\u{10ffff}",
    "\"",
    "\\",
    "\\u0041",
    "</script>",
    "## ",
    "{\"id\":1}",
    " ",
];

/// Makes any text, often an odd one.
pub(super) fn text() -> BoxedStrategy<String> {
    prop_oneof![
        4 => select(PLAIN).prop_map(str::to_owned),
        2 => vec(select(PIECES), 0..8).prop_map(|pieces| pieces.concat()),
        1 => vec(any::<char>(), 0..12).prop_map(String::from_iter),
    ]
    .boxed()
}

/// Makes the path of a file in the workspace.
pub(super) fn workspace_path() -> BoxedStrategy<String> {
    const PATHS: &[&str] =
        &["MEMORY.md", "memory/2026-01-15.md", "memory/日本語 ノート.md", "\u{e9}t\u{e9}/a%5Cb"];
    select(PATHS).prop_map(str::to_owned).boxed()
}

/// Makes any text that is not empty; one in thirty is long.
pub(super) fn content() -> BoxedStrategy<String> {
    let long = (select(PIECES), 1_000..40_000_usize).prop_map(|(piece, count)| piece.repeat(count));
    let short = text().prop_map(|text| if text.is_empty() { "x".to_owned() } else { text });
    prop_oneof![29 => short, 1 => long].boxed()
}

/// Makes an optional value that is present half of the time.
pub(super) fn maybe<T: Clone + std::fmt::Debug + 'static>(
    strategy: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<Option<T>> {
    proptest::option::of(strategy).boxed()
}

/// Makes a list that is mostly empty.
pub(super) fn list<T: Clone + std::fmt::Debug + 'static>(
    strategy: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<Vec<T>> {
    prop_oneof![2 => Just(Vec::new()), 1 => vec(strategy, 1..4)].boxed()
}

/// Makes a word of a vocabulary, sometimes an unknown one.
pub(super) fn word<T>(known: &'static [&'static str]) -> BoxedStrategy<T>
where
    T: for<'a> From<&'a str> + Clone + std::fmt::Debug + 'static,
{
    prop_oneof![
        5 => select(known).prop_map(|word| T::from(word)),
        1 => text().prop_map(|word| T::from(&*word)),
    ]
    .boxed()
}

/// Makes any time from the year 1 to the year 9998, in any spelling.
pub(super) fn moment() -> BoxedStrategy<Moment> {
    let special = select(&[
        "2026-03-31T23:30:00-05:00",
        "2024-02-29T23:59:59.999999999Z",
        "0001-01-01T00:00:00Z",
        "0001-01-01T00:00:00+23:59",
        "9998-12-31T23:59:59.999999999-23:59",
        "1969-12-31T23:59:59.5Z",
        "1970-01-01T00:00:00-00:00",
        "2016-12-31T23:59:60Z",
        "2026-01-15T10:30:00.000Z",
    ]);
    let year = prop_oneof![3 => 2024..=2027_u16, 1 => 1900..=2100_u16, 1 => 1..=9998_u16];
    let date = (year, 1..=12_u8, 1..=28_u8);
    let time = (0..24_u8, 0..60_u8, 0..60_u8);
    let fraction =
        prop_oneof![2 => Just(None), 1 => (0..1_000_000_000_u32, 1..=9_usize).prop_map(Some)];
    // A space is read as well, but the official schemas refuse it.
    let separator = prop_oneof![8 => Just('T'), 1 => Just('t')];
    let offset = prop_oneof![
        4 => Just("Z".to_owned()),
        1 => Just("z".to_owned()),
        1 => Just("+00:00".to_owned()),
        3 => (select(&['+', '-']), 0..24_u8, 0..60_u8)
            .prop_map(|(sign, hours, minutes)| format!("{sign}{hours:02}:{minutes:02}")),
    ];
    let any = (date, separator, time, fraction, offset).prop_map(|(date, separator, time, fraction, offset)| {
        let (year, month, day) = date;
        let (hour, minute, second) = time;
        let fraction = fraction.map_or(String::new(), |(nanoseconds, digits)| {
            format!(".{}", &format!("{nanoseconds:09}")[..digits])
        });
        format!(
            "{year:04}-{month:02}-{day:02}{separator}{hour:02}:{minute:02}:{second:02}{fraction}{offset}"
        )
    });
    prop_oneof![1 => special.prop_map(str::to_owned), 7 => any]
        .prop_map(|text| text.parse().expect("the parts are within the bounds of RFC 3339"))
        .boxed()
}

/// Makes any count, small or huge.
pub(super) fn count() -> BoxedStrategy<u64> {
    prop_oneof![3 => 0..20_u64, 1 => any::<u64>(), 1 => Just(u64::MAX)].boxed()
}

/// Makes any number from 1.
pub(super) fn ordinal() -> BoxedStrategy<u64> {
    count().prop_map(|number| number.max(1)).boxed()
}

/// Makes any share of one, odd ones included.
pub(super) fn share() -> BoxedStrategy<f64> {
    let odd = select(&[0.0, 1.0, 0.1 + 0.2, 5e-324, 1e-7, 0.999_999_999_999_999_9]);
    prop_oneof![1 => 0.0..=1.0_f64, 1 => odd].boxed()
}

/// Makes an object used as a map.
pub(super) fn pairs<T: Clone + std::fmt::Debug + 'static>(
    value: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<Pairs<T>> {
    vec((text(), value), 0..4)
        .prop_map(|entries| {
            let mut pairs = Pairs::default();
            entries.into_iter().for_each(|(name, value)| pairs.insert(&name, value));
            pairs
        })
        .boxed()
}

/// Names that no object of the format has.
const KEYS: &[&str] = &[
    "x-mood",
    "x-new",
    "future_field",
    "",
    " ",
    "记忆",
    "ID",
    "quote\"backslash\\",
    "line\nfeed\0",
    "__proto__",
    "$serde_json::private::RawValue",
    "$serde_json::private::Number",
];

/// Makes fields of a newer version; mostly none.
pub(super) fn unknown(space: Space) -> BoxedStrategy<Unknown> {
    let fields = vec((select(KEYS), json(space)), 1..4).prop_map(|fields| {
        let mut unknown = Unknown::default();
        for (key, value) in fields {
            unknown.insert(key, &value).expect("the text was made as one JSON value");
        }
        unknown
    });
    prop_oneof![7 => Just(Unknown::default()), 1 => fields].boxed()
}

/// Makes an object of another program.
pub(super) fn opaque(space: Space) -> BoxedStrategy<Opaque> {
    object(json(space).boxed(), space)
        .prop_map(|text| {
            let raw = RawValue::from_string(text).expect("the text was made as one JSON value");
            Opaque::new(&raw).expect("the text was made as a JSON object")
        })
        .boxed()
}

const LEAVES: &[&str] = &[
    "1.50e+3",
    "12345678901234567890123",
    "-0",
    "-0.0",
    "1E-400",
    "1e400",
    "0.1000",
    "18446744073709551616",
    "null",
    "true",
    "false",
    "{}",
    "[]",
    "\"\"",
    "\"\\u00e9\\/\"",
    "\"é\"",
    "\"\\ud83e\\udd9e\"",
    "\"\\ud800\"",
    "\"\u{2028}\"",
];

/// Makes the text of a JSON value that reserialising would change.
fn json(space: Space) -> impl Strategy<Value = String> + Clone {
    let deep = format!("{}1{}", "[".repeat(90), "]".repeat(90));
    let leaf = prop_oneof![30 => select(LEAVES).prop_map(str::to_owned), 1 => Just(deep)];
    leaf.prop_recursive(3, 16, 3, move |inner| {
        prop_oneof![array(inner.clone(), space), object(inner, space)]
    })
}

fn array(inner: BoxedStrategy<String>, space: Space) -> BoxedStrategy<String> {
    (vec(inner, 0..4), gap(space), gap(space))
        .prop_map(|(items, before, after)| {
            format!("[{before}{}{after}]", items.join(&format!("{after},{before}")))
        })
        .boxed()
}

fn object(inner: BoxedStrategy<String>, space: Space) -> BoxedStrategy<String> {
    let key = select(&["\"a\"", "\"b\"", "\"\\u0061\"", "\"记忆\"", "\"\"", "\"id\""]);
    (vec((key, inner), 0..4), gap(space), gap(space))
        .prop_map(|(fields, before, after)| {
            let fields: Vec<String> = fields
                .iter()
                .map(|(key, value)| format!("{before}{key}{after}:{before}{value}{after}"))
                .collect();
            format!("{{{}{before}}}", fields.join(","))
        })
        .boxed()
}

fn gap(space: Space) -> BoxedStrategy<&'static str> {
    match space {
        Space::Line => select(&["", " ", "\t", "  \r"][..]).boxed(),
        Space::Document => select(&["", " ", "\n", "\r\n\t", "\n\n    "][..]).boxed(),
    }
}
