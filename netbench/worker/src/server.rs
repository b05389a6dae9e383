use std::{
    collections::{BTreeMap, HashMap},
    convert::Infallible,
    io,
    net::{IpAddr, SocketAddr},
    os::fd::AsRawFd,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, header};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use netbench_protocol::{PAGE_LINE, SERVER_VIEW_HEADER, ServeSite, Serving, SharedListener};
use netbench_tls::{Fault, Negotiated, PageRequest, ServerCount, ServerView};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpSocket, TcpStream},
    runtime::Runtime,
};

use crate::{
    BoxFuture, SetupError, body::SiteBody, client_hello::offers_ech, compute::Computed, fault,
    page, variant::Varied,
};

/// Maximum number of connections that wait to be accepted. With a smaller backlog, the last connections of a burst are
/// delayed by a second each.
const BACKLOG: u32 = 4096;

/// Time limit of a connection.
const CONNECTION_LIMIT: Duration = Duration::from_secs(120);

/// Time limit of a handshake.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(60);

/// A stack's server configuration for one site.
pub trait Accept: Send + Sync {
    /// Performs the server's handshake on a connection.
    fn accept(&self, stream: TcpStream) -> BoxFuture<'static, Result<Accepted, AcceptError>>;
}

/// The error of a failed server handshake.
pub type AcceptError = Box<dyn std::error::Error + Send + Sync>;

/// A connection whose handshake is done.
pub struct Accepted {
    /// The connection, inside TLS.
    pub stream: Box<dyn ServerStream>,
    /// The negotiated parameters as the server reports them.
    pub negotiated: Negotiated,
    /// The receipt of the early data, if the server accepted it: the handshake is then not done yet.
    pub early: Option<EarlyReceipt>,
}

impl Accepted {
    /// Creates a connection without early data.
    pub fn new(stream: impl ServerStream + 'static, negotiated: Negotiated) -> Self {
        Self {
            stream: Box::new(stream),
            negotiated,
            early: None,
        }
    }
}

/// Whether everything that a server's stream has handed out so far came as early data. The stream and the server share
/// one receipt.
#[derive(Debug, Clone, Default)]
pub struct EarlyReceipt(Arc<AtomicBool>);

impl EarlyReceipt {
    /// Marks that the stream hands out data that came after the handshake.
    pub fn ends(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether nothing came after the handshake yet.
    pub fn is_whole(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

/// A byte stream inside TLS.
pub trait ServerStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ServerStream for T {}

/// The sites of all `serve` requests, until the process ends.
pub(crate) struct Server {
    sites: Vec<Arc<Site>>,
    /// The runtime of the connections, which lives as long as the server.
    runtime: Runtime,
}

struct Site {
    settings: ServeSite,
    /// `None` if the site's fault occurs before TLS.
    acceptor: Option<Arc<dyn Accept>>,
    body: Bytes,
    counters: Counters,
}

#[derive(Default)]
struct Counters {
    accepted: AtomicU64,
    handshakes: AtomicU64,
    resumed: AtomicU64,
    responses: AtomicU64,
}

impl Server {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            sites: Vec::new(),
            runtime: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()?,
        })
    }

    /// Listens for every site that can be set up, and reports the others with the reasons.
    pub(crate) fn serve(
        &mut self,
        stack: &Varied,
        sites: Vec<ServeSite>,
        shared: Option<&SharedListener>,
    ) -> Serving {
        let mut serving = Serving {
            listening: BTreeMap::new(),
            failed: BTreeMap::new(),
            unsupported: BTreeMap::new(),
        };
        let longest = sites.iter().map(|site| site.body_bytes).max();
        let content = content(longest.unwrap_or(0));
        let mut ready = Vec::new();
        for settings in sites {
            let name = settings.site.clone();
            match Site::new(stack, settings, &content) {
                Ok(site) => ready.push(Arc::new(site)),
                Err(SetupError::Unsupported(why)) => {
                    serving.unsupported.insert(name, why);
                }
                Err(SetupError::Refused(why)) => {
                    serving.failed.insert(name, why);
                }
            }
        }
        let runtime = self.runtime.handle().clone();
        let _inside = runtime.enter();
        match shared.and_then(|shared| self.listen_once(shared, &ready).ok()) {
            Some(port) => {
                for site in &ready {
                    let address = SocketAddr::new(site.settings.listen.ip(), port);
                    serving
                        .listening
                        .insert(site.settings.site.clone(), address);
                }
                self.sites.extend(ready);
            }
            None => {
                for site in ready {
                    self.listen_alone(site, &mut serving);
                }
            }
        }
        serving
    }

