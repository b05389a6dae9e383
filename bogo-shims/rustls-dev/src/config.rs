//! The conversion of options to rustls' configurations.

use std::sync::Arc;

use netbench_bogo_shims::{
    Failure, OptionSets, Options,
    of_rustls::{
        Line, MadeBy, Observed, Versions, advertised_protocols, cipher, early_data_bytes, fragment,
        selected_protocols, supported, tag,
    },
};
use rustls::{
    ClientConfig, ServerConfig,
    client::{ClientSessionMemoryCache, Resumption, Tls12Resumption},
    crypto::{CipherSuite, CryptoProvider, TicketProducer},
    enums::ApplicationProtocol,
    server::{
        ParsedCertificate, PreferServerOrder, ServerSessionMemoryCache, StoresServerSessions,
        Tls13Tickets,
    },
};
use rustls_pki_types::CertificateDer;
use rustls_ring::{ALL_KX_GROUPS, ALL_TLS13_CIPHER_SUITES, DEFAULT_PROVIDER};

use super::{
    certs::{Resolver, Verifier},
    compress::installed,
    connection::{OverQuic, OverTcp},
    provider::provider,
    sessions::{ApplicationsTickets, ClientSessions, Clock, Secrets, ServerSessions},
};

/// The maker of each connection's configuration. Sessions, ticket keys and time persist across connections.
pub(crate) struct Configs {
    client_sessions: Arc<ClientSessionMemoryCache>,
    server_sessions: Arc<dyn StoresServerSessions>,
    /// Whether sessions are stored on every connection, since one of them accepts early data.
    stores: bool,
    ticketer: Arc<dyn TicketProducer>,
}

impl Line for Configs {
    type Client = ClientConfig;
    type Server = ServerConfig;
    type Tcp = OverTcp;
    type Quic = OverQuic;

    fn new(sets: &OptionSets) -> Result<Self, Failure> {
        let mut each = sets.each().into_iter();
        Ok(Self {
            stores: each.any(|options| options.on("-enable-early-data")),
            client_sessions: Arc::new(ClientSessionMemoryCache::new(32)),
            server_sessions: ServerSessionMemoryCache::new(32),
            ticketer: DEFAULT_PROVIDER.ticketer_factory.ticketer().map_err(tag)?,
        })
    }

    fn client(&self, options: &Options, observed: &Arc<Observed>) -> Result<ClientConfig, Failure> {
        if options.bytes("-ech-config-list").is_some() || options.on("-enable-ech-grease") {
            return Err(Failure::unsupported("ECH, for which ring has no HPKE"));
        }
        let provider = Arc::new(chosen(options)?);
        let verifier = Verifier::new(options, observed.clone())?;
        let resolver = Resolver::new(options, observed.clone())?;
        let mut config = ClientConfig::builder_with_details(provider, Arc::new(Clock))
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
        config.cert_compressors = installed(options).map(|one| one as _).collect();
        config.cert_decompressors = installed(options).map(|one| one as _).collect();
        Ok(config)
    }

    fn server(&self, options: &Options, observed: &Arc<Observed>) -> Result<ServerConfig, Failure> {
        let provider = Arc::new(chosen(options)?);
        let verifier = Verifier::new(options, observed.clone())?;
        let resolver = Resolver::new(options, observed.clone())?;
        let mut config = ServerConfig::builder_with_details(provider, Arc::new(Clock))
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
        config.cert_compressors = installed(options).map(|one| one as _).collect();
        config.cert_decompressors = installed(options).map(|one| one as _).collect();
        Ok(config)
    }

    fn over_tcp(made: MadeBy<Self>) -> Result<Self::Tcp, Failure> {
        OverTcp::over_tcp(made)
    }

    fn over_quic(
        made: MadeBy<Self>,
        options: &Options,
        params: Vec<u8>,
    ) -> Result<Self::Quic, Failure> {
        if options.number("-quic-use-legacy-codepoint") == Some(1) {
            return Err(Failure::unsupported("drafts of QUIC"));
        }
        OverQuic::over_quic(made, params)
    }

    fn is_certificate(der: &[u8]) -> bool {
        ParsedCertificate::try_from(&CertificateDer::from(der)).is_ok()
    }

    fn sha256(data: &[u8]) -> Result<Vec<u8>, Failure> {
        // rustls has no hashes but those of its suites.
        let mut suites = ALL_TLS13_CIPHER_SUITES.iter();
        let suite = suites
            .find(|suite| suite.common.suite == CipherSuite::TLS13_AES_128_GCM_SHA256)
            .ok_or_else(|| Failure::failed("no SHA-256"))?;
        Ok(suite.common.hash_provider.hash(data).as_ref().to_vec())
    }
}

/// Returns the provider with the groups, suites and versions of the test: rustls supports the versions of its suites.
fn chosen(options: &Options) -> Result<CryptoProvider, Failure> {
    let mut provider = provider();
    let all = ALL_KX_GROUPS;
    if let Some(groups) = supported(options, "-curves", all, |group| group.name().into())? {
        provider.kx_groups = groups.into();
    }
    let all = ALL_TLS13_CIPHER_SUITES;
    let suites = supported(options, "-tls13-ciphers", all, |suite| {
        suite.common.suite.into()
    })?;
    if let Some(suites) = suites {
        provider.tls13_cipher_suites = suites.into();
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
