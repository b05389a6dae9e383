//! Failures of trials: the classes and words that every worker uses, so that reports can group by them.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::{Alert, Phase, named::words};

/// The failure of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The class.
    pub class: FailureClass,
    /// A short, stable word to group by, such as the alert or the certificate's fault.
    pub reason: FailureReason,
    /// The stack's message, without escape codes.
    pub detail: String,
    /// The phase of the connection.
    pub phase: Option<Phase>,
    /// Time from the start to the failure, in nanoseconds.
    pub after_ns: Option<u64>,
}

impl Failure {
    /// Creates a failure outside the phases of a connection.
    pub fn new(class: FailureClass, reason: impl Into<FailureReason>, detail: String) -> Self {
        Self {
            class,
            reason: reason.into(),
            detail,
            phase: None,
            after_ns: None,
        }
    }
}

words!(
    /// The class of a failure.
    #[schemars(extend("x-key" = "item"))]
    FailureClass, {
        /// The name did not resolve.
        Resolve = "resolve",
        /// TCP did not connect.
        Connect = "connect",
        /// The time limit passed.
        Timeout = "timeout",
        /// The connection was reset or closed before it was finished.
        Closed = "closed",
        /// The server sent a TLS alert.
        Alert = "alert",
        /// The stack refused the server's certificate.
        Certificate = "certificate",
        /// The stack refused the server's message, or found no common parameters.
        Protocol = "protocol",
        /// The server rejected Encrypted ClientHello, and proved the public name (RFC 9849 section 6.1.6).
        EchRejected = "ech-rejected",
        /// The response was not HTTP, or was not complete.
        Http = "http",
        /// Handshake and response succeeded, but differ from what the case requires.
        WrongWork = "wrong-work",
        /// The configuration that the case requires could not be made.
        Setup = "setup",
        /// The worker died, hung, or printed an invalid answer.
        Worker = "worker",
    }
);

words!(
    /// A fault of a certificate, as a stack finds it.
    CertificateFault, {
        /// The stack cannot parse the DER.
        BadEncoding = "bad-encoding",
        /// A signature does not verify.
        BadSignature = "bad-signature",
        /// The validity period has not started.
        NotYetValid = "not-yet-valid",
        /// The validity period has ended.
        Expired = "expired",
        /// The issuer has revoked the certificate.
        Revoked = "revoked",
        /// No chain leads to a trusted root.
        UnknownIssuer = "unknown-issuer",
        /// An issuer is not permitted to issue.
        BadCa = "bad-ca",
        /// The server's certificate is a CA certificate.
        CaAsLeaf = "ca-as-leaf",
        /// The certificate is not for servers.
        BadPurpose = "bad-purpose",
        /// The certificate is for another host.
        WrongName = "wrong-name",
        /// The stack does not know a critical extension (RFC 5280 section 4.2).
        UnknownCriticalExtension = "unknown-critical-extension",
        /// A key or a signature is too weak, or the stack does not know its algorithm.
        WeakOrUnknownSignature = "weak-or-unknown-signature",
        /// The server sent no certificate.
        NonePresented = "none presented",
        /// Another fault, which the detail describes.
        Other = "other",
    }
);

impl CertificateFault {
    /// Maps an error of `X509_verify_cert` by its number, which is the same in OpenSSL, BoringSSL and AWS-LC (`X509_V_ERR_` in
    /// openssl/x509.h).
    pub fn of_x509_result(number: i64) -> Self {
        match number {
            2 | 18 | 19 | 20 | 21 | 27 => Self::UnknownIssuer,
            4 | 6 | 13 | 14 => Self::BadEncoding,
            7 => Self::BadSignature,
            9 => Self::NotYetValid,
            10 => Self::Expired,
            23 => Self::Revoked,
            24 | 37 | 79 => Self::BadCa,
            26 => Self::BadPurpose,
            34 => Self::UnknownCriticalExtension,
            62..=64 => Self::WrongName,
            _ => Self::Other,
        }
    }

    /// Maps an error of OpenSSL's `X509_verify_cert` by its number (openssl/x509_vfy.h). Other libraries have other errors with
    /// the numbers of those of its security level.
    pub fn of_openssl_result(number: i64) -> Self {
        match number {
            66..=68 => Self::WeakOrUnknownSignature,
            _ => Self::of_x509_result(number),
        }
    }

