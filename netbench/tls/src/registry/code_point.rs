/// One of IANA's registries, from a table of code point, name, and for some a third column, separated by tabs. The
/// table is sorted by code point; lines that begin with `#` are comments.
pub(super) struct Registry {
    rows: Vec<Row>,
}

/// A line of a registry.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) code: u16,
    pub(super) name: &'static str,
    /// The third column, empty if the table has two columns.
    pub(super) column: &'static str,
}

impl Registry {
    pub(super) fn parse(table: &'static str) -> Self {
        let rows = table.lines().filter_map(|line| {
            let mut columns = line.split('\t');
            Some(Row {
                code: code(columns.next()?)?,
                name: columns.next()?,
                column: columns.next().unwrap_or_default(),
            })
        });
        Self {
            rows: rows.collect(),
        }
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub(super) fn row(&self, code: u16) -> Option<&Row> {
        let at = self.rows.binary_search_by_key(&code, |row| row.code).ok()?;
        self.rows.get(at)
    }

    /// Returns the code point of a name, ignoring case.
    pub(super) fn code(&self, name: &str) -> Option<u16> {
        let row = self
            .rows
            .iter()
            .find(|row| row.name.eq_ignore_ascii_case(name))?;
        Some(row.code)
    }
}

/// Parses a number in decimal or, after `0x`, hexadecimal digits.
pub(super) fn code(text: &str) -> Option<u16> {
    // The standard library's parsers accept a sign.
    if text.contains('+') {
        return None;
    }
    match text.strip_prefix("0x") {
        Some(digits) => u16::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A text that is neither a registered name nor a code point.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown {what} {text:?}; expected a registered name such as {example}, or a code point such as 0x1301"
)]
pub struct UnknownName {
    /// The kind of value: `cipher suite`.
    pub what: &'static str,
    /// The text.
    pub text: String,
    /// An example of a valid name.
    pub example: &'static str,
}

/// Defines a code point of a registry: a number with its name, in text and in JSON.
macro_rules! code_point {
    (
        $(#[$doc:meta])*
        $name:ident($code:ty), $what:literal, $table:literal, $unregistered:literal,
        { $($constant:ident = $value:literal),+ $(,)? }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub $code);

        impl $name {
            $(
                #[doc = concat!("`", stringify!($constant), "`")]
                pub const $constant: Self = Self($value);
            )+

            #[cfg(test)]
            pub(super) const CONSTANTS: &'static [(&'static str, Self)] =
                &[$((stringify!($constant), Self::$constant)),+];

            pub(super) fn registry() -> &'static $crate::registry::code_point::Registry {
                static REGISTRY: std::sync::LazyLock<$crate::registry::code_point::Registry> =
                    std::sync::LazyLock::new(|| {
                        $crate::registry::code_point::Registry::parse(include_str!(concat!("../../data/", $table)))
                    });
                &REGISTRY
            }

            /// Returns every registered value, by code point.
            pub fn registered() -> impl Iterator<Item = Self> + Clone {
                let codes = Self::registry().rows().iter().map(|row| row.code);
                codes.filter_map(|code| <$code>::try_from(code).ok()).map(Self)
            }

            /// Returns the registered name.
            pub fn name(self) -> Option<&'static str> {
                Self::registry().row(self.0.into()).map(|row| row.name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.name() {
                    Some(name) => f.pad(name),
                    None => f.pad(&format!($unregistered, self.0)),
                }
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::registry::code_point::UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                use $crate::registry::code_point::{UnknownName, code};
                let found = Self::registry().code(text).or_else(|| code(text));
                let found = found.and_then(|code| <$code>::try_from(code).ok());
                found.map(Self).ok_or_else(|| UnknownName {
                    what: $what,
                    text: text.to_owned(),
                    example: [$(Self::$constant),+][0].name().unwrap_or_default(),
                })
            }
        }

        impl From<$code> for $name {
            fn from(code: $code) -> Self {
                Self(code)
            }
        }

        impl From<$name> for $code {
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::registry::code_point::read(from, $what, |code| <$code>::try_from(code).ok().map(Self))
            }
        }

        $crate::registry::code_point::code_point_schema!($name, $what);
    };
}

/// Implements the JSON schema of a name or a number.
macro_rules! code_point_schema {
    ($name:ident, $what:literal) => {
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "description": concat!(
                        "A ", $what, ": its registered name, or its code point after 0x. A reader takes the code \
                         point as a number too."
                    ),
                    "type": ["string", "integer"]
                })
            }
        }
    };
}

/// Reads a name or a code point. `of_code` returns the value of a code point, if the type has it.
pub(super) fn read<'de, T, D>(
    from: D,
    what: &'static str,
    of_code: impl Fn(u64) -> Option<T>,
) -> Result<T, D::Error>
where
    T: std::str::FromStr<Err: std::fmt::Display>,
    D: serde::Deserializer<'de>,
{
    struct NameOrCode<T, F>(&'static str, F, std::marker::PhantomData<T>);

    impl<T, F> serde::de::Visitor<'_> for NameOrCode<T, F>
    where
        T: std::str::FromStr<Err: std::fmt::Display>,
        F: Fn(u64) -> Option<T>,
    {
        type Value = T;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "the name or the code point of a {}", self.0)
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }

        fn visit_u64<E: serde::de::Error>(self, code: u64) -> Result<T, E> {
            let unexpected = serde::de::Unexpected::Unsigned(code);
            (self.1)(code).ok_or_else(|| E::invalid_value(unexpected, &self))
        }
    }

    from.deserialize_any(NameOrCode(what, of_code, std::marker::PhantomData))
}

pub(super) use {code_point, code_point_schema};
