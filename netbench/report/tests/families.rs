//! The families of differences: each entry of the catalogues has one, and wrong files are named with file and line.

use std::{fs, path::Path};

use netbench_bogo::TOPICS;
use netbench_report::{Families, Member};
use serde::Deserialize;
use toml::Spanned;

/// The tables of a catalogue whose entries have families.
#[derive(Deserialize)]
struct Catalogue {
    #[serde(default)]
    case: Vec<Entry>,
    #[serde(default)]
    reason: Vec<Entry>,
    #[serde(default)]
    layout: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: Spanned<String>,
}

/// Returns the entries of a catalogue that do not belong to exactly one family, each with its file and line.
fn wrong(file: &str, text: &str) -> Vec<String> {
    let entries: Catalogue = toml::from_str(text).unwrap();
    let kinds = [
        (Member::Case, entries.case),
        (Member::Chain, entries.reason),
        (Member::Store, entries.layout),
    ];
    let entries = kinds
        .into_iter()
        .flat_map(|(kind, entries)| entries.into_iter().map(move |entry| (kind, entry.name)));
    let wrong = entries.filter_map(|(kind, name)| {
        let what = Families::built_in().check(kind, name.get_ref()).err()?;
        let line = text[..name.span().start].matches('\n').count() + 1;
        Some(format!("{file}:{line}: {what}"))
    });
    wrong.collect()
}

fn catalogue(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue");
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn every_case_reason_and_layout_belongs_to_one_family() {
    for file in [
        "compat/behaviours.toml",
        "compat/certificates.toml",
        "compat/protocols.toml",
        "chains/reasons.toml",
        "chains/reasons-extensions.toml",
        "stores.toml",
    ] {
        assert_eq!(wrong(file, &catalogue(file)), Vec::<String>::new());
    }
}

#[test]
fn every_feature_and_protocol_test_belongs_to_one_family() {
    let families = Families::built_in();
    let tests = include_str!("../../../results/bogo/tests.tsv");
    let tests = tests.lines().filter_map(|line| line.split('\t').next());
    let members = TOPICS
        .iter()
        .map(|topic| (Member::Feature, topic.name))
        .chain(tests.map(|test| (Member::Defect, test)))
        // Groups of chains without a known reason.
        .chain([(Member::Chain, "unknown")]);
    let wrong: Vec<String> = members
        .filter_map(|(kind, name)| families.check(kind, name).err())
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn shares_have_a_source_with_an_address() {
    for family in &Families::built_in().all {
        for text in [&family.meets, &family.advice] {
            assert!(text.ends_with('.'), "{}: {text}", family.name);
        }
        if let Some(share) = &family.share {
            assert!(share.low_ppm <= share.high_ppm, "{}", family.name);
            assert!((2014..=2026).contains(&share.year), "{}", family.name);
            let has_address = share.source.contains("https://") || share.source.contains("arXiv:");
            assert!(has_address, "{}: {}", family.name, share.source);
        }
    }
}

/// Returns a file with one family that has this share.
fn family(share: &str) -> String {
    format!(
        "[sources.count-2020]\ntext = \"A count\"\nyear = 2020\nurl = \"https://count.example\"\n\n[[family]]\n\
         name = \"servers\"\nmeets = \"Users.\"\nadvice = \"Wait.\"\nshare = {share}\n"
    )
}

#[test]
fn wrong_families_are_named_with_file_and_line() {
    for (text, expected) in [
        (
            family("{ percent = 1, of = \"sites\" }"),
            "f.toml:10: share: source: missing",
        ),
        (
            family("{ percent = 1, of = \"sites\", source = \"none\" }"),
            "f.toml:10: share: source: there is no \"none\" in this file",
        ),
        (
            family("{ percent = \"a few\", of = \"sites\", source = \"count-2020\" }"),
            "f.toml:10: percent: expected a number or a list of two",
        ),
        (
            family("{ percent = nan, of = \"sites\", source = \"count-2020\" }"),
            "f.toml:10: share: percent: NaN is not between 0 and 100",
        ),
        (
            family("{ percent = [2, 1], of = \"sites\", source = \"count-2020\" }"),
            "f.toml:10: share: percent: the range ends before it begins",
        ),
        (
            family("{ percent = 1, source = \"count-2020\" }"),
            "f.toml:10: share: of: missing",
        ),
        (
            family("{ population = \"sites on the moon\" }"),
            "f.toml:10: share: population: there is no such kind",
        ),
        (
            "[[family]]\nname = \"servers\"\n".to_owned(),
            "f.toml:1: missing field `meets`",
        ),
    ] {
        let error = Families::read("f.toml", &text).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let good = family("{ percent = [1, 2.5], of = \"sites\", source = \"count-2020\" }");
    let read = Families::read("f.toml", &good).unwrap();
    let share = read.all[0].share.as_ref().unwrap();
    assert_eq!((share.low_ppm, share.high_ppm), (10_000, 25_000));
}

#[test]
fn a_case_of_no_family_is_named_with_file_and_line() {
    let text = "# New servers.\n\n[[case]]\nname = \"version/1.3-alone\"\n\n[[case]]\nname = \"moon/full\"\n";
    assert_eq!(
        wrong("moon.toml", text),
        ["moon.toml:7: the case \"moon/full\" belongs to no family"]
    );
    let twice = "[[family]]\nname = \"a\"\nmeets = \"A.\"\nadvice = \"A.\"\ncases = [\"moon/*\"]\n\n[[family]]\nname = \"b\"\n\
                 meets = \"B.\"\nadvice = \"B.\"\ncases = [\"moon/full\"]\n";
    let families = Families::read("f.toml", twice).unwrap();
    assert_eq!(
        families.check(Member::Case, "moon/full").unwrap_err(),
        "the case \"moon/full\" belongs to several families: a, b"
    );
}
