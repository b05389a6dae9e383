//! Results that every response gives in addition to the enumeration: chains, and features by their extensions.

use netbench_model::{
    scan::{ChainScan, Features, Observed},
    tls::{CipherSuite, Protection, TlsVersion},
};

use crate::{
    codec::{Flight, HelloSpec, ServerHello, extension},
    session::Encrypted13,
    x509::{self, TrustAnchors},
};

/// The maximum number of different chains recorded of one site.
const MOST_CHAINS: usize = 8;

/// The maximum number of certificates parsed of a chain.
const MOST_CERTIFICATES: usize = 32;

/// The maximum number of signature schemes recorded of one site: fewer exist.
const MOST_SCHEMES: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Findings {
    chains: Vec<(Vec<Vec<u8>>, ChainScan)>,
    pub(super) features: Features,
    pub(super) notes: Vec<String>,
    /// Signature schemes by version, in the order of the server's choices.
    pub(super) signatures: Vec<(TlsVersion, u16)>,
    pub(super) leaf_is_ecdsa: bool,
}

impl Findings {
    pub(super) fn note(&mut self, what: String) {
        if self.notes.len() < 20 && !self.notes.contains(&what) {
            self.notes.push(what);
        }
    }

    pub(super) fn chains(self) -> Vec<ChainScan> {
        self.chains.into_iter().map(|(_, chain)| chain).collect()
    }

    pub(super) fn chain_count(&self) -> usize {
        self.chains.len()
    }

    /// Records the response to a hello: a flight of SSL 3.0 to TLS 1.2. A feature is absent only if the hello asked for it.
    pub(super) fn flight(
        &mut self,
        spec: &HelloSpec,
        flight: &Flight,
        host: &str,
        roots: &TrustAnchors,
    ) {
        let Some(version) = TlsVersion::of(flight.hello.version) else {
            return;
        };
        self.hello(spec, &flight.hello, version);
        let scts = flight.hello.extension(extension::SCT).map_or(0, sct_count);
        if let Some(ders) = &flight.certificates {
            self.chain(ders, version, host, roots, scts);
        }
        let is_whole = flight.is_done && flight.certificates.is_some();
        if flight.ocsp.is_some() {
            self.features.ocsp_stapling = Observed::Yes;
        } else if is_whole && spec.asks_for(extension::STATUS_REQUEST) {
            self.features.ocsp_stapling.observe(false);
        }
        let asks = flight.certificate_request.is_some();
        if asks || is_whole {
            self.features.client_certificate.observe(asks);
        }
        let scheme = flight.key_exchange.as_ref().and_then(|e| e.signature);
        if let Some(scheme) = scheme {
            self.signature(version, scheme);
        }
    }

    /// Records the encrypted flight of TLS 1.3 after a hello.
    pub(super) fn encrypted(
        &mut self,
        spec: &HelloSpec,
        encrypted: &Encrypted13,
        host: &str,
        roots: &TrustAnchors,
    ) {
        let version = TlsVersion::Tls13;
        if let Some(protocol) = encrypted
            .extension(extension::ALPN)
            .and_then(crate::codec::messages::alpn)
        {
            self.protocol(&protocol);
        }
        if encrypted.certificates.is_empty() {
            return;
        }
        let ders: Vec<Vec<u8>> = encrypted
            .certificates
            .iter()
            .map(|(der, _)| der.clone())
            .collect();
        let scts = encrypted.leaf_extension(extension::SCT);
        let scts = scts.map_or(0, sct_count);
        self.chain(&ders, version, host, roots, scts);
        let status = encrypted.leaf_extension(extension::STATUS_REQUEST);
        if status.is_some() {
            self.features.ocsp_stapling = Observed::Yes;
        } else if spec.asks_for(extension::STATUS_REQUEST) {
            self.features.ocsp_stapling.observe(false);
        }
        let asks = encrypted.certificate_request.is_some();
        self.features.client_certificate.observe(asks);
        if let Some(scheme) = encrypted.signature {
            self.signature(version, scheme);
        }
    }

