//! Sessions over plain buffers, with the library's defaults unless the settings differ.

use std::{any::Any, error::Error, sync::Arc};

use netbench_tls::{ClientAuth, FailureWord, HandshakeKind};
use netbench_worker::{
    Endpoint, EndpointSetup, KEPT_SESSIONS, Session, SessionError, SetupError, TICKETS, TicketUse,
    Tickets, TrustRoots, Verifier, failed, refused,
};
use openssl::{
    error::ErrorStack,
    ssl::{
        Ssl, SslConnector, SslContext, SslContextBuilder, SslMethod, SslMode, SslOptions,
        SslSession, SslSessionCacheMode, SslVerifyMode,
    },
    stack::Stack as OpenSslStack,
    x509::{X509, X509PurposeId, X509StoreContext, store::X509Store, verify::X509VerifyParam},
};

use crate::{
    Libssl, Side,
    context::{certificates, roots as roots_of_pem, store},
    memory_bio, piped, set_identity,
};

/// The settings of a stack's sessions beside those of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sessions {
    /// The sessions have this mode, and their records pass through the caller's buffers.
    WithMode(SslMode),
    /// The records pass through OpenSSL's memory BIOs.
    OverMemoryBios,
}

impl Sessions {
    fn mode(self) -> SslMode {
        match self {
            Self::WithMode(mode) => mode,
            Self::OverMemoryBios => SslMode::empty(),
        }
    }

    fn session<L: Libssl>(
        self,
        ssl: Result<Ssl, ErrorStack>,
        side: Side,
    ) -> Result<Box<dyn Session>, SessionError> {
        match self {
            Self::WithMode(_) => piped::session::<L>(ssl, side),
            Self::OverMemoryBios => memory_bio::session::<L>(ssl, side),
        }
    }
}

