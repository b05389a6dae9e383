//! Advice about losses: the reason, the setting of the new stack that helps, and the remedy of the site's operator.
//! The statements about libraries come from using them, and are not tested here.

use netbench_model::{Library, StackName, scan::LossReason};

/// Advice about the sites that are lost for one reason.
pub(super) struct Advice {
    /// The reason why the new stack does not reach them.
    pub(super) why: &'static str,
    /// The remedy in the client.
    pub(super) client: &'static str,
    /// The remedy on the server.
    pub(super) server: &'static str,
}

/// Returns the advice about sites that `to` loses for a reason, by the reason's name.
pub(super) fn advice(reason: &str, to: &StackName) -> Advice {
    let library = Library::of(to);
    let mut known = LossReason::ALL.iter().copied();
    let reason = known.find(|known| known.name() == reason);
    let Some(reason) = reason else {
        return Advice {
            why: "The detail in the table below has the library's own words.",
            client: OTHER,
            server: "Look at the server's own log of the refused handshake.",
        };
    };
    Advice {
        why: why(reason),
        client: client(reason, library),
        server: server(reason),
    }
}

/// The advice about a stack that is unknown here.
const OTHER: &str = "Look for a setting in the library's documentation.";

/// The advice about features that rustls omits on purpose.
const NOT_IN_RUSTLS: &str = "No setting helps: rustls has none of them.";

fn why(reason: LossReason) -> &'static str {
    match reason {
        LossReason::Version => {
            "The server speaks only versions of TLS that the client does not offer."
        }
        LossReason::DheOnly => {
            "The server exchanges keys by Diffie-Hellman over finite fields (DHE) and not over elliptic curves."
        }
        LossReason::CbcOnly => {
            "The server has only suites in CBC mode, none with AES-GCM or ChaCha20."
        }
        LossReason::RsaKeyExchangeOnly => {
            "The server exchanges keys by encryption to its RSA key, without forward secrecy."
        }
        LossReason::Suite => "The server and the client have no cipher suite in common.",
        LossReason::Group => "The server and the client have no group (curve) in common.",
        LossReason::Sha1 => "The server signs with SHA-1 only, in the handshake or in its chain.",
        LossReason::Signature => "The server signs in no way that the client accepts.",
        LossReason::ClientCertificate => {
            "The server requires a certificate of the client, which has none to show."
        }
        LossReason::Certificate => "The client refuses the server's certificate.",
        LossReason::Intolerance => {
            "The server fails at something in the client's hello that it should ignore. The detail says at what."
        }
        LossReason::CommonNameOnly => {
            "The certificate has the host in its common name alone, where RFC 9525 has clients not look."
        }
        LossReason::IncompleteChain => {
            "The server sends no chain to a root that the client trusts: an intermediate is missing, or its root is unknown."
        }
        LossReason::Handshake => {
            "Scan and offer fit, and the handshake failed all the same. The detail says how."
        }
    }
}

