//! Advisories, from a table that is part of netbench: the network is not used.

use netbench_model::ship::ShippedAdvisory;

const TABLE: &str = include_str!("../../catalogue/ship/advisories.tsv");

/// The day on which the table was made.
pub(crate) const READ_ON: &str = "2026-11-22";

/// Returns the advisories that apply to a version of a crate.
pub(crate) fn of(name: &str, version: &str) -> Vec<ShippedAdvisory> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let [id, of, from, fixed, title] = fields(line)?;
            let version = numbers(version)?;
            let is_later = fixed != "-" && version >= numbers(fixed)?;
            (of == name && version >= numbers(from)? && !is_later).then(|| ShippedAdvisory {
                id: id.to_owned(),
                name: name.to_owned(),
                title: title.to_owned(),
            })
        })
        .collect()
}

fn fields(line: &str) -> Option<[&str; 5]> {
    let fields: Vec<&str> = line.split('\t').collect();
    fields.try_into().ok()
}

/// Returns the major, minor and patch numbers. A pre-release version counts as its release.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let core = version.split(['-', '+']).next()?;
    let numbers: Result<Vec<u64>, _> = core.split('.').map(str::parse).collect();
    numbers.ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_advisory_applies_to_a_range_of_versions() {
        let ids = |name: &str, version: &str| {
            let found = of(name, version).into_iter();
            found.map(|advisory| advisory.id).collect::<Vec<_>>()
        };
        assert_eq!(ids("ring", "0.17.8"), ["RUSTSEC-2025-0009"]);
        assert_eq!(ids("ring", "0.17.14"), Vec::<String>::new());
        assert_eq!(ids("rustls", "0.23.12"), Vec::<String>::new());
        assert_eq!(ids("rustls", "0.23.17"), ["RUSTSEC-2024-0399"]);
        assert_eq!(ids("openssl", "0.10.71"), ["RUSTSEC-2025-0022"]);
        assert_eq!(ids("hyper", "1.0.0"), Vec::<String>::new());
    }

    #[test]
    fn every_line_of_the_table_can_be_read() {
        assert!(TABLE.contains(READ_ON));
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let [id, _, from, fixed, _] = fields(line).expect(line);
            assert!(id.starts_with("RUSTSEC-"), "{line}");
            assert!(numbers(from).is_some(), "{line}");
            assert!(fixed == "-" || numbers(fixed).is_some(), "{line}");
        }
    }
}
