//! Certificates as a scan reports them.

use std::sync::LazyLock;

use sha2::{Digest, Sha256};
use x509_parser::{
    asn1_rs::{Oid, oid},
    certificate::X509Certificate,
    extensions::{GeneralName, ParsedExtension},
    oid_registry::{OID_EC_P256, OID_PKCS1_RSASSAPSS, OidRegistry},
    prelude::FromDer,
    public_key::PublicKey,
};

use netbench_model::{
    scan::{Anchor, CertificateScan, ChainScan},
    tls::TlsVersion,
};

use crate::text::{as_u32, clean, hex};

/// The maximum number of names recorded of one certificate; some have hundreds.
const MOST_NAMES: usize = 100;

/// The roots that clients trust.
#[derive(Debug, Clone, Default)]
pub struct TrustAnchors(Vec<Root>);

#[derive(Debug, Clone)]
struct Root {
    /// The subject's name, as DER.
    name: Vec<u8>,
    der: Vec<u8>,
}

impl TrustAnchors {
    /// Reads certificates in PEM. Other contents are skipped.
    pub fn of_pem(pem: &str) -> Self {
        let ders = x509_parser::pem::Pem::iter_from_buffer(pem.as_bytes());
        Self(
            ders.flatten()
                .filter_map(|pem| Root::of_der(pem.contents))
                .collect(),
        )
    }

    /// Returns whether one of the roots issued the certificate, or is the certificate.
    fn issued(&self, certificate: &X509Certificate<'_>) -> bool {
        let name = certificate.issuer().as_raw();
        self.0.iter().filter(|root| root.name == name).any(|root| {
            X509Certificate::from_der(&root.der).is_ok_and(|(_, root)| issued(&root, certificate))
        })
    }
}

impl Root {
    fn of_der(der: Vec<u8>) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(&der).ok()?;
        let name = certificate.subject().as_raw().to_vec();
        Some(Self { name, der })
    }
}

/// Returns the RSA key of a certificate, as the DER of its SubjectPublicKeyInfo.
pub(crate) fn rsa_public_key(der: &[u8]) -> Option<Vec<u8>> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let key = certificate.public_key();
    matches!(key.parsed().ok()?, PublicKey::RSA(_)).then(|| key.raw.to_vec())
}

/// Returns the record of a chain in the order of the server; `scts` came in a TLS extension.
pub(crate) fn chain(
    ders: &[Vec<u8>],
    version: TlsVersion,
    host: &str,
    roots: &TrustAnchors,
    scts: u32,
) -> ChainScan {
    let parsed: Vec<Option<X509Certificate<'_>>> = ders
        .iter()
        .map(|der| {
            X509Certificate::from_der(der)
                .ok()
                .map(|(_, parsed)| parsed)
        })
        .collect();
    let certificates: Vec<CertificateScan> = ders
        .iter()
        .zip(&parsed)
        .map(|(der, parsed)| describe(der, parsed.as_ref()))
        .collect();
    let known: Vec<&X509Certificate<'_>> = parsed.iter().flatten().collect();
    let mut path: Vec<&X509Certificate<'_>> = known.first().copied().into_iter().collect();
    let mut in_order = known.len() == ders.len();
    while let Some(last) = path.last() {
        let above = known.iter().position(|other| {
            issued(other, last) && !path.iter().any(|p| p.as_raw() == other.as_raw())
        });
        let Some(above) = above else { break };
        in_order &= known[above].as_raw() == known.get(path.len()).map_or(&[][..], |c| c.as_raw());
        path.push(known[above]);
    }
    in_order &= path.len() == known.len();
    let duplicates = (1..ders.len())
        .filter(|at| ders[..*at].contains(&ders[*at]))
        .count();
    let end = path.last();
    let self_issued = end.is_some_and(|last| last.subject() == last.issuer());
    // A client may leave the path below its end: roots are also signed by older roots.
    let below_root = path
        .iter()
        .position(|certificate| roots.issued(certificate));
    let anchor = match end {
        None => Anchor::Missing,
        Some(_) if roots.0.is_empty() => Anchor::Unchecked,
        Some(_) if below_root.is_some() => Anchor::Known,
        Some(_) if self_issued && path.len() == 1 => Anchor::SelfSigned,
        Some(_) if self_issued => Anchor::UnknownRoot,
        Some(_) => Anchor::Missing,
    };
    let missing = end.filter(|_| anchor == Anchor::Missing);
    let issuers = &path[..below_root.map_or(path.len(), |at| at + 1)];
    let invalid_issuers = issuers.iter().skip(1);
    let invalid_issuers = invalid_issuers.filter(|issuer| !issuer.validity().is_valid());
    let leaf = certificates.first();
    ChainScan {
        versions: vec![version],
        in_order,
        unrelated: as_u32(ders.len() - path.len() - duplicates),
        duplicates: as_u32(duplicates),
        has_root: self_issued && path.len() > 1,
        anchor,
        missing: missing.map(|last| clean(&last.issuer().to_string())),
        invalid_issuers: as_u32(invalid_issuers.count()),
        names_match: leaf
            .is_some_and(|leaf| leaf.names.iter().any(|name| matches_host(name, host))),
        bytes: ders.iter().map(|der| as_u32(der.len())).sum(),
        scts: scts + leaf.map_or(0, |leaf| leaf.scts),
        certificates,
    }
}

