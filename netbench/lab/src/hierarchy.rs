//! CAs: a root and its intermediates.

use netbench_model::KeyType;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, CrlDistributionPoint, DistinguishedName,
    DnType, IsCa, KeyPair, KeyUsagePurpose, SerialNumber,
};
use time::{Duration, OffsetDateTime};

use crate::{der, extensions};

/// Returns the part of CAs' names that identifies the type of their keys.
fn shown(key: KeyType) -> &'static str {
    match key {
        KeyType::Rsa2048 => "RSA",
        KeyType::Rsa3072 => "RSA-3072",
        KeyType::Rsa4096 => "RSA-4096",
        KeyType::EcdsaP256 => "ECDSA P-256",
        KeyType::EcdsaP384 => "ECDSA P-384",
        KeyType::Ed25519 => "Ed25519",
        KeyType::MlDsa44 => "ML-DSA-44",
        KeyType::MlDsa65 => "ML-DSA-65",
        KeyType::MlDsa87 => "ML-DSA-87",
    }
}

/// Whether clients trust the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trust {
    Known,
    Unknown,
}

/// A root and its intermediates, each signed by its predecessor.
pub(crate) struct Hierarchy {
    root: Ca,
    intermediates: Vec<Ca>,
}

/// A CA certificate with its key.
pub(crate) struct Ca {
    /// The issuer that signs certificates.
    pub(crate) issuer: CertifiedIssuer<'static, KeyPair>,
    /// The DER of its distinguished name.
    pub(crate) subject: Vec<u8>,
}

impl Hierarchy {
    /// Makes the CAs, whose keys are of type `kind`. The first key is the root's, each further one that of an intermediate.
    pub(crate) fn new(
        kind: KeyType,
        trust: Trust,
        root_key: KeyPair,
        keys: impl IntoIterator<Item = KeyPair>,
        now: OffsetDateTime,
    ) -> Result<Self, rcgen::Error> {
        let name = match trust {
            Trust::Known => format!("netbench lab {}", shown(kind)),
            Trust::Unknown => format!("netbench lab unknown {}", shown(kind)),
        };
        let mut params = ca_params(&format!("{name} root"))?;
        params.not_before = now - Duration::days(365);
        params.not_after = now + Duration::days(3650);
        let root = Ca::new(CertifiedIssuer::self_signed(params, root_key)?)?;

        let mut intermediates: Vec<Ca> = Vec::new();
        for (index, key) in keys.into_iter().enumerate() {
            let mut params = ca_params(&format!("{name} intermediate {}", index + 1))?;
            params.not_before = now - Duration::days(30);
            params.not_after = now + Duration::days(1825);
            let (params, above) = (issued(params), intermediates.last().unwrap_or(&root));
            let ca = Ca::new(CertifiedIssuer::signed_by(params, key, &above.issuer)?)?;
            intermediates.push(ca);
        }
        Ok(Self {
            root,
            intermediates,
        })
    }

    pub(crate) fn root_der(&self) -> &[u8] {
        self.root.issuer.der()
    }

    /// Returns the CA that signs the leaf of a chain of `length` sent certificates.
    pub(crate) fn issuer(&self, length: u8) -> &Ca {
        self.above(length).last().unwrap_or(&self.root)
    }

    /// Returns the certificates that are sent after the leaf in such a chain: from the leaf's issuer upwards,
    /// without the root.
    pub(crate) fn sent(&self, length: u8) -> impl Iterator<Item = &[u8]> {
        let above = self.above(length).iter().rev();
        above.map(|ca| ca.issuer.der().as_ref())
    }

    /// Returns the intermediates of such a chain.
    fn above(&self, length: u8) -> &[Ca] {
        let above = usize::from(length).saturating_sub(1);
        &self.intermediates[..above.min(self.intermediates.len())]
    }
}

impl Ca {
    fn new(issuer: CertifiedIssuer<'static, KeyPair>) -> Result<Self, rcgen::Error> {
        let subject = der::subject(issuer.der()).ok_or(rcgen::Error::CouldNotParseCertificate)?;
        Ok(Self { issuer, subject })
    }
}

/// Adds the extensions of a certificate that another signs. Nothing can be fetched from the URL of the revocation list.
pub(crate) fn issued(mut params: CertificateParams) -> CertificateParams {
    params.use_authority_key_identifier_extension = true;
    params.custom_extensions = vec![extensions::policies(), extensions::authority_information()];
    params.crl_distribution_points = vec![CrlDistributionPoint {
        uris: vec!["http://crl.netbench.invalid/issuer.crl".to_owned()],
    }];
    params
}

/// Returns a distinguished name with this common name.
fn name(common_name: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(
        DnType::OrganizationName,
        "netbench lab, not for public trust",
    );
    name.push(DnType::CommonName, common_name);
    name
}

/// Returns a random serial number of 16 bytes: RFC 5280 section 4.1.2.2.
pub(crate) fn serial() -> Result<SerialNumber, rcgen::Error> {
    let mut bytes = [0; 16];
    extensions::random(&mut bytes)?;
    // The number must be positive and always have the same length.
    bytes[0] = bytes[0] & 0x7f | 0x40;
    Ok(SerialNumber::from_slice(&bytes))
}

/// Returns parameters with this common name and a random serial number.
pub(crate) fn params(common_name: &str) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::default();
    params.distinguished_name = name(common_name);
    params.serial_number = Some(serial()?);
    Ok(params)
}

/// Returns the common parameters of all CA certificates.
pub(crate) fn ca_params(common_name: &str) -> Result<CertificateParams, rcgen::Error> {
    let mut params = params(common_name)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![
        KeyUsagePurpose::DigitalSignature,
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::CrlSign,
    ];
    Ok(params)
}
