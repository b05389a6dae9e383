use crate::named::named;

named!(
    /// The role of the library in a test.
    Role, "role", {
        /// The library connects.
        Client = "client",
        /// The library accepts.
        Server = "server",
    }
);

named!(
    /// The transport of a test's handshake.
    Transport, "transport", {
        /// Records over TCP.
        Tls = "tls",
        /// Datagrams.
        Dtls = "dtls",
        /// The runner's substitute for QUIC.
        Quic = "quic",
    }
);

named!(
    /// A protocol and its version, as a column of the matrix.
    #[schemars(extend("x-key" = "item"))]
    Protocol, "protocol", {
        /// RFC 2246.
        Tls10 = "TLS 1.0",
        /// RFC 4346.
        Tls11 = "TLS 1.1",
        /// RFC 5246.
        Tls12 = "TLS 1.2",
        /// RFC 8446.
        Tls13 = "TLS 1.3",
        /// RFC 4347.
        Dtls10 = "DTLS 1.0",
        /// RFC 6347.
        Dtls12 = "DTLS 1.2",
        /// RFC 9147.
        Dtls13 = "DTLS 1.3",
        /// TLS 1.3 in QUIC (RFC 9001).
        Quic = "QUIC",
    }
);

impl Protocol {
    /// Returns the protocol for a transport and the runner's name of a TLS version, such as `TLS12`, or `None` if there
    /// is no such protocol.
    pub fn of(transport: Transport, version: &str) -> Option<Self> {
        Some(match (transport, version) {
            (Transport::Tls, "TLS1") => Self::Tls10,
            (Transport::Tls, "TLS11") => Self::Tls11,
            (Transport::Tls, "TLS12") => Self::Tls12,
            (Transport::Tls, "TLS13") => Self::Tls13,
            (Transport::Dtls, "TLS1") => Self::Dtls10,
            (Transport::Dtls, "TLS12") => Self::Dtls12,
            (Transport::Dtls, "TLS13") => Self::Dtls13,
            (Transport::Quic, "TLS13") => Self::Quic,
            _ => return None,
        })
    }
}
