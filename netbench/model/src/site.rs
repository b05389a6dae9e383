use std::{
    borrow::Cow,
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
    sync::{Arc, LazyLock},
};

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Alpn, CipherSuite, Group, LinkProfile, SweepPoint, TlsVersion,
    named::{named, text_in_json},
    urls::{bracketed, shown, with_port},
};

/// One line of `sites.txt`, or one URL: a host name and, for the lab, its server and its link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Site {
    /// The host name or IP address that certificates are checked against.
    pub host: HostName,
    /// The host name in Unicode (a U-label, RFC 5890), if it was given so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unicode: Option<Box<str>>,
    /// The TCP port, 443 by default.
    pub port: u16,
    /// The path of the request, including any query.
    #[serde(default = "root", skip_serializing_if = "is_root")]
    pub path: String,
    /// The emulation of the site, [`LabProfile::usual`] by default. Only used in the lab.
    #[serde(default = "LabProfile::usual", skip_serializing_if = "is_usual")]
    pub lab: Arc<LabProfile>,
    /// The point of a sweep, if the site is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Box<SweepPoint>>,
}

fn root() -> String {
    "/".to_owned()
}

fn is_root(path: &str) -> bool {
    path == "/"
}

fn is_usual(lab: &Arc<LabProfile>) -> bool {
    *lab == LabProfile::usual()
}

impl Site {
    /// Creates the site of a host and a port: its first page, with the lab's default profile.
    pub fn new(host: HostName, port: u16) -> Self {
        Self {
            host,
            unicode: None,
            port,
            path: root(),
            lab: LabProfile::usual(),
            point: None,
        }
    }

    /// Parses a host name. One that is given in Unicode keeps this form for reports.
    pub(crate) fn at_host(text: &str, port: u16) -> Result<Self, String> {
        let host: HostName = text.parse()?;
        let unicode = Some(&host).filter(|_| !text.is_ascii());
        Ok(Self {
            unicode: unicode.and_then(HostName::unicode).map(Into::into),
            ..Self::new(host, port)
        })
    }

    /// Returns the name of the site in reports and samples: `host`, followed by the port if it is not 443, and by the
    /// path if it is not `/`. A point of a sweep is `host@rtt=10ms`. A host that was given in Unicode has that form.
    pub fn name(&self) -> String {
        let mut name = self.place();
        if let Some(point) = self.point.as_deref().filter(|point| !point.name.is_empty()) {
            name.push('@');
            name.push_str(&point.name);
        }
        name
    }

    /// Returns the name of the site without the point of a sweep.
    pub(crate) fn place(&self) -> String {
        match &self.unicode {
            Some(host) => self.place_at(host),
            None => self.place_in_dns(),
        }
    }

    /// Returns the host as in the DNS, with the port and the path as in [`Self::name`]: equal for every spelling of one site.
    pub fn place_in_dns(&self) -> String {
        self.place_at(&bracketed(&self.host))
    }

