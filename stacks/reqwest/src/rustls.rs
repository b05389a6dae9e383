use std::{
    error::Error,
    sync::{Arc, OnceLock},
};

use netbench_protocol::{Operation, ServeSite, StackDescription};
use netbench_stack_rustls::{Provider, process, watch};
use netbench_tls::{ClientSettings, Negotiated, WorkerRecord};
use netbench_worker::{
    Accept, ClientSetup, Explained, Fetch, Observed, Probe, SetupError, Stack, build_facts_with,
};
use reqwest::{Certificate, Client};
use rustls::{
    RootCertStore, SupportedCipherSuite,
    crypto::{CryptoProvider, SupportedKxGroup, aws_lc_rs},
    server::ProducesTickets,
};
use rustls_pki_types::{CertificateDer, pem::PemObject};

use crate::{
    client::{self, Watch},
    package_version, transcript,
};

/// reqwest with rustls, its default. Its server is rustls', with the same cryptography.
pub struct Rustls {
    executable: &'static str,
    rustls: netbench_stack_rustls::Rustls,
}

impl Rustls {
    /// Makes the stack for the worker `executable`.
    pub fn new(executable: &'static str) -> Self {
        Self {
            executable,
            rustls: netbench_stack_rustls::Rustls::new(&AwsLc, executable),
        }
    }
}

impl Stack for Rustls {
    fn name(&self) -> &'static str {
        AwsLc.stack()
    }

    fn describe(&self) -> StackDescription {
        use Operation::*;

        let verifier = package_version("rustls-platform-verifier");
        let hyper = package_version("hyper-rustls");
        StackDescription {
            record: WorkerRecord {
                executable: self.executable.to_owned(),
                stack: self.name().to_owned(),
                library: package_version("rustls"),
                provider: Some(AwsLc.library()),
                connector: format!("{}, {hyper}", package_version("reqwest")),
                build: build_facts_with([("verifier", verifier)]),
            },
            operations: [Connect, Serve, Request].into(),
            trust_sources: Vec::new(),
            ..self.rustls.describe()
        }
    }

    fn connector(&self, setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        setup.without_identity("the worker of reqwest")?;
        process::install(&AwsLc, setup.settings)?;
        let builder = Client::builder().tls_backend_rustls();
        client::connector::<Handshakes>(builder, setup, usable(setup.roots_pem)?)
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        self.rustls.acceptor(site)
    }

    fn needs_another_process(&self, settings: &ClientSettings) -> bool {
        process::is_another(settings)
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        self.rustls.explain(error)
    }
}

/// Returns the roots without those that rustls cannot use: reqwest refuses all where there is one.
fn usable(roots_pem: &str) -> Result<Vec<Certificate>, SetupError> {
    let mut roots = Vec::new();
    for der in CertificateDer::pem_slice_iter(roots_pem.as_bytes()) {
        let der = der.map_err(|e| SetupError::refused("roots", e))?;
        if RootCertStore::empty().add(der.clone()).is_ok() {
            let root = Certificate::from_der(&der);
            roots.push(root.map_err(|e| SetupError::refused("roots", client::in_full(&e)))?);
        }
    }
    Ok(roots)
}

/// AWS-LC, as reqwest uses it, with its hashes observed.
#[derive(Debug, Clone, Copy)]
struct AwsLc;

impl Provider for AwsLc {
    fn stack(&self) -> &'static str {
        "reqwest"
    }

    fn library(&self) -> String {
        package_version("aws-lc-rs")
    }

    fn library_default(&self) -> CryptoProvider {
        CryptoProvider {
            cipher_suites: self.suites(),
            ..aws_lc_rs::default_provider()
        }
    }

    fn suites(&self) -> Vec<SupportedCipherSuite> {
        static HEARD: OnceLock<Vec<SupportedCipherSuite>> = OnceLock::new();
        let heard = || {
            let all = aws_lc_rs::default_provider().cipher_suites;
            all.into_iter().map(transcript::heard).collect()
        };
        HEARD.get_or_init(heard).clone()
    }

    fn groups(&self) -> Vec<&'static dyn SupportedKxGroup> {
        aws_lc_rs::ALL_KX_GROUPS.to_vec()
    }

    fn ticketer(&self) -> Result<Option<Arc<dyn ProducesTickets>>, rustls::Error> {
        aws_lc_rs::Ticketer::new().map(Some)
    }
}

/// An observer of rustls' handshakes, through its hash inputs.
struct Handshakes;

impl Watch for Handshakes {
    type Guard = ();

    fn begin(probe: &Probe) {
        watch::begin(probe);
        transcript::begin();
    }

    fn agreed() -> Negotiated {
        Observed::in_messages(&transcript::taken())
    }
}
