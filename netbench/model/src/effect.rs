//! The effect of a switch on one server, chain or site: the classification that every part of a report uses.

use crate::{CertificateFault, named::named};

named!(
    /// The effect of a refusal of a server on the user of a client.
    Standing, "standing", {
        /// A client should accept the server.
        Sound = "sound",
        /// The server holds a key that a trusted CA certified for the host, but a rule in force requires clients to
        /// refuse it. An acceptance gives no advantage to an attacker who could not be that server anyway, so a refusal
        /// costs reach and protects no user. The rule is one of:
        ///
        /// - a version, suite or signature algorithm that is deprecated: RFC 8996 (TLS 1.0 and 1.1), RFC 9155 (MD5 and SHA-1 in
        ///   signatures of TLS 1.2), RFC 9325 sections 4.1, 4.2 and 4.5 (suites, sizes of keys), Baseline Requirements of the
        ///   CA/Browser Forum 6.1.5 and 7.1.3 (sizes of keys, algorithms, SHA-1 in certificates);
        /// - a name where clients do not look any more: RFC 9525 sections 2, 6.3 and 6.4;
        /// - a format that RFC 5280 section 4, X.690 or Baseline Requirements 7.1.2 forbid: encodings, a CA as leaf;
        /// - a chain without a certificate that RFC 8446 section 4.4.2 requires the server to send;
        /// - the observed behaviour of named browsers, where no document forbids the server's behaviour.
        ///
        /// Each case of the catalogue with this standing has its rule's source in `why`.
        Dated = "dated",
        /// An attacker could be such a server: a refusal protects the user.
        Unsafe = "unsafe",
        /// Another step of the connection decides, so the refusal has no effect on a user.
        Moot = "moot",
    }
);

named!(
    /// The effect of a difference between two stacks on the user of a client. The stack in use is the reference.
    SwitchEffect, "effect", {
        /// A server that was reached is no longer reached.
        LossOfReach = "loss of reach",
        /// A server that was refused to protect the user is no longer refused.
        LossInSecurity = "loss in security",
        /// A server that was not reached is reached.
        GainOfReach = "gain of reach",
        /// A server that was not refused is refused to protect the user.
        GainInSecurity = "gain in security",
    }
);

impl Standing {
    /// Returns the standing of a server whose certificate has a fault and that a browser refuses for it. The fault is a fact of
    /// the certificate; of what one stack says and another does not, [`Standing::of_disputed_fault`] is.
    pub fn of_fault(fault: CertificateFault) -> Self {
        use CertificateFault as F;
        match fault {
            F::BadSignature
            | F::NotYetValid
            | F::Expired
            | F::Revoked
            | F::UnknownIssuer
            | F::BadCa
            | F::BadPurpose
            | F::WrongName
            | F::UnknownCriticalExtension
            | F::NonePresented => Self::Unsafe,
            F::BadEncoding | F::CaAsLeaf | F::WeakOrUnknownSignature | F::Other => Self::Dated,
        }
    }

    /// Returns the standing of a server that a stack refuses for this fault and that another accepts with the same trust
    /// anchors. The second has then found a path to a CA that the user trusts, so that an unknown issuer is a limit of the first:
    /// the depth of a path, the candidates that it tries, an algorithm that it lacks.
    pub fn of_disputed_fault(fault: CertificateFault) -> Self {
        match fault {
            CertificateFault::UnknownIssuer => Self::Dated,
            fault => Self::of_fault(fault),
        }
    }
}

impl SwitchEffect {
    /// Returns the effect of a switch between two stacks, given whether each accepts the server, or `None` if the user
    /// sees no change.
    pub fn of(standing: Standing, before: Accepts, after: Accepts) -> Option<Self> {
        use Accepts::{No, Yes};
        Some(match (before, after, standing) {
            (_, _, Standing::Moot) | (Yes, Yes, _) | (No, No, _) => return None,
            (Yes, No, Standing::Sound | Standing::Dated) => Self::LossOfReach,
            (Yes, No, Standing::Unsafe) => Self::GainInSecurity,
            (No, Yes, Standing::Sound | Standing::Dated) => Self::GainOfReach,
            (No, Yes, Standing::Unsafe) => Self::LossInSecurity,
        })
    }

    /// Returns whether the effect is a loss.
    pub fn is_loss(self) -> bool {
        matches!(self, Self::LossOfReach | Self::LossInSecurity)
    }
}

/// The verdict of a stack on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepts {
    /// The stack accepts the server.
    Yes,
    /// The stack does not accept the server.
    No,
}

impl From<bool> for Accepts {
    fn from(accepts: bool) -> Self {
        if accepts { Self::Yes } else { Self::No }
    }
}

