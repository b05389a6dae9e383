//! The conversion of options to rustls' configurations.

use std::sync::Arc;

use netbench_tls as tls;
use rustls::{
    ClientConfig, Error, ServerConfig,
    client::{ClientSessionMemoryCache, Resumption, Tls12Resumption},
    crypto::{CipherSuite, CryptoProvider, TicketProducer},
    enums::{ApplicationProtocol, ProtocolVersion},
    server::{PreferServerOrder, ServerSessionMemoryCache, StoresServerSessions, Tls13Tickets},
};
use rustls_pki_types::ServerName;
use rustls_ring::{ALL_KX_GROUPS, DEFAULT_PROVIDER};

use crate::{Failure, OptionSets, Options};

use super::{
    certs::{Resolver, Verifier, wants_raw},
    compress,
    observed::Observed,
    provider::provider,
    sessions::{ApplicationsTickets, ClientSessions, Clock, ServerSessions},
};

/// The maximum early data that BoringSSL accepts, which the runner's tests require.
const EARLY_DATA_BYTES: u32 = 14336;

/// The maker of each connection's configuration. Sessions, ticket keys and time persist across connections.
pub(crate) struct Configs {
    client_sessions: Arc<ClientSessionMemoryCache>,
    server_sessions: Arc<dyn StoresServerSessions>,
    /// Whether sessions are stored on every connection, since one of them accepts early data.
    stores: bool,
    ticketer: Arc<dyn TicketProducer>,
    clock: Arc<Clock>,
    observed: Arc<Observed>,
}

/// The configuration of a connection that is yet to be made.
pub(crate) enum Made {
    Client(Arc<ClientConfig>, ServerName<'static>),
    Server(Arc<ServerConfig>),
}

impl Configs {
    pub(crate) fn new(sets: &OptionSets) -> Result<Self, Failure> {
        let mut each = [&sets.initial, &sets.resume, &sets.retry].into_iter();
        Ok(Self {
            stores: each.any(|options| options.on("-enable-early-data")),
            client_sessions: Arc::new(ClientSessionMemoryCache::new(32)),
            server_sessions: ServerSessionMemoryCache::new(32),
            ticketer: DEFAULT_PROVIDER.ticketer_factory.ticketer().map_err(tag)?,
            clock: Arc::default(),
            observed: Arc::default(),
        })
    }

    /// Starts a connection, to which later observations belong.
    pub(crate) fn begin(&mut self) -> Arc<Observed> {
        self.observed = Arc::default();
        self.observed.clone()
    }

    /// Returns whether the previous connection left a session for a client to offer.
    pub(crate) fn has_session(&self) -> bool {
        self.observed.get().new_session.is_some()
    }

    pub(crate) fn pass_time(&self, seconds: u64) {
        self.clock.pass(seconds);
    }

    pub(crate) fn connection(&self, options: &Options) -> Result<Made, Failure> {
        if options.on("-server") {
            return Ok(Made::Server(Arc::new(self.server(options)?)));
        }
        // rustls requires a name for its session cache, whether it is sent or not.
        let name = options
            .text("-host-name")
            .unwrap_or_else(|| "test".to_owned());
        let name = ServerName::try_from(name)
            .map_err(|_| Failure::unsupported("a host name that is none"))?;
        Ok(Made::Client(Arc::new(self.client(options)?), name))
    }

    fn client(&self, options: &Options) -> Result<ClientConfig, Failure> {
        if options.bytes("-ech-config-list").is_some() || options.on("-enable-ech-grease") {
            return Err(Failure::unsupported("ECH, for which ring has no HPKE"));
        }
        let provider = Arc::new(chosen(options)?);
        let verifier = Verifier::new(options, self.observed.clone())?;
        let resolver = Resolver::new(options, self.observed.clone())?;
        let mut config = ClientConfig::builder_with_details(provider, self.clock.clone())
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_client_credential_resolver(Arc::new(resolver))
            .map_err(tag)?;
        config.resumption = Resumption::store(Arc::new(ClientSessions {
            cache: self.client_sessions.clone(),
            observed: self.observed.clone(),
        }));
        if options.on("-no-ticket") {
            let sessions = Tls12Resumption::SessionIdOnly;
            config.resumption = config.resumption.tls12_resumption(sessions);
        }
        config.alpn_protocols = protocols(options.bytes("-advertise-alpn").unwrap_or_default())?;
        config.check_selected_alpn = !options.on("-allow-unknown-alpn-protos");
        config.enable_sni = options.on("-host-name");
        config.enable_early_data = options.on("-enable-early-data");
        config.max_fragment_size = fragment(options);
        config.key_log = self.observed.clone();
        let algorithms = compressions(options);
        config.cert_compressors = algorithms.iter().map(|both| both.compressor()).collect();
        config.cert_decompressors = algorithms.iter().map(|both| both.decompressor()).collect();
        Ok(config)
    }

