//! Application protocols. The worker of boringssl compiles this file too, with its library under the name
//! `openssl`.

use netbench_tls::Alpn;
use openssl::ssl::{AlpnError, SslContextBuilder};

/// Encodes ALPN's list: each name after its length (RFC 7301 section 3.1).
pub(crate) fn wire(protocols: &[Alpn]) -> Vec<u8> {
    let mut wire = Vec::new();
    for name in protocols.iter().map(|alpn| alpn.name().as_bytes()) {
        wire.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
        wire.extend(name);
    }
    wire
}

/// Selects the first of the server's protocols that the client offers too; a client without a common one is
/// refused (RFC 7301 section 3.2).
pub(crate) fn choose(ssl: &mut SslContextBuilder, protocols: Vec<Alpn>) {
    if protocols.is_empty() {
        return;
    }
    ssl.set_alpn_select_callback(move |_, offered| {
        let theirs = || AlpnNames(offered);
        protocols
            .iter()
            .find_map(|alpn| theirs().find(|name| *name == alpn.name().as_bytes()))
            .ok_or(AlpnError::ALERT_FATAL)
    });
}

/// An iterator over the names in ALPN's encoded list.
struct AlpnNames<'a>(&'a [u8]);

impl<'a> Iterator for AlpnNames<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<Self::Item> {
        let (length, rest) = self.0.split_first()?;
        let (name, rest) = rest.split_at_checked(usize::from(*length))?;
        self.0 = rest;
        Some(name)
    }
}