    /// Opens one listener for all `sites`, and returns its port.
    fn listen_once(&self, shared: &SharedListener, sites: &[Arc<Site>]) -> io::Result<u16> {
        let by_address: HashMap<IpAddr, Arc<Site>> = sites
            .iter()
            .map(|site| (site.settings.listen.ip(), Arc::clone(site)))
            .collect();
        if by_address.len() < sites.len() {
            let why = "two sites have one address";
            return Err(io::Error::new(io::ErrorKind::AddrInUse, why));
        }
        let (listener, address) = listen(shared.listen, shared.interface.as_deref())?;
        self.runtime
            .spawn(accept_all(listener, move |address: SocketAddr| {
                by_address.get(&address.ip()).cloned()
            }));
        Ok(address.port())
    }

    fn listen_alone(&mut self, site: Arc<Site>, serving: &mut Serving) {
        let name = site.settings.site.clone();
        match listen(site.settings.listen, None) {
            Ok((listener, address)) => {
                let only = Arc::clone(&site);
                self.runtime
                    .spawn(accept_all(listener, move |_| Some(Arc::clone(&only))));
                serving.listening.insert(name, address);
                self.sites.push(site);
            }
            Err(error) => {
                serving.failed.insert(name, error.to_string());
            }
        }
    }

    pub(crate) fn counts(&self) -> Vec<ServerCount> {
        self.sites
            .iter()
            .map(|site| ServerCount {
                site: site.settings.site.clone(),
                accepted: site.counters.accepted.load(Ordering::Relaxed),
                handshakes: site.counters.handshakes.load(Ordering::Relaxed),
                resumed: site.counters.resumed.load(Ordering::Relaxed),
                responses: site.counters.responses.load(Ordering::Relaxed),
            })
            .collect()
    }
}

impl Site {
    fn new(stack: &Varied, mut settings: ServeSite, content: &Bytes) -> Result<Self, SetupError> {
        let acceptor = match settings.fault {
            Some(fault) if fault::is_before_tls(fault) => None,
            _ => Some(stack.proven()?.acceptor(&settings)?),
        };
        // The stack has copies of these texts, which use 70 MB for ten thousand sites.
        settings.chain_pem = String::new();
        settings.key_pem = String::new();
        settings.ocsp_base64 = None;
        let bytes = usize::try_from(settings.body_bytes).unwrap_or(usize::MAX);
        let body = content.slice(..bytes.min(content.len()));
        Ok(Self {
            settings,
            acceptor,
            body,
            counters: Counters::default(),
        })
    }
}

fn content(bytes: u64) -> Bytes {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    PAGE_LINE.iter().copied().cycle().take(bytes).collect()
}

fn listen(address: SocketAddr, interface: Option<&str>) -> io::Result<(TcpListener, SocketAddr)> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    socket.set_reuseaddr(true)?;
    if let Some(interface) = interface {
        socket.bind_device(Some(interface.as_bytes()))?;
    }
    socket.bind(address)?;
    let listener = socket.listen(BACKLOG)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Accepts connections, each for the site that `find` returns for its local address.
