//! The conversion of options to rustls' configurations.

use std::sync::Arc;

use crate::{
    Failure, OptionSets, Options,
    of_rustls::{
        Line, Made, MadeBy, Mock, Observed, Versions, advertised_protocols, cipher,
        early_data_bytes, fragment, selected_protocols, supported, tag,
    },
};
use rustls::{
    CipherSuite, ClientConfig, ClientConnection, ServerConfig, ServerConnection,
    SupportedCipherSuite, SupportedProtocolVersion,
    client::{ClientSessionMemoryCache, EchConfig, EchGreaseConfig, EchMode, Resumption},
    crypto::CryptoProvider,
    pki_types::{CertificateDer, EchConfigListBytes},
    quic,
    server::{ParsedCertificate, ProducesTickets, ServerSessionMemoryCache, StoresServerSessions},
    version::{TLS12, TLS13},
};

use super::{
    certs::{Lasting, Resolver, Verifier},
    provider::{backend, hpke_suites, provider},
    sessions::{ApplicationsTickets, ClientSessions, Clock, ServerSessions},
};

/// The maker of each connection's configuration. Sessions, ticket keys and time persist across connections.
pub(crate) struct Configs {
    client_sessions: Arc<ClientSessionMemoryCache>,
    server_sessions: Arc<dyn StoresServerSessions>,
    /// Whether sessions are stored on every connection, since one of them accepts early data.
    stores: bool,
    ticketer: Arc<dyn ProducesTickets>,
    client_verifier: Arc<Lasting<Verifier>>,
    client_resolver: Arc<Lasting<Resolver>>,
}

impl Line for Configs {
    type Client = ClientConfig;
    type Server = ServerConfig;
    type Tcp = rustls::Connection;
    type Quic = rustls::quic::Connection;

    fn new(sets: &OptionSets) -> Result<Self, Failure> {
        let mut each = sets.each().into_iter();
        Ok(Self {
            stores: each.any(|options| options.on("-enable-early-data")),
            client_sessions: Arc::new(ClientSessionMemoryCache::new(32)),
            server_sessions: ServerSessionMemoryCache::new(32),
            ticketer: backend::Ticketer::new().map_err(tag)?,
            client_verifier: Arc::new(Lasting::default()),
            client_resolver: Arc::new(Lasting::default()),
        })
    }

    fn client(&self, options: &Options, observed: &Arc<Observed>) -> Result<ClientConfig, Failure> {
        let provider = Arc::new(chosen(options)?);
        let builder = ClientConfig::builder_with_details(provider, Arc::new(Clock));
        let builder = match ech(options)? {
            Some(mode) if versions(options)?.contains(&&TLS13) => {
                builder.with_ech(mode).map_err(tag)?
            }
            _ => builder
                .with_protocol_versions(&versions(options)?)
                .map_err(tag)?,
        };
        self.client_resolver
            .set(Resolver::new(options, observed.clone())?);
        self.client_verifier
            .set(Verifier::new(options, observed.clone())?);
        let mut config = builder
            .dangerous()
            .with_custom_certificate_verifier(self.client_verifier.clone())
            .with_client_cert_resolver(self.client_resolver.clone());
        config.resumption = Resumption::store(Arc::new(ClientSessions {
            cache: self.client_sessions.clone(),
            observed: observed.clone(),
        }));
        if options.on("-no-ticket") {
            let sessions = rustls::client::Tls12Resumption::SessionIdOnly;
            config.resumption = config.resumption.tls12_resumption(sessions);
        }
        config.alpn_protocols = advertised_protocols(options)?;
        selected_alpn(&mut config, options)?;
        config.enable_sni = options.on("-host-name");
        config.enable_early_data = options.on("-enable-early-data");
        config.max_fragment_size = fragment(options);
        config.key_log = observed.clone();
        config.cert_compressors = Mock::installed(options).map(|mock| mock as _).collect();
        config.cert_decompressors = Mock::installed(options).map(|mock| mock as _).collect();
        Ok(config)
    }

    fn server(&self, options: &Options, observed: &Arc<Observed>) -> Result<ServerConfig, Failure> {
        let provider = Arc::new(chosen(options)?);
        let verifier = Verifier::new(options, observed.clone())?;
        let mut config = ServerConfig::builder_with_details(provider, Arc::new(Clock))
            .with_protocol_versions(&versions(options)?)
            .map_err(tag)?
            .with_client_cert_verifier(Arc::new(verifier))
            .with_cert_resolver(Arc::new(Resolver::new(options, observed.clone())?));
        config.session_storage = Arc::new(ServerSessions {
            cache: self.server_sessions.clone(),
            observed: observed.clone(),
        });
        if let Some(bytes) = early_data_bytes(options) {
            config.max_early_data_size = bytes;
            config.send_half_rtt_data = true;
        }
        // rustls accepts early data with sessions that it stores, never with tickets.
        if !options.on("-no-ticket") && !self.stores {
            config.ticketer = self.ticketer.clone();
        }
        if options.on("-no-ticket") {
            config.send_tls13_tickets = 0;
        }
        if options.on("-use-ticket-callback") {
            config.ticketer = Arc::new(ApplicationsTickets {
                library: self.ticketer.clone(),
                skips: options.on("-skip-ticket"),
                observed: observed.clone(),
            });
        }
        config.alpn_protocols = selected_protocols(options);
        config.max_fragment_size = fragment(options);
        config.ignore_client_order = options.on("-server-preference");
        config.key_log = observed.clone();
        config.cert_compressors = Mock::installed(options).map(|mock| mock as _).collect();
        config.cert_decompressors = Mock::installed(options).map(|mock| mock as _).collect();
        Ok(config)
    }

