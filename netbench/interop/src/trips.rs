//! The number of round trips to a site before its response arrives.

use netbench_model::{
    scan::{NamedCode, Observed, Offer, Order, RoundTrips, SiteScan, SuiteScan},
    tls::{CipherSuite, KeyExchange, TlsVersion, wire::extension},
};

use crate::flight::{FlightSizes, segments};

/// Number of segments that a server sends before it needs an acknowledgement (RFC 6928).
const INITIAL_WINDOW: u32 = 10;

/// The minimum and maximum size of a stapled OCSP response.
const STAPLE_BYTES: (u32, u32) = (250, 2500);

/// The result of the client's key shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    /// The version has no key shares.
    NotNeeded,
    /// The server accepts the share of this group.
    Accepted(u16),
    /// The server requests another share.
    Refused,
    /// The scan did not find out.
    Unknown,
}

impl Share {
    /// Returns the result with a server that has these common `groups`, of which it would select `wanted`.
    pub(crate) fn of(offer: &Offer, site: &SiteScan, groups: &[u16], wanted: u16) -> Self {
        let first = first_accepted(offer, site, groups);
        if let Some(first) = first.filter(|_| site.features.share_order == Some(Order::Client)) {
            return Self::Accepted(first);
        }
        if has_share(offer, wanted) {
            return Self::Accepted(wanted);
        }
        let common = groups.iter().copied();
        let mut common = common.filter(|code| has_share(offer, *code)).peekable();
        if common.peek().is_none() {
            return Self::Refused;
        }
        let Some(accepted) = &site.features.shares_taken else {
            return Self::Unknown;
        };
        common
            .find(|code| accepted.iter().any(|group: &NamedCode| group.code == *code))
            .map_or(Self::Refused, Self::Accepted)
    }
}

fn has_share(offer: &Offer, code: u16) -> bool {
    let mut groups = offer.groups.iter();
    let group = groups.find(|group| group.code == code);
    group.is_some_and(|group| offer.shares.iter().any(|share| share.group == group.name))
}

/// Returns the group of the client's first key share that the server accepts although it may prefer another group.
pub(crate) fn first_accepted(offer: &Offer, site: &SiteScan, groups: &[u16]) -> Option<u16> {
    let accepted = site.features.shares_taken.as_ref()?;
    let common = accepted.iter().filter(|group| groups.contains(&group.code));
    let mut shares = offer.shares.iter();
    shares
        .find_map(|share| common.clone().find(|group| group.name == share.group))
        .map(|group| group.code)
}

/// Returns the round trips of a new connection whose client sends its request with the last message of its
/// handshake, or `None` where they depend on unknown properties.
pub(crate) fn round_trips(
    offer: &Offer,
    site: &SiteScan,
    version: TlsVersion,
    suite: &SuiteScan,
    group: Option<&str>,
    share: Share,
) -> Option<RoundTrips> {
    let retry = u32::from(share == Share::Refused);
    let (least, most) = flight_bytes(offer, site, version, suite, group)?;
    // The server's pattern of writes is not known either.
    let window = extra_windows(segments(least.bytes));
    let is_certain = window == extra_windows(most.segments_of_openssl(INITIAL_WINDOW));
    if share == Share::Unknown || offer.has_nagle || !is_certain {
        return None;
    }
    let handshake = if version == TlsVersion::Tls13 { 1 } else { 2 };
    Some(RoundTrips {
        first_byte: 1 + handshake + retry + window + 1,
        retry,
        window,
        hello_segments: segments(hello_bytes(offer, &site.host)),
    })
}

/// Returns the size of the hello that the client sends to `host`: that of its offer, with the name of this
/// host.
fn hello_bytes(offer: &Offer, host: &str) -> u32 {
    // The extension has a header, and contains three lengths and a type.
    const EXTENSION: u32 = 4;
    const AROUND_NAME: u32 = 5;
    let name = offer
        .extensions
        .iter()
        .find(|e| e.code == extension::SERVER_NAME);
    let of_name = name.map_or(0, |name| EXTENSION + name.bytes);
    let without = offer.wire_bytes.saturating_sub(of_name);
    if host.parse::<std::net::IpAddr>().is_ok() || name.is_none() {
        return without;
    }
    let host = u32::try_from(host.len()).unwrap_or(u32::MAX);
    without
        .saturating_add(EXTENSION + AROUND_NAME)
        .saturating_add(host)
}

/// Returns the number of round trips that a flight of `segments` requires beyond the first, in slow start
/// without loss.
fn extra_windows(segments: u32) -> u32 {
    let (mut window, mut left, mut extra) = (INITIAL_WINDOW, segments, 0);
    while left > window {
        left -= window;
        window = window.saturating_mul(2);
        extra += 1;
    }
    extra
}

/// Returns the minimum and maximum sizes of the server's first flight, as far as the scan shows it, or `None`
/// where no chain of this version was observed, or several.
fn flight_bytes(
    offer: &Offer,
    site: &SiteScan,
    version: TlsVersion,
    suite: &SuiteScan,
    group: Option<&str>,
) -> Option<(FlightSizes, FlightSizes)> {
    let chains = site.chains.iter();
    let mut of_version = chains.filter(|chain| chain.versions.contains(&version));
    let chain = match (of_version.next(), of_version.next(), &site.chains[..]) {
        (Some(only), None, _) => only,
        // A server with one chain sends it in every version.
        (None, _, [only]) => only,
        _ => return None,
    };
    let certificates = u32::try_from(chain.certificates.len()).ok()?;
    let leaf = chain.certificates.first()?;
    let signature = match leaf.key.as_str() {
        "rsa" => leaf.key_bits / 8,
        "ed25519" => 64,
        "mldsa-44" => 2420,
        "mldsa-65" => 3309,
        "mldsa-87" => 4627,
        _ => leaf.key_bits / 4 + 8,
    };
    let exchange = CipherSuite(suite.code)
        .facts()
        .map(|facts| facts.key_exchange);
    let public = match (group, exchange) {
        (Some("X25519MLKEM768"), _) => 1120,
        (Some("secp384r1"), _) => 97,
        (_, Some(KeyExchange::Rsa)) => 0,
        // The message has a prime of 2,048 bits, a generator and a public value.
        (_, Some(KeyExchange::Dhe)) => 520,
        _ => 65,
    };
    // The sum includes headers, lengths, the hello and its extensions, and Finished, by their sizes in either
    // version.
    let least = chain.bytes + 3 * certificates + signature + public + 120;
    let most = least + 400 + 4 * certificates + 22 * (1 + chain.bytes / 4096);
    let asks = offer
        .extensions
        .iter()
        .any(|e| e.code == extension::STATUS_REQUEST);
    let staple = match site.features.ocsp_stapling {
        Observed::No => (0, 0),
        _ if !asks => (0, 0),
        Observed::Yes => STAPLE_BYTES,
        Observed::Unknown => (0, STAPLE_BYTES.1),
    };
    let least = FlightSizes::new(least + staple.0, public, signature);
    let most = FlightSizes::new(most + staple.1, public, signature);
    Some((least, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flight_over_ten_segments_waits_for_acknowledgements() {
        let extra = [1, 14_480, 14_481, 43_440, 43_441, 101_360];
        let extra = extra.map(|bytes| extra_windows(segments(bytes)));
        assert_eq!(extra, [0, 0, 1, 1, 2, 2]);
    }
}
