//! Certificates of a case, encoded byte by byte from their description. Many are wrong on purpose.

mod crl;
pub(crate) mod der;
mod digest;
mod discrete_log;
mod extensions;
mod key;
mod rsa;
mod spec;
mod staple;

use std::collections::BTreeMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use jiff::{SignedDuration, Timestamp};
use num_bigint::BigUint;

use self::{der::tag, extensions::Around, spec::Hex};

pub(crate) use self::{
    crl::CrlSpec,
    digest::{Digest, hmac_sha1, md5_sha1},
    key::{Key, KeyError, KeyKind},
    spec::{CertificateSpec, DirectoryName, Flaw, GeneralName, Purpose, kebab_words},
    staple::Staple,
};

#[cfg(test)]
pub(crate) use self::spec::KeyUsage;

/// The name of the server's own certificate.
pub(crate) const LEAF: &str = "leaf";

/// A chain in the order of transmission, the leaf's key, and the client's trusted roots.
pub(crate) struct Chain {
    /// Certificates as DER.
    pub(crate) sent: Vec<Vec<u8>>,
    pub(crate) key: Key,
    /// The client's trusted roots, as DER.
    pub(crate) roots: Vec<Vec<u8>>,
    /// Certificate revocation lists, as DER.
    pub(crate) crls: Vec<Vec<u8>>,
    /// An OCSP response to staple.
    pub(crate) staple: Option<Vec<u8>>,
}

/// A chain that cannot be made: the case's description is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ChainError {
    #[error("there is no certificate \"{0}\"")]
    Unknown(String),
    #[error("certificate \"{certificate}\": {source}")]
    Key {
        certificate: String,
        source: KeyError,
    },
}

impl ChainError {
    fn key(certificate: &str, source: KeyError) -> Self {
        Self::Key {
            certificate: certificate.to_owned(),
            source,
        }
    }
}

/// The certificates of a case.
pub(crate) struct ChainSpec<'a> {
    pub(crate) host: &'a str,
    /// A text that distinguishes the names of its certificates from those of other chains that the same client
    /// meets.
    pub(crate) unit: Option<&'a str>,
    /// The described certificates, in addition to the usual leaf, intermediate and root.
    pub(crate) certificates: &'a BTreeMap<String, CertificateSpec>,
    pub(crate) sent: &'a [String],
    pub(crate) trusted: &'a [String],
    pub(crate) staple: Option<Staple>,
    pub(crate) crls: &'a [CrlSpec],
}

/// Returns the default issuer of a certificate.
fn usual_issuer(name: &str) -> &'static str {
    match name {
        LEAF => "intermediate",
        _ => "root",
    }
}

