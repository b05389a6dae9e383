//! Writers of vectors, extensions, messages and records. Everything written here is far below the limits of its length fields;
//! longer values are cut, and the peer refuses the message.

use super::content;

/// Writes a number of two bytes.
pub fn put_u16(to: &mut Vec<u8>, value: u16) {
    to.extend(value.to_be_bytes());
}

/// Writes bytes after their length in one byte.
pub fn put_vec8(to: &mut Vec<u8>, bytes: &[u8]) {
    put_vec(to, bytes, 1);
}

/// Writes bytes after their length in two bytes.
pub fn put_vec16(to: &mut Vec<u8>, bytes: &[u8]) {
    put_vec(to, bytes, 2);
}

/// Returns bytes after their length in one byte.
pub fn vec8(bytes: &[u8]) -> Vec<u8> {
    let mut vector = Vec::new();
    put_vec8(&mut vector, bytes);
    vector
}

/// Returns bytes after their length in two bytes.
pub fn vec16(bytes: &[u8]) -> Vec<u8> {
    let mut vector = Vec::new();
    put_vec16(&mut vector, bytes);
    vector
}

/// Writes bytes after their length in three bytes.
pub fn put_vec24(to: &mut Vec<u8>, bytes: &[u8]) {
    put_vec(to, bytes, 3);
}

fn put_vec(to: &mut Vec<u8>, bytes: &[u8], length_bytes: usize) {
    let bytes = &bytes[..bytes.len().min((1 << (8 * length_bytes)) - 1)];
    let length = bytes.len().to_be_bytes();
    to.extend(&length[length.len() - length_bytes..]);
    to.extend(bytes);
}

/// Writes an extension: its code point, and its body after the body's length.
pub fn put_extension(to: &mut Vec<u8>, code: u16, body: &[u8]) {
    put_u16(to, code);
    put_vec16(to, body);
}

/// Returns numbers of two bytes after the length of all.
pub fn list16(values: impl IntoIterator<Item = u16>) -> Vec<u8> {
    let values: Vec<u8> = values.into_iter().flat_map(u16::to_be_bytes).collect();
    vec16(&values)
}

/// Returns the body of an ALPN extension (RFC 7301 section 3.1).
pub fn protocol_list<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let list: Vec<u8> = names.into_iter().flat_map(vec8).collect();
    vec16(&list)
}

/// Returns a handshake message: its type, its length, and its body.
pub fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut message = vec![kind];
    put_vec24(&mut message, body);
    message
}

/// Writes a handshake message in records of at most `most` bytes each.
pub fn put_records(to: &mut Vec<u8>, version: u16, message: &[u8], most: usize) {
    for part in message.chunks(most.clamp(1, 1 << 14)) {
        to.push(content::HANDSHAKE);
        put_u16(to, version);
        put_vec16(to, part);
    }
}

/// Returns a Certificate message before TLS 1.3.
pub fn certificate12(chain: &[Vec<u8>]) -> Vec<u8> {
    let (mut list, mut body) = (Vec::new(), Vec::new());
    for der in chain {
        put_vec24(&mut list, der);
    }
    put_vec24(&mut body, &list);
    message(11, &body)
}

/// Returns a Certificate message of TLS 1.3, with the context of the request and the extensions of the first certificate.
pub fn certificate13(context: &[u8], chain: &[Vec<u8>], of_first: &[u8]) -> Vec<u8> {
    let (mut list, mut body) = (Vec::new(), Vec::new());
    for (number, der) in chain.iter().enumerate() {
        put_vec24(&mut list, der);
        put_vec16(&mut list, if number == 0 { of_first } else { &[] });
    }
    put_vec8(&mut body, context);
    put_vec24(&mut body, &list);
    message(11, &body)
}

/// Returns a CertificateVerify message (RFC 8446 section 4.4.3, RFC 5246 section 7.4.8).
pub fn certificate_verify(scheme: u16, signature: &[u8]) -> Vec<u8> {
    let mut body = scheme.to_be_bytes().to_vec();
    put_vec16(&mut body, signature);
    message(15, &body)
}
