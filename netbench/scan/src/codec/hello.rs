//! ClientHellos, as fields and as bytes.

use super::{
    extension,
    writer::{
        list16, message, protocol_list, put_extension, put_records, put_u16, put_vec8, put_vec16,
        vec8, vec16,
    },
};

/// One extension: its code point, and its body without its length.
pub type Extension = (u16, Vec<u8>);

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
        let plain = plain.map(|(code, body)| (code, body.to_vec()));
        self.more.extend(plain);
    }

    /// Removes extensions that can be left out of any hello.
    pub fn leave_out(&mut self, codes: &[u16]) {
        self.more.retain(|(known, _)| !codes.contains(known));
        if codes.contains(&extension::ALPN) {
            self.alpn = None;
        }
        if codes.contains(&extension::SESSION_TICKET) {
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
            _ => self.more.iter().any(|(known, _)| *known == code),
        }
    }

    /// Returns the handshake message, with its header of 4 bytes.
    pub fn message(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(512);
        put_u16(&mut body, self.legacy_version);
        body.extend(self.random);
        put_vec8(&mut body, &self.session_id);
        body.extend(list16(self.suites.iter().copied()));
        put_vec8(&mut body, &self.compression);
        if self.extensions {
            let mut all = self.extension_bytes();
            // The length includes the header, the length of the extensions, and the padding's own header.
            let length = 4 + body.len() + 2 + all.len();
            if let Some((code, last)) = &self.last {
                let missing = self.pad_to.saturating_sub(length + 4 + last.len());
                pad(&mut all, missing);
                put_extension(&mut all, *code, last);
            } else {
                pad(&mut all, self.pad_to.saturating_sub(length));
            }
            put_vec16(&mut body, &all);
        }
        message(1, &body)
    }

    /// Returns the message in records of at most `most` bytes each.
    pub fn records(&self, most: usize) -> Vec<u8> {
        let mut records = Vec::new();
        put_records(&mut records, self.record_version, &self.message(), most);
        records
    }

    fn extension_bytes(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(256);
        if let Some(name) = &self.server_name {
            let mut entry = vec![0];
            put_vec16(&mut entry, name.as_bytes());
            put_extension(&mut all, extension::SERVER_NAME, &vec16(&entry));
        }
        if let Some(groups) = &self.groups {
            let groups = list16(groups.iter().copied());
            put_extension(&mut all, extension::SUPPORTED_GROUPS, &groups);
        }
        if let Some(schemes) = &self.signatures {
            let schemes = list16(schemes.iter().copied());
            put_extension(&mut all, extension::SIGNATURE_ALGORITHMS, &schemes);
        }
        if let Some(protocols) = &self.alpn {
            let names = protocols.iter().map(Vec::as_slice);
            put_extension(&mut all, extension::ALPN, &protocol_list(names));
        }
        if let Some(ticket) = &self.ticket {
            put_extension(&mut all, extension::SESSION_TICKET, ticket);
        }
        if let Some(versions) = &self.versions {
            let codes: Vec<u8> = versions.iter().flat_map(|v| v.to_be_bytes()).collect();
            put_extension(&mut all, extension::SUPPORTED_VERSIONS, &vec8(&codes));
        }
        if let Some(shares) = &self.shares {
            let mut entries = Vec::new();
            for share in shares {
                put_extension(&mut entries, share.group, &share.public);
            }
            put_extension(&mut all, extension::KEY_SHARE, &vec16(&entries));
            put_extension(&mut all, extension::PSK_MODES, &[1, 1]);
        }
        for (code, body) in &self.more {
            put_extension(&mut all, *code, body);
        }
        all
    }
}

fn pad(all: &mut Vec<u8>, missing: usize) {
    if missing > 0 {
        let zeros = vec![0; missing.saturating_sub(4)];
        put_extension(all, extension::PADDING, &zeros);
    }
}