impl ChainSpec<'_> {
    /// Makes the chain, as of `now`.
    pub(crate) fn make(&self, now: Timestamp) -> Result<Chain, ChainError> {
        let usual = [LEAF, "intermediate", "root"];
        let names = usual
            .into_iter()
            .chain(self.certificates.keys().map(String::as_str));
        let mut making = Making {
            spec: self,
            now,
            keys: BTreeMap::new(),
        };
        for name in names {
            making.keys.insert(name, self.key(name)?);
        }
        // Each certificate is made once, because every signature is different.
        let mut made: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
        for name in self.sent.iter().chain(self.trusted) {
            made.insert(name, making.certificate(name)?);
        }
        let [sent, roots] = [self.sent, self.trusted].map(|names| {
            let found = names.iter().filter_map(|name| made.get(name.as_str()));
            found.cloned().collect()
        });
        let staple = match self.staple {
            None => None,
            Some(staple) => Some(making.response(staple)?),
        };
        let crls = self.crls.iter().map(|list| making.crl(list));
        let crls = crls.collect::<Result<_, _>>()?;
        let own = self.key_name(LEAF)?;
        let key = making.keys.remove(own.as_str());
        Ok(Chain {
            sent,
            key: key.ok_or(ChainError::Unknown(own))?,
            roots,
            crls,
            staple,
        })
    }

    /// Returns the description of one of its certificates.
    pub(crate) fn spec(&self, name: &str) -> Result<CertificateSpec, ChainError> {
        match self.certificates.get(name) {
            Some(spec) => Ok(spec.clone()),
            None if [LEAF, "intermediate", "root"].contains(&name) => {
                Ok(CertificateSpec::default())
            }
            None => Err(ChainError::Unknown(name.to_owned())),
        }
    }

    /// Returns the name of the certificate whose key it has.
    pub(crate) fn key_name(&self, name: &str) -> Result<String, ChainError> {
        let other = self.spec(name)?.key_of;
        Ok(other.unwrap_or_else(|| name.to_owned()))
    }

    fn key(&self, name: &str) -> Result<Key, ChainError> {
        let spec = self.spec(name)?;
        Key::new(spec.key.unwrap_or(KeyKind::EcdsaP256))
            .map_err(|source| ChainError::key(name, source))
    }

    /// Returns the attributes of its subject.
    pub(crate) fn subject(&self, name: &str) -> Result<Vec<(u32, String)>, ChainError> {
        let CertificateSpec {
            subject,
            subject_of,
            ..
        } = self.spec(name)?;
        let named = subject_of.as_deref().unwrap_or(name);
        let is_own_leaf = name == LEAF && subject.is_some();
        let mut parts = match subject {
            Some(DirectoryName(parts)) => parts,
            None => vec![
                (10, "netbench compat, not for public trust".to_owned()),
                (3, format!("{named} of {}", self.host)),
            ],
        };
        if let (Some(unit), false) = (self.unit, is_own_leaf) {
            // The maximum length in RFC 5280 (appendix A.1, ub-organizational-unit-name).
            const LONGEST: usize = 64;
            parts.insert(0, (11, unit.chars().take(LONGEST).collect()));
        }
        Ok(parts)
    }

    /// Returns the bytes of its serial number.
    fn serial(&self, name: &str) -> Result<Vec<u8>, ChainError> {
        let spec = self.spec(name)?;
        Ok(match (spec.serial, spec.flaw) {
            (_, Some(Flaw::EmptySerial)) => Vec::new(),
            (Some(hex), _) => hex.0,
            (None, _) => {
                let digest = Digest::Sha256.of(name.as_bytes());
                [&[0x4e], &digest[..15]].concat()
            }
        })
    }

    pub(crate) fn issuer(&self, name: &str) -> Result<String, ChainError> {
        let issuer = self.spec(name)?.issuer;
        Ok(issuer.unwrap_or_else(|| usual_issuer(name).to_owned()))
    }
}

/// A chain that is being made, with a key for each certificate.
struct Making<'a> {
    spec: &'a ChainSpec<'a>,
    now: Timestamp,
    keys: BTreeMap<&'a str, Key>,
}

