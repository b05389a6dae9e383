use std::{error::Error, sync::Arc};

use netbench_protocol::{Operation, ServeSite, StackDescription};
use netbench_tls::{ClientSettings, WorkerRecord};
use netbench_worker::{
    Accept, ChainVerifier, ClientSetup, Explained, Fetch, InMemory, OwnTrust, SetUpAction,
    SetupError, Stack, build_facts_with,
};

use crate::{
    chain, client, explain, plain_client,
    provider::{Provider, package_version},
    server, set_up, trust,
};

/// The way in which rustls is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// A client connects through hyper-rustls, as most users of hyper do. In memory, records go through the library's own
    /// buffers (`ClientConnection`), as with tokio-rustls.
    Usual,
    /// A client connects through tokio-rustls alone. Only for connections: in memory, there is no connector.
    Plain,
    /// Records are read and written in place (`UnbufferedClientConnection`). Only for the suite: the
    /// connectors do not use this interface.
    Unbuffered,
    /// The buffers of `Usual` have no limit of 64 KiB for unsent data (`set_buffer_limit`): the library encrypts a
    /// large write whole before it sends a part. Only for the suite.
    NoBufferLimit,
}

/// rustls with one provider.
pub struct Rustls {
    name: &'static str,
    pub(crate) provider: &'static dyn Provider,
    pub(crate) usage: Usage,
    executable: &'static str,
}

impl Rustls {
    /// Makes the stack of rustls with `provider`, in the worker `executable`.
    pub fn new(provider: &'static dyn Provider, executable: &'static str) -> Self {
        Self {
            name: provider.stack(),
            provider,
            usage: Usage::Usual,
            executable,
        }
    }

    /// Makes the same stack with another usage, under the name `name`.
    #[must_use]
    pub fn variant(self, name: &'static str, usage: Usage) -> Self {
        Self {
            name,
            usage,
            ..self
        }
    }

    /// Makes the same stack under the name and the locked version of `library`.
    #[must_use]
    pub fn version_of(self, library: &str) -> Self {
        Self {
            // The name is allocated once for each stack of a process.
            name: package_version(library).replace(' ', "@").leak(),
            ..self
        }
    }

    /// Refuses operations that a variant for the suite does not support.
    fn beyond_the_suite(&self) -> Result<(), SetupError> {
        match self.usage {
            Usage::Usual | Usage::Plain => Ok(()),
            Usage::Unbuffered | Usage::NoBufferLimit => Err(SetupError::unsupported(
                "it is for the suite; hyper-rustls and tokio-rustls use the interface with limited buffers",
            )),
        }
    }

    fn record(&self) -> WorkerRecord {
        WorkerRecord {
            executable: self.executable.to_owned(),
            stack: self.name.to_owned(),
            library: package_version("rustls"),
            provider: Some(self.provider.library()),
            connector: package_version(match self.usage {
                Usage::Plain => "tokio-rustls",
                _ => "hyper-rustls",
            }),
            build: build_facts_with(self.provider.build()),
        }
    }
}

impl Stack for Rustls {
    fn name(&self) -> &'static str {
        self.name
    }

    fn describe(&self) -> StackDescription {
        use Operation::*;

        let connecting = &[
            Connect,
            Serve,
            Request,
            ClientCertificate,
            ClientFile,
            ServesEarlyData,
            RequiresClientCertificate,
        ];
        let mut operations = match self.usage {
            Usage::Plain => [&connecting[..], &[EarlyRequest]].concat(),
            Usage::Usual => [&connecting[..], &[Suite, SetUp, EarlyData, Verify]].concat(),
            Usage::Unbuffered | Usage::NoBufferLimit => vec![Suite],
        };
        let is_usual = self.usage == Usage::Usual;
        if is_usual && self.provider.hpke_with_x25519().is_some() {
            operations.extend([Ech, EchGrease]);
        }
        let sources = trust::SOURCES.into_iter().filter(|_| is_usual);
        StackDescription {
            record: self.record(),
            operations: operations.into_iter().collect(),
            trust_sources: sources.map(str::to_owned).collect(),
            groups: self.provider.can_groups(),
            suites: self.provider.can_suites(),
            signatures: self.provider.can_signatures(),
        }
    }

    fn connector(&self, setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        self.beyond_the_suite()?;
        match self.usage {
            Usage::Plain => plain_client::connector(self.provider, setup),
            _ => client::connector(self.provider, setup),
        }
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        self.beyond_the_suite()?;
        server::acceptor(self.provider, site)
    }

    fn set_up_actions<'a>(
        &'a self,
        settings: &'a ClientSettings,
        roots_pem: &'a str,
    ) -> Vec<SetUpAction<'a>> {
        set_up::actions(self.provider, settings, roots_pem)
    }

    fn chain_verifier(&self) -> Result<Box<dyn ChainVerifier + '_>, SetupError> {
        self.beyond_the_suite()?;
        chain::given_roots(self.provider)
    }

    fn own_trust(&self, source: &str) -> Result<OwnTrust, SetupError> {
        self.beyond_the_suite()?;
        trust::own_trust(self.provider, source)
    }

    fn in_memory(&self) -> Option<&dyn InMemory> {
        (self.usage != Usage::Plain).then_some(self as &dyn InMemory)
    }

    fn capabilities(&self) -> Option<u64> {
        self.provider.capabilities()
    }

    fn fips(&self) -> Option<String> {
        self.provider.fips()
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        error.downcast_ref::<rustls::Error>().map(explain::explain)
    }
}

