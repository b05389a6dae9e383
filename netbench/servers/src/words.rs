//! The servers' names of versions, suites, groups and protocols, with netbench's names; and the report on a
//! connection that servers send in the response's head.

use netbench_tls::{Alpn, CipherSuite, Group, TlsVersion};

/// A server's name of a value, and netbench's name of the value as JSON.
pub(crate) type Pair = (String, String);

/// Returns a version's name in OpenSSL and Node.js.
pub(crate) fn version_name(version: TlsVersion) -> String {
    format!("TLSv{version}")
}

pub(crate) fn versions() -> Vec<Pair> {
    pairs(TlsVersion::OFFERED, version_name)
}

pub(crate) fn suites() -> Vec<Pair> {
    pairs(CipherSuite::SERVED, suite_name)
}

pub(crate) fn groups() -> Vec<Pair> {
    pairs(Group::OFFERED, group_name)
}

pub(crate) fn protocols() -> Vec<Pair> {
    pairs(Alpn::ALL, |alpn| alpn.to_string())
}

fn pairs<T: Copy + ToString>(values: &[T], name: fn(T) -> String) -> Vec<Pair> {
    let values = values.iter().copied();
    values
        .map(|value| (name(value), format!("\"{}\"", value.to_string())))
        .collect()
}

/// Returns OpenSSL's name of a suite. The suites of TLS 1.3 have their registered names.
pub(crate) fn suite_name(suite: CipherSuite) -> String {
    let name = suite.name().unwrap_or_default();
    if suite.is_tls13() {
        return name.to_owned();
    }
    let (exchange, rest) = name
        .trim_start_matches("TLS_")
        .split_once("_WITH_")
        .unwrap_or_default();
    let exchange = match exchange {
        "RSA" => String::new(),
        other => format!("{}-", other.replace('_', "-")),
    };
    let rest = rest
        .replace("AES_", "AES")
        .replace("_CBC", "")
        .replace("_POLY1305_SHA256", "_POLY1305")
        .replace('_', "-");
    exchange + &rest
}

/// Returns OpenSSL's name of a group.
pub(crate) fn group_name(group: Group) -> String {
    match group {
        Group::SECP256R1 => "prime256v1".to_owned(),
        Group::X25519 => "X25519".to_owned(),
        other => other.to_string(),
    }
}

/// Joins names in the format of OpenSSL's lists.
pub(crate) fn list(names: impl Iterator<Item = String>) -> String {
    joined(names, ":")
}

/// Joins values in the format of a server's configuration.
pub(crate) fn joined<T: ToString>(values: impl IntoIterator<Item = T>, separator: &str) -> String {
    let values = values.into_iter().map(|value| value.to_string());
    values.collect::<Vec<_>>().join(separator)
}

/// Returns settings with their values and terminator in a server's configuration. Those without a value are left to the
/// server's default.
pub(crate) fn settings<const N: usize>(settings: [(&str, String); N], end: &str) -> String {
    let set = settings.into_iter().filter(|(_, value)| !value.is_empty());
    set.map(|(name, value)| format!("{name} {value}{end}"))
        .collect()
}

/// Expressions in a server's configuration language that yield a connection's parameters as JSON.
pub(crate) struct View<'a> {
    pub(crate) version: &'a str,
    pub(crate) suite: &'a str,
    pub(crate) group: &'a str,
    pub(crate) alpn: &'a str,
    pub(crate) resumed: &'a str,
}

impl View<'_> {
    /// Returns the value of the header in which the server reports its view of a connection. Unknown values
    /// are null, and the computing time is 0.
    pub(crate) fn header(&self) -> String {
        let Self {
            version,
            suite,
            group,
            alpn,
            resumed,
        } = self;
        format!(
            r#"{{"negotiated":{{"version":{version},"suite":{suite},"group":{group},"signature":null,"alpn":{alpn},"resumed":{resumed},"chain_bytes":[]}},"compute_ns":0}}"#
        )
    }
}

#[cfg(test)]
mod tests {
    use netbench_tls::ServerView;

    use super::*;

    #[test]
    fn suites_have_the_names_that_openssl_gives_them() {
        let due = [
            "TLS_AES_128_GCM_SHA256",
            "TLS_CHACHA20_POLY1305_SHA256",
            "TLS_AES_256_GCM_SHA384",
            "ECDHE-ECDSA-AES128-GCM-SHA256",
            "ECDHE-RSA-AES128-GCM-SHA256",
            "ECDHE-ECDSA-CHACHA20-POLY1305",
            "ECDHE-RSA-CHACHA20-POLY1305",
            "ECDHE-ECDSA-AES256-GCM-SHA384",
            "ECDHE-RSA-AES256-GCM-SHA384",
            "ECDHE-RSA-AES128-SHA256",
            "DHE-RSA-AES128-GCM-SHA256",
            "AES128-GCM-SHA256",
        ];
        let found: Vec<_> = suites().into_iter().map(|(name, _)| name).collect();
        assert_eq!(found, due);
    }

    #[test]
    fn the_header_is_what_clients_read() {
        for ((version, suite), group) in versions().iter().zip(suites()).zip(groups()) {
            let view = View {
                version: &version.1,
                suite: &suite.1,
                group: &group.1,
                alpn: "null",
                resumed: "true",
            };
            let read: ServerView = serde_json::from_str(&view.header()).unwrap();
            assert!(read.negotiated.resumed);
            assert_eq!(read.negotiated.alpn, None);
            assert_eq!(read.negotiated.suite.map(suite_name), Some(suite.0));
            assert_eq!(read.negotiated.group.map(group_name), Some(group.0));
            assert_eq!(
                read.negotiated.version.map(version_name).as_ref(),
                Some(&version.0)
            );
        }
    }
}
