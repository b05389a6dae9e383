//! The options of a test, as rustls' configurations need them.

use std::{fs, sync::Arc};

use netbench_tls::{CipherSuite, Group, SignatureScheme};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject};

use super::Observed;
use crate::{Failure, Options, options::hex_list};

/// Certificate types (RFC 7250).
pub(super) const X509: u16 = 0;
pub(super) const RAW: u16 = 2;

/// The maximum early data that BoringSSL accepts, which the runner's tests require.
const EARLY_DATA_BYTES: u32 = 14336;

/// The certificate that this side shows, or its raw public key.
#[derive(Debug)]
pub struct OwnCertificate {
    /// The private key.
    pub key: PrivateKeyDer<'static>,
    /// The chain, if there is one.
    pub chain: Option<Vec<CertificateDer<'static>>>,
    /// The schemes with which the key signs, in order of preference; empty for all.
    pub prefs: Vec<u16>,
    /// The response to staple.
    pub ocsp: Option<Vec<u8>>,
}

impl OwnCertificate {
    /// Returns the certificate of the test, or `None` if there is none.
    ///
    /// # Errors
    /// Returns [`Failure::Unsupported`] for a choice that rustls leaves to its user, [`Failure::Failed`] for a file that
    /// cannot be read.
    pub fn new(options: &Options) -> Result<Option<Self>, Failure> {
        // A server's response is part of its certificate. The behaviour without one would be the shim's
        // decision.
        if options.on("-server")
            && options.on("-use-ocsp-callback")
            && (options.on("-decline-ocsp-callback") || options.on("-fail-ocsp-callback"))
        {
            return Err(Failure::unsupported(
                "a callback that decides whether a server staples a response",
            ));
        }
        let given = match options.credentials() {
            [] => &**options,
            // rustls leaves the choice among several to its user, which would be the shim.
            [one] if options.text("-cert-file").is_none() && !one.on("-must-match-issuer") => {
                &**one
            }
            _ => return Err(Failure::unsupported("a choice among several certificates")),
        };
        let cert_file = given.text("-cert-file");
        let prefs = given.codes("-signing-prefs");
        let ocsp = given.bytes("-ocsp-response").map(<[u8]>::to_vec);
        let Some(key_file) = given.text("-key-file") else {
            return Ok(None);
        };
        Ok(Some(Self {
            key: PrivateKeyDer::from_pem_file(key_file)
                .map_err(|e| Failure::failed(e.to_string()))?,
            chain: cert_file.as_deref().map(chain).transpose()?,
            prefs,
            ocsp,
        }))
    }
}

/// Reads the certificates of a file.
pub(super) fn chain(file: &str) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let pem = fs::read(file)?;
    CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(|e| Failure::failed(e.to_string()))
}

/// The conduct of a verifier, apart from the verification of signatures: it accepts every chain, unless the test requires
/// otherwise.
#[derive(Debug)]
pub struct PeerRules {
    /// Whether a server requests a certificate.
    pub asks: bool,
    /// Whether the peer must send a certificate.
    pub required: bool,
    /// Whether the peer must send a raw public key.
    pub raw: bool,
    /// The distinguished names of CAs that a server sends.
    pub ca_names: Vec<Vec<u8>>,
    /// The record of the connection.
    pub observed: Arc<Observed>,
    fails: bool,
    ocsp_fails: bool,
}

/// The reason for which the application rejects a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The application rejects every chain.
    Chain,
    /// The application rejects the stapled response.
    Staple,
}

impl PeerRules {
    /// Returns the rules of the test.
    ///
    /// # Errors
    /// Returns [`Failure::Unsupported`] for a choice of certificate types, which rustls does not have.
    pub fn new(options: &Options, observed: Arc<Observed>) -> Result<Self, Failure> {
        let required = options.on("-require-any-client-certificate");
        let asks = options.on("-verify-peer") || required;
        let ca_names = match options.text("-use-client-ca-list").as_deref() {
            None | Some("<NULL>" | "<EMPTY>") => Vec::new(),
            Some(list) => hex_list(list)?,
        };
        let raw = requires_raw_key(options)?;
        let own_raw = options.has_raw_key();
        match *options.codes("-available-client-cert-types") {
            [] => {}
            [X509] if !own_raw => {}
            [RAW] if own_raw => {}
            _ => return Err(Failure::unsupported("a choice of certificate types")),
        }
        Ok(Self {
            asks,
            required,
            fails: (asks || raw) && options.on("-verify-fail"),
            ocsp_fails: !options.on("-server")
                && options.on("-use-ocsp-callback")
                && options.on("-fail-ocsp-callback"),
            raw,
            ca_names,
            observed,
        })
    }

    /// Decides on the chain of the server with this name; an error is the refusal that the test requires.
    pub fn judge_server(&self, name: &ServerName<'_>, ocsp: &[u8]) -> Result<(), Refusal> {
        let mut observed = self.observed.get();
        observed.ocsp = Some(ocsp.to_vec());
        observed.verified_name = Some(name.to_str().into_owned());
        if self.fails {
            return Err(Refusal::Chain);
        }
        if self.ocsp_fails {
            return Err(Refusal::Staple);
        }
        observed.verified = true;
        Ok(())
    }

    /// Decides on the chain of a client as [`Self::judge_server`] does.
    pub fn judge_client(&self) -> Result<(), Refusal> {
        if self.fails {
            return Err(Refusal::Chain);
        }
        self.observed.get().verified = true;
        Ok(())
    }
}

/// Returns whether the peer must send a raw public key; rustls requests one type, never a choice.
fn requires_raw_key(options: &Options) -> Result<bool, Failure> {
    match *options.codes("-accepted-peer-cert-types") {
        [] | [X509] => Ok(false),
        [RAW] => Ok(true),
        _ => Err(Failure::unsupported("a choice of certificate types")),
    }
}

