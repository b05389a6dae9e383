//! The values of an axis between which the verdict changes.

use std::collections::BTreeMap;

use itertools::Itertools;
use netbench_model::{Condition, StackName, SweepAxis};
use netbench_stats::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SweepDifference;

/// Two values of an axis with different verdicts, and no decided value between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepTurn {
    /// The condition.
    pub condition: Condition,
    /// The first stack.
    pub first: StackName,
    /// The other stack.
    #[schemars(extend("x-key" = "other"))]
    pub other: StackName,
    /// The axis, such as `cpu`.
    #[schemars(extend("x-key" = "item"))]
    pub axis: String,
    /// The values of the other axes.
    pub settings: BTreeMap<String, String>,
    /// The value on one side.
    #[schemars(extend("x-key" = "item"))]
    pub from: String,
    /// The verdict there.
    pub from_verdict: Verdict,
    /// The value on the other side.
    #[schemars(extend("x-key" = "item"))]
    pub to: String,
    /// The verdict there.
    pub to_verdict: Verdict,
    /// Number of undecided values between them.
    pub undecided: u64,
}

/// Returns the turns along each axis, in the order of its values.
pub(super) fn turns(axes: &[SweepAxis], differences: &[SweepDifference]) -> Vec<SweepTurn> {
    let mut turns = Vec::new();
    for axis in axes.iter().filter(|axis| axis.values.len() > 1) {
        let along = differences.iter().filter_map(|row| {
            let mut others = row.key.settings.clone();
            let value = others.remove(&axis.name)?;
            let place = axis.values.iter().position(|other| *other == value)?;
            Some(((row.key.stacks(), others), (place, row)))
        });
        for (((condition, first, other), settings), mut rows) in along
            .into_group_map()
            .into_iter()
            .sorted_by(|a, b| a.0.cmp(&b.0))
        {
            rows.sort_by_key(|(place, _)| *place);
            let decided = rows
                .iter()
                .enumerate()
                .filter(|(_, (_, row))| row.change.verdict.is_decided());
            for ((one, (from, from_row)), (two, (to, to_row))) in decided.tuple_windows() {
                if from_row.change.verdict == to_row.change.verdict {
                    continue;
                }
                turns.push(SweepTurn {
                    condition,
                    first: first.clone(),
                    other: other.clone(),
                    axis: axis.name.clone(),
                    settings: settings.clone(),
                    from: axis.values[*from].clone(),
                    from_verdict: from_row.change.verdict,
                    to: axis.values[*to].clone(),
                    to_verdict: to_row.change.verdict,
                    undecided: (two - one - 1) as u64,
                });
            }
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use netbench_model::Unit;
    use netbench_stats::{Basis, Change, RoundsDifference};

    use super::*;
    use crate::{Row, connect::PointOf, gate::Judged};

    fn rows(verdicts: &[(&str, &str, Verdict)]) -> Vec<SweepDifference> {
        let rows = verdicts.iter().map(|(cpu, loss, verdict)| Row {
            key: PointOf {
                condition: Condition::Clean,
                point: format!("cpu={cpu},loss={loss}"),
                settings: [("cpu", *cpu), ("loss", *loss)]
                    .map(|(axis, value)| (axis.to_owned(), value.to_owned()))
                    .into(),
                first_stack: StackName::new("a"),
                other_stack: StackName::new("b"),
                difference: RoundsDifference {
                    middle_ns: 0.0,
                    low_ns: None,
                    high_ns: None,
                },
                parts: None,
            },
            unit: Unit::Nanoseconds,
            first: 1.0,
            other: 1.0,
            change: Change {
                ratio: 1.0,
                verdict: *verdict,
                interval: None,
                interval_single: None,
                basis: Basis::Rounds {
                    pairs: 10,
                    chance: 0.0,
                },
            },
            judged: Judged::default(),
        });
        rows.collect()
    }

    #[test]
    fn a_turn_is_between_two_values_that_are_decided() {
        use Verdict::{Faster, Same, Slower, Undecided};
        let axes = [("cpu", "5% 10% 25% 100%"), ("loss", "0 1%")].map(|(name, values)| SweepAxis {
            name: name.to_owned(),
            values: values.split(' ').map(ToOwned::to_owned).collect(),
        });
        let rows = rows(&[
            ("5%", "0", Slower),
            ("10%", "0", Undecided),
            ("25%", "0", Same),
            ("100%", "0", Same),
            // Samples may be out of order, so these are too.
            ("25%", "1%", Undecided),
            ("10%", "1%", Faster),
            ("5%", "1%", Slower),
            ("100%", "1%", Undecided),
        ]);
        let found = turns(&axes, &rows);
        let found: Vec<_> = found
            .iter()
            .map(|turn| {
                let settings = turn.settings.values().join(",");
                format!(
                    "{} ({settings}): {:?} at {}, {:?} at {}, {} between",
                    turn.axis,
                    turn.from_verdict,
                    turn.from,
                    turn.to_verdict,
                    turn.to,
                    turn.undecided
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                "cpu (0): Slower at 5%, Same at 25%, 1 between",
                "cpu (1%): Slower at 5%, Faster at 10%, 0 between",
            ]
        );
    }
}
