//! The parameters that a stack and a site can agree on, predicted from the stack's hello and the site's scan.
//!
//! The functions are pure and make no connections. `netbench scan --against` confirms predictions by real
//! handshakes.

use netbench_model::{
    CertificateFault,
    scan::{
        Agreed, Agreement, Anchor, LossReason, NamedCode, Observed, Offer, Order, SiteScan,
        SuiteScan, VersionScan,
    },
    tls::{
        Authentication, CipherSuite, CipherSuiteFacts, Group, KeyExchange, Protection,
        SignatureScheme, TlsVersion,
    },
};

use crate::{
    hello_limits::hello_fault,
    trips::{Share, first_accepted, round_trips},
};

/// Returns the agreement of the stack that made `offer` with `site`. The newest common version decides, as it
/// does in servers: a server that finds no suite in it does not continue with the next.
///
/// A feature that a scan did not observe is no loss: where lists are incomplete, a loss for lack of a feature
/// is unknown.
pub fn predict(offer: &Offer, site: &SiteScan) -> Agreement {
    let agreement = of_what_is_known(offer, site);
    let whole = [
        LossReason::Certificate,
        LossReason::IncompleteChain,
        LossReason::ClientCertificate,
        LossReason::Intolerance,
    ];
    let certain = !matches!(&agreement, Agreement::Loses { reason, .. } if !whole.contains(reason));
    let gap = site
        .versions
        .iter()
        .find(|v| !v.complete && offer.versions.contains(&v.version));
    match gap {
        Some(gap) if !certain => {
            Agreement::unknown(format!("the scan of TLS {} is not complete", gap.version))
        }
        _ => agreement,
    }
}

fn of_what_is_known(offer: &Offer, site: &SiteScan) -> Agreement {
    let spoken: Vec<&VersionScan> = site.versions.iter().filter(|v| v.supported).collect();
    if spoken.is_empty() {
        return Agreement::unknown("the site was not scanned");
    }
    if let Some(fault) = hello_fault(offer, site) {
        return fault;
    }
    let common = spoken
        .iter()
        .filter(|found| offer.versions.contains(&found.version))
        .max_by_key(|found| found.version);
    let Some(found) = common else {
        let names: Vec<&str> = spoken.iter().map(|v| v.version.name()).collect();
        return Agreement::loses(
            LossReason::Version,
            format!("the site speaks {} only", names.join(", ")),
        );
    };
    if found.suites.is_empty() {
        return Agreement::unknown(format!("the scan knows no suite of TLS {}", found.version));
    }
    match agree(offer, site, found) {
        Ok(agreed) => match chain_fault(offer, site, agreed.version) {
            Some(fault) => fault,
            None if site.features.client_certificate_required == Observed::Yes
                && !offer.has_certificate =>
            {
                Agreement::loses(
                    LossReason::ClientCertificate,
                    "the site requires a client certificate, and there is none to show",
                )
            }
            None => Agreement::Agrees(agreed),
        },
        Err(loss) => loss,
    }
}

