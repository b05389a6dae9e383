//! The extensions of the web's certificates, encoded here where rcgen does not support them.

use rcgen::CustomExtension;
use yasna::Tag;

use crate::{compressed::with_length, der::oid};

/// The length of an SCT's signature from a log with a P-256 key: RFC 6962 section 3.2.
const SCT_SIGNATURE_BYTES: usize = 71;

/// Returns the certificate policies (RFC 5280 section 4.2.1.4): domain validated, by the CA/Browser Forum's
/// OID.
pub(crate) fn policies() -> CustomExtension {
    let content = yasna::construct_der(|writer| {
        writer.write_sequence(|writer| {
            writer.next().write_sequence(|writer| {
                oid(writer.next(), &[2, 23, 140, 1, 2, 1]);
            });
        });
    });
    CustomExtension::from_oid_content(&[2, 5, 29, 32], content)
}

/// Returns the authority information access (RFC 5280 section 4.2.2.1): the URLs of the issuer's certificate
/// and of its OCSP responder. The names are under `.invalid`: nothing can be fetched from them.
pub(crate) fn authority_information() -> CustomExtension {
    let access = [
        (
            &[1, 3, 6, 1, 5, 5, 7, 48, 1],
            "http://ocsp.netbench.invalid",
        ),
        (
            &[1, 3, 6, 1, 5, 5, 7, 48, 2],
            "http://ca.netbench.invalid/issuer.der",
        ),
    ];
    let content = yasna::construct_der(|writer| {
        writer.write_sequence(|writer| {
            for (method, url) in access {
                writer.next().write_sequence(|writer| {
                    oid(writer.next(), method);
                    // uniformResourceIdentifier [6] IMPLICIT IA5String
                    writer
                        .next()
                        .write_tagged_implicit(Tag::context(6), |writer| {
                            writer.write_ia5_string(url)
                        });
                });
            }
        });
    });
    CustomExtension::from_oid_content(&[1, 3, 6, 1, 5, 5, 7, 1, 1], content)
}

/// Returns a list of two SCTs in the correct format (RFC 6962 section 3.3) from no log, with `padding`
/// additional bytes in the second one's own extensions field: at most 65,000.
pub(crate) fn timestamps(padding: usize) -> Result<CustomExtension, rcgen::Error> {
    let mut list = Vec::new();
    for padding in [0, padding.min(65_000)] {
        list.extend(with_length::<2>(&timestamp(padding)?));
    }
    let content = yasna::construct_der(|writer| writer.write_bytes(&with_length::<2>(&list)));
    Ok(CustomExtension::from_oid_content(
        &[1, 3, 6, 1, 4, 1, 11129, 2, 4, 2],
        content,
    ))
}

fn timestamp(padding: usize) -> Result<Vec<u8>, rcgen::Error> {
    let mut log_and_time = [0; 32 + 8];
    random(&mut log_and_time)?;
    // The time is in milliseconds since 1970, in this century.
    log_and_time[32..35].copy_from_slice(&[0, 0, 1]);
    let mut signature = [0; SCT_SIGNATURE_BYTES];
    random(&mut signature)?;

    // The padding is random, so that certificate compression (RFC 8879) does not remove it.
    let mut extensions = vec![0; padding];
    random(&mut extensions)?;

    let mut sct = vec![0];
    sct.extend(log_and_time);
    sct.extend(with_length::<2>(&extensions));
    // The algorithm is ECDSA with SHA-256.
    sct.extend([4, 3]);
    sct.extend(with_length::<2>(&signature));
    Ok(sct)
}

/// Fills `bytes` from the operating system's generator.
pub(crate) fn random(bytes: &mut [u8]) -> Result<(), rcgen::Error> {
    aws_lc_rs::rand::fill(bytes).map_err(|_| rcgen::Error::RingUnspecified)
}
