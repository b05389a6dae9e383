//! Certificate revocation lists (RFC 5280 section 5).

use super::{
    ChainError, Making,
    der::{self, tag},
    extensions::{Critical, extension, identifier},
    name, time,
};

/// A certificate revocation list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CrlSpec {
    /// The certificate whose subject is the issuer.
    pub(crate) issuer: &'static str,
    /// The certificate whose key signs it.
    pub(crate) signer: &'static str,
    pub(crate) revoked: &'static [&'static str],
    /// Days from now.
    pub(crate) begins: i32,
    pub(crate) ends: i32,
}

impl CrlSpec {
    /// Returns a valid list.
    pub(crate) fn of(issuer: &'static str, revoked: &'static [&'static str]) -> Self {
        Self {
            issuer,
            signer: issuer,
            revoked,
            begins: -1,
            ends: 6,
        }
    }
}

impl Making<'_> {
    pub(super) fn crl(&self, list: &CrlSpec) -> Result<Vec<u8>, ChainError> {
        let key = self.key(list.signer)?;
        let digest = key.usual_digest();
        let algorithm = key.algorithm(digest);
        let begins = time(self.now, list.begins, None);
        let mut entries = Vec::new();
        for revoked in list.revoked {
            let serial = der::value(tag::INTEGER, &self.spec.serial(revoked)?);
            entries.extend(der::sequence(&[&serial, &begins]));
        }
        // Without entries, the list of entries is absent.
        let entries = match entries.as_slice() {
            [] => Vec::new(),
            entries => der::sequence(&[entries]),
        };
        let signer = identifier(tag::primitive(0), &key.public());
        let extensions = der::sequence(&[
            &extension(&[2, 5, 29, 35], Critical::No, &der::sequence(&[&signer])),
            &extension(&[2, 5, 29, 20], Critical::No, &der::unsigned(&[1])),
        ]);
        let to_be_signed = der::sequence(&[
            // Version 2.
            &der::unsigned(&[1]),
            &algorithm,
            &name(&self.spec.subject(list.issuer)?),
            &begins,
            &time(self.now, list.ends, None),
            &entries,
            &der::value(tag::constructed(0), &extensions),
        ]);
        let signature = key.sign(digest, &to_be_signed);
        let signature = signature.map_err(|source| ChainError::Key {
            certificate: list.signer.to_owned(),
            source,
        })?;
        Ok(der::sequence(&[
            &to_be_signed,
            &algorithm,
            &der::bit_string(&signature),
        ]))
    }
}
