//! Observation of connections of clients that do not expose rustls, through rustls' calls: its clock,
//! directly before a chain is verified, and the verification of the server's signature, directly after.

use std::sync::{Mutex, MutexGuard, PoisonError};

use netbench_tls::SignatureScheme;
use netbench_worker::{Probe, SetupError};
use rustls::time_provider::TimeProvider;
use rustls_pki_types::{
    AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, UnixTime,
};

use crate::provider::{Provider, Verification, verification};

/// Signature schemes with the algorithms that verify them.
type Mapping = &'static [Verification];

/// The connection in progress: a worker makes one at a time.
static WATCHED: Mutex<Option<Watched>> = Mutex::new(None);

struct Watched {
    probe: Probe,
    signature_seen: bool,
}

fn watched() -> MutexGuard<'static, Option<Watched>> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Observes a connection that is about to be made.
pub fn begin(probe: &Probe) {
    *watched() = Some(Watched {
        probe: probe.clone(),
        signature_seen: false,
    });
}

/// Returns whether the server signed its handshake, as it does where no session is resumed.
pub fn server_has_signed() -> bool {
    watched()
        .as_ref()
        .is_some_and(|watched| watched.signature_seen)
}

/// The system's clock, as rustls uses it by default.
#[derive(Debug)]
pub struct Clock(pub Probe);

impl TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        self.0.verification_begins();
        Some(UnixTime::now())
    }
}

/// Returns the schemes `wanted` from `all`, in that order, with observed algorithms. The value lives as long
/// as the process, which has one.
pub(crate) fn mapping(
    provider: &dyn Provider,
    all: Mapping,
    wanted: &[SignatureScheme],
) -> Result<Mapping, SetupError> {
    let watched = |wanted: &SignatureScheme| {
        let (scheme, algorithms) = verification(all, *wanted)
            .ok_or_else(|| provider.lacks(&format!("no verification of {wanted}")))?;
        let algorithms = algorithms.iter().map(|algorithm| {
            let watched: &dyn SignatureVerificationAlgorithm = Box::leak(Box::new(Signature {
                scheme: *wanted,
                algorithm: *algorithm,
            }));
            watched
        });
        let algorithms: &[_] = algorithms.collect::<Vec<_>>().leak();
        Ok((scheme, algorithms))
    };
    let mapping: Vec<_> = wanted.iter().map(watched).collect::<Result<_, _>>()?;
    Ok(mapping.leak())
}

/// An algorithm that verifies the server's signature of one scheme. Signatures in chains are verified by
/// other algorithms.
#[derive(Debug)]
struct Signature {
    scheme: SignatureScheme,
    algorithm: &'static dyn SignatureVerificationAlgorithm,
}

impl SignatureVerificationAlgorithm for Signature {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        if let Some(watched) = watched().as_mut() {
            watched.probe.verification_ends();
            watched.probe.signature(self.scheme);
            watched.signature_seen = true;
        }
        self.algorithm
            .verify_signature(public_key, message, signature)
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.algorithm.public_key_alg_id()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.algorithm.signature_alg_id()
    }

    fn fips(&self) -> bool {
        self.algorithm.fips()
    }
}
