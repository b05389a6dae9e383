use netbench_tls::{Group, Negotiated, SignatureScheme, TlsVersion};
use netbench_worker::{alpn_text, der_length};
use s2n_tls::{connection::Connection, enums::Version};

use crate::ffi;

/// Returns the negotiated parameters according to one side of a finished handshake.
pub(crate) fn negotiated(connection: &Connection) -> Negotiated {
    let resumed = connection.resumed();
    let version = connection.actual_protocol_version().ok();
    Negotiated {
        version: version.and_then(tls_version),
        suite: ffi::negotiated_suite(connection),
        group: connection.selected_key_exchange_group().and_then(group),
        signature: connection.signature_scheme().and_then(scheme),
        alpn: alpn_text(connection.application_protocol()),
        resumed,
        chain_bytes: peer_chain(connection),
        ..Negotiated::default()
    }
}

pub(crate) fn tls_version(version: Version) -> Option<TlsVersion> {
    match version {
        Version::TLS10 => Some(TlsVersion::Tls10),
        Version::TLS11 => Some(TlsVersion::Tls11),
        Version::TLS12 => Some(TlsVersion::Tls12),
        Version::TLS13 => Some(TlsVersion::Tls13),
        _ => None,
    }
}

/// Returns the group of the library's name: the registered name, except for lowercase letters.
fn group(name: &str) -> Option<Group> {
    let mut known = Group::OFFERED.iter().copied();
    known.find(|group| group.to_string().eq_ignore_ascii_case(name))
}

/// Returns the scheme of the library's name. Before TLS 1.3, ECDSA's schemes did not include the curve.
fn scheme(name: &str) -> Option<SignatureScheme> {
    match name {
        "legacy_ecdsa_sha256" => Some(SignatureScheme::ECDSA_SECP256R1_SHA256),
        "legacy_ecdsa_sha384" => Some(SignatureScheme::ECDSA_SECP384R1_SHA384),
        name => {
            let mut known = SignatureScheme::known().into_iter();
            known.find(|scheme| scheme.to_string() == name)
        }
    }
}

/// Returns the size of each certificate of the verified chain, except for the root, which belongs to this
/// side. The crate does not report certificates that were sent outside of that chain.
fn peer_chain(connection: &Connection) -> Vec<u32> {
    if connection.resumed() {
        // The session remembers the chain, which was not sent again.
        return Vec::new();
    }
    let Ok(chain) = connection.peer_cert_chain() else {
        return Vec::new();
    };
    let lengths = chain.iter().map(|it| it?.der().map(der_length));
    let mut lengths: Vec<_> = lengths.map(|length| length.unwrap_or(0)).collect();
    if lengths.len() > 1 {
        lengths.pop();
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_librarys_names_are_known() {
        let groups = [
            ("x25519", Group::X25519),
            ("secp384r1", Group::SECP384R1),
            ("X25519MLKEM768", Group::X25519MLKEM768),
        ];
        for (name, known) in groups {
            assert_eq!(group(name), Some(known), "{name}");
        }
        let schemes = [
            (
                "ecdsa_secp256r1_sha256",
                SignatureScheme::ECDSA_SECP256R1_SHA256,
            ),
            (
                "legacy_ecdsa_sha384",
                SignatureScheme::ECDSA_SECP384R1_SHA384,
            ),
            ("rsa_pss_rsae_sha256", SignatureScheme::RSA_PSS_RSAE_SHA256),
            ("rsa_pkcs1_sha512", SignatureScheme::RSA_PKCS1_SHA512),
        ];
        for (name, known) in schemes {
            assert_eq!(scheme(name), Some(known), "{name}");
        }
        assert_eq!((group("NONE"), scheme("none")), (None, None));
    }
}
