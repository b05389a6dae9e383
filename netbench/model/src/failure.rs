//! Why trials fail: the classes and words that every worker uses, so that reports can group by them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::{Alert, Phase, named::words};

/// Why a trial failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The class.
    pub class: FailureClass,
    /// The alert, the certificate's fault, or the like: a short, stable word to group by.
    pub reason: FailureReason,
    /// The stack's own words, with escape codes removed.
    pub detail: String,
    /// The phase that the connection was in.
    pub phase: Option<Phase>,
    /// Nanoseconds from the start to the failure.
    pub after_ns: Option<u64>,
}

words!(
    /// The class of a failure.
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
        /// The stack refused what the server sent, or found nothing in common with it.
        Protocol = "protocol",
        /// The response was not HTTP, or was not complete.
        Http = "http",
        /// Handshake and response were fine, but not what the case asked for.
        WrongWork = "wrong-work",
        /// The configuration that the case asks for could not be made.
        Setup = "setup",
        /// The worker died, hung, or printed nonsense.
        Worker = "worker",
    }
);

words!(
    /// What a stack finds wrong with a certificate.
    CertificateFault, {
        /// DER that it cannot read.
        BadEncoding = "bad-encoding",
        /// A signature that does not verify.
        BadSignature = "bad-signature",
        /// Its time has not come.
        NotYetValid = "not-yet-valid",
        /// Its time is over.
        Expired = "expired",
        /// Its issuer has taken it back.
        Revoked = "revoked",
        /// No chain to a trusted root.
        UnknownIssuer = "unknown-issuer",
        /// An issuer that may not issue.
        BadCa = "bad-ca",
        /// A certificate authority's own certificate as the server's.
        CaAsLeaf = "ca-as-leaf",
        /// Not for servers.
        BadPurpose = "bad-purpose",
        /// For another host.
        WrongName = "wrong-name",
        /// A critical extension that the stack does not know (RFC 5280 section 4.2).
        UnknownCriticalExtension = "unknown-critical-extension",
        /// A key or a signature that is too weak, or that the stack does not know.
        WeakOrUnknownSignature = "weak-or-unknown-signature",
        /// The server sent no certificate.
        NonePresented = "none presented",
        /// Something else; the detail says what.
        Other = "other",
    }
);

words!(
    /// A word of netbench for what happened, where it is neither an alert nor a certificate's fault. They are
    /// in the order of the classes that they go with; see [`FailureReason::is_of`].
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
        /// The kernel gave up waiting for an established connection.
        KernelTimeout = "in the kernel",
        Unreachable = "unreachable",
        Reset = "reset",
        /// The peer had closed the connection.
        Closed = "closed",
        EndOfStream = "end of stream",
        NotHttp = "not HTTP",
        Incomplete = "incomplete",
        /// It failed, and nothing says why.
        Failed = "failed",
        /// TLS failed, and nothing says why.
        Unexplained = "unexplained",
        Runtime = "runtime",
        /// The host cannot stand in a URL.
        Host = "host",
        Connector = "connector",
        /// A scenario could not be set up, or its operations fail.
        Setup = "setup",
        Configuration = "configuration",
        Session = "session",
        /// What a session wants to send could not be taken from it.
        Write = "write",
        /// What came could not be given to a session.
        Read = "read",
        Send = "send",
        Receive = "receive",
        /// A burst of data did not arrive as it was sent.
        Bulk = "bulk",
        Verify = "verify",
        /// An operation of the library's cryptography.
        Primitive = "primitive",
        /// The kernel does not tell how much memory is in use.
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
        /// The worker wrote what is no answer.
        Nonsense = "nonsense",
        Callgrind = "callgrind",
        /// No finished handshake is told of.
        NoHandshake = "no handshake",
        NoVerification = "no verification",
        Resumed = "resumed",
        NotResumed = "not resumed",
        NoServersView = "no server's view",
        SidesDisagree = "sides disagree",
        /// Another response than the site sends.
        AnotherResponse = "another response",
        /// What was agreed on is not told.
        Agreement = "agreement",
        Version = "version",
        Suite = "suite",
        Group = "group",
        /// Another kind of handshake; or the handshake failed.
        Handshake = "handshake",
        Chain = "chain",
        /// A client's certificate where none was due, or none where one was.
        ClientAuthentication = "client authentication",
        /// More or fewer resumed handshakes in a turn than were due.
        Resumption = "resumption",
        /// Not one timing for each operation.
        Timings = "timings",
        Sessions = "sessions",
        /// A figure that every connection has is 0.
        NoFigure = "no figure",
        /// A time that the verification cannot have taken.
        VerificationTime = "verification time",
        /// Other bytes than passed the link, or than belong to what is told.
        Bytes = "bytes",
    }
);

/// Why a trial failed, as a word to group by; in JSON it is that word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum FailureReason {
    /// The alert that the server sent.
    Alert(Alert),
    /// What the stack finds wrong with the certificate.
    Certificate(CertificateFault),
    /// The time limit passed in this phase.
    In(Phase),
    /// What happened.
    Word(FailureWord),
    /// The library's own name of an error of protocol, in small letters with hyphens. Reports group by it for
    /// one stack; no two libraries have the same.
    Library(String),
}

impl FailureReason {
    /// Whether a worker may give it with `class`.
    pub fn is_of(&self, class: FailureClass) -> bool {
        use FailureClass as C;
        use FailureWord as W;
        match self {
            Self::Alert(_) => class == C::Alert,
            Self::Certificate(_) => class == C::Certificate,
            Self::In(_) => class == C::Timeout,
            Self::Library(name) => {
                let is_name = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
                class == C::Protocol && !name.is_empty() && name.bytes().all(is_name)
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
                        word if *word <= W::NoServer => C::Setup,
                        word if *word <= W::Callgrind => C::Worker,
                        _ => C::WrongWork,
                    }
            }
        }
    }
}

impl std::fmt::Display for FailureReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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
    /// The reason that is shown so; a text that is none of netbench's is the library's.
    fn from(text: String) -> Self {
        fn find<T: Copy + std::fmt::Display>(known: &[T], text: &str) -> Option<T> {
            known
                .iter()
                .copied()
                .find(|value| value.to_string() == text)
        }
        let phase = || find(Phase::ALL, text.strip_prefix("in ")?);
        let alert = || Alert::registered().find(|alert| alert.name() == Some(&text));
        let code = || text.parse().ok().filter(|_| text.starts_with("0x"));
        find(FailureWord::ALL, &text)
            .map(Self::Word)
            .or_else(|| phase().map(Self::In))
            .or_else(|| find(CertificateFault::ALL, &text).map(Self::Certificate))
            .or_else(|| alert().or_else(code).map(Self::Alert))
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
}
