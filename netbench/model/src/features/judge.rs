//! The judgement of outcomes: by the report of the page and by the record of the server.

use std::collections::BTreeSet;

use super::{
    ExpectedConnections, ExpectedRequests, FeatureCase, FeatureOutcome, Guards, PageReport, Scheme,
    SeenRequest, WebSeen,
};
use crate::compat::Judgement;

impl FeatureCase {
    /// Returns the judgement of an outcome.
    pub fn judge(&self, outcome: &FeatureOutcome) -> Judgement {
        match outcome {
            FeatureOutcome::Crash { .. } => Judgement::Crashed,
            FeatureOutcome::Silent { .. } => Judgement::Hung,
            FeatureOutcome::Unsupported { .. } => Judgement::Unsupported,
            FeatureOutcome::Reported { seen } => match (&seen.report, self.guards) {
                (Some(PageReport::Unsupported(_)), _) => Judgement::Unsupported,
                _ if self.differences(seen).is_empty() => Judgement::Right,
                (_, Guards::Function | Guards::Speed) => Judgement::FalseReject,
                (_, Guards::Protection) => Judgement::FalseAccept,
            },
        }
    }

    /// Returns each difference between the server's record and the expectation, in words.
    pub fn differences(&self, seen: &WebSeen) -> Vec<String> {
        let mut found = match &seen.report {
            None => vec!["the page did not report".to_owned()],
            Some(PageReport::Unsupported(_)) => return Vec::new(),
            Some(PageReport::Failed(error)) => {
                vec![format!("the page's script ended with {error}")]
            }
            Some(PageReport::Told(told)) => {
                let expected = self.told.iter();
                let expected = expected.filter_map(|(name, due)| match told.get(name) {
                    Some(value) if value == due => None,
                    Some(value) => Some(format!("{name} is {}, not {}", shown(value), shown(due))),
                    None => Some(format!("{name} is missing, not {}", shown(due))),
                });
                expected.collect()
            }
        };
        found.extend(self.requests.iter().filter_map(|due| due.difference(seen)));
        found.extend(
            self.connections
                .iter()
                .flat_map(|due| due.differences(seen)),
        );
        found
    }
}

fn shown(value: &str) -> &str {
    if value.is_empty() { "empty" } else { value }
}

impl ExpectedRequests {
    fn difference(&self, seen: &WebSeen) -> Option<String> {
        let requests = seen.requests.iter();
        let number = requests.filter(|request| self.fits(request, seen)).count();
        (!self.times.permits(number))
            .then(|| format!("the server saw {number} of {self}, not {}", self.times))
    }

    fn fits(&self, request: &SeenRequest, seen: &WebSeen) -> bool {
        request.path == self.path
            && self.host.as_ref().is_none_or(|due| *due == request.host)
            && (self.method.as_ref()).is_none_or(|due| *due == request.method)
            && (self.scheme).is_none_or(|due| seen.scheme_of(request) == Some(due))
            && self
                .headers
                .iter()
                .all(|(name, due)| is_same(request.headers.get(name), due))
            && !self
                .without
                .iter()
                .any(|name| request.headers.contains_key(name))
    }
}

/// Returns whether a header has this value. Spaces after the commas of a list are optional (RFC 9110 section 5.6.1).
fn is_same(value: Option<&String>, due: &str) -> bool {
    value.is_some_and(|value| {
        let elements = value.split(',').map(str::trim);
        elements.eq(due.split(',').map(str::trim))
    })
}

/// Names the requests: `POST https://a.test/echo with origin: null`.
impl std::fmt::Display for ExpectedRequests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(method) = &self.method {
            write!(f, "{method} ")?;
        }
        if let Some(scheme) = self.scheme {
            write!(f, "{scheme}:")?;
        }
        if let Some(host) = &self.host {
            write!(f, "//{host}")?;
        }
        f.write_str(&self.path)?;
        for (name, value) in &self.headers {
            write!(f, " with {name}: {value}")?;
        }
        for name in &self.without {
            write!(f, " without {name}")?;
        }
        Ok(())
    }
}

impl ExpectedConnections {
    fn differences(&self, seen: &WebSeen) -> Vec<String> {
        let used: BTreeSet<u32> = seen
            .requests
            .iter()
            .map(|request| request.connection)
            .collect();
        let connections = seen.connections.iter().filter(|connection| {
            connection.scheme == Scheme::Https
                && connection.host == self.host
                && used.contains(&connection.number)
        });
        let resumed = connections
            .clone()
            .filter(|connection| connection.resumed)
            .count();
        let numbers = [
            ("connections", self.used, connections.count()),
            ("resumed connections", self.resumed, resumed),
        ];
        let wrong = numbers.into_iter().filter_map(|(what, due, number)| {
            let due = due.filter(|due| !due.permits(number))?;
            Some(format!(
                "the server saw {number} {what} to {}, not {due}",
                self.host
            ))
        });
        wrong.collect()
    }
}

