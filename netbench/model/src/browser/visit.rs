use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Condition, Failure, Negotiated, Record, SampleKey, ServerView, StackName};

/// One visit of a client to a site: one line of `samples.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VisitSample {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The session of the run: 0, incremented by every `netbench run`.
    pub session: u32,
    /// The unit of the plan. In a unit, all clients visit the same site one after the other.
    pub unit: u64,
    /// The site's name, as [`crate::Site::name`] gives it.
    pub site: String,
    /// The browser, or the stack.
    pub client: StackName,
    /// The state of the client.
    pub condition: Condition,
    /// The round, from 0.
    pub round: u32,
    /// Milliseconds since the Unix epoch at the start.
    pub started_unix_ms: u64,
    /// Duration of the visit, including a browser's start and end, in milliseconds.
    pub took_ms: u64,
    /// The outcome of the visit.
    pub outcome: VisitOutcome,
    /// The observations of the link; `None` if the link does not observe visits.
    pub link: Option<OnTheLink>,
}

impl VisitSample {
    /// Returns the key of the visit in the plan.
    pub fn key(&self) -> SampleKey<'_> {
        (self.condition, self.round, &self.site, &self.client)
    }
}

impl Record for VisitSample {
    fn schema(&self) -> u32 {
        self.schema
    }

    fn fault(&self) -> Option<&'static str> {
        let visit = self.outcome.ok()?;
        (visit.times.total_ns == Some(0)).then_some("total_ns is 0 in a visit that ended well")
    }
}

/// The outcome of a visit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum VisitOutcome {
    /// The page was loaded, and both sides report the same connection.
    Ok(Box<Visit>),
    /// The page was not loaded. The browser showed an error page, whose code is in the detail, or crashed or hung.
    Failed(Failure),
    /// The outcome cannot be determined.
    Unsupported {
        /// The reason.
        reason: String,
    },
    /// netbench's own lab failed, so the visit gives no information about the client or the site.
    #[serde(alias = "void")]
    Discarded {
        /// A description of the failure.
        reason: String,
    },
}

impl VisitOutcome {
    /// Returns the figures of the visit if the page was loaded.
    pub fn ok(&self) -> Option<&Visit> {
        match self {
            Self::Ok(visit) => Some(visit),
            Self::Failed(_) | Self::Unsupported { .. } | Self::Discarded { .. } => None,
        }
    }

    /// Returns whether the visit counts. A visit that the lab failed does not count.
    pub fn counts(&self) -> bool {
        !matches!(self, Self::Discarded { .. })
    }
}

/// A page that was loaded.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Visit {
    /// The times of the page as the client reports them. A browser reports them by Navigation Timing.
    pub times: VisitTimes,
    /// The marks in these times that were taken from the packets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from_packets: Vec<Mark>,
    /// The negotiated parameters as the client reports them. Where a browser does not report whether the session was
    /// resumed, the suite or the group, the server's report takes its place.
    pub client: Negotiated,
    /// The negotiated parameters as the server reports them.
    pub server: Option<ServerView>,
    /// The status of the response.
    pub http_status: u16,
    /// Bytes of the response's body.
    pub body_bytes: u64,
    /// The other objects of the page, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectsLoad>,
    /// The scheduler's counters of a browser's threads while the page was loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled: Option<Scheduled>,
    /// The time from which `times` and those of `objects` count, by CLOCK_MONOTONIC, until they count from the first SYN.
    #[serde(skip)]
    pub begun_ns: Option<u64>,
}

/// The time that threads ran and waited for a core, by the counters of Linux' scheduler.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scheduled {
    /// The sum over all threads of the time on a core, in nanoseconds.
    pub ran_ns: u64,
    /// The sum over all threads of the time for which they could have run and had no core, in nanoseconds.
    pub waited_ns: u64,
}

/// The objects of a page, as Resource Timing reports them. Times start at the beginning of the page's TCP connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectsLoad {
    /// Number of objects that were loaded.
    pub loaded: u32,
    /// Sum of the sizes of their bodies, in bytes.
    pub bytes: u64,
    /// Number of objects that came over an existing connection: `connectEnd` = `connectStart`.
    pub reused: u32,
    /// Time to the last byte of the last object, in nanoseconds.
    pub last_object_ns: u64,
    /// Time to the page's load event, in nanoseconds.
    pub load_ns: u64,
}