fn agree(offer: &Offer, site: &SiteScan, found: &VersionScan) -> Result<Agreed, Agreement> {
    let offered: Vec<&SuiteScan> = found
        .suites
        .iter()
        .filter(|s| offer.has_suite(s.code))
        .collect();
    if offered.is_empty() {
        return Err(no_suite(offer, found));
    }
    let groups: Vec<u16> = groups(site, found)
        .into_iter()
        .filter(|code| offer.has_group(*code))
        .collect();
    let knows_groups = !self::groups(site, found).is_empty();
    let schemes = schemes(site, found.version);
    let common: Vec<u16> = schemes
        .iter()
        .copied()
        .filter(|code| offer.has_signature(*code))
        .collect();
    let mut usable: Vec<&SuiteScan> = offered
        .iter()
        .copied()
        .filter(|s| !(needs_group(s) && knows_groups && groups.is_empty()))
        .collect();
    if usable.is_empty() {
        return Err(Agreement::loses(
            LossReason::Group,
            format!("the site has {} only", names(&found.groups)),
        ));
    }
    if let Some(curve) = foreign_curve(offer, site, found.version) {
        // RFC 8422 section 5.1: the client must offer the curve of the certificate.
        usable.retain(|s| !is_ecdsa(s));
        if usable.is_empty() {
            return Err(Agreement::loses(
                LossReason::Group,
                format!("the certificate's key is on {curve}"),
            ));
        }
    }
    // A server that signs nothing cannot fail by it, and a version before 1.2 has only one signature scheme.
    usable.retain(|s| {
        !is_signed(s) || signs(s, found.version, &common) || !signs(s, found.version, &schemes)
    });
    if usable.is_empty() {
        return Err(no_signature(&schemes));
    }
    if common.is_empty() && !schemes.is_empty() && offered.iter().any(|s| is_signed(s)) {
        // OpenSSL refuses a client without a common scheme, and other servers choose a suite that needs none.
        return Err(Agreement::unknown(
            "the site may refuse a client without a common signature scheme, or use a suite that needs none",
        ));
    }
    Ok(choose(offer, site, found, &usable, &groups, &common))
}

/// Returns whether the suite can be used with a signature by one of the schemes.
fn signs(suite: &SuiteScan, version: TlsVersion, schemes: &[u16]) -> bool {
    let mut schemes = schemes.iter();
    schemes.any(|code| version == TlsVersion::Tls13 || can_sign(suite, *code))
}

/// Returns the server's choice among the common parameters.
fn choose(
    offer: &Offer,
    site: &SiteScan,
    found: &VersionScan,
    usable: &[&SuiteScan],
    groups: &[u16],
    schemes: &[u16],
) -> Agreed {
    let of_client = offer
        .suites
        .iter()
        .find_map(|wanted| usable.iter().find(|s| s.code == wanted.code));
    let by_client = matches!(found.suite_order, Order::Client);
    // A server with this preference selects ChaCha20 for clients that list it first.
    let wants_chacha = site.features.chacha20_by_client == Observed::Yes
        && of_client.is_some_and(|suite| suite.name.contains("CHACHA20"));
    let chosen = match of_client {
        Some(wanted) if by_client || wants_chacha => wanted,
        _ => &usable[0],
    };
    let mut or = Vec::new();
    if matches!(found.suite_order, Order::Mixed | Order::Unknown) {
        or.extend(usable.iter().map(|s| s.name.clone()));
    }
    let mut group = None;
    let mut signature = None;
    let mut share = Share::NotNeeded;
    if needs_group(chosen) {
        let wanted = offer.groups.iter().map(|group| group.code);
        let of_client = wanted.clone().find(|code| groups.contains(code));
        let of_server = groups.first().copied();
        let code = match found.group_order {
            Order::Server => of_server,
            _ => of_client.or(of_server),
        };
        let mut is_known = matches!(
            found.group_order,
            Order::Server | Order::Client | Order::Single
        );
        if found.version == TlsVersion::Tls13
            && let Some(wanted) = code
        {
            share = Share::of(offer, site, groups, wanted);
            is_known |= matches!(share, Share::Accepted(_));
            is_known &= share != Share::Unknown;
            // The server may take the client's first share in place of that of the group that it prefers.
            let by_order = matches!(found.group_order, Order::Client | Order::Single);
            if let Some(first) = first_accepted(offer, site, groups)
                && share != Share::Accepted(first)
                && !by_order
                && site.features.share_order.is_none()
            {
                is_known = false;
            }
        }
        group = match share {
            Share::Accepted(accepted) => Some(group_name(accepted)),
            _ => code.map(group_name),
        };
        if !is_known {
            or.extend(groups.iter().map(|code| group_name(*code)));
        }
    }
    if is_signed(chosen) {
        let schemes: Vec<u16> = schemes
            .iter()
            .copied()
            .filter(|code| found.version == TlsVersion::Tls13 || can_sign(chosen, *code))
            .collect();
        // The side whose order decides differs from server to server, and scans do not test it.
        let wanted = offer.signatures.iter().map(|scheme| scheme.code);
        let code = wanted.clone().find(|code| schemes.contains(code));
        signature = code.or(schemes.first().copied()).map(signature_name);
        or.extend(schemes.iter().map(|c| signature_name(*c)));
    }
    or.retain(|name| {
        *name != chosen.name && Some(name) != group.as_ref() && Some(name) != signature.as_ref()
    });
    let round_trips = round_trips(offer, site, found.version, chosen, group.as_deref(), share);
    Agreed {
        version: found.version,
        suite: chosen.name.clone(),
        group,
        signature,
        or,
        round_trips,
    }
}

