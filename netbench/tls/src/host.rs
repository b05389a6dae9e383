use std::{
    borrow::Cow,
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{named::text_in_json, shown};

/// The port of HTTPS.
const HTTPS: u16 = 443;

/// A host name of letters, digits, hyphens and dots (RFC 1123), in lower case; or an IPv4 or IPv6 address, without
/// brackets.
///
/// A host name cannot contain an escape code or a path. A name in Unicode is parsed to its form in the DNS (UTS #46):
/// `bücher.example` to `xn--bcher-kva.example`.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct HostName(String);

impl HostName {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name in Unicode, if it has labels of other scripts.
    pub fn unicode(&self) -> Option<String> {
        let (unicode, read) = idna::domain_to_unicode(&self.0);
        read.ok().filter(|()| unicode != self.0).map(|()| unicode)
    }

    /// Returns the address, if the host is one.
    pub fn address(&self) -> Option<IpAddr> {
        self.0.parse().ok()
    }
}

impl From<IpAddr> for HostName {
    fn from(address: IpAddr) -> Self {
        Self(address.to_string())
    }
}

impl FromStr for HostName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(address) = text.parse::<Ipv6Addr>() {
            return Ok(Self::from(IpAddr::V6(address)));
        }
        let text = &*in_dns(text)?;
        // A last label of digits is reserved for IPv4 addresses (RFC 3696 section 2). Certificates and URLs treat any
        // other name with such a label as an invalid address.
        let number_last = text
            .rsplit('.')
            .next()
            .is_some_and(|label| label.bytes().all(|b| b.is_ascii_digit()));
        let address_ok = !number_last || text.parse::<Ipv4Addr>().is_ok();
        if text.len() <= 253 && text.split('.').all(is_label) && address_ok {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(format!(
                "{text:?} is not a host name (letters, digits, '-' and '.', at most 253)"
            ))
        }
    }
}

text_in_json!(HostName);

/// The characters between labels (UTS #46 section 2.3).
const DOTS: [char; 4] = ['.', '\u{3002}', '\u{ff0e}', '\u{ff61}'];

/// Returns a name in the form of the DNS. A name of ASCII characters stays as it is.
fn in_dns(text: &str) -> Result<Cow<'_, str>, String> {
    if text.is_ascii() {
        return Ok(Cow::Borrowed(text));
    }
    to_ascii(text).map_err(|_| {
        let mut labels = text.split(DOTS);
        let label = labels.find(|label| to_ascii(label).is_err());
        format!(
            "{} is not a label of a host name (UTS #46)",
            shown(label.unwrap_or(text))
        )
    })
}

fn to_ascii(text: &str) -> Result<Cow<'_, str>, idna::Errors> {
    let (hyphens, length) = (Hyphens::CheckFirstLast, DnsLength::Ignore);
    Uts46::new().to_ascii(text.as_bytes(), AsciiDenyList::URL, hyphens, length)
}

fn is_label(text: &str) -> bool {
    let mut bytes = text.bytes();
    (1..=63).contains(&text.len())
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Returns the host as in URLs and `Host` headers: an IPv6 address stands in brackets.
pub fn bracketed(host: &HostName) -> Cow<'_, str> {
    match host.address() {
        Some(IpAddr::V6(address)) => Cow::Owned(format!("[{address}]")),
        _ => Cow::Borrowed(host.as_str()),
    }
}

/// Returns the host of a URL, with the port if it is not 443.
pub fn authority(host: &HostName, port: u16) -> String {
    with_port(&bracketed(host), port)
}

/// Returns a host, given as in URLs, with the port if it is not 443.
pub fn with_port(host: &str, port: u16) -> String {
    if port == HTTPS {
        host.to_owned()
    } else {
        format!("{host}:{port}")
    }
}
