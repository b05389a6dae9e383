//! ClientHellos, as fields and as bytes.

/// Extension code points that the scan writes or reads.
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
    pub const RENEGOTIATION_INFO: u16 = 0xff01;
}

/// One extension of a hello: its code point and its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// The code point.
    pub code: u16,
    /// The body, without its length.
    pub body: Vec<u8>,
}

/// A key share (RFC 8446 section 4.2.8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyShare {
    /// The group.
    pub group: u16,
    /// The public value.
    pub public: Vec<u8>,
}

/// The fields of a ClientHello (RFC 8446 section 4.1.2, RFC 5246, 4346, 2246, 6101).
///
/// A list that is `None` leaves its extension out; an empty one makes an empty extension.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HelloSpec {
    /// `client_version`; 0x0303 with TLS 1.3, which is in `supported_versions`.
    pub legacy_version: u16,
    /// The version of the record that carries it.
    pub record_version: u16,
    /// 32 bytes.
    pub random: [u8; 32],
    /// At most 32 bytes.
    pub session_id: Vec<u8>,
    /// Cipher suites, most wanted first.
    pub suites: Vec<u16>,
    /// Compression methods; 0 is no compression (RFC 3749).
    pub compression: Vec<u8>,
    /// Whether there are extensions: SSL 3.0 has no extensions.
    pub extensions: bool,
    /// The host name of `server_name`.
    pub server_name: Option<String>,
    /// `supported_versions`, most wanted first.
    pub versions: Option<Vec<u16>>,
    /// `supported_groups`, most wanted first.
    pub groups: Option<Vec<u16>>,
    /// `key_share`; an empty list requests that the server choose a group (RFC 8446 section 4.2.8).
    pub shares: Option<Vec<KeyShare>>,
    /// `signature_algorithms`, most wanted first.
    pub signatures: Option<Vec<u16>>,
    /// Application protocols, most wanted first.
    pub alpn: Option<Vec<Vec<u8>>>,
    /// A session ticket of TLS 1.2 (RFC 5077); an empty one requests a ticket.
    pub ticket: Option<Vec<u8>>,
    /// Further extensions, at the end but before a `pre_shared_key`.
    pub more: Vec<Extension>,
    /// The minimum length of the handshake message, which a padding extension fills (RFC 7685).
    pub pad_to: usize,
    /// An extension that must be the last: `pre_shared_key`.
    pub last: Option<Extension>,
}

impl HelloSpec {
    /// Adds the extensions whose responses show a server's features: `status_request`,
    /// `signed_certificate_timestamp`, `encrypt_then_mac`, `extended_master_secret`, `renegotiation_info`,
    /// `ec_point_formats`.
    pub fn ask_for_features(&mut self) {
        let plain: [(u16, &[u8]); 6] = [
            (extension::EC_POINT_FORMATS, &[1, 0]),
            (extension::STATUS_REQUEST, &[1, 0, 0, 0, 0]),
            (extension::SCT, &[]),
            (extension::ENCRYPT_THEN_MAC, &[]),
            (extension::EXTENDED_MASTER_SECRET, &[]),
            (extension::RENEGOTIATION_INFO, &[0]),
        ];
        for (code, body) in plain {
            self.more.push(Extension {
                code,
                body: body.to_vec(),
            });
        }
    }

    /// Removes extensions that can be left out of any hello.
    pub fn leave_out(&mut self, codes: &[u16]) {
        let has = |code| codes.contains(&code);
        self.more.retain(|known| !has(known.code));
        if has(extension::ALPN) {
            self.alpn = None;
        }
        if has(extension::SESSION_TICKET) {
            self.ticket = None;
        }
    }

    /// Returns whether the hello asks for a feature by an extension, or for secure renegotiation by a suite.
    pub fn asks_for(&self, code: u16) -> bool {
        // TLS_EMPTY_RENEGOTIATION_INFO_SCSV (RFC 5746 section 3.3).
        const SCSV: u16 = 0x00ff;
        match code {
            extension::SESSION_TICKET => self.ticket.is_some(),
            extension::RENEGOTIATION_INFO if self.suites.contains(&SCSV) => true,
            _ => self.more.iter().any(|known| known.code == code),
        }
    }