fn no_suite(offer: &Offer, found: &VersionScan) -> Agreement {
    let offered = offer.suites.iter().filter_map(|suite| facts(suite.code));
    let has: Vec<KeyExchange> = offered.map(|suite| suite.key_exchange).collect();
    let site = found.suites.iter().filter_map(|suite| facts(suite.code));
    let (reachable, others): (Vec<&CipherSuiteFacts>, Vec<&CipherSuiteFacts>) =
        site.partition(|suite| has.contains(&suite.key_exchange));
    let exchanges: Vec<KeyExchange> = others.iter().map(|suite| suite.key_exchange).collect();
    let is_cbc_only = reachable
        .iter()
        .all(|suite| suite.protection == Protection::Cbc);
    let reason = if !reachable.is_empty() && is_cbc_only {
        LossReason::CbcOnly
    } else if !reachable.is_empty() {
        LossReason::Suite
    } else if exchanges.contains(&KeyExchange::Dhe) {
        LossReason::DheOnly
    } else if exchanges.contains(&KeyExchange::Rsa) {
        LossReason::RsaKeyExchangeOnly
    } else {
        LossReason::Suite
    };
    let best = &found.suites[0].name;
    let detail = match found.suites.len() {
        1 => format!("the site has {best} only"),
        n => format!("none of the site's {n} suites, such as {best}"),
    };
    Agreement::loses(reason, format!("TLS {}: {detail}", found.version))
}

fn no_signature(schemes: &[u16]) -> Agreement {
    let names: Vec<String> = schemes.iter().map(|code| signature_name(*code)).collect();
    let reason = if schemes.iter().all(|code| matches!(code, 0x0201..=0x0203)) {
        LossReason::Sha1
    } else {
        LossReason::Signature
    };
    Agreement::loses(
        reason,
        format!("the site signs by {} only", names.join(", ")),
    )
}

/// The detail of a loss for a self-signed leaf.
const SIGNS_ITSELF: &str = "the certificate signs itself";

/// The detail of a loss for a chain to a root that is not in the list of roots.
const UNKNOWN_ROOT: &str = "the chain ends at an unknown root";

/// The reason for the lack of a prediction for a certificate with the host in its common name and no
/// alternative name: RFC 9525 section 2 requires clients to ignore the common name, but OpenSSL, GnuTLS, NSS
/// and Java use it.
pub(crate) const COMMON_NAME_ALONE: &str = "the certificate has the host in its common name alone, and stacks differ in whether they look there";

/// The reason for the lack of a prediction for a site whose messages after the ServerHello were not read.
const UNREAD_FLIGHT: &str =
    "the scan could not read the certificate that the site sends in TLS 1.3";

/// The reason for the lack of a prediction for a server whose own certificate may sign others: rustls refuses such a
/// certificate, and OpenSSL and Go accept it.
const CA_AS_LEAF: &str =
    "the server's own certificate is a CA's, and stacks differ in whether they accept that";

