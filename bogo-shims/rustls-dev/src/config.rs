//! The conversion of options to rustls' configurations.

use std::sync::Arc;

use netbench_bogo_shims::{
    Failure, OptionSets, Options,
    of_rustls::{
        Line, Observed, Versions, advertised_protocols, cipher, early_data_bytes, fragment,
        host_name, selected_protocols, supported, tag,
    },
};
use netbench_tls as tls;
use rustls::{
    ClientConfig, ServerConfig,
    client::{ClientSessionMemoryCache, Resumption, Tls12Resumption},
    crypto::{CryptoProvider, TicketProducer},
    enums::ApplicationProtocol,
    server::{
        ParsedCertificate, PreferServerOrder, ServerSessionMemoryCache, StoresServerSessions,
        Tls13Tickets,
    },
};
use rustls_pki_types::{CertificateDer, ServerName};
use rustls_ring::{ALL_KX_GROUPS, DEFAULT_PROVIDER};

use super::{
    certs::{Resolver, Verifier},
    compress::{compressors, decompressors},
    connection::{OverQuic, OverTcp},
    provider::{provider, sha256},
    sessions::{ApplicationsTickets, ClientSessions, Clock, Secrets, ServerSessions},
};

/// The maker of each connection's configuration. Sessions, ticket keys and time persist across connections.
pub(crate) struct Configs {
    client_sessions: Arc<ClientSessionMemoryCache>,
    server_sessions: Arc<dyn StoresServerSessions>,
    /// Whether sessions are stored on every connection, since one of them accepts early data.
    stores: bool,
    ticketer: Arc<dyn TicketProducer>,
    clock: Arc<Clock>,
}

/// The configuration of a connection that is yet to be made.
pub(crate) enum Made {
    Client(Arc<ClientConfig>, ServerName<'static>),
    Server(Arc<ServerConfig>),
}

impl Line for Configs {
    type Made = Made;
    type Tcp = OverTcp;
    type Quic = OverQuic;

    fn new(sets: &OptionSets) -> Result<Self, Failure> {
        let mut each = [&sets.initial, &sets.resume, &sets.retry].into_iter();
        Ok(Self {
            stores: each.any(|options| options.on("-enable-early-data")),
            client_sessions: Arc::new(ClientSessionMemoryCache::new(32)),
            server_sessions: ServerSessionMemoryCache::new(32),
            ticketer: DEFAULT_PROVIDER.ticketer_factory.ticketer().map_err(tag)?,
            clock: Arc::default(),
        })
    }

    fn configure(&self, options: &Options, observed: &Arc<Observed>) -> Result<Made, Failure> {
        if options.on("-server") {
            let config = self.server(options, observed)?;
            return Ok(Made::Server(Arc::new(config)));
        }
        let name = host_name(options)?;
        let config = self.client(options, observed)?;
        Ok(Made::Client(Arc::new(config), name))
    }

    fn over_tcp(made: Made) -> Result<Self::Tcp, Failure> {
        OverTcp::over_tcp(made)
    }

    fn over_quic(made: Made, options: &Options, params: Vec<u8>) -> Result<Self::Quic, Failure> {
        if options.number("-quic-use-legacy-codepoint") == Some(1) {
            return Err(Failure::unsupported("drafts of QUIC"));
        }
        OverQuic::over_quic(made, params)
    }

    fn pass_time(&self, seconds: u64) {
        self.clock.pass(seconds);
    }

    fn is_certificate(der: &[u8]) -> bool {
        ParsedCertificate::try_from(&CertificateDer::from(der)).is_ok()
    }

