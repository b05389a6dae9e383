use std::collections::BTreeMap;

use netbench_model::{
    Condition, FailureClass, LinkRecord, StackName,
    browser::{BrowserPlan, BrowserRecord, Mark, ObjectsPage, Scheduled, Visit},
};
use netbench_stats::Figures;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Row,
    run::{RunHead, SummaryHead},
    text::count,
};

/// The summary of a run of `browser`: its `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BrowserSummary {
    /// The schema, the kind and the seed.
    #[serde(flatten)]
    pub head: SummaryHead,
    /// The run's settings.
    pub run: BrowserHead,
    /// Each client under each condition.
    pub clients: Vec<ClientRow>,
    /// Each client except the first, compared with the first.
    pub comparisons: Vec<VisitComparison>,
    /// Negotiated parameters.
    pub negotiated: Vec<VisitNegotiated>,
    /// Visits that failed, with the codes of error pages.
    pub failures: Vec<VisitFailure>,
    /// Visits that could not be made, and the reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsupported: Vec<VisitUnsupported>,
    /// The browsers' times compared with those of their packets.
    pub packets: Vec<PacketsRow>,
    /// Number of visits during which the link recorded all packets.
    pub observed: u64,
    /// Other destinations that the clients tried to reach. No packet to them left the lab.
    pub elsewhere: Vec<AttemptRow>,
    /// The path between clients and sites.
    pub link: LinkRecord,
    /// Warnings that a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// The settings of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrowserHead {
    /// The fields that all runs have.
    #[serde(flatten)]
    pub head: RunHead,
    /// Number of sites.
    pub sites: u64,
    /// Number of rounds.
    pub rounds: u32,
    /// The page that was visited, if it was not the sites' own page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<ObjectsPage>,
    /// The browsers, and the way they were started.
    pub browsers: Vec<BrowserRecord>,
    /// The stacks that were measured with them, with their libraries.
    pub stacks: BTreeMap<StackName, String>,
}

/// The times of one client's visits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientRow {
    /// The condition.
    pub condition: Condition,
    /// The browser or stack.
    pub client: StackName,
    /// The client's library.
    pub library: String,
    /// Number of visits made.
    pub visits: u64,
    /// Number of visits whose page was loaded.
    pub loaded: u64,
    /// The client's times, if any page was loaded.
    pub phases: Vec<VisitPhaseRow>,
    /// The median of a visit with the browser's start and end, in milliseconds.
    pub took_ms: Option<f64>,
    /// The transfer of the page's objects, if it had any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectsRow>,
}

/// The transfer of a page's objects: medians over the visits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectsRow {
    /// Number of objects of the page.
    pub objects: f64,
    /// Number of objects that came over an existing connection, as the browser reports.
    pub reused: f64,
    /// Number of connections that were opened, as the link saw; absent if the link does not observe.
    pub connections: Option<f64>,
}

/// One phase of a client's visits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VisitPhaseRow {
    /// The phase.
    pub phase: VisitPhase,
    /// The phase's times.
    pub figures: Figures,
}

/// A phase of a visit; see [`netbench_model::browser::VisitTimes`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(extend("x-key" = "item"))]
pub enum VisitPhase {
    /// TCP connect.
    Tcp,
    /// The TLS handshake.
    Tls,
    /// The time from the request to the response's first byte.
    FirstByte,
    /// The time from TCP connect to the response's last byte.
    Total,
    /// The time from TCP connect to the last byte of the page's last object.
    LastObject,
    /// The time from TCP connect to the page's load event.
    Load,
}

impl VisitPhase {
    /// The phases of a page with objects, in order.
    const OF_OBJECTS: &'static [Self] = &[
        Self::Tcp,
        Self::Tls,
        Self::FirstByte,
        Self::Total,
        Self::LastObject,
        Self::Load,
    ];

    /// The phases of every page, which come first.
    pub(crate) const OF_PAGES: &'static [Self] = Self::OF_OBJECTS.split_at(4).0;

    /// Returns the phases that visits of this plan have, in order.
    pub(crate) fn of_plan(plan: &BrowserPlan) -> &'static [Self] {
        match plan.page {
            None => Self::OF_PAGES,
            Some(_) => Self::OF_OBJECTS,
        }
    }

    /// Returns the phase's name in words for a reader who has not read the manual.
    pub fn words(self) -> &'static str {
        match self {
            Self::Tcp => "TCP connect",
            Self::Tls => "TLS handshake",
            Self::FirstByte => "first byte",
            Self::Total => "total",
            Self::LastObject => "last object",
            Self::Load => "load event",
        }
    }

    /// Returns the visit's time in this phase, in nanoseconds; `None` if the page had no objects.
    pub(super) fn of(self, visit: &Visit) -> Option<u64> {
        let times = &visit.times;
        match self {
            Self::Tcp => Some(times.tcp_ns),
            Self::Tls => Some(times.tls_ns),
            Self::FirstByte => times.first_byte_ns,
            Self::Total => times.total_ns,
            Self::LastObject => visit.objects.map(|objects| objects.last_object_ns),
            Self::Load => visit.objects.map(|objects| objects.load_ns),
        }
    }
}

/// A client compared with the first one: visits of the same site, directly after one another, with the times of the
/// compared pairs.
pub type VisitComparison = Row<VisitsOf, Figures>;

