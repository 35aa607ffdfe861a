//! Sets of words that reports and files use for a fixed set of cases.

pub(crate) use anemone_format::word_enum;
