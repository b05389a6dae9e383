//! The command lines of the help and of the documents, each of which the command must accept.

use std::{ffi::OsString, fs, path::Path};

use clap::{
    Command, CommandFactory,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::Netbench;
use crate::usage;

/// A command line, with the place where it is written.
struct Example {
    place: String,
    line: String,
}

impl Example {
    fn new(place: &str, line: &str) -> Self {
        Self {
            place: place.to_owned(),
            line: line.to_owned(),
        }
    }
}

/// The completeness of an example's arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whole {
    /// All arguments: a reader copies the example.
    Yes,
    /// Perhaps not: sentences leave out values, as in `netbench runs report`.
    No,
}

fn of_help(command: &Command, path: &str, found: &mut Vec<Example>) {
    let name = format!("{path} {}", command.get_name());
    let after = command.get_after_help().map(ToString::to_string);
    for line in after.unwrap_or_default().lines() {
        if let Some(start) = line.find("netbench ").filter(|_| line.starts_with("  ")) {
            // The explanation of the example follows after two spaces.
            let line = line[start..].split("  ").next().unwrap_or_default();
            found.push(Example::new(&format!("the help of{name}"), line));
        }
    }
    for below in command.get_subcommands() {
        of_help(below, &name, found);
    }
}

/// Collects the command lines in a document's code blocks and those in its sentences.
fn of_document(path: &Path, blocks: &mut Vec<Example>, sentences: &mut Vec<Example>) {
    let text = fs::read_to_string(path).expect("a document");
    let (mut in_block, mut number) = (false, 0);
    for line in text.lines() {
        number += 1;
        let place = format!("{}:{number}", path.display());
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if in_block || line.starts_with("    ") {
            let line = line.trim_start().trim_start_matches("$ ");
            let line = line.trim_start_matches("- ").trim_start_matches("run: ");
            if line.starts_with("netbench ") {
                blocks.push(Example::new(&place, line));
            }
        } else {
            let code = line.split('`').skip(1).step_by(2);
            let lines = code.filter(|code| code.starts_with("netbench "));
            sentences.extend(lines.map(|line| Example::new(&place, line)));
        }
    }
}

/// Returns the words of a shell's line up to a comment, a pipe or the next command, or `None` if the line is not whole.
fn words(line: &str) -> Option<Vec<OsString>> {
    let mut words: Vec<String> = Vec::new();
    let (mut word, mut quote): (Option<String>, Option<char>) = (None, None);
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (None, '#') if word.is_none() => break,
            (None, '|' | ';' | '>' | '<' | '&') => break,
            (None, '\\') if characters.peek().is_none() => return None,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote
        .is_none()
        .then(|| words.iter().map(OsString::from).collect())
}

/// Returns the parser's error for an example, if there is one.
fn fault(example: &Example, whole: Whole) -> Option<String> {
    let words = words(&example.line)?;
    // A command in general, as in `netbench COMMAND --help`.
    let named = words
        .get(1)
        .map(|word| word.to_string_lossy().into_owned())?;
    // The heading of a report is `netbench connect: RUN` or `netbench runs explain: RUN`.
    let is_heading = words
        .iter()
        .skip(1)
        .take(2)
        .any(|word| word.to_string_lossy().ends_with(':'));
    if is_heading || named.chars().all(|c| c.is_ascii_uppercase()) || named == "…" {
        return None;
    }
    let words = usage::joined(&Netbench::command(), words);
    let error = Netbench::command().try_get_matches_from(words).err()?;
    let value = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => value.as_str(),
        _ => "unknown",
    };
    // A sentence has `netbench setup completions SHELL`, or continues in the next line.
    let is_left_out = value.chars().all(|c| c.is_ascii_uppercase());
    match (error.kind(), whole) {
        (ErrorKind::InvalidValue, Whole::No) if is_left_out => None,
        (ErrorKind::DisplayHelp | ErrorKind::DisplayVersion, _)
        | (
            ErrorKind::MissingRequiredArgument
            | ErrorKind::MissingSubcommand
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
            Whole::No,
        ) => None,
        _ => {
            let why = error.to_string();
            let why = why.lines().next().unwrap_or_default().to_owned();
            Some(format!("{}: {}: {why}", example.place, example.line))
        }
    }
}

fn tree() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn documents() -> (Vec<Example>, Vec<Example>) {
    let (mut blocks, mut sentences) = (Vec::new(), Vec::new());
    let docs = fs::read_dir(tree().join("docs")).expect("the documents");
    let docs = docs.map(|entry| entry.expect("a document").path());
    let all = docs.chain(["README.md", "CONTRIBUTING.md"].map(|name| tree().join(name)));
    for path in all.filter(|path| path.extension().is_some_and(|end| end == "md")) {
        of_document(&path, &mut blocks, &mut sentences);
    }
    (blocks, sentences)
}

#[test]
fn every_example_is_a_command_line_that_can_be_given() {
    let mut help = Vec::new();
    of_help(&Netbench::command(), "", &mut help);
    let (blocks, sentences) = documents();
    assert!(help.len() > 60, "{} examples in the help", help.len());
    assert!(blocks.len() > 60, "{} examples in blocks", blocks.len());
    assert!(
        sentences.len() > 40,
        "{} examples in sentences",
        sentences.len()
    );
    let copied = help
        .iter()
        .chain(&blocks)
        .map(|example| (example, Whole::Yes));
    let said = sentences.iter().map(|example| (example, Whole::No));
    let faults: Vec<String> = copied
        .chain(said)
        .filter_map(|(example, whole)| fault(example, whole))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn an_example_with_an_unknown_option_is_found() {
    for line in [
        "netbench connect --sever openssl",
        "netbench conect",
        "netbench runs report",
    ] {
        let example = Example::new("here", line);
        assert!(fault(&example, Whole::Yes).is_some(), "{line}");
    }
    for line in [
        "netbench connect --json | jq .x",
        "netbench scan 'a b' # all",
        "netbench COMMAND -x",
    ] {
        assert_eq!(
            fault(&Example::new("here", line), Whole::Yes),
            None,
            "{line}"
        );
    }
    let example = Example::new("here", "netbench runs report");
    assert_eq!(fault(&example, Whole::No), None);
}

/// The options that docs/EXAMPLES.md names for all commands that measure.
#[test]
fn commands_that_measure_have_the_options_that_the_documents_name() {
    let text = fs::read_to_string(tree().join("docs/EXAMPLES.md")).expect("the examples");
    let named = text
        .lines()
        .find(|line| line.contains("work for all commands that measure"));
    let code = named.expect("the sentence").split('`').skip(1).step_by(2);
    let options: Vec<&str> = code.filter(|code| code.starts_with("--")).collect();
    assert!(options.contains(&"--verbose"), "{options:?}");
    for command in [
        "evaluate",
        "connect",
        "suite",
        "compat",
        "compat chains",
        "compat roots",
        "ship",
        "browser",
        "browser features",
        "bogo",
        "scan",
    ] {
        for option in &options {
            let example = Example {
                place: command.to_owned(),
                line: format!("netbench {command} {option}"),
            };
            assert_eq!(fault(&example, Whole::Yes), None);
        }
    }
}
