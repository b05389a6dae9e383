//! Sessions over plain buffers, with the library's defaults unless the settings differ.

use std::{any::Any, error::Error, sync::Arc};

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
    Endpoint, EndpointSetup, EndpointSide, InMemory, KEPT_SESSIONS, SetupError, Signatures,
    SigningPair, TICKETS, TicketUse, Tickets, TrustRoots, Verifier, failed, refused,
};

use crate::{
    piped::session,
    settings::{self, roots, store},
    signing::Keys,
    stack::BoringSsl,
};

impl InMemory for BoringSsl {
    fn client(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
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
            ssl.set_session_cache_mode(
                SslSessionCacheMode::CLIENT | SslSessionCacheMode::NO_INTERNAL,
            );
            let allowed = TicketUse::of(setup.settings.version);
            let tickets = Arc::clone(&tickets);
            ssl.set_new_session_callback(move |_, session| tickets.keep((), allowed, session));
        }
        let (context, host) = (ssl.build(), material.host.clone());
        Ok(Box::new(move || {
            session(connecting(&context, &host, &tickets), EndpointSide::Client)
        }))
    }

    fn server(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
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
                    .map_err(refused("list of authorities"))?;
                ssl.set_cert_store(store(&trusted)?);
            }
        }
        resumption(&mut ssl, setup.kind).map_err(refused("resumption"))?;
        let context = ssl.build();
        Ok(Box::new(move || {
            session(Ssl::new(&context), EndpointSide::Server)
        }))
    }

    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError> {
        let (store, host) = (store(&roots(roots_pem)?)?, host.to_owned());
        Ok(Box::new(move |chain: &[Vec<u8>]| {
            verified(&store, &host, chain).map_err(failed(FailureWord::Verify))
        }))
    }

    fn configuration(&self, trusted: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        let mut ssl = SslConnector::builder(SslMethod::tls()).map_err(refused("context"))?;
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

/// Makes the common part of both sides' contexts.
fn context(setup: &EndpointSetup<'_>) -> Result<SslContextBuilder, SetupError> {
    let session = setup.settings;
    let mut ssl = SslContext::builder(SslMethod::tls()).map_err(refused("context"))?;
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

/// Makes a client's connection, which resumes the newest session if there is one.
fn connecting(
    context: &SslContext,
    host: &str,
    tickets: &Tickets<(), SslSession>,
) -> Result<Ssl, ErrorStack> {
    let mut ssl = Ssl::new(context)?;
    ssl.set_hostname(host)?;
    ssl.param_mut().set_host(host)?;
    let resumed = tickets.resume_newest(&(), |session| {
        // SAFETY: the session comes from a connection of this same context.
        unsafe { ssl.set_session(session) }
    });
    resumed.transpose()?;
    Ok(ssl)
}

fn verified(store: &X509Store, host: &str, chain: &[Vec<u8>]) -> Result<(), Box<dyn Error>> {
    let (leaf, above) = chain.split_first().ok_or("an empty chain")?;
    let leaf = X509::from_der(leaf)?;
    let mut untrusted = BoringStack::new()?;
    for der in above {
        untrusted.push(X509::from_der(der)?)?;
    }
    let verified = X509StoreContext::new()?.init(store, &leaf, &untrusted, |context| {
        // These are libssl's parameters for a client. SAFETY: the context is live, and the name has
        // static lifetime.
        unsafe { boring_sys::X509_STORE_CTX_set_default(context.as_ptr(), c"ssl_server".as_ptr()) };
        context.verify_param_mut().set_host(host)?;
        context.verify_cert()?;
        Ok(context.verify_result())
    })?;
    verified.map_err(|error| error.error_string().into())
}