fn client(reason: LossReason, library: Option<Library>) -> &'static str {
    use LossReason as R;
    match (library, reason) {
        (_, R::Certificate) => {
            "If the site is yours, add its CA to the trust roots. A certificate that is expired, for another name or a \
             CA's own has to be replaced; an exception for one site is the client's own code."
        }
        (_, R::CommonNameOnly) => {
            "No setting helps where the library looks at alternative names alone; a verifier of the client's own can."
        }
        (_, R::IncompleteChain) => {
            "Add the CA that issued the certificate to the trust roots (here: `--roots my-ca.pem`)."
        }
        (_, R::ClientCertificate) => {
            "Give the client its certificate and key (here: `--client-cert` and `--client-key`)."
        }
        (_, R::Intolerance) => {
            "Leave out for this site what it fails at: an older newest version, fewer suites, or no application protocols."
        }
        (_, R::Handshake) => "Report it to the library, with the detail from the table below.",
        (Some(Library::RustlsRing), R::Signature) => {
            "Try the provider aws-lc-rs, which verifies P-521 and more pairs of curve and hash."
        }
        (Some(Library::Rustls | Library::RustlsRing), R::Version) => {
            "No setting helps: rustls has only TLS 1.2 and 1.3."
        }
        (Some(Library::Rustls | Library::RustlsRing), R::Group) => {
            "Offer more groups: `CryptoProvider::kx_groups`. rustls has no P-521 and no finite fields."
        }
        (Some(Library::Rustls | Library::RustlsRing), _) => NOT_IN_RUSTLS,
        (Some(Library::Openssl), R::Version) => {
            "`SSL_CTX_set_min_proto_version` and the cipher string `DEFAULT@SECLEVEL=0` bring TLS 1.0 and 1.1 back."
        }
        (Some(Library::Openssl), R::Sha1) => "The cipher string `DEFAULT@SECLEVEL=0` allows SHA-1.",
        (Some(Library::Openssl), R::Group) => "Offer more groups: `SSL_CTX_set1_groups_list`.",
        (Some(Library::Openssl), R::Signature) => {
            "Offer more schemes: `SSL_CTX_set1_sigalgs_list`."
        }
        (Some(Library::Openssl), _) => {
            "Add the suites to `SSL_CTX_set_cipher_list`; weak ones need `@SECLEVEL=0` too."
        }
        (Some(Library::Boringssl), R::Version) => {
            "`SSL_CTX_set_min_proto_version` brings TLS 1.0 and 1.1 back."
        }
        (Some(Library::Boringssl), R::DheOnly) => "No setting helps: BoringSSL has no DHE.",
        (Some(Library::Boringssl), R::Group) => "Offer more groups: `SSL_CTX_set1_groups_list`.",
        (Some(Library::Boringssl), R::Sha1 | R::Signature) => {
            "Accept more schemes: `SSL_CTX_set_verify_algorithm_prefs`."
        }
        (Some(Library::Boringssl), _) => "Add the suites to `SSL_CTX_set_strict_cipher_list`.",
        (Some(Library::Go) | None, _) => OTHER,
    }
}

fn server(reason: LossReason) -> &'static str {
    match reason {
        LossReason::Version => "Turn on TLS 1.2 and 1.3 (nginx: `ssl_protocols TLSv1.2 TLSv1.3`).",
        LossReason::DheOnly | LossReason::RsaKeyExchangeOnly => {
            "Add suites with ECDHE, or turn on TLS 1.3, which has no others \
             (nginx: `ssl_ciphers ECDHE+AESGCM:ECDHE+CHACHA20`)."
        }
        LossReason::CbcOnly | LossReason::Suite => {
            "Add AES-GCM with ECDHE, or turn on TLS 1.3 (nginx: `ssl_ciphers ECDHE+AESGCM:ECDHE+CHACHA20`)."
        }
        LossReason::Group => "Add X25519 and P-256 (nginx: `ssl_ecdh_curve X25519:prime256v1`).",
        LossReason::Sha1 | LossReason::Signature => {
            "Get a chain that is signed with SHA-256, and let the server sign with it."
        }
        LossReason::CommonNameOnly => {
            "Make a new certificate with the host among its alternative names (`subjectAltName`)."
        }
        LossReason::IncompleteChain => {
            "Send the intermediates as well (nginx: the full chain in `ssl_certificate`)."
        }
        LossReason::Certificate => {
            "Replace the certificate, or send the intermediates that it needs."
        }
        LossReason::ClientCertificate => {
            "Ask for a certificate without requiring it (nginx: `ssl_verify_client optional`)."
        }
        LossReason::Intolerance => {
            "Update the server, or the device in front of it, that fails at such a hello."
        }
        LossReason::Handshake => "Look at the server's own log of the failed handshake.",
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Families, Member},
        *,
    };

    #[test]
    fn every_reason_has_advice_for_every_library() {
        for stack in [
            "rustls-aws-lc",
            "servo",
            "openssl@3.0.19",
            "boringssl",
            "mine",
        ] {
            for reason in LossReason::ALL.iter().copied() {
                let advice = advice(reason.name(), &StackName::new(stack));
                assert_eq!(advice.why, why(reason), "{stack}");
                assert!(!advice.client.is_empty() && !advice.server.is_empty());
                assert_eq!(
                    Families::built_in().check(Member::Loss, reason.name()),
                    Ok(())
                );
            }
        }
        let rustls = StackName::new("rustls-ring");
        assert_eq!(advice("cbc-only", &rustls).client, NOT_IN_RUSTLS);
        assert_eq!(advice("CBC only", &rustls).client, OTHER);
        let openssl = StackName::new("openssl-system");
        assert!(advice("version", &openssl).client.contains("SECLEVEL"));
    }
}
