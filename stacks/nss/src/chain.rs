//! The library's verifier, used without a connection.

use std::ffi::{CStr, CString};

use netbench_tls::CertificateFault as Fault;
use netbench_worker::{ChainInDer, NotVerified};

use crate::{
    certificates::{Certificate, Roots},
    explain::certificate_fault,
    ffi::{self, Item},
    library::{Error, checked, library},
    verify::{KeyUsage, fault, verify_server},
};

/// Returns the rejection of a chain that could not be read.
fn unreadable(error: Error) -> NotVerified {
    let fault = certificate_fault(error.name()).unwrap_or(Fault::BadEncoding);
    NotVerified::Rejected(fault, error.to_string())
}

/// Verifies a chain (the leaf first, DER) below `roots` as that of the server `host`, at a time in
/// microseconds, as the library does for a session.
pub(crate) fn verify<'a>(
    chain: impl Iterator<Item = &'a [u8]>,
    roots: &Roots,
    host: &CStr,
    time: i64,
    key_usage: KeyUsage,
) -> Result<(), NotVerified> {
    let read = chain.map(Certificate::read).collect::<Result<Vec<_>, _>>();
    let read = read.map_err(unreadable)?;
    let raw: Vec<_> = read.iter().map(Certificate::raw).collect();
    let Some(leaf) = raw.first().copied() else {
        let words = "no certificate".to_owned();
        return Err(NotVerified::Rejected(Fault::NonePresented, words));
    };
    // SAFETY: the certificates are alive.
    let verified = unsafe { verify_server(leaf, host, time, key_usage) };
    verified.map_err(|error| {
        let all: Vec<_> = raw.into_iter().chain(roots.raw()).collect();
        NotVerified::Rejected(fault(&error, &all, time), error.to_string())
    })
}

/// A list of revoked certificates that the library knows for the lifetime of this value.
struct Crl {
    item: Box<Item>,
    #[expect(dead_code, reason = "the library refers to it by the item")]
    der: Vec<u8>,
}

impl Drop for Crl {
    fn drop(&mut self) {
        // SAFETY: the list was passed to the library, and is removed once.
        unsafe { ffi::CERT_UncacheCRL(ffi::CERT_GetDefaultCertDB(), &raw mut *self.item) };
    }
}

impl Crl {
    fn read(der: &[u8]) -> Result<Self, Error> {
        let der = der.to_vec();
        let mut item = Box::new(Item::of(&der));
        // SAFETY: the list lives until it is removed.
        checked(unsafe { ffi::CERT_CacheCRL(ffi::CERT_GetDefaultCertDB(), &raw mut *item) })?;
        Ok(Self { item, der })
    }
}

/// Verifies a chain as in the connector: with the purpose of a server, and for a host.
pub(crate) fn verify_as_client(chain: &ChainInDer) -> Result<(), NotVerified> {
    let host = CString::new(chain.host.as_str())
        .map_err(|e| NotVerified::Rejected(Fault::WrongName, e.to_string()))?;
    library().map_err(unreadable)?;
    let roots = Roots::of_der(chain.roots.iter().map(Vec::as_slice)).map_err(unreadable)?;
    let crls = chain.crls.iter().map(|der| Crl::read(der));
    let crls = crls.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    let time = i64::try_from(chain.at_unix_s).unwrap_or(i64::MAX);
    let time = time.saturating_mul(1_000_000);
    let sent = chain.sent.iter().map(Vec::as_slice);
    verify(sent, &roots, &host, time, KeyUsage::OfLibrary)?;
    if crls.is_empty() {
        return Ok(());
    }
    Err(NotVerified::Unsupported(
        "NSS does not say whether the lists of revoked certificates cover the whole chain"
            .to_owned(),
    ))
}