/// The times of the phases of a page, in nanoseconds. Browsers round them to a tenth of a millisecond or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct VisitTimes {
    /// The name's lookup: `domainLookupEnd` − `domainLookupStart`. In Servo, the time from its mark before the lookup to
    /// the first SYN.
    pub dns_ns: u64,
    /// TCP connect: `secureConnectionStart` − `connectStart`.
    pub tcp_ns: u64,
    /// The TLS handshake: `connectEnd` − `secureConnectionStart`.
    pub tls_ns: u64,
    /// Time from the handshake's end to the request: `requestStart` − `connectEnd`.
    pub wait_ns: u64,
    /// Time from the request to the response's first byte: `responseStart` − `requestStart`. `None` if neither the client
    /// nor the packets show it.
    pub first_byte_ns: Option<u64>,
    /// Time from the beginning of TCP connect to the response's last byte: `responseEnd` − `connectStart`. `None` if
    /// neither the client nor the packets show it.
    pub total_ns: Option<u64>,
}

impl VisitTimes {
    /// Returns the time from the beginning of TCP connect to the request.
    pub fn request_ns(&self) -> u64 {
        self.tcp_ns + self.tls_ns + self.wait_ns
    }
}

/// A mark of a visit that a client does not report exactly and that was taken from its packets.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// The end of TCP connect.
    Connected,
    /// The end of the handshake.
    Protected,
    /// The response's first byte.
    FirstByte,
    /// The response's last byte.
    End,
}

/// The link's observations of a visit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OnTheLink {
    /// Number of connections to the site and to the other origins of its page.
    pub connections: u32,
    /// Time from the first SYN of the page's connection to the SYN-ACK, in nanoseconds, at the client's end of the
    /// link.
    pub tcp_ns: Option<u64>,
    /// Time from the SYN-ACK to the client's first protected record, in nanoseconds. That record is the client's
    /// Finished in TLS 1.3 and the request in earlier versions.
    pub protected_ns: Option<u64>,
    /// Time from the first SYN until the response's first record is complete at the client, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_ns: Option<u64>,
    /// Time from the first SYN until the server's last byte is at the client, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_ns: Option<u64>,
    /// Names that the client queried a name server for. No name server exists.
    pub names: Vec<String>,
    /// Packets to addresses outside the lab. Such packets are dropped.
    pub elsewhere: Vec<Attempt>,
}

/// Packets with a destination outside the lab.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// The destination: `tcp 192.0.2.1:443`.
    pub to: String,
    /// Number of packets.
    pub packets: u64,
}

/// Differences between the times that a client reports and those of its packets, positive where the client reports
/// more. `None` if the packets do not show a time, or if the client does not report it and it was taken from the
/// packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departures {
    /// Difference of TCP connect, in nanoseconds.
    pub tcp_ns: Option<i64>,
    /// Difference of the TLS handshake.
    pub tls_ns: Option<i64>,
    /// Difference of the response's first byte, counted from the beginning of TCP connect.
    pub first_byte_ns: Option<i64>,
    /// Difference of the response's last byte, counted from the beginning of TCP connect.
    pub end_ns: Option<i64>,
}

impl Departures {
    /// The limit of TCP connect and of the handshake, above which a visit is listed.
    pub const LIMIT: Duration = Duration::from_millis(1);

    /// The limit of the response's first and last byte, which a browser marks in a different thread from the one that
    /// reads.
    pub const RESPONSE_LIMIT: Duration = Duration::from_millis(2);

    /// Returns the differences of a visit if the link observed its connection.
    pub fn of(visit: &Visit, link: &OnTheLink) -> Option<Self> {
        // In TLS 1.3 the handshake ends when the client sends its Finished. In earlier versions the first protected
        // record is the request.
        let is_13 = visit.client.version == Some(crate::TlsVersion::Tls13);
        let times = &visit.times;
        let told = if is_13 {
            times.tls_ns
        } else {
            times.tls_ns + times.wait_ns
        };
        Some(Self {
            tcp_ns: match visit.tells(Mark::Connected) {
                true => Some(difference(times.tcp_ns, link.tcp_ns?)?),
                false => None,
            },
            tls_ns: match visit.tells(Mark::Protected) {
                true => Some(difference(told, link.protected_ns?)?),
                false => None,
            },
            first_byte_ns: (times.first_byte_ns)
                .filter(|_| visit.tells(Mark::FirstByte))
                .zip(link.first_byte_ns)
                .and_then(|(own, packets)| difference(times.request_ns() + own, packets)),
            end_ns: (times.total_ns)
                .filter(|_| visit.tells(Mark::End))
                .zip(link.end_ns)
                .and_then(|(told, packets)| difference(told, packets)),
        })
    }