    fn over_tcp(made: MadeBy<Self>) -> Result<Self::Tcp, Failure> {
        Ok(match made {
            Made::Client(config, name) => ClientConnection::new(config, name).map_err(tag)?.into(),
            Made::Server(config) => ServerConnection::new(config).map_err(tag)?.into(),
        })
    }

    fn over_quic(
        made: MadeBy<Self>,
        options: &Options,
        params: Vec<u8>,
    ) -> Result<Self::Quic, Failure> {
        let version = match options.number("-quic-use-legacy-codepoint") {
            Some(1) => quic::Version::V1Draft,
            _ => quic::Version::V1,
        };
        Ok(match made {
            Made::Client(config, name) => {
                let client = quic::ClientConnection::new(config, version, name, params);
                client.map_err(tag)?.into()
            }
            Made::Server(config) => {
                let server = quic::ServerConnection::new(config, version, params);
                server.map_err(tag)?.into()
            }
        })
    }

    fn is_certificate(der: &[u8]) -> bool {
        ParsedCertificate::try_from(&CertificateDer::from(der)).is_ok()
    }

    fn sha256(data: &[u8]) -> Result<Vec<u8>, Failure> {
        // rustls has no hashes but those of its suites.
        let mut suites = backend::ALL_CIPHER_SUITES.iter();
        let suite = suites
            .find(|suite| suite.suite() == CipherSuite::TLS13_AES_128_GCM_SHA256)
            .and_then(SupportedCipherSuite::tls13)
            .ok_or_else(|| Failure::failed("no SHA-256"))?;
        Ok(suite.common.hash_provider.hash(data).as_ref().to_vec())
    }
}

fn chosen(options: &Options) -> Result<CryptoProvider, Failure> {
    let mut provider = provider();
    let all = backend::ALL_KX_GROUPS;
    if let Some(groups) = supported(options, "-curves", all, |group| group.name().into())? {
        provider.kx_groups = groups;
    }
    let all = backend::ALL_CIPHER_SUITES;
    if let Some(mut suites) = supported(options, "-tls13-ciphers", all, |one| one.suite().into())? {
        suites.extend(all.iter().filter(|suite| suite.tls13().is_none()));
        provider.cipher_suites = suites;
    }
    if let Some((cipher, part)) = cipher(options)? {
        let suites = &mut provider.cipher_suites;
        suites.retain(|suite| {
            suite.tls13().is_some() || format!("{:?}", suite.suite()).contains(part)
        });
        if suites.iter().all(|suite| suite.tls13().is_some()) {
            return Err(Failure::unsupported(format!("cipher suites of {cipher}")));
        }
    }
    Ok(provider)
}

fn versions(options: &Options) -> Result<Vec<&'static SupportedProtocolVersion>, Failure> {
    let permitted = Versions::new(options)?;
    let versions = [(permitted.tls12, &TLS12), (permitted.tls13, &TLS13)];
    let versions = versions.into_iter().filter(|(permitted, _)| *permitted);
    Ok(versions.map(|(_, version)| version).collect())
}

/// Sets whether a client checks the protocol that the server selects.
#[cfg(not(before_rustls_0_23_46))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "older versions have no such setting"
)]
fn selected_alpn(config: &mut ClientConfig, options: &Options) -> Result<(), Failure> {
    config.check_selected_alpn = !options.on("-allow-unknown-alpn-protos");
    Ok(())
}

#[cfg(before_rustls_0_23_46)]
fn selected_alpn(_: &mut ClientConfig, options: &Options) -> Result<(), Failure> {
    if options.on("-allow-unknown-alpn-protos") {
        return Err(Failure::unsupported(
            "a selected protocol that was not offered",
        ));
    }
    Ok(())
}

fn ech(options: &Options) -> Result<Option<EchMode>, Failure> {
    let list = options.bytes("-ech-config-list");
    if list.is_none() && !options.on("-enable-ech-grease") {
        return Ok(None);
    }
    let suite = *hpke_suites()
        .first()
        .ok_or_else(|| Failure::unsupported("ECH, for which ring has no HPKE"))?;
    if let Some(list) = list {
        let list = EchConfigListBytes::from(list.to_vec());
        // Where no configuration can be used, the application decides whether to connect without. Here that
        // counts as a refusal.
        let config = EchConfig::new(list, hpke_suites()).map_err(tag)?;
        return Ok(Some(config.into()));
    }
    let (key, _) = suite.generate_key_pair().map_err(tag)?;
    Ok(Some(EchGreaseConfig::new(suite, key).into()))
}
