//! Enums whose values have names, and hints about names that are misspelt.

/// Defines an enum whose values have words, with a list of all values and a display.
#[macro_export]
macro_rules! labels {
    ($(#[$doc:meta])* $name:ident, { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $(#[$doc])*
        pub enum $name {
            $($(#[$vdoc])* $variant),+
        }

        impl $name {
            /// Every value, in display order. Values that clients offer are in order of preference, the most preferred
            /// first.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the word of the value in JSON and tables, which is the registry's name if registered.
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

/// Defines an enum as [`labels`] does, whose JSON representation is the same words. The crate needs serde and schemars.
#[macro_export]
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $crate::named::labels!(
            #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
            $(#[$doc])*
            $name, { $($(#[$vdoc])* #[serde(rename = $text)] $variant = $text),+ }
        );
    };
}

/// Defines an enum as [`words`] does, with a parser that ignores case.
#[macro_export]
macro_rules! named {
    ($(#[$doc:meta])* $name:ident, $what:literal, { $($values:tt)+ }) => {
        $crate::named::words!($(#[$doc])* $name, { $($values)+ });

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::named::one_of($what, text, Self::ALL)
            }
        }
    };
}

/// Returns the value of `known` whose displayed text is `text`, ignoring case.
///
/// # Errors
/// No value matches. The message names the value that was probably meant, or lists all values.
pub fn one_of<T: Copy + std::fmt::Display>(
    what: &str,
    text: &str,
    known: &[T],
) -> Result<T, String> {
    let mut values = known.iter().copied();
    let found = values.find(|value| value.to_string().eq_ignore_ascii_case(text));
    found.ok_or_else(|| {
        let known: Vec<_> = known.iter().map(ToString::to_string).collect();
        format!("unknown {what} {text:?}; {}", suggestion(text, &known))
    })
}

/// Returns a hint about a `text` that is not among `names`: the name that was probably meant, or else all names.
pub fn suggestion(text: &str, names: &[impl AsRef<str>]) -> String {
    let lower = text.to_lowercase();
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let mut nearest: Vec<(usize, &str)> = names
        .iter()
        .filter(|_| text.len() <= 64)
        .map(|name| (strsim::levenshtein(&lower, &name.to_lowercase()), *name))
        .filter(|(edits, name)| 2 * edits < name.len().min(5))
        .collect();
    nearest.sort_by_key(|(edits, _)| *edits);
    match nearest[..] {
        [(_, name)] => format!("did you mean {name:?}?"),
        [(least, name), (next, _), ..] if least < next => format!("did you mean {name:?}?"),
        _ => format!("expected one of {}", names.join(", ")),
    }
}

/// Makes the displayed text of a type its JSON representation. To be used with
/// `#[serde(try_from = "String", into = "String")]`.
#[macro_export]
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

pub use {labels, named, text_in_json, words};
