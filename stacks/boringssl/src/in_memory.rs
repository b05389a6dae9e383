//! Sessions over plain buffers, with the library's defaults unless the settings differ.

use std::{any::Any, sync::Arc};

use boring::{
    error::ErrorStack,
    ssl::{
        Ssl, SslConnector, SslContext, SslContextBuilder, SslMethod, SslMode, SslOptions,
        SslSession, SslSessionCacheMode, SslVerifyMode,
    },
    stack::Stack as BoringStack,
    x509::{X509, X509StoreContext, store::X509Store},
};
use foreign_types_shared::ForeignTypeRef;
use netbench_protocol::Material;
use netbench_tls::{ClientAuth, FailureWord, HandshakeKind, KeyType, TlsVersion};
use netbench_worker::{
    Endpoint, EndpointSetup, EndpointSide, InMemory, KEPT_SESSIONS, Session, SessionError,
    SetupError, Signatures, SigningPair, TICKETS, TicketUse, Tickets, TrustRoots, Verifier,
    refused,
};

use crate::{
    piped::session,
    settings::{self, roots, store},
    signing::Keys,
    stack::BoringSsl,
};

impl InMemory for BoringSsl {
    fn endpoint(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        match setup.side {
            EndpointSide::Client => client(setup),
            EndpointSide::Server => server(setup),
        }
    }

    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError> {
        Ok(Box::new(StoreVerifier {
            store: store(&roots(roots_pem)?)?,
            host: host.to_owned(),
        }))
    }

    fn configuration(&self, trusted: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        let mut ssl = SslConnector::builder(SslMethod::tls())
            .map_err(|e| SetupError::refused("context", e))?;
        match trusted {
            TrustRoots::Pem(text) => ssl.set_cert_store(store(&roots(text)?)?),
            TrustRoots::Der(all) => {
                let parsed: Result<Vec<_>, _> = all.iter().map(|der| X509::from_der(der)).collect();
                ssl.set_cert_store(store(&parsed.map_err(refused("roots"))?)?);
            }
            TrustRoots::File(path) => ssl.set_ca_file(path).map_err(refused("roots"))?,
        }
        Ok(Box::new(ssl.build()))
    }

    fn signatures(
        &self,
        key: KeyType,
        material: &Material,
    ) -> Result<Box<dyn Signatures>, SetupError> {
        Ok(Box::new(SigningPair::new(Keys::new(key, material)?)))
    }
}

fn client(setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
    let material = setup.material;
    let mut ssl = context(setup)?;
    ssl.set_verify(SslVerifyMode::PEER);
    ssl.set_cert_store(store(&roots(&material.roots_pem)?)?);
    if setup.settings.client_auth == ClientAuth::On {
        settings::set_identity(
            &mut ssl,
            &material.client_chain_pem,
            &material.client_key_pem,
        )?;
    }
    let tickets: Arc<Tickets<(), SslSession>> = Arc::default();
    if setup.kind == HandshakeKind::Full {
        ssl.set_session_cache_mode(SslSessionCacheMode::OFF);
    } else {
        ssl.set_session_cache_mode(SslSessionCacheMode::CLIENT | SslSessionCacheMode::NO_INTERNAL);
        let allowed = TicketUse::of(setup.settings.version);
        let tickets = Arc::clone(&tickets);
        ssl.set_new_session_callback(move |_, session| tickets.keep((), allowed, session));
    }
    Ok(Box::new(Client {
        context: ssl.build(),
        host: material.host.clone(),
        tickets,
    }))
}

fn server(setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
    if setup.kind == HandshakeKind::SessionId && setup.settings.version == TlsVersion::Tls13 {
        return Err(SetupError::unsupported(
            "in TLS 1.3, BoringSSL's server keeps no sessions: its tickets hold them",
        ));
    }
    let material = setup.material;
    let mut ssl = context(setup)?;
    settings::set_identity(&mut ssl, &material.chain_pem, &material.key_pem)?;
    match setup.settings.client_auth {
        ClientAuth::Off => ssl.set_verify(SslVerifyMode::NONE),
        ClientAuth::On => {
            ssl.set_verify(SslVerifyMode::PEER | SslVerifyMode::FAIL_IF_NO_PEER_CERT);
            let trusted = roots(&material.roots_pem)?;
            trusted
                .iter()
                .try_for_each(|root| ssl.add_client_ca(root))
                .map_err(|e| SetupError::refused("list of authorities", e))?;
            ssl.set_cert_store(store(&trusted)?);
        }
    }
    resumption(&mut ssl, setup.kind).map_err(|e| SetupError::refused("resumption", e))?;
    Ok(Box::new(Server(ssl.build())))
}

