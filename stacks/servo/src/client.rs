use std::sync::Arc;

use bytes::Bytes;
use http::{Extensions, Request};
use http_body_util::Empty;
use hyper_rustls::{DefaultServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::Connection;
use net::connector::{
    CACertificates, CertificateErrorOverrideManager, InstrumentedConnector, InstrumentedStream,
    TlsConfig, TlsHandshakeInfo, create_tls_config,
};
use netbench_stack_rustls::{process, watch};
use netbench_tls::{Alpn, CipherSuite, Group, Negotiated, Profile, TlsVersion};
use netbench_worker::{
    BoxFuture, ClientSetup, Fetch, FetchError, Fetched, Probe, SetupError, TimedTcp, Wire,
    der_length,
};
use rustls_pki_types::{CertificateDer, pem::PemObject};
use servo_config::prefs;

use crate::provider::AwsLc;

/// The verifier that Servo uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The platform's verifier, Servo's default.
    Platform,
    /// webpki with Mozilla's roots compiled in: Servo's setting `network_use_webpki_roots`.
    WebpkiRoots,
}

/// Parses the roots, makes Servo's TLS configuration with them, and puts its connector on top.
pub(crate) fn connector(
    trust: Trust,
    setup: &ClientSetup<'_>,
) -> Result<Box<dyn Fetch>, SetupError> {
    let settings = setup.settings;
    if settings.profile == Profile::Library && settings.alpn != Alpn::ALL {
        return Err(SetupError::unsupported(
            "Servo's client offers h2 and http/1.1",
        ));
    }
    process::install(&AwsLc, settings)?;
    let config = tls_config(trust, setup.roots_pem, setup.probe)?;
    let tcp = setup.tcp();
    let connector = InstrumentedConnector::from(match &*settings.alpn {
        [Alpn::H2, Alpn::Http11] => https(config, tcp),
        alpn => https_with(alpn, config, tcp),
    });
    Ok(Box::new(Watched(setup.hyper_client(connector, inspect))))
}

fn tls_config(trust: Trust, roots_pem: &str, probe: &Probe) -> Result<TlsConfig, SetupError> {
    use_webpki_roots(trust == Trust::WebpkiRoots);
    let roots = CACertificates::Override(usable(roots_pem)?);
    let overrides = CertificateErrorOverrideManager::new();
    let mut config = create_tls_config(roots, false, overrides);
    config.time_provider = Arc::new(watch::Clock(probe.clone()));
    Ok(config)
}

pub(crate) fn use_webpki_roots(wanted: bool) {
    if prefs::get().network_use_webpki_roots == wanted {
        return;
    }
    let mut changed = prefs::get().clone();
    changed.network_use_webpki_roots = wanted;
    prefs::set(changed);
}

/// Returns the roots without those that webpki cannot use: Servo panics at one of them.
pub(crate) fn usable(roots_pem: &str) -> Result<Vec<CertificateDer<'static>>, SetupError> {
    let mut roots = CertificateDer::pem_slice_iter(roots_pem.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| SetupError::refused("roots", e))?;
    roots.retain(|root| webpki::anchor_from_trusted_cert(root).is_ok());
    if roots.is_empty() {
        return Err(SetupError::Refused(
            "roots: none that rustls can use".to_owned(),
        ));
    }
    Ok(roots)
}

/// Makes the connector as Servo's `create_http_client` does, over a connector for TCP whose times
/// are measured.
fn https(config: TlsConfig, tcp: TimedTcp) -> HttpsConnector<TimedTcp> {
    HttpsConnectorBuilder::new()
        .with_tls_config(config)
        .https_or_http()
        .enable_http1()
        .enable_http2()
        .wrap_connector(tcp)
}

/// Makes the connector as Servo does where it offers other protocols, for WebSockets.
fn https_with(alpn: &[Alpn], mut config: TlsConfig, tcp: TimedTcp) -> HttpsConnector<TimedTcp> {
    config.alpn_protocols = alpn.iter().map(|alpn| alpn.name().into()).collect();
    let name = Arc::new(DefaultServerNameResolver::default());
    HttpsConnector::new(tcp, config, false, name)
}

