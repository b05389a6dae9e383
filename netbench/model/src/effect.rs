//! The effect of a switch on one server, chain or site: the one classification that every part of a report has.

use crate::{CertificateFault, named::named};

named!(
    /// What a refusal of a server does to the user of a client.
    Standing, "standing", {
        /// A client should accept it.
        Sound = "sound",
        /// Whoever answers holds a key that a trusted CA certified for the host, and yet a rule in force has clients refuse it.
        /// No attacker gains by an acceptance who could not be that server anyway, so that a refusal costs reach and protects
        /// nothing. The rule is one of:
        ///
        /// - a version, suite or signature algorithm that is deprecated: RFC 8996 (TLS 1.0 and 1.1), RFC 9155 (MD5 and SHA-1 in
        ///   signatures of TLS 1.2), RFC 9325 sections 4.1, 4.2 and 4.5 (suites, sizes of keys), Baseline Requirements of the
        ///   CA/Browser Forum 6.1.5 and 7.1.3 (sizes of keys, algorithms, SHA-1 in certificates);
        /// - a name where clients do not look any more: RFC 9525 sections 2, 6.3 and 6.4;
        /// - a format that RFC 5280 section 4, X.690 or Baseline Requirements 7.1.2 forbid: encodings, a CA as leaf;
        /// - a chain that lacks a certificate which RFC 8446 section 4.4.2 has the server send;
        /// - the observed behaviour of named browsers, for what no document forbids.
        ///
        /// Each case of the catalogue with this standing has its rule's source in `why`.
        Dated = "dated",
        /// An attacker could be such a server: a refusal protects the user.
        Unsafe = "unsafe",
        /// Another step of the connection decides, so that nothing changes for a user.
        Moot = "moot",
    }
);

named!(
    /// What changes for the user of a client where two stacks differ. Yesterday's stack is the measure.
    SwitchEffect, "effect", {
        /// A server was reached, and is not any more.
        LossOfReach = "loss of reach",
        /// A server was refused to protect the user, and is not any more.
        LossInSecurity = "loss in security",
        /// A server is reached that was not.
        GainOfReach = "gain of reach",
        /// A server is refused to protect the user that was not.
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
    /// Returns the effect of a switch from a stack to another, by whether each accepts the server; `None` where nothing
    /// changes.
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

    /// Whether something is lost.
    pub fn is_loss(self) -> bool {
        matches!(self, Self::LossOfReach | Self::LossInSecurity)
    }
}

/// Whether a stack accepts a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepts {
    /// It does.
    Yes,
    /// It does not.
    No,
}

impl From<bool> for Accepts {
    fn from(accepts: bool) -> Self {
        if accepts { Self::Yes } else { Self::No }
    }
}

named!(
    /// What a client is for, which decides how the effects of a switch weigh.
    ClientUse, "use of a client", {
        /// It shows pages of servers that others run.
        Browser = "browser",
        /// It calls servers that its operator runs or has an agreement with.
        HttpClient = "http-client",
        /// It fetches what its user names, from any server.
        CliTool = "cli-tool",
    }
);

/// How an effect weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// It makes an answer worse.
    Counted,
    /// It is listed, and leaves the answer as it is.
    Listed,
}

impl ClientUse {
    /// Returns how an effect weighs. Losses count, with one exception: a browser gives up the reach of what other browsers
    /// refuse too. Gains never make an answer worse.
    pub fn weight(self, effect: SwitchEffect, standing: Standing) -> Weight {
        match (effect, standing, self) {
            (SwitchEffect::LossOfReach, Standing::Dated, Self::Browser)
            | (SwitchEffect::GainOfReach | SwitchEffect::GainInSecurity, _, _) => Weight::Listed,
            _ => Weight::Counted,
        }
    }

    /// Returns the losses in the order in which they are listed, the one that weighs most first: reach for a client to its
    /// operator's own servers, security where the servers are those of others.
    pub fn first_loss(self) -> SwitchEffect {
        match self {
            Self::HttpClient => SwitchEffect::LossOfReach,
            Self::Browser | Self::CliTool => SwitchEffect::LossInSecurity,
        }
    }

    /// The rule in a sentence, for reports.
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
    /// A client to its operator's own servers, for which every loss counts.
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
        let effect = |before, after| {
            SwitchEffect::of(Standing::of_disputed_fault(F::UnknownIssuer), before, after)
        };
        assert_eq!(
            effect(Accepts::Yes, Accepts::No),
            Some(SwitchEffect::LossOfReach)
        );
        assert_eq!(
            effect(Accepts::No, Accepts::Yes),
            Some(SwitchEffect::GainOfReach)
        );
    }

    #[test]
    fn only_a_browser_gives_up_what_other_browsers_refuse() {
        let weight = |client: ClientUse, effect, standing| client.weight(effect, standing);
        for client in ClientUse::ALL.iter().copied() {
            let counted = |effect, standing| weight(client, effect, standing) == Weight::Counted;
            assert!(counted(SwitchEffect::LossOfReach, Standing::Sound));
            assert!(counted(SwitchEffect::LossInSecurity, Standing::Unsafe));
            assert!(!counted(SwitchEffect::GainInSecurity, Standing::Unsafe));
            assert!(!counted(SwitchEffect::GainOfReach, Standing::Dated));
            assert_eq!(
                counted(SwitchEffect::LossOfReach, Standing::Dated),
                client != ClientUse::Browser,
                "{client}"
            );
        }
    }
}
