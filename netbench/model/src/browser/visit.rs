use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Condition, Failure, Negotiated, Record, ServerView, StackName};

/// One visit of a client to a site: one line of `samples.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VisitSample {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// Which session of the run took it: 0, and one more at every `--resume`.
    pub session: u32,
    /// The unit of the plan that it is of. All clients visit the same site in a unit, one right after the other.
    pub unit: u64,
    /// The site's name, as [`crate::Site::name`] gives it.
    pub site: String,
    /// The browser, or the stack.
    pub client: StackName,
    /// The state that the client was in.
    pub condition: Condition,
    /// The round, from 0.
    pub round: u32,
    /// Milliseconds since the Unix epoch at the start.
    pub started_unix_ms: u64,
    /// What a browser's start and end and the visit took together, in milliseconds.
    pub took_ms: u64,
    /// What came of it.
    pub outcome: VisitOutcome,
    /// What the link saw of it; none where the link does not look.
    pub link: Option<OnTheLink>,
}

impl VisitSample {
    /// Which visit of the plan it is.
    pub fn key(&self) -> (Condition, u32, &str, &StackName) {
        (self.condition, self.round, &self.site, &self.client)
    }
}

impl Record for VisitSample {
    const FILE: &'static str = "samples.jsonl";

    fn schema(&self) -> u32 {
        self.schema
    }
}

/// What came of a visit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum VisitOutcome {
    /// The page was loaded, and both sides say the same of the connection.
    Ok(Box<Visit>),
    /// It was not: an error page, whose code the detail has, or a browser that crashed or hung.
    Failed(Failure),
    /// It cannot be told.
    Unsupported {
        /// Why.
        reason: String,
    },
    /// netbench's own lab failed, which says nothing of client or site.
    Void {
        /// What happened.
        reason: String,
    },
}

impl VisitOutcome {
    /// The figures, where the page was loaded.
    pub fn ok(&self) -> Option<&Visit> {
        match self {
            Self::Ok(visit) => Some(visit),
            Self::Failed(_) | Self::Unsupported { .. } | Self::Void { .. } => None,
        }
    }

    /// Whether the visit was made. One that was not says nothing.
    pub fn counts(&self) -> bool {
        !matches!(self, Self::Void { .. })
    }
}

/// A page that was loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Visit {
    /// Where the time went, as the client says: a browser by the page's own Navigation Timing.
    pub times: VisitTimes,
    /// What the client says was agreed. A browser does not say everything: whether a session was resumed is what
    /// the server says where the browser does not, and so are suite and group.
    pub client: Negotiated,
    /// What the server says was agreed.
    pub server: Option<ServerView>,
    /// The status of the response.
    pub http_status: u16,
    /// Bytes of the response's body.
    pub body_bytes: u64,
    /// What else was on the page, where there was more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectsLoad>,
}

/// The objects of a page, by its own Resource Timing. Times are from the beginning of the page's TCP connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectsLoad {
    /// Objects that were loaded.
    pub loaded: u32,
    /// Bytes of their bodies together.
    pub bytes: u64,
    /// Of them, those that came over a connection that was there already: `connectEnd` = `connectStart`.
    pub reused: u32,
    /// To the last object's last byte, in nanoseconds.
    pub last_object_ns: u64,
    /// To the page's load event, in nanoseconds.
    pub load_ns: u64,
}

/// Where the time of a page went, in nanoseconds. Browsers tell it to a tenth of a millisecond, or less exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VisitTimes {
    /// The name's lookup: `domainLookupEnd` − `domainLookupStart`.
    pub dns_ns: u64,
    /// TCP connect: `secureConnectionStart` − `connectStart`.
    pub tcp_ns: u64,
    /// The TLS handshake: `connectEnd` − `secureConnectionStart`.
    pub tls_ns: u64,
    /// From the handshake's end to the request: `requestStart` − `connectEnd`.
    pub wait_ns: u64,
    /// From the request to the response's first byte: `responseStart` − `requestStart`.
    pub first_byte_ns: u64,
    /// From the beginning of TCP connect to the response's last byte: `responseEnd` − `connectStart`.
    pub total_ns: u64,
}