    fn server(&self, options: &Options) -> Result<ServerConfig, Failure> {
        let provider = Arc::new(chosen(options)?);
        let verifier = Verifier::new(options, self.observed.clone())?;
        let resolver = Resolver::new(options, self.observed.clone())?;
        let mut config = ServerConfig::builder_with_details(provider, self.clock.clone())
            .with_client_cert_verifier(Arc::new(verifier))
            .with_server_credential_resolver(Arc::new(resolver))
            .map_err(tag)?;
        config.session_storage = Arc::new(ServerSessions {
            cache: self.server_sessions.clone(),
            observed: self.observed.clone(),
        });
        if options.on("-enable-early-data") {
            config.max_early_data_size = if options.on("-quic") {
                u32::MAX
            } else {
                EARLY_DATA_BYTES
            };
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
                observed: self.observed.clone(),
            }));
        }
        if options.on("-reject-alpn") {
            config.alpn_protocols = vec![protocol(b"\xffnobody offers this")];
        } else if !options.on("-decline-alpn") {
            config.alpn_protocols = options
                .bytes("-select-alpn")
                .map(protocol)
                .into_iter()
                .collect();
        }
        config.max_fragment_size = fragment(options);
        if options.on("-server-preference") {
            config.cipher_suite_selector = &PreferServerOrder;
            config.kx_selector = &PreferServerOrder;
        }
        config.key_log = self.observed.clone();
        let algorithms = compressions(options);
        config.cert_compressors = algorithms.iter().map(|both| both.compressor()).collect();
        config.cert_decompressors = algorithms.iter().map(|both| both.decompressor()).collect();
        Ok(config)
    }
}

/// Converts an error of rustls by its own name; the runner expects these names.
pub(crate) fn tag(error: Error) -> Failure {
    Failure::failed(format!("{error:?}"))
}

/// Returns the provider with the groups, suites and versions of the test: rustls supports the versions of its suites.
fn chosen(options: &Options) -> Result<CryptoProvider, Failure> {
    let mut provider = provider();
    let curves = options.codes("-curves");
    if !curves.is_empty() {
        provider.kx_groups = curves
            .into_iter()
            .map(|code| {
                let mut known = ALL_KX_GROUPS.iter().copied();
                known
                    .find(|group| group.name().0 == code)
                    .ok_or_else(|| Failure::unsupported(format!("the group {}", tls::Group(code))))
            })
            .collect::<Result<_, _>>()?;
    }
    let suites = options.codes("-tls13-ciphers");
    if !suites.is_empty() {
        provider.tls13_cipher_suites = suites
            .into_iter()
            .map(|code| {
                let mut known = provider.tls13_cipher_suites.iter().copied();
                let found = known.find(|suite| suite.common.suite.0 == code);
                found.ok_or_else(|| {
                    Failure::unsupported(format!("the cipher suite {}", tls::CipherSuite(code)))
                })
            })
            .collect::<Result<_, _>>()?;
    }
    if let Some(cipher) = options.text("-cipher") {
        only_with(&mut provider, &cipher)?;
    }
    only_versions(&mut provider, options)?;
    Ok(provider)
}

/// Ciphers in OpenSSL's lists of suites, with the corresponding part of the suites' names.
const CIPHERS: [(&str, &str); 3] = [
    ("3DES", "_3DES_"),
    ("AES128", "_AES_128_"),
    ("CHACHA20", "_CHACHA20_"),
];

/// Restricts the suites of TLS 1.2 to one cipher. rustls has no equivalent of OpenSSL's syntax for longer
/// lists.
fn only_with(provider: &mut CryptoProvider, cipher: &str) -> Result<(), Failure> {
    let (_, part) = CIPHERS
        .iter()
        .find(|(name, _)| *name == cipher)
        .ok_or_else(|| Failure::unsupported("flag -cipher, with a list"))?;
    let suites = provider.tls12_cipher_suites.to_mut();
    suites.retain(|suite| name_of(suite.common.suite).contains(part));
    if suites.is_empty() {
        return Err(Failure::unsupported(format!("cipher suites of {cipher}")));
    }
    Ok(())
}

fn name_of(suite: CipherSuite) -> String {
    format!("{suite:?}")
}

/// Leaves the suites of the versions that the test permits.
fn only_versions(provider: &mut CryptoProvider, options: &Options) -> Result<(), Failure> {
    let least = options.number("-min-version").unwrap_or(0);
    let most = options
        .number("-max-version")
        .filter(|version| *version != 0)
        .unwrap_or(i64::MAX);
    let permits = |version: ProtocolVersion, off: &str| {
        (least..=most).contains(&i64::from(version.0)) && !options.on(off)
    };
    // rustls' QUIC and its raw public keys require TLS 1.3.
    let raw = options.has_raw_key() || wants_raw(options)?;
    let old = permits(ProtocolVersion::TLSv1_2, "-no-tls12") && !(options.on("-quic") || raw);
    let new = permits(ProtocolVersion::TLSv1_3, "-no-tls13");
    if !old {
        provider.tls12_cipher_suites = Default::default();
    }
    if !new {
        provider.tls13_cipher_suites = Default::default();
    }
    if !old && !new {
        return Err(Failure::unsupported("versions other than TLS 1.2 and 1.3"));
    }
    Ok(())
}

fn fragment(options: &Options) -> Option<usize> {
    const RECORD_HEADER: usize = 5;
    let size = options.number("-max-send-fragment")?;
    usize::try_from(size).ok().map(|size| size + RECORD_HEADER)
}

fn compressions(options: &Options) -> Vec<&'static dyn compress::Both> {
    let all = options.on("-install-cert-compression-algs");
    let one = options.number("-install-one-cert-compression-alg");
    let wanted = compress::ALL
        .into_iter()
        .filter(|(code, _)| all || one == Some((*code).into()));
    wanted.map(|(_, both)| both).collect()
}

fn protocol(name: &[u8]) -> ApplicationProtocol<'static> {
    ApplicationProtocol::from(name).to_owned()
}

fn protocols(mut wire: &[u8]) -> Result<Vec<ApplicationProtocol<'static>>, Failure> {
    let mut protocols = Vec::new();
    while let [length, rest @ ..] = wire {
        let length = usize::from(*length);
        if length == 0 || length > rest.len() {
            return Err(Failure::unsupported("a malformed list of protocols"));
        }
        protocols.push(protocol(&rest[..length]));
        wire = &rest[length..];
    }
    Ok(protocols)
}
