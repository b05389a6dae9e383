//! The hosts of a case, by their names.

use netbench_model::features::WebCase;

/// A host of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Host {
    /// The host of the case.
    Own,
    /// A host of another site.
    Other,
    /// A host of the same site.
    Sub,
    /// One of two hosts that share a certificate.
    Shared,
    /// A host that knows HTTP/1.1 alone.
    Http1,
    /// A host that negotiates no protocol.
    NoAlpn,
    /// A host whose certificate has expired.
    Expired,
    /// A host with the certificate of another.
    WrongName,
    /// A host whose certificate has an unknown root.
    Untrusted,
}

impl Host {
    /// Returns the host of a case that a name belongs to, and the host of the case itself.
    pub(crate) fn of(name: &str) -> (Self, &str) {
        if let Some(own) = name.strip_prefix(WebCase::OTHER) {
            return (Self::Other, own);
        }
        let split = name.split_once('.').and_then(|(label, own)| {
            let host = match label {
                "sub" => Self::Sub,
                "a" | "b" => Self::Shared,
                "h1" => Self::Http1,
                "no-alpn" => Self::NoAlpn,
                "expired" => Self::Expired,
                "wrong-name" => Self::WrongName,
                "untrusted" => Self::Untrusted,
                _ => return None,
            };
            Some((host, own))
        });
        split.unwrap_or((Self::Own, name))
    }

    /// Returns the names of the certificate for a host of the case with the host `own`.
    pub(crate) fn certified(self, own: &str) -> Vec<String> {
        let labels: &[&str] = match self {
            Self::Own => return vec![own.to_owned()],
            Self::Other => return vec![format!("{}{own}", WebCase::OTHER)],
            Self::Sub => &["sub"],
            Self::Shared => &["a", "b"],
            Self::Http1 => &["h1"],
            Self::NoAlpn => &["no-alpn"],
            Self::Expired => &["expired"],
            Self::WrongName => &["right-name"],
            Self::Untrusted => &["untrusted"],
        };
        let names = labels.iter().map(|label| format!("{label}.{own}"));
        names.collect()
    }

    /// Returns the protocols that the host negotiates, in its order of preference.
    pub(crate) fn alpn(self) -> &'static [&'static [u8]] {
        match self {
            Self::Http1 => &[b"http/1.1"],
            Self::NoAlpn => &[],
            _ => &[b"h2", b"http/1.1"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_of_a_case_belongs_to_it() {
        let case = WebCase {
            name: "fetch/get".to_owned(),
            host: WebCase::host_of("fetch/get"),
            resources: Vec::new(),
        };
        let hosts: Vec<String> = case.hosts().collect();
        for name in &hosts {
            let (host, own) = Host::of(name);
            assert_eq!(own, case.host, "{name}");
            let is_certified = host.certified(own).contains(name);
            assert_eq!(is_certified, host != Host::WrongName, "{name}");
        }
        assert_eq!(
            hosts
                .iter()
                .filter(|name| Host::of(name).0 == Host::Own)
                .count(),
            1
        );
        assert_eq!(Host::of("www.fetch-get.test").1, "www.fetch-get.test");
    }
}
