//! The negotiated parameters of a handshake.

use netbench_libssl::{Side, peer_chain, tls_version};
use netbench_tls::{CipherSuite, CipherSuiteFacts, Negotiated, SignatureScheme, TlsVersion};
use netbench_worker::alpn_text;
use openssl::{nid::Nid, pkey::Id, ssl::SslRef};

use crate::{ffi, line, names::cipher_suite};

/// `NID_rsassaPss` of openssl/obj_mac.h.
const RSA_PSS: Nid = Nid::from_raw(912);

/// The difference between the code points of `rsa_pss_pss_*` and `rsa_pss_rsae_*` with the same hash.
const PSS_PSS_OFFSET: u16 = 0x0809 - 0x0804;

/// `NID_ED25519` of openssl/obj_mac.h.
const ED25519: Nid = Nid::from_raw(1087);

/// `NID_ED448` of openssl/obj_mac.h.
const ED448: Nid = Nid::from_raw(1088);

/// `NID_ML_DSA_44`, `NID_ML_DSA_65` and `NID_ML_DSA_87` of openssl/obj_mac.h.
const ML_DSA_44: Nid = Nid::from_raw(1457);
const ML_DSA_65: Nid = Nid::from_raw(1458);
const ML_DSA_87: Nid = Nid::from_raw(1459);

/// Returns the negotiated parameters according to one side of a finished handshake.
pub(crate) fn negotiated(ssl: &SslRef, side: Side) -> Negotiated {
    let resumed = ssl.session_reused();
    let version = ssl.version2().and_then(tls_version);
    // A resumed session of TLS 1.2 has no key exchange; OpenSSL remembers the old group.
    let group = if resumed && version == Some(TlsVersion::Tls12) {
        None
    } else {
        line::group(ssl, side)
    };
    let suite = ssl.current_cipher().map(cipher_suite);
    // A server that decrypts with its RSA key has chosen a scheme, but signs nothing.
    let facts = suite.and_then(CipherSuite::facts);
    let is_signed = facts.is_some_and(CipherSuiteFacts::is_signed);
    Negotiated {
        version,
        suite,
        group,
        signature: if resumed || !is_signed {
            None
        } else {
            ffi::server_signature(ssl, side)
                .and_then(scheme)
                .map(|scheme| with_key_of(ssl, side, scheme))
        },
        alpn: alpn_text(ssl.selected_alpn_protocol()),
        resumed,
        chain_bytes: peer_chain(ssl, side),
        ..Negotiated::default()
    }
}

/// Returns the scheme (RFC 8446 section 4.2.3) of a signature with this hash and this type of key, as
/// OpenSSL's NIDs, or `None` for pairs that no scheme of TLS 1.3 has. OpenSSL has one NID for both
/// kinds of RSASSA-PSS; the result is the kind for keys of type rsaEncryption.
fn scheme((hash, key): (i32, i32)) -> Option<SignatureScheme> {
    const EC: Nid = Nid::X9_62_ID_ECPUBLICKEY;
    const RSA: Nid = Nid::RSAENCRYPTION;
    Some(match (Nid::from_raw(key), Nid::from_raw(hash)) {
        (ED25519, _) => SignatureScheme::ED25519,
        (ED448, _) => SignatureScheme::ED448,
        (ML_DSA_44, _) => SignatureScheme::MLDSA44,
        (ML_DSA_65, _) => SignatureScheme::MLDSA65,
        (ML_DSA_87, _) => SignatureScheme::MLDSA87,
        (RSA_PSS, Nid::SHA256) => SignatureScheme::RSA_PSS_RSAE_SHA256,
        (RSA_PSS, Nid::SHA384) => SignatureScheme::RSA_PSS_RSAE_SHA384,
        (RSA_PSS, Nid::SHA512) => SignatureScheme::RSA_PSS_RSAE_SHA512,
        (RSA, Nid::SHA1) => SignatureScheme::RSA_PKCS1_SHA1,
        (RSA, Nid::SHA256) => SignatureScheme::RSA_PKCS1_SHA256,
        (RSA, Nid::SHA384) => SignatureScheme::RSA_PKCS1_SHA384,
        (RSA, Nid::SHA512) => SignatureScheme::RSA_PKCS1_SHA512,
        (EC, Nid::SHA256) => SignatureScheme::ECDSA_SECP256R1_SHA256,
        (EC, Nid::SHA384) => SignatureScheme::ECDSA_SECP384R1_SHA384,
        (EC, Nid::SHA512) => SignatureScheme::ECDSA_SECP521R1_SHA512,
        _ => return None,
    })
}

