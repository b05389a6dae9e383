//! The work that rustls and its provider do for the first time in a first connection, step by step.

use std::{io, sync::Arc};

use netbench_tls::{ClientSettings, SetUpStep};
use netbench_worker::{
    ClientSetup, Probe, SetUpAction, SetupError, TrustRoots, certificates_of_pem, refused,
};
use rustls::{
    ClientConnection, ContentType, ProtocolVersion, SupportedCipherSuite, Tls13CipherSuite,
    crypto::{
        CryptoProvider,
        cipher::{AeadKey, InboundOpaqueMessage, Iv, OutboundChunks, OutboundPlainMessage},
    },
};
use rustls_pki_types::{AlgorithmIdentifier, ServerName, alg_id};

use crate::{client, provider::Provider};

/// The maximum number of groups with key shares in a ClientHello: a hybrid, and the group that it contains.
const SHARES: usize = 2;

/// Returns the steps, in the order of a first connection.
pub(crate) fn actions<'a>(
    provider: &'static dyn Provider,
    settings: &'a ClientSettings,
    roots_pem: &'a str,
) -> Vec<SetUpAction<'a>> {
    let with = move |work: fn(&CryptoProvider) -> Result<(), rustls::Error>| {
        move || {
            let cryptography = client::cryptography(provider, settings)?;
            work(&cryptography).map_err(refused("step"))
        }
    };
    vec![
        SetUpAction::new(SetUpStep::Library, with(hash)),
        SetUpAction::new(SetUpStep::Entropy, with(random)),
        SetUpAction::new(SetUpStep::TrustRoots, || {
            client::roots(TrustRoots::Pem(roots_pem)).map(drop)
        }),
        SetUpAction::new(SetUpStep::Context, move || {
            let probe = Probe::new();
            let setup = ClientSetup::new(settings, first(roots_pem), &probe);
            client::connector(provider, &setup).map(drop)
        }),
        SetUpAction::new(SetUpStep::KeyExchange, with(exchange_keys)),
        SetUpAction::new(SetUpStep::ClientHello, move || {
            client_hello(provider, settings, roots_pem)
        }),
        SetUpAction::new(SetUpStep::Signatures, with(verify)),
        SetUpAction::new(SetUpStep::Records, with(records)),
    ]
}

/// Returns the first certificate: to parse all roots takes longer than the work of this step.
fn first(roots_pem: &str) -> &str {
    certificates_of_pem(roots_pem).next().unwrap_or_default()
}

fn hash(provider: &CryptoProvider) -> Result<(), rustls::Error> {
    if let Some(suite) = tls13(provider) {
        suite.common.hash_provider.hash(b"netbench");
    }
    Ok(())
}

fn random(provider: &CryptoProvider) -> Result<(), rustls::Error> {
    let mut bytes = [0; 32];
    provider.secure_random.fill(&mut bytes).map_err(Into::into)
}

/// Makes both sides of an exchange in each group, as a client needs the other side's share to finish.
fn exchange_keys(provider: &CryptoProvider) -> Result<(), rustls::Error> {
    for group in provider.kx_groups.iter().take(SHARES) {
        let ours = group.start()?;
        let theirs = group.start_and_complete(ours.pub_key())?;
        ours.complete(&theirs.pub_key)?;
    }
    Ok(())
}

fn client_hello(
    provider: &dyn Provider,
    settings: &ClientSettings,
    roots_pem: &str,
) -> Result<(), SetupError> {
    let probe = Probe::new();
    let setup = ClientSetup::new(settings, first(roots_pem), &probe);
    let config = client::config(provider, &setup)?;
    let name = ServerName::try_from("set-up.test").map_err(refused("name"))?;
    let mut connection =
        ClientConnection::new(Arc::new(config), name).map_err(refused("ClientHello"))?;
    let written = connection.write_tls(&mut io::sink());
    written.map_err(refused("ClientHello"))?;
    Ok(())
}

/// Verifies a signature with each kind of key that web servers and their issuers have. The signatures are
/// invalid, which takes as long to detect.
fn verify(provider: &CryptoProvider) -> Result<(), rustls::Error> {
    const ECDSA: &[u8] = &[0x30, 6, 2, 1, 1, 2, 1, 1];
    const RSA: &[u8] = &[1; RSA_BYTES];
    let rsa = rsa_key();
    let wanted: [(AlgorithmIdentifier, AlgorithmIdentifier, &[u8], &[u8]); 4] = [
        (alg_id::ECDSA_P256, alg_id::ECDSA_SHA256, &P256, ECDSA),
        (alg_id::ECDSA_P384, alg_id::ECDSA_SHA384, &P384, ECDSA),
        (alg_id::RSA_ENCRYPTION, alg_id::RSA_PKCS1_SHA256, &rsa, RSA),
        (alg_id::RSA_ENCRYPTION, alg_id::RSA_PSS_SHA256, &rsa, RSA),
    ];
    for (key_kind, signature_kind, key, signature) in wanted {
        let able = provider.signature_verification_algorithms.all.iter();
        let mut able = able.filter(|algorithm| {
            algorithm.public_key_alg_id() == key_kind
                && algorithm.signature_alg_id() == signature_kind
        });
        if let Some(algorithm) = able.next() {
            let _ = algorithm.verify_signature(key, b"netbench", signature);
        }
    }
    Ok(())
}

