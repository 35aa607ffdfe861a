//! Sets of words that reports and files have for a fixed set of cases.

/// Defines an enum, and the word of each of its variants. A variant with data names the function
/// that returns the word of the data; only an enum without data can be found by its word.
#[macro_export]
macro_rules! word_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $word:literal, )*
        }
    ) => {
        $crate::word_enum! {
            @words
            $(#[$meta])*
            pub enum $name {
                $( $(#[$variant_meta])* $variant = $word, )*
            }
        }

        impl $name {
            /// Returns the first variant that has a word.
            #[must_use]
            pub fn of_word(word: &str) -> Option<Self> {
                [$(Self::$variant),*].into_iter().find(|variant| variant.as_str() == word)
            }
        }
    };
    (
        @words
        $(#[$meta:meta])*
        pub enum $name:ident {
            $(
                $(#[$variant_meta:meta])*
                $variant:ident $( ($data:ty) = $word_of:path )? $( = $word:literal )?,
            )*
        }
    ) => {
        $(#[$meta])*
        pub enum $name {
            $( $(#[$variant_meta])* $variant $( ($data) )?, )*
        }

        impl $name {
            /// Returns the word that reports and files have for it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(
                        $( Self::$variant(data) => $word_of(data), )?
                        $( Self::$variant => $word, )?
                    )*
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
    ( $($definition:tt)* ) => {
        $crate::word_enum! { @words $($definition)* }
    };
}
