//! Names and numbers in messages of the DNS (RFC 1035, RFC 9460).

use super::{Reader, put_vec8};

/// The type of records with an IPv4 address.
pub const A: u16 = 1;

/// The type of HTTPS records.
pub const HTTPS: u16 = 65;

/// The parameter of a service with configurations of Encrypted ClientHello (RFC 9848).
pub const ECH: u16 = 5;

/// The flag of an answer (RFC 1035 section 4.1.1).
pub const IS_ANSWER: u16 = 1 << 15;

/// The flag of an answer that exceeds a datagram.
pub const IS_CUT: u16 = 1 << 9;

/// The code of an answer about a name that does not exist.
pub const NO_SUCH_NAME: u8 = 3;

/// The size of a message's header.
pub const HEADER_BYTES: usize = 12;

/// The maximum size of a message over UDP without an extension (RFC 1035 section 4.2.1).
pub const MAX_UDP_BYTES: usize = 512;

/// The maximum length of a label.
const MAX_LABEL: usize = 63;

/// Returns a name as in messages; `None` for a name that the DNS cannot have.
pub fn encoded_name(name: &str) -> Option<Vec<u8>> {
    let mut encoded = Vec::new();
    for label in name.trim_end_matches('.').split('.') {
        if !(1..=MAX_LABEL).contains(&label.len()) {
            return None;
        }
        put_vec8(&mut encoded, label.as_bytes());
    }
    // The root.
    encoded.push(0);
    Some(encoded)
}

/// Reads the labels of a name without references.
pub fn labels<'a>(reader: &mut Reader<'a>) -> Option<Vec<&'a [u8]>> {
    let mut labels = Vec::new();
    loop {
        match reader.vec8()? {
            [] => return Some(labels),
            label if label.len() <= MAX_LABEL => labels.push(label),
            _ => return None,
        }
    }
}

/// Returns the name of the HTTPS record of a server (RFC 9460 section 9.1).
pub fn https_name(host: &str, port: u16) -> String {
    match port {
        443 => host.to_owned(),
        _ => format!("_{port}._https.{host}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_other_ports_have_other_names() {
        assert_eq!(https_name("a.test", 443), "a.test");
        assert_eq!(https_name("a.test", 8443), "_8443._https.a.test");
    }
}
