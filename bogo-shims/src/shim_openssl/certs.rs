//! Certificates and keys of this side.

use std::{fs, path::Path};

use openssl::{
    error::ErrorStack,
    pkey::{PKey, Private},
    ssl::SslRef,
    stack::Stack,
    x509::X509,
};

use crate::{Failure, Options};

use super::{
    ffi,
    setup::{library, words},
};

/// The credential that is not one of a list.
const DEFAULT: i64 = -1;

/// A key with its chain; raw public keys have none.
pub(crate) struct Held {
    /// The place among the test's credentials, or -1.
    pub(crate) index: i64,
    pub(crate) chain: Vec<X509>,
    pub(crate) key: PKey<Private>,
}

/// What this side holds, the test's favourite first.
///
/// # Errors
/// [`Failure::Unsupported`] where libssl cannot hold all of it: it has one place for each type of key,
/// and one list of signature schemes and one stapled response for all.
pub(crate) fn load(options: &Options) -> Result<Vec<Held>, Failure> {
    let mut files = Vec::new();
    let list = options.credentials.iter().zip(0..);
    for (cert, key, index) in list
        .map(|(one, index)| (one.text("-cert-file"), one.text("-key-file"), index))
        .chain([(
            options.text("-cert-file"),
            options.text("-key-file"),
            DEFAULT,
        )])
    {
        // One that comes again is the same one.
        let again =
            |(known_cert, known_key, _): &(_, _, _)| *known_cert == cert && *known_key == key;
        if key.is_some() && !files.iter().any(again) {
            files.push((cert, key, index));
        }
    }
    let several = files.len() > 1;
    if several {
        of_one_alone(options)?;
    }
    let mut held: Vec<Held> = Vec::new();
    for (cert, key, index) in files {
        let key = PKey::private_key_from_pem(&fs::read(key.unwrap_or_default())?)
            .map_err(|_| Failure::unsupported("this private key"))?;
        if held.iter().any(|held| held.key.id() == key.id()) {
            return Err(Failure::unsupported(
                "several certificates with one type of key",
            ));
        }
        let chain = cert.map_or(Ok(Vec::new()), chain)?;
        held.push(Held { index, chain, key });
    }
    Ok(held)
}

/// Refuses what libssl can do where it holds one certificate, and not of one among several.
fn of_one_alone(options: &Options) -> Result<(), Failure> {
    for flag in ["-signing-prefs", "-ocsp-response"] {
        if options.credentials.iter().any(|one| one.on(flag)) {
            return Err(Failure::unsupported(format!(
                "{flag} of one certificate among several"
            )));
        }
    }
    if options.on("-use-old-client-cert-callback") {
        return Err(Failure::unsupported("several certificates by callback"));
    }
    Ok(())
}

pub(crate) fn chain(file: impl AsRef<Path>) -> Result<Vec<X509>, Failure> {
    X509::stack_from_pem(&fs::read(file)?).map_err(|_| Failure::unsupported("this certificate"))
}

/// The response to staple.
pub(crate) fn staple(options: &Options) -> Option<Vec<u8>> {
    let response = match options.credentials.as_slice() {
        [one] => one
            .bytes("-ocsp-response")
            .or(options.bytes("-ocsp-response")),
        _ => options.bytes("-ocsp-response"),
    };
    response.map(<[u8]>::to_vec)
}

/// Gives a connection its certificates and keys. The favourite is the last, which libssl takes where
/// nothing else decides.
pub(crate) fn give(ssl: &mut SslRef, options: &Options) -> Result<(), Failure> {
    for held in load(options)?.into_iter().rev() {
        let mut rest = Stack::new().map_err(library)?;
        let mut chain = held.chain.into_iter();
        let leaf = chain.next();
        for cert in chain {
            rest.push(cert).map_err(library)?;
        }
        let used = leaf.is_none_or(|leaf| ffi::use_chain(ssl, &leaf, &rest))
            && ffi::use_key(ssl, &held.key);
        if !used {
            return Err(Failure::unsupported(format!(
                "this certificate: {}",
                words(&ErrorStack::get())
            )));
        }
    }
    Ok(())
}
