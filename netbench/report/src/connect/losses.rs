use std::collections::BTreeMap;

use netbench_model::{ConnectManifest, SameLosses, Sample, StackName, same_losses};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{differences::against_first, text::count};

/// The losses on links with losses, and whether the stacks of each pair met the same losses.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LossSummary {
    /// Number of packets of trials over such links.
    pub packets: u64,
    /// Number of packets that the seed dropped.
    pub lost: u64,
    /// Number of pairs of trials with a record of losses, successful or not.
    pub pairs: u64,
    /// Number of pairs in which the same packets were lost.
    pub same: u64,
    /// Number of pairs in which the same packets were lost as far as both had packets. One trial had more packets,
    /// and lost some of these.
    pub same_while_alike: u64,
    /// Number of pairs in which a packet that both had was lost in one trial only. There should be no such pair.
    pub differ: u64,
}

/// Returns the losses; `None` if no link lost packets by the seed.
pub(super) fn losses(manifest: &ConnectManifest, measured: &[&Sample]) -> Option<LossSummary> {
    let logged = measured.iter().filter(|sample| !sample.losses.is_empty());
    let mut summary = LossSummary::default();
    let mut sides: BTreeMap<_, BTreeMap<&StackName, &Sample>> = BTreeMap::new();
    for sample in logged {
        for log in &sample.losses {
            summary.packets += u64::from(log.packets);
            summary.lost += log.lost.len() as u64;
        }
        let place = (sample.condition, sample.session, sample.round, &sample.site);
        sides
            .entry(place)
            .or_default()
            .insert(&sample.stack, sample);
    }
    if summary.packets == 0 {
        return None;
    }
    for samples in sides.values() {
        let pairs = against_first(&manifest.plan.stacks);
        let pairs = pairs.filter_map(|(a, b)| samples.get(a).zip(samples.get(b)));
        for (first, other) in pairs {
            summary.pairs += 1;
            match same_losses(&first.losses, &other.losses) {
                SameLosses::Throughout => summary.same += 1,
                SameLosses::WhileAlike => summary.same_while_alike += 1,
                SameLosses::No => summary.differ += 1,
            }
        }
    }
    Some(summary)
}

impl LossSummary {
    pub(super) fn sentence(&self) -> String {
        let lost = format!(
            "{} of {} on links with losses were lost.",
            self.lost,
            count(self.packets, "packet", "packets")
        );
        if self.pairs == 0 {
            return lost;
        }
        let pairs = count(self.pairs, "pair", "pairs");
        let alike = match self.same_while_alike {
            0 => String::new(),
            pairs => format!(
                "; {pairs} lost the same until one stack had more packets than the other, such as retransmissions"
            ),
        };
        let others = match self.differ {
            0 => String::new(),
            pairs => format!("; {pairs} lost others"),
        };
        let same = self.same;
        format!("{lost} Of {pairs}, {same} lost the same packets{alike}{others}.")
    }

    /// Returns the warning, if there are differences to warn of.
    pub(super) fn warning(&self) -> Option<String> {
        (self.differ > 0).then(|| {
            format!(
                "the link lost other packets for one stack than for the other in {} before their packets differed: \
                 losses and not stacks may be what these differ by",
                count(self.differ, "pair", "pairs")
            )
        })
    }
}
