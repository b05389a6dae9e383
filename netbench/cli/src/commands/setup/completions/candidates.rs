//! Completions of the values of options.

use std::{collections::BTreeSet, ffi::OsStr};

use clap::{Arg, Command};
use clap_complete::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};
use netbench_bogo::{FEATURES, KNOWN_SHIMS};
use netbench_link::LinkChoice;
use netbench_model::{Alpn, Condition, Group, Part, Preset, TlsVersion, catalogue};

use crate::kinds::evaluation::PARTS;

/// Adds completions to the definition of a command and its subcommands.
pub(super) fn added_to(command: Command) -> Command {
    command
        .mut_args(|argument| {
            if argument.get_possible_values().is_empty() {
                completed(argument)
            } else {
                argument
            }
        })
        .mut_subcommands(added_to)
}

/// Adds the candidates of an option. Options of the same name have the same candidates in every command.
fn completed(argument: Arg) -> Arg {
    let candidates: fn() -> Vec<CompletionCandidate> = match argument.get_id().as_str() {
        "cases" => return argument.add(ArgValueCompleter::new(cases)),
        "stack" | "against" | "from" | "to" => stacks,
        "shim" | "first" | "second" => || words(KNOWN_SHIMS.iter().map(|shim| shim.name)),
        "feature" => || words(FEATURES.iter().map(|feature| feature.name)),
        "link" => || words(LinkChoice::ALL),
        "condition" => || words(Condition::ALL),
        "tls" => || words(TlsVersion::SERVED),
        "groups" => || words(Group::OFFERED),
        "alpn" => || words(Alpn::ALL),
        "preset" => || words(Preset::ALL),
        "parts" => || {
            let all = [CompletionCandidate::new("all")];
            words(Part::ALL).into_iter().chain(all).collect()
        },
        "part" | "skip" => || words(PARTS.iter().map(|part| part.name)),
        _ => return argument,
    };
    argument.add(ArgValueCandidates::new(candidates))
}

fn words(words: impl IntoIterator<Item: ToString>) -> Vec<CompletionCandidate> {
    let words = words.into_iter().map(|word| word.to_string());
    words.map(CompletionCandidate::new).collect()
}

fn stacks() -> Vec<CompletionCandidate> {
    let stacks = netbench_stacks::stacks().unwrap_or_default().iter();
    let candidate = stacks.map(|source| {
        CompletionCandidate::new(&source.name).help(Some(source.about.clone().into()))
    });
    candidate.collect()
}

fn cases(begun: &OsStr) -> Vec<CompletionCandidate> {
    let names: Vec<String> = catalogue(1).iter().map(ToString::to_string).collect();
    let begun = begun.to_string_lossy();
    words(next_steps(&begun, &names))
}

/// Returns the continuations of names whose parts are separated by `_`, of which there are too many to show: one part
/// at a time, unless there is only one continuation.
fn next_steps(begun: &str, names: &[String]) -> BTreeSet<String> {
    let mut begun = begun.to_owned();
    loop {
        let steps: BTreeSet<&str> = names
            .iter()
            .filter_map(|name| {
                let rest = name.strip_prefix(&begun)?;
                let end = rest
                    .find('_')
                    .map_or(name.len(), |at| name.len() - rest.len() + at + 1);
                Some(&name[..end])
            })
            .collect();
        match steps.first() {
            // A shell adds a space after a single candidate, so that this candidate has to be complete.
            Some(only) if steps.len() == 1 && **only != begun && only.ends_with('_') => {
                begun = (*only).to_owned();
            }
            _ => return steps.into_iter().map(str::to_owned).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_completed_part_by_part() {
        let names = [
            "bulk_1.2_A",
            "bulk_1.2_B",
            "bulk_1.3_A",
            "memory-1_1.3_A",
            "verify",
        ];
        let names = names.map(str::to_owned);
        for (begun, steps) in [
            ("", "bulk_ memory-1_ verify"),
            ("b", "bulk_1.2_ bulk_1.3_"),
            ("bulk_1.2", "bulk_1.2_A bulk_1.2_B"),
            ("bulk_1.3_", "bulk_1.3_A"),
            ("m", "memory-1_1.3_A"),
            ("x", ""),
        ] {
            let found: Vec<String> = next_steps(begun, &names).into_iter().collect();
            assert_eq!(found.join(" "), steps, "{begun}");
        }
    }

    #[test]
    fn every_step_is_short() {
        let names: Vec<String> = catalogue(64).iter().map(ToString::to_string).collect();
        let mut begun = vec![String::new()];
        let mut seen = 0;
        while let Some(next) = begun.pop() {
            let steps = next_steps(&next, &names);
            assert!(steps.len() <= 60, "{next:?}: {} steps", steps.len());
            seen += 1;
            // Follows a single branch: the last is as deep as any.
            begun.extend(
                steps
                    .into_iter()
                    .next_back()
                    .filter(|step| step.ends_with('_')),
            );
        }
        assert!(seen >= 3, "{seen}");
    }
}
