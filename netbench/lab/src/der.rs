//! The part of an X.509 parser that is needed to read a certificate's subject, and object identifiers.

use yasna::{ASN1Result, BERReaderSeq, DERWriter, Tag, models::ObjectIdentifier};

/// Returns the subject of a certificate, as the DER of its Name, or `None` where `der` is no
/// certificate (RFC 5280 section 4.1) or has trailing data.
pub(crate) fn subject(der: &[u8]) -> Option<Vec<u8>> {
    let tbs = yasna::parse_der(der, |reader| {
        reader.read_sequence(|reader| {
            let tbs = reader.next().read_der()?;
            reader.next().read_sequence(|algorithm| {
                algorithm.next().read_oid()?;
                rest(algorithm)
            })?;
            reader.next().read_bitvec_bytes()?;
            Ok(tbs)
        })
    });
    let subject = yasna::parse_der(&tbs.ok()?, |reader| {
        reader.read_sequence(|reader| {
            reader.read_optional(|version| {
                version.read_tagged(Tag::context(0), |version| version.read_u8())
            })?;
            reader.next().read_bigint_bytes()?;
            for _algorithm_issuer_validity in 0..3 {
                reader.next().read_der()?;
            }
            let subject = reader.next().read_der()?;
            reader.next().read_sequence(|key| {
                key.next().read_der()?;
                key.next().read_bitvec_bytes()
            })?;
            rest(reader)?;
            Ok(subject)
        })
    });
    subject.ok()
}

fn rest(reader: &mut BERReaderSeq<'_, '_>) -> ASN1Result<()> {
    while reader.read_optional(|next| next.read_der())?.is_some() {}
    Ok(())
}

pub(crate) fn oid(writer: DERWriter<'_>, components: &[u64]) {
    writer.write_oid(&ObjectIdentifier::from_slice(components));
}
