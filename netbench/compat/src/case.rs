//! A case in the format of the catalogue.

use std::{collections::BTreeMap, fmt};

use netbench_model::{
    CipherSuite, Group, Library, Standing, TlsVersion,
    compat::{CompatCase, Expected, Refusal},
    tls::one_of,
};
use netbench_protocol::{ClientIdentity, Ech, HttpRequest};
use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess, Visitor},
};

use crate::{
    certificates::{CertificateSpec, Staple, kebab_words},
    client::{ClientSpec, Visits},
    ech::{EchClientSpec, EchServerSpec},
};

/// A case: its record, and the description of its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Its name, the expected outcome, and the reason.
    pub record: CompatCase,
    pub(crate) spec: CaseSpec,
}

/// An entry of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct CaseSpec {
    name: String,
    about: String,
    expect: ExpectSpec,
    standing: Option<Standing>,
    why: String,
    #[serde(default)]
    observed: BTreeMap<String, String>,
    nothing_accepts: Option<String>,
    advice: String,
    #[serde(default)]
    advice_by: BTreeMap<Library, String>,
    #[serde(default = "usual_host")]
    pub(crate) host: String,
    #[serde(default)]
    pub(crate) certificates: BTreeMap<String, CertificateSpec>,
    #[serde(default = "usual_sent")]
    pub(crate) sent: Vec<String>,
    #[serde(default = "usual_trusted")]
    pub(crate) trusted: Vec<String>,
    #[serde(default)]
    pub(crate) server: ServerSpec,
    #[serde(default)]
    pub(crate) client: ClientSpec,
}

/// The expectation: `"accepted"`, or the reasons for which a client may refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ExpectSpec(Expected);

impl<'de> Deserialize<'de> for ExpectSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExpectVisitor)
    }
}

struct ExpectVisitor;

impl<'de> Visitor<'de> for ExpectVisitor {
    type Value = ExpectSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"accepted\", or a list of reasons such as [\"expired\"]")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ExpectSpec, E> {
        match text {
            "accepted" => Ok(ExpectSpec(Expected::Accepted)),
            other => Err(E::invalid_value(de::Unexpected::Str(other), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ExpectSpec, A::Error> {
        let mut reasons = Vec::new();
        while let Some(reason) = list.next_element::<Refusal>()? {
            reasons.push(reason);
        }
        if reasons.is_empty() {
            return Err(de::Error::invalid_length(0, &self));
        }
        Ok(ExpectSpec(Expected::Rejected(reasons)))
    }
}

pub(crate) fn usual_host() -> String {
    "case.netbench.test".to_owned()
}

pub(crate) fn usual_sent() -> Vec<String> {
    ["leaf", "intermediate"].map(str::to_owned).to_vec()
}

pub(crate) fn usual_trusted() -> Vec<String> {
    vec!["root".to_owned()]
}

/// The versions and algorithms of the server, and its behaviour.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct ServerSpec {
    /// Versions, the most preferred first.
    pub(crate) versions: Vec<TlsVersion>,
    /// Suites, the most preferred first.
    pub(crate) suites: Vec<CipherSuite>,
    /// Groups, the most preferred first.
    pub(crate) groups: Vec<Group>,
    pub(crate) alpn: Vec<String>,
    /// Whether the server chooses its first version and suite even if the client did not offer them, like servers
    /// older than TLS 1.3 that support no newer version.
    pub(crate) ignores_offer: bool,
    /// Whether the server requests another key share even if an acceptable one is present.
    pub(crate) always_retries: bool,
    /// The reaction to the ClientHello, in place of a response.
    pub(crate) at_hello: Option<AtHello>,
    /// The length on the wire above which a ClientHello gets that reaction.
    pub(crate) at_hello_over_bytes: Option<usize>,
    /// The extension, by its number, without which a ClientHello does not get that reaction.
    pub(crate) at_hello_with_extension: Option<u16>,
    /// A warning alert before the ServerHello.
    pub(crate) warns: Option<u8>,
    /// Whether the ServerHello's random ends with the bytes that RFC 8446 section 4.1.3 defines for a downgrade.
    pub(crate) downgrade_sentinel: bool,
    pub(crate) staple: Option<Staple>,
    pub(crate) client_certificate: ClientCertificate,
    /// The maximum length of the plaintext of a record.
    pub(crate) record_bytes: Option<usize>,
    /// The length of a write to the socket.
    pub(crate) write_bytes: Option<usize>,
    pub(crate) tickets: u8,
    /// The amount of early data that its tickets allow.
    pub(crate) early_data_bytes: Option<u32>,
    /// Number of KeyUpdate messages before the response, each of which requests one.
    pub(crate) key_updates: u16,
    /// Whether the server requests a renegotiation after the request, as IIS does for a client certificate.
    pub(crate) renegotiates: bool,
    /// The size of the Diffie-Hellman group, in bits.
    pub(crate) dh_bits: u16,
    pub(crate) extended_master_secret: bool,
    pub(crate) secure_renegotiation: bool,
    pub(crate) response: Response,
    pub(crate) end: End,
    /// Whether the server answers with status 403 to hellos without GREASE, which those of Chrome have (RFC 8701).
    pub(crate) forbids_without_grease: bool,
    /// The compression of its certificates.
    pub(crate) compression: Option<CompressionSpec>,
    /// Its Encrypted ClientHello; a server without a description does not know the extension.
    pub(crate) ech: Option<EchServerSpec>,
}

impl Default for ServerSpec {
    fn default() -> Self {
        Self {
            versions: vec![TlsVersion::Tls13, TlsVersion::Tls12],
            suites: CipherSuite::OFFERED.to_vec(),
            groups: vec![Group::X25519, Group::SECP256R1],
            alpn: vec!["http/1.1".to_owned()],
            ignores_offer: false,
            always_retries: false,
            at_hello: None,
            at_hello_over_bytes: None,
            at_hello_with_extension: None,
            warns: None,
            downgrade_sentinel: false,
            staple: None,
            client_certificate: ClientCertificate::NotAsked,
            record_bytes: None,
            write_bytes: None,
            tickets: 0,
            early_data_bytes: None,
            key_updates: 0,
            renegotiates: false,
            dh_bits: 2048,
            extended_master_secret: true,
            secure_renegotiation: true,
            response: Response::WithLength,
            end: End::CloseNotify,
            forbids_without_grease: false,
            compression: None,
            ech: None,
        }
    }
}

kebab_words!(ClientCertificate, "client certificate", {
    NotAsked = "not-asked",
    Asked = "asked",
    Required = "required",
});

kebab_words!(Response, "response", {
    WithLength = "with-length",
    UntilClose = "until-close",
    Upgrade = "upgrade",
});

kebab_words!(End, "end", {
    CloseNotify = "close-notify",
    WithoutCloseNotify = "without-close-notify",
});

/// The compression of a server's certificates (RFC 8879).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct CompressionSpec {
    pub(crate) algorithm: Algorithm,
    pub(crate) flaw: Option<CompressionFlaw>,
}

// `Offered` is any of the client's, `NotOffered` is none of them; `Unasked` is for clients that offer no compression.
kebab_words!(Algorithm, "algorithm", {
    Zlib = "zlib",
    Brotli = "brotli",
    Zstd = "zstd",
    Offered = "offered",
    NotOffered = "not-offered",
    Unasked = "unasked",
});

// `LengthLess` and `LengthMore` state one byte less or more than there is. `Bomb` states the right length, and goes on to
// 16 MiB; `BombAsStated` states the length to which it goes on, the longest of all.
kebab_words!(CompressionFlaw, "flaw", {
    LengthLess = "length-less",
    LengthMore = "length-more",
    Bomb = "bomb",
    BombAsStated = "bomb-as-stated",
    Garbage = "garbage",
    Empty = "empty",
});

/// A server's reaction to a ClientHello in place of a response: `stall`, `reset`, `close`, or a fatal alert by its
/// number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AtHello {
    Stall,
    Reset,
    Close,
    Alert(u8),
}