async fn accept_all(
    listener: TcpListener,
    find: impl Fn(SocketAddr) -> Option<Arc<Site>> + Send + 'static,
) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let Some(site) = stream.local_addr().ok().and_then(&find) else {
                    continue;
                };
                site.counters.accepted.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(async move {
                    let whole = serve(stream, &site);
                    if let Ok(Err(error)) = tokio::time::timeout(CONNECTION_LIMIT, whole).await {
                        eprintln!("{}: {error}", site.settings.site);
                    }
                });
            }
            // The process has no free descriptors, or the connection ended before it was accepted.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn serve(stream: TcpStream, site: &Arc<Site>) -> Result<(), AcceptError> {
    stream.set_nodelay(true)?;
    if let Some(name) = &site.settings.congestion {
        set_congestion(&stream, name)?;
    }
    let Some(acceptor) = &site.acceptor else {
        return match site.settings.fault {
            Some(fault) => Ok(fault::commit(fault, stream).await?),
            None => Ok(()),
        };
    };
    if let Some(fault) = site.settings.fault.filter(|fault| fault.is_of_ech())
        && tokio::time::timeout(HANDSHAKE_LIMIT, offers_ech(&stream)).await??
    {
        return Ok(fault::commit(fault, stream).await?);
    }
    let handshake = Computed::new(acceptor.accept(stream));
    let (accepted, compute) = tokio::time::timeout(HANDSHAKE_LIMIT, handshake).await?;
    let Accepted {
        mut stream,
        negotiated,
        early,
    } = accepted?;
    site.counters.handshakes.fetch_add(1, Ordering::Relaxed);
    site.counters
        .resumed
        .fetch_add(u64::from(negotiated.resumed), Ordering::Relaxed);
    if site.settings.fault == Some(Fault::BadHttp) {
        return Ok(fault::bad_http(&mut stream).await?);
    }
    let view = ServerView {
        negotiated,
        compute_ns: crate::clock::nanos(compute),
    };
    respond(stream, site, &Views::new(view, early)?).await
}

/// The header with the server's view.
struct Views {
    usual: HeaderValue,
    /// With accepted early data, the view of a request that did not come whole as early data.
    late: Option<(EarlyReceipt, HeaderValue)>,
    is_h2: bool,
}

impl Views {
    fn new(mut view: ServerView, early: Option<EarlyReceipt>) -> Result<Self, AcceptError> {
        let is_h2 = view.negotiated.alpn.as_deref() == Some("h2");
        let usual = view_header(&view)?;
        view.negotiated.early_data = None;
        let late = early.map(|early| Ok::<_, AcceptError>((early, view_header(&view)?)));
        Ok(Self {
            usual,
            late: late.transpose()?,
            is_h2,
        })
    }

    /// Returns the header for a request whose head has been read.
    fn of_request(&self) -> HeaderValue {
        match &self.late {
            Some((early, late)) if !early.is_whole() => late.clone(),
            _ => self.usual.clone(),
        }
    }
}

fn view_header(view: &ServerView) -> Result<HeaderValue, AcceptError> {
    Ok(HeaderValue::from_bytes(&serde_json::to_vec(view)?)?)
}

async fn respond(
    stream: Box<dyn ServerStream>,
    site: &Arc<Site>,
    views: &Views,
) -> Result<(), AcceptError> {
    let service = service_fn(move |request: Request<_>| {
        let site = Arc::clone(site);
        let view = views.of_request();
        async move {
            site.counters.responses.fetch_add(1, Ordering::Relaxed);
            let asked = PageRequest::of_path(request.uri().path());
            if let Some(PageRequest::Object(bytes)) = asked {
                return Ok(page::image(bytes));
            }
            let body = match (asked, site.settings.fault) {
                (Some(PageRequest::Page(page)), _) => {
                    SiteBody::whole(page::html(&page, &request, &site.body))
                }
                (_, Some(Fault::SlowResponse)) => SiteBody::slow(site.body.clone()),
                _ => SiteBody::whole(site.body.clone()),
            };
            let mut response = Response::new(body);
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html"));
            headers.insert(SERVER_VIEW_HEADER, view);
            Ok::<_, Infallible>(response)
        }
    });
    let io = TokioIo::new(stream);
    let ended = if views.is_h2 {
        hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .serve_connection(io, service)
            .await
    } else {
        hyper::server::conn::http1::Builder::new()
            .serve_connection(io, service)
            .await
    };
    // Every client closes the connection after its response.
    let _ = ended;
    Ok(())
}

fn set_congestion(stream: &TcpStream, name: &str) -> io::Result<()> {
    let length = libc::socklen_t::try_from(name.len()).map_err(io::Error::other)?;
    // SAFETY: `name` is valid for `length` bytes, and the socket is open.
    let result = unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_ptr().cast(),
            length,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
