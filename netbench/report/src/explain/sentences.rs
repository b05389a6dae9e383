use itertools::Itertools;
use netbench_stats::Verdict;

use super::{CharacteristicRow, Explanation};
use crate::{
    row::differs,
    text::{change, count, signed_time},
};

/// Number of findings that get a sentence.
const FEW: usize = 4;

/// Returns the strongest findings, and the sites with the opposite result.
pub(super) fn sentences(explanation: &Explanation) -> Vec<String> {
    let Some(overall) = &explanation.overall else {
        return vec![
            "No pair of samples did the same work, so that nothing can be compared.".to_owned(),
        ];
    };
    let (first, other) = (explanation.first.as_str(), explanation.other.as_str());
    let mut sentences: Vec<String> = explanation
        .characteristics
        .iter()
        .filter(|row| differs(row.contrast.verdict))
        .take(FEW)
        .map(|row| finding(row, other, first))
        .collect();
    if sentences.is_empty() {
        sentences.push(format!(
            "No characteristic goes with one stack's being faster: none of {} values differs for certain \
             from the other sites. Over all of them {other} is at {} against {first}.",
            explanation.characteristics.len(),
            change(overall.ratio)
        ));
    }
    sentences.push(against(explanation, overall.verdict));
    sentences
}

fn finding(row: &CharacteristicRow, other: &str, first: &str) -> String {
    let better = match row.contrast.verdict {
        Verdict::Faster => "does better",
        _ => "does worse",
    };
    let rest = row.change.ratio / row.contrast.ratio;
    format!(
        "{other} {better} where {} is {}: {} against {first} on {} ({} at the median), {} on \
         the others.",
        row.characteristic,
        row.value,
        change(row.change.ratio),
        count(row.sites, "such site", "such sites"),
        signed_time(row.difference_ns),
        change(rest)
    )
}

fn against(explanation: &Explanation, overall: Verdict) -> String {
    let (first, other) = (explanation.first.as_str(), explanation.other.as_str());
    let sites = explanation.against.len();
    let other_wins = explanation.against.first().map(|row| row.ratio < 1.0);
    let winner = match (other_wins, overall) {
        (Some(true), _) | (None, Verdict::Slower) => other,
        _ => first,
    };
    let begun = match (overall, sites) {
        (_, 0) => return format!("There is no site on which {winner} is faster for certain."),
        (Verdict::Faster | Verdict::Slower, _) => {
            let sites = count(sites, "site", "sites");
            format!("{winner}, slower over all, is faster on {sites}")
        }
        _ => format!("{winner} is faster on {}", count(sites, "site", "sites")),
    };
    let mut shared = explanation.shared.iter().take(3).map(|row| {
        format!(
            "{} {} ({} of {}, and {} of the {} others)",
            row.characteristic, row.value, row.listed_with, row.listed, row.others_with, row.others
        )
    });
    match shared.join("; ").as_str() {
        "" => {
            format!("{begun}, which have nothing in common that the others do not have as often.")
        }
        shared => format!("{begun}. More often than the rest they have {shared}."),
    }
}
