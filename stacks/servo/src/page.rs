//! Pages as an embedder of Servo's network stack loads them: by servo-net's own `fetch`, with its HTTP state,
//! its cache and its list of certificates for which the user has decided to proceed.

use std::{
    fs::File,
    io::Write as _,
    net::{IpAddr, SocketAddr},
    os::fd::AsRawFd,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use content_security_policy::{Destination, Violation};
use embedder_traits::{EventLoopWaker, GenericEmbedderProxy};
use net::{
    async_runtime::{init_async_runtime, spawn_blocking_task},
    connector::{
        CACertificates, CertificateErrorOverrideManager, create_http_client, create_tls_config,
    },
    cookie_storage::CookieStorage,
    embedder::NetToEmbedderMsg,
    fetch::methods::{FetchContext, fetch},
    filemanager_thread::FileManager,
    hsts::HstsList,
    http_cache::{HttpCache, HttpCacheAssignment},
    http_loader::HttpState,
    protocols::ProtocolRegistry,
    request_interceptor::RequestInterceptor,
    resource_thread::AuthCache,
};
use net_traits::{
    AsyncRuntime, FetchTaskTarget, NetworkError, ResourceFetchTiming,
    blob_url_store::{BlobTokenCommunicator, UrlWithBlobClaim},
    filemanager_thread::FileTokenCheck,
    request::{CredentialsMode, RedirectMode, Referrer, Request, RequestBuilder, RequestMode},
    response::{CacheState, Response, ResponseBody},
};
use netbench_protocol::{Load, Loaded};
use netbench_stack_rustls::process;
use netbench_tls::{CipherSuite, ClientSettings, Group, TlsVersion};
use netbench_worker::{PageLoader, SetupError};
use parking_lot::RwLock;
use rustix::fs::{MemfdFlags, memfd_create};
use rustls_pki_types::CertificateDer;
use servo_config::{
    opts::{self, Opts},
    prefs,
};
// This crate registers Servo's own lists, such as that of hosts that only use HTTPS.
use servo_default_resources as _;
use servo_url::{Host, ServoUrl};

use crate::{
    client::{Trust, usable, use_webpki_roots},
    provider::AwsLc,
};

/// Servo's maximum number of cookies per domain.
const COOKIES: usize = 150;

/// Servo's variable with a file of hosts, which it would read in place of this worker's.
const HOST_FILE: &str = "HOST_FILE";

/// Whether this process has loaded pages. Servo's runtime and its table of hosts can be made only once in a
/// process.
static LOADS: AtomicBool = AtomicBool::new(false);

/// Returns whether another loader requires another process.
pub(crate) fn has_loader() -> bool {
    LOADS.load(Ordering::Relaxed)
}

/// Servo's network stack, with its state from page to page.
pub(crate) struct Pages {
    state: Arc<HttpState>,
    filemanager: FileManager,
    interceptor: RequestInterceptor,
    protocols: Arc<ProtocolRegistry>,
    roots: CACertificates<'static>,
    /// Servo's table of hosts, which it reads at its first connection to a name.
    hosts: File,
    /// The name and address in the table.
    led: Option<(String, IpAddr)>,
    /// The runtime, with which Servo's tasks end.
    _runtime: Box<dyn AsyncRuntime>,
}

impl Pages {
    /// Makes the state as Servo's `create_http_states` does, without data of an earlier session.
    pub(crate) fn new(
        trust: Trust,
        settings: &ClientSettings,
        roots_pem: &str,
    ) -> Result<Self, SetupError> {
        if std::env::var_os(HOST_FILE).is_some() {
            return Err(SetupError::Unsupported(format!(
                "{HOST_FILE} is set, and Servo looks for hosts there"
            )));
        }
        process::install(&AwsLc, settings)?;
        use_webpki_roots(trust == Trust::WebpkiRoots);
        use_no_proxy();
        let roots = CACertificates::Override(usable(roots_pem)?);
        if LOADS.swap(true, Ordering::Relaxed) {
            return Err(SetupError::Refused(
                "this process has Servo's runtime already".to_owned(),
            ));
        }
        let hosts = led_by_file().map_err(|why| SetupError::refused("table of hosts", why))?;
        let runtime = init_async_runtime();
        let embedder = embedder();
        let override_manager = CertificateErrorOverrideManager::new();
        let tls = create_tls_config(roots.clone(), false, override_manager.clone());
        let state = HttpState {
            hsts_list: RwLock::new(HstsList::default()),
            cookie_jar: RwLock::new(CookieStorage::new(COOKIES)),
            http_cache: HttpCache::new(HttpCacheAssignment::Public),
            auth_cache: RwLock::new(AuthCache::default()),
            history_states: RwLock::default(),
            client: create_http_client(tls),
            override_manager,
            embedder_proxy: embedder.clone(),
        };
        Ok(Self {
            state: Arc::new(state),
            // No page here has a blob URL.
            filemanager: FileManager::new(
                embedder.clone(),
                BlobTokenCommunicator::stub_for_testing(),
            ),
            interceptor: RequestInterceptor::new(embedder),
            protocols: Arc::new(ProtocolRegistry::with_internal_protocols()),
            roots,
            hosts,
            led: None,
            _runtime: runtime,
        })
    }

    /// Makes Servo connect to `address` for `url`, by its own table of hosts.
    fn lead(&mut self, url: &ServoUrl, address: SocketAddr) -> Result<(), SetupError> {
        if url.port_or_known_default() != Some(address.port()) {
            return Err(SetupError::unsupported(
                "Servo connects to the port that is in the URL",
            ));
        }
        let name = match url.host() {
            Some(Host::Domain(name)) => name.to_owned(),
            Some(Host::Ipv4(ip)) if ip == address.ip() => return Ok(()),
            Some(Host::Ipv6(ip)) if ip == address.ip() => return Ok(()),
            _ => {
                return Err(SetupError::unsupported(
                    "Servo connects to the address that is in the URL",
                ));
            }
        };
        let wanted = (name, address.ip());
        match &self.led {
            Some(led) if *led == wanted => Ok(()),
            Some(_) => Err(SetupError::Refused(
                "Servo's table of hosts is made once in a process".to_owned(),
            )),
            None => {
                writeln!(self.hosts, "{} {}", wanted.1, wanted.0)
                    .map_err(|why| SetupError::refused("table of hosts", why))?;
                self.led = Some(wanted);
                Ok(())
            }
        }
    }

    fn context(&self, request: &Request) -> FetchContext {
        FetchContext {
            state: Arc::clone(&self.state),
            user_agent: "netbench".to_owned(),
            devtools_chan: None,
            filemanager: self.filemanager.clone(),
            file_token: FileTokenCheck::NotRequired,
            request_interceptor: Arc::new(tokio::sync::Mutex::new(self.interceptor.clone())),
            cancellation_listener: Arc::default(),
            timing: ResourceFetchTiming::new(request.timing_type()).into(),
            protocols: Arc::clone(&self.protocols),
            websocket_chan: None,
            ca_certificates: self.roots.clone(),
            ignore_certificate_errors: false,
            preloaded_resources: Arc::default(),
            in_flight_keep_alive_records: Arc::default(),
        }
    }
}

impl PageLoader for Pages {
    fn load(&mut self, page: &Load) -> Result<Loaded, SetupError> {
        let url = url(&page.host, page.port)?;
        self.lead(&url, page.address)?;
        if let Some(text) = &page.proceed_base64 {
            let certificate = BASE64_STANDARD
                .decode(text)
                .map_err(|error| SetupError::refused("certificate to proceed with", error))?;
            // The button of Servo's error page does the same (`handle_allowcert_request`).
            let overrides = &self.state.override_manager;
            overrides.add_override(&CertificateDer::from(certificate));
        }
        let request = navigation(url);
        let context = self.context(&request);
        let limit = Duration::from_millis(page.timeout_ms);
        let ended = spawn_blocking_task(async move {
            let mut whole = Whole(None);
            let fetched = fetch(request, &mut whole, &context);
            let in_time = tokio::time::timeout(limit, fetched).await.is_ok();
            in_time.then_some(whole.0)
        });
        match ended {
            None => Ok(Loaded::TimedOut),
            Some(Some(response)) => told(&response),
            Some(None) => Err(SetupError::Refused(
                "Servo's fetch ended without a response".to_owned(),
            )),
        }
    }
}

fn url(host: &str, port: u16) -> Result<ServoUrl, SetupError> {
    let host = match host.parse::<IpAddr>() {
        Ok(IpAddr::V6(ip)) => format!("[{ip}]"),
        _ => host.to_owned(),
    };
    ServoUrl::parse(&format!("https://{host}:{port}/"))
        .map_err(|error| SetupError::Unsupported(format!("no URL with this host: {error}")))
}

/// Returns the request that Servo makes when the user opens a page.
fn navigation(url: ServoUrl) -> Request {
    let origin = url.origin();
    let url = UrlWithBlobClaim::from_url_without_having_claimed_blob(url);
    RequestBuilder::new(None, url, Referrer::NoReferrer)
        .destination(Destination::Document)
        .mode(RequestMode::Navigate)
        .credentials_mode(CredentialsMode::Include)
        .use_url_credentials(true)
        .redirect_mode(RedirectMode::Manual)
        .origin(origin)
        .policy_container(Default::default())
        .build()
}

fn told(response: &Response) -> Result<Loaded, SetupError> {
    if let Some(error) = response.get_network_error() {
        let certificate = match error {
            NetworkError::SslValidation(_, der) => Some(BASE64_STANDARD.encode(der)),
            _ => None,
        };
        return Ok(Loaded::Refused {
            error: variant(error)?,
            detail: format!("{error:?}"),
            certificate_base64: certificate,
        });
    }
    let response = response.actual_response();
    let body_bytes = match &*response.body.lock() {
        ResponseBody::Empty => 0,
        ResponseBody::Receiving(bytes) | ResponseBody::Done(bytes) => bytes.len(),
    };
    let security = response.tls_security_info.as_ref();
    Ok(Loaded::Page {
        http_status: response.status.raw_code(),
        body_bytes: body_bytes as u64,
        from_cache: matches!(response.cache_state, CacheState::Local),
        version: security
            .and_then(|of| of.protocol_version.as_ref())
            .and_then(|version| TlsVersion::of(version.0.into())),
        suite: security
            .and_then(|of| of.cipher_suite.as_ref())
            .map(|suite| CipherSuite(suite.0.into())),
        group: security
            .and_then(|of| of.kea_group_name.as_ref())
            .map(|group| Group(group.0.into())),
        alpn: security.and_then(|of| of.alpn_protocol.clone()),
        certificate_base64: security
            .and_then(|of| of.certificate_chain_der.first())
            .map(|der| BASE64_STANDARD.encode(der)),
    })
}

/// Returns the error's name in Servo's source, with which it is serialized.
fn variant(error: &NetworkError) -> Result<String, SetupError> {
    let value = serde_json::to_value(error).map_err(|why| SetupError::refused("error", why))?;
    let name = match &value {
        serde_json::Value::String(name) => Some(name),
        serde_json::Value::Object(fields) => fields.keys().next(),
        _ => None,
    };
    name.cloned()
        .ok_or_else(|| SetupError::Refused(format!("an error without a name: {value}")))
}

/// The response, once it is complete.
struct Whole(Option<Response>);

impl FetchTaskTarget for Whole {
    fn process_request_body(&mut self, _: &Request) {}

    fn process_response(&mut self, _: &Request, _: &Response) {}

    fn process_response_chunk(&mut self, _: &Request, _: Bytes) {}

    fn process_response_eof(&mut self, _: &Request, response: &Response) {
        self.0 = Some(response.clone());
    }

    fn process_csp_violations(&mut self, _: &Request, _: Vec<Violation>) {}

    fn process_response_length_hint(&mut self, _: &Request, _: usize) {}
}

/// Returns an embedder that intercepts no request and answers no question: Servo's messages have no receiver.
fn embedder() -> GenericEmbedderProxy<NetToEmbedderMsg> {
    let (sender, _) = crossbeam_channel::unbounded();
    GenericEmbedderProxy {
        sender,
        event_loop_waker: Box::new(Asleep),
    }
}

/// A waker without an event loop.
struct Asleep;

impl EventLoopWaker for Asleep {
    fn clone_box(&self) -> Box<dyn EventLoopWaker> {
        Box::new(Self)
    }

    fn wake(&self) {}
}

/// Clears the proxies that Servo takes from the environment, as the lab has none.
fn use_no_proxy() {
    let mut changed = prefs::get().clone();
    changed.network_http_proxy_uri.clear();
    changed.network_https_proxy_uri.clear();
    prefs::set(changed);
}

/// Returns an unnamed file in which Servo looks for hosts as in `/etc/hosts`. Servo's options can be set only
/// once in a process.
fn led_by_file() -> std::io::Result<File> {
    let file = File::from(memfd_create("netbench-hosts", MemfdFlags::CLOEXEC)?);
    opts::initialize_options(Opts {
        host_file: Some(format!("/proc/self/fd/{}", file.as_raw_fd()).into()),
        ..Opts::default()
    });
    Ok(file)
}