impl Case {
    /// Returns whether its server requires GREASE in the hello.
    pub fn needs_grease(&self) -> bool {
        self.spec.server.forbids_without_grease
    }

    /// Returns whether its server compresses its certificates for clients that offer it, as it should.
    pub fn compresses_certificates(&self) -> bool {
        let compression = self.spec.server.compression;
        compression.is_some() && self.record.expected == Expected::Accepted
    }

    /// Returns the certificate that its client shows to a server that requests one.
    pub fn identity(&self) -> Option<ClientIdentity> {
        self.spec.client.identity()
    }

    /// Returns the Encrypted ClientHello of its client, if there is one.
    pub fn ech(&self) -> Option<Ech> {
        self.spec.client.ech()
    }

    /// Returns the list of configurations of Encrypted ClientHello that its client is given.
    pub fn ech_configs(&self) -> Option<Vec<u8>> {
        let ech = self.spec.client.ech.as_ref()?;
        (!ech.grease).then(|| ech.list())
    }

    /// Returns whether its client must offer Encrypted ClientHello, because it is given a configuration that it can use.
    pub fn has_usable_ech(&self) -> bool {
        let ech = self.spec.client.ech.as_ref();
        ech.is_some_and(EchClientSpec::is_usable)
    }

    /// Returns whether its server requests a client certificate.
    pub fn asks_for_certificate(&self) -> bool {
        self.spec.server.client_certificate != ClientCertificate::NotAsked
    }

    /// Returns the request of its client.
    pub fn request(&self) -> HttpRequest {
        self.spec.client.request()
    }

    /// Returns how often its client visits the server.
    pub fn visits(&self) -> Visits {
        self.spec.client.visits
    }
}

impl From<CaseSpec> for Case {
    fn from(spec: CaseSpec) -> Self {
        Self {
            record: CompatCase {
                name: spec.name.clone(),
                about: spec.about.clone(),
                expected: spec.expect.0.clone(),
                standing: spec.standing,
                why: spec.why.clone(),
                observed: spec.observed.clone(),
                nothing_accepts: spec.nothing_accepts.clone(),
                advice: spec.advice.clone(),
                advice_by: spec.advice_by.clone(),
                host: spec.host.clone(),
            },
            spec,
        }
    }
}