    /// Maps an error of any line of rustls about a chain by its name, which is the same in every line: a
    /// `CertificateError`, or an `Error` or `VerifierBuilderError`.
    pub fn of_rustls(error: &(impl fmt::Debug + fmt::Display)) -> Self {
        let debug = format!("{error:?}");
        let named = debug.strip_prefix("InvalidCertificate(").unwrap_or(&debug);
        let name = named.split(|c: char| !c.is_ascii_alphanumeric()).next();
        match name.unwrap_or_default() {
            "BadEncoding" | "InvalidCrl" => Self::BadEncoding,
            "Expired" | "ExpiredContext" => Self::Expired,
            "NotValidYet" | "NotValidYetContext" => Self::NotYetValid,
            "Revoked" => Self::Revoked,
            "UnknownIssuer" | "NoRootAnchors" => Self::UnknownIssuer,
            "BadSignature" => Self::BadSignature,
            "NotValidForName" | "NotValidForNameContext" => Self::WrongName,
            "InvalidPurpose" | "InvalidPurposeContext" => Self::BadPurpose,
            "UnhandledCriticalExtension" => Self::UnknownCriticalExtension,
            name if name.starts_with("UnsupportedSignatureAlgorithm") => {
                Self::WeakOrUnknownSignature
            }
            "Other" => Self::of_webpki(&error.to_string()),
            _ => Self::Other,
        }
    }

    /// Maps an error for which rustls has no variant by its text: the name of webpki's error, or a message of
    /// rustls-platform-verifier.
    fn of_webpki(text: &str) -> Self {
        use CertificateFault as F;
        const NAMES: [(&str, F); 9] = [
            // The message that a certificate is for another purpose.
            ("certificate had invalid extensions", F::BadPurpose),
            ("RequiredEkuNotFound", F::BadPurpose),
            ("CaUsedAsEndEntity", F::CaAsLeaf),
            ("EndEntityUsedAsCa", F::BadCa),
            ("PathLenConstraintViolated", F::BadCa),
            ("UnsupportedCriticalExtension", F::UnknownCriticalExtension),
            ("ExtensionValueInvalid", F::BadEncoding),
            ("SignatureAlgorithmMismatch", F::BadSignature),
            ("UnsupportedSignatureAlgorithm", F::WeakOrUnknownSignature),
        ];
        let found = NAMES.iter().find(|(name, _)| text.contains(name));
        found.map_or(Self::Other, |(_, fault)| *fault)
    }
}

words!(
    /// A word of netbench for a failure that is neither an alert nor a certificate's fault. The words are in the order
    /// of their classes; see [`FailureReason::is_of`].
    #[expect(missing_docs, reason = "most words say it all")]
    FailureWord, {
        /// The name does not exist, or has no address.
        NotFound = "not found",
        /// A DNS server cannot or will not answer.
        ServerFailed = "DNS server failed",
        /// No DNS server answered in time.
        NoDnsAnswer = "no DNS answer",
        /// The address refused the connection, or a worker what it was asked for.
        Refused = "refused",
        ConnectTimedOut = "timed out",
        /// The kernel timed out an established connection.
        KernelTimeout = "in the kernel",
        Unreachable = "unreachable",
        Reset = "reset",
        /// The peer had closed the connection.
        Closed = "closed",
        EndOfStream = "end of stream",
        NotHttp = "not HTTP",
        Incomplete = "incomplete",
        /// The operation failed for an unknown reason.
        Failed = "failed",
        /// TLS failed for an unknown reason.
        Unexplained = "unexplained",
        /// The server rejected Encrypted ClientHello, and proved the public name.
        EchRejected = "rejected",
        Runtime = "runtime",
        /// The host cannot be part of a URL.
        Host = "host",
        Connector = "connector",
        /// A scenario could not be set up, or its operations fail.
        Setup = "setup",
        Configuration = "configuration",
        Session = "session",
        /// Data that a session wants to send could not be read from it.
        Write = "write",
        /// Received data could not be passed to a session.
        Read = "read",
        Send = "send",
        Receive = "receive",
        /// A burst of data did not arrive as it was sent.
        Bulk = "bulk",
        Verify = "verify",
        /// An operation of the library's cryptography failed.
        Primitive = "primitive",
        /// The kernel does not report the memory in use.
        Memory = "memory",
        Hold = "hold",
        Threads = "threads",
        /// A step of an operation was not run.
        Step = "step",
        /// The lab's server could not be set up.
        NoServer = "no server",
        Start = "start",
        Died = "died",
        Hung = "hung",
        /// The worker wrote an invalid answer.
        Nonsense = "nonsense",
        Callgrind = "callgrind",
        /// The worker did not report a finished handshake.
        NoHandshake = "no handshake",
        NoVerification = "no verification",
        Resumed = "resumed",
        NotResumed = "not resumed",
        /// The request did not come as early data, or the server has another treatment of it than the site.
        EarlyData = "early data",
        /// Encrypted ClientHello has another outcome than the site requires, or the sides report different outcomes.
        Ech = "Encrypted ClientHello",
        NoServersView = "no server's view",
        SidesDisagree = "sides disagree",
        /// The response differs from the one that the site sends.
        AnotherResponse = "another response",
        /// The worker did not report the negotiated parameters.
        Agreement = "agreement",
        Version = "version",
        Suite = "suite",
        Group = "group",
        /// The handshake is of a different kind, or failed.
        Handshake = "handshake",
        Chain = "chain",
        /// Client authentication occurred or did not occur, contrary to the scenario.
        ClientAuthentication = "client authentication",
        /// The number of resumed handshakes in a turn is wrong.
        Resumption = "resumption",
        /// The number of timings differs from the number of operations.
        Timings = "timings",
        Sessions = "sessions",
        /// A figure that every connection must have is 0.
        NoFigure = "no figure",
        /// The verification time is impossible.
        VerificationTime = "verification time",
        /// The number of bytes differs from the bytes on the link, or does not fit the reported parameters.
        Bytes = "bytes",
    }
);

