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
                crate::named::one_of($what, text, Self::ALL)
            }
        }
    };
}

/// Reads the one of `known` that is shown as `text`, in capitals or not.
///
/// # Errors
/// There is none; the message lists what is known.
pub fn one_of<T: Copy + std::fmt::Display>(
    what: &str,
    text: &str,
    known: &[T],
) -> Result<T, String> {
    let is_meant = |value: &T| value.to_string().eq_ignore_ascii_case(text);
    known.iter().copied().find(is_meant).ok_or_else(|| {
        let known: Vec<_> = known.iter().map(ToString::to_string).collect();
        format!("unknown {what} {text:?}; {}", suggestion(text, &known))
    })
}

/// What to say of a `text` that is none of `names`: the one that was probably meant, or else all of them.
pub fn suggestion(text: &str, names: &[impl AsRef<str>]) -> String {
    let lower = text.to_lowercase();
    let edits = |name: &str| strsim::levenshtein(&lower, &name.to_lowercase());
    let near = |name: &&str| text.len() <= 64 && 2 * edits(name) < name.len().min(5);
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let mut nearest: Vec<&str> = names.iter().copied().filter(near).collect();
    nearest.sort_by_key(|name| edits(name));
    match nearest[..] {
        [name] => format!("did you mean {name:?}?"),
        [name, next, ..] if edits(name) < edits(next) => format!("did you mean {name:?}?"),
        _ => format!("expected one of {}", names.join(", ")),
    }
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
