use std::time::Instant;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use netbench_protocol::{ChainToVerify, ResponseBody, TrustMade, Verified, Verify};
use netbench_tls::{
    CertificateFault, Failure, FailureClass, FailureWord, TrustOrigin, sanitize_prefix,
};

use crate::{
    SetupError, Stack,
    clock::nanos,
    run::{unsupported, wrong},
};

/// Maximum length of a library's message in an answer.
const WORDS: usize = 200;

/// A chain for a stack's verifier; certificates are DER.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainInDer {
    /// The certificates that a server sent, the leaf first. Not empty.
    pub sent: Vec<Vec<u8>>,
    /// The trust roots.
    pub roots: Vec<Vec<u8>>,
    /// CRLs. If there are any, every certificate below the root must be covered by one.
    pub crls: Vec<Vec<u8>>,
    /// The host name or address; IPv6 without brackets.
    pub host: String,
    /// The time of the verification, in seconds since 1970.
    pub at_unix_s: u64,
}

/// The reason why a verifier does not accept a chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotVerified {
    /// The verifier rejected the chain, for this reason and with the library's message.
    #[error("{1}")]
    Rejected(CertificateFault, String),
    /// The verifier does not support the verification.
    #[error("{0}")]
    Unsupported(String),
}

/// A stack's verifier, as its clients use it.
pub trait ChainVerifier {
    /// Verifies a chain for a host at a time.
    ///
    /// # Errors
    /// The chain is not valid, or the verifier has no verdict.
    fn verify(&self, chain: &ChainInDer) -> Result<(), NotVerified>;
}

/// A function that verifies chains.
impl<F> ChainVerifier for F
where
    F: Fn(&ChainInDer) -> Result<(), NotVerified>,
{
    fn verify(&self, chain: &ChainInDer) -> Result<(), NotVerified> {
        self(chain)
    }
}

/// The default trust of a client: the roots that it finds without configuration, with its connector made.
pub struct OwnTrust {
    /// The verifier with these roots.
    pub verifier: Box<dyn ChainVerifier>,
    /// Number of roots that were read, if the library reports it.
    pub roots: Option<u32>,
    /// The origin of the roots.
    pub origin: TrustOrigin,
}

pub(crate) fn verify(stack: &dyn Stack, request: &Verify) -> ResponseBody {
    let begun = Instant::now();
    let made = match &request.trust {
        None => stack.chain_verifier().map(|verifier| (verifier, None)),
        Some(source) => stack.own_trust(source).map(|own| {
            let trust = TrustMade {
                connector_ns: nanos(begun.elapsed()),
                roots: own.roots,
                origin: own.origin,
            };
            (own.verifier as Box<dyn ChainVerifier + '_>, Some(trust))
        }),
    };
    let (verifier, trust) = match made {
        Ok(made) => made,
        Err(SetupError::Refused(detail)) if request.trust.is_some() => {
            return ResponseBody::Failed(Failure {
                class: FailureClass::Setup,
                reason: FailureWord::Connector.into(),
                detail: sanitize_prefix(&detail, WORDS),
                phase: None,
                after_ns: Some(nanos(begun.elapsed())),
            });
        }
        Err(SetupError::Unsupported(reason)) => return unsupported(reason),
        Err(SetupError::Refused(message)) => return wrong(message),
    };
    let mut chains = Vec::new();
    for (number, chain) in request.chains.iter().enumerate() {
        let Some(chain) = decoded(chain) else {
            return wrong(format!(
                "chain {number} has no certificate, or one that is not base64"
            ));
        };
        chains.push(match verifier.verify(&chain) {
            Ok(()) => Verified::Accepted,
            Err(NotVerified::Rejected(reason, detail)) => Verified::Rejected {
                reason,
                detail: sanitize_prefix(&detail, WORDS),
            },
            Err(NotVerified::Unsupported(reason)) => Verified::Unsupported { reason },
        });
    }
    ResponseBody::Verified { chains, trust }
}

fn decoded(chain: &ChainToVerify) -> Option<ChainInDer> {
    Some(ChainInDer {
        sent: decoded_all(&chain.chain_base64).filter(|sent| !sent.is_empty())?,
        roots: decoded_all(&chain.roots_base64)?,
        crls: decoded_all(&chain.crls_base64)?,
        host: chain.host.clone(),
        at_unix_s: chain.at_unix_s,
    })
}

fn decoded_all(texts: &[String]) -> Option<Vec<Vec<u8>>> {
    let decoded = texts.iter().map(|text| BASE64_STANDARD.decode(text).ok());
    decoded.collect()
}
