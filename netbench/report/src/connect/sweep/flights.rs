//! The sizes of a server's first flight, or of a client's certificates or ClientHello, at which a connection needs another
//! round trip: predicted from the congestion window, and measured.

use std::collections::BTreeMap;

use itertools::Itertools;
use netbench_model::{Condition, StackName, Sweep, SweepAxis};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AtPoint, SweepSummary, SweepTime};

/// The number of round trips from which a difference counts as one.
const HALF: f64 = 0.5;

/// The side that sends a flight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlightDirection {
    /// The server's first flight.
    #[default]
    FromServer,
    /// The client's certificates, which it sends before its request, or the ticket with them in the ClientHello of a resumed
    /// connection.
    FromClient,
}

/// Two neighbouring sizes of a flight between which a connection is predicted or measured to need another
/// round trip: half a round-trip time of waiting or more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlightStep {
    /// The condition.
    pub condition: Condition,
    /// The stack.
    pub stack: StackName,
    /// The side that sends the flight.
    #[serde(default, skip_serializing_if = "netbench_model::is_default")]
    pub direction: FlightDirection,
    /// The smaller chain.
    #[schemars(extend("x-key" = "item"))]
    pub from: String,
    /// The larger chain.
    #[schemars(extend("x-key" = "item"))]
    pub to: String,
    /// The values of the other axes.
    pub settings: BTreeMap<String, String>,
    /// Bytes that the client received, or sent, in the handshake with the smaller chain, median.
    pub from_bytes: f64,
    /// The same with the larger chain.
    pub to_bytes: f64,
    /// The predicted waiting with the larger chain less that with the smaller one, in round-trip times. It is a fraction
    /// where the first window takes a part of the round trip to send.
    #[schemars(extend("x-unit" = ""))]
    pub predicted_round_trips: f64,
    /// The measured difference without CPU time and transmission, in round-trip times.
    #[schemars(extend("x-unit" = ""))]
    pub measured_round_trips: f64,
}

impl FlightStep {
    /// Returns whether the measured step lies between the two sizes of the predicted one.
    pub fn agrees(&self) -> bool {
        (self.predicted_round_trips >= HALF) == (self.measured_round_trips >= HALF)
    }
}

/// Returns the axis whose values are chains of different sizes, if it has three or more.
pub(super) fn axis(sweep: &Sweep) -> Option<&SweepAxis> {
    let mut axes = sweep.axes.iter();
    axes.find(|axis| (axis.is_of_chains() || axis.is_of_client_chains()) && axis.values.len() > 2)
}

/// Returns the steps along the sizes of chains, or none if fewer than three were swept.
pub(super) fn flights(summary: &SweepSummary, points: &[AtPoint<'_>]) -> Vec<FlightStep> {
    let Some(axis) = axis(&summary.axes) else {
        return Vec::new();
    };
    let direction = match axis.is_of_client_chains() {
        true => FlightDirection::FromClient,
        false => FlightDirection::FromServer,
    };
    let trips_ns: BTreeMap<&str, f64> = points
        .iter()
        .filter_map(|at| Some((at.point.name.as_str(), trip_ns(at)?)))
        .collect();
    let mut series: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for time in &summary.times {
        let mut settings = time.settings.clone();
        if let Some((chain, bytes)) = settings.remove(&axis.name).zip(time.bytes(direction)) {
            let series = series.entry((time.condition, &time.stack, settings));
            series.or_default().push((bytes, chain, time));
        }
    }
    let mut steps = Vec::new();
    for ((condition, stack, settings), mut times) in series {
        times.sort_by(|(one, ..), (other, ..)| one.total_cmp(other));
        for ((from_bytes, from, smaller), (to_bytes, to, larger)) in times.iter().tuple_windows() {
            let step = trips_ns
                .get(larger.point.as_str())
                .and_then(|trip_ns| more_round_trips(smaller, larger, *trip_ns))
                .filter(|more| more.iter().any(|more| *more >= HALF));
            steps.extend(step.map(|[predicted, measured]| FlightStep {
                condition,
                stack: stack.clone(),
                direction,
                from: from.clone(),
                to: to.clone(),
                settings: settings.clone(),
                from_bytes: *from_bytes,
                to_bytes: *to_bytes,
                predicted_round_trips: predicted,
                measured_round_trips: measured,
            }));
        }
    }
    steps
}

impl SweepTime {
    /// Returns the bytes of the handshake in this direction, median.
    fn bytes(&self, direction: FlightDirection) -> Option<f64> {
        match direction {
            FlightDirection::FromServer => self.flight_bytes,
            FlightDirection::FromClient => self.client_flight_bytes,
        }
    }
}

/// Returns the predicted and the measured waiting with the larger flight less that with the smaller one, in round-trip
/// times.
fn more_round_trips(smaller: &SweepTime, larger: &SweepTime, trip_ns: f64) -> Option<[f64; 2]> {
    let (small, large) = smaller.predicted.zip(larger.predicted)?;
    let (small_ns, large_ns) = smaller.total_ns.zip(larger.total_ns)?;
    let working_ns = large.working_ns() - small.working_ns();
    Some([
        (large.waiting_ns - small.waiting_ns) / trip_ns,
        (large_ns - small_ns - working_ns) / trip_ns,
    ])
}

/// Returns the round-trip time of a point's only site, or `None` if there are several, without losses and without delay.
fn trip_ns(at: &AtPoint<'_>) -> Option<f64> {
    let site = at.sites.values().exactly_one().ok()?;
    let link = &site.lab.link;
    let is_clear = link.loss.parts_per_million == 0 && link.rtt_ns > 0;
    is_clear.then(|| (link.rtt_ns + link.jitter_ns) as f64)
}
