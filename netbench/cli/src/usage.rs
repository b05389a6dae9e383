//! Errors of command lines that cannot be parsed: a line or two, in the style of all other messages.

use std::{collections::BTreeSet, env, ffi::OsString, process::ExitCode};

use clap::{
    Arg, Command,
    error::{ContextKind, ContextValue, Error, ErrorKind},
};
use netbench_model::{sanitize_prefix, suggestion};

use crate::output::shown;

/// The standard library's message for a character that is no digit.
const NO_DIGIT: &str = "invalid digit found in string";

/// The largest number of characters of a reason.
const LONGEST: usize = 240;

/// Returns the words of a command line, with each negative value joined to its option, as in `--rounds=-1`: clap reads
/// a word such as `-1` as an option.
pub(crate) fn joined(command: &Command, words: Vec<OsString>) -> Vec<OsString> {
    let mut found = Vec::new();
    options_with_values(command, &[], &mut found);
    let options: BTreeSet<&String> = found.iter().map(|(_, option, _)| option).collect();
    let mut joined: Vec<OsString> = Vec::new();
    let mut words = words.into_iter();
    for word in words.by_ref() {
        if word == "--" {
            joined.push(word);
            break;
        }
        match joined.last_mut() {
            Some(last)
                if is_negative(&word) && options.contains(&last.to_string_lossy().into_owned()) =>
            {
                last.push("=");
                last.push(word);
            }
            _ => joined.push(word),
        }
    }
    joined.extend(words);
    joined
}

/// Returns whether a word begins like a negative number.
fn is_negative(word: &std::ffi::OsStr) -> bool {
    let word = word.to_string_lossy();
    let number = word.strip_prefix('-').unwrap_or_default();
    number
        .trim_start_matches('.')
        .starts_with(|c: char| c.is_ascii_digit())
}

/// Collects the options of a command and its subcommands whose value is the next word, each with the words that lead to
/// its command and its argument.
fn options_with_values(
    command: &Command,
    path: &[String],
    found: &mut Vec<(Vec<String>, String, Arg)>,
) {
    let path = [path, &[command.get_name().to_owned()]].concat();
    for argument in command.get_arguments() {
        let takes_next_word =
            argument.get_action().takes_values() && !argument.is_require_equals_set();
        if let Some(name) = argument.get_long().filter(|_| takes_next_word) {
            found.push((path.clone(), format!("--{name}"), argument.clone()));
        }
    }
    for below in command.get_subcommands() {
        options_with_values(below, &path, found);
    }
}

/// Prints clap's error, or the requested help, and returns the exit code.
pub(crate) fn code(error: &Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // A closed stdout is no error.
            let _ = error.print();
            u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
        }
        _ => {
            note!("netbench: {}", message(error));
            if let Some(command) = command(error) {
                note!("`{command} --help` shows what it takes.");
            }
            ExitCode::from(2)
        }
    }
}

