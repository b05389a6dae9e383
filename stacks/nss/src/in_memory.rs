//! Sessions over plain buffers, and operations without a session.

use std::{
    any::Any,
    ffi::CString,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use netbench_protocol::Material;
use netbench_tls::{Aead, ClientAuth, FailureWord, Group, HandshakeKind, KeyType, TlsVersion};
use netbench_worker::{
    Endpoint, EndpointSetup, EndpointSide, InMemory, KeyExchange, Pipe, Piped, RecordProtection,
    SetupError, Signatures, SigningPair, TICKETS, TrustRoots, Verifier, failed, refused,
};

use crate::{
    certificates::{Identity, Roots},
    chain,
    config::{Config, Kept},
    exchange::exchange,
    ffi,
    library::library,
    records::records,
    session::{Session, User},
    settings::hold_to,
    signing::Keys,
    stack::Nss,
    verify::KeyUsage,
};

impl InMemory for Nss {
    fn client(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        prepare(setup)?;
        let material = setup.material;
        let kept = kept(setup)?;
        let keeps_tickets = kept.tickets.is_some() && kept.in_library.is_none();
        let mut config = Config::client(Roots::of_pem(&material.roots_pem)?, &kept)?;
        if setup.settings.client_auth == ClientAuth::On {
            let (chain, key) = (&material.client_chain_pem, &material.client_key_pem);
            config.set_identity(Identity::of_pem(chain, key)?)?;
        }
        let user = User {
            host: Some(name(&material.host)?),
            tickets: keeps_tickets.then(Arc::default),
            key_usage: KeyUsage::Any,
            ..User::default()
        };
        Ok(endpoint(set(setup, config)?, user))
    }

    fn server(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        prepare(setup)?;
        let material = setup.material;
        let identity = Identity::of_pem(&material.chain_pem, &material.key_pem)?;
        let mut config = Config::server(identity, None, &kept(setup)?)?;
        if setup.settings.client_auth == ClientAuth::On {
            config.require_certificates(Roots::of_pem(&material.roots_pem)?)?;
        }
        let user = User {
            key_usage: KeyUsage::Any,
            ..User::default()
        };
        Ok(endpoint(set(setup, config)?, user))
    }

    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError> {
        let roots = Roots::of_pem(roots_pem)?;
        if !roots.are_all_known() {
            return Err(SetupError::unsupported(
                "NSS does not verify what such a root has signed, as with Ed25519",
            ));
        }
        let host = name(host)?;
        Ok(Box::new(move |chain: &[Vec<u8>]| {
            let chain = chain.iter().map(Vec::as_slice);
            let verified = chain::verify(chain, &roots, &host, ffi::PR_Now(), KeyUsage::Any);
            verified.map_err(failed(FailureWord::Verify))
        }))
    }

    fn configuration(&self, roots: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        let roots = match roots {
            TrustRoots::Pem(text) => Roots::of_pem(text)?,
            TrustRoots::Der(all) => {
                Roots::of_der(all.iter().map(Vec::as_slice)).map_err(refused("roots"))?
            }
            TrustRoots::File(_) => {
                return Err(SetupError::unsupported(
                    "NSS reads no file of trust roots, only its own databases",
                ));
            }
        };
        let config = Config::client(roots, &Kept::tickets(0))?;
        Ok(Box::new(config))
    }

    fn signatures(
        &self,
        key: KeyType,
        material: &Material,
    ) -> Result<Box<dyn Signatures>, SetupError> {
        Ok(Box::new(SigningPair::new(Keys::new(key, material)?)))
    }

    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>, SetupError> {
        exchange(group)
    }

    fn record_protection(&self, aead: Aead) -> Result<Box<dyn RecordProtection>, SetupError> {
        Ok(Box::new(records(aead)?))
    }
}

/// Initializes the library, unless it lacks the settings.
fn prepare(setup: &EndpointSetup<'_>) -> Result<(), SetupError> {
    let settings = setup.settings;
    let why = if setup.kind == HandshakeKind::SessionId && settings.version == TlsVersion::Tls13 {
        "in TLS 1.3, NSS' server keeps no sessions, it only gives tickets"
    } else if settings.key == KeyType::Ed25519 {
        "no Ed25519 in this NSS' TLS"
    } else {
        return library().map(drop).map_err(refused("NSS"));
    };
    Err(SetupError::unsupported(why))
}

/// Returns the state that a side keeps of its sessions.
fn kept(setup: &EndpointSetup<'_>) -> Result<Kept, SetupError> {
    let is_client = setup.side == EndpointSide::Client;
    let in_library = match setup.kind {
        HandshakeKind::Full => false,
        HandshakeKind::SessionId => true,
        // The library does not export the data that are needed to resume a session with a client's certificate.
        HandshakeKind::Ticket => is_client && setup.settings.client_auth == ClientAuth::On,
    };
    let tickets = u8::try_from(TICKETS).unwrap_or(u8::MAX);
    Ok(Kept {
        tickets: (setup.kind == HandshakeKind::Ticket).then_some(tickets),
        in_library: in_library.then(cache_of_its_own).transpose()?,
    })
}

fn name(text: &str) -> Result<CString, SetupError> {
    CString::new(text).map_err(refused("name"))
}

/// Returns a name that no other client's sessions have.
fn cache_of_its_own() -> Result<CString, SetupError> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    name(&format!(
        "netbench {}",
        MADE.fetch_add(1, Ordering::Relaxed)
    ))
}

/// Sets the common part of both sides' configuration: the version, suite, group and schemes of the settings.
fn set(setup: &EndpointSetup<'_>, config: Config) -> Result<Arc<Config>, SetupError> {
    let settings = setup.settings;
    hold_to(config.model(), &settings.into())?;
    if let Some(bytes) = setup.max_fragment_bytes {
        // In TLS 1.3, the content type of a record counts too (RFC 8449 section 4).
        let type_byte = isize::from(settings.version == TlsVersion::Tls13);
        let limit = isize::try_from(bytes).unwrap_or(isize::MAX) + type_byte;
        config.option(ffi::SSL_RECORD_SIZE_LIMIT, limit)?;
    }
    Ok(Arc::new(config))
}

/// Makes sessions with one side's configuration.
fn endpoint(config: Arc<Config>, user: User) -> Box<dyn Endpoint> {
    Box::new(move || Piped::session(Session::new(&config, Pipe::default(), user.clone())))
}