/// The reason for the lack of a prediction for a server with a short RSA key: rustls refuses such a key, as OpenSSL does at
/// the security level of its newer versions, and Go and NSS accept it.
const SHORT_RSA_KEY: &str =
    "the site's RSA key has less than 2,048 bits, and stacks differ in whether they accept that";

/// The number of bits below which stacks differ in whether they accept an RSA key.
const RSA_BITS: u32 = 2048;

/// Returns whether only a handshake can show a stack's result with the site: it depends on the stack's
/// verifier, and not on its offer.
pub fn is_up_to_the_verifier(agreement: &Agreement) -> bool {
    is_up_to_the_common_name(agreement)
        || matches!(agreement, Agreement::Unknown { why } if [CA_AS_LEAF, SHORT_RSA_KEY].contains(&why.as_str()))
}

/// Returns whether there is no prediction because the certificate has the host in its common name alone.
pub(crate) fn is_up_to_the_common_name(agreement: &Agreement) -> bool {
    matches!(agreement, Agreement::Unknown { why } if why == COMMON_NAME_ALONE)
}

/// Returns whether a loss is due to a certificate that chains to no root of the list, so that another list of
/// roots would help.
pub fn is_untrusted(reason: LossReason, detail: &str) -> bool {
    match reason {
        LossReason::IncompleteChain => true,
        LossReason::Certificate => {
            let untrusted = CertificateFault::UnknownIssuer.name();
            [SIGNS_ITSELF, UNKNOWN_ROOT].contains(&detail) || detail.ends_with(untrusted)
        }
        _ => false,
    }
}

/// Returns the loss by a fault of the chain that every client refuses, or that this client refuses for lack
/// of a scheme; unknown for a fault on which clients differ.
fn chain_fault(offer: &Offer, site: &SiteScan, version: TlsVersion) -> Option<Agreement> {
    let mut chains = site
        .chains
        .iter()
        .filter(|chain| chain.versions.contains(&version))
        .peekable();
    let Some(only) = chains.next() else {
        // Every server of TLS 1.3 sends a certificate unless both sides share a key already. The flight that has it,
        // and a request for the client's certificate, could not be decrypted. Sites of a model have none.
        let is_unread = version == TlsVersion::Tls13 && site.effort.connections > 0;
        return is_unread.then(|| Agreement::unknown(UNREAD_FLIGHT));
    };
    if chains.next().is_some() {
        // The agreed parameters decide which chain is sent.
        return None;
    }
    let leaf = only.certificates.first()?;
    let common_name_alone = !only.names_match && leaf.is_for_common_name(&site.host);
    let is_for_another = !only.names_match && !common_name_alone;
    let faults = [
        (is_for_another, "the certificate is for another name"),
        (!leaf.valid_now, "the certificate is not valid now"),
        (leaf.not_for_servers, "the certificate is not for servers"),
        (only.invalid_issuers > 0, "an intermediate is not valid now"),
        (only.anchor == Anchor::SelfSigned, SIGNS_ITSELF),
        (only.anchor == Anchor::UnknownRoot, UNKNOWN_ROOT),
    ];
    if let Some((_, detail)) = faults.into_iter().find(|(is_there, _)| *is_there) {
        return Some(Agreement::loses(LossReason::Certificate, detail));
    }
    if only.anchor == Anchor::Missing {
        return Some(Agreement::loses(
            LossReason::IncompleteChain,
            "an intermediate certificate is missing, or its root unknown",
        ));
    }
    let schemes = offer
        .certificate_signatures
        .as_ref()
        .unwrap_or(&offer.signatures);
    let takes_sha1 = schemes.iter().any(|s| matches!(s.code, 0x0201 | 0x0203));
    let roots = usize::from(only.has_root);
    let signed = only.certificates.len().saturating_sub(roots);
    let mut chain = only.certificates.iter().take(signed);
    let mut signatures = chain
        .clone()
        .map(|certificate| certificate.signature.as_str());
    let weak = signatures.any(|name| matches!(name, "sha1WithRSAEncryption" | "ecdsa-with-SHA1"));
    if weak && !takes_sha1 {
        return Some(Agreement::loses(
            LossReason::Sha1,
            "a certificate of the chain is signed with SHA-1",
        ));
    }
    if let Some(certificate) = chain.find(|certificate| offer.lacks_ml_dsa_of(certificate)) {
        let detail = format!(
            "a certificate of the chain is signed with {}",
            certificate.signature
        );
        return Some(Agreement::loses(LossReason::Certificate, detail));
    }
    if common_name_alone {
        return Some(Agreement::unknown(COMMON_NAME_ALONE));
    }
    if leaf.is_ca {
        return Some(Agreement::unknown(CA_AS_LEAF));
    }
    let is_short = leaf.key == "rsa" && leaf.key_bits < RSA_BITS;
    is_short.then(|| Agreement::unknown(SHORT_RSA_KEY))
}

