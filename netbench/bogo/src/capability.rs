//! Descriptions for users of the flags that a shim does not support.

use crate::tables::rows;

/// The prefix of a shim's message that it does not implement a test.
pub(crate) const UNSUPPORTED: &str = "unsupported: ";

/// A shim's response to a flag of the runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said<'a> {
    /// The library's interface cannot express the flag.
    Refused(&'a str),
    /// The flag can be expressed, and had no effect in this test.
    Unread(&'a str),
}

impl<'a> Said<'a> {
    /// Parses a shim's message. Returns `None` if it names no flag.
    pub(crate) fn of(said: &'a str) -> Option<Self> {
        let flag = said.strip_prefix(UNSUPPORTED)?.strip_prefix("flag ")?;
        let (flag, rest) = flag.split_at(flag.find([',', ' ']).unwrap_or(flag.len()));
        Some(if rest == ", which nothing read" {
            Self::Unread(flag)
        } else {
            Self::Refused(flag)
        })
    }

    /// Returns the sentence for users.
    pub(crate) fn in_words(self) -> String {
        match self {
            Self::Refused(flag) => format!("{UNSUPPORTED}{}", capability(flag)),
            Self::Unread(flag) => format!("{UNSUPPORTED}{}, without effect here", capability(flag)),
        }
    }
}

/// Converts the message of a shim that does not implement a test: the missing capability replaces a flag.
pub(crate) fn in_words(said: String) -> String {
    Said::of(&said).map_or(said.clone(), Said::in_words)
}

/// Returns whether a shim's message is that the library does not report a property of a connection.
pub(crate) fn is_unreported(said: &str) -> bool {
    let said = said.strip_prefix(UNSUPPORTED);
    said.is_some_and(|said| said.starts_with("the library does not tell "))
}

/// Returns the capability that a flag requires.
pub(crate) fn capability(flag: &str) -> &'static str {
    let found = capabilities().find(|(_, flags)| flags.clone().any(|known| known == flag));
    found.map_or("a setting of BoringSSL's interface", |(name, _)| name)
}

/// The capabilities, each with its flags.
fn capabilities() -> impl Iterator<Item = (&'static str, std::str::Split<'static, char>)> {
    rows(include_str!("tables/capabilities.tsv")).map(|[name, flags]| (name, flags.split(' ')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_becomes_the_capability_that_it_asks_for() {
        let cases = [
            (
                "unsupported: flag -psk",
                "unsupported: pre-shared keys in TLS 1.2",
            ),
            (
                "unsupported: flag -async, which nothing read",
                "unsupported: asynchronous callbacks, without effect here",
            ),
            (
                "unsupported: flag -cipher, with a list",
                "unsupported: a list of cipher suites",
            ),
            (
                "unsupported: flag -of-tomorrow",
                "unsupported: a setting of BoringSSL's interface",
            ),
            ("unsupported: DTLS 1.3", "unsupported: DTLS 1.3"),
            ("bad signature", "bad signature"),
        ];
        for (said, words) in cases {
            assert_eq!(in_words(said.to_owned()), words);
        }
        assert_eq!(
            Said::of("unsupported: flag -psk"),
            Some(Said::Refused("-psk"))
        );
        let unread = "unsupported: flag -psk, which nothing read";
        assert_eq!(Said::of(unread), Some(Said::Unread("-psk")));
    }

    #[test]
    fn no_flag_has_two_names() {
        let flags = capabilities().flat_map(|(_, flags)| flags);
        let mut seen = std::collections::BTreeSet::new();
        for flag in flags {
            assert!(seen.insert(flag), "{flag}");
        }
    }
}
