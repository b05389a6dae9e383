//! Certificates of the hosts, from a root that is new in every process.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use aws_lc_rs::rand;
use parking_lot::Mutex;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SerialNumber,
};
use rustls::{
    ServerConfig,
    crypto::aws_lc_rs::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
    server::ServerSessionMemoryCache,
};
use time::{Duration, OffsetDateTime};

use crate::names::Host;

/// Number of sessions that a host remembers.
const SESSIONS: usize = 64;

/// An error of a certificate.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CertificateError {
    /// A certificate cannot be made.
    #[error("cannot make a certificate: {0}")]
    Make(#[from] rcgen::Error),
    /// A certificate cannot be used.
    #[error("cannot use a certificate: {0}")]
    Use(#[from] rustls::Error),
    /// The system has no random bytes.
    #[error("no random bytes")]
    Random,
}

/// The certificates of all hosts, each made when it is first needed.
pub(crate) struct Certificates {
    trusted: Root,
    unknown: Root,
    /// The next serial number.
    serial: AtomicU64,
    configs: Mutex<HashMap<(Host, String), Arc<ServerConfig>>>,
}

struct Root {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Root {
    fn new(name: &str) -> Result<Self, CertificateError> {
        let mut number = [0; 8];
        rand::fill(&mut number).map_err(|_| CertificateError::Random)?;
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::default();
        // A browser's database distinguishes roots by their names.
        let name = format!("{name} {:016x}", u64::from_be_bytes(number));
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let now = OffsetDateTime::now_utc();
        (params.not_before, params.not_after) =
            (now - Duration::days(200), now + Duration::days(200));
        let pem = params.self_signed(&key)?.pem();
        Ok(Self {
            issuer: Issuer::new(params, key),
            pem,
        })
    }
}

impl Certificates {
    pub(crate) fn new() -> Result<Self, CertificateError> {
        Ok(Self {
            trusted: Root::new("netbench web")?,
            unknown: Root::new("netbench unknown")?,
            serial: AtomicU64::new(1),
            configs: Mutex::default(),
        })
    }

    /// Returns the root that the browser is to trust.
    pub(crate) fn roots_pem(&self) -> &str {
        &self.trusted.pem
    }

    /// Returns the settings of a host of the case with the host `own`.
    pub(crate) fn config(
        &self,
        host: Host,
        own: &str,
    ) -> Result<Arc<ServerConfig>, CertificateError> {
        let mut configs = self.configs.lock();
        let key = (host, own.to_owned());
        if let Some(config) = configs.get(&key) {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(self.new_config(host, own)?);
        configs.insert(key, Arc::clone(&config));
        Ok(config)
    }

    fn new_config(&self, host: Host, own: &str) -> Result<ServerConfig, CertificateError> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(host.certified(own))?;
        let name = host.certified(own).concat();
        params
            .distinguished_name
            .push(DnType::CommonName, name.get(..64).unwrap_or(&name));
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        params.serial_number = Some(SerialNumber::from(serial));
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let now = OffsetDateTime::now_utc();
        (params.not_before, params.not_after) = match host {
            Host::Expired => (now - Duration::days(100), now - Duration::days(10)),
            _ => (now - Duration::days(1), now + Duration::days(90)),
        };
        let root = match host {
            Host::Untrusted => &self.unknown,
            _ => &self.trusted,
        };
        let leaf: CertificateDer<'static> = params.signed_by(&key, &root.issuer)?.der().clone();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![leaf], key)?;
        config.alpn_protocols = host.alpn().iter().map(|name| name.to_vec()).collect();
        config.session_storage = ServerSessionMemoryCache::new(SESSIONS);
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_a_certificate_of_its_own() {
        let certificates = Certificates::new().unwrap();
        let own = netbench_model::features::WebCase::host_of("a/b");
        for host in [
            Host::Own,
            Host::Other,
            Host::Shared,
            Host::Expired,
            Host::Untrusted,
        ] {
            let config = certificates.config(host, &own).unwrap();
            let again = certificates.config(host, &own).unwrap();
            assert!(Arc::ptr_eq(&config, &again));
        }
        assert!(
            certificates
                .roots_pem()
                .starts_with("-----BEGIN CERTIFICATE-----")
        );
        assert_eq!(certificates.configs.lock().len(), 5);
    }
}
