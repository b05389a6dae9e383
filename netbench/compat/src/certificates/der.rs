//! DER encoding without a check of the meaning: cases need encodings that no library would write.

/// Tags of ASN.1.
pub(crate) mod tag {
    pub(crate) const BOOLEAN: u8 = 0x01;
    pub(crate) const INTEGER: u8 = 0x02;
    pub(crate) const BIT_STRING: u8 = 0x03;
    pub(crate) const OCTET_STRING: u8 = 0x04;
    pub(crate) const OID: u8 = 0x06;
    pub(crate) const ENUMERATED: u8 = 0x0a;
    pub(crate) const UTF8_STRING: u8 = 0x0c;
    pub(crate) const UTC_TIME: u8 = 0x17;
    pub(crate) const GENERALIZED_TIME: u8 = 0x18;
    pub(crate) const SEQUENCE: u8 = 0x30;
    pub(crate) const SET: u8 = 0x31;

    /// Returns a context-specific tag of a constructed value.
    pub(crate) const fn constructed(number: u8) -> u8 {
        0xa0 | number
    }

    /// Returns a context-specific tag of a primitive value.
    pub(crate) const fn primitive(number: u8) -> u8 {
        0x80 | number
    }
}

/// Encodes a value with its tag and length.
pub(crate) fn value(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let length = content.len();
    if length < 0x80 {
        out.push(u8::try_from(length).unwrap_or_default());
    } else {
        let bytes = length.to_be_bytes();
        let from = bytes.iter().position(|b| *b != 0).unwrap_or_default();
        out.push(0x80 | u8::try_from(bytes.len() - from).unwrap_or_default());
        out.extend(&bytes[from..]);
    }
    out.extend(content);
    out
}

/// Encodes a SEQUENCE.
pub(crate) fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    value(tag::SEQUENCE, &parts.concat())
}

/// Encodes an OBJECT IDENTIFIER.
pub(crate) fn oid(numbers: &[u32]) -> Vec<u8> {
    let (Some(first), Some(second)) = (numbers.first(), numbers.get(1)) else {
        return value(tag::OID, &[]);
    };
    let mut content = Vec::new();
    for number in std::iter::once(first * 40 + second).chain(numbers[2..].iter().copied()) {
        let mut groups = vec![u8::try_from(number & 0x7f).unwrap_or_default()];
        let mut rest = number >> 7;
        while rest > 0 {
            groups.push(u8::try_from(rest & 0x7f).unwrap_or_default() | 0x80);
            rest >>= 7;
        }
        content.extend(groups.iter().rev());
    }
    value(tag::OID, &content)
}

/// Encodes a BIT STRING of whole bytes.
pub(crate) fn bit_string(bytes: &[u8]) -> Vec<u8> {
    value(tag::BIT_STRING, &[&[0], bytes].concat())
}

/// Encodes a BIT STRING of named bits, without trailing zeros (X.690 section 11.2.2).
pub(crate) fn named_bits(bits: &[u8]) -> Vec<u8> {
    let Some(last) = bits.iter().max() else {
        return value(tag::BIT_STRING, &[0]);
    };
    let mut bytes = vec![0; usize::from(last / 8) + 1];
    for bit in bits {
        bytes[usize::from(bit / 8)] |= 0x80 >> (bit % 8);
    }
    bytes.insert(0, 7 - last % 8);
    value(tag::BIT_STRING, &bytes)
}

/// Encodes a non-negative INTEGER.
pub(crate) fn unsigned(bytes: &[u8]) -> Vec<u8> {
    let from = bytes.iter().position(|b| *b != 0);
    let digits = from.map_or(&[0][..], |from| &bytes[from..]);
    if digits[0] & 0x80 == 0 {
        value(tag::INTEGER, digits)
    } else {
        value(tag::INTEGER, &[&[0], digits].concat())
    }
}

/// Reads the values of a SEQUENCE: the content of each, without its tag. Returns `None` if the input is not a
/// SEQUENCE.
pub(crate) fn read_sequence(der: &[u8]) -> Option<Vec<&[u8]>> {
    let (tag::SEQUENCE, mut rest, _) = read(der)? else {
        return None;
    };
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (_, content, after) = read(rest)?;
        found.push(content);
        rest = after;
    }
    Some(found)
}

/// Reads the first value. Returns its tag, its content, and the rest.
fn read(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = der.split_first()?;
    let (first, mut rest) = rest.split_first()?;
    let mut length = usize::from(*first);
    if length >= 0x80 {
        let bytes;
        (bytes, rest) = rest.split_at_checked(length & 0x7f)?;
        length = bytes.iter().try_fold(0usize, |length, byte| {
            length.checked_mul(256)?.checked_add(usize::from(*byte))
        })?;
    }
    let (content, after) = rest.split_at_checked(length)?;
    Some((*tag, content, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded_as_x690_says() {
        assert_eq!(oid(&[1, 2, 840, 113549]), [6, 6, 42, 134, 72, 134, 247, 13]);
        assert_eq!(named_bits(&[5, 6]), [3, 2, 1, 6]);
        assert_eq!(unsigned(&[0, 0x80]), [2, 2, 0, 0x80]);
        assert_eq!(value(4, &[0; 200])[..3], [4, 0x81, 200]);
        let both = sequence(&[&unsigned(&[1]), &oid(&[2, 5])]);
        assert_eq!(read_sequence(&both), Some(vec![&[1][..], &[85][..]]));
    }
}