/// Returns whether `above` issued `below`: by name, and by signature if the algorithm is known.
fn issued(above: &X509Certificate<'_>, below: &X509Certificate<'_>) -> bool {
    above.subject().as_raw() == below.issuer().as_raw()
        && match below.verify_signature(Some(above.public_key())) {
            Ok(()) => true,
            Err(x509_parser::error::X509Error::SignatureUnsupportedAlgorithm) => true,
            Err(_) => false,
        }
}

fn describe(der: &[u8], parsed: Option<&X509Certificate<'_>>) -> CertificateScan {
    let sha256 = hex(&Sha256::digest(der));
    let bytes = as_u32(der.len());
    let Some(parsed) = parsed else {
        return CertificateScan {
            sha256,
            subject: "not a certificate".to_owned(),
            bytes,
            ..CertificateScan::default()
        };
    };
    let (key, key_bits, curve) = key(parsed);
    let validity = parsed.validity();
    CertificateScan {
        sha256,
        subject: clean(&parsed.subject().to_string()),
        issuer: clean(&parsed.issuer().to_string()),
        names: names(parsed),
        key,
        key_bits,
        curve,
        signature: oid_name(&parsed.signature_algorithm.algorithm),
        not_before: moment(validity.not_before),
        not_after: moment(validity.not_after),
        valid_now: validity.is_valid(),
        is_ca: parsed.is_ca(),
        not_for_servers: is_not_for_servers(parsed),
        scts: scts(parsed),
        bytes,
    }
}

/// Returns whether the extended key usages exclude server authentication.
fn is_not_for_servers(certificate: &X509Certificate<'_>) -> bool {
    let usages = certificate.extended_key_usage().ok().flatten();
    usages.is_some_and(|usages| !usages.value.server_auth && !usages.value.any)
}

fn moment(time: x509_parser::time::ASN1Time) -> String {
    let t = time.to_datetime();
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        t.year(),
        u8::from(t.month()),
        t.day(),
        t.hour(),
        t.minute(),
        t.second()
    )
}

fn names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let Ok(Some(alternative)) = certificate.subject_alternative_name() else {
        return Vec::new();
    };
    let names = alternative.value.general_names.iter();
    let names = names.filter_map(|name| match name {
        GeneralName::DNSName(name) => Some(clean(name)),
        GeneralName::IPAddress([a, b, c, d]) => Some(format!("{a}.{b}.{c}.{d}")),
        GeneralName::IPAddress(bytes) => {
            let address: [u8; 16] = (*bytes).try_into().ok()?;
            Some(std::net::Ipv6Addr::from(address).to_string())
        }
        _ => None,
    });
    names.take(MOST_NAMES).collect()
}

