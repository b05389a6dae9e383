use std::collections::BTreeMap;

use itertools::Itertools;
use netbench_model::{
    Condition, Measured, Negotiated, Outcome, Phase, Role, Sample, StackName, Unit,
};
use netbench_stats::{
    Figures, Pair, Resampling, RoundsDifference, compare, compare_rounds, difference_of_rounds,
    median,
};

use crate::{Row, gate::Judged};

/// The largest difference between the bodies of two responses of a real server: this, or [`BODY_PART`] of the
/// longer body, if that is more. A page contains a date, or a nonce.
const BODY_BYTES: u64 = 1024;

/// See [`BODY_BYTES`].
const BODY_PART: u64 = 10;

/// Two samples that may be compared: of one site, round and session, directly after one another.
pub(crate) struct Matched<'a> {
    pub(crate) site: &'a str,
    pub(crate) round: u32,
    pub(crate) block: u32,
    pub(crate) first: &'a Measured,
    pub(crate) other: &'a Measured,
}

/// Returns the last of the measured samples of each stack, site, condition and round: an interrupted trial is
/// repeated, with its pair, by the session that continues. Discarded samples are left out.
pub(crate) fn latest(samples: &[Sample]) -> Vec<&Sample> {
    let measured = samples
        .iter()
        .filter(|sample| sample.role == Role::Measured && sample.outcome.counts());
    let mut latest = measured
        .rev()
        .unique_by(|sample| sample.key())
        .collect_vec();
    latest.reverse();
    latest
}

/// Two times that were measured in direct succession.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    pub(crate) first_ns: u64,
    pub(crate) other_ns: u64,
    /// The process that the first was measured in.
    pub(crate) block: u32,
}

impl Times {
    pub(crate) fn ratio(&self) -> Pair {
        Pair::from_ns(self.first_ns, self.other_ns, self.block)
    }

    /// Returns the other time less the first.
    pub(crate) fn difference_ns(&self) -> f64 {
        self.other_ns as f64 - self.first_ns as f64
    }

    /// Returns the row of times of one site, or point, with the medians of both sides and their change from round to
    /// round; `None` without times.
    pub(crate) fn row<K>(key: K, times: &[Self]) -> Option<Row<K>> {
        let ratios: Vec<Pair> = times.iter().map(Self::ratio).collect();
        Some(Row {
            key,
            unit: Unit::Nanoseconds,
            first: median_of(times, |times| times.first_ns as f64)?,
            other: median_of(times, |times| times.other_ns as f64)?,
            change: compare_rounds(&ratios)?,
            judged: Judged::default(),
        })
    }

    /// Returns the row of times of several sites, with the figures of both sides and the ratio over all pairs; `None`
    /// without times.
    pub(crate) fn pooled<K>(
        key: K,
        times: &[Self],
        resampling: &Resampling,
    ) -> Option<Row<K, Figures>> {
        let ratios: Vec<Pair> = times.iter().map(Self::ratio).collect();
        Some(Row {
            key,
            unit: Unit::Nanoseconds,
            first: Figures::of_ns(&times.iter().map(|times| times.first_ns).collect_vec())?,
            other: Figures::of_ns(&times.iter().map(|times| times.other_ns).collect_vec())?,
            change: compare(&ratios, resampling)?,
            judged: Judged::default(),
        })
    }

    /// Returns the estimate of the differences of rounds; `None` without times.
    pub(crate) fn differences(times: &[Self]) -> Option<RoundsDifference> {
        let differences: Vec<f64> = times.iter().map(Self::difference_ns).collect();
        difference_of_rounds(&differences)
    }
}

impl Matched<'_> {
    pub(crate) fn totals(&self) -> Times {
        Times {
            first_ns: self.first.phases.total_ns,
            other_ns: self.other.phases.total_ns,
            block: self.block,
        }
    }

    /// Returns the times of a phase that both have.
    pub(crate) fn times(&self, phase: Phase) -> Option<Times> {
        Some(Times {
            first_ns: phase.of(self.first)?,
            other_ns: phase.of(self.other)?,
            block: self.block,
        })
    }
}

