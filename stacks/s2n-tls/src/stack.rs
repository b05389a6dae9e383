use std::{error::Error, sync::Arc};

use netbench_protocol::{Operation, ServeSite, StackDescription};
use netbench_tls::{CipherSuite, Group, SignatureScheme, WorkerRecord};
use netbench_worker::{
    Accept, ClientSetup, Explained, Fetch, InMemory, SetupError, Stack, build_facts_with,
    locked_package, supported,
};

use crate::{client, explain, ffi, fips, libcrypto::Libcrypto, server};

/// The package of which this worker is built with another version.
const VERSION_OF: Option<&str> = option_env!("NETBENCH_VERSION_OF");

/// s2n-tls as it is linked.
pub(crate) struct S2n {
    name: &'static str,
    executable: &'static str,
    libcrypto: Libcrypto,
}

impl S2n {
    /// Makes the stack of the worker `executable`, named by the version where it is built with another one.
    pub(crate) fn new(executable: &'static str, libcrypto: Libcrypto) -> Self {
        Self {
            name: match (libcrypto, VERSION_OF) {
                // The name is allocated once per process.
                (Libcrypto::AwsLc, Some(library)) => version(library).replace(' ', "@").leak(),
                (Libcrypto::AwsLc, None) => "s2n-tls",
                (Libcrypto::OpenSsl { .. }, _) => "s2n-tls-openssl",
            },
            executable,
            libcrypto,
        }
    }

    /// Returns the name and version of the cryptography: of AWS-LC those of its crate, which belong together.
    fn provider(&self) -> String {
        match self.libcrypto {
            Libcrypto::AwsLc if cfg!(feature = "fips") => {
                format!("{} with {}", version("aws-lc-rs"), version(fips::MODULE))
            }
            Libcrypto::AwsLc => version("aws-lc-rs"),
            Libcrypto::OpenSsl { .. } => ffi::libcrypto_version(),
        }
    }
}

impl Stack for S2n {
    fn name(&self) -> &'static str {
        self.name
    }

    fn describe(&self) -> StackDescription {
        use Operation::*;

        let facts = match self.libcrypto {
            Libcrypto::OpenSsl { facts, .. } => facts(),
            Libcrypto::AwsLc => Vec::new(),
        };
        StackDescription {
            record: WorkerRecord {
                executable: self.executable.to_owned(),
                stack: self.name().to_owned(),
                library: version("s2n-tls"),
                provider: Some(self.provider()),
                connector: version("s2n-tls-hyper"),
                build: build_facts_with(facts),
            },
            operations: [Connect, Serve, Suite, Request, ClientCertificate].into(),
            trust_sources: Vec::new(),
            groups: supported(Group::OFFERED, |it| ffi::group(it).is_some()),
            suites: supported(CipherSuite::SERVED, |it| ffi::suite(it).is_some()),
            signatures: supported(&SignatureScheme::known(), |it| ffi::scheme(it).is_some()),
        }
    }

    fn connector(&self, setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        client::connector(setup)
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        server::acceptor(site)
    }

    fn in_memory(&self) -> Option<&dyn InMemory> {
        Some(self)
    }

    fn fips(&self) -> Option<String> {
        fips::is_on().then(|| version(fips::MODULE))
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        explain::explain(error.downcast_ref()?)
    }
}

/// Returns a package with its version.
fn version(package: &str) -> String {
    locked_package(ffi::LOCK, package)
}