impl WebSeen {
    fn scheme_of(&self, request: &SeenRequest) -> Option<Scheme> {
        let mut connections = self.connections.iter();
        let own = connections.find(|connection| connection.number == request.connection);
        own.map(|connection| connection.scheme)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(guards: &str) -> FeatureCase {
        serde_json::from_value(serde_json::json!({
            "name": "fetch/a",
            "about": "It fetches.",
            "standard": "Fetch",
            "url": "https://fetch.spec.whatwg.org/",
            "why": "A reason.",
            "guards": guards,
            "start": "https://fetch-a.test/",
            "told": {"status": "200"},
            "requests": [
                {"times": "1", "path": "/echo", "method": "POST", "scheme": "https", "headers": {"origin": "null"}, "without": ["cookie"]},
                {"times": "0", "path": "/secret"},
            ],
            "connections": [{"host": "fetch-a.test", "used": "1", "resumed": "0"}],
        }))
        .unwrap()
    }

    /// Returns the record of the expected outcome, which `change` changes.
    fn seen(change: impl Fn(&mut WebSeen)) -> FeatureOutcome {
        let mut seen = serde_json::from_value(serde_json::json!({
            "report": {"told": {"status": "200", "more": "x"}},
            "requests": [
                {"connection": 4, "host": "fetch-a.test", "method": "POST", "path": "/echo", "headers": {"origin": "null"}},
            ],
            "connections": [
                {"number": 4, "scheme": "https", "host": "fetch-a.test"},
                // A connection without a request does not count.
                {"number": 5, "scheme": "https", "host": "fetch-a.test", "error": "closed"},
            ],
        }))
        .unwrap();
        change(&mut seen);
        FeatureOutcome::Reported { seen }
    }

    fn told(value: &str) -> Option<PageReport> {
        Some(PageReport::Told(
            [("status".to_owned(), value.to_owned())].into(),
        ))
    }

    #[test]
    fn lists_in_headers_are_compared_by_their_elements() {
        let value = "first,second".to_owned();
        assert!(is_same(Some(&value), "first, second"));
        for other in ["first", "second, first", "first second", ""] {
            assert!(!is_same(Some(&value), other), "{other}");
        }
        assert!(!is_same(None, ""));
    }

    #[test]
    fn an_outcome_is_judged_by_the_report_and_by_the_record() {
        let expected = seen(|_| {});
        for guards in ["function", "protection"] {
            assert_eq!(case(guards).judge(&expected), Judgement::Right);
        }
        let changed: [(FeatureOutcome, &str); 10] = [
            (
                seen(|seen| seen.report = told("404")),
                "status is 404, not 200",
            ),
            (
                seen(|seen| seen.report = told("")),
                "status is empty, not 200",
            ),
            (
                seen(|seen| seen.report = Some(PageReport::Told([].into()))),
                "status is missing, not 200",
            ),
            (
                seen(|seen| seen.report = Some(PageReport::Failed("TypeError".to_owned()))),
                "the page's script ended with TypeError",
            ),
            (seen(|seen| seen.report = None), "the page did not report"),
            (
                seen(|seen| seen.requests[0].method = "GET".to_owned()),
                "the server saw 0 of POST https:/echo with origin: null without cookie, not 1",
            ),
            (
                seen(|seen| {
                    let cookie = ("cookie".to_owned(), "a=1".to_owned());
                    seen.requests[0].headers.extend([cookie]);
                }),
                "the server saw 0 of POST https:/echo with origin: null without cookie, not 1",
            ),
            (
                seen(|seen| {
                    let mut another = seen.requests[0].clone();
                    another.path = "/secret".to_owned();
                    seen.requests.push(another);
                }),
                "the server saw 1 of /secret, not 0",
            ),
            (
                seen(|seen| seen.connections[0].resumed = true),
                "the server saw 1 resumed connections to fetch-a.test, not 0",
            ),
            (
                seen(|seen| seen.connections[0].host = "other".to_owned()),
                "the server saw 0 connections to fetch-a.test, not 1",
            ),
        ];
        for (outcome, why) in changed {
            let FeatureOutcome::Reported { seen } = &outcome else {
                panic!("{outcome:?}");
            };
            assert_eq!(case("function").differences(seen), [why]);
            assert_eq!(
                case("function").judge(&outcome),
                Judgement::FalseReject,
                "{why}"
            );
            assert_eq!(
                case("protection").judge(&outcome),
                Judgement::FalseAccept,
                "{why}"
            );
        }
    }

    #[test]
    fn an_outcome_without_a_report_is_no_credit() {
        let lacks = Some(PageReport::Unsupported("no WebSocket".to_owned()));
        let silent = FeatureOutcome::Silent {
            after_ms: 1,
            shown: None,
            seen: WebSeen::default(),
        };
        let detail = "ended".to_owned();
        for (outcome, judged) in [
            (
                seen(|seen| seen.report.clone_from(&lacks)),
                Judgement::Unsupported,
            ),
            (silent, Judgement::Hung),
            (
                FeatureOutcome::Crash {
                    detail: detail.clone(),
                },
                Judgement::Crashed,
            ),
            (
                FeatureOutcome::Unsupported { reason: detail },
                Judgement::Unsupported,
            ),
        ] {
            assert_eq!(case("function").judge(&outcome), judged, "{outcome:?}");
        }
    }
}
