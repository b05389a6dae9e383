use std::collections::BTreeMap;

use netbench_model::{
    Condition, FailureClass, LinkRecord, StackName,
    browser::{BrowserPlan, BrowserRecord, Mark, ObjectsPage, Visit},
};
use netbench_stats::{Figures, PairedRatio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{run::RunHead, text::count};

/// What a run of `browser` says: its `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BrowserSummary {
    /// [`netbench_model::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// What was done.
    pub run: BrowserHead,
    /// Each client under each condition.
    pub clients: Vec<ClientRow>,
    /// Each client but the first, held against the first.
    pub comparisons: Vec<VisitComparison>,
    /// What was negotiated.
    pub negotiated: Vec<VisitNegotiated>,
    /// Visits that failed, with the codes of error pages.
    pub failures: Vec<VisitFailure>,
    /// Visits that could not be made, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsupported: Vec<VisitUnsupported>,
    /// The browsers' own times against those of their packets.
    pub packets: Vec<PacketsRow>,
    /// Visits during which the link took note of all packets.
    pub observed: u64,
    /// Where else the clients tried to go. Nothing of it left the lab.
    pub elsewhere: Vec<AttemptRow>,
    /// The path between clients and sites.
    pub link: LinkRecord,
    /// What a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrowserHead {
    /// What all runs have.
    #[serde(flatten)]
    pub head: RunHead,
    /// How many sites.
    pub sites: u64,
    /// How many rounds.
    pub rounds: u32,
    /// The page that was visited, where it was not the sites' own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<ObjectsPage>,
    /// What the browsers are, and how they were started.
    pub browsers: Vec<BrowserRecord>,
    /// The stacks beside them, with their libraries.
    pub stacks: BTreeMap<StackName, String>,
}

/// What visits of one client took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientRow {
    /// The condition.
    pub condition: Condition,
    /// The browser or stack.
    pub client: StackName,
    /// Its library.
    pub library: String,
    /// Visits made.
    pub visits: u64,
    /// Of those, the pages that were loaded.
    pub loaded: u64,
    /// Its times, where any page was loaded.
    pub phases: Vec<VisitPhaseRow>,
    /// The median of a visit with the browser's start and end, in milliseconds.
    pub took_ms: Option<f64>,
    /// How the objects of the page came, where it had any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectsRow>,
}

/// How the objects of a page came: medians over the visits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectsRow {
    /// Objects of the page.
    pub objects: f64,
    /// Of them, those that came over a connection that was there already, as the browser says.
    pub reused: f64,
    /// Connections that were opened, as the link saw; none where it does not look.
    pub connections: Option<f64>,
}

/// One phase of a client's visits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VisitPhaseRow {
    /// The phase.
    pub phase: VisitPhase,
    /// Its times.
    pub figures: Figures,
}

/// A phase of a visit; see [`netbench_model::browser::VisitTimes`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum VisitPhase {
    /// TCP connect.
    Tcp,
    /// The TLS handshake.
    Tls,
    /// From the request to the response's first byte.
    FirstByte,
    /// From TCP connect to the response's last byte.
    Total,
    /// From there to the last byte of the last of the page's objects.
    LastObject,
    /// From there to the page's load event.
    Load,
}

impl VisitPhase {
    /// Those of every page, in order.
    pub(crate) const OF_PAGES: [Self; 4] = [Self::Tcp, Self::Tls, Self::FirstByte, Self::Total];

    /// Those of a page with objects.
    const OF_OBJECTS: [Self; 6] = [
        Self::Tcp,
        Self::Tls,
        Self::FirstByte,
        Self::Total,
        Self::LastObject,
        Self::Load,
    ];

    /// Those that visits of this plan have, in order.
    pub(crate) fn of_plan(plan: &BrowserPlan) -> &'static [Self] {
        match plan.page {
            None => &Self::OF_PAGES,
            Some(_) => &Self::OF_OBJECTS,
        }
    }

    /// In words for who has not read the manual.
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

    /// None where the page had no objects.
    pub(super) fn of(self, visit: &Visit) -> Option<u64> {
        let times = &visit.times;
        match self {
            Self::Tcp => Some(times.tcp_ns),
            Self::Tls => Some(times.tls_ns),
            Self::FirstByte => Some(times.first_byte_ns),
            Self::Total => times.total_ns,
            Self::LastObject => visit.objects.map(|objects| objects.last_object_ns),
            Self::Load => visit.objects.map(|objects| objects.load_ns),
        }
    }
}

