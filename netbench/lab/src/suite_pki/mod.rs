//! The certificates of the in-memory suite: they are in the source tree, so that their bytes are the same in
//! every run and on every machine, and runs can be compared.

mod make;

use netbench_model::KeyType;
use netbench_protocol::Material;

pub use make::make_suite_pki;

/// The host name of the suite's server certificates.
pub const SUITE_HOST: &str = "suite.netbench.test";

/// The maximum length of a chain.
pub(crate) const LONGEST: u8 = 4;

/// Returns the certificates for a chain of `length` (clamped to 1 to 4) certificates, each with a key of type `key`. A
/// client that authenticates sends its leaf and one intermediate.
pub fn suite_pki(key: KeyType, length: u8) -> Material {
    let length = usize::from(length.clamp(1, LONGEST));
    // The blocks are in the order in which `make` writes them, each after a comment.
    let blocks = file(key).split("# ");
    let blocks = blocks.filter_map(|part| Some(&part[part.find("-----BEGIN ")?..]));
    let (certificates, keys): (Vec<&str>, Vec<&str>) =
        blocks.partition(|block| block.starts_with("-----BEGIN CERTIFICATE-----"));
    let [root, rest @ ..] = certificates.as_slice() else {
        return Material::default();
    };
    let (cas, leaves) = rest.split_at(usize::from(LONGEST) - 1);
    let [chain_pem, client_chain_pem] =
        [(length - 1, length), (usize::from(LONGEST), 2)].map(|(leaf, length)| {
            let above = cas[..length - 1].iter().rev();
            let chain = std::iter::once(&leaves[leaf]).chain(above);
            chain.copied().collect()
        });
    Material {
        host: SUITE_HOST.to_owned(),
        chain_pem,
        key_pem: keys[0].to_owned(),
        client_chain_pem,
        client_key_pem: keys[1].to_owned(),
        roots_pem: (*root).to_owned(),
        native_path: None,
    }
}

fn file(key: KeyType) -> &'static str {
    match key {
        KeyType::Rsa2048 => include_str!("../../pki/rsa-2048.pem"),
        KeyType::Rsa3072 => include_str!("../../pki/rsa-3072.pem"),
        KeyType::Rsa4096 => include_str!("../../pki/rsa-4096.pem"),
        KeyType::EcdsaP256 => include_str!("../../pki/ecdsa-p256.pem"),
        KeyType::EcdsaP384 => include_str!("../../pki/ecdsa-p384.pem"),
        KeyType::Ed25519 => include_str!("../../pki/ed25519.pem"),
        KeyType::MlDsa44 => include_str!("../../pki/mldsa-44.pem"),
        KeyType::MlDsa65 => include_str!("../../pki/mldsa-65.pem"),
        KeyType::MlDsa87 => include_str!("../../pki/mldsa-87.pem"),
    }
}