    fn sha256(data: &[u8]) -> Result<Vec<u8>, Failure> {
        sha256(data)
    }
}

impl Configs {
    fn client(&self, options: &Options, observed: &Arc<Observed>) -> Result<ClientConfig, Failure> {
        if options.bytes("-ech-config-list").is_some() || options.on("-enable-ech-grease") {
            return Err(Failure::unsupported("ECH, for which ring has no HPKE"));
        }
        let provider = Arc::new(chosen(options)?);
        let verifier = Verifier::new(options, observed.clone())?;
        let resolver = Resolver::new(options, observed.clone())?;
        let mut config = ClientConfig::builder_with_details(provider, self.clock.clone())
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_client_credential_resolver(Arc::new(resolver))
            .map_err(tag)?;
        config.resumption = Resumption::store(Arc::new(ClientSessions {
            cache: self.client_sessions.clone(),
            observed: observed.clone(),
        }));
        if options.on("-no-ticket") {
            let sessions = Tls12Resumption::SessionIdOnly;
            config.resumption = config.resumption.tls12_resumption(sessions);
        }
        config.alpn_protocols = protocols(&advertised_protocols(options)?);
        config.check_selected_alpn = !options.on("-allow-unknown-alpn-protos");
        config.enable_sni = options.on("-host-name");
        config.enable_early_data = options.on("-enable-early-data");
        config.max_fragment_size = fragment(options);
        config.key_log = Arc::new(Secrets(observed.clone()));
        config.cert_compressors = compressors(options);
        config.cert_decompressors = decompressors(options);
        Ok(config)
    }

    fn server(&self, options: &Options, observed: &Arc<Observed>) -> Result<ServerConfig, Failure> {
        let provider = Arc::new(chosen(options)?);
        let verifier = Verifier::new(options, observed.clone())?;
        let resolver = Resolver::new(options, observed.clone())?;
        let mut config = ServerConfig::builder_with_details(provider, self.clock.clone())
            .with_client_cert_verifier(Arc::new(verifier))
            .with_server_credential_resolver(Arc::new(resolver))
            .map_err(tag)?;
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
            config.ticketer = Some(self.ticketer.clone());
        }
        if options.on("-no-ticket") {
            config.send_tls13_tickets = Tls13Tickets { default: 0, max: 0 };
        }
        if options.on("-use-ticket-callback") {
            config.ticketer = Some(Arc::new(ApplicationsTickets {
                library: self.ticketer.clone(),
                skips: options.on("-skip-ticket"),
                observed: observed.clone(),
            }));
        }
        config.alpn_protocols = protocols(&selected_protocols(options));
        config.max_fragment_size = fragment(options);
        if options.on("-server-preference") {
            config.cipher_suite_selector = &PreferServerOrder;
            config.kx_selector = &PreferServerOrder;
        }
        config.key_log = Arc::new(Secrets(observed.clone()));
        config.cert_compressors = compressors(options);
        config.cert_decompressors = decompressors(options);
        Ok(config)
    }
}

/// Returns the provider with the groups, suites and versions of the test: rustls supports the versions of its suites.
fn chosen(options: &Options) -> Result<CryptoProvider, Failure> {
    let mut provider = provider();
    let curves = options.codes("-curves");
    if !curves.is_empty() {
        provider.kx_groups = supported(
            curves,
            ALL_KX_GROUPS,
            |group| u16::from(group.name()),
            |code| format!("the group {}", tls::Group(code)),
        )?
        .into();
    }
    let suites = options.codes("-tls13-ciphers");
    if !suites.is_empty() {
        provider.tls13_cipher_suites = supported(
            suites,
            &provider.tls13_cipher_suites,
            |suite| u16::from(suite.common.suite),
            |code| format!("the cipher suite {}", tls::CipherSuite(code)),
        )?
        .into();
    }
    if let Some((cipher, part)) = cipher(options)? {
        let suites = provider.tls12_cipher_suites.to_mut();
        suites.retain(|suite| format!("{:?}", suite.common.suite).contains(part));
        if suites.is_empty() {
            return Err(Failure::unsupported(format!("cipher suites of {cipher}")));
        }
    }
    let versions = Versions::new(options)?;
    if !versions.tls12 {
        provider.tls12_cipher_suites = Default::default();
    }
    if !versions.tls13 {
        provider.tls13_cipher_suites = Default::default();
    }
    Ok(provider)
}

fn protocols(names: &[Vec<u8>]) -> Vec<ApplicationProtocol<'static>> {
    let names = names.iter();
    names
        .map(|name| ApplicationProtocol::from(name.as_slice()).to_owned())
        .collect()
}
