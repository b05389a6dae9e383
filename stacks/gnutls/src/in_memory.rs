//! Sessions over plain buffers, and operations without a session.

use std::{any::Any, ffi::CString, sync::Arc};

use netbench_protocol::Material;
use netbench_tls::{Aead, ClientAuth, FailureWord, Group, HandshakeKind, KeyType, TlsVersion};
use netbench_worker::{
    AeadRecords, Endpoint, EndpointSetup, InMemory, KeyExchange, Pipe, Piped, RecordProtection,
    SetupError, Signatures, SigningPair, TICKETS, TrustRoots, Verifier, failed, refused,
};

use crate::{
    chain::TrustList,
    config::{Config, Credentials, Resumption, ticket_key},
    ffi,
    records::Key,
    session::{Session, User},
    settings::Priority,
    signing::Keys,
    stack::GnuTls,
};

impl InMemory for GnuTls {
    fn client(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        supported(setup)?;
        let material = setup.material;
        let mut credentials = Credentials::new()?;
        credentials.verify_peers(&material.roots_pem)?;
        if setup.settings.client_auth == ClientAuth::On {
            let (chain, key) = (&material.client_chain_pem, &material.client_key_pem);
            credentials.identity(chain, key, None)?;
        }
        let flags = match setup.kind {
            HandshakeKind::Full | HandshakeKind::SessionId => ffi::NO_TICKETS,
            HandshakeKind::Ticket => 0,
        };
        let priority = Priority::exact(&setup.settings.into())?;
        let config = Config::client(ffi::KEY_SHARE_TOP | flags, credentials, priority);
        let user = User {
            host: Some(name(&material.host)?),
            tickets: (setup.kind != HandshakeKind::Full).then(Arc::default),
            ..User::default()
        };
        Ok(endpoint(setup, config, user))
    }

    fn server(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        supported(setup)?;
        let material = setup.material;
        let mut credentials = Credentials::new()?;
        credentials.identity(&material.chain_pem, &material.key_pem, None)?;
        if setup.settings.client_auth == ClientAuth::On {
            credentials.verify_peers(&material.roots_pem)?;
        }
        let resumption = match setup.kind {
            HandshakeKind::Full => Resumption::None,
            HandshakeKind::SessionId => Resumption::Kept(Arc::default()),
            HandshakeKind::Ticket => Resumption::Tickets {
                key: ticket_key()?,
                count: u8::try_from(TICKETS).unwrap_or(u8::MAX),
            },
        };
        let priority = Priority::exact(&setup.settings.into())?;
        let config = Config::server(resumption, credentials, priority);
        Ok(endpoint(setup, config, User::default()))
    }

    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError> {
        let (trust, host) = (TrustList::of_pem(roots_pem)?, name(host)?);
        Ok(Box::new(move |chain: &[Vec<u8>]| {
            let verified = trust.verify(chain, &host);
            verified.map_err(failed(FailureWord::Verify))
        }))
    }

    fn configuration(&self, roots: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        let credentials = Credentials::new()?;
        match roots {
            TrustRoots::Pem(text) => credentials.trust(text.as_bytes(), ffi::X509_FMT_PEM)?,
            TrustRoots::Der(all) => {
                let mut all = all.iter();
                all.try_for_each(|der| credentials.trust(der, ffi::X509_FMT_DER))?;
            }
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

/// Makes sessions with one side's configuration.
fn endpoint(setup: &EndpointSetup<'_>, config: Config, user: User) -> Box<dyn Endpoint> {
    let config = Arc::new(Config {
        max_record_bytes: setup.max_fragment_bytes,
        ..config
    });
    Box::new(move || Piped::session(Session::new(&config, Pipe::default(), user.clone())))
}
