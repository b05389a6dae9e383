//! Encrypted ClientHello (RFC 9849) of a server.

use std::sync::OnceLock;

use boring::{
    error::ErrorStack,
    ex_data::Index,
    hpke::HpkeKey,
    ssl::{ExtensionType, Ssl, SslContextBuilder, SslEchKeys, SslRef},
};
use netbench_tls::EchStatus;
use netbench_worker::{ServerEchKey, SetupError, made_once, refused};

/// The mark of a connection whose client sends the extension.
struct Offered;

/// Gives a server's context its keys, with whose configurations it answers a hello that it cannot decrypt, and has it mark the
/// connections with the extension.
pub(crate) fn set_up(ssl: &mut SslContextBuilder, keys: &[ServerEchKey]) -> Result<(), SetupError> {
    let index = offered().map_err(refused("context"))?;
    ssl.set_select_certificate_callback(move |mut hello| {
        let extension = hello.get_extension(ExtensionType::ENCRYPTED_CLIENT_HELLO);
        if extension.is_some() {
            hello.ssl_mut().set_ex_data(index, Offered);
        }
        Ok(())
    });
    if keys.is_empty() {
        // BoringSSL has no list without a key.
        return Ok(());
    }
    set_keys(ssl, keys).map_err(refused("ECH keys"))
}

/// Returns the outcome in a finished handshake.
pub(crate) fn status(ssl: &SslRef) -> Option<EchStatus> {
    if ssl.ech_accepted() {
        return Some(EchStatus::Accepted);
    }
    // BoringSSL reports acceptance alone.
    let index = offered().ok()?;
    ssl.ex_data(index).map(|Offered| EchStatus::Grease)
}

fn set_keys(ssl: &SslContextBuilder, keys: &[ServerEchKey]) -> Result<(), ErrorStack> {
    const IS_SENT_TO_REJECTED: bool = true;
    let mut list = SslEchKeys::builder()?;
    for key in keys {
        // The function has a wrong name: the key is one of X25519.
        let private = HpkeKey::dhkem_p256_sha256(&key.private_key)?;
        list.add_key(IS_SENT_TO_REJECTED, &key.config, private)?;
    }
    ssl.set_ech_keys(&list.build())
}

/// Returns the index under which a connection has its mark.
fn offered() -> Result<Index<Ssl, Offered>, ErrorStack> {
    static INDEX: OnceLock<Index<Ssl, Offered>> = OnceLock::new();
    made_once(&INDEX, Ssl::new_ex_index)
}