/// Derives a secret, and encrypts and decrypts a record.
fn records(provider: &CryptoProvider) -> Result<(), rustls::Error> {
    let Some(suite) = tls13(provider) else {
        return Ok(());
    };
    let expander = suite.hkdf_provider.extract_from_secret(None, &[1; 32]);
    let mut secret = [0; 32];
    let _ = expander.expand_slice(&[b"netbench"], &mut secret);
    let (key, iv) = (|| AeadKey::from(secret), || Iv::new([0; 12]));
    let plain = OutboundPlainMessage {
        typ: ContentType::ApplicationData,
        version: ProtocolVersion::TLSv1_3,
        payload: OutboundChunks::Single(b"netbench"),
    };
    let record = suite.aead_alg.encrypter(key(), iv()).encrypt(plain, 0)?;
    let mut bytes = record.encode();
    // The payload follows the record's header of five bytes.
    let payload = bytes.get_mut(5..).unwrap_or_default();
    let record = InboundOpaqueMessage::new(
        ContentType::ApplicationData,
        ProtocolVersion::TLSv1_2,
        payload,
    );
    let mut decrypter = suite.aead_alg.decrypter(key(), iv());
    decrypter.decrypt(record, 0).map(drop)
}

/// Returns a suite of TLS 1.3 whose keys have 32 bytes.
fn tls13(provider: &CryptoProvider) -> Option<&'static Tls13CipherSuite> {
    let mut suites = provider.cipher_suites.iter();
    suites.find_map(|suite| match suite {
        SupportedCipherSuite::Tls13(suite) if suite.aead_alg.key_len() == 32 => Some(*suite),
        _ => None,
    })
}

const RSA_BYTES: usize = 256;

/// Returns a public key with a modulus whose factors are unknown (RFC 8017 appendix A.1.1).
fn rsa_key() -> Vec<u8> {
    let mut key = vec![0x30, 0x82, 1, 0x0a, 2, 0x82, 1, 1, 0];
    key.extend([0xc1; RSA_BYTES]);
    key.extend([2, 3, 1, 0, 1]);
    key
}

/// The base point of P-256 (SP 800-186 section 3.2.1.3), which is a public key, without compression (SEC 1 section 2.3.3).
const P256: [u8; 65] = *b"\x04\x6b\x17\xd1\xf2\xe1\x2c\x42\x47\xf8\xbc\xe6\xe5\x63\xa4\x40\xf2\
      \x77\x03\x7d\x81\x2d\xeb\x33\xa0\xf4\xa1\x39\x45\xd8\x98\xc2\x96\
      \x4f\xe3\x42\xe2\xfe\x1a\x7f\x9b\x8e\xe7\xeb\x4a\x7c\x0f\x9e\x16\
      \x2b\xce\x33\x57\x6b\x31\x5e\xce\xcb\xb6\x40\x68\x37\xbf\x51\xf5";

/// The base point of P-384 (SP 800-186 section 3.2.1.4).
const P384: [u8; 97] = *b"\x04\xaa\x87\xca\x22\xbe\x8b\x05\x37\x8e\xb1\xc7\x1e\xf3\x20\xad\x74\
      \x6e\x1d\x3b\x62\x8b\xa7\x9b\x98\x59\xf7\x41\xe0\x82\x54\x2a\x38\
      \x55\x02\xf2\x5d\xbf\x55\x29\x6c\x3a\x54\x5e\x38\x72\x76\x0a\xb7\
      \x36\x17\xde\x4a\x96\x26\x2c\x6f\x5d\x9e\x98\xbf\x92\x92\xdc\x29\
      \xf8\xf4\x1d\xbd\x28\x9a\x14\x7c\xe9\xda\x31\x13\xb5\xf0\xb8\xc0\
      \x0a\x60\xb1\xce\x1d\x7e\x81\x9d\x7a\x43\x1d\x7c\x90\xea\x0e\x5f";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(feature = "ring", feature = "aws-lc"))]
    fn every_step_of_both_providers_works() {
        let both: [&dyn Provider; 2] = [&crate::Ring, &crate::AwsLc];
        for provider in both {
            let cryptography = provider.library_default();
            for step in [hash, random, exchange_keys, verify, records] {
                step(&cryptography).unwrap();
            }
            assert!(tls13(&cryptography).is_some());
        }
    }
}
