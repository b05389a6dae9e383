//! Certificates and keys of this side.

use std::{fs, ops::Deref, path::Path};

use openssl::{
    pkey::{PKey, Private},
    ssl::SslRef,
    x509::X509,
};

use crate::{Failure, Options};

use super::errors::words;

/// The index of the credential that is not one of a list, or of none.
pub(crate) const DEFAULT: i64 = -1;

/// A key with its chain; raw public keys have none.
pub(crate) struct Held {
    /// The index among the test's credentials, or -1.
    pub(crate) index: i64,
    pub(crate) chain: Vec<X509>,
    pub(crate) key: PKey<Private>,
}

/// A credential as specified by the test.
#[derive(PartialEq, Eq)]
struct Wanted {
    cert: Option<String>,
    key: String,
    prefs: Vec<u16>,
    staple: Option<Vec<u8>>,
}

/// Returns the credentials of the test with their indexes, the preferred one first; a repeated credential has
/// one entry.
fn wanted(options: &Options) -> Vec<(i64, Wanted)> {
    let list = options.credentials().iter().map(Deref::deref).zip(0..);
    let mut wanted: Vec<(i64, Wanted)> = Vec::new();
    for (given, index) in list.chain([(&**options, DEFAULT)]) {
        let Some(key) = given.text("-key-file") else {
            continue;
        };
        let one = Wanted {
            cert: given.text("-cert-file"),
            key,
            prefs: given.codes("-signing-prefs"),
            staple: given.bytes("-ocsp-response").map(<[u8]>::to_vec),
        };
        if !wanted.iter().any(|(_, known)| *known == one) {
            wanted.push((index, one));
        }
    }
    wanted
}

/// Loads this side's keys and chains, the test's preferred one first.
///
/// # Errors
/// Returns [`Failure::Unsupported`] where libssl cannot hold all of them: it has one place for each type of
/// key, and one list of signature schemes and one stapled response for all.
pub(crate) fn load(options: &Options) -> Result<Vec<Held>, Failure> {
    let wanted = wanted(options);
    let several = wanted.len() > 1;
    if several
        && wanted
            .iter()
            .any(|(_, one)| !one.prefs.is_empty() || one.staple.is_some())
    {
        return Err(Failure::unsupported(
            "signature schemes or a stapled response of one certificate among several",
        ));
    }
    if several && options.on("-use-old-client-cert-callback") {
        return Err(Failure::unsupported("several certificates by callback"));
    }
    let mut held: Vec<Held> = Vec::new();
    for (index, one) in wanted {
        let key = PKey::private_key_from_pem(&fs::read(one.key)?)
            .map_err(|_| Failure::unsupported("private keys of this type"))?;
        if held.iter().any(|held| held.key.id() == key.id()) {
            return Err(Failure::unsupported(
                "several certificates with keys of one type",
            ));
        }
        let chain = one.cert.map_or(Ok(Vec::new()), chain)?;
        held.push(Held { index, chain, key });
    }
    Ok(held)
}

/// Returns the signature schemes to sign with, in order of preference; empty for all.
pub(crate) fn signing_prefs(options: &Options) -> Vec<u16> {
    match wanted(options).pop() {
        Some((_, last)) => last.prefs,
        None => options.codes("-signing-prefs"),
    }
}

pub(crate) fn chain(file: impl AsRef<Path>) -> Result<Vec<X509>, Failure> {
    X509::stack_from_pem(&fs::read(file)?)
        .map_err(|_| Failure::unsupported("certificates of this type"))
}

/// Returns the response to staple.
pub(crate) fn staple(options: &Options) -> Option<Vec<u8>> {
    let last = wanted(options).pop().and_then(|(_, last)| last.staple);
    last.or_else(|| options.bytes("-ocsp-response").map(<[u8]>::to_vec))
}

/// Sets the certificates and keys of a connection. The preferred one is last, which libssl uses where no
/// other criterion decides.
pub(crate) fn give(ssl: &mut SslRef, options: &Options) -> Result<(), Failure> {
    for held in load(options)?.into_iter().rev() {
        let mut chain = held.chain.into_iter();
        let leaf = chain.next();
        leaf.map_or(Ok(()), |leaf| ssl.set_certificate(&leaf))
            .and_then(|()| chain.try_for_each(|cert| ssl.add_chain_cert(cert)))
            .and_then(|()| ssl.set_private_key(&held.key))
            .map_err(|stack| {
                let why = words(&stack);
                Failure::unsupported(format!("certificates of this type: {why}"))
            })?;
    }
    Ok(())
}
