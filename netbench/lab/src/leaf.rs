//! The leaf certificate of a site.

use std::net::IpAddr;

use netbench_model::{ChainProfile, EchPolicy, Fault, KeyType, Site};
use rcgen::{
    DistinguishedName, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose, SanType,
    SerialNumber,
};
use time::{Duration, OffsetDateTime};

use crate::{
    extensions,
    hierarchy::{Ca, Hierarchy, issued, params, serial},
};

/// The longest common name: RFC 5280 appendix A.1, ub-common-name.
const MAX_COMMON_NAME: usize = 64;
/// The maximum part of the padding that goes into further names; the rest goes into timestamps. A
/// certificate of the web has up to about 100 names.
const MAX_NAMES_PADDING: usize = 2000;
/// The host name of a site with [`Fault::WrongName`].
const OTHER_NAME: &str = "other-name.netbench.invalid";

/// A leaf certificate.
pub(crate) struct Leaf {
    /// The certificate.
    pub(crate) der: Vec<u8>,
    /// The certificate's serial number.
    pub(crate) serial: SerialNumber,
}

/// The side of a handshake that a certificate is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A server's certificate.
    Server,
    /// A client's certificate.
    Client,
}

/// Makes the certificate of `site`, so that it and the certificates sent with it have the size that
/// the profile requires.
pub(crate) fn issue(
    site: &Site,
    purpose: Purpose,
    key: &KeyPair,
    hierarchy: &Hierarchy,
    now: OffsetDateTime,
) -> Result<Leaf, rcgen::Error> {
    let ChainProfile { length, bytes } = site.lab.chain;
    let issuer = hierarchy.issuer(length);
    let above: usize = hierarchy.sent(length).map(<[u8]>::len).sum();
    let wanted = usize::try_from(bytes)
        .unwrap_or(usize::MAX)
        .saturating_sub(above);

    let serial = serial()?;
    let mut padding = 0;
    // DER lengths grow by steps and ECDSA signatures vary by some bytes: a few attempts reach the
    // size, and each that was too short adds the missing bytes.
    loop {
        let der = sign(site, purpose, key, issuer, now, &serial, padding)?;
        let missing = wanted.saturating_sub(der.len());
        if missing == 0 {
            return Ok(Leaf { der, serial });
        }
        padding += missing;
    }
}

fn sign(
    site: &Site,
    purpose: Purpose,
    key: &KeyPair,
    issuer: &Ca,
    now: OffsetDateTime,
    serial: &SerialNumber,
    padding: usize,
) -> Result<Vec<u8>, rcgen::Error> {
    let fault = site.lab.fault;
    let host = if fault == Some(Fault::WrongName) {
        OTHER_NAME
    } else {
        site.host.as_str()
    };
    let mut params = issued(params(host)?);
    params.serial_number = Some(serial.clone());
    if host.len() > MAX_COMMON_NAME {
        params.distinguished_name = DistinguishedName::new();
    }
    (params.not_before, params.not_after) = match fault {
        Some(Fault::Expired) => (now - Duration::days(100), now - Duration::days(10)),
        _ => (now - Duration::days(1), now + Duration::days(90)),
    };
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = key_usages(site.lab.key);
    params.extended_key_usages = vec![match purpose {
        Purpose::Server => ExtendedKeyUsagePurpose::ServerAuth,
        Purpose::Client => ExtendedKeyUsagePurpose::ClientAuth,
    }];

    let (names, names_padding) = names(host, (padding / 2).min(MAX_NAMES_PADDING))?;
    let public_name = site.lab.ech.map(|_| EchPolicy::PUBLIC_NAME.try_into());
    params.subject_alt_names = names;
    params
        .subject_alt_names
        .extend(public_name.transpose()?.map(SanType::DnsName));
    let timestamps = extensions::timestamps(padding - names_padding)?;
    params.custom_extensions.push(timestamps);
    Ok(params.signed_by(key, &issuer.issuer)?.der().to_vec())
}

/// Returns the names of a certificate for `host`, with further names of at most `padding` bytes in
/// all; and the number of those bytes.
fn names(host: &str, padding: usize) -> Result<(Vec<SanType>, usize), rcgen::Error> {
    let address = host.parse::<IpAddr>();
    let own = match address {
        Ok(address) => SanType::IpAddress(address),
        Err(_) => SanType::DnsName(host.try_into()?),
    };
    // The name with another label must still be valid (RFC 1035: 253 bytes).
    let parent = if address.is_ok() || host.len() > 200 {
        "netbench.invalid"
    } else {
        host
    };
    let mut names = vec![own];
    let mut bytes = 0;
    for number in 1.. {
        let name = format!("www{number}.{parent}");
        // Tag and length have one byte each, or the length two where the name has 128 bytes or
        // more.
        let size = name.len() + if name.len() < 128 { 2 } else { 3 };
        if bytes + size > padding {
            break;
        }
        bytes += size;
        names.push(SanType::DnsName(name.try_into()?));
    }
    Ok((names, bytes))
}

fn key_usages(key: KeyType) -> Vec<KeyUsagePurpose> {
    match key {
        // TLS_RSA_* suites encrypt with the key.
        KeyType::Rsa2048 | KeyType::Rsa3072 | KeyType::Rsa4096 => {
            vec![
                KeyUsagePurpose::DigitalSignature,
                KeyUsagePurpose::KeyEncipherment,
            ]
        }
        _ => vec![KeyUsagePurpose::DigitalSignature],
    }
}
