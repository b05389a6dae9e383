use std::{any::Any, error::Error, sync::Arc};

use netbench_libssl::{Keys, SOURCES, Sessions, client_of_chains, own_trust};
use netbench_protocol::{Material, Operation, ServeSite, StackDescription};
use netbench_tls::{
    CipherSuite, Group, HandshakeKind, KeyType, SignatureScheme, TlsVersion, WorkerRecord,
};
use netbench_worker::{
    Accept, ChainVerifier, ClientSetup, Endpoint, EndpointSetup, Explained, Fetch, InMemory,
    OwnTrust, SetupError, Signatures, SigningPair, Stack, TrustRoots, Verifier, build_facts,
    locked_package, supported,
};
use openssl::{ssl::SslMode, version::version};

use crate::{client, ffi, server, settings};

/// AWS-LC as the crate aws-lc-sys builds it.
pub(crate) struct AwsLc;

impl Stack for AwsLc {
    fn name(&self) -> &'static str {
        "aws-lc"
    }

    fn describe(&self) -> StackDescription {
        use Operation::*;

        StackDescription {
            record: WorkerRecord {
                executable: env!("CARGO_BIN_NAME").to_owned(),
                stack: self.name().to_owned(),
                library: version().to_owned(),
                provider: None,
                connector: locked_package(include_str!("../Cargo.lock"), "hyper-openssl"),
                build: build_facts(),
            },
            operations: [
                Connect,
                Serve,
                Suite,
                Request,
                ClientCertificate,
                ClientFile,
                Verify,
            ]
            .into(),
            trust_sources: SOURCES.map(str::to_owned).to_vec(),
            groups: supported(Group::OFFERED, settings::can_group),
            // AWS-LC has no suites with finite fields.
            suites: supported(CipherSuite::SERVED, |suite| {
                suite != CipherSuite::TLS_DHE_RSA_WITH_AES_128_GCM_SHA256
            }),
            signatures: supported(&SignatureScheme::known(), ffi::has_scheme),
        }
    }

    fn connector(&self, setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        client::connector(setup)
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        server::acceptor(site)
    }

    fn chain_verifier(&self) -> Result<Box<dyn ChainVerifier + '_>, SetupError> {
        Ok(Box::new(client_of_chains::<Self>()?))
    }

    fn own_trust(&self, source: &str) -> Result<OwnTrust, SetupError> {
        own_trust::<Self>(source)
    }

    fn in_memory(&self) -> Option<&dyn InMemory> {
        Some(self)
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        netbench_libssl::explain::<Self>(error)
    }
}

impl InMemory for AwsLc {
    fn client(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        netbench_libssl::client::<Self>(setup, Sessions::WithMode(SslMode::empty()))
    }

    fn server(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        if setup.kind == HandshakeKind::SessionId && setup.settings.version == TlsVersion::Tls13 {
            return Err(SetupError::unsupported(
                "in TLS 1.3, AWS-LC's server keeps no sessions: its tickets hold them",
            ));
        }
        netbench_libssl::server::<Self>(setup, Sessions::WithMode(SslMode::empty()))
    }

    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError> {
        netbench_libssl::verifier(roots_pem, host)
    }

    fn configuration(&self, roots: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        netbench_libssl::configuration(roots)
    }

    fn signatures(
        &self,
        key: KeyType,
        material: &Material,
    ) -> Result<Box<dyn Signatures>, SetupError> {
        Ok(Box::new(SigningPair::new(Keys::new(key, material)?)))
    }
}

#[cfg(test)]
mod tests {
    use netbench_worker::locked_version;

    /// Checks that `aws-lc` and `openssl` differ only in the library.
    #[test]
    fn what_times_depend_on_is_as_in_netbenchs_other_workers() {
        let crates = [
            "h2",
            "hyper",
            "hyper-openssl",
            "hyper-util",
            "openssl",
            "openssl-sys",
            "tokio",
            "tokio-openssl",
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