fn message(error: &Error) -> String {
    let argument = text(error, ContextKind::InvalidArg);
    let option = argument.map(name);
    let value = text(error, ContextKind::InvalidValue);
    match (error.kind(), option, value) {
        (ErrorKind::InvalidValue, _, Some("")) => {
            let argument = argument.unwrap_or_default().replace(['<', '>'], "");
            format!("a value is missing: {argument}")
        }
        (ErrorKind::InvalidValue, Some(option), Some(value)) => {
            let known = texts(error, ContextKind::ValidValue);
            format!("{option} {}: {}", shown(value), suggestion(value, &known))
        }
        (ErrorKind::ValueValidation, Some(option), Some(value)) => {
            let why = std::error::Error::source(error).map(|why| match why.to_string() {
                why if is_negative(value.as_ref()) && why == NO_DIGIT => {
                    "expected a number that is not negative".to_owned()
                }
                why => plain(&why),
            });
            let why = sanitize_prefix(&why.unwrap_or_default(), LONGEST);
            if why.contains(&quoted(value)) {
                format!("{option}: {why}")
            } else {
                format!("{option} {}: {why}", shown(value))
            }
        }
        (ErrorKind::UnknownArgument, Some(_), _) => {
            let given = argument.unwrap_or_default();
            let what = if given.starts_with('-') {
                "unknown option"
            } else {
                "unexpected argument"
            };
            let meant = meant(error, ContextKind::SuggestedArg);
            format!("{what} {}{meant}", quoted(given))
        }
        (ErrorKind::InvalidSubcommand, ..) => {
            let given = text(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            let meant = meant(error, ContextKind::SuggestedSubcommand);
            format!("unknown command {}{meant}", quoted(given))
        }
        (ErrorKind::MissingRequiredArgument, ..) => {
            let missing = texts(error, ContextKind::InvalidArg);
            let missing = missing.join(" and ").replace(['<', '>'], "");
            format!("missing: {missing}")
        }
        (ErrorKind::ArgumentConflict, Some(option), _) => {
            let others = texts(error, ContextKind::PriorArg);
            let others: Vec<_> = others.iter().map(|other| name(other)).collect();
            if others.is_empty() || others == [option] {
                format!("{option} can be given once only")
            } else {
                format!("{option} cannot be used with {}", others.join(", "))
            }
        }
        (ErrorKind::InvalidUtf8, ..) => {
            let broken = env::args_os().find(|word| word.to_str().is_none());
            let broken = broken.unwrap_or_default();
            format!("not UTF-8: {}", shown(&broken.to_string_lossy()))
        }
        _ => {
            let all = error.to_string();
            let first = all.lines().next().unwrap_or_default();
            let first = first.strip_prefix("error: ").unwrap_or(first);
            sanitize_prefix(first, LONGEST)
        }
    }
}

/// Returns the name of an argument such as `--rounds <N>` or `<RUN>...`.
fn name(argument: &str) -> &str {
    let name = argument.split([' ', '=']).next().unwrap_or(argument);
    name.trim_matches(['<', '>', '[', ']', '.'])
}

/// Translates the messages of the standard library and of clap about numbers into netbench's style.
fn plain(why: &str) -> String {
    if let Some((_, range)) = why.split_once(" is not in ") {
        let (first, last) = range.split_once("..").unwrap_or((range, ""));
        return match (first, last.trim_start_matches('=')) {
            (first, "") => format!("expected at least {first}"),
            ("" | "0", last) => format!("expected at most {last}"),
            (first, last) => format!("expected from {first} to {last}"),
        };
    }
    match why {
        NO_DIGIT | "cannot parse integer from empty string" => "expected a whole number".to_owned(),
        "number too large to fit in target type" => "the number is too large".to_owned(),
        why => why.to_owned(),
    }
}

fn quoted(value: &str) -> String {
    format!("\"{}\"", shown(value))
}

fn meant(error: &Error, kind: ContextKind) -> String {
    match texts(error, kind).first() {
        Some(name) => format!("; did you mean \"{name}\"?"),
        None => String::new(),
    }
}

fn text(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

fn texts(error: &Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

/// Returns the command whose arguments are wrong, as it was called.
fn command(error: &Error) -> Option<String> {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else {
        return None;
    };
    let usage = usage.to_string();
    let words = usage.lines().next()?.strip_prefix("Usage: ")?;
    let words: Vec<_> = words
        .split(' ')
        .take_while(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
        .collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::commands::Netbench;

    #[test]
    fn a_negative_value_is_no_unknown_option() {
        let mut all = Vec::new();
        options_with_values(&Netbench::command(), &[], &mut all);
        let mut numeric = 0;
        for (path, option, argument) in all {
            for value in ["-1", "-1.5", "-5s", "-.5"] {
                let line = [path.clone(), vec![option.clone(), value.to_owned()]].concat();
                let words = joined(
                    &Netbench::command(),
                    line.iter().map(OsString::from).collect(),
                );
                let parsed = Netbench::command().try_get_matches_from(words);
                let Err(error) = parsed else { continue };
                let says = message(&error);
                assert!(!says.contains("unknown option"), "{line:?}: {says}");
                let is_number = argument
                    .get_value_names()
                    .is_some_and(|names| names == ["N"]);
                if is_number && value == "-1" {
                    numeric += 1;
                    let about_it = says.starts_with(&format!("{option} -1: expected"));
                    assert!(about_it, "{line:?}: {says}");
                }
            }
        }
        assert!(numeric > 20, "{numeric} options with a number");
    }

    #[test]
    fn what_is_no_value_stays_as_it_is() {
        for line in [
            "netbench connect --live -1",
            "netbench suite -1",
            "netbench connect --rounds -x",
            "netbench evaluate --browsers -1",
            "netbench connect -- --rounds -1",
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(joined(&Netbench::command(), words.clone()), words);
        }
    }
}
