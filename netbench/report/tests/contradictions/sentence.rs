//! The sentence at the top, by the cards under it.

use netbench_report::{Answer, Evaluation};

use super::Hold;
use crate::support::made::{Made, MadeSuite};

/// Checks the sentence at the top by the cards under it.
pub(super) fn sentence(made: &Made, evaluation: &Evaluation, hold: &mut Hold<'_>) {
    let said = &evaluation.sentence;
    let answers: Vec<Answer> = evaluation.questions.iter().map(|q| q.answer).collect();
    let all = answers.iter().all(|answer| *answer == Answer::Yes);
    let found = &evaluation.found;
    let complete = found.matrix.is_some()
        && found.losses.is_some()
        && found
            .compat
            .as_ref()
            .is_some_and(|compat| compat.told_of_both() * 10 >= compat.told_of_first() * 9)
        && found
            .connections
            .as_ref()
            .is_some_and(|run| run.run.samples > 0)
        && made.suite != MadeSuite::LeftOut;
    let excluded = made.suite == MadeSuite::Unsupported;
    let switch = match excluded {
        true => "Switch (speed in memory not included): ",
        false => "Switch: ",
    };
    hold(
        said.starts_with(switch) == (all && complete),
        "switch, or not, against the cards",
    );
    hold(
        !all || complete,
        "every card says yes, and a part is missing",
    );
    let no = answers.contains(&Answer::No);
    hold(
        said.starts_with("Not decided: ") == (!complete && !no),
        "a missing part does not leave the decision open",
    );
    hold(
        said.starts_with("Do not switch yet: ") == no,
        "no switch, against the cards",
    );
    if said.contains("nothing is lost") {
        let lost = answers[..2].iter().any(|answer| *answer != Answer::Yes);
        hold(!lost, "nothing is lost, against the cards");
    }
    if let Some(losses) = evaluation
        .found
        .losses
        .as_ref()
        .filter(|l| !l.lost.is_empty())
    {
        let lost = losses.lost.len() as u64;
        let built_in = match evaluation.run.plan.sites_file {
            Some(_) => "",
            None => "built-in ",
        };
        let of = format!("{lost} of {} {built_in}sites", losses.both + lost);
        hold(
            said.contains(&of),
            "the sentence counts lost sites otherwise",
        );
    }
    let connections = evaluation.found.connections.as_ref();
    let loopback = connections.is_some_and(|connections| connections.is_loopback());
    hold(
        agrees(said, Clause("over loopback", 6), loopback),
        "times of loopback in the sentence",
    );
    hold(words(said) <= WORDS, "the sentence is too long");
}

/// The maximal number of words of the sentence.
const WORDS: usize = 30;

fn words(text: &str) -> usize {
    let words = text.split_whitespace();
    words
        .filter(|word| word.contains(char::is_alphanumeric))
        .count()
}

/// A clause of the sentence: a part of its text, and the number of words that all of it may have.
pub(super) struct Clause<'a>(pub(super) &'a str, pub(super) usize);

/// Returns whether the sentence has a clause if the fact holds, and only then. A sentence may lack a clause for which it
/// has no room.
pub(super) fn agrees(sentence: &str, Clause(text, length): Clause<'_>, holds: bool) -> bool {
    match sentence.contains(text) {
        true => holds,
        false => !holds || words(sentence) + length > WORDS,
    }
}