/// Returns the scheme with the kind of RSASSA-PSS that belongs to the key of the server's certificate.
fn with_key_of(ssl: &SslRef, side: Side, scheme: SignatureScheme) -> SignatureScheme {
    match scheme {
        SignatureScheme::RSA_PSS_RSAE_SHA256
        | SignatureScheme::RSA_PSS_RSAE_SHA384
        | SignatureScheme::RSA_PSS_RSAE_SHA512
            if has_pss_key(ssl, side) =>
        {
            SignatureScheme(scheme.0 + PSS_PSS_OFFSET)
        }
        _ => scheme,
    }
}

/// Returns whether the certificate of the server has a key for RSASSA-PSS alone (`id-RSASSA-PSS`, RFC 4055).
fn has_pss_key(ssl: &SslRef, side: Side) -> bool {
    let certificate = match side {
        Side::Client => ssl.peer_certificate(),
        Side::Server => ssl.certificate().map(ToOwned::to_owned),
    };
    let key = certificate.and_then(|certificate| certificate.public_key().ok());
    key.is_some_and(|key| key.id() == Id::from_raw(RSA_PSS.as_raw()))
}

#[cfg(test)]
mod tests {
    use std::{os::unix::net::UnixStream, thread};

    use openssl::{
        asn1::Asn1Time,
        hash::MessageDigest,
        pkey::{PKey, Private},
        pkey_ctx::PkeyCtx,
        ssl::{Ssl, SslContext, SslMethod, SslStream, SslVerifyMode},
        x509::{X509, X509Name},
    };

    use super::*;

    fn key(kind: Id) -> PKey<Private> {
        let mut context = PkeyCtx::new_id(kind).unwrap();
        context.keygen_init().unwrap();
        context.set_rsa_keygen_bits(2048).unwrap();
        context.keygen().unwrap()
    }

    fn certificate(key: &PKey<Private>) -> X509 {
        let mut name = X509Name::builder().unwrap();
        name.append_entry_by_text("CN", "site.test").unwrap();
        let name = name.build();
        let mut builder = X509::builder().unwrap();
        builder.set_version(2).unwrap();
        builder.set_subject_name(&name).unwrap();
        builder.set_issuer_name(&name).unwrap();
        builder.set_pubkey(key).unwrap();
        let (from, until) = (Asn1Time::days_from_now(0), Asn1Time::days_from_now(1));
        builder.set_not_before(&from.unwrap()).unwrap();
        builder.set_not_after(&until.unwrap()).unwrap();
        builder.sign(key, MessageDigest::sha256()).unwrap();
        builder.build()
    }

    /// Returns the schemes that client and server report.
    fn schemes(kind: Id) -> [Option<SignatureScheme>; 2] {
        let key = key(kind);
        let mut server = SslContext::builder(SslMethod::tls_server()).unwrap();
        server.set_certificate(&certificate(&key)).unwrap();
        server.set_private_key(&key).unwrap();
        let mut client = SslContext::builder(SslMethod::tls_client()).unwrap();
        client.set_verify(SslVerifyMode::NONE);
        let (here, there) = UnixStream::pair().unwrap();
        let server = Ssl::new(&server.build()).unwrap();
        let server = thread::spawn(move || {
            let mut stream = SslStream::new(server, there).unwrap();
            stream.accept().unwrap();
            negotiated(stream.ssl(), Side::Server).signature
        });
        let mut stream = SslStream::new(Ssl::new(&client.build()).unwrap(), here).unwrap();
        stream.connect().unwrap();
        let seen = negotiated(stream.ssl(), Side::Client).signature;
        [seen, server.join().unwrap()]
    }

    #[test]
    fn the_key_of_the_certificate_tells_the_kinds_of_pss_apart() {
        let cases = [
            (Id::RSA, SignatureScheme::RSA_PSS_RSAE_SHA256),
            (Id::RSA_PSS, SignatureScheme(0x0809)),
        ];
        for (kind, scheme) in cases {
            assert_eq!(schemes(kind), [Some(scheme); 2], "{kind:?}");
        }
    }
}