#[cfg(test)]
mod tests {
    use netbench_protocol::Material;
    use netbench_tls::{
        Aead, Alpn, CipherSuite, Group, HandshakeKind, KeyType, Profile, SessionSettings,
        SignatureScheme, TlsVersion,
    };
    use netbench_worker::{EndpointSetup, EndpointSide, Probe, TrustRoots};
    use rustls::{
        SupportedCipherSuite,
        crypto::{CryptoProvider, SupportedKxGroup},
    };

    use super::*;

    /// A provider that works on other machines, and panics here.
    struct Elsewhere;

    const REASON: &str = "it needs another processor";

    impl Provider for Elsewhere {
        fn stack(&self) -> &'static str {
            "rustls-elsewhere"
        }

        fn library(&self) -> String {
            "elsewhere 1.0.0".to_owned()
        }

        fn cannot_work(&self) -> Option<String> {
            Some(REASON.to_owned())
        }

        fn library_default(&self) -> CryptoProvider {
            panic!("asked, though it cannot work")
        }

        fn suites(&self) -> Vec<SupportedCipherSuite> {
            Vec::new()
        }

        fn groups(&self) -> Vec<&'static dyn SupportedKxGroup> {
            Vec::new()
        }
    }

    #[test]
    fn where_a_provider_cannot_work_everything_is_unsupported() {
        let roots_pem = include_str!("../../../trust-roots/mozilla.pem");
        let stack = Rustls::new(&Elsewhere, "test");
        for profile in [Profile::Default, Profile::Library] {
            let settings = client(profile);
            let probe = Probe::new();
            let made = stack.connector(&ClientSetup::new(&settings, roots_pem, &probe));
            unsupported("connector", made);
            let mut actions = stack.set_up_actions(&settings, roots_pem);
            unsupported("first step", (actions[0].run)());
        }
        unsupported("server", stack.acceptor(&site()));
        let settings =
            SessionSettings::usual(TlsVersion::Tls13, KeyType::EcdsaP256, Aead::Aes128Gcm);
        let material = Material::default();
        for side in [EndpointSide::Client, EndpointSide::Server] {
            let setup = EndpointSetup {
                side,
                settings: &settings,
                kind: HandshakeKind::Full,
                max_fragment_bytes: None,
                material: &material,
            };
            unsupported("endpoint", stack.endpoint(&setup));
        }
        unsupported("verifier", stack.verifier(roots_pem, "a.example"));
        let trust = TrustRoots::Pem(roots_pem);
        unsupported("configuration", stack.configuration(trust));
    }

    fn unsupported<T>(what: &str, made: Result<T, SetupError>) {
        match made.map(drop) {
            Err(SetupError::Unsupported(reason)) => assert_eq!(reason, REASON, "{what}"),
            other => panic!("{what}: {other:?}"),
        }
    }

    fn client(profile: Profile) -> ClientSettings {
        ClientSettings {
            profile,
            versions: vec![TlsVersion::Tls13],
            suites: vec![CipherSuite::TLS_AES_128_GCM_SHA256],
            groups: vec![Group::X25519],
            signatures: SignatureScheme::OFFERED.to_vec(),
            alpn: vec![Alpn::H2],
        }
    }

    fn site() -> ServeSite {
        ServeSite {
            site: "a.example".to_owned(),
            listen: ([127, 0, 0, 1], 0).into(),
            chain_pem: String::new(),
            key_pem: String::new(),
            versions: vec![TlsVersion::Tls13],
            suites: Vec::new(),
            groups: Vec::new(),
            alpn: vec![Alpn::H2],
            tickets: 2,
            early_data: None,
            client_root_pem: None,
            ech_keys: Vec::new(),
            ocsp_base64: None,
            body_bytes: 0,
            fault: None,
            congestion: None,
        }
    }
}