fn scts(certificate: &X509Certificate<'_>) -> u32 {
    let mut extensions = certificate.extensions().iter();
    let count = extensions.find_map(|extension| match extension.parsed_extension() {
        ParsedExtension::SCT(list) => Some(as_u32(list.len())),
        _ => None,
    });
    count.unwrap_or(0)
}

/// Returns the key's kind, its number of bits, and its curve.
fn key(certificate: &X509Certificate<'_>) -> (String, u32, Option<String>) {
    let info = certificate.public_key();
    match info.parsed() {
        Ok(PublicKey::RSA(rsa)) => {
            // `key_size` is not used, because it is for a modulus that begins with one zero byte.
            let zeros = rsa.modulus.iter().take_while(|byte| **byte == 0).count();
            let digits = &rsa.modulus[zeros..];
            let leading = digits.first().map_or(0, |b| b.leading_zeros() as usize);
            ("rsa".to_owned(), as_u32(digits.len() * 8 - leading), None)
        }
        Ok(PublicKey::EC(_)) => {
            let curve = info.algorithm.parameters.as_ref();
            let curve = curve.and_then(|any| any.as_oid().ok());
            let curve = curve.map_or_else(|| "unnamed".to_owned(), |oid| oid_name(&oid));
            ("ec".to_owned(), curve_bits(&curve), Some(curve))
        }
        Ok(key @ PublicKey::DSA(_)) => ("dsa".to_owned(), as_u32(key.key_size()), None),
        _ => {
            let name = oid_name(&info.algorithm.algorithm);
            let bits = match name.as_str() {
                "ed25519" => 256,
                "ed448" => 456,
                _ => 0,
            };
            (name, bits, None)
        }
    }
}

/// Names of algorithms and curves: x509-parser's, and those that it lacks. Curves have the names of IANA's registry
/// of groups.
static NAMES: LazyLock<OidRegistry<'static>> = LazyLock::new(|| {
    let mut names = OidRegistry::default().with_all_crypto().with_x509();
    for (oid, name) in [
        (OID_EC_P256, "secp256r1"),
        (oid!(1.3.132.0.10), "secp256k1"),
        (oid!(1.3.132.0.33), "secp224r1"),
        (oid!(1.3.36.3.3.2.8.1.1.7), "brainpoolP256r1"),
        (oid!(1.3.36.3.3.2.8.1.1.11), "brainpoolP384r1"),
        (oid!(1.3.36.3.3.2.8.1.1.13), "brainpoolP512r1"),
        (oid!(1.2.840.10045.4.1), "ecdsa-with-SHA1"),
        (OID_PKCS1_RSASSAPSS, "rsassaPss"),
        (oid!(2.16.840.1.101.3.4.3.17), "mldsa-44"),
        (oid!(2.16.840.1.101.3.4.3.18), "mldsa-65"),
        (oid!(2.16.840.1.101.3.4.3.19), "mldsa-87"),
    ] {
        names.insert(oid, (name, ""));
    }
    names
});

/// Returns the name of an object identifier, or its digits.
fn oid_name(oid: &Oid<'_>) -> String {
    let known = NAMES.get(oid).map(|entry| entry.sn().to_owned());
    known.unwrap_or_else(|| oid.to_id_string())
}

/// Returns the number of bits in a curve's name (SEC 2 section 2.1, RFC 5639): 521 for `secp521r1`.
fn curve_bits(curve: &str) -> u32 {
    let after_letters = curve.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    if after_letters.len() == curve.len() {
        return 0;
    }
    let digits = after_letters.split(|c: char| !c.is_ascii_digit()).next();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// Compares a name with a host by RFC 6125: a wildcard stands for one whole label, the leftmost.
fn matches_host(name: &str, host: &str) -> bool {
    let name = name.to_ascii_lowercase();
    match name.strip_prefix("*.") {
        Some(parent) => host.split_once('.').is_some_and(|(_, rest)| rest == parent),
        None => name == host,
    }
}

#[cfg(test)]
mod tests;
