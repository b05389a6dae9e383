//! The order of offers. The suites that servers prefer least come first: a server that chooses the first one then
//! evidently follows the client. Groups are in the opposite order, because some servers read only the first of
//! them.

use std::sync::LazyLock;

use netbench_model::tls::{
    Authentication, CipherSuite, Group, GroupKind, KeyExchange, Protection, TlsVersion,
};

/// A version, with its suites and its groups.
type Offered = (TlsVersion, Vec<u16>, Vec<u16>);

/// The offer in each version: computed once, because every enumeration begins with it.
static OFFERED: LazyLock<Vec<Offered>> = LazyLock::new(|| {
    let all = TlsVersion::ALL.into_iter();
    all.map(|v| (v, ranked_suites(v), ranked_groups(v)))
        .collect()
});

/// Returns the suites of a version, in the order in which they are offered.
pub(crate) fn offered_suites(version: TlsVersion) -> Vec<u16> {
    let of_version = OFFERED.iter().find(|(v, ..)| *v == version);
    of_version.map_or_else(Vec::new, |(_, suites, _)| suites.clone())
}

/// Returns the groups that a version can use, in the order in which they are offered.
pub(crate) fn offered_groups(version: TlsVersion) -> Vec<u16> {
    let of_version = OFFERED.iter().find(|(v, ..)| *v == version);
    of_version.map_or_else(Vec::new, |(.., groups)| groups.clone())
}

fn ranked_suites(version: TlsVersion) -> Vec<u16> {
    let mut suites: Vec<u16> = CipherSuite::of_version(version).map(u16::from).collect();
    suites.sort_by_key(|code| want(*code));
    suites
}

fn ranked_groups(version: TlsVersion) -> Vec<u16> {
    let mut codes: Vec<u16> = Group::registered()
        .filter(|group| match group.kind() {
            Some(kind) => version == TlsVersion::Tls13 || kind == GroupKind::Ec,
            None => false,
        })
        .map(u16::from)
        .collect();
    codes.sort_by_key(|code| std::cmp::Reverse(popularity(*code)));
    codes
}

/// Returns these suites, common ones first.
pub(super) fn common_first(suites: &[u16]) -> Vec<u16> {
    let mut sorted = suites.to_vec();
    sorted.sort_by_key(|code| std::cmp::Reverse((is_everywhere(*code), want(*code))));
    sorted
}

/// Returns whether old clients offered it as well: such a short list is for servers that fail on a long one.
pub(crate) fn is_everywhere(code: u16) -> bool {
    const SUITES: [u16; 27] = [
        0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca8, 0xcca9, 0xc009, 0xc00a,
        0xc013, 0xc014, 0xc027, 0xc028, 0x009e, 0x009f, 0x0033, 0x0039, 0x009c, 0x009d, 0x002f,
        0x0035, 0x003c, 0x000a, 0x0005, 0x0004,
    ];
    SUITES.contains(&code)
}

/// The reason why middleboxes refuse a hello with a suite: no encryption, no authentication, or encryption of 40,
/// 56 or 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Toxic {
    Null,
    Anonymous,
    Export,
}

impl Toxic {
    pub(super) const ALL: [Self; 3] = [Self::Null, Self::Anonymous, Self::Export];

    pub(super) fn of(code: u16) -> Option<Self> {
        const EXPORT: [&str; 5] = ["_EXPORT", "_DES_", "_DES40_", "RC2", "_RC4_40"];
        let suite = CipherSuite(code).facts()?;
        if suite.protection == Protection::Null {
            Some(Self::Null)
        } else if suite.authentication == Authentication::Anonymous {
            Some(Self::Anonymous)
        } else if EXPORT.iter().any(|word| suite.name.contains(word)) {
            Some(Self::Export)
        } else {
            None
        }
    }
}

/// Returns whether many servers support the suite.
pub(super) fn is_common_suite(code: u16) -> bool {
    matches!(code, 0x1301..=0x1303)
}

/// Returns whether many servers support the group.
pub(super) fn is_common_group(code: u16) -> bool {
    matches!(code, 0x17..=0x19 | 0x1d | 0x11ec)
}

/// Returns whether the group is only for versions before TLS 1.3, in which it is `obsolete_RESERVED` (RFC 8446
/// section 4.2.7).
pub(super) fn is_of_older_versions(code: u16) -> bool {
    matches!(code, 0x01..=0x16 | 0x1a..=0x1c)
}

/// Returns how much servers prefer a suite; AES-256 before AES-128 before ChaCha20, which is no server's order.
fn want(code: u16) -> (u8, u8, u8) {
    const CIPHERS: [(&str, u8); 5] = [
        ("CHACHA20", 9),
        ("AES_128_GCM", 8),
        ("AES_256_GCM", 7),
        ("AES_128_CBC", 6),
        ("AES_256_CBC", 5),
    ];
    let Some(suite) = CipherSuite(code).facts() else {
        return (0, 0, 0);
    };
    let bulk = match suite.protection {
        Protection::Null => 0,
        Protection::Stream => 1,
        Protection::Cbc => 2,
        Protection::Aead => 3,
    };
    let bulk = if suite.is_broken { bulk.min(1) } else { bulk };
    let exchange = match suite.key_exchange {
        KeyExchange::Psk | KeyExchange::Other => 0,
        KeyExchange::Dh | KeyExchange::Ecdh => 1,
        KeyExchange::Rsa => 2,
        KeyExchange::Dhe => 3,
        KeyExchange::Ecdhe | KeyExchange::Any => 4,
    };
    let mut ciphers = CIPHERS.iter();
    let cipher = ciphers.find(|(cipher, _)| suite.name.contains(cipher));
    (exchange, bulk, cipher.map_or(0, |(_, want)| *want))
}

fn popularity(code: u16) -> u8 {
    match code {
        0x11ec => 20,
        0x1d => 19,
        0x17 => 18,
        0x18 => 17,
        0x19 => 16,
        0x1e => 15,
        _ => match Group(code).kind() {
            Some(GroupKind::Hybrid) => 10,
            Some(GroupKind::Ffdhe) => 8,
            Some(GroupKind::MlKem) => 6,
            Some(GroupKind::Ec) => 4,
            None => 0,
        },
    }
}
