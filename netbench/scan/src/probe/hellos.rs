//! The ClientHello of each probe, as the site is known to read it.

use netbench_model::tls::{SignatureScheme, TlsVersion};

use super::{prober::Prober, wire::Reply};
use crate::{
    codec::HelloSpec,
    enumeration::{Limit, ProbeHello, Refusal, Responder as _, Schemes},
};

/// The application protocols that hellos offer.
pub(super) const PROTOCOLS: [&str; 2] = ["h2", "http/1.1"];

impl Prober<'_> {
    /// The ClientHello of a probe: what it offers, and every extension that shows a feature.
    pub(super) fn spec(&self, hello: &ProbeHello) -> HelloSpec {
        let newest = hello
            .versions
            .iter()
            .max()
            .copied()
            .unwrap_or(TlsVersion::Tls12);
        let mut random = [0; 32];
        let mut session_id = Vec::new();
        // Without randomness drawing keys fails later; a hello alone does not need it.
        let _ = aws_lc_rs::rand::fill(&mut random);
        let mut spec = HelloSpec {
            record_version: newest.code().min(0x0301),
            random,
            suites: hello.suites.clone(),
            compression: vec![0],
            extensions: newest != TlsVersion::Ssl3,
            ..HelloSpec::default()
        };
        if newest == TlsVersion::Ssl3 {
            spec.legacy_version = newest.code();
            spec.compression = vec![1, 0];
            // TLS_EMPTY_RENEGOTIATION_INFO_SCSV (RFC 5746): there are no extensions.
            spec.suites.push(0x00ff);
            return spec;
        }
        if newest == TlsVersion::Tls13 {
            session_id.extend_from_slice(&random);
            spec.legacy_version = 0x0303;
            spec.versions = Some(hello.versions.iter().map(|v| v.code()).collect());
            spec.shares = Some(Vec::new());
        } else {
            spec.legacy_version = newest.code();
            spec.compression = vec![1, 0];
            spec.ticket = Some(Vec::new());
        }
        spec.session_id = session_id;
        if self.target.host.parse::<std::net::IpAddr>().is_err() {
            spec.server_name = Some(self.target.host.clone());
        }
        spec.groups = Some(hello.groups.clone());
        if newest >= TlsVersion::Tls12 {
            spec.signatures = Some(self.schemes(newest));
        }
        if !self.without_alpn.get() {
            spec.alpn = Some(PROTOCOLS.map(|name| name.as_bytes().to_vec()).to_vec());
        }
        spec.ask_for_features();
        let dress = self.dress.borrow();
        spec.leave_out(&dress.without);
        spec.pad_to = dress.pad_to;
        spec
    }

    /// All signature schemes, in as many parts as the site reads.
    pub(super) fn scheme_parts(&self) -> Vec<Vec<u16>> {
        let schemes = offered_schemes();
        let most = match self.dress.borrow().schemes {
            Schemes::Common => COMMON_SCHEMES,
            Schemes::All => schemes.len(),
        };
        schemes.chunks(most).map(<[u16]>::to_vec).collect()
    }

    /// Every signature scheme that the site reads, common ones first, and of these those last that the server has chosen in this
    /// version: a server that takes the client's order then shows another one each time that it signs.
    fn schemes(&self, version: TlsVersion) -> Vec<u16> {
        let mut schemes = offered_schemes();
        if self.dress.borrow().schemes == Schemes::Common {
            schemes.retain(|code| is_common_scheme(*code));
        }
        let findings = self.findings.borrow();
        schemes.sort_by_key(|code| {
            let known = findings.signatures.contains(&(version, *code));
            (!is_common_scheme(*code), known)
        });
        schemes
    }

    /// Whether the site does not read large hellos.
    pub(super) fn reads_small_alone(&self) -> bool {
        let found = self.limits_found.borrow();
        found
            .iter()
            .any(|(limit, _)| matches!(limit, Limit::Bytes(_)))
    }

    /// Whether to try again without ALPN: once, after an alert that no protocol is common.
    pub(super) fn drop_alpn(&self, reply: &Reply) -> bool {
        const NO_APPLICATION_PROTOCOL: u8 = 120;
        let refused = matches!(reply, Reply::Alert(NO_APPLICATION_PROTOCOL));
        let first = refused && !self.without_alpn.replace(true);
        if first {
            let how = Refusal::Alert(NO_APPLICATION_PROTOCOL);
            self.cannot_read(Limit::Protocols, how);
        }
        first
    }
}

/// Signature schemes to offer, the most common first.
pub(super) fn offered_schemes() -> Vec<u16> {
    let mut schemes: Vec<u16> = SignatureScheme::registered().map(u16::from).collect();
    schemes.sort_by_key(|code| match code {
        0x0403 | 0x0804 => 0,
        0x0503 | 0x0603 | 0x0805 | 0x0806 | 0x0807 => 1,
        0x0401 | 0x0501 | 0x0601 => 2,
        0x0201..=0x0203 => 4,
        0x0101 => 5,
        _ => 3,
    });
    schemes
}

/// The number of common schemes.
const COMMON_SCHEMES: usize = 12;

/// Returns whether browsers offer the item, or did: some servers read no others.
fn is_common_scheme(code: u16) -> bool {
    matches!(
        code,
        0x0403 | 0x0503 | 0x0603 | 0x0804..=0x0807 | 0x0401 | 0x0501 | 0x0601 | 0x0201 | 0x0203
    )
}
