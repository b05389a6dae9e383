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

    fn fault(&self) -> Option<&'static str> {
        let visit = self.outcome.ok()?;
        (visit.times.total_ns == Some(0)).then_some("total_ns is 0 in a visit that ended well")
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
    /// The marks among these that are those of the packets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from_packets: Vec<Mark>,
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
    /// From the beginning of TCP connect to the response's last byte: `responseEnd` − `connectStart`. `None` if the client does
    /// not tell it and the packets do not either.
    pub total_ns: Option<u64>,
}

impl VisitTimes {
    /// Returns the time from the beginning of TCP connect to the request.
    pub fn request_ns(&self) -> u64 {
        self.tcp_ns + self.tls_ns + self.wait_ns
    }
}

/// A mark of a visit that a client does not tell exactly, and that was taken from its packets.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// The end of TCP connect.
    Connected,
    /// The response's last byte.
    End,
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
    /// From the first SYN until the response's first record was whole at the client, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_ns: Option<u64>,
    /// From the first SYN until the server's last byte was at the client, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_ns: Option<u64>,
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

/// How far a client's own times are from those of its packets; positive where the client says more. `None` is what the
/// packets do not tell, and what the client does not tell and was taken from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departures {
    /// Of TCP connect, in nanoseconds.
    pub tcp_ns: Option<i64>,
    /// Of the TLS handshake.
    pub tls_ns: i64,
    /// Of the response's first byte, counted from the beginning of TCP connect.
    pub first_byte_ns: Option<i64>,
    /// Of the response's last byte, counted from the beginning of TCP connect.
    pub end_ns: Option<i64>,
}

impl Departures {
    /// The limit of TCP connect and of the handshake, beyond which a visit is named.
    pub const LIMIT: Duration = Duration::from_millis(1);

    /// The limit of the response's first and last byte: a browser marks them in another thread than the one that reads.
    pub const RESPONSE_LIMIT: Duration = Duration::from_millis(2);

    /// Returns those of a visit, if the link saw its connection.
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
        let is_told = |mark| !visit.from_packets.contains(&mark);
        Some(Self {
            tcp_ns: match is_told(Mark::Connected) {
                true => Some(less(times.tcp_ns, link.tcp_ns?)?),
                false => None,
            },
            tls_ns: less(told, link.protected_ns?)?,
            first_byte_ns: link
                .first_byte_ns
                .and_then(|packets_ns| less(times.request_ns() + times.first_byte_ns, packets_ns)),
            end_ns: (times
                .total_ns
                .filter(|_| is_told(Mark::End))
                .zip(link.end_ns))
            .and_then(|(told_ns, packets_ns)| less(told_ns, packets_ns)),
        })
    }

    /// Returns that of TCP connect and the handshake together. A browser that is late to take up its connection says more of one and
    /// less of the other.
    pub fn both_ns(self) -> i64 {
        self.tcp_ns.unwrap_or_default().saturating_add(self.tls_ns)
    }

    /// Returns whether TCP connect or the handshake is beyond [`Self::LIMIT`].
    pub fn are_far(self) -> bool {
        [self.tcp_ns, Some(self.tls_ns)]
            .into_iter()
            .flatten()
            .any(|ns| is_beyond(Self::LIMIT, ns))
    }

    /// Returns whether both together are beyond [`Self::LIMIT`].
    pub fn are_far_in_both(self) -> bool {
        is_beyond(Self::LIMIT, self.both_ns())
    }

    /// Returns whether the response's first or last byte is beyond [`Self::RESPONSE_LIMIT`].
    pub fn response_is_far(self) -> bool {
        [self.first_byte_ns, self.end_ns]
            .into_iter()
            .flatten()
            .any(|ns| is_beyond(Self::RESPONSE_LIMIT, ns))
    }
}

fn is_beyond(limit: Duration, departure_ns: i64) -> bool {
    u128::from(departure_ns.unsigned_abs()) > limit.as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TlsVersion;

    const TIMES: VisitTimes = VisitTimes {
        dns_ns: 0,
        tcp_ns: 20_400_000,
        tls_ns: 25_000_000,
        wait_ns: 500_000,
        first_byte_ns: 21_000_000,
        total_ns: Some(70_000_000),
    };

    fn of(version: TlsVersion, from_packets: &[Mark], link: &OnTheLink) -> Option<Departures> {
        let visit = Visit {
            times: TIMES,
            from_packets: from_packets.to_vec(),
            client: Negotiated {
                version: Some(version),
                ..Negotiated::default()
            },
            server: None,
            http_status: 200,
            body_bytes: 0,
            objects: None,
        };
        Departures::of(&visit, link)
    }

    #[test]
    fn departures_are_those_of_the_versions_own_mark() {
        let link = OnTheLink {
            tcp_ns: Some(20_000_000),
            protected_ns: Some(24_000_000),
            ..OnTheLink::default()
        };
        let departures = |tls_ns| Departures {
            tcp_ns: Some(400_000),
            tls_ns,
            first_byte_ns: None,
            end_ns: None,
        };
        assert_eq!(
            of(TlsVersion::Tls13, &[], &link),
            Some(departures(1_000_000))
        );
        assert_eq!(
            of(TlsVersion::Tls12, &[], &link),
            Some(departures(1_500_000))
        );
        assert_eq!(departures(-1_000_000).both_ns(), -600_000);
        assert!(!departures(-1_000_000).are_far());
        assert!(departures(-1_000_001).are_far());
        assert!(!departures(-1_000_001).are_far_in_both());
        assert!(!departures(-1_000_001).response_is_far());
    }

    #[test]
    fn the_response_is_compared_with_its_packets() {
        let link = |first_byte_ns, end_ns| OnTheLink {
            tcp_ns: Some(20_000_000),
            protected_ns: Some(24_000_000),
            first_byte_ns: Some(first_byte_ns),
            end_ns: Some(end_ns),
            ..OnTheLink::default()
        };
        let found = |from_packets: &[Mark], first_byte_ns, end_ns| {
            let link = link(first_byte_ns, end_ns);
            let found = of(TlsVersion::Tls13, from_packets, &link).expect("departures");
            (found.first_byte_ns, found.end_ns, found.response_is_far())
        };
        assert_eq!(
            found(&[], 66_000_000, 71_000_000),
            (Some(900_000), Some(-1_000_000), false)
        );
        // An end that is the beginning: the page came over 50 ms more.
        assert_eq!(
            found(&[], 66_900_000, 120_000_000),
            (Some(0), Some(-50_000_000), true)
        );
        assert_eq!(
            found(&[], 60_000_000, 70_000_000),
            (Some(6_900_000), Some(0), true)
        );
        // No figure is compared with itself.
        assert_eq!(
            found(&[Mark::End], 66_900_000, 70_000_000),
            (Some(0), None, false)
        );
        let link = link(66_900_000, 70_000_000);
        let found = of(TlsVersion::Tls13, &[Mark::Connected], &link);
        assert_eq!(
            found.map(|found| (found.tcp_ns, found.both_ns())),
            Some((None, 1_000_000))
        );
    }
}