/// The versions that a test permits, of those that rustls has. At least one is permitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Versions {
    /// Whether TLS 1.2 is permitted.
    pub tls12: bool,
    /// Whether TLS 1.3 is permitted.
    pub tls13: bool,
}

impl Versions {
    /// Returns the versions that the test permits.
    ///
    /// # Errors
    /// Returns [`Failure::Unsupported`] if rustls has none of them.
    pub fn new(options: &Options) -> Result<Self, Failure> {
        const TLS12: i64 = 0x0303;
        const TLS13: i64 = 0x0304;
        let least = options.number("-min-version").unwrap_or(0);
        let most = options.number("-max-version").filter(|most| *most != 0);
        let permitted = least..=most.unwrap_or(i64::MAX);
        // rustls' QUIC and its raw public keys require TLS 1.3.
        let raw = options.has_raw_key() || requires_raw_key(options)?;
        let needs_new = options.on("-quic") || raw;
        let versions = Self {
            tls12: permitted.contains(&TLS12) && !options.on("-no-tls12") && !needs_new,
            tls13: permitted.contains(&TLS13) && !options.on("-no-tls13"),
        };
        if !versions.tls12 && !versions.tls13 {
            return Err(Failure::unsupported("versions other than TLS 1.2 and 1.3"));
        }
        Ok(versions)
    }
}

/// Returns the parts of rustls with the code points of a flag, in this order, from all that it has; `None` without the
/// flag.
///
/// # Errors
/// Returns [`Failure::Unsupported`] for the first that it lacks.
pub fn supported<T: Copy>(
    options: &Options,
    flag: &str,
    all: &[T],
    code: impl Fn(&T) -> u16,
) -> Result<Option<Vec<T>>, Failure> {
    let wanted = options.codes(flag).into_iter().map(|wanted| {
        let found = all.iter().find(|one| code(one) == wanted);
        found
            .copied()
            .ok_or_else(|| Failure::unsupported(describe(flag, wanted)))
    });
    let found: Vec<_> = wanted.collect::<Result<_, _>>()?;
    Ok(Some(found).filter(|found| !found.is_empty()))
}

/// Returns the words for a code point of a flag.
fn describe(flag: &str, code: u16) -> String {
    match flag {
        "-curves" => format!("the group {}", Group(code)),
        "-tls13-ciphers" => format!("the cipher suite {}", CipherSuite(code)),
        _ => format!("verification of {} signatures", SignatureScheme(code)),
    }
}

/// Ciphers in OpenSSL's lists of suites, with the corresponding part of the suites' names.
const CIPHERS: [(&str, &str); 3] = [
    ("3DES", "_3DES_"),
    ("AES128", "_AES_128_"),
    ("CHACHA20", "_CHACHA20_"),
];

/// Returns the cipher to which the test restricts the suites of TLS 1.2, and the part of their names. OpenSSL's syntax for
/// longer lists has no equivalent in rustls.
///
/// # Errors
/// Returns [`Failure::Unsupported`] for a list.
pub fn cipher(options: &Options) -> Result<Option<(&'static str, &'static str)>, Failure> {
    let Some(cipher) = options.text("-cipher") else {
        return Ok(None);
    };
    let known = CIPHERS.into_iter().find(|(name, _)| *name == cipher);
    let known = known.ok_or_else(|| Failure::unsupported("flag -cipher, with a list"))?;
    Ok(Some(known))
}

/// Returns the name of a client's server. rustls requires one for its session cache, whether it is sent or not.
///
/// # Errors
/// Returns [`Failure::Unsupported`] for a name that rustls cannot send.
pub(super) fn host_name(options: &Options) -> Result<ServerName<'static>, Failure> {
    let name = options.text("-host-name");
    ServerName::try_from(name.unwrap_or_else(|| "test".to_owned()))
        .map_err(|_| Failure::unsupported("a host name that is none"))
}

/// Returns the size of a record from `-max-send-fragment`.
pub fn fragment(options: &Options) -> Option<usize> {
    const RECORD_HEADER: usize = 5;
    let size = options.number("-max-send-fragment")?;
    usize::try_from(size).ok().map(|size| size + RECORD_HEADER)
}

/// Returns the early data that a server accepts, or `None` if it accepts none.
pub fn early_data_bytes(options: &Options) -> Option<u32> {
    let bytes = if options.on("-quic") {
        u32::MAX
    } else {
        EARLY_DATA_BYTES
    };
    options.on("-enable-early-data").then_some(bytes)
}

/// Returns the protocols that a client offers.
///
/// # Errors
/// Returns [`Failure::Unsupported`] for a malformed list.
pub fn advertised_protocols(options: &Options) -> Result<Vec<Vec<u8>>, Failure> {
    let mut wire = options.bytes("-advertise-alpn").unwrap_or_default();
    let mut protocols = Vec::new();
    while let [length, rest @ ..] = wire {
        let length = usize::from(*length);
        if length == 0 || length > rest.len() {
            return Err(Failure::unsupported("a malformed list of protocols"));
        }
        protocols.push(rest[..length].to_vec());
        wire = &rest[length..];
    }
    Ok(protocols)
}

/// Returns the protocols from which a server selects.
pub fn selected_protocols(options: &Options) -> Vec<Vec<u8>> {
    if options.on("-reject-alpn") {
        return vec![b"\xffnobody offers this".to_vec()];
    }
    if options.on("-decline-alpn") {
        return Vec::new();
    }
    let selected = options.bytes("-select-alpn").map(<[u8]>::to_vec);
    selected.into_iter().collect()
}