    fn place_at(&self, host: &str) -> String {
        let authority = with_port(host, self.port);
        if is_root(&self.path) {
            authority
        } else {
            format!("{authority}{}", self.path)
        }
    }
}

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
    fn unicode(&self) -> Option<String> {
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
        let label_ok = |label: &str| {
            !label.is_empty()
                && label.len() <= 63
                && label
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        // A last label of digits is reserved for IPv4 addresses (RFC 3696 section 2). Certificates and URLs treat any
        // other name with such a label as an invalid address.
        let number_last = text
            .rsplit('.')
            .next()
            .is_some_and(|label| label.bytes().all(|b| b.is_ascii_digit()));
        let address_ok = !number_last || text.parse::<Ipv4Addr>().is_ok();
        if text.len() <= 253 && text.split('.').all(label_ok) && address_ok {
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
    let (hyphens, length) = (Hyphens::CheckFirstLast, DnsLength::Ignore);
    let converted = |text| Uts46::new().to_ascii(text, AsciiDenyList::URL, hyphens, length);
    if text.is_ascii() {
        return Ok(Cow::Borrowed(text));
    }
    converted(text.as_bytes()).map_err(|_| {
        let mut labels = text.split(DOTS);
        let label = labels.find(|label| converted(label.as_bytes()).is_err());
        format!(
            "{} is not a label of a host name (UTS #46)",
            shown(label.unwrap_or(text))
        )
    })
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The lab's emulation of a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LabProfile {
    /// The stack that serves the site, or a server that is installed on this machine, such as `nginx`.
    pub server: String,
    /// The versions that the server supports.
    pub tls: Vec<TlsVersion>,
    /// The suites that the server accepts, in its order of preference; empty for [`CipherSuite::OFFERED`].
    pub suites: Vec<CipherSuite>,
    /// The groups that the server accepts, in its order of preference; empty for the stack's default.
    pub groups: Vec<Group>,
    /// The type of the leaf's key.
    pub key: KeyType,
    /// The certificates that the server sends.
    pub chain: ChainProfile,
    /// The application protocols that the server agrees to, in its order of preference.
    pub alpn: Vec<Alpn>,
    /// Number of session tickets that the server sends after a full TLS 1.3 handshake; 0 turns resumption off in every
    /// version.
    pub tickets: u8,
    /// Whether the server staples an OCSP response (RFC 6066).
    pub ocsp: Switch,
    /// The path to the site.
    pub link: LinkProfile,
    /// Size of the response's body, in bytes.
    pub body_bytes: u64,
    /// The fault of the server, if any.
    pub fault: Option<Fault>,
}

impl Default for LabProfile {
    fn default() -> Self {
        Self {
            server: "openssl".to_owned(),
            tls: vec![TlsVersion::Tls12, TlsVersion::Tls13],
            suites: Vec::new(),
            groups: Vec::new(),
            key: KeyType::Rsa2048,
            chain: ChainProfile::default(),
            alpn: vec![Alpn::H2, Alpn::Http11],
            tickets: 2,
            ocsp: Switch::Off,
            link: LinkProfile::default(),
            body_bytes: 4096,
            fault: None,
        }
    }
}

impl LabProfile {
    /// Returns the default profile, which many sites share. Stored runs leave it out, so it must not change.
    pub fn usual() -> Arc<Self> {
        static USUAL: LazyLock<Arc<LabProfile>> = LazyLock::new(Arc::default);
        Arc::clone(&USUAL)
    }
}

/// On or off, as in a sites file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// The certificates that a site's server sends: `length` certificates, including the leaf and excluding the root,
/// padded to `bytes` of DER if they are smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainProfile {
    /// Number of certificates, 1 to 6.
    pub length: u8,
    /// Minimum size of the DER of all certificates together, in bytes; 0 for no padding.
    pub bytes: u32,
}

impl Default for ChainProfile {
    fn default() -> Self {
        Self {
            length: 2,
            bytes: 0,
        }
    }
}

named!(
    /// The type of a certificate's key.
    KeyType, "key type", {
        /// RSA, 2048 bits.
        Rsa2048 = "rsa-2048",
        /// RSA, 3072 bits.
        Rsa3072 = "rsa-3072",
        /// RSA, 4096 bits.
        Rsa4096 = "rsa-4096",
        /// ECDSA on P-256.
        EcdsaP256 = "ecdsa-p256",
        /// ECDSA on P-384.
        EcdsaP384 = "ecdsa-p384",
        /// EdDSA on edwards25519.
        Ed25519 = "ed25519",
    }
);

named!(
    /// A fault of a site's server.
    Fault, "fault", {
        /// No server listens: connections are refused.
        Refuse = "refuse",
        /// Accepts, reads, and never answers.
        Silent = "silent",
        /// Accepts and resets.
        Reset = "reset",
        /// Answers with bytes that are not TLS.
        Garbage = "garbage",
        /// Sends a ServerHello, followed by a Certificate message that does not end.
        EndlessCertificate = "endless-certificate",
        /// Closes after the ClientHello.
        CloseMidHandshake = "close-mid-handshake",
        /// Finishes the handshake and sends its response one byte at a time, too slowly for the time limit.
        SlowResponse = "slow-response",
        /// Finishes the handshake and answers with bytes that are not HTTP.
        BadHttp = "bad-http",
        /// Sends a certificate for another name.
        WrongName = "wrong-name",
        /// Sends a certificate whose root the client does not have.
        UnknownRoot = "unknown-root",
        /// Sends a certificate that has expired.
        Expired = "expired",
    }
);