/// The clients and the phase of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VisitsOf {
    /// The condition.
    pub condition: Condition,
    /// The first client.
    pub first_client: StackName,
    /// The other client.
    #[schemars(extend("x-key" = "other"))]
    pub other_client: StackName,
    /// The phase.
    pub phase: VisitPhase,
    /// Number of pairs that are left out because the two clients negotiated different parameters.
    pub other_work: u64,
}

/// Negotiated parameters, with their frequency.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct VisitNegotiated {
    /// The browser or stack.
    pub client: StackName,
    /// The condition.
    pub condition: Condition,
    /// The TLS version.
    pub version: String,
    /// The cipher suite.
    pub suite: Option<String>,
    /// The group.
    pub group: Option<String>,
    /// The application protocol.
    pub alpn: Option<String>,
    /// Number of visits.
    pub visits: u64,
}

/// Visits of a client to a site that failed in one way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct VisitFailure {
    /// The site.
    #[schemars(extend("x-key" = "item"))]
    pub site: String,
    /// The browser or stack.
    pub client: StackName,
    /// The condition.
    pub condition: Condition,
    /// The class of failure.
    pub class: FailureClass,
    /// The reason, in a word that all clients share.
    pub reason: String,
    /// The code of the error page, or another message of the client.
    pub code: String,
    /// Number of visits.
    pub visits: u64,
}

/// Visits of a client that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct VisitUnsupported {
    /// The browser or stack.
    pub client: StackName,
    /// The condition.
    pub condition: Condition,
    /// The reason.
    pub reason: String,
    /// Number of visits.
    pub visits: u64,
}

/// The times of a browser compared with those of its packets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PacketsRow {
    /// The browser.
    pub client: StackName,
    /// Number of visits whose packets the link saw.
    pub visits: u64,
    /// The marks that the browser does not report and that are taken from the packets; they are compared with no
    /// other time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from_packets: Vec<Mark>,
    /// The median distance of TCP connect from the packets, without its sign, in nanoseconds.
    pub tcp_departure_ns: Option<f64>,
    /// The same distance of the handshake.
    pub tls_departure_ns: Option<f64>,
    /// The same distance of both together.
    pub both_departure_ns: Option<f64>,
    /// The same distance of the response's first byte, counted from the beginning of TCP connect.
    #[serde(default)]
    pub first_byte_departure_ns: Option<f64>,
    /// The same distance of the response's last byte.
    #[serde(default)]
    pub end_departure_ns: Option<f64>,
    /// Number of visits whose handshake was compared with the packets.
    #[serde(default)]
    pub handshakes: u64,
    /// Number of these visits that are over a millisecond off in both together.
    pub far_in_both: u64,
    /// Number of visits whose first or last byte was compared with the packets.
    #[serde(default)]
    pub responses: u64,
    /// Number of these visits that are over two milliseconds off in the response's first or last byte.
    #[serde(default)]
    pub far_in_response: u64,
    /// Visits where TCP connect or the handshake is over a millisecond off, or the response over two.
    pub far: Vec<FarVisit>,
}

/// A visit whose times differ from those of its packets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FarVisit {
    /// The site.
    #[schemars(extend("x-key" = "item"))]
    pub site: String,
    /// The condition.
    pub condition: Condition,
    /// The round.
    pub round: u32,
    /// The browser's time of TCP connect less that of the packets, in nanoseconds.
    pub tcp_departure_ns: Option<i64>,
    /// The browser's time of the handshake less that of the packets, in nanoseconds.
    pub tls_departure_ns: Option<i64>,
    /// The browser's time of the response's first byte less that of the packets, in nanoseconds.
    #[serde(default)]
    pub first_byte_departure_ns: Option<i64>,
    /// The browser's time of the response's last byte less that of the packets, in nanoseconds.
    #[serde(default)]
    pub end_departure_ns: Option<i64>,
    /// The time that the browser's threads ran and waited for a core while it loaded the page.
    #[serde(default)]
    pub scheduled: Option<Scheduled>,
}

impl FarVisit {
    /// Returns whether the browser's threads waited for a core for at least the largest of the differences. A thread that
    /// has no core marks its times late.
    pub fn waited_for_a_core(&self) -> bool {
        let differences = [
            self.tcp_departure_ns,
            self.tls_departure_ns,
            self.first_byte_departure_ns,
            self.end_departure_ns,
        ];
        let largest_ns = differences
            .iter()
            .flatten()
            .map(|ns| ns.unsigned_abs())
            .max();
        self.scheduled
            .zip(largest_ns)
            .is_some_and(|(scheduled, largest_ns)| scheduled.waited_ns >= largest_ns)
    }
}

/// A name or an address outside the lab that clients tried to reach.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct AttemptRow {
    /// The browser or stack.
    pub client: StackName,
    /// The destination: `name updates.example`, `tcp 192.0.2.1:443`.
    #[schemars(extend("x-key" = "item"))]
    pub to: String,
    /// Number of visits.
    pub visits: u64,
}

impl BrowserSummary {
    /// Returns the packets to addresses outside the lab, of all visits.
    pub(crate) fn strays(&self) -> impl Iterator<Item = &AttemptRow> {
        self.elsewhere
            .iter()
            .filter(|row| !row.to.starts_with("name "))
    }

    /// Returns the number of visits whose page was loaded, and the number of all visits.
    pub(crate) fn loaded(&self) -> (u64, u64) {
        let clients = self.clients.iter();
        clients.fold((0, 0), |(loaded, visits), row| {
            (loaded + row.loaded, visits + row.visits)
        })
    }

    pub(crate) fn visits(of: u64) -> String {
        count(of, "visit", "visits")
    }
}
