//! The work that OpenSSL does for the first time in a first connection, step by step.

use std::io::{self, ErrorKind, Read, Write};

use netbench_libssl::{bare_context, client_context, roots};
use netbench_tls::{ClientSettings, Group, SetUpStep};
use netbench_worker::{ClientSetup, Probe, SetUpAction, SetupError, certificates_of_pem};
use openssl::{
    error::ErrorStack,
    hash::{MessageDigest, hash},
    pkey::Id,
    rand::rand_bytes,
    ssl::HandshakeError,
    symm::{Cipher, decrypt_aead, encrypt_aead},
    x509::X509,
};

use crate::{OpenSsl, client, line};

/// The maximum number of groups with key shares in a ClientHello: a hybrid, and the group that it
/// contains.
const SHARES: usize = 2;

/// Returns the steps, in the order of a first connection.
pub(crate) fn actions<'a>(
    settings: &'a ClientSettings,
    roots_pem: &'a str,
) -> Vec<SetUpAction<'a>> {
    fn step<'a>(
        step: SetUpStep,
        work: impl Fn() -> Result<(), ErrorStack> + 'a,
    ) -> SetUpAction<'a> {
        SetUpAction::new(step, move || {
            work().map_err(|e| SetupError::refused(step.name(), e))
        })
    }
    vec![
        step(SetUpStep::Library, || {
            openssl::init();
            Ok(())
        }),
        step(SetUpStep::Provider, || {
            hash(MessageDigest::sha256(), b"netbench").map(drop)
        }),
        step(SetUpStep::Entropy, || rand_bytes(&mut [0; 32])),
        SetUpAction::new(SetUpStep::Context, || bare_context().map(drop)),
        SetUpAction::new(SetUpStep::TrustRoots, || roots(roots_pem).map(drop)),
        SetUpAction::new(SetUpStep::Context, || {
            let root = certificates_of_pem(roots_pem).next().unwrap_or_default();
            let probe = Probe::new();
            client::connector(&ClientSetup::new(settings, root, &probe)).map(drop)
        }),
        step(SetUpStep::KeyExchange, || share_keys(&settings.groups)),
        SetUpAction::new(SetUpStep::ClientHello, || client_hello(settings)),
        step(SetUpStep::Signatures, || verify(roots_pem)),
        step(SetUpStep::Records, records),
    ]
}

fn share_keys(groups: &[Group]) -> Result<(), ErrorStack> {
    let mut shares = groups.iter().take(SHARES);
    shares.try_for_each(|group| line::key_pair(*group).map(drop))
}

/// A peer that never answers.
#[derive(Debug)]
struct Silent;

impl Read for Silent {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(ErrorKind::WouldBlock.into())
    }
}

impl Write for Silent {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn client_hello(settings: &ClientSettings) -> Result<(), SetupError> {
    let connector = client_context::<OpenSsl>(settings)?.build();
    match connector.connect("set-up.test", Silent) {
        Err(HandshakeError::WouldBlock(_)) => Ok(()),
        Ok(_) => Err(SetupError::Refused("ClientHello: answered".to_owned())),
        Err(error) => Err(SetupError::refused("ClientHello", error)),
    }
}

/// Verifies the signature of one root for each kind of key among them.
fn verify(roots_pem: &str) -> Result<(), ErrorStack> {
    let mut wanted = vec![Id::RSA, Id::EC];
    // Roots are parsed one by one: to parse them all takes longer than the work of this step.
    for pem in certificates_of_pem(roots_pem) {
        let root = X509::from_pem(pem.as_bytes())?;
        let key = root.public_key()?;
        if let Some(index) = wanted.iter().position(|kind| *kind == key.id()) {
            wanted.swap_remove(index);
            root.verify(&key)?;
        }
        if wanted.is_empty() {
            break;
        }
    }
    Ok(())
}

/// Computes hashes as in TLS 1.3, and encrypts and decrypts a record.
fn records() -> Result<(), ErrorStack> {
    let (key, iv, head) = ([1; 16], [2; 12], [3; 5]);
    for digest in [MessageDigest::sha256(), MessageDigest::sha384()] {
        hash(digest, b"netbench")?;
    }
    let mut tag = [0; 16];
    let cipher = Cipher::aes_128_gcm();
    let record = encrypt_aead(cipher, &key, Some(&iv), &head, b"netbench", &mut tag)?;
    decrypt_aead(cipher, &key, Some(&iv), &head, &record, &tag).map(drop)
}
