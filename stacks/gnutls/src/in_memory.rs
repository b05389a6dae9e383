//! Sessions over plain buffers, and operations without a session.

use std::{any::Any, ffi::CString, sync::Arc};

use netbench_protocol::Material;
use netbench_tls::{Aead, ClientAuth, FailureWord, Group, HandshakeKind, KeyType, TlsVersion};
use netbench_worker::{
    AeadRecords, Endpoint, EndpointSetup, EndpointSide, InMemory, KeyExchange, Pipe, Piped,
    RecordProtection, Session as MeasuredSession, SessionError, SetupError, Signatures,
    SigningPair, TICKETS, TrustRoots, Verifier, failed, refused,
};

use crate::{
    chain::TrustList,
    config::{ClientCertificates, Config, Credentials, Resumption, TicketKey},
    ffi,
    records::Key,
    session::{Session, User},
    settings::Priority,
    signing::Keys,
    stack::GnuTls,
    tickets::{ServerSessions, Tickets},
};

impl InMemory for GnuTls {
    fn endpoint(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        supported(setup)?;
        match setup.side {
            EndpointSide::Client => client(setup),
            EndpointSide::Server => server(setup),
        }
    }

    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError> {
        Ok(Box::new(ChainsOfHost {
            trust: TrustList::of_pem(roots_pem)?,
            host: name(host)?,
        }))
    }

    fn configuration(&self, roots: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        let credentials = Credentials::new()?;
        match roots {
            TrustRoots::Pem(text) => credentials.trust_pem(text)?,
            TrustRoots::Der(all) => all.iter().try_for_each(|der| credentials.trust_der(der))?,
            TrustRoots::File(path) => credentials.trust_file(&name(path)?)?,
        }
        Ok(Box::new((
            credentials,
            Priority::of_library(TlsVersion::OFFERED)?,
        )))
    }

    fn signatures(
        &self,
        key: KeyType,
        material: &Material,
    ) -> Result<Box<dyn Signatures>, SetupError> {
        Ok(Box::new(SigningPair::new(Keys::new(key, material)?)))
    }

    fn key_exchange(&self, _: Group) -> Result<Box<dyn KeyExchange>, SetupError> {
        Err(SetupError::unsupported(
            "GnuTLS' interface has no key exchange",
        ))
    }

    fn record_protection(&self, aead: Aead) -> Result<Box<dyn RecordProtection>, SetupError> {
        Ok(Box::new(AeadRecords::new(Key::new(aead)?, Key::new(aead)?)))
    }
}

fn supported(setup: &EndpointSetup<'_>) -> Result<(), SetupError> {
    let settings = setup.settings;
    let is_tls13 = settings.version == TlsVersion::Tls13;
    let why = if setup.kind == HandshakeKind::SessionId && is_tls13 {
        "in TLS 1.3, GnuTLS' server keeps no sessions, it only gives tickets"
    } else if settings.client_auth == ClientAuth::On
        && settings.key == KeyType::Ed25519
        && !is_tls13
    {
        "GnuTLS has no client certificates with Ed25519 before TLS 1.3"
    } else {
        return Ok(());
    };
    Err(SetupError::unsupported(why))
}

fn name(text: &str) -> Result<CString, SetupError> {
    CString::new(text).map_err(refused("name"))
}

fn client(setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
    let material = setup.material;
    let credentials = Credentials::new()?;
    credentials.trust_pem(&material.roots_pem)?;
    credentials.verify_peers();
    if setup.settings.client_auth == ClientAuth::On {
        let (chain, key) = (&material.client_chain_pem, &material.client_key_pem);
        credentials.identity(chain, key, None)?;
    }
    let flags = ffi::CLIENT | ffi::KEY_SHARE_TOP;
    let (flags, tickets) = match setup.kind {
        HandshakeKind::Full => (flags | ffi::NO_TICKETS, None),
        HandshakeKind::SessionId => (flags | ffi::NO_TICKETS, Some(Arc::default())),
        HandshakeKind::Ticket => (flags, Some(Arc::default())),
    };
    Ok(Box::new(Side {
        config: config(setup, flags, credentials, Resumption::None)?,
        host: Some(name(&material.host)?),
        tickets,
    }))
}

fn server(setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
    let material = setup.material;
    let credentials = Credentials::new()?;
    credentials.identity(&material.chain_pem, &material.key_pem, None)?;
    if setup.settings.client_auth == ClientAuth::On {
        credentials.trust_pem(&material.roots_pem)?;
        credentials.verify_peers();
    }
    let flags = ffi::SERVER | ffi::NO_AUTO_SEND_TICKET;
    let (flags, resumption) = match setup.kind {
        HandshakeKind::Full => (flags | ffi::NO_TICKETS, Resumption::None),
        HandshakeKind::SessionId => {
            let kept: Arc<ServerSessions> = Arc::default();
            (flags | ffi::NO_TICKETS, Resumption::Kept(kept))
        }
        HandshakeKind::Ticket => {
            let key = TicketKey::new()?;
            let count = u8::try_from(TICKETS).unwrap_or(u8::MAX);
            (flags, Resumption::Tickets { key, count })
        }
    };
    Ok(Box::new(Side {
        config: config(setup, flags, credentials, resumption)?,
        host: None,
        tickets: None,
    }))
}

/// Makes the common configuration of both sides: the version, suite, group and schemes of the settings.
fn config(
    setup: &EndpointSetup<'_>,
    flags: u32,
    credentials: Credentials,
    resumption: Resumption,
) -> Result<Arc<Config>, SetupError> {
    let settings = setup.settings;

    let asks = setup.side == EndpointSide::Server && settings.client_auth == ClientAuth::On;
    Ok(Arc::new(Config {
        flags,
        credentials,
        priority: Priority::exact(&settings.into())?,
        versions: vec![settings.version],
        alpn: Vec::new(),
        max_record_bytes: setup.max_fragment_bytes,
        resumption,
        client_certificates: if asks {
            ClientCertificates::Required
        } else {
            ClientCertificates::NotAsked
        },
    }))
}

/// One side's configuration, with the sessions that a client keeps.
struct Side {
    config: Arc<Config>,
    host: Option<CString>,
    tickets: Option<Arc<Tickets>>,
}

impl Endpoint for Side {
    fn session(&self) -> Result<Box<dyn MeasuredSession>, SessionError> {
        let user = User {
            host: self.host.clone(),
            probe: None,
            tickets: self.tickets.clone(),
        };
        let made = Session::new(&self.config, Pipe::default(), user);
        let session = made.map_err(failed(FailureWord::Session))?;
        Ok(Box::new(Piped::new(session)))
    }
}

/// A verifier of one server's chains.
struct ChainsOfHost {
    trust: TrustList,
    host: CString,
}

impl Verifier for ChainsOfHost {
    fn verify(&self, chain: &[Vec<u8>]) -> Result<(), SessionError> {
        let verified = self.trust.verify(chain, &self.host);
        verified.map_err(|(_, words)| SessionError::new(FailureWord::Verify, words))
    }
}
