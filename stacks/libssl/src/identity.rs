//! Certificates and keys of a context.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
};

use netbench_worker::{SetupError, certificates_of_pem, refused};
use openssl::{
    error::ErrorStack,
    pkey::{PKey, Private},
    ssl::SslContextBuilder,
    x509::X509,
};

/// Sets the chain that a context sends, the leaf first, and its key.
///
/// # Errors
/// A chain or key that cannot be used.
pub fn set_identity(
    ssl: &mut SslContextBuilder,
    chain_pem: &str,
    key_pem: &str,
) -> Result<(), SetupError> {
    let own = Identity {
        chain: X509::stack_from_pem(chain_pem.as_bytes()).map_err(refused("chain"))?,
        key: PKey::private_key_from_pem(key_pem.as_bytes()).map_err(refused("key"))?,
    };
    own.set(ssl)
}

/// A chain, the leaf first, and its key.
pub struct Identity {
    /// The chain.
    pub chain: Vec<X509>,
    /// The key.
    pub key: PKey<Private>,
}

/// Keys and certificates of issuers by their PEM, which all sites of a lab share: parsed for each of ten
/// thousand sites, they would use most of the server's memory.
static SHARED: LazyLock<Mutex<Shared>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Shared {
    keys: HashMap<String, PKey<Private>>,
    issuers: HashMap<String, X509>,
}

impl Identity {
    /// Makes an identity with keys and certificates that other sites use too.
    ///
    /// # Errors
    /// A chain or key that cannot be read.
    pub fn shared(chain_pem: &str, key_pem: &str) -> Result<Self, SetupError> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let mut certificates = certificates_of_pem(chain_pem);
        let leaf = certificates.next().unwrap_or_default();
        let mut chain = vec![X509::from_pem(leaf.as_bytes()).map_err(refused("leaf"))?];
        for issuer in certificates {
            let issuer = known(&mut shared.issuers, issuer, X509::from_pem);
            chain.push(issuer.map_err(refused("chain"))?);
        }
        let key = known(&mut shared.keys, key_pem, PKey::private_key_from_pem);
        let key = key.map_err(refused("key"))?;
        Ok(Self { chain, key })
    }

    /// Makes a context send the chain.
    ///
    /// # Errors
    /// No certificate, or a key of another one.
    pub fn set(self, ssl: &mut SslContextBuilder) -> Result<(), SetupError> {
        let mut chain = self.chain.into_iter();
        let leaf = chain
            .next()
            .ok_or_else(|| SetupError::Refused("chain: no certificate".to_owned()))?;
        ssl.set_certificate(&leaf).map_err(refused("leaf"))?;
        for above in chain {
            ssl.add_extra_chain_cert(above).map_err(refused("chain"))?;
        }
        ssl.set_private_key(&self.key).map_err(refused("key"))?;
        ssl.check_private_key().map_err(refused("chain and key"))
    }
}

/// Returns the value that was read from this PEM, or reads it.
fn known<T: Clone>(
    all: &mut HashMap<String, T>,
    pem: &str,
    read: fn(&[u8]) -> Result<T, ErrorStack>,
) -> Result<T, ErrorStack> {
    if let Some(known) = all.get(pem) {
        return Ok(known.clone());
    }
    let new = read(pem.as_bytes())?;
    all.insert(pem.to_owned(), new.clone());
    Ok(new)
}
