use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use netbench_model::CipherSuite;
use netbench_protocol::ServeSite;
use netbench_worker::{Accept, AcceptError, Accepted, BoxFuture, SetupError};
use openssl::{
    pkey::{PKey, Private},
    ssl::{
        Ssl, SslContext, SslContextBuilder, SslMethod, SslMode, SslOptions, SslSessionCacheMode,
        SslVerifyMode,
    },
    x509::X509,
};
use tokio::net::TcpStream;
use tokio_openssl::SslStream;

use crate::{
    alpn, ffi,
    names::Side,
    negotiated::negotiated,
    set_up::certificates,
    settings::{set_groups, set_versions_and_suites},
};

/// Makes OpenSSL's context for one site.
pub(crate) fn acceptor(site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
    let refused = |what: &'static str| move |e| SetupError::refused(what, e);
    let mut ssl = SslContext::builder(SslMethod::tls_server()).map_err(refused("context"))?;
    let own = Identity::shared(&site.chain_pem, &site.key_pem)?;
    own.set(&mut ssl)?;
    let suites = if site.suites.is_empty() {
        CipherSuite::OFFERED
    } else {
        &site.suites
    };
    set_versions_and_suites(&mut ssl, &site.versions, suites)?;
    if !site.groups.is_empty() {
        set_groups(&mut ssl, &site.groups)?;
    }
    ffi::set_dh_auto(&mut ssl);
    ssl.set_options(SslOptions::CIPHER_SERVER_PREFERENCE | SslOptions::NO_COMPRESSION);
    // hyper may offer a write again from a buffer that has moved or grown meanwhile, and tokio's
    // streams write what they can. SslConnector and SslAcceptor set the same.
    ssl.set_mode(
        SslMode::AUTO_RETRY | SslMode::ACCEPT_MOVING_WRITE_BUFFER | SslMode::ENABLE_PARTIAL_WRITE,
    );
    ssl.set_verify(SslVerifyMode::NONE);
    alpn::choose(&mut ssl, site.alpn.clone());
    set_resumption(&mut ssl, site).map_err(refused("resumption"))?;
    if let Some(text) = &site.ocsp_base64 {
        let response = STANDARD
            .decode(text)
            .map_err(|e| SetupError::refused("OCSP response", e))?;
        ssl.set_status_callback(move |ssl| ssl.set_ocsp_status(&response).map(|()| true))
            .map_err(refused("OCSP response"))?;
    }
    Ok(Arc::new(OpenSslAcceptor(ssl.build())))
}

/// The chain that a context sends, the leaf first, and its key.
pub(crate) fn identity(
    ssl: &mut SslContextBuilder,
    chain_pem: &str,
    key_pem: &str,
) -> Result<(), SetupError> {
    let refused = |what: &'static str| move |e| SetupError::refused(what, e);
    let own = Identity {
        chain: X509::stack_from_pem(chain_pem.as_bytes()).map_err(refused("chain"))?,
        key: PKey::private_key_from_pem(key_pem.as_bytes()).map_err(refused("key"))?,
    };
    own.set(ssl)
}

struct Identity {
    chain: Vec<X509>,
    key: PKey<Private>,
}

/// Keys and certificates of issuers by their PEM, which all sites of a lab share: parsed for each of ten thousand
/// sites, they would be most of the server's memory.
static SHARED: LazyLock<Mutex<Shared>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Shared {
    keys: HashMap<String, PKey<Private>>,
    issuers: HashMap<String, X509>,
}

impl Identity {
    /// With what other sites have too.
    fn shared(chain_pem: &str, key_pem: &str) -> Result<Self, SetupError> {
        let refused = |what: &'static str| move |e| SetupError::refused(what, e);
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let mut certificates = certificates(chain_pem);
        let leaf = certificates.next().unwrap_or_default();
        let mut chain = vec![X509::from_pem(leaf.as_bytes()).map_err(refused("leaf"))?];
        for issuer in certificates {
            let known = shared.issuers.get(issuer).cloned();
            chain.push(match known {
                Some(known) => known,
                None => {
                    let new = X509::from_pem(issuer.as_bytes()).map_err(refused("chain"))?;
                    shared.issuers.insert(issuer.to_owned(), new.clone());
                    new
                }
            });
        }
        let key = match shared.keys.get(key_pem).cloned() {
            Some(known) => known,
            None => {
                let new = PKey::private_key_from_pem(key_pem.as_bytes()).map_err(refused("key"))?;
                shared.keys.insert(key_pem.to_owned(), new.clone());
                new
            }
        };
        Ok(Self { chain, key })
    }

    fn set(self, ssl: &mut SslContextBuilder) -> Result<(), SetupError> {
        let refused = |what: &'static str| move |e| SetupError::refused(what, e);
        let mut chain = self.chain.into_iter();
        let leaf = chain
            .next()
            .ok_or_else(|| SetupError::Refused("chain: no certificate".to_owned()))?;
        ssl.set_certificate(&leaf).map_err(refused("leaf"))?;
        for above in chain {
            ssl.add_extra_chain_cert(above).map_err(refused("chain"))?;
        }
        ssl.set_private_key(&self.key).map_err(refused("key"))?;
        ssl.check_private_key().map_err(refused("chain and key"))
    }
}

fn set_resumption(
    ssl: &mut SslContextBuilder,
    site: &ServeSite,
) -> Result<(), openssl::error::ErrorStack> {
    // Contexts share nothing, and this keeps their sessions apart even if they did. At most 32 bytes.
    let name = site.site.as_bytes();
    ssl.set_session_id_context(&name[..name.len().min(32)])?;
    ssl.set_num_tickets(usize::from(site.tickets))?;
    if site.tickets == 0 {
        ssl.set_options(SslOptions::NO_TICKET);
        ssl.set_session_cache_mode(SslSessionCacheMode::OFF);
    } else {
        ssl.set_session_cache_mode(SslSessionCacheMode::SERVER);
    }
    Ok(())
}

struct OpenSslAcceptor(SslContext);

impl Accept for OpenSslAcceptor {
    fn accept(&self, stream: TcpStream) -> BoxFuture<'static, Result<Accepted, AcceptError>> {
        let stream = Ssl::new(&self.0).and_then(|ssl| SslStream::new(ssl, stream));
        Box::pin(async move {
            let mut stream = stream?;
            Pin::new(&mut stream).accept().await?;
            let negotiated = negotiated(stream.ssl(), Side::Server);
            Ok(Accepted {
                stream: Box::new(stream),
                negotiated,
            })
        })
    }
}