/// The reason why a trial failed, as a word to group by, which is also its JSON representation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum FailureReason {
    /// The alert that the server sent.
    Alert(Alert),
    /// The fault that the stack finds with the certificate.
    Certificate(CertificateFault),
    /// The time limit passed in the given phase.
    In(Phase),
    /// Any other failure.
    Word(FailureWord),
    /// The library's own name of a protocol error, in lower case with hyphens. Reports group by it for one stack; no
    /// two libraries have the same names.
    Library(String),
}

impl FailureReason {
    /// Returns whether a worker may report the reason with `class`.
    pub fn is_of(&self, class: FailureClass) -> bool {
        use FailureClass as C;
        use FailureWord as W;
        match self {
            Self::Alert(_) => class == C::Alert,
            Self::Certificate(_) => class == C::Certificate,
            Self::In(_) => class == C::Timeout,
            Self::Library(name) => {
                let mut chars = name.chars();
                let is_name = chars.all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-'));
                class == C::Protocol && !name.is_empty() && is_name
            }
            Self::Word(W::Refused) => matches!(class, C::Connect | C::Worker),
            Self::Word(W::Failed) => matches!(class, C::Resolve | C::Connect | C::Http),
            Self::Word(W::Handshake) => matches!(class, C::Setup | C::WrongWork),
            Self::Word(word) => {
                class
                    == match word {
                        W::NotFound | W::ServerFailed | W::NoDnsAnswer => C::Resolve,
                        W::ConnectTimedOut | W::Unreachable => C::Connect,
                        W::KernelTimeout => C::Timeout,
                        W::Reset | W::Closed | W::EndOfStream => C::Closed,
                        W::NotHttp | W::Incomplete => C::Http,
                        W::Unexplained => C::Protocol,
                        W::EchRejected => C::EchRejected,
                        word if *word <= W::NoServer => C::Setup,
                        word if *word <= W::Callgrind => C::Worker,
                        _ => C::WrongWork,
                    }
            }
        }
    }
}

impl fmt::Display for FailureReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alert(alert) => alert.fmt(f),
            Self::Certificate(fault) => fault.fmt(f),
            Self::In(phase) => write!(f, "in {phase}"),
            Self::Word(word) => word.fmt(f),
            Self::Library(name) => f.pad(name),
        }
    }
}

impl From<String> for FailureReason {
    /// Parses a reason from its displayed text. A text that is not a word of netbench is the library's name.
    fn from(text: String) -> Self {
        fn find<T: Copy + fmt::Display>(known: &[T], text: &str) -> Option<T> {
            known
                .iter()
                .copied()
                .find(|value| value.to_string() == text)
        }
        let mut alerts = Alert::registered();
        find(FailureWord::ALL, &text)
            .map(Self::Word)
            .or_else(|| find(Phase::ALL, text.strip_prefix("in ")?).map(Self::In))
            .or_else(|| find(CertificateFault::ALL, &text).map(Self::Certificate))
            .or_else(|| {
                alerts
                    .find(|alert| alert.name() == Some(&text))
                    .or_else(|| text.parse().ok().filter(|_| text.starts_with("0x")))
                    .map(Self::Alert)
            })
            .unwrap_or(Self::Library(text))
    }
}

