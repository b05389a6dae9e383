mod failing;

use netbench_model::{
    Alpn, CipherSuite, ClientSettings, Condition, FailureClass, FailureReason, Group, KeyType,
    LabProfile, Profile, Role, SignatureScheme, Switch, TlsVersion, tls::Authentication,
};
use netbench_protocol::StackDescription;

/// Time limit of a connection, longer than any connection of the table needs on a busy machine.
const PATIENCE_MS: u64 = 20_000;

/// The connection that creates a session for a resumption.
const PRIME: (Condition, Role) = (Condition::Resumed, Role::Prime);

/// Key types whose work differs. The generation of longer RSA keys would be too slow.
const KEYS: [KeyType; 5] = [
    KeyType::EcdsaP256,
    KeyType::Rsa2048,
    KeyType::EcdsaP384,
    KeyType::Ed25519,
    KeyType::MlDsa65,
];

const RSA_SCHEMES: &[SignatureScheme] = &[
    SignatureScheme::RSA_PSS_RSAE_SHA256,
    SignatureScheme::RSA_PSS_RSAE_SHA384,
    SignatureScheme::RSA_PSS_RSAE_SHA512,
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PKCS1_SHA512,
];

const ECDSA_SCHEMES: &[SignatureScheme] = &[
    SignatureScheme::ECDSA_SECP256R1_SHA256,
    SignatureScheme::ECDSA_SECP384R1_SHA384,
];

/// One connection, or two of which the second is judged, to a separate site.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// A host name: letters, digits, hyphens.
    pub(crate) name: String,
    pub(crate) site: LabProfile,
    pub(crate) client: ClientSettings,
    pub(crate) roots: Roots,
    /// An earlier connection, which must be a successful full handshake.
    pub(crate) before: Option<(Condition, Role)>,
    pub(crate) condition: Condition,
    pub(crate) timeout_ms: u64,
    /// The parameters of a connection that succeeds.
    pub(crate) due: Agreed,
    pub(crate) outcome: Outcome,
}

impl Case {
    /// Returns whether the stack must report that it does not support the case.
    pub(crate) fn is_to_be_unsupported(&self) -> bool {
        matches!(self.outcome, Outcome::Unsupported)
    }
}

/// The trust roots of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Roots {
    /// The roots of the lab.
    Lab,
    /// Another text.
    Text(&'static str),
}

/// The expected outcome of a case.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// A response, on a connection with the parameters of the case.
    Success,
    /// A failure of this class, with this reason if given.
    Failure(FailureClass, Option<FailureReason>),
    /// The stack reports that it does not support the case.
    Unsupported,
}

/// The expected parameters; `None` if any value is correct.
#[derive(Debug, Clone)]
pub(crate) struct Agreed {
    pub(crate) version: TlsVersion,
    pub(crate) suite: Option<CipherSuite>,
    pub(crate) group: Option<Group>,
    /// The permitted schemes of the server's signature; empty if the server does not sign, or if any scheme is correct.
    pub(crate) signatures: &'static [SignatureScheme],
    pub(crate) alpn: Option<Alpn>,
    pub(crate) resumed: bool,
}

/// Returns every case for a stack with the description `can`.
pub(crate) fn all(can: &StackDescription) -> Vec<Case> {
    let mut cases = Vec::new();
    for version in TlsVersion::OFFERED.iter().copied() {
        for condition in [Condition::Clean, Condition::Resumed] {
            for alpn in Alpn::ALL.iter().copied() {
                for group in groups_of(can, version) {
                    for key in KEYS
                        .iter()
                        .copied()
                        .filter(|key| key.oldest_version() <= version)
                    {
                        cases.push(plain(version, condition, alpn, group, key));
                    }
                }
            }
        }
        cases.push(no_tickets(version));
        cases.extend(never_resumed(version));
    }
    cases.extend(can.suites.iter().map(|suite| one_suite(*suite)));
    cases.extend(other_suites(can));
    cases.extend(other_groups(can));
    cases.extend(settings_in_common());
    cases.push(address_as_host());
    cases.extend(sizes());
    cases.extend(failing::all());
    cases.retain(|case| {
        let site = &case.site;
        scheme_of(site.key).is_none_or(|scheme| can.signatures.contains(&scheme))
            && site.groups.iter().all(|group| can.groups.contains(group))
            && site.suites.iter().all(|suite| can.suites.contains(suite))
    });
    for case in &mut cases {
        let lacking = case.client.clone();
        offer_only(can, &mut case.client);
        if case.is_to_be_unsupported() {
            (case.client.suites, case.client.groups) = (lacking.suites, lacking.groups);
        }
    }
    // A case of one suite or group that the stack lacks has an empty offer.
    cases.retain(|case| !case.client.suites.is_empty() && !case.client.groups.is_empty());
    cases
}