named!(
    /// The use of a client, which determines the weight of the effects of a switch.
    ClientUse, "use of a client", {
        /// A client that shows pages of third-party servers.
        Browser = "browser",
        /// A client that calls servers of its operator or of the operator's partners.
        HttpClient = "http-client",
        /// A client that fetches the URLs that its user gives, from any server.
        CliTool = "cli-tool",
    }
);

/// The weight of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// The effect makes the answer worse.
    Counted,
    /// The effect is listed, and does not change the answer.
    Listed,
}

impl ClientUse {
    /// Returns the weight of an effect. Losses count, with one exception: for a browser, a loss of reach does not count
    /// if other browsers refuse the server too. Gains never make an answer worse.
    pub fn weight(self, effect: SwitchEffect, standing: Standing) -> Weight {
        match (effect, standing, self) {
            (SwitchEffect::LossOfReach, Standing::Dated, Self::Browser)
            | (SwitchEffect::GainOfReach | SwitchEffect::GainInSecurity, _, _) => Weight::Listed,
            _ => Weight::Counted,
        }
    }

    /// Returns the loss that is listed first, which is the most severe: reach for a client of its operator's own
    /// servers, security for a client of third-party servers.
    pub fn first_loss(self) -> SwitchEffect {
        match self {
            Self::HttpClient => SwitchEffect::LossOfReach,
            Self::Browser | Self::CliTool => SwitchEffect::LossInSecurity,
        }
    }

    /// Returns the rule in a sentence, for reports.
    pub fn rule(self) -> &'static str {
        match self {
            Self::Browser => {
                "Weighed for a browser: losses in security come first; servers that other browsers refuse too are listed, and do \
                 not count as losses."
            }
            Self::HttpClient => {
                "Weighed for an HTTP client that calls servers of its operator: every server that worked before and does not \
                 now counts as a loss, and losses of reach come first."
            }
            Self::CliTool => {
                "Weighed for a command-line tool: every server that worked before and does not now counts as a loss, and losses \
                 in security come first."
            }
        }
    }
}

impl Default for ClientUse {
    /// Returns the use of a client of its operator's own servers, for which every loss counts.
    fn default() -> Self {
        Self::HttpClient
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_difference_has_one_effect() {
        use Accepts::{No, Yes};
        use SwitchEffect as E;
        for (before, after, standing, effect) in [
            (Yes, No, Standing::Sound, Some(E::LossOfReach)),
            (Yes, No, Standing::Dated, Some(E::LossOfReach)),
            (Yes, No, Standing::Unsafe, Some(E::GainInSecurity)),
            (Yes, No, Standing::Moot, None),
            (No, Yes, Standing::Sound, Some(E::GainOfReach)),
            (No, Yes, Standing::Dated, Some(E::GainOfReach)),
            (No, Yes, Standing::Unsafe, Some(E::LossInSecurity)),
            (No, Yes, Standing::Moot, None),
            (Yes, Yes, Standing::Unsafe, None),
            (No, No, Standing::Sound, None),
        ] {
            let found = SwitchEffect::of(standing, before, after);
            assert_eq!(found, effect, "{before:?} {after:?} {standing}");
        }
    }

    #[test]
    fn an_issuer_that_another_stack_knows_is_no_protection() {
        use CertificateFault as F;
        assert_eq!(Standing::of_fault(F::UnknownIssuer), Standing::Unsafe);
        for fault in F::ALL.iter().copied() {
            let expected = match fault {
                F::UnknownIssuer => Standing::Dated,
                fault => Standing::of_fault(fault),
            };
            assert_eq!(Standing::of_disputed_fault(fault), expected, "{fault}");
        }
        let standing = Standing::of_disputed_fault(F::UnknownIssuer);
        for (before, after, effect) in [
            (Accepts::Yes, Accepts::No, SwitchEffect::LossOfReach),
            (Accepts::No, Accepts::Yes, SwitchEffect::GainOfReach),
        ] {
            assert_eq!(SwitchEffect::of(standing, before, after), Some(effect));
        }
    }

    #[test]
    fn only_a_browser_gives_up_what_other_browsers_refuse() {
        use SwitchEffect as E;
        for client in ClientUse::ALL.iter().copied() {
            let is_browser = client == ClientUse::Browser;
            for (effect, standing, counts) in [
                (E::LossOfReach, Standing::Sound, true),
                (E::LossInSecurity, Standing::Unsafe, true),
                (E::GainInSecurity, Standing::Unsafe, false),
                (E::GainOfReach, Standing::Dated, false),
                (E::LossOfReach, Standing::Dated, !is_browser),
            ] {
                let counted = client.weight(effect, standing) == Weight::Counted;
                assert_eq!(counted, counts, "{client} {effect} {standing}");
            }
        }
    }
}