    pub(super) fn protocol(&mut self, name: &[u8]) {
        let name = crate::text::clean(&String::from_utf8_lossy(name));
        if !self.features.alpn.contains(&name) && self.features.alpn.len() < 8 {
            self.features.alpn.push(name);
        }
    }

    fn signature(&mut self, version: TlsVersion, scheme: u16) {
        if !self.signatures.contains(&(version, scheme)) && self.signatures.len() < MOST_SCHEMES {
            self.signatures.push((version, scheme));
        }
    }

    /// Records that a server requested a certificate and got none: whether it continued (`on`), or ended the
    /// connection with an alert for that reason. Other ends of a connection are not conclusive.
    pub(super) fn certificate_missed(&mut self, on: bool, alert: Option<u8>) {
        // handshake_failure (RFC 5246 section 7.4.6), bad_certificate, certificate_unknown, certificate_required.
        let for_that = matches!(alert, Some(40 | 42 | 46 | 116));
        let required = &mut self.features.client_certificate_required;
        if !on && for_that {
            *required = Observed::Yes;
        } else if on && *required == Observed::Unknown {
            *required = Observed::No;
        }
    }

    fn hello(&mut self, spec: &HelloSpec, hello: &ServerHello, version: TlsVersion) {
        if version == TlsVersion::Tls13 {
            return;
        }
        let features = &mut self.features;
        if spec.compression != [0] {
            features.compression.observe(hello.compression != 0);
        }
        let mut by_extension = vec![
            (
                &mut features.secure_renegotiation,
                extension::RENEGOTIATION_INFO,
            ),
            (
                &mut features.extended_master_secret,
                extension::EXTENDED_MASTER_SECRET,
            ),
            (&mut features.heartbeat, extension::HEARTBEAT),
        ];
        let suite = CipherSuite(hello.suite).facts();
        if suite.is_some_and(|suite| suite.protection == Protection::Cbc) {
            by_extension.push((&mut features.encrypt_then_mac, extension::ENCRYPT_THEN_MAC));
        }
        for (feature, code) in by_extension {
            let has = hello.extension(code).is_some();
            if has || spec.asks_for(code) {
                feature.observe(has);
            }
        }
        // If there is none yet, the end of a handshake shows it.
        if version == TlsVersion::Tls12 && hello.extension(extension::SESSION_TICKET).is_some() {
            features.tickets_tls12 = Observed::Yes;
        }
        if let Some(protocol) = hello.alpn() {
            self.protocol(&protocol);
        }
    }

    fn chain(
        &mut self,
        ders: &[Vec<u8>],
        version: TlsVersion,
        host: &str,
        roots: &TrustAnchors,
        scts: u32,
    ) {
        if ders.is_empty() {
            return;
        }
        if ders.len() > MOST_CERTIFICATES {
            self.note(format!(
                "a chain of {} certificates; the first {MOST_CERTIFICATES} are reported",
                ders.len()
            ));
        }
        let ders = &ders[..ders.len().min(MOST_CERTIFICATES)];
        if let Some((_, known)) = self.chains.iter_mut().find(|(known, _)| known == ders) {
            if !known.versions.contains(&version) {
                known.versions.push(version);
            }
            return;
        }
        if self.chains.len() == MOST_CHAINS {
            return self.note(format!("more than {MOST_CHAINS} different chains"));
        }
        let chain = x509::chain(ders, version, host, roots, scts);
        self.leaf_is_ecdsa |= chain
            .certificates
            .first()
            .is_some_and(|leaf| leaf.key == "ec");
        self.chains.push((ders.to_vec(), chain));
    }
}

/// Counts the timestamps in a SignedCertificateTimestampList (RFC 6962 section 3.3).
fn sct_count(body: &[u8]) -> u32 {
    let mut list = crate::codec::Reader::new(body);
    let mut list = crate::codec::Reader::new(list.vec16().unwrap_or_default());
    let mut count = 0;
    while list.vec16().is_some() {
        count += 1;
    }
    count
}
