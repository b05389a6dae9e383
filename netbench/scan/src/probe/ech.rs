//! Encrypted ClientHello (RFC 9849): the configurations that a server sends to a client whose hello it cannot decrypt.

use netbench_model::scan::{EchConfigScan, NamedCode, VersionScan};

use super::prober::Prober;
use crate::{
    codec::{EchConfig, Extension, ech_configs, extension, put_u16, put_vec16},
    enumeration::Stop,
    text::clean,
};

/// HKDF-SHA256 (RFC 9180 section 7.2).
const KDF: u16 = 1;

/// AES-128-GCM (RFC 9180 section 7.3).
const AEAD: u16 = 1;

/// The length of a public key of X25519, in bytes.
const ENCAPSULATED_BYTES: usize = 32;

/// The length of an encrypted inner hello, in bytes: an ordinary one, padded to a multiple of 32, with a tag of 16 bytes.
const PAYLOAD_BYTES: usize = 192 + 16;

/// Sends an extension that looks like an encrypted hello, to which a server with Encrypted ClientHello must respond with its
/// configurations (RFC 9849 section 7.1). The feature remains unknown if the response cannot be read. Returns the list as the
/// server sent it, or an empty one if it sent none.
pub(super) async fn ech(
    prober: &Prober<'_>,
    newest: &VersionScan,
) -> Result<Option<Vec<u8>>, Stop> {
    let session = prober.read_with_share(newest, |spec| spec.more.push(grease()));
    let Some(session) = session.await? else {
        return Ok(None);
    };
    let list = session
        .encrypted
        .extension(extension::ENCRYPTED_CLIENT_HELLO);
    let sent = list.unwrap_or_default().to_vec();
    let Some(configs) = list.map_or(Some(Vec::new()), ech_configs) else {
        prober
            .note("the list of configurations of Encrypted ClientHello cannot be read".to_owned());
        return Ok(Some(sent));
    };
    prober.findings.borrow_mut().features.ech_configs = Some(configs.iter().map(scan).collect());
    Ok(Some(sent))
}

/// Returns the extension `encrypted_client_hello` of a client without a configuration (RFC 9849 section 6.2).
pub(super) fn grease() -> Extension {
    let mut random = [0; 1 + ENCAPSULATED_BYTES + PAYLOAD_BYTES];
    // Without randomness drawing keys fails later.
    let _ = aws_lc_rs::rand::fill(&mut random);
    let (id, random) = random.split_at(1);
    let (encapsulated, payload) = random.split_at(ENCAPSULATED_BYTES);
    // The type of an outer hello.
    let mut body = vec![0];
    put_u16(&mut body, KDF);
    put_u16(&mut body, AEAD);
    body.extend(id);
    put_vec16(&mut body, encapsulated);
    put_vec16(&mut body, payload);
    (extension::ENCRYPTED_CLIENT_HELLO, body)
}

pub(super) fn scan(config: &EchConfig) -> EchConfigScan {
    let contents = config.contents.as_ref();
    EchConfigScan {
        public_name: match contents {
            Some(contents) => clean(&String::from_utf8_lossy(&contents.public_name)),
            None => format!("version {:#06x}", config.version),
        },
        version: config.version,
        kem: contents.map(|it| NamedCode::new(it.kem, kem_name(it.kem))),
    }
}

/// Returns the name of a KEM (RFC 9180 section 7.1, and the registry of IANA).
fn kem_name(kem: u16) -> String {
    match kem {
        0x0010 => "P-256".to_owned(),
        0x0011 => "P-384".to_owned(),
        0x0012 => "P-521".to_owned(),
        0x0020 => "X25519".to_owned(),
        0x0021 => "X448".to_owned(),
        0x0040 => "ML-KEM-512".to_owned(),
        0x0041 => "ML-KEM-768".to_owned(),
        0x0042 => "ML-KEM-1024".to_owned(),
        0x647a => "X-Wing".to_owned(),
        _ => format!("KEM {kem:#06x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_of_another_version_has_its_number() {
        let config = EchConfig {
            version: 0xfe0a,
            contents: None,
        };
        let scan = scan(&config);
        assert_eq!(
            (scan.public_name.as_str(), scan.kem),
            ("version 0xfe0a", None)
        );
    }
}