/// Makes a verifier of chains with these roots, for this host.
///
/// # Errors
/// Roots or a name that cannot be used.
pub fn verifier(roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError> {
    let mut store = store(certificates(roots_pem)?)?;
    let mut name = X509VerifyParam::new().map_err(refused("verifier"))?;
    name.set_host(host).map_err(refused("verifier"))?;
    store.set_param(&name).map_err(refused("verifier"))?;
    store
        .set_purpose(X509PurposeId::SSL_SERVER)
        .map_err(refused("verifier"))?;
    let store = store.build();
    Ok(Box::new(move |chain: &[Vec<u8>]| {
        verified(&store, chain).map_err(failed(FailureWord::Verify))
    }))
}

/// Makes the configuration that a user makes once, with these roots.
///
/// # Errors
/// Roots that cannot be used.
pub fn configuration(roots: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
    let mut ssl = SslConnector::builder(SslMethod::tls_client()).map_err(refused("context"))?;
    match roots {
        TrustRoots::Pem(text) => ssl.set_cert_store(roots_of_pem(text)?),
        TrustRoots::Der(all) => {
            let roots: Result<Vec<_>, _> = all.iter().map(|der| X509::from_der(der)).collect();
            let roots = roots.map_err(refused("roots"))?;
            ssl.set_cert_store(store(roots)?.build());
        }
        TrustRoots::File(path) => ssl.set_ca_file(path).map_err(refused("roots"))?,
    }
    Ok(Box::new(ssl.build()))
}

/// Makes a client with such sessions.
///
/// # Errors
/// Settings that the library lacks, or material that it cannot use.
pub fn client<L: Libssl>(
    setup: &EndpointSetup<'_>,
    sessions: Sessions,
) -> Result<Box<dyn Endpoint>, SetupError> {
    let material = setup.material;
    let mut ssl = context::<L>(SslMethod::tls_client(), setup, sessions.mode())?;
    ssl.set_verify(SslVerifyMode::PEER);
    ssl.set_cert_store(roots_of_pem(&material.roots_pem)?);
    if setup.settings.client_auth == ClientAuth::On {
        set_identity(
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
    let (context, host) = (ssl.build(), material.host.clone());
    Ok(Box::new(move || {
        sessions.session::<L>(connecting(&context, &host, &tickets), Side::Client)
    }))
}

/// Makes a server with such sessions.
///
/// # Errors
/// Settings that the library lacks, or material that it cannot use.
pub fn server<L: Libssl>(
    setup: &EndpointSetup<'_>,
    sessions: Sessions,
) -> Result<Box<dyn Endpoint>, SetupError> {
    let material = setup.material;
    let mut ssl = context::<L>(SslMethod::tls_server(), setup, sessions.mode())?;
    set_identity(&mut ssl, &material.chain_pem, &material.key_pem)?;
    match setup.settings.client_auth {
        ClientAuth::Off => ssl.set_verify(SslVerifyMode::NONE),
        ClientAuth::On => {
            ssl.set_verify(SslVerifyMode::PEER | SslVerifyMode::FAIL_IF_NO_PEER_CERT);
            let roots = certificates(&material.roots_pem)?;
            ssl.set_client_ca_list(authorities(&roots).map_err(refused("list of authorities"))?);
            ssl.set_cert_store(store(roots)?.build());
        }
    }
    resumption::<L>(&mut ssl, setup.kind).map_err(refused("resumption"))?;
    let context = ssl.build();
    Ok(Box::new(move || {
        sessions.session::<L>(accepting(&context), Side::Server)
    }))
}

/// Makes the common part of both sides' contexts.
fn context<L: Libssl>(
    method: SslMethod,
    setup: &EndpointSetup<'_>,
    mode: SslMode,
) -> Result<SslContextBuilder, SetupError> {
    let settings = setup.settings;
    let mut ssl = SslContext::builder(method).map_err(refused("context"))?;
    L::set_versions_and_suites(&mut ssl, &[settings.version], &[settings.suite()])?;
    L::set_groups(&mut ssl, &settings.groups())?;
    L::set_schemes(&mut ssl, settings.signatures())?;
    ssl.set_options(L::OPTIONS);
    // With roots to verify clients by, OpenSSL would also send the root after a certificate without
    // intermediates.
    ssl.set_mode(SslMode::NO_AUTO_CHAIN | mode);
    if let Some(bytes) = setup.max_fragment_bytes {
        L::set_max_send_fragment(&mut ssl, bytes)?;
    }
    Ok(ssl)
}

fn resumption<L: Libssl>(
    ssl: &mut SslContextBuilder,
    kind: HandshakeKind,
) -> Result<(), ErrorStack> {
    ssl.set_session_id_context(b"netbench suite")?;
    let tickets = match kind {
        HandshakeKind::Full => 0,
        HandshakeKind::SessionId | HandshakeKind::Ticket => TICKETS,
    };
    L::set_tickets(ssl, tickets)?;
    let mode = match kind {
        HandshakeKind::SessionId => SslSessionCacheMode::SERVER,
        HandshakeKind::Full | HandshakeKind::Ticket => SslSessionCacheMode::OFF,
    };
    ssl.set_session_cache_mode(mode);
    ssl.set_session_cache_size(i32::try_from(KEPT_SESSIONS).unwrap_or(i32::MAX));
    if kind != HandshakeKind::Ticket {
        ssl.set_options(SslOptions::NO_TICKET);
    }
    Ok(())
}

fn authorities(roots: &[X509]) -> Result<OpenSslStack<openssl::x509::X509Name>, ErrorStack> {
    let mut names = OpenSslStack::new()?;
    for root in roots {
        names.push(root.subject_name().to_owned()?)?;
    }
    Ok(names)
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
    ssl.set_connect_state();
    Ok(ssl)
}

fn accepting(context: &SslContext) -> Result<Ssl, ErrorStack> {
    let mut ssl = Ssl::new(context)?;
    ssl.set_accept_state();
    Ok(ssl)
}

fn verified(store: &X509Store, chain: &[Vec<u8>]) -> Result<(), Box<dyn Error>> {
    let (leaf, above) = chain.split_first().ok_or("an empty chain")?;
    let leaf = X509::from_der(leaf)?;
    let mut untrusted = OpenSslStack::new()?;
    for der in above {
        untrusted.push(X509::from_der(der)?)?;
    }
    let refused = X509StoreContext::new()?.init(store, &leaf, &untrusted, |context| {
        let is_good = context.verify_cert()?;
        Ok((!is_good).then(|| context.error().error_string()))
    })?;
    refused.map_or(Ok(()), |why| Err(why.into()))
}
