//! Numbers of messages on the wire (RFC 8446 appendix B).

/// The random value of a ServerHello that is a HelloRetryRequest (RFC 8446 section 4.1.3).
pub const RETRY_RANDOM: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// Content types of records.
pub mod content {
    /// ChangeCipherSpec.
    pub const CHANGE_CIPHER_SPEC: u8 = 20;
    /// Alert.
    pub const ALERT: u8 = 21;
    /// Handshake.
    pub const HANDSHAKE: u8 = 22;
    /// Application data, and everything encrypted in TLS 1.3.
    pub const APPLICATION_DATA: u8 = 23;
    /// Heartbeat (RFC 6520).
    pub const HEARTBEAT: u8 = 24;
}

/// Types of handshake messages.
pub mod handshake {
    #![expect(missing_docs, reason = "the registry's names")]
    pub const CLIENT_HELLO: u8 = 1;
    pub const SERVER_HELLO: u8 = 2;
    pub const ENCRYPTED_EXTENSIONS: u8 = 8;
    pub const CERTIFICATE: u8 = 11;
    pub const SERVER_KEY_EXCHANGE: u8 = 12;
    pub const CERTIFICATE_REQUEST: u8 = 13;
    pub const SERVER_HELLO_DONE: u8 = 14;
    pub const CERTIFICATE_VERIFY: u8 = 15;
    pub const CLIENT_KEY_EXCHANGE: u8 = 16;
    pub const FINISHED: u8 = 20;
    pub const CERTIFICATE_STATUS: u8 = 22;
    pub const KEY_UPDATE: u8 = 24;
    pub const COMPRESSED_CERTIFICATE: u8 = 25;
}

/// Code points of the extensions that netbench writes or reads.
pub mod extension {
    #![expect(missing_docs, reason = "the registry's names")]
    pub const SERVER_NAME: u16 = 0;
    pub const STATUS_REQUEST: u16 = 5;
    pub const SUPPORTED_GROUPS: u16 = 10;
    pub const EC_POINT_FORMATS: u16 = 11;
    pub const SIGNATURE_ALGORITHMS: u16 = 13;
    pub const HEARTBEAT: u16 = 15;
    pub const ALPN: u16 = 16;
    pub const SCT: u16 = 18;
    pub const PADDING: u16 = 21;
    pub const ENCRYPT_THEN_MAC: u16 = 22;
    pub const EXTENDED_MASTER_SECRET: u16 = 23;
    pub const COMPRESS_CERTIFICATE: u16 = 27;
    pub const SESSION_TICKET: u16 = 35;
    pub const PRE_SHARED_KEY: u16 = 41;
    pub const EARLY_DATA: u16 = 42;
    pub const SUPPORTED_VERSIONS: u16 = 43;
    pub const COOKIE: u16 = 44;
    pub const PSK_MODES: u16 = 45;
    pub const KEY_SHARE: u16 = 51;
    pub const ENCRYPTED_CLIENT_HELLO: u16 = 0xfe0d;
    pub const RENEGOTIATION_INFO: u16 = 0xff01;
}
