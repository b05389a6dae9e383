//! Connections over TCP, and over the runner's mock transport for QUIC.

use std::io::{self, Read, Write};

use netbench_bogo_shims::{
    Failure, Options,
    exchange::{Material, take},
    expected::Agreed,
    of_rustls::{self, Made, MadeBy, Properties, QuicEvent, Refused, tag},
    reported::{Known, Retry},
};
use rustls::{
    ClientSide, CommonState, Connection, Error, HandshakeKind, KeyingMaterialExporter, ServerSide,
    Tcp, Transport, VecInput,
    client::EchStatus,
    crypto::Identity,
    error::AlertDescription,
    quic::{KeyChange, Quic, QuicEvent as Event, Version},
};

use super::config::Configs;

/// Calls the same method of a connection of either side.
macro_rules! of_either_side {
    ($connection:expr, $one:ident => $call:expr) => {
        match $connection {
            Side::Client($one) => $call,
            Side::Server($one) => $call,
        }
    };
}

/// A connection of either side, with the data on their way between it and the runner.
pub(crate) struct Sided<T: Transport, D> {
    side: Side<T>,
    received: VecInput,
    data: D,
    /// The exporter of keys, which rustls gives away once.
    exporter: Option<KeyingMaterialExporter>,
}

/// The type of rustls for each side.
enum Side<T: Transport> {
    Client(Box<Connection<ClientSide, T>>),
    Server(Box<Connection<ServerSide, T>>),
}

impl<T: Transport, D> Sided<T, D> {
    fn new(side: Side<T>, data: D) -> Self {
        Self {
            side,
            received: VecInput::default(),
            data,
            exporter: None,
        }
    }

    fn state(&self) -> &CommonState {
        of_either_side!(&self.side, one => one)
    }
}

impl<T: Transport, D> of_rustls::Connection for Sided<T, D> {
    fn is_handshaking(&self) -> bool {
        self.state().is_handshaking()
    }

    fn is_early_data_accepted(&self) -> bool {
        match &self.side {
            Side::Client(client) => client.side().is_early_data_accepted(),
            Side::Server(_) => false,
        }
    }

    fn properties(&self) -> Properties<'_> {
        let connection = self.state();
        let kind = connection.handshake_kind();
        let suite = connection.negotiated_cipher_suite();
        let group = connection.negotiated_key_exchange_group();
        let (server_name, ech) = match &self.side {
            Side::Client(client) => (None, Some(client.side().ech_status())),
            Side::Server(server) => (server.side().server_name().map(AsRef::as_ref), None),
        };
        Properties {
            agreed: Agreed {
                version: connection.protocol_version().map(u16::from),
                suite: suite.map(|suite| suite.suite().into()),
                alpn: connection.alpn_protocol().map(AsRef::as_ref),
                server_name,
            },
            resumed: matches!(
                kind,
                Some(HandshakeKind::Resumed | HandshakeKind::ResumedWithHelloRetryRequest)
            ),
            retry: Known::Is(match kind {
                Some(
                    HandshakeKind::FullWithHelloRetryRequest
                    | HandshakeKind::ResumedWithHelloRetryRequest,
                ) => Retry::Was,
                _ => Retry::WasNot,
            }),
            group: group.map(|group| group.name().into()),
            peer: connection
                .peer_identity()
                .map(|peer| entries(peer.identity())),
            ech_accepted: ech == Some(EchStatus::Accepted),
        }
    }

    fn export(&mut self, wanted: &Material<'_>) -> Result<Vec<u8>, Failure> {
        let exporter = match self.exporter.take() {
            Some(exporter) => exporter,
            None => of_either_side!(&mut self.side, one => one.exporter()).map_err(tag)?,
        };
        let out = vec![0; wanted.length];
        let exported = exporter.derive(wanted.label, wanted.context, out);
        self.exporter = Some(exporter);
        exported.map_err(tag)
    }
}

/// Returns the entries of the peer's certificate message: its chain, or its raw public key.
fn entries<'a>(identity: &'a Identity<'static>) -> Vec<&'a [u8]> {
    match identity {
        Identity::X509(chain) => {
            let rest = chain.intermediates.iter();
            let all = std::iter::once(&chain.end_entity).chain(rest);
            all.map(AsRef::as_ref).collect()
        }
        Identity::RawPublicKey(key) => vec![key.as_ref()],
        // The type may get more kinds; the expectations then differ from an empty list.
        _ => Vec::new(),
    }
}

/// A connection over TCP.
pub(crate) type OverTcp = Sided<Tcp, Records>;

/// The data of a connection over TCP.
#[derive(Default)]
pub(crate) struct Records {
    /// Records that are yet to be sent.
    outgoing: Vec<u8>,
    /// Data that are yet to be read.
    plaintext: Vec<u8>,
    /// Whether this server accepted early data.
    early_accepted: bool,
    /// Whether the peer sent close_notify.
    closed: bool,
}

impl OverTcp {
    pub(crate) fn over_tcp(made: MadeBy<Configs>) -> Result<Self, Failure> {
        let mut outgoing = Vec::new();
        let side = match made {
            Made::Client(config, name) => {
                let client = config.connect(name).build(&mut outgoing).map_err(tag)?;
                Side::Client(Box::new(client))
            }
            Made::Server(config) => Side::Server(Box::new(
                Connection::<ServerSide, _>::new(config).map_err(tag)?,
            )),
        };
        let data = Records {
            outgoing,
            ..Records::default()
        };
        Ok(Self::new(side, data))
    }

