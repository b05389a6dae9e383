//! Navigation Timing and Resource Timing (W3C): the times of a page's steps and of its objects, in
//! milliseconds since the navigation began.

use netbench_model::browser::{ObjectsLoad, VisitTimes};
use serde::Deserialize;

/// The expression that returns a page's timing, and that of its objects.
pub(crate) const EXPRESSION: &str = "JSON.stringify(Object.assign(\
    JSON.parse(JSON.stringify(performance.getEntriesByType('navigation')[0])), \
    {objects: performance.getEntriesByType('resource').map((it) => ({connectStart: it.connectStart, \
    connectEnd: it.connectEnd, responseEnd: it.responseEnd, decodedBodySize: it.decodedBodySize}))}))";

/// The fields of `PerformanceNavigationTiming` that are used.
#[derive(Debug, Clone, PartialEq, Deserialize)]
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
    #[serde(default)]
    load_event_start: f64,
    #[serde(default)]
    objects: Vec<ResourceTiming>,
}

/// The fields of `PerformanceResourceTiming` that are used.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceTiming {
    connect_start: f64,
    connect_end: f64,
    response_end: f64,
    decoded_body_size: u64,
}

impl NavigationTiming {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("its timing cannot be read: {error}"))
    }

    /// Returns the times between the page's marks.
    ///
    /// # Errors
    /// Returns an error if the page was loaded over no new TLS connection, or its marks are not in order.
    pub(crate) fn times(&self) -> Result<VisitTimes, String> {
        if self.secure_connection_start <= 0.0 || self.connect_end <= self.connect_start {
            return Err("the page came over a connection that was there before".to_owned());
        }
        Ok(VisitTimes {
            dns_ns: self.between(self.domain_lookup_start, self.domain_lookup_end)?,
            tcp_ns: self.between(self.connect_start, self.secure_connection_start)?,
            tls_ns: self.between(self.secure_connection_start, self.connect_end)?,
            wait_ns: self.between(self.connect_end, self.request_start)?,
            first_byte_ns: Some(self.between(self.request_start, self.response_start)?),
            total_ns: Some(self.between(self.connect_start, self.response_end)?),
        })
    }

    /// Returns the objects of the page, or `None` where it had none.
    pub(crate) fn objects(&self) -> Result<Option<ObjectsLoad>, String> {
        if self.objects.is_empty() {
            return Ok(None);
        }
        let came = self.objects.iter().filter(|it| it.response_end > 0.0);
        let reused = came.clone();
        let reused = reused.filter(|it| it.connect_end <= it.connect_start);
        let last = came.clone().map(|it| it.response_end);
        Ok(Some(ObjectsLoad {
            loaded: u32::try_from(came.clone().count()).unwrap_or(u32::MAX),
            bytes: came.map(|it| it.decoded_body_size).sum(),
            reused: u32::try_from(reused.count()).unwrap_or(u32::MAX),
            last_object_ns: self.between(self.connect_start, last.fold(0.0, f64::max))?,
            load_ns: self.between(self.connect_start, self.load_event_start)?,
        }))
    }

    fn between(&self, from: f64, to: f64) -> Result<u64, String> {
        let ns = ((to - from) * 1e6).round();
        // Marks are separately rounded to a part of a millisecond.
        let is_time = (-100_000.0..1e15).contains(&ns);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to 10^15"
        )]
        let ns = is_time.then(|| ns.max(0.0) as u64);
        ns.ok_or_else(|| format!("its timing is not in order: {self:?}"))
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
                first_byte_ns: Some(21_700_000),
                total_ns: Some(68_200_000),
            }
        );
    }

    #[test]
    fn objects_are_counted_from_the_pages_connect_on() {
        let page = r#"{"domainLookupStart":1,"domainLookupEnd":2,"connectStart":2,"secureConnectionStart":22,
            "connectEnd":47,"requestStart":48,"responseStart":69,"responseEnd":70,"decodedBodySize":1000,
            "loadEventStart":152,"objects":[
            {"connectStart":2,"connectEnd":2,"responseEnd":92,"decodedBodySize":10},
            {"connectStart":75,"connectEnd":120,"responseEnd":150.5,"decodedBodySize":20},
            {"connectStart":0,"connectEnd":0,"responseEnd":0,"decodedBodySize":0}]}"#;
        let objects = NavigationTiming::parse(page).expect("timing").objects();
        let due = ObjectsLoad {
            loaded: 2,
            bytes: 30,
            reused: 1,
            last_object_ns: 148_500_000,
            load_ns: 150_000_000,
        };
        assert_eq!(objects, Ok(Some(due)));
        let alone = NavigationTiming::parse(&page.replace("objects", "others")).expect("timing");
        assert_eq!(alone.objects(), Ok(None));
    }

    #[test]
    fn a_page_without_a_connection_of_its_own_has_no_times() {
        for secure in ["0", "1", "1e99"] {
            timing(secure).expect_err(secure);
        }
        NavigationTiming::parse("null").expect_err("no timing");
    }
}