impl Making<'_> {
    fn key(&self, certificate: &str) -> Result<&Key, ChainError> {
        let name = self.spec.key_name(certificate)?;
        let key = self.keys.get(name.as_str());
        key.ok_or(ChainError::Unknown(name))
    }

    /// Returns the data with a signature by the key of `signer`, which is of its usual algorithm.
    fn signed(&self, signer: &str, data: &[u8]) -> Result<Vec<u8>, ChainError> {
        let key = self.key(signer)?;
        let digest = key.usual_digest();
        let signature = key
            .sign(digest, data)
            .map_err(|source| ChainError::key(signer, source))?;
        Ok(der::sequence(&[
            data,
            &key.algorithm(digest),
            &der::bit_string(&signature),
        ]))
    }

    fn certificate(&self, certificate: &str) -> Result<Vec<u8>, ChainError> {
        let (described, now) = (self.spec, self.now);
        let spec = described.spec(certificate)?;
        let issuer = described.issuer(certificate)?;
        let (key, issuer_key) = (self.key(certificate)?, self.key(&issuer)?);
        let subject = described.subject(certificate)?;
        let digest = spec.digest.unwrap_or_else(|| issuer_key.usual_digest());
        let algorithm = issuer_key.algorithm(digest);
        let version = match spec.version.unwrap_or(3) {
            1 => Vec::new(),
            number => der::value(tag::constructed(0), &der::unsigned(&[number - 1])),
        };
        let serial = described.serial(certificate)?;
        let is_leaf = certificate == LEAF;
        let (begins, ends) = match (certificate, is_leaf) {
            (_, true) => (-1, 90),
            ("root", _) => (-365, 3650),
            _ => (-30, 1825),
        };
        let validity = der::sequence(&[
            &time(now, spec.begins.unwrap_or(begins), spec.flaw),
            &time(now, spec.ends.unwrap_or(ends), spec.flaw),
        ]);
        let public = match &spec.public_key {
            Some(Hex(public)) => public.clone(),
            None => key.public(),
        };
        let surroundings = Around {
            host: self.spec.host,
            is_leaf,
            key: &public,
            issuer_key: &issuer_key.public(),
            subject_is_empty: subject.is_empty(),
        };
        let extensions = match spec.version {
            Some(1) => Vec::new(),
            _ => der::value(
                tag::constructed(3),
                &extensions::extensions(&spec, &surroundings),
            ),
        };
        let to_be_signed = der::sequence(&[
            &version,
            &der::value(tag::INTEGER, &serial),
            &algorithm,
            &name(&self.spec.subject(&issuer)?),
            &validity,
            &name(&subject),
            &public,
            &extensions,
        ]);
        let signature = issuer_key.sign(digest, &to_be_signed);
        let mut signature = signature.map_err(|source| ChainError::key(&issuer, source))?;
        if spec.flaw == Some(Flaw::BadSignature)
            && let Some(last) = signature.last_mut()
        {
            *last ^= 1;
        }
        let outer = match spec.flaw {
            // ecdsa-with-SHA384 in place of the actual algorithm.
            Some(Flaw::AlgorithmsDiffer) => {
                der::sequence(&[&der::oid(&[1, 2, 840, 10045, 4, 3, 3])])
            }
            _ => algorithm,
        };
        let mut der = der::sequence(&[&to_be_signed, &outer, &der::bit_string(&signature)]);
        if spec.flaw == Some(Flaw::TrailingData) {
            der.extend([5, 0]);
        }
        Ok(der)
    }
}

/// Encodes a Name, with one attribute in each RDN.
fn name(parts: &[(u32, String)]) -> Vec<u8> {
    der::sequence(&[&rdns(parts)])
}

/// Encodes the RDNs of a Name.
pub(crate) fn rdns(parts: &[(u32, String)]) -> Vec<u8> {
    let rdns = parts.iter().flat_map(|(attribute, text)| {
        let value = der::value(tag::UTF8_STRING, text.as_bytes());
        let pair = der::sequence(&[&der::oid(&[2, 5, 4, *attribute]), &value]);
        der::value(tag::SET, &pair)
    });
    rdns.collect()
}

/// Encodes a time: UTCTime until 2049 (RFC 5280 section 4.1.2.5).
fn time(now: Timestamp, days: i32, flaw: Option<Flaw>) -> Vec<u8> {
    const SECONDS: i64 = 24 * 60 * 60;
    let then = now + SignedDuration::from_secs(i64::from(days) * SECONDS);
    let text = then.strftime("%Y%m%d%H%M%SZ").to_string();
    if flaw == Some(Flaw::GeneralizedTime) || text.as_str() >= "2050" {
        der::value(tag::GENERALIZED_TIME, text.as_bytes())
    } else {
        der::value(tag::UTC_TIME, &text.as_bytes()[2..])
    }
}

/// Returns the bytes of a number, with leading zeros.
pub(crate) fn padded(number: &BigUint, bytes: usize) -> Vec<u8> {
    let digits = number.to_bytes_be();
    let zeros = vec![0; bytes.saturating_sub(digits.len())];
    [zeros, digits].concat()
}

/// Decodes the first block of PEM.
pub(crate) fn pem_body(pem: &str) -> Option<Vec<u8>> {
    let lines = pem.lines().skip(1);
    let body: String = lines.take_while(|line| !line.starts_with('-')).collect();
    BASE64_STANDARD.decode(body).ok()
}

pub(crate) fn pem(der: &[u8]) -> String {
    let text = BASE64_STANDARD.encode(der);
    let lines: Vec<_> = text
        .as_bytes()
        .chunks(64)
        .map(String::from_utf8_lossy)
        .collect();
    format!(
        "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
        lines.join("\n")
    )
}