    /// Returns the difference of TCP connect and the handshake together, or `None` if the end of the handshake was
    /// taken from the packets. A browser that takes up its connection late reports more of one and less of the other.
    pub fn both_ns(self) -> Option<i64> {
        let tls_ns = self.tls_ns?;
        Some(self.tcp_ns.unwrap_or_default().saturating_add(tls_ns))
    }

    /// Returns whether TCP connect or the handshake differs by more than [`Self::LIMIT`].
    pub fn are_far(self) -> bool {
        [self.tcp_ns, self.tls_ns]
            .into_iter()
            .flatten()
            .any(|ns| is_beyond(Self::LIMIT, ns))
    }

    /// Returns whether both together differ by more than [`Self::LIMIT`].
    pub fn are_far_in_both(self) -> bool {
        self.both_ns().is_some_and(|ns| is_beyond(Self::LIMIT, ns))
    }

    /// Returns whether the response's first or last byte differs by more than [`Self::RESPONSE_LIMIT`].
    pub fn response_is_far(self) -> bool {
        [self.first_byte_ns, self.end_ns]
            .into_iter()
            .flatten()
            .any(|ns| is_beyond(Self::RESPONSE_LIMIT, ns))
    }
}

impl Visit {
    /// Returns whether the browser itself reported the mark.
    fn tells(&self, mark: Mark) -> bool {
        !self.from_packets.contains(&mark)
    }
}

fn difference(a: u64, b: u64) -> Option<i64> {
    i64::try_from(a).ok()?.checked_sub(i64::try_from(b).ok()?)
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
        first_byte_ns: Some(21_000_000),
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
            scheduled: None,
            begun_ns: None,
        };
        Departures::of(&visit, link)
    }

    fn departures(tls_ns: i64) -> Departures {
        Departures {
            tcp_ns: Some(400_000),
            tls_ns: Some(tls_ns),
            first_byte_ns: None,
            end_ns: None,
        }
    }

    fn link(first_byte_ns: u64, end_ns: u64) -> OnTheLink {
        OnTheLink {
            tcp_ns: Some(20_000_000),
            protected_ns: Some(24_000_000),
            first_byte_ns: Some(first_byte_ns),
            end_ns: Some(end_ns),
            ..OnTheLink::default()
        }
    }

    #[test]
    fn departures_are_those_of_the_versions_own_mark() {
        let link = OnTheLink {
            tcp_ns: Some(20_000_000),
            protected_ns: Some(24_000_000),
            ..OnTheLink::default()
        };
        for (version, tls_ns) in [
            (TlsVersion::Tls13, 1_000_000),
            (TlsVersion::Tls12, 1_500_000),
        ] {
            assert_eq!(of(version, &[], &link), Some(departures(tls_ns)));
        }
        assert_eq!(departures(-1_000_000).both_ns(), Some(-600_000));
        assert!(!departures(-1_000_000).are_far());
        assert!(departures(-1_000_001).are_far());
        assert!(!departures(-1_000_001).are_far_in_both());
        assert!(!departures(-1_000_001).response_is_far());
    }

    #[test]
    fn the_response_is_compared_with_its_packets() {
        let none = &[][..];
        for (from_packets, link_us, first_byte_us, end_us, is_far) in [
            (none, [66_000, 71_000], 900, Some(-1_000), false),
            // The client reports the end with the first bytes, but the page took another 50 ms.
            (none, [66_900, 120_000], 0, Some(-50_000), true),
            (none, [60_000, 70_000], 6_900, Some(0), true),
            // A figure is not compared with itself.
            (&[Mark::End], [66_900, 70_000], 0, None, false),
        ] {
            let [first_ns, last_ns] = link_us.map(|us| us * 1000);
            let link = link(first_ns, last_ns);
            let found = of(TlsVersion::Tls13, from_packets, &link).expect("departures");
            assert_eq!(found.first_byte_ns, Some(first_byte_us * 1000));
            let end_ns = end_us.map(|us: i64| us * 1000);
            assert_eq!((found.end_ns, found.response_is_far()), (end_ns, is_far));
        }
        let link = link(66_900_000, 70_000_000);
        let found = of(TlsVersion::Tls13, &[Mark::Connected], &link);
        assert_eq!(
            found.map(|found| (found.tcp_ns, found.both_ns())),
            Some((None, Some(1_000_000)))
        );
        let all = [Mark::Connected, Mark::Protected, Mark::FirstByte];
        let found = of(TlsVersion::Tls13, &all, &link).expect("departures");
        assert_eq!(
            (found.tls_ns, found.both_ns(), found.first_byte_ns),
            (None, None, None)
        );
        assert_eq!(found.end_ns, Some(0));
        assert!(!found.are_far() && !found.are_far_in_both() && !found.response_is_far());
    }
}
