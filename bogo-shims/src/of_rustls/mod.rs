//! The parts of the shims of rustls that need none of its types, for the shims of both of its lines: flags, expectations, and
//! the course of a connection over TCP and over QUIC.
//!
//! A shim implements [`Line`] for its line of rustls, and calls [`run`].

mod always;
mod choices;
mod clock;
mod compress;
mod expect;
mod observed;
mod quic;
mod tls;

pub use self::{
    choices::{
        OwnCertificate, PeerRules, Refusal, Versions, advertised_protocols, cipher,
        early_data_bytes, fragment, selected_protocols, supported,
    },
    clock::now,
    compress::Mock,
    expect::Properties,
    observed::{Observations, Observed},
    quic::{OverQuic, QuicEvent, Refused},
    tls::OverTcp,
};

use std::{process::ExitCode, sync::Arc};

use rustls_pki_types::ServerName;

use self::{always::LACKING, choices::host_name, expect::Expect, quic::Quic, tls::Tls};
use crate::{
    Failure, OptionSets, Options,
    exchange::{self, Material},
    socket::Socket,
};

/// The configuration of a connection that is yet to be made.
#[derive(Debug)]
pub enum Made<C, S> {
    /// A client's, with the name of the server.
    Client(Arc<C>, ServerName<'static>),
    /// A server's.
    Server(Arc<S>),
}

/// The configuration of a connection of a line of rustls.
pub type MadeBy<L> = Made<<L as Line>::Client, <L as Line>::Server>;

/// A line of rustls, with the state that persists across the connections of a test.
///
/// # Errors
/// The methods return the errors of rustls, and [`Failure::Unsupported`] for options that it has no call for.
pub trait Line: Sized {
    /// The configuration of a client.
    type Client;
    /// The configuration of a server.
    type Server;
    /// A connection over TCP.
    type Tcp: OverTcp;
    /// A connection over QUIC.
    type Quic: OverQuic;

    /// Makes the state for a test with these options.
    fn new(sets: &OptionSets) -> Result<Self, Failure>;

    /// Makes the configuration of a client whose callbacks write to `observed`.
    fn client(&self, options: &Options, observed: &Arc<Observed>) -> Result<Self::Client, Failure>;

    /// Makes the configuration of a server whose callbacks write to `observed`.
    fn server(&self, options: &Options, observed: &Arc<Observed>) -> Result<Self::Server, Failure>;

    /// Makes a connection over TCP.
    fn over_tcp(made: MadeBy<Self>) -> Result<Self::Tcp, Failure>;

    /// Makes a connection over QUIC with these transport parameters.
    fn over_quic(
        made: MadeBy<Self>,
        options: &Options,
        params: Vec<u8>,
    ) -> Result<Self::Quic, Failure>;

    /// Returns whether `der` is a certificate, and not a raw public key.
    fn is_certificate(der: &[u8]) -> bool;

    /// Returns the SHA-256 of `data`, or an error if the provider lacks it.
    fn sha256(data: &[u8]) -> Result<Vec<u8>, Failure>;
}

/// A connection of a line of rustls.
pub trait Connection {
    /// Returns whether the handshake is still going on.
    fn is_handshaking(&self) -> bool;

    /// Returns whether the server accepted the early data of this client.
    fn is_early_data_accepted(&self) -> bool;

    /// Returns the properties that rustls reports.
    fn properties(&self) -> Properties<'_>;

    /// Returns exported keying material, or the error of rustls.
    fn export(&mut self, wanted: &Material<'_>) -> Result<Vec<u8>, Failure>;
}

/// Runs the shim of a line of rustls.
pub fn run<L: Line>() -> ExitCode {
    crate::run("rustls", LACKING, connections::<L>)
}

fn connections<L: Line>(sets: &OptionSets) -> Result<(), Failure> {
    sets.same_early_data_context()?;
    let line = L::new(sets)?;
    let mut has_session = false;
    for (options, resume) in sets.connections() {
        always::take_for_granted(options);
        if resume && !options.on("-server") && !has_session {
            return Err(Failure::failed("No session to offer."));
        }
        let observed = Arc::<Observed>::default();
        let made = if options.on("-server") {
            Made::Server(Arc::new(line.server(options, &observed)?))
        } else {
            let name = host_name(options)?;
            Made::Client(Arc::new(line.client(options, &observed)?), name)
        };
        let expect = Expect {
            options,
            resume,
            observed: observed.clone(),
        };
        let socket = Socket::connect(options)?;
        if options.on("-quic") {
            exchange::connection(Quic::<L>::new(made, socket, expect)?, options, sets)?;
        } else {
            exchange::connection(Tls::<L>::new(made, socket, expect)?, options, sets)?;
        }
        has_session = observed.get().new_session.is_some();
        clock::pass(options.resumption_delay());
    }
    Ok(())
}

/// Converts an error of rustls by its own name; the runner expects these names.
pub fn tag(error: impl std::fmt::Debug) -> Failure {
    Failure::failed(format!("{error:?}"))
}