/// Returns the cases whose outcome is the same with the default settings of the client's library.
pub(crate) fn with_the_librarys_settings(
    can: &StackDescription,
    mut cases: Vec<Case>,
) -> Vec<Case> {
    let mut usual = client();
    offer_only(can, &mut usual);
    usual.groups.sort_unstable();
    cases.retain(|case| {
        let own = &case.client;
        let mut groups = own.groups.clone();
        groups.sort_unstable();
        groups == usual.groups
            && own.suites == usual.suites
            && own.signatures == usual.signatures
            && own.profile != Profile::Servo
            // The library need not request a stapled response by default.
            && !case.name.contains(STAPLED)
    });
    for case in &mut cases {
        case.client.profile = Profile::Library;
    }
    cases
}

/// Returns the scheme that a client needs for servers with this key, or `None` for keys with several schemes.
fn scheme_of(key: KeyType) -> Option<SignatureScheme> {
    match key {
        KeyType::Rsa2048 | KeyType::Rsa3072 | KeyType::Rsa4096 => None,
        other => other.schemes().first().copied(),
    }
}

/// Removes the suites, groups and signature schemes that the stack does not list, as the runner does.
pub(crate) fn offer_only(can: &StackDescription, client: &mut ClientSettings) {
    client.suites.retain(|suite| can.suites.contains(suite));
    client.groups.retain(|group| can.groups.contains(group));
    client
        .signatures
        .retain(|scheme| can.signatures.contains(scheme));
}

/// Returns the default settings of the client.
pub(crate) fn client() -> ClientSettings {
    ClientSettings {
        profile: Profile::Default,
        versions: TlsVersion::OFFERED.to_vec(),
        suites: CipherSuite::OFFERED.to_vec(),
        groups: vec![Group::X25519, Group::SECP256R1, Group::SECP384R1],
        signatures: SignatureScheme::OFFERED.to_vec(),
        alpn: Alpn::ALL.to_vec(),
    }
}

fn site() -> LabProfile {
    LabProfile {
        key: KeyType::EcdsaP256,
        ..LabProfile::default()
    }
}

/// Returns a case that succeeds, with the default settings of both sides.
pub(crate) fn good(name: impl Into<String>) -> Case {
    Case {
        name: host(&name.into()),
        site: site(),
        client: client(),
        roots: Roots::Lab,
        before: None,
        condition: Condition::Clean,
        timeout_ms: PATIENCE_MS,
        due: Agreed {
            version: TlsVersion::Tls13,
            suite: None,
            group: None,
            signatures: &[],
            alpn: Some(Alpn::H2),
            resumed: false,
        },
        outcome: Outcome::Success,
    }
}

/// Returns a case that succeeds, with a server that has this version alone.
fn of_version(version: TlsVersion, name: &str) -> Case {
    let mut case = good(format!("{version}-{name}"));
    case.site.tls = vec![version];
    case.due.version = version;
    case
}

/// Returns the host of a case.
pub(crate) fn host(name: &str) -> String {
    let label: String = name
        .to_ascii_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    format!("{label}.test")
}

