//! The query of a request, by which a page chooses the response.

use std::time::Duration;

/// The longest delay of a response.
const LONGEST_DELAY: Duration = Duration::from_secs(30);

/// The parameters of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(query: &str) -> Self {
        let pairs = form_urlencoded::parse(query.as_bytes());
        Self(
            pairs
                .map(|(name, value)| (name.into_owned(), value.into_owned()))
                .collect(),
        )
    }

    pub(crate) fn get(&self, name: &'static str) -> Option<&str> {
        self.all(name).next()
    }

    pub(crate) fn number(&self, name: &'static str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    /// Returns the time that the response waits.
    pub(crate) fn delay(&self) -> Duration {
        let delay = self.number("delay_ms").map(Duration::from_millis);
        delay.unwrap_or_default().min(LONGEST_DELAY)
    }

    /// Returns the headers in the parameters of this name, each as `name:value`.
    pub(crate) fn headers(&self, name: &'static str) -> impl Iterator<Item = (&str, &str)> {
        self.all(name).filter_map(|header| header.split_once(':'))
    }

    fn all(&self, name: &'static str) -> impl Iterator<Item = &str> {
        let pairs = self.0.iter();
        pairs
            .filter(move |(other, _)| other == name)
            .map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_numbers_are_read_from_a_query() {
        let query =
            Query::parse("h=set-cookie%3Aa%3D1%3B%20Secure&h=x:y&status=302&delay_ms=90000000");
        let headers: Vec<_> = query.headers("h").collect();
        assert_eq!(headers, [("set-cookie", "a=1; Secure"), ("x", "y")]);
        assert_eq!(query.number("status"), Some(302));
        assert_eq!(query.delay(), LONGEST_DELAY);
        assert_eq!(query.get("body"), None);
        assert_eq!(Query::parse("").delay(), Duration::ZERO);
    }
}
