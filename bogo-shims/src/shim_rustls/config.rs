//! The conversion of options to rustls' configurations.

use std::sync::Arc;

use crate::{Failure, OptionSets, Options};
use netbench_tls as tls;
use rustls::{
    ClientConfig, Error, ServerConfig, SupportedProtocolVersion,
    client::{ClientSessionMemoryCache, EchConfig, EchGreaseConfig, EchMode, Resumption},
    crypto::CryptoProvider,
    pki_types::{EchConfigListBytes, ServerName},
    server::{ProducesTickets, ServerSessionMemoryCache, StoresServerSessions},
    version::{TLS12, TLS13},
};

use super::{
    certs::{Lasting, Resolver, Verifier, wants_raw},
    compress,
    observed::Observed,
    provider::{backend, hpke_suites, provider},
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
    ticketer: Arc<dyn ProducesTickets>,
    client_verifier: Arc<Lasting<Verifier>>,
    client_resolver: Arc<Lasting<Resolver>>,
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
            ticketer: backend::Ticketer::new().map_err(tag)?,
            client_verifier: Arc::new(Lasting::default()),
            client_resolver: Arc::new(Lasting::default()),
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
        let provider = Arc::new(chosen(options)?);
        let builder = ClientConfig::builder_with_details(provider, self.clock.clone());
        let builder = match ech(options)? {
            Some(mode) if versions(options)?.contains(&&TLS13) => {
                builder.with_ech(mode).map_err(tag)?
            }
            _ => builder
                .with_protocol_versions(&versions(options)?)
                .map_err(tag)?,
        };
        self.client_resolver
            .set(Resolver::new(options, self.observed.clone())?);
        self.client_verifier
            .set(Verifier::new(options, self.observed.clone())?);
        let mut config = builder
            .dangerous()
            .with_custom_certificate_verifier(self.client_verifier.clone())
            .with_client_cert_resolver(self.client_resolver.clone());
        config.resumption = Resumption::store(Arc::new(ClientSessions {
            cache: self.client_sessions.clone(),
            observed: self.observed.clone(),
        }));
        if options.on("-no-ticket") {
            let sessions = rustls::client::Tls12Resumption::SessionIdOnly;
            config.resumption = config.resumption.tls12_resumption(sessions);
        }
        config.alpn_protocols = protocols(options.bytes("-advertise-alpn").unwrap_or_default())?;
        selected_alpn(&mut config, options)?;
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
        let mut config = ServerConfig::builder_with_details(provider, self.clock.clone())
            .with_protocol_versions(&versions(options)?)
            .map_err(tag)?
            .with_client_cert_verifier(Arc::new(verifier))
            .with_cert_resolver(Arc::new(Resolver::new(options, self.observed.clone())?));
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
            config.ticketer = self.ticketer.clone();
        }
        if options.on("-no-ticket") {
            config.send_tls13_tickets = 0;
        }
        if options.on("-use-ticket-callback") {
            config.ticketer = Arc::new(ApplicationsTickets {
                library: self.ticketer.clone(),
                skips: options.on("-skip-ticket"),
                observed: self.observed.clone(),
            });
        }
        if options.on("-reject-alpn") {
            config.alpn_protocols = vec![b"\xffnobody offers this".to_vec()];
        } else if !options.on("-decline-alpn") {
            config.alpn_protocols = options
                .bytes("-select-alpn")
                .map(<[u8]>::to_vec)
                .into_iter()
                .collect();
        }
        config.max_fragment_size = fragment(options);
        config.ignore_client_order = options.on("-server-preference");
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

fn chosen(options: &Options) -> Result<CryptoProvider, Failure> {
    let mut provider = provider();
    let curves = options.codes("-curves");
    if !curves.is_empty() {
        provider.kx_groups = curves
            .into_iter()
            .map(|code| {
                let mut known = backend::ALL_KX_GROUPS.iter().copied();
                known
                    .find(|group| u16::from(group.name()) == code)
                    .ok_or_else(|| Failure::unsupported(format!("the group {}", tls::Group(code))))
            })
            .collect::<Result<_, _>>()?;
    }
    let suites = options.codes("-tls13-ciphers");
    if !suites.is_empty() {
        let known = provider.cipher_suites;
        let mut suites = suites
            .into_iter()
            .map(|code| {
                let found = known.iter().find(|suite| u16::from(suite.suite()) == code);
                found.copied().ok_or_else(|| {
                    Failure::unsupported(format!("the cipher suite {}", tls::CipherSuite(code)))
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        suites.extend(known.iter().filter(|suite| suite.tls13().is_none()));
        provider.cipher_suites = suites;
    }
    if let Some(cipher) = options.text("-cipher") {
        only_with(&mut provider, &cipher)?;
    }
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
    let suites = &mut provider.cipher_suites;
    suites.retain(|suite| suite.tls13().is_some() || format!("{:?}", suite.suite()).contains(part));
    if suites.iter().all(|suite| suite.tls13().is_some()) {
        return Err(Failure::unsupported(format!("cipher suites of {cipher}")));
    }
    Ok(())
}

fn versions(options: &Options) -> Result<Vec<&'static SupportedProtocolVersion>, Failure> {
    let least = options.number("-min-version").unwrap_or(0);
    let most = options
        .number("-max-version")
        .filter(|version| *version != 0)
        .unwrap_or(i64::MAX);
    let candidates = [("-no-tls12", &TLS12), ("-no-tls13", &TLS13)];
    let raw = options.has_raw_key() || wants_raw(options)?;
    let versions: Vec<_> = candidates
        .into_iter()
        .filter(|(off, version)| {
            (least..=most).contains(&i64::from(u16::from(version.version))) && !options.on(off)
        })
        // rustls' QUIC and its raw public keys require TLS 1.3.
        .filter(|(_, version)| **version == TLS13 || !(options.on("-quic") || raw))
        .map(|(_, version)| version)
        .collect();
    if versions.is_empty() {
        return Err(Failure::unsupported("versions other than TLS 1.2 and 1.3"));
    }
    Ok(versions)
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
    let wanted = options.bytes("-ech-config-list").is_some() || options.on("-enable-ech-grease");
    if wanted && hpke_suites().is_empty() {
        return Err(Failure::unsupported("ECH, for which ring has no HPKE"));
    }
    if let Some(list) = options.bytes("-ech-config-list") {
        let list = EchConfigListBytes::from(list.to_vec());
        // Where no configuration can be used, the application decides whether to connect without. Here that
        // counts as a refusal.
        let config = EchConfig::new(list, hpke_suites()).map_err(tag)?;
        return Ok(Some(config.into()));
    }
    if !options.on("-enable-ech-grease") {
        return Ok(None);
    }
    let suite = *hpke_suites()
        .first()
        .ok_or_else(|| Failure::unsupported("ECH"))?;
    let (key, _) = suite.generate_key_pair().map_err(tag)?;
    Ok(Some(EchGreaseConfig::new(suite, key).into()))
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

fn protocols(mut wire: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
    let mut protocols = Vec::new();
    while let [length, rest @ ..] = wire {
        let length = usize::from(*length);
        if length == 0 || length > rest.len() {
            return Err(Failure::unsupported("a malformed list of protocols"));
        }
        protocols.push(rest[..length].to_vec());
        wire = &rest[length..];
    }
    Ok(protocols)
}