fn groups_of(can: &StackDescription, version: TlsVersion) -> Vec<Group> {
    let mut groups = can.groups.clone();
    // A hybrid is for TLS 1.3 (draft-ietf-tls-ecdhe-mlkem).
    groups.retain(|group| version == TlsVersion::Tls13 || *group != Group::X25519MLKEM768);
    groups
}

fn plain(
    version: TlsVersion,
    condition: Condition,
    alpn: Alpn,
    group: Group,
    key: KeyType,
) -> Case {
    let signatures: &[SignatureScheme] = match key {
        KeyType::Rsa2048 | KeyType::Rsa3072 | KeyType::Rsa4096 => RSA_SCHEMES,
        // Before TLS 1.3, ECDSA schemes did not specify the curve (RFC 8446 section 4.2.3).
        KeyType::EcdsaP256 | KeyType::EcdsaP384 if version == TlsVersion::Tls12 => ECDSA_SCHEMES,
        other => other.schemes(),
    };
    let resumed = condition == Condition::Resumed;
    let mut case = of_version(version, &format!("{condition}-{alpn}-{group}-{key}"));
    case.site.alpn = vec![alpn];
    case.site.key = key;
    case.site.groups = vec![group];
    case.client
        .signatures
        .extend(case.site.additional_schemes());
    // The other groups stay: a certificate's curve must be among them too (RFC 8422 section 5.1.1).
    case.client.groups.retain(|other| *other != group);
    case.client.groups.insert(0, group);
    case.condition = condition;
    case.before = resumed.then_some(PRIME);
    case.due.alpn = Some(alpn);
    case.due.resumed = resumed;
    // A resumed session of TLS 1.2 has no key exchange.
    case.due.group = Some(group).filter(|_| !resumed || version == TlsVersion::Tls13);
    case.due.signatures = if resumed { &[] } else { signatures };
    case
}

fn no_tickets(version: TlsVersion) -> Case {
    let mut case = of_version(version, "no-tickets");
    case.site.tickets = 0;
    case.before = Some(PRIME);
    case.condition = Condition::Resumed;
    case
}

/// Returns the cases in which a new connector must not resume, whatever the earlier connection.
fn never_resumed(version: TlsVersion) -> Vec<Case> {
    let visits = [
        ("clean", (Condition::Clean, Role::Measured)),
        ("warmup", (Condition::Clean, Role::Warmup)),
        ("prime", PRIME),
    ];
    visits
        .into_iter()
        .map(|(what, visit)| {
            let mut case = of_version(version, &format!("clean-after-{what}"));
            case.before = Some(visit);
            case
        })
        .collect()
}

/// Returns the case of a client that offers a single suite, to a server that accepts only that suite.
fn one_suite(suite: CipherSuite) -> Case {
    let mut case = good(format!("only-{suite}"));
    if suite.facts().map(|facts| facts.authentication) == Some(Authentication::Rsa) {
        case.site.key = KeyType::Rsa2048;
    }
    case.site.suites = vec![suite];
    case.client.suites = vec![suite];
    // RFC 9113 section 9.2.2 prohibits CBC and RSA key exchange in HTTP/2.
    let alpn = if CipherSuite::OFFERED.contains(&suite) {
        Alpn::H2
    } else {
        Alpn::Http11
    };
    case.site.alpn = vec![alpn];
    case.due.version = suite.version();
    case.due.suite = Some(suite);
    case.due.alpn = Some(alpn);
    case
}

/// Returns the cases of suites that the stack does not list.
fn other_suites(can: &StackDescription) -> Vec<Case> {
    let cases = CipherSuite::SERVED
        .iter()
        .filter(|suite| !can.suites.contains(suite))
        .map(|suite| {
            let mut case = good(format!("lacks-{suite}"));
            case.client.suites = vec![*suite];
            case.outcome = Outcome::Unsupported;
            case
        });
    cases.collect()
}

