//! Sets of words that reports and files have for a fixed set of cases.

/// Defines an enum, and the word of each of its variants.
#[macro_export]
macro_rules! word_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $word:literal, )*
        }
    ) => {
        $(#[$meta])*
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )*
        }

        impl $name {
            /// Returns the word that reports and files have for it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )*
                }
            }

            /// Returns the first variant that has a word.
            #[must_use]
            pub fn of_word(word: &str) -> Option<Self> {
                [$(Self::$variant),*].into_iter().find(|variant| variant.as_str() == word)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}
