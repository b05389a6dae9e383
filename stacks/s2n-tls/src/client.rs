use std::{
    error::Error as StdError,
    io,
    pin::Pin,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use http::Uri;
use netbench_tls::{Alert, Alpn, ClientSettings, Negotiated, Profile, TlsVersion};
use netbench_worker::{
    ClientSetup, Converted, Fetch, Parameters, Probe, SetupError, TimedTcp, refused,
};
use s2n_tls::{
    callbacks::{CertValidationCallbackSync, CertValidationInfo, ConnectionFuture, WallClock},
    config::{Builder, Config, ConnectionInitializer},
    connection::{self, Connection},
    enums::{ClientAuthType, Mode},
    error::Error,
};
use s2n_tls_hyper::{connector::HttpsConnector, error::Error as HyperError};
use tower_service::Service;

use crate::{ffi, negotiated::negotiated, policy::policy, tickets::Tickets};

/// Parses the roots and makes s2n-tls' configuration and s2n-tls-hyper's connector.
pub(crate) fn connector(setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
    let connections = Connections(config(setup)?, setup.probe.clone());
    let https = HttpsConnector::builder_with_http(setup.tcp(), connections).build();
    let https = Converted::new(https, |connected| connected.map_err(cause));
    Ok(Box::new(setup.hyper_client(https, inspect)))
}

fn config(setup: &ClientSetup<'_>) -> Result<Config, SetupError> {
    let settings = setup.settings;
    let mut config = without_delays(Builder::new())?;
    trust(&mut config, setup.roots_pem)?;
    if let Some(identity) = setup.identity {
        let (chain, key) = (identity.chain_pem.as_bytes(), identity.key_pem.as_bytes());
        config
            .load_pem(chain, key)
            .and_then(|config| config.set_client_auth_type(ClientAuthType::Optional))
            .map_err(refused("client certificate and key"))?;
    }
    let (tickets, watch) = (Tickets::default(), Watch(setup.probe.clone()));
    let start = Start {
        alpn: settings.alpn.iter().map(|alpn| alpn.name()).collect(),
        profile: settings.profile,
        tickets: tickets.clone(),
    };
    config
        .set_wall_clock(watch.clone())
        .and_then(|config| config.set_cert_validation_callback_sync(watch))
        .and_then(|config| config.set_session_ticket_callback(tickets))
        .and_then(|config| config.set_connection_initializer(start))
        .map_err(refused("callbacks"))?;
    if settings.profile == Profile::Library {
        only_what_the_library_offers(settings)?;
        return config.build().map_err(refused("configuration"));
    }
    // As in the other stacks, the client requests a stapled response: all send and receive the same messages.
    config.enable_ocsp().map_err(refused("configuration"))?;
    held_to(settings.into(), config)
}

/// Refuses other settings than the defaults of s2n-tls and s2n-tls-hyper, which cannot be changed in part.
fn only_what_the_library_offers(settings: &ClientSettings) -> Result<(), SetupError> {
    let why = if settings.versions != TlsVersion::OFFERED {
        "s2n-tls' default policy speaks TLS 1.2 and 1.3"
    } else if settings.alpn != Alpn::ALL {
        "s2n-tls-hyper offers h2 and http/1.1"
    } else {
        return Ok(());
    };
    Err(SetupError::unsupported(why))
}

/// Disables the system's roots and blinding: after most errors, s2n-tls makes its user wait 10 to 30 seconds
/// before the connection may end.
pub(crate) fn without_delays(mut config: Builder) -> Result<Builder, SetupError> {
    config
        .with_system_certs(false)
        .and_then(|config| config.set_max_blinding_delay(0))
        .map_err(refused("configuration"))?;
    Ok(config)
}

/// Returns the configuration, restricted to these parameters.
pub(crate) fn held_to(parameters: Parameters, config: Builder) -> Result<Config, SetupError> {
    let policy = policy(parameters)?;
    let config = config.build().map_err(refused("configuration"))?;
    ffi::set_policy(&config, policy)?;
    Ok(config)
}

/// Sets the chain and key of a side.
pub(crate) fn identify(
    config: &mut Builder,
    chain_pem: &str,
    key_pem: &str,
) -> Result<(), SetupError> {
    config
        .load_pem(chain_pem.as_bytes(), key_pem.as_bytes())
        .map(drop)
        .map_err(refused("chain and key"))
}

pub(crate) fn trust(config: &mut Builder, roots_pem: &str) -> Result<(), SetupError> {
    config
        .trust_pem(roots_pem.as_bytes())
        .map(drop)
        .map_err(refused("roots"))
}

/// A timer of verification: the library reads the clock directly before it verifies a chain, and calls back
/// afterwards.
#[derive(Clone)]
struct Watch(Probe);

impl WallClock for Watch {
    fn get_time_since_epoch(&self) -> Duration {
        self.0.verification_begins();
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.unwrap_or_default()
    }
}

#[cfg(not(feature = "before-0-3-47"))]
type Verdict = bool;
#[cfg(not(feature = "before-0-3-47"))]
const ACCEPTED: Verdict = true;
#[cfg(feature = "before-0-3-47")]
type Verdict = Result<bool, Error>;
#[cfg(feature = "before-0-3-47")]
const ACCEPTED: Verdict = Ok(true);

impl CertValidationCallbackSync for Watch {
    fn handle_validation(&self, _: &mut Connection, _: &mut CertValidationInfo) -> Verdict {
        self.0.verification_ends();
        // No check is added to the library's verification.
        ACCEPTED
    }
}

/// An initializer of connections, which resumes sessions. It replaces the protocols that s2n-tls-hyper offers, which are
/// always the same, by the given ones, unless the client is the library's.
struct Start {
    alpn: Vec<&'static str>,
    profile: Profile,
    tickets: Tickets,
}

impl ConnectionInitializer for Start {
    fn initialize_connection(
        &self,
        connection: &mut Connection,
    ) -> Result<Option<Pin<Box<dyn ConnectionFuture>>>, Error> {
        if self.profile != Profile::Library {
            connection.set_application_protocol_preference(&self.alpn)?;
        }
        self.tickets.resume(connection).map(|()| None)
    }
}

/// A maker of connections that report the received alert when they end: s2n-tls' errors do not identify it.
#[derive(Clone)]
struct Connections(Config, Probe);

impl connection::Builder for Connections {
    type Output = Watched;

    fn build_connection(&self, mode: Mode) -> Result<Watched, Error> {
        Ok(Watched(self.0.build_connection(mode)?, self.1.clone()))
    }
}

struct Watched(Connection, Probe);

impl AsRef<Connection> for Watched {
    fn as_ref(&self) -> &Connection {
        &self.0
    }
}

impl AsMut<Connection> for Watched {
    fn as_mut(&mut self) -> &mut Connection {
        &mut self.0
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let alert = self.0.alert().map(Alert);
        if let Some(alert) = alert.filter(|alert| *alert != Alert::CLOSE_NOTIFY) {
            self.1.alert(alert);
        }
    }
}

type Stream = <HttpsConnector<TimedTcp, Connections> as Service<Uri>>::Response;

/// Returns the cause of an error of s2n-tls-hyper's connector, which does not report it.
fn cause(error: HyperError) -> Box<dyn StdError + Send + Sync> {
    match error {
        HyperError::HttpError(error) => error,
        HyperError::TlsError(error) => io::Error::from(error).into(),
        other => other.into(),
    }
}

fn inspect(stream: &Stream) -> Negotiated {
    match stream {
        Stream::Http(_) => Negotiated::default(),
        Stream::Https(tls) => negotiated(tls.inner().as_ref()),
    }
}
