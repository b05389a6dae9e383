//! Cases as data: a TOML file with a table for each.

use std::{
    collections::{BTreeMap, HashSet},
    ops::Range,
    sync::LazyLock,
};

use jiff::Timestamp;
use netbench_model::suggestion;
use serde::{Deserialize, de::DeserializeOwned};
use toml::Spanned;

use crate::case::{Case, CaseSpec};

/// The built-in catalogue.
pub const BUILT_IN: &str = concat!(
    include_str!("../../catalogue/compat/certificates.toml"),
    include_str!("../../catalogue/compat/protocols.toml"),
    include_str!("../../catalogue/compat/behaviours.toml"),
    include_str!("../../catalogue/compat/ech.toml"),
);

/// The cases of the built-in catalogue; their chains have not been made.
static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let cases: Vec<CaseSpec> = entries("case", BUILT_IN);
    cases.into_iter().map(Case::from).collect()
});

/// Returns all cases of the built-in catalogue.
pub(crate) fn built_in() -> &'static [Case] {
    &CASES
}

/// Reads a file of the source that has tables with only this name.
///
/// # Panics
/// Panics if the file is wrong, which a test finds.
pub(crate) fn entries<T: DeserializeOwned>(table: &str, text: &str) -> Vec<T> {
    #[expect(clippy::expect_used, reason = "it is in the source, and tested")]
    let mut file: BTreeMap<String, Vec<T>> = toml::from_str(text).expect("the file can be read");
    file.remove(table).unwrap_or_default()
}

/// An error in a line of a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct LineError {
    /// The line, from 1.
    pub line: usize,
    /// The error, with the name of the field.
    pub what: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File<T> {
    case: Vec<Spanned<T>>,
}

/// Reads the tables of a catalogue, each with its line.
pub(crate) fn tables<T: DeserializeOwned>(text: &str) -> Result<Vec<(usize, T)>, LineError> {
    let file: File<T> = toml::from_str(text).map_err(|error| LineError {
        line: line(text, error.span()),
        what: explained(text, &error),
    })?;
    let tables = file.case.into_iter();
    Ok(tables
        .map(|table| (line(text, Some(table.span())), table.into_inner()))
        .collect())
}

/// Reads a catalogue, and tests whether the chain of each case can be made.
///
/// # Errors
/// Returns the first error in the catalogue.
pub fn catalogue(text: &str) -> Result<Vec<Case>, LineError> {
    let now = Timestamp::now();
    let mut names = HashSet::new();
    let mut cases = Vec::new();
    for (line, spec) in tables::<CaseSpec>(text)? {
        let case = Case::from(spec);
        check(&case, &mut names, now).map_err(|what| LineError { line, what })?;
        cases.push(case);
    }
    if cases.is_empty() {
        return Err(LineError {
            line: 1,
            what: "there is no case in it".to_owned(),
        });
    }
    Ok(cases)
}

/// Checks a case, and tests whether its chain can be made.
fn check(case: &Case, names: &mut HashSet<String>, now: Timestamp) -> Result<(), String> {
    let name = &case.record.name;
    if name.is_empty() || name.len() > 80 || !name.bytes().all(is_of_name) {
        let what = "name: small letters, digits, hyphens and slashes, at most 80 of them";
        return Err(what.to_owned());
    }
    if !names.insert(name.clone()) {
        return Err(format!("name: there is another case \"{name}\""));
    }
    if let Some(header) = case.spec.client.wrong_header() {
        return Err(format!("client.headers: {header:?} is no header"));
    }
    let server = case.server(now).map(drop);
    server.map_err(|error| format!("case \"{name}\": {error}"))
}

pub(crate) fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-/.".contains(&byte)
}

fn line(text: &str, span: Option<Range<usize>>) -> usize {
    let start = span.map_or(0, |span| span.start).min(text.len());
    let before = &text.as_bytes()[..start];
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

/// Explains an error in one line: the field, the error, and for an unknown field the field that was probably meant.
fn explained(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().trim().replace('\n', " ");
    let written = text.lines().nth(line(text, error.span()) - 1);
    let field = written.and_then(|line| line.split_once('='));
    let field = field.map(|(field, _)| field.trim());
    if let Some((unknown, known)) = message.split_once(", expected one of ") {
        let known: Vec<&str> = known
            .split(", ")
            .map(|name| name.trim_matches('`'))
            .collect();
        let name = unknown.split('`').nth(1).unwrap_or_default();
        let suggestion = suggestion(name, &known);
        return match field {
            Some(field) if unknown.starts_with("unknown variant") => {
                format!("{field}: {unknown}; {suggestion}")
            }
            _ => format!("{unknown}; {suggestion}"),
        };
    }
    match field {
        Some(field) if !message.contains(&format!("`{field}`")) => format!("{field}: {message}"),
        _ => message,
    }
}
