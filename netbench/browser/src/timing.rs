//! Navigation Timing (W3C): when a page's steps were, in milliseconds since the navigation began.

use netbench_model::browser::VisitTimes;
use serde::Deserialize;

/// The expression that gives a page's own timing.
pub(crate) const EXPRESSION: &str = "JSON.stringify(performance.getEntriesByType('navigation')[0])";

/// What is read of `PerformanceNavigationTiming`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NavigationTiming {
    domain_lookup_start: f64,
    domain_lookup_end: f64,
    connect_start: f64,
    secure_connection_start: f64,
    connect_end: f64,
    request_start: f64,
    response_start: f64,
    response_end: f64,
    pub(crate) decoded_body_size: u64,
}

impl NavigationTiming {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("its timing cannot be read: {error}"))
    }

    /// The times between its marks.
    ///
    /// # Errors
    /// The page came over no TLS connection of its own, or its marks are not in order.
    pub(crate) fn times(&self) -> Result<VisitTimes, String> {
        if self.secure_connection_start <= 0.0 || self.connect_end <= self.connect_start {
            return Err("the page came over a connection that was there before".to_owned());
        }
        let between = |from: f64, to: f64| {
            let ns = ((to - from) * 1e6).round();
            // Marks are rounded to a part of a millisecond, each by itself.
            let is_time = (-100_000.0..1e15).contains(&ns);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 0 to 10^15"
            )]
            let ns = is_time.then(|| ns.max(0.0) as u64);
            ns.ok_or_else(|| format!("its timing is not in order: {self:?}"))
        };
        Ok(VisitTimes {
            dns_ns: between(self.domain_lookup_start, self.domain_lookup_end)?,
            tcp_ns: between(self.connect_start, self.secure_connection_start)?,
            tls_ns: between(self.secure_connection_start, self.connect_end)?,
            wait_ns: between(self.connect_end, self.request_start)?,
            first_byte_ns: between(self.request_start, self.response_start)?,
            total_ns: between(self.connect_start, self.response_end)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(secure: &str) -> Result<VisitTimes, String> {
        let text = format!(
            r#"{{"name":"https://a.example/","domainLookupStart":1.5,"domainLookupEnd":2,"connectStart":2,
            "secureConnectionStart":{secure},"connectEnd":47.1,"requestStart":47.3,"responseStart":69,
            "responseEnd":70.2,"decodedBodySize":1000}}"#
        );
        NavigationTiming::parse(&text)?.times()
    }

    #[test]
    fn times_are_those_between_the_marks() {
        let times = timing("22.4").expect("times");
        assert_eq!(
            times,
            VisitTimes {
                dns_ns: 500_000,
                tcp_ns: 20_400_000,
                tls_ns: 24_700_000,
                wait_ns: 200_000,
                first_byte_ns: 21_700_000,
                total_ns: 68_200_000,
            }
        );
    }

    #[test]
    fn a_page_without_a_connection_of_its_own_has_no_times() {
        for secure in ["0", "1", "1e99"] {
            timing(secure).expect_err(secure);
        }
        NavigationTiming::parse("null").expect_err("no timing");
    }
}