    fn read_records(&mut self) -> Result<(), Error> {
        match &mut self.side {
            Side::Client(client) => {
                let mut messages = client.read_tls(&mut self.received, &mut self.data.outgoing);
                while let Some(payload) = messages.next_payload() {
                    self.data.plaintext.extend_from_slice(payload?.bytes());
                }
                self.data.closed |= messages.state().peer_has_closed();
            }
            Side::Server(server) => {
                let mut messages = server.read_tls(&mut self.received, &mut self.data.outgoing);
                while let Some(payload) = messages.next_early_data() {
                    self.data.plaintext.extend_from_slice(payload?.bytes());
                }
                while let Some(payload) = messages.next_payload() {
                    self.data.plaintext.extend_from_slice(payload?.bytes());
                }
                self.data.closed |= messages.state().peer_has_closed();
                // A server has this exporter once it has accepted early data.
                self.data.early_accepted |= server.early_exporter().is_ok();
            }
        }
        Ok(())
    }
}

impl of_rustls::OverTcp for OverTcp {
    fn receive(&mut self, mut from: &mut dyn Read) -> io::Result<usize> {
        self.received.read(&mut from)
    }

    fn process(&mut self, _: &Options) -> Result<(), Failure> {
        self.read_records().map_err(tag)
    }

    fn has_outgoing(&self) -> bool {
        !self.data.outgoing.is_empty()
    }

    fn send(&mut self, to: &mut dyn Write) -> io::Result<()> {
        let sent = to.write(&self.data.outgoing)?;
        self.data.outgoing.drain(..sent);
        Ok(())
    }

    fn can_send_early_data(&mut self) -> bool {
        match &mut self.side {
            Side::Client(client) => client.early_data().is_some(),
            Side::Server(_) => false,
        }
    }

    fn has_accepted_early_data(&mut self) -> bool {
        self.data.early_accepted
    }

    fn write_early(&mut self, data: &[u8]) -> Result<usize, Failure> {
        let early = match &mut self.side {
            Side::Client(client) => client.early_data(),
            Side::Server(_) => None,
        };
        let mut early = early.ok_or_else(|| Failure::failed("no early data"))?;
        early
            .write(data.into(), &mut self.data.outgoing)
            .map_err(tag)
    }

    fn write(&mut self, data: &[u8]) -> Result<usize, Failure> {
        let out = &mut self.data.outgoing;
        of_either_side!(&mut self.side, one => one.write(data.into(), out)).map_err(tag)?;
        Ok(data.len())
    }

    fn read(&mut self, buffer: &mut [u8], options: &Options) -> Result<Option<usize>, Failure> {
        if options.on("-peek-then-read") {
            return Err(Failure::unsupported("a look at data before they are read"));
        }
        if self.data.plaintext.is_empty() {
            return Ok(self.data.closed.then_some(0));
        }
        Ok(Some(take(&mut self.data.plaintext, buffer)))
    }

    fn refresh_traffic_keys(&mut self) -> Result<(), Failure> {
        let out = &mut self.data.outgoing;
        of_either_side!(&mut self.side, one => one.refresh_traffic_keys(out)).map_err(tag)
    }

    fn send_close_notify(&mut self) -> Result<(), Failure> {
        let out = &mut self.data.outgoing;
        of_either_side!(&mut self.side, one => one.send_close_notify(out)).map_err(tag)
    }

    fn is_closed_by_peer(&mut self) -> Result<bool, Failure> {
        Ok(self.data.closed)
    }
}

/// A connection over QUIC.
pub(crate) type OverQuic = Sided<Quic, ()>;

impl OverQuic {
    pub(crate) fn over_quic(made: MadeBy<Configs>, params: Vec<u8>) -> Result<Self, Failure> {
        let version = Version::V1;
        let side = match made {
            Made::Client(config, name) => {
                let client = config.connect(name).build_quic(version, params);
                Side::Client(Box::new(client.map_err(tag)?))
            }
            Made::Server(config) => {
                let server = Connection::<ServerSide, _>::new_quic(config, version, params);
                Side::Server(Box::new(server.map_err(tag)?))
            }
        };
        Ok(Self::new(side, ()))
    }
}

impl of_rustls::OverQuic for OverQuic {
    fn events(&mut self) -> Result<Vec<QuicEvent>, Failure> {
        let events: Vec<_> = of_either_side!(&mut self.side, one => one.events().collect());
        let events = events.into_iter().map(|event| match event {
            Event::Message(data) => Ok(QuicEvent::Message(data)),
            Event::KeyChange(KeyChange::Handshake { .. }) => Ok(QuicEvent::HandshakeKeys),
            Event::KeyChange(KeyChange::OneRtt { .. }) => Ok(QuicEvent::OneRttKeys),
            _ => Err(Failure::failed("an unknown event")),
        });
        events.collect()
    }

    fn receive(&mut self, mut messages: &[u8]) -> Result<(), Refused> {
        // The buffer takes a part of a long message at a time.
        while !messages.is_empty() {
            self.received.read(&mut messages).map_err(|error| Refused {
                alert: None,
                failure: error.into(),
            })?;
            let read = of_either_side!(&mut self.side, one => one.read_hs(&mut self.received));
            read.map_err(|error| Refused {
                alert: AlertDescription::try_from(&error).ok().map(u8::from),
                failure: tag(error),
            })?;
        }
        Ok(())
    }

    fn has_early_keys(&self) -> bool {
        of_either_side!(&self.side, one => one.zero_rtt_keys().is_some())
    }

    fn transport_parameters(&self) -> Option<&[u8]> {
        of_either_side!(&self.side, one => one.quic_transport_parameters())
    }
}