/// Returns the site's groups in a version; the groups of older versions are those of the newest version
/// before TLS 1.3.
fn groups(site: &SiteScan, found: &VersionScan) -> Vec<u16> {
    let groups = if !found.groups.is_empty() || found.version == TlsVersion::Tls13 {
        &found.groups
    } else {
        let mut versions = site.versions.iter();
        let older = versions.find(|other| {
            other.supported && other.version < TlsVersion::Tls13 && !other.groups.is_empty()
        });
        older.map_or(&found.groups, |older| &older.groups)
    };
    groups.iter().map(|group| group.code).collect()
}

fn schemes(site: &SiteScan, version: TlsVersion) -> Vec<u16> {
    let of_version = site.signatures.iter().filter(|s| s.version == version);
    of_version.map(|s| s.code).collect()
}

fn needs_group(found: &SuiteScan) -> bool {
    facts(found.code)
        .is_some_and(|suite| matches!(suite.key_exchange, KeyExchange::Ecdhe | KeyExchange::Any))
}

fn is_ecdsa(found: &SuiteScan) -> bool {
    facts(found.code).is_some_and(|suite| suite.name.contains("_ECDSA_"))
}

/// Returns the curve of the only certificate of a version before TLS 1.3, where the client does not offer it.
/// In TLS 1.3, signature schemes name their curves.
fn foreign_curve(offer: &Offer, site: &SiteScan, version: TlsVersion) -> Option<String> {
    if version == TlsVersion::Tls13 {
        return None;
    }
    let mut leaves = site
        .chains
        .iter()
        .filter(|chain| chain.versions.contains(&version))
        .filter_map(|chain| chain.certificates.first());
    let curve = leaves.next()?.curve.as_ref()?;
    if leaves.next().is_some() {
        return None;
    }
    let code = Group::registered().find(|group| group.name() == Some(curve.as_str()))?;
    (!offer.has_group(code.0)).then(|| curve.clone())
}

/// Returns whether a suite before TLS 1.3 can use the scheme: an ECDSA suite with keys on curves, an RSA
/// suite with RSA keys.
fn can_sign(found: &SuiteScan, scheme: u16) -> bool {
    let name = signature_name(scheme);
    let of_curves = name.starts_with("ecdsa") || name.starts_with("ed");
    facts(found.code).is_none_or(|suite| match suite.authentication {
        Authentication::Ecdsa => of_curves,
        Authentication::Rsa => name.starts_with("rsa"),
        _ => true,
    })
}

fn is_signed(found: &SuiteScan) -> bool {
    facts(found.code).is_some_and(CipherSuiteFacts::is_signed)
}

fn facts(code: u16) -> Option<&'static CipherSuiteFacts> {
    CipherSuite(code).facts()
}

fn group_name(code: u16) -> String {
    Group(code).to_string()
}

fn signature_name(code: u16) -> String {
    SignatureScheme(code).to_string()
}

fn names(found: &[NamedCode]) -> String {
    let names: Vec<&str> = found.iter().map(|group| group.name.as_str()).collect();
    names.join(", ")
}
