use std::{collections::BTreeMap, sync::LazyLock};

use jiff::{civil::Date, fmt::strtime};

const CATALOGUE: &str = include_str!("../../../catalogue/releases.toml");

static DATES: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| toml::from_str(CATALOGUE).unwrap_or_default());

/// Returns the release date of a library that is described by its name and version, such as `rustls 0.23.46`, possibly
/// followed by its provider. OpenSSL states the date in its version text.
pub(super) fn released(library: &str) -> Option<Date> {
    stated(library).or_else(|| {
        let mut words = library.split_whitespace();
        let version = [words.next()?, words.next()?.trim_end_matches(',')].join(" ");
        DATES.get(&version)?.parse().ok()
    })
}

/// Returns the first date of a text in the format `27 Jan 2026`.
fn stated(text: &str) -> Option<Date> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .windows(3)
        .find_map(|date| parse_date(&date.join(" ")))
}

fn parse_date(text: &str) -> Option<Date> {
    let text = text.trim_end_matches(',');
    strtime::parse("%d %b %Y", text).ok()?.to_date().ok()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn a_date_is_in_the_version_or_in_the_catalogue() {
        for (library, expected) in [
            ("OpenSSL 3.5.5 27 Jan 2026", Some(date(2026, 1, 27))),
            ("OpenSSL 1.1.1w  11 Sep 2023", Some(date(2023, 9, 11))),
            (
                "OpenSSL 3.0.8 7 Feb 2023, hyper-openssl 0.10.2",
                Some(date(2023, 2, 7)),
            ),
            ("rustls 0.23.46", Some(date(2026, 10, 14))),
            ("rustls 0.20.9, ring 0.16.20", Some(date(2023, 8, 28))),
            ("rustls 0.23.4", None),
            ("rustls", None),
            ("", None),
        ] {
            assert_eq!(released(library), expected, "{library}");
        }
    }

    #[test]
    fn every_date_of_the_catalogue_is_read() {
        assert_eq!(DATES.len(), 12);
        for version in DATES.keys() {
            assert!(released(version).is_some(), "{version}");
        }
    }
}
