use std::{any::Any, error::Error, sync::Arc, time::Instant};

use netbench_protocol::{Operation, ServeSite, StackDescription};
use netbench_stack_rustls::Rustls;
use netbench_tls::Negotiated;
use netbench_worker::{
    Accept, ClientSetup, Endpoint, EndpointSetup, Explained, Fetch, HandshakeState, InMemory,
    Session, SessionError, SetupError, Stack, TrustRoots, Verifier,
};

/// The share by which a step is prolonged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slowness {
    share: f64,
}

impl Slowness {
    pub(crate) fn percent(percent: f64) -> Self {
        Self {
            share: percent / 100.0,
        }
    }

    /// Makes an endpoint whose sessions are slowed.
    fn endpoint(self, inner: Box<dyn Endpoint>) -> Box<dyn Endpoint> {
        Box::new(move || -> Result<Box<dyn Session>, SessionError> {
            let inner = self.after(|| inner.session())?;
            let slowness = self;
            Ok(Box::new(SlowSession { inner, slowness }))
        })
    }

    /// Runs `step` and then spins for its share of the time that the step took.
    fn after<T>(self, step: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let result = step();
        let until = begun.elapsed().mul_f64(1.0 + self.share.max(0.0));
        while begun.elapsed() < until {
            std::hint::spin_loop();
        }
        result
    }
}

/// rustls, slowed.
pub(crate) struct Slowed {
    inner: Rustls,
    slowness: Slowness,
}

impl Slowed {
    pub(crate) fn new(inner: Rustls, slowness: Slowness) -> Self {
        Self { inner, slowness }
    }
}

impl Stack for Slowed {
    fn name(&self) -> &'static str {
        "slowed"
    }

    fn describe(&self) -> StackDescription {
        let mut description = self.inner.describe();
        self.name().clone_into(&mut description.record.stack);
        // These operations would not be slowed.
        description.operations.retain(|does| {
            !matches!(
                does,
                Operation::SetUp | Operation::Verify | Operation::EarlyData
            )
        });
        let by = format!("{} %", self.slowness.share * 100.0);
        description.record.build.insert("slowed_by".to_owned(), by);
        description
    }

    fn connector(&self, setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        self.inner.connector(setup)
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        self.inner.acceptor(site)
    }

    fn in_memory(&self) -> Option<&dyn InMemory> {
        Some(self)
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        self.inner.explain(error)
    }
}

impl InMemory for Slowed {
    fn client(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        Ok(self.slowness.endpoint(self.inner.client(setup)?))
    }

    fn server(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        Ok(self.slowness.endpoint(self.inner.server(setup)?))
    }

    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError> {
        let (inner, slowness) = (self.inner.verifier(roots_pem, host)?, self.slowness);
        Ok(Box::new(move |chain: &[Vec<u8>]| {
            slowness.after(|| inner.verify(chain))
        }))
    }

    fn configuration(&self, roots: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        self.slowness.after(|| self.inner.configuration(roots))
    }
}

struct SlowSession {
    inner: Box<dyn Session>,
    slowness: Slowness,
}

impl Session for SlowSession {
    fn handshake(
        &mut self,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> Result<HandshakeState, SessionError> {
        self.slowness.after(|| self.inner.handshake(input, output))
    }

    fn send(&mut self, plaintext: &[u8], output: &mut Vec<u8>) -> Result<(), SessionError> {
        self.slowness.after(|| self.inner.send(plaintext, output))
    }

    fn receive(
        &mut self,
        input: &mut Vec<u8>,
        plaintext: &mut [u8],
    ) -> Result<usize, SessionError> {
        self.slowness.after(|| self.inner.receive(input, plaintext))
    }

    fn release_buffers(&mut self) -> Result<Option<&'static str>, SessionError> {
        self.inner.release_buffers()
    }

    fn negotiated(&self) -> Negotiated {
        self.inner.negotiated()
    }

    fn resumed(&self) -> bool {
        self.inner.resumed()
    }
}
