//! A macro that makes a strategy for a struct out of strategies for its fields.

/// Makes a strategy for a struct: `build!(Names { primary: text(), nickname: maybe(text()) })`.
///
/// Strategies for tuples stop at twelve parts, so that the parts are nested in pairs.
macro_rules! build {
    ($name:ident { $($field:ident: $strategy:expr),* $(,)? }) => {
        $crate::strategy::build::build!(@strategies $($strategy,)*)
            .prop_map(|$crate::strategy::build::build!(@pattern $($field)*)| $name { $($field),* })
            .boxed()
    };
    (@strategies $head:expr, $($tail:expr,)*) => {
        ($head, $crate::strategy::build::build!(@strategies $($tail,)*))
    };
    (@strategies) => { proptest::strategy::Just(()) };
    (@pattern $head:ident $($tail:ident)*) => {
        ($head, $crate::strategy::build::build!(@pattern $($tail)*))
    };
    (@pattern) => { () };
}

pub(super) use build;