/// Returns the parameters that Servo keeps of a handshake. It does not report whether a session was
/// resumed.
fn inspect(stream: &InstrumentedStream<Wire>) -> Negotiated {
    let mut kept = Extensions::new();
    stream.connected().get_extras(&mut kept);
    let Some(info) = kept.get::<TlsHandshakeInfo>() else {
        return Negotiated::default();
    };
    let resumed = !watch::server_has_signed();
    let chain = match resumed {
        true => &[][..],
        false => &info.certificate_chain_der,
    };
    Negotiated {
        ech: None,
        early_data: None,
        version: info
            .protocol_version
            .and_then(|version| TlsVersion::of(version.into())),
        suite: info.cipher_suite.map(|suite| CipherSuite(suite.into())),
        group: info.kea_group_name.map(|group| Group(group.into())),
        signature: None,
        alpn: info.alpn_protocol.clone(),
        resumed,
        chain_bytes: chain.iter().map(der_length).collect(),
    }
}

/// hyper's client over Servo's connector, with its observer.
struct Watched<F>(F);

impl<F: Fetch> Fetch for Watched<F> {
    fn probe(&self) -> &Probe {
        self.0.probe()
    }

    fn fetch(&self, request: Request<Empty<Bytes>>) -> BoxFuture<'_, Result<Fetched, FetchError>> {
        watch::begin(self.0.probe());
        self.0.fetch(request)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Read,
        net::{Ipv4Addr, TcpListener},
        thread,
    };

    use http::Uri;
    use http_body_util::BodyExt;
    use net::{
        async_runtime::{init_async_runtime, spawn_blocking_task},
        connector::{BoxedBody, create_http_client},
    };
    use netbench_scan::codec::ClientHello;
    use netbench_tls::{ClientSettings, SignatureScheme};

    use super::*;

    const ROOTS: &str = include_str!("../../../trust-roots/mozilla.pem");

    /// `key_share` (RFC 8446 section 4.2.8).
    const KEY_SHARE: u16 = 51;

    /// Checks that this connector, which is assembled as in servo-net, sends the same ClientHello.
    #[test]
    fn the_client_hello_is_that_of_servos_own_client() {
        let mut signatures = SignatureScheme::OFFERED.to_vec();
        signatures.reverse();
        let settings = ClientSettings {
            profile: Profile::Servo,
            versions: TlsVersion::OFFERED.to_vec(),
            suites: CipherSuite::OFFERED.to_vec(),
            groups: vec![Group::SECP256R1, Group::X25519],
            signatures,
            alpn: Alpn::ALL.to_vec(),
        };
        let probe = Probe::new();
        let setup = ClientSetup::new(&settings, ROOTS, &probe);
        let client = connector(Trust::Platform, &setup).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let ours = hello(|uri| {
            let mut request = Request::new(Empty::new());
            *request.uri_mut() = uri;
            assert!(runtime.block_on(client.fetch(request)).is_err());
        });

        let _runtime = init_async_runtime();
        let roots = CACertificates::Override(usable(ROOTS).unwrap());
        let overrides = CertificateErrorOverrideManager::new();
        let servos = create_http_client(create_tls_config(roots, false, overrides));
        let theirs = hello(|uri| {
            let nothing = Empty::new().map_err(|never| match never {});
            let mut request = Request::new(BoxedBody::new(nothing));
            *request.uri_mut() = uri;
            assert!(spawn_blocking_task(servos.request(request)).is_err());
        });
        assert_eq!(ours, theirs);
        let groups = settings.groups.iter().map(|group| group.0);
        assert_eq!(theirs.groups(), groups.collect::<Vec<_>>());
        let schemes = settings.signatures.iter().map(|scheme| scheme.0);
        assert_eq!(theirs.signatures(), schemes.collect::<Vec<_>>());
        assert!(process::is_another(&ClientSettings {
            groups: vec![Group::X25519],
            ..settings.clone()
        }));
        assert!(!process::is_another(&settings));
    }

    /// Returns the first message of `connect`, without its random parts: rustls shuffles
    /// extensions.
    fn hello(connect: impl FnOnce(Uri)) -> ClientHello {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut received = Vec::new();
            loop {
                let mut some = [0; 4096];
                let length = stream.read(&mut some).unwrap();
                assert_ne!(length, 0, "the client hung up");
                received.extend_from_slice(&some[..length]);
                if let Some(hello) = ClientHello::of_records(&received).unwrap() {
                    return hello;
                }
            }
        });
        connect(format!("https://{address}/").parse().unwrap());
        let mut hello = server.join().unwrap();
        let shares = hello.shares();
        let shares = shares.iter().flat_map(|(group, _)| group.to_be_bytes());
        let shares = shares.collect::<Vec<_>>();
        for (code, body) in &mut hello.extensions {
            if *code == KEY_SHARE {
                body.clone_from(&shares);
            }
        }
        hello.extensions.sort();
        hello
    }
}
