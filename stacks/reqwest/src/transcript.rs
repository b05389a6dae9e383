//! The messages of a handshake as rustls hashes them: in plain text, including those that TLS 1.3 encrypts.
//! reqwest exposes only the server's own certificate.

use std::cell::RefCell;

use rustls::{
    SupportedCipherSuite, Tls12CipherSuite, Tls13CipherSuite,
    crypto::{
        CipherSuiteCommon,
        hash::{Context, Hash, HashAlgorithm, Output},
    },
};

thread_local! {
    /// The input of the hash that was begun last; `None` where no connection is made.
    static HASHED: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// Keeps the messages of the next handshake of this thread.
pub(crate) fn begin() {
    HASHED.replace(Some(Vec::new()));
}

/// Returns the messages, and discards them.
pub(crate) fn taken() -> Vec<u8> {
    HASHED.take().unwrap_or_default()
}

/// Returns `suite` with its hash observed. The value lives as long as the process.
pub(crate) fn heard(suite: SupportedCipherSuite) -> SupportedCipherSuite {
    let common = |common: &CipherSuiteCommon| CipherSuiteCommon {
        suite: common.suite,
        hash_provider: Box::leak(Box::new(Heard(common.hash_provider))),
        confidentiality_limit: common.confidentiality_limit,
    };
    match suite {
        SupportedCipherSuite::Tls12(suite) => {
            SupportedCipherSuite::Tls12(Box::leak(Box::new(Tls12CipherSuite {
                common: common(&suite.common),
                prf_provider: suite.prf_provider,
                kx: suite.kx,
                sign: suite.sign,
                aead_alg: suite.aead_alg,
            })))
        }
        SupportedCipherSuite::Tls13(suite) => {
            SupportedCipherSuite::Tls13(Box::leak(Box::new(Tls13CipherSuite {
                common: common(&suite.common),
                hkdf_provider: suite.hkdf_provider,
                aead_alg: suite.aead_alg,
                quic: suite.quic,
            })))
        }
    }
}

/// A suite's hash, with its input observed.
struct Heard(&'static dyn Hash);

impl Hash for Heard {
    fn start(&self) -> Box<dyn Context> {
        let context = self.0.start();
        let listens = HASHED.with_borrow_mut(|hashed| {
            // A handshake starts one hash, and another one after a HelloRetryRequest.
            hashed.as_mut().map(Vec::clear).is_some()
        });
        match listens {
            true => Box::new(HeardContext(context)),
            false => context,
        }
    }

    fn hash(&self, data: &[u8]) -> Output {
        self.0.hash(data)
    }

    fn output_len(&self) -> usize {
        self.0.output_len()
    }

    fn algorithm(&self) -> HashAlgorithm {
        self.0.algorithm()
    }

    fn fips(&self) -> bool {
        self.0.fips()
    }
}

struct HeardContext(Box<dyn Context>);

impl Context for HeardContext {
    fn fork_finish(&self) -> Output {
        self.0.fork_finish()
    }

    fn fork(&self) -> Box<dyn Context> {
        self.0.fork()
    }

    fn finish(self: Box<Self>) -> Output {
        self.0.finish()
    }

    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
        HASHED.with_borrow_mut(|hashed| {
            if let Some(hashed) = hashed {
                hashed.extend_from_slice(data);
            }
        });
    }
}
