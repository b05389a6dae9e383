use std::{error::Error, sync::Arc};

use netbench_protocol::{Operation, ServeSite, StackDescription};
use netbench_stack_rustls::{Rustls, process};
use netbench_tls::{ClientSettings, WorkerRecord};
use netbench_worker::{
    Accept, ClientSetup, Explained, Fetch, PageLoader, SetupError, Stack, build_facts,
    locked_package,
};

use crate::{
    client::{self, Trust},
    page::{self, Pages},
    provider::AwsLc,
};

/// Servo's network stack as a client. Its server is rustls', with the same cryptography.
pub(crate) struct Servo {
    trust: Trust,
    rustls: Rustls,
}

impl Servo {
    pub(crate) fn new(trust: Trust) -> Self {
        Self {
            trust,
            rustls: Rustls::new(&AwsLc, env!("CARGO_BIN_NAME")),
        }
    }
}

impl Stack for Servo {
    fn name(&self) -> &'static str {
        match self.trust {
            Trust::Platform => "servo",
            Trust::WebpkiRoots => "servo+webpki-roots",
        }
    }

    fn describe(&self) -> StackDescription {
        use Operation::*;

        let mut build = build_facts();
        let verifier = match self.trust {
            Trust::Platform => "rustls-platform-verifier",
            Trust::WebpkiRoots => "webpki-roots",
        };
        build.insert("verifier".to_owned(), package_version(verifier));
        let hyper = package_version("hyper-rustls");
        StackDescription {
            record: WorkerRecord {
                executable: env!("CARGO_BIN_NAME").to_owned(),
                stack: self.name().to_owned(),
                library: package_version("rustls"),
                provider: Some(package_version("aws-lc-rs")),
                connector: format!("{}, {hyper}", package_version("servo-net")),
                build,
            },
            operations: [Connect, Serve, Request, Load].into(),
            trust_sources: Vec::new(),
            ..self.rustls.describe()
        }
    }

    fn connector(&self, setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        setup.without_identity("Servo")?;
        client::connector(self.trust, setup)
    }

    fn page_loader(
        &self,
        settings: &ClientSettings,
        roots_pem: &str,
    ) -> Result<Box<dyn PageLoader>, SetupError> {
        Ok(Box::new(Pages::new(self.trust, settings, roots_pem)?))
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        self.rustls.acceptor(site)
    }

    fn needs_another_process(&self, settings: &ClientSettings) -> bool {
        page::has_loader() || process::is_another(settings)
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        self.rustls.explain(error)
    }
}

/// Returns a package with its version, from the packages with which this worker is built.
pub(crate) fn package_version(package: &str) -> String {
    locked_package(include_str!("../Cargo.lock"), package)
}

#[cfg(test)]
mod tests {
    use netbench_worker::locked_version;

    /// Checks that `servo` and `rustls-aws-lc` differ only in Servo.
    #[test]
    fn what_times_depend_on_is_as_in_netbenchs_other_workers() {
        let crates = [
            "aws-lc-rs",
            "aws-lc-sys",
            "h2",
            "hyper",
            "hyper-rustls",
            "hyper-util",
            "rustls",
            "rustls-pki-types",
            "tokio",
            "tokio-rustls",
        ];
        for package in crates {
            assert_eq!(
                locked_version(include_str!("../Cargo.lock"), package),
                locked_version(include_str!("../../../Cargo.lock"), package),
                "{package}"
            );
        }
    }
}
