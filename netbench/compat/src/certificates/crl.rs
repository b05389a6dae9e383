//! Certificate revocation lists (RFC 5280 section 5).

use serde::Deserialize;

use super::{
    ChainError, Making,
    der::{self, tag},
    extensions::{Critical, extension, identifier},
    name, time,
};

/// A certificate revocation list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CrlSpec {
    /// The certificate whose subject is the issuer.
    issuer: String,
    /// The certificate whose key signs it; that of the issuer if not given.
    signer: Option<String>,
    #[serde(default)]
    revoked: Vec<String>,
    /// Days from now.
    #[serde(default = "yesterday")]
    begins: i32,
    #[serde(default = "in_six_days")]
    ends: i32,
}

fn yesterday() -> i32 {
    -1
}

fn in_six_days() -> i32 {
    6
}

impl Making<'_> {
    pub(super) fn crl(&self, list: &CrlSpec) -> Result<Vec<u8>, ChainError> {
        let signer = list.signer.as_ref().unwrap_or(&list.issuer);
        let key = self.key(signer)?;
        let begins = time(self.now, list.begins, None);
        let mut entries = Vec::new();
        for revoked in &list.revoked {
            let serial = der::value(tag::INTEGER, &self.spec.serial(revoked)?);
            entries.extend(der::sequence(&[&serial, &begins]));
        }
        // Without entries, the list of entries is absent.
        let entries = match entries.as_slice() {
            [] => Vec::new(),
            entries => der::sequence(&[entries]),
        };
        let key_identifier = identifier(tag::primitive(0), &key.public());
        let extensions = der::sequence(&[
            &extension(
                &[2, 5, 29, 35],
                Critical::No,
                &der::sequence(&[&key_identifier]),
            ),
            &extension(&[2, 5, 29, 20], Critical::No, &der::unsigned(&[1])),
        ]);
        let to_be_signed = der::sequence(&[
            // Version 2.
            &der::unsigned(&[1]),
            &key.algorithm(key.usual_digest()),
            &name(&self.spec.subject(&list.issuer)?),
            &begins,
            &time(self.now, list.ends, None),
            &entries,
            &der::value(tag::constructed(0), &extensions),
        ]);
        self.signed(signer, &to_be_signed)
    }
}