/// Makes the common part of both sides' contexts.
fn context(setup: &EndpointSetup<'_>) -> Result<SslContextBuilder, SetupError> {
    let session = setup.settings;
    let mut ssl =
        SslContext::builder(SslMethod::tls()).map_err(|e| SetupError::refused("context", e))?;
    settings::set_versions_and_suites(&mut ssl, &[session.version], &[session.suite()])?;
    settings::set_groups(&mut ssl, &session.groups())?;
    settings::set_schemes(&mut ssl, session.signatures())?;
    ssl.set_options(SslOptions::NO_COMPRESSION);
    // With roots to verify clients by, BoringSSL would also send the root after a certificate without
    // intermediates.
    ssl.set_mode(SslMode::NO_AUTO_CHAIN);
    if let Some(bytes) = setup.max_fragment_bytes {
        settings::set_max_send_fragment(&mut ssl, bytes)?;
    }
    Ok(ssl)
}

fn resumption(ssl: &mut SslContextBuilder, kind: HandshakeKind) -> Result<(), ErrorStack> {
    ssl.set_session_id_context(b"netbench suite")?;
    let mode = match kind {
        HandshakeKind::SessionId => SslSessionCacheMode::SERVER,
        HandshakeKind::Full | HandshakeKind::Ticket => SslSessionCacheMode::OFF,
    };
    ssl.set_session_cache_mode(mode);
    ssl.set_session_cache_size(u32::try_from(KEPT_SESSIONS).unwrap_or(u32::MAX));
    if kind == HandshakeKind::Ticket {
        settings::set_tickets(ssl, TICKETS)?;
    } else {
        ssl.set_options(SslOptions::NO_TICKET);
    }
    Ok(())
}

struct Client {
    context: SslContext,
    host: String,
    tickets: Arc<Tickets<(), SslSession>>,
}

impl Client {
    fn ssl(&self) -> Result<Ssl, ErrorStack> {
        let mut ssl = Ssl::new(&self.context)?;
        ssl.set_hostname(&self.host)?;
        ssl.param_mut().set_host(&self.host)?;
        let resumed = self.tickets.resume_newest(&(), |session| {
            // SAFETY: the session comes from a connection of this same context.
            unsafe { ssl.set_session(session) }
        });
        resumed.transpose()?;
        // SAFETY: the connection is live, and unused so far.
        unsafe { boring_sys::SSL_set_connect_state(ssl.as_ptr()) };
        Ok(ssl)
    }
}

impl Endpoint for Client {
    fn session(&self) -> Result<Box<dyn Session>, SessionError> {
        session(self.ssl(), EndpointSide::Client)
    }
}

struct Server(SslContext);

impl Endpoint for Server {
    fn session(&self) -> Result<Box<dyn Session>, SessionError> {
        let ssl = Ssl::new(&self.0).inspect(|ssl| {
            // SAFETY: the connection is live, and unused so far.
            unsafe { boring_sys::SSL_set_accept_state(ssl.as_ptr()) };
        });
        session(ssl, EndpointSide::Server)
    }
}

struct StoreVerifier {
    store: X509Store,
    host: String,
}

impl Verifier for StoreVerifier {
    fn verify(&self, chain: &[Vec<u8>]) -> Result<(), SessionError> {
        match self.verified(chain) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(why)) => Err(SessionError::new(FailureWord::Verify, why)),
            Err(error) => Err(SessionError::new(FailureWord::Verify, error)),
        }
    }
}

impl StoreVerifier {
    fn verified(&self, chain: &[Vec<u8>]) -> Result<Result<(), String>, ErrorStack> {
        let Some((leaf, above)) = chain.split_first() else {
            return Ok(Err("an empty chain".to_owned()));
        };
        let leaf = X509::from_der(leaf)?;
        let mut untrusted = BoringStack::new()?;
        for der in above {
            untrusted.push(X509::from_der(der)?)?;
        }
        X509StoreContext::new()?.init(&self.store, &leaf, &untrusted, |context| {
            // These are libssl's parameters for a client. SAFETY: the context is live, and the name has
            // static lifetime.
            unsafe {
                boring_sys::X509_STORE_CTX_set_default(context.as_ptr(), c"ssl_server".as_ptr())
            };
            context.verify_param_mut().set_host(&self.host)?;
            context.verify_cert()?;
            Ok(context
                .verify_result()
                .map_err(|error| error.error_string().to_owned()))
        })
    }
}
