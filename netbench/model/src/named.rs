/// An enum whose values have words: with the list of all, their words, and showing them. In JSON they
/// are the same words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $text)] $variant),+
        }

        impl $name {
            /// Every value, in the order in which they are shown; of what is offered, the most wanted first.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its word in JSON and tables; the registry's own, where it has one.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

/// As [`words`], and they can be read, in capitals or not.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident, $what:literal, { $($values:tt)+ }) => {
        crate::named::words!($(#[$doc])* $name, { $($values)+ });

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|v| v.name().eq_ignore_ascii_case(text)).ok_or_else(|| {
                    let known: Vec<_> = Self::ALL.iter().map(|v| v.name()).collect();
                    format!("unknown {} {text:?}; expected one of {}", $what, known.join(", "))
                })
            }
        }
    };
}

/// For a type that is read from text and shown as text: in JSON it is that text. Goes with
/// `#[serde(try_from = "String", into = "String")]`.
macro_rules! text_in_json {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = <$name as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    };
}

pub(crate) use {named, text_in_json, words};