pub(crate) fn median_of<'a, T: 'a>(
    items: impl IntoIterator<Item = &'a T>,
    figure: impl Fn(&'a T) -> f64,
) -> Option<f64> {
    median(&items.into_iter().map(figure).collect::<Vec<_>>())
}

/// The pairs of two stacks, and the excluded ones: the site, and the difference.
pub(crate) struct Pairs<'a> {
    pub(crate) matched: Vec<Matched<'a>>,
    pub(crate) excluded: BTreeMap<(&'a str, String), u64>,
}

/// Matches the samples of two stacks under one condition.
pub(crate) fn match_up<'a>(
    measured: &[&'a Sample],
    condition: Condition,
    first: &StackName,
    other: &StackName,
) -> Pairs<'a> {
    let mut both: BTreeMap<(u32, u32, &str), [Option<&Sample>; 2]> = BTreeMap::new();
    let of_condition = measured.iter();
    for sample in of_condition.filter(|sample| sample.condition == condition) {
        let mut stacks = [first, other].into_iter();
        if let Some(side) = stacks.position(|stack| sample.stack == *stack) {
            let key = (sample.session, sample.round, sample.site.as_str());
            both.entry(key).or_default()[side] = Some(sample);
        }
    }
    let mut pairs = Pairs {
        matched: Vec::new(),
        excluded: BTreeMap::new(),
    };
    for ((_, round, site), sides) in both {
        let [Some(a), Some(b)] = sides else { continue };
        let (Outcome::Ok(first), Outcome::Ok(other)) = (&a.outcome, &b.outcome) else {
            continue;
        };
        match difference(first, other) {
            Some(why) => *pairs.excluded.entry((site, why)).or_default() += 1,
            None => pairs.matched.push(Matched {
                site,
                round,
                block: a.block,
                first,
                other,
            }),
        }
    }
    pairs
}

/// Returns the difference between the work of the two sides, if there is one.
pub(super) fn difference(a: &Measured, b: &Measured) -> Option<String> {
    if !a.client.same_work(&b.client) {
        return Some(negotiated_difference(&a.client, &b.client));
    }
    if let (Some(a), Some(b)) = (&a.server, &b.server)
        && !a.negotiated.same_work(&b.negotiated)
    {
        let what = negotiated_difference(&a.negotiated, &b.negotiated);
        return Some(format!("the server saw {what}"));
    }
    // An empty list is of a stack that does not report its chain, or of a resumed session.
    let [chain_a, chain_b] = [a, b].map(|side| &side.client.chain_bytes);
    if !chain_a.is_empty() && !chain_b.is_empty() && chain_a != chain_b {
        return Some("certificate chain".to_owned());
    }
    if a.http_status != b.http_status {
        return Some(format!("status {} / {}", a.http_status, b.http_status));
    }
    let lab = a.server.is_some();
    let off = a.body_bytes.abs_diff(b.body_bytes);
    let alike = off <= BODY_BYTES.max(a.body_bytes.max(b.body_bytes) / BODY_PART);
    if (lab && off > 0) || !alike {
        return Some(format!("body {} / {} bytes", a.body_bytes, b.body_bytes));
    }
    None
}

fn negotiated_difference(a: &Negotiated, b: &Negotiated) -> String {
    fn text(value: Option<impl ToString>) -> String {
        value.map_or_else(|| "none".to_owned(), |value| value.to_string())
    }
    let fields = [
        ("version", text(a.version), text(b.version)),
        ("suite", text(a.suite), text(b.suite)),
        ("group", text(a.group), text(b.group)),
        ("signature", text(a.signature), text(b.signature)),
        ("protocol", text(a.alpn.as_ref()), text(b.alpn.as_ref())),
        ("resumed", a.resumed.to_string(), b.resumed.to_string()),
        ("ECH", text(a.ech), text(b.ech)),
        ("early data", text(a.early_data), text(b.early_data)),
    ];
    let differing = fields.into_iter().filter(|(_, a, b)| a != b);
    differing
        .map(|(name, a, b)| format!("{name} {a} / {b}"))
        .join(", ")
}
