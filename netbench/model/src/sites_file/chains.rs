//! The chains of servers and clients.

use super::{fields::number, keys::key_type};
use crate::{ChainProfile, ClientChain, parse_bytes, shown};

/// Maximum size of a chain. No stack accepts a larger Certificate message.
const MAX_CHAIN_BYTES: u32 = 60_000;

/// Parses the certificates of a server.
pub(super) fn chain(text: &str) -> Result<ChainProfile, String> {
    let (length, bytes) = match text.split_once('/') {
        None => (text, 0),
        Some((length, bytes)) => (length, chain_bytes(bytes, text, "3/4032")?),
    };
    Ok(ChainProfile {
        length: number(
            length,
            1..=6,
            "a number of certificates, or that and their bytes such as 3/4032",
        )?,
        bytes,
    })
}

/// Parses the certificates of a client.
pub(super) fn client_chain(text: &str) -> Result<ClientChain, String> {
    let (key, bytes) = match text.split_once('/') {
        None => (text, 0),
        Some((key, bytes)) => (key, chain_bytes(bytes, text, "ecdsa-p256/12000")?),
    };
    let key = key_type(key).map_err(|why| format!("{why}; or none"))?;
    Ok(ClientChain { key, bytes })
}

/// Parses the bytes of a chain in a whole value.
fn chain_bytes(bytes: &str, whole: &str, example: &str) -> Result<u32, String> {
    let bytes = parse_bytes(bytes)
        .ok()
        .and_then(|bytes| u32::try_from(bytes).ok());
    bytes.filter(|bytes| *bytes <= MAX_CHAIN_BYTES).ok_or_else(|| {
        format!(
            "expected at most {MAX_CHAIN_BYTES} bytes after the '/', such as {example}; found {}",
            shown(whole)
        )
    })
}
