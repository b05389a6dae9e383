//! Advisories, from a table that is part of netbench: the network is not used.

use std::ops::Range;

use netbench_model::ship::{AdvisoryReach, ShippedAdvisory};

const TABLE: &str = include_str!("../../catalogue/ship/advisories.tsv");

/// The day on which the table was made.
pub(crate) const READ_ON: &str = "2026-11-28";

/// Returns the advisories that apply to a version of a crate.
pub(crate) fn of(name: &str, version: &str) -> Vec<ShippedAdvisory> {
    let Some(version) = numbers(library_version(name, version)) else {
        return Vec::new();
    };
    let mut advisories = Vec::new();
    for (advisory, affected) in lines().filter_map(read) {
        if advisory.name == name && affected.iter().any(|range| range.contains(&version)) {
            advisories.push(advisory);
        }
    }
    advisories
}

fn lines() -> impl Iterator<Item = &'static str> {
    TABLE.lines().filter(|line| !line.starts_with('#'))
}

/// Reads a line of the table: an advisory, and the ranges of affected versions.
fn read(line: &str) -> Option<(ShippedAdvisory, Vec<Range<[u64; 3]>>)> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [id, date, severity, name, affected, reach, title] = fields.try_into().ok()?;
    let reach = match reach {
        "client" => AdvisoryReach::Client,
        "option" => AdvisoryReach::Option,
        "other" => AdvisoryReach::Other,
        _ => return None,
    };
    let advisory = ShippedAdvisory {
        id: id.to_owned(),
        name: name.to_owned(),
        title: title.to_owned(),
        date: Some(date.to_owned()),
        severity: (severity != "-").then(|| severity.to_owned()),
        reach: Some(reach),
    };
    let affected: Option<Vec<_>> = affected.split(',').map(range).collect();
    Some((advisory, affected?))
}

/// Reads a range of versions: `3.5.0..3.5.9`.
fn range(text: &str) -> Option<Range<[u64; 3]>> {
    let (first, fixed) = text.split_once("..")?;
    Some(numbers(first)?..numbers(fixed)?)
}

/// Returns the version of the library that a crate contains: the build metadata of openssl-src is that of OpenSSL.
fn library_version<'a>(name: &str, version: &'a str) -> &'a str {
    match version.split_once('+') {
        Some((_, library)) if name == "openssl-src" => library,
        _ => version,
    }
}

/// Returns the major, minor and patch numbers. A pre-release version counts as its release; this leaves out a letter after the
/// numbers, as in OpenSSL 1.1.1w.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let core = version.split(['-', '+']).next()?;
    let core = core.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    let numbers: Result<Vec<u64>, _> = core.split('.').map(str::parse).collect();
    numbers.ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(name: &str, version: &str) -> Vec<String> {
        of(name, version).into_iter().map(|of| of.id).collect()
    }

    #[test]
    fn an_advisory_applies_to_a_range_of_versions() {
        for (name, version, expected) in [
            ("ring", "0.17.8", &["RUSTSEC-2025-0009"][..]),
            ("ring", "0.17.14", &[]),
            ("rustls", "0.23.12", &[]),
            (
                "rustls",
                "0.23.17",
                &["RUSTSEC-2024-0399", "RUSTSEC-2026-0285"],
            ),
            ("rustls", "0.23.45", &[]),
            ("rustls", "0.20.9", &["RUSTSEC-2024-0336"]),
            ("rustls", "0.22.4", &[]),
            ("openssl", "0.10.71", &["RUSTSEC-2025-0022"]),
            ("hyper", "1.0.0", &[]),
            ("hyper", "no version", &[]),
        ] {
            assert_eq!(ids(name, version), expected, "{name} {version}");
        }
    }

    /// The numbers are counted in the advisories: those that name the line and have a later fix.
    #[test]
    fn advisories_on_openssl_are_of_its_lines() {
        for (version, expected) in [
            ("300.5.5+3.5.5", 35),
            ("300.6.1+3.6.3", 13),
            ("400.0.2+4.0.3", 0),
            ("400.0.0+4.0.1", 14),
            ("111.28.2+1.1.1w", 1),
            ("300.2.3+3.2.1", 1),
        ] {
            assert_eq!(ids("openssl-src", version).len(), expected, "{version}");
        }
        let at_3_5_5 = of("openssl-src", "300.5.5+3.5.5").into_iter();
        let clients = at_3_5_5.filter(|of| of.reach == Some(AdvisoryReach::Client));
        let clients: Vec<String> = clients.map(|of| of.id).collect();
        assert_eq!(clients, ["CVE-2026-35189"]);
        assert_eq!(ids("openssl-src", "111.28.2+1.1.1w"), ["out of support"]);
    }

    #[test]
    fn every_line_of_the_table_can_be_read() {
        assert!(TABLE.contains(READ_ON));
        for line in lines() {
            let (read, affected) = read(line).expect(line);
            let prefixes = ["RUSTSEC-", "CVE-", "out of support"];
            assert!(prefixes.iter().any(|it| read.id.starts_with(it)), "{line}");
            let date = read.date.expect(line);
            assert!(date.len() == 10 && *date <= *READ_ON, "{line}");
            assert!(
                affected.iter().all(|range| range.start < range.end),
                "{line}"
            );
        }
    }
}
