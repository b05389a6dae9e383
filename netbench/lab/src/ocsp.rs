//! OCSP responses to staple: RFC 6960, status good, signed by the leaf's issuer.

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use netbench_model::KeyType;
use rcgen::{PublicKeyData as _, SerialNumber, SigningKey as _};
use time::{Duration, OffsetDateTime};
use yasna::{DERWriter, Tag, models::GeneralizedTime};

use crate::{der::oid, hierarchy::Ca};

/// Returns a response with the status `good` for the certificate with this serial number from
/// `issuer`, whose key is of type `kind`; it is at most a day old and valid for a week, as on the web.
pub(crate) fn response(
    issuer: &Ca,
    kind: KeyType,
    serial: &SerialNumber,
    now: OffsetDateTime,
) -> Result<Vec<u8>, rcgen::Error> {
    let data = yasna::construct_der(|writer| response_data(writer, issuer, serial, now));
    let signature = issuer.issuer.key().sign(&data)?;
    let basic = yasna::construct_der(|writer| {
        writer.write_sequence(|writer| {
            writer.next().write_der(&data);
            signature_algorithm(writer.next(), kind);
            writer
                .next()
                .write_bitvec_bytes(&signature, signature.len() * 8);
        });
    });
    Ok(yasna::construct_der(|writer| {
        writer.write_sequence(|writer| {
            // responseStatus: successful
            writer.next().write_enum(0);
            writer.next().write_tagged(Tag::context(0), |writer| {
                writer.write_sequence(|writer| {
                    // id-pkix-ocsp-basic
                    oid(writer.next(), &[1, 3, 6, 1, 5, 5, 7, 48, 1, 1]);
                    writer.next().write_bytes(&basic);
                });
            });
        });
    }))
}

fn response_data(writer: DERWriter<'_>, issuer: &Ca, serial: &SerialNumber, now: OffsetDateTime) {
    let [key_hash, name_hash] = [issuer.issuer.key().der_bytes(), &issuer.subject]
        .map(|bytes| digest(&SHA1_FOR_LEGACY_USE_ONLY, bytes));
    let produced = now - Duration::hours(12);
    writer.write_sequence(|writer| {
        // responderID: byKey
        writer.next().write_tagged(Tag::context(2), |writer| {
            writer.write_bytes(key_hash.as_ref())
        });
        time(writer.next(), produced);
        writer.next().write_sequence(|writer| {
            writer.next().write_sequence(|writer| {
                writer.next().write_sequence(|writer| {
                    // The hash is SHA-1 as RFC 5019 section 2.1.1 requires; it has no security
                    // purpose here.
                    writer.next().write_sequence(|writer| {
                        oid(writer.next(), &[1, 3, 14, 3, 2, 26]);
                        writer.next().write_null();
                    });
                    writer.next().write_bytes(name_hash.as_ref());
                    writer.next().write_bytes(key_hash.as_ref());
                    writer.next().write_bigint_bytes(serial.as_ref(), true);
                });
                // certStatus: good
                writer
                    .next()
                    .write_tagged_implicit(Tag::context(0), |writer| writer.write_null());
                time(writer.next(), produced);
                let next = produced + Duration::days(7);
                writer
                    .next()
                    .write_tagged(Tag::context(0), |writer| time(writer, next));
            });
        });
    });
}

fn signature_algorithm(writer: DERWriter<'_>, key: KeyType) {
    /// The signature algorithms of NIST: RFC 9881 section 2.
    const NIST: [u64; 8] = [2, 16, 840, 1, 101, 3, 4, 3];
    writer.write_sequence(|writer| match key {
        // The algorithm is sha256WithRSAEncryption, with parameters of NULL: RFC 4055 section 5.
        KeyType::Rsa2048 | KeyType::Rsa3072 | KeyType::Rsa4096 => {
            oid(writer.next(), &[1, 2, 840, 113549, 1, 1, 11]);
            writer.next().write_null();
        }
        // The algorithms are ecdsa-with-SHA256 and -SHA384, without parameters: RFC 5758 section
        // 3.2.
        KeyType::EcdsaP256 => oid(writer.next(), &[1, 2, 840, 10045, 4, 3, 2]),
        KeyType::EcdsaP384 => oid(writer.next(), &[1, 2, 840, 10045, 4, 3, 3]),
        KeyType::Ed25519 => oid(writer.next(), &[1, 3, 101, 112]),
        KeyType::MlDsa44 => oid(writer.next(), &[&NIST[..], &[17]].concat()),
        KeyType::MlDsa65 => oid(writer.next(), &[&NIST[..], &[18]].concat()),
        KeyType::MlDsa87 => oid(writer.next(), &[&NIST[..], &[19]].concat()),
    });
}

fn time(writer: DERWriter<'_>, at: OffsetDateTime) {
    // RFC 6960 forbids fractions of seconds, and parsers reject them.
    let whole = at.replace_nanosecond(0).unwrap_or(at);
    writer.write_generalized_time(&GeneralizedTime::from_datetime(whole));
}