    /// Returns the handshake message, with its header of 4 bytes.
    pub fn message(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(512);
        put16(&mut body, self.legacy_version);
        body.extend(self.random);
        vec8(&mut body, &self.session_id);
        let suites: Vec<u8> = self.suites.iter().flat_map(|s| s.to_be_bytes()).collect();
        vec16(&mut body, &suites);
        vec8(&mut body, &self.compression);
        if self.extensions {
            let mut all = self.extension_bytes();
            // The length includes the header, the length of the extensions, and the padding's own header.
            let length = 4 + body.len() + 2 + all.len();
            if let Some(last) = &self.last {
                let missing = self.pad_to.saturating_sub(length + 4 + last.body.len());
                pad(&mut all, missing);
                put_extension(&mut all, last.code, &last.body);
            } else {
                pad(&mut all, self.pad_to.saturating_sub(length));
            }
            vec16(&mut body, &all);
        }
        let mut message = vec![1];
        message.extend(&u32::try_from(body.len()).unwrap_or(0).to_be_bytes()[1..]);
        message.extend(body);
        message
    }

    /// Returns the message in records of at most `most` bytes each.
    pub fn records(&self, most: usize) -> Vec<u8> {
        into_records(self.record_version, &self.message(), most)
    }

    fn extension_bytes(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(256);
        if let Some(name) = &self.server_name {
            let mut entry = vec![0];
            vec16(&mut entry, name.as_bytes());
            let mut list = Vec::new();
            vec16(&mut list, &entry);
            put_extension(&mut all, extension::SERVER_NAME, &list);
        }
        if let Some(groups) = &self.groups {
            put_extension(&mut all, extension::SUPPORTED_GROUPS, &list16(groups));
        }
        if let Some(schemes) = &self.signatures {
            put_extension(&mut all, extension::SIGNATURE_ALGORITHMS, &list16(schemes));
        }
        if let Some(protocols) = &self.alpn {
            let mut names = Vec::new();
            for name in protocols {
                vec8(&mut names, name);
            }
            let mut list = Vec::new();
            vec16(&mut list, &names);
            put_extension(&mut all, extension::ALPN, &list);
        }
        if let Some(ticket) = &self.ticket {
            put_extension(&mut all, extension::SESSION_TICKET, ticket);
        }
        if let Some(versions) = &self.versions {
            let codes: Vec<u8> = versions.iter().flat_map(|v| v.to_be_bytes()).collect();
            let mut list = Vec::new();
            vec8(&mut list, &codes);
            put_extension(&mut all, extension::SUPPORTED_VERSIONS, &list);
        }
        if let Some(shares) = &self.shares {
            let mut entries = Vec::new();
            for share in shares {
                put16(&mut entries, share.group);
                vec16(&mut entries, &share.public);
            }
            let mut list = Vec::new();
            vec16(&mut list, &entries);
            put_extension(&mut all, extension::KEY_SHARE, &list);
            put_extension(&mut all, extension::PSK_MODES, &[1, 1]);
        }
        for extension in &self.more {
            put_extension(&mut all, extension.code, &extension.body);
        }
        all
    }
}

/// Splits a handshake message into records of at most `most` bytes each.
fn into_records(version: u16, message: &[u8], most: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(message.len() + 5);
    for part in message.chunks(most.clamp(1, 16_384)) {
        bytes.push(22);
        put16(&mut bytes, version);
        vec16(&mut bytes, part);
    }
    bytes
}

fn pad(all: &mut Vec<u8>, missing: usize) {
    if missing > 0 {
        let zeros = vec![0; missing.saturating_sub(4)];
        put_extension(all, extension::PADDING, &zeros);
    }
}

fn list16(values: &[u16]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_be_bytes()).collect();
    let mut list = Vec::with_capacity(bytes.len() + 2);
    vec16(&mut list, &bytes);
    list
}

fn put_extension(all: &mut Vec<u8>, code: u16, body: &[u8]) {
    put16(all, code);
    vec16(all, body);
}

pub(crate) fn put16(to: &mut Vec<u8>, value: u16) {
    to.extend(value.to_be_bytes());
}

/// Writes bytes with their length. Everything written here is far below the limit of its length field; longer
/// values are cut, and a server refuses the hello.
pub(crate) fn vec8(to: &mut Vec<u8>, bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(255)];
    to.push(u8::try_from(bytes.len()).unwrap_or(u8::MAX));
    to.extend(bytes);
}

pub(crate) fn vec24(to: &mut Vec<u8>, bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(0xff_ffff)];
    let length = u32::try_from(bytes.len()).unwrap_or(0).to_be_bytes();
    to.extend(&length[1..]);
    to.extend(bytes);
}

pub(crate) fn vec16(to: &mut Vec<u8>, bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(65_535)];
    put16(to, u16::try_from(bytes.len()).unwrap_or(u16::MAX));
    to.extend(bytes);
}