fn other_groups(can: &StackDescription) -> Vec<Case> {
    let cases = Group::OFFERED
        .iter()
        .filter(|group| !can.groups.contains(group))
        .map(|group| {
            let mut case = good(format!("lacks-{group}"));
            case.client.groups = vec![*group];
            case.outcome = Outcome::Unsupported;
            case
        });
    let mut cases: Vec<_> = cases.collect();
    if can.groups.contains(&Group::X25519MLKEM768) {
        // The client sends key shares for the hybrid and for x25519, so there is no second round trip.
        let mut offered = client().groups;
        offered.insert(0, Group::X25519MLKEM768);
        cases.push(other_share(HYBRID_REFUSED, offered, Group::X25519));
        cases.push(other_share(RETRIED, client().groups, Group::SECP384R1));
    }
    cases
}

/// Returns the case of a server with a single group that is not the client's first. The only round trips that can
/// differ are those of the handshake, because the server sends no tickets and uses HTTP/1.1.
fn other_share(name: &str, offered: Vec<Group>, group: Group) -> Case {
    let mut case = good(name);
    case.client.groups = offered;
    case.site.groups = vec![group];
    case.site.tickets = 0;
    case.site.alpn = vec![Alpn::Http11];
    case.due.group = Some(group);
    case.due.alpn = Some(Alpn::Http11);
    case
}

/// Returns the cases with different settings on the two sides that have common values.
fn settings_in_common() -> Vec<Case> {
    let mut cases = Vec::new();

    let mut case = good("no-alpn");
    case.site.alpn = Vec::new();
    case.due.alpn = None;
    cases.push(case);

    let mut case = good("server-prefers");
    case.site.suites = vec![
        CipherSuite::TLS_AES_256_GCM_SHA384,
        CipherSuite::TLS_AES_128_GCM_SHA256,
    ];
    case.site.alpn = vec![Alpn::Http11, Alpn::H2];
    case.due.suite = Some(CipherSuite::TLS_AES_256_GCM_SHA384);
    case.due.alpn = Some(Alpn::Http11);
    cases.push(case);

    // A side must not negotiate a version without a suite of that version.
    let mut case = good("old-suites-at-the-server");
    case.site.suites = vec![CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256];
    case.due.version = TlsVersion::Tls12;
    cases.push(case);

    let mut case = good("new-suites-at-the-client");
    case.client.suites = vec![CipherSuite::TLS_CHACHA20_POLY1305_SHA256];
    case.due.suite = Some(CipherSuite::TLS_CHACHA20_POLY1305_SHA256);
    cases.push(case);

    for profile in [Profile::Servo, Profile::Library] {
        let mut case = good(format!("profile-{profile:?}"));
        case.client.profile = profile;
        cases.push(case);
    }
    cases
}

/// Returns the case of a certificate for an address (RFC 5280 section 4.2.1.6), without a server name (RFC 6066 section
/// 3).
fn address_as_host() -> Case {
    Case {
        name: "127.0.0.1".to_owned(),
        ..good("")
    }
}

/// Returns the cases of bodies that fill every buffer on the path, a long chain, and a stapled response.
fn sizes() -> Vec<Case> {
    let mut cases = Vec::new();
    for alpn in Alpn::ALL.iter().copied() {
        let mut case = good(format!("large-body-{alpn}"));
        case.site.body_bytes = 8 << 20;
        case.site.alpn = vec![alpn];
        case.due.alpn = Some(alpn);
        cases.push(case);
    }
    let mut case = good("long-chain");
    case.site.chain.length = 5;
    case.site.chain.bytes = 20_000;
    cases.push(case);
    for version in TlsVersion::OFFERED.iter().copied() {
        for (name, ocsp) in [(STAPLED, Switch::On), (NOT_STAPLED, Switch::Off)] {
            let mut case = of_version(version, name);
            case.site.ocsp = ocsp;
            cases.push(case);
        }
    }
    cases
}

/// The names of cases that are compared with each other.
pub(crate) const HYBRID_REFUSED: &str = "hybrid-refused";
pub(crate) const RETRIED: &str = "hello-retry";
pub(crate) const STAPLED: &str = "stapled";
pub(crate) const NOT_STAPLED: &str = "not-stapled";