/// What the link saw of a visit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OnTheLink {
    /// Connections to the site, and to the other origins of its page.
    pub connections: u32,
    /// Of the connection that the page came over: from the first SYN to its answer, in nanoseconds, at the
    /// client's end of the link.
    pub tcp_ns: Option<u64>,
    /// From there to the client's first protected record, which is its Finished in TLS 1.3 and its request before
    /// that, in nanoseconds.
    pub protected_ns: Option<u64>,
    /// Names that the client asked a name server for. There is none.
    pub names: Vec<String>,
    /// Packets to addresses that are not the lab's. None of them got anywhere.
    pub elsewhere: Vec<Attempt>,
}

/// Packets that were to go where nothing of the lab is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// To where: `tcp 192.0.2.1:443`.
    pub to: String,
    /// How many.
    pub packets: u64,
}

/// How far a browser's own times are from those of its packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departures {
    /// Of TCP connect, in nanoseconds; positive where the browser says more.
    pub tcp_ns: i64,
    /// Of the TLS handshake.
    pub tls_ns: i64,
}

impl Departures {
    /// More than this is told.
    pub const LIMIT: Duration = Duration::from_millis(1);

    /// Those of a visit, where the link saw its connection.
    pub fn of(visit: &Visit, link: &OnTheLink) -> Option<Self> {
        // In TLS 1.3 the handshake ends as the client's Finished leaves. Before, the first protected record is
        // the request.
        let is_13 = visit.client.version == Some(crate::TlsVersion::Tls13);
        let times = &visit.times;
        let told = if is_13 {
            times.tls_ns
        } else {
            times.tls_ns + times.wait_ns
        };
        let less = |a: u64, b: u64| i64::try_from(a).ok()?.checked_sub(i64::try_from(b).ok()?);
        Some(Self {
            tcp_ns: less(times.tcp_ns, link.tcp_ns?)?,
            tls_ns: less(told, link.protected_ns?)?,
        })
    }

    /// Of both together. A browser that is late to take up its connection says more of one and less of the other.
    pub fn both_ns(self) -> i64 {
        self.tcp_ns.saturating_add(self.tls_ns)
    }

    /// Whether either is more than [`Self::LIMIT`].
    pub fn are_far(self) -> bool {
        is_far(self.tcp_ns) || is_far(self.tls_ns)
    }

    /// Whether both together are more than [`Self::LIMIT`].
    pub fn are_far_in_both(self) -> bool {
        is_far(self.both_ns())
    }
}

fn is_far(departure_ns: i64) -> bool {
    u128::from(departure_ns.unsigned_abs()) > Departures::LIMIT.as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TlsVersion;

    #[test]
    fn departures_are_those_of_the_versions_own_mark() {
        let times = VisitTimes {
            dns_ns: 0,
            tcp_ns: 20_400_000,
            tls_ns: 25_000_000,
            wait_ns: 500_000,
            first_byte_ns: 21_000_000,
            total_ns: 70_000_000,
        };
        let link = OnTheLink {
            tcp_ns: Some(20_000_000),
            protected_ns: Some(24_000_000),
            ..OnTheLink::default()
        };
        let of = |version| {
            let visit = Visit {
                times,
                client: Negotiated {
                    version: Some(version),
                    ..Negotiated::default()
                },
                server: None,
                http_status: 200,
                body_bytes: 0,
                objects: None,
            };
            Departures::of(&visit, &link)
        };
        let departures = |tls_ns| Departures {
            tcp_ns: 400_000,
            tls_ns,
        };
        assert_eq!(of(TlsVersion::Tls13), Some(departures(1_000_000)));
        assert_eq!(of(TlsVersion::Tls12), Some(departures(1_500_000)));
        assert_eq!(departures(-1_000_000).both_ns(), -600_000);
        assert!(!departures(-1_000_000).are_far());
        assert!(departures(-1_000_001).are_far());
        assert!(!departures(-1_000_001).are_far_in_both());
    }
}