impl From<FailureReason> for String {
    fn from(reason: FailureReason) -> Self {
        reason.to_string()
    }
}

impl From<Alert> for FailureReason {
    fn from(alert: Alert) -> Self {
        Self::Alert(alert)
    }
}

impl From<CertificateFault> for FailureReason {
    fn from(fault: CertificateFault) -> Self {
        Self::Certificate(fault)
    }
}

impl From<FailureWord> for FailureReason {
    fn from(word: FailureWord) -> Self {
        Self::Word(word)
    }
}

impl JsonSchema for FailureReason {
    fn schema_name() -> Cow<'static, str> {
        "FailureReason".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let faults = CertificateFault::ALL.iter().map(ToString::to_string);
        let words = FailureWord::ALL.iter().map(ToString::to_string);
        let known: Vec<_> = faults.chain(words).collect();
        json_schema!({
            "description": "An alert by its registered name, a word of the list, \"in\" and a phase, or with the class \
                            protocol the library's own name of the error in small letters with hyphens.",
            "type": "string",
            "examples": known
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_read_as_they_are_written() {
        let words = FailureWord::ALL.iter().map(|word| (*word).into());
        let faults = CertificateFault::ALL.iter().map(|fault| (*fault).into());
        let alerts = Alert::registered().chain([Alert(0xEE)]).map(Into::into);
        let phases = Phase::ALL.iter().map(|phase| FailureReason::In(*phase));
        let own = FailureReason::Library("peer-misbehaved-too-much".to_owned());
        for reason in words.chain(faults).chain(alerts).chain(phases).chain([own]) {
            let json = serde_json::to_string(&reason).unwrap();
            assert_eq!(
                serde_json::from_str::<FailureReason>(&json).unwrap(),
                reason
            );
            let classes = FailureClass::ALL
                .iter()
                .filter(|class| reason.is_of(**class));
            assert!(classes.count() > 0, "{reason}");
        }
    }

    #[test]
    fn a_librarys_own_name_goes_with_the_class_protocol_alone() {
        for (name, fits) in [("no-shared-cipher", true), ("", false), ("Bad Name", false)] {
            let reason = FailureReason::Library(name.to_owned());
            assert_eq!(reason.is_of(FailureClass::Protocol), fits, "{name}");
            assert!(!reason.is_of(FailureClass::Alert));
        }
    }

    #[test]
    fn verification_results_have_the_words_of_every_client() {
        for (number, word) in [
            (20, CertificateFault::UnknownIssuer),
            (10, CertificateFault::Expired),
            (62, CertificateFault::WrongName),
            (9, CertificateFault::NotYetValid),
            (67, CertificateFault::WeakOrUnknownSignature),
            (4_000, CertificateFault::Other),
        ] {
            assert_eq!(CertificateFault::of_openssl_result(number), word);
        }
        let elsewhere = CertificateFault::of_x509_result(67);
        assert_eq!(elsewhere, CertificateFault::Other);
        let other = CertificateFault::of_webpki("Other(OtherError(CaUsedAsEndEntity))");
        assert_eq!(other, CertificateFault::CaAsLeaf);
    }

    /// Has the text of an error of rustls in both formats.
    struct OfRustls(&'static str);

    impl fmt::Debug for OfRustls {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl fmt::Display for OfRustls {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "invalid peer certificate: {}", self.0)
        }
    }

    #[test]
    fn the_names_of_rustls_are_known_with_and_without_context() {
        for (text, fault) in [
            ("InvalidCertificate(Expired)", CertificateFault::Expired),
            ("ExpiredContext { at: 1 }", CertificateFault::Expired),
            (
                "InvalidCertificate(Other(OtherError(CaUsedAsEndEntity)))",
                CertificateFault::CaAsLeaf,
            ),
            (
                "UnsupportedSignatureAlgorithmContext { signature_algorithm_id: [] }",
                CertificateFault::WeakOrUnknownSignature,
            ),
            ("NoRootAnchors", CertificateFault::UnknownIssuer),
            ("PeerMisbehaved(Expired)", CertificateFault::Other),
        ] {
            assert_eq!(CertificateFault::of_rustls(&OfRustls(text)), fault);
        }
    }
}