/// A client held against the first: visits of the same site right after one another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VisitComparison {
    /// The condition.
    pub condition: Condition,
    /// The first client.
    pub first: StackName,
    /// The other.
    pub other: StackName,
    /// The phase.
    pub phase: VisitPhase,
    /// The first one's times, of the pairs compared.
    pub first_figures: Figures,
    /// The other's.
    pub other_figures: Figures,
    /// The paired ratio, other over first.
    pub paired: PairedRatio,
    /// Pairs that are left out because the two negotiated something else.
    pub other_work: u64,
}

/// What was negotiated, and how often.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct VisitNegotiated {
    /// The browser or stack.
    pub client: StackName,
    /// The condition.
    pub condition: Condition,
    /// The TLS version.
    pub version: String,
    /// The suite.
    pub suite: Option<String>,
    /// The group.
    pub group: Option<String>,
    /// The application protocol.
    pub alpn: Option<String>,
    /// How many visits.
    pub visits: u64,
}

/// Visits of a client to a site that failed in one way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct VisitFailure {
    /// The site.
    pub site: String,
    /// The browser or stack.
    pub client: StackName,
    /// The condition.
    pub condition: Condition,
    /// The class of failure.
    pub class: FailureClass,
    /// Why, in a word that all clients share.
    pub reason: String,
    /// The code of the error page, or what else the client says.
    pub code: String,
    /// How many visits.
    pub visits: u64,
}

/// Visits of a client that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct VisitUnsupported {
    /// The browser or stack.
    pub client: StackName,
    /// The condition.
    pub condition: Condition,
    /// Why.
    pub reason: String,
    /// How many visits.
    pub visits: u64,
}

/// The times of a browser against those of its packets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PacketsRow {
    /// The browser.
    pub client: StackName,
    /// The visits whose packets the link saw.
    pub visits: u64,
    /// The marks that the browser does not tell and that are those of the packets, with which nothing is compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from_packets: Vec<Mark>,
    /// How far TCP connect is from the packets at the median, without its sign, in nanoseconds.
    pub tcp_departure_ns: Option<f64>,
    /// How far the handshake is.
    pub tls_departure_ns: f64,
    /// How far both together are.
    pub both_departure_ns: f64,
    /// How far the response's first byte is, counted from the beginning of TCP connect.
    #[serde(default)]
    pub first_byte_departure_ns: Option<f64>,
    /// How far the response's last byte is.
    #[serde(default)]
    pub end_departure_ns: Option<f64>,
    /// How many visits are over a millisecond off in both together.
    pub far_in_both: u64,
    /// The visits whose first byte was compared with the packets.
    #[serde(default)]
    pub responses: u64,
    /// How many of them are over two milliseconds off in the response's first or last byte.
    #[serde(default)]
    pub far_in_response: u64,
    /// Visits where TCP connect or the handshake is over a millisecond, or the response over two.
    pub far: Vec<FarVisit>,
}

/// A visit whose times are not those of its packets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FarVisit {
    /// The site.
    pub site: String,
    /// The condition.
    pub condition: Condition,
    /// The round.
    pub round: u32,
    /// How much more the browser says of TCP connect, in nanoseconds.
    pub tcp_departure_ns: Option<i64>,
    /// How much more it says of the handshake.
    pub tls_departure_ns: i64,
    /// How much later it says that the response's first byte came.
    #[serde(default)]
    pub first_byte_departure_ns: Option<i64>,
    /// How much later it says that the response's last byte came.
    #[serde(default)]
    pub end_departure_ns: Option<i64>,
}

/// A name or an address that clients tried and that is not the lab's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct AttemptRow {
    /// The browser or stack.
    pub client: StackName,
    /// What it was: `name updates.example`, `tcp 192.0.2.1:443`.
    pub to: String,
    /// In how many visits.
    pub visits: u64,
}

impl BrowserSummary {
    /// Packets to addresses that are not the lab's, of all visits.
    pub(crate) fn strays(&self) -> impl Iterator<Item = &AttemptRow> {
        self.elsewhere
            .iter()
            .filter(|row| !row.to.starts_with("name "))
    }

    /// How many visits there were, and of how many the page was loaded.
    pub(crate) fn loaded(&self) -> (u64, u64) {
        let sum = |of: fn(&ClientRow) -> u64| self.clients.iter().map(of).sum();
        (sum(|row| row.loaded), sum(|row| row.visits))
    }

    /// `3 visits`.
    pub(crate) fn visits(of: u64) -> String {
        count(of, "visit", "visits")
    }
}
