//! Connections over TCP, and over the runner's mock transport for QUIC.

use std::io::{self, BufRead, Read, Write};

use rustls::{
    ClientConnection, CommonState, Error, HandshakeKind, PeerIncompatible, ProtocolVersion,
    client::EchStatus,
    internal::msgs::codec::Codec,
    quic::{self, KeyChange},
};

use crate::{
    Failure, Options,
    exchange::Material,
    expected::Agreed,
    of_rustls::{Connection, OverQuic, OverTcp, Properties, QuicEvent, Refused, tag},
    reported::{Known, Retry},
};

/// Returns the properties that every connection reports. The other fields have the values of a connection that lacks the
/// property.
fn properties(connection: &CommonState) -> Properties<'_> {
    let version = connection.protocol_version();
    let kind = connection.handshake_kind();
    let suite = connection.negotiated_cipher_suite();
    let group = connection.negotiated_key_exchange_group();
    let peer = connection.peer_certificates();
    Properties {
        agreed: Agreed {
            version: version.map(u16::from),
            suite: suite.map(|suite| suite.suite().into()),
            alpn: connection.alpn_protocol(),
            server_name: None,
        },
        resumed: kind == Some(HandshakeKind::Resumed),
        retry: match kind {
            Some(HandshakeKind::FullWithHelloRetryRequest) => Known::Is(Retry::Was),
            Some(HandshakeKind::Resumed) if version != Some(ProtocolVersion::TLSv1_2) => {
                Known::Unreported("whether a resumption began with a HelloRetryRequest")
            }
            _ => Known::Is(Retry::WasNot),
        },
        group: group.map(|group| group.name().into()),
        peer: peer.map(|chain| chain.iter().map(AsRef::as_ref).collect()),
        ech_accepted: false,
    }
}

/// Implements [`Connection`] for a type of rustls with the variants `Client` and `Server`.
macro_rules! connection {
    ($type:ty, ech_accepted: $ech_accepted:expr) => {
        impl Connection for $type {
            fn is_handshaking(&self) -> bool {
                CommonState::is_handshaking(self)
            }

            fn is_early_data_accepted(&self) -> bool {
                match self {
                    Self::Client(client) => client.is_early_data_accepted(),
                    Self::Server(_) => false,
                }
            }

            fn properties(&self) -> Properties<'_> {
                match self {
                    Self::Client(client) => Properties {
                        ech_accepted: $ech_accepted(client),
                        ..properties(client)
                    },
                    Self::Server(server) => {
                        let mut is = properties(server);
                        is.agreed.server_name = server.server_name();
                        is
                    }
                }
            }

            fn export(&mut self, wanted: &Material<'_>) -> Result<Vec<u8>, Failure> {
                let out = vec![0; wanted.length];
                self.export_keying_material(out, wanted.label, wanted.context)
                    .map_err(tag)
            }
        }
    };
}

connection!(rustls::Connection, ech_accepted: has_accepted_ech);
connection!(quic::Connection, ech_accepted: |_| false);

fn has_accepted_ech(client: &ClientConnection) -> bool {
    client.ech_status() == EchStatus::Accepted
}

impl OverTcp for rustls::Connection {
    fn receive(&mut self, mut from: &mut dyn Read) -> io::Result<usize> {
        self.read_tls(&mut from)
    }

    fn process(&mut self, options: &Options) -> Result<(), Failure> {
        match self.process_new_packets() {
            Ok(_) => Ok(()),
            Err(error) => Err(explain(error, options)),
        }
    }

    fn has_outgoing(&self) -> bool {
        self.wants_write()
    }

    fn send(&mut self, mut to: &mut dyn Write) -> io::Result<()> {
        self.write_tls(&mut to).map(|_| ())
    }

    fn can_send_early_data(&mut self) -> bool {
        match self {
            Self::Client(client) => client.early_data().is_some(),
            Self::Server(_) => false,
        }
    }

    fn has_accepted_early_data(&mut self) -> bool {
        match self {
            Self::Client(_) => false,
            Self::Server(server) => server.early_data().is_some(),
        }
    }

    fn write_early(&mut self, data: &[u8]) -> Result<usize, Failure> {
        let early = match self {
            Self::Client(client) => client.early_data(),
            Self::Server(_) => None,
        };
        let mut early = early.ok_or_else(|| Failure::failed("no early data"))?;
        Ok(early.write(data)?)
    }

    fn write(&mut self, data: &[u8]) -> Result<usize, Failure> {
        Ok(self.writer().write(data)?)
    }

    fn read(&mut self, buffer: &mut [u8], options: &Options) -> Result<Option<usize>, Failure> {
        if let Self::Server(server) = self
            && let Some(mut early) = server.early_data()
        {
            let n = early.read(buffer)?;
            if n > 0 {
                return Ok(Some(n));
            }
        }
        if options.on("-peek-then-read") {
            let mut reader = self.reader();
            let peeked = reader.fill_buf().map(<[u8]>::to_vec);
            if let Ok(peeked) = peeked
                && !peeked.is_empty()
            {
                let n = reader.read(buffer)?;
                if !peeked.starts_with(&buffer[..n]) {
                    return Err(Failure::failed("peek and read differ"));
                }
                return Ok(Some(n));
            }
        }
        match self.reader().read(buffer) {
            Ok(n) => Ok(Some(n)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Some(0)),
            Err(error) => Err(error.into()),
        }
    }

    fn refresh_traffic_keys(&mut self) -> Result<(), Failure> {
        self.refresh_traffic_keys().map_err(tag)
    }

    fn send_close_notify(&mut self) -> Result<(), Failure> {
        CommonState::send_close_notify(self);
        Ok(())
    }

    fn is_closed_by_peer(&mut self) -> Result<bool, Failure> {
        let state = self.process_new_packets().map_err(tag)?;
        Ok(state.peer_has_closed())
    }
}

/// Returns the failure for an error, or for retry configurations other than expected.
fn explain(error: Error, options: &Options) -> Failure {
    if let Error::PeerIncompatible(PeerIncompatible::ServerRejectedEncryptedClientHello(configs)) =
        &error
    {
        // The configurations as on the wire; rustls shows them only within an error.
        let retry = configs.as_ref().map(Codec::get_encoding);
        let retry = retry.unwrap_or_default();
        let want = options.bytes("-expect-ech-retry-configs");
        if want.is_some_and(|want| want != retry)
            || options.on("-expect-no-ech-retry-configs") && !retry.is_empty()
        {
            return Failure::failed("other ECH retry configurations than expected");
        }
    }
    tag(error)
}

impl OverQuic for quic::Connection {
    fn events(&mut self) -> Result<Vec<QuicEvent>, Failure> {
        let mut events = Vec::new();
        loop {
            let mut data = Vec::new();
            let change = self.write_hs(&mut data);
            let done = data.is_empty() && change.is_none();
            if !data.is_empty() {
                events.push(QuicEvent::Message(data));
            }
            match change {
                Some(KeyChange::Handshake { .. }) => events.push(QuicEvent::HandshakeKeys),
                Some(KeyChange::OneRtt { .. }) => events.push(QuicEvent::OneRttKeys),
                None if done => return Ok(events),
                None => {}
            }
        }
    }

    fn receive(&mut self, messages: &[u8]) -> Result<(), Refused> {
        self.read_hs(messages).map_err(|error| Refused {
            alert: self.alert().map(u8::from),
            failure: tag(error),
        })
    }

    fn has_early_keys(&self) -> bool {
        self.zero_rtt_keys().is_some()
    }

    fn transport_parameters(&self) -> Option<&[u8]> {
        self.quic_transport_parameters()
    }
}
