//! OCSP responses (RFC 6960), signed by the leaf's issuer.

use std::fmt;

use jiff::SignedDuration;
use netbench_model::tls::one_of;
use serde::Deserialize;

use super::{
    ChainError, LEAF, Making,
    der::{self, tag},
    digest::Digest,
    name,
    spec::kebab_words,
};

kebab_words!(Staple, "staple", {
    Good = "good",
    Revoked = "revoked",
    Expired = "expired",
});

impl Making<'_> {
    /// Returns the response about the leaf.
    pub(super) fn response(&self, staple: Staple) -> Result<Vec<u8>, ChainError> {
        let issuer = self.spec.issuer(LEAF)?;
        let issuer_name = name(&self.spec.subject(&issuer)?);
        let serial = self.spec.serial(LEAF)?;
        let (this, next) = match staple {
            Staple::Expired => (self.time_in(-24 * 20), self.time_in(-24 * 10)),
            Staple::Good | Staple::Revoked => (self.time_in(-1), self.time_in(24 * 6)),
        };
        let status = match staple {
            Staple::Revoked => {
                // keyCompromise
                let reason = der::value(tag::constructed(0), &der::value(tag::ENUMERATED, &[1]));
                der::value(tag::constructed(1), &[self.time_in(-48), reason].concat())
            }
            Staple::Good | Staple::Expired => der::value(tag::primitive(0), &[]),
        };
        let public = self.key(&issuer)?.public();
        let key_bits = der::read_sequence(&public)
            .and_then(|parts| parts.get(1).and_then(|bits| bits.get(1..)))
            .unwrap_or_default();
        let [issuer_hash, key_hash] = [issuer_name.as_slice(), key_bits]
            .map(|bytes| der::value(tag::OCTET_STRING, &Digest::Sha1.of(bytes)));
        let about = der::sequence(&[
            &der::sequence(&[&Digest::Sha1.oid(), &[5, 0]]),
            &issuer_hash,
            &key_hash,
            &der::value(tag::INTEGER, &serial),
        ]);
        let single = der::sequence(&[
            &about,
            &status,
            &this,
            &der::value(tag::constructed(0), &next),
        ]);
        let data = der::sequence(&[
            &der::value(tag::constructed(1), &issuer_name),
            &this,
            &der::sequence(&[&single]),
        ]);
        let bytes = der::sequence(&[
            &der::oid(&[1, 3, 6, 1, 5, 5, 7, 48, 1, 1]),
            &der::value(tag::OCTET_STRING, &self.signed(&issuer, &data)?),
        ]);
        Ok(der::sequence(&[
            &der::value(tag::ENUMERATED, &[0]),
            &der::value(tag::constructed(0), &bytes),
        ]))
    }

    fn time_in(&self, hours: i64) -> Vec<u8> {
        let then = self.now + SignedDuration::from_hours(hours);
        let text = then.strftime("%Y%m%d%H%M%SZ").to_string();
        der::value(tag::GENERALIZED_TIME, text.as_bytes())
    }
}
