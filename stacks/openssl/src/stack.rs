use std::{error::Error, sync::Arc};

use netbench_libssl::{SOURCES, client_of_chains, own_trust};
use netbench_protocol::{Operation, ServeSite, StackDescription};
use netbench_tls::{CipherSuite, ClientSettings, Group, SignatureScheme, WorkerRecord};
use netbench_worker::{
    Accept, ChainVerifier, ClientSetup, Explained, Fetch, InMemory, OwnTrust, SetUpAction,
    SetupError, Stack, build_facts_with, locked_package, supported,
};
use openssl::version::{built_on, c_flags, dir, platform, version};

use crate::{
    client,
    ech::{OF_CLIENTS, OF_SERVERS},
    ffi, plain_client, server, set_up,
    settings::{can_group, can_scheme},
};

/// The libssl of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Library {
    /// Built from source.
    Vendored,
    /// The system's.
    System,
}

/// Returns facts about the library's build: the output of `openssl version -a`, and the options without which
/// it was built.
pub fn library_facts() -> [(&'static str, String); 6] {
    [
        ("library_compiler", c_flags().to_owned()),
        ("library_built_on", built_on().to_owned()),
        ("library_platform", platform().to_owned()),
        ("library_folder", dir().to_owned()),
        ("library_cpu", ffi::cpu_settings()),
        ("library_without", env!("LIBSSL_WITHOUT").to_owned()),
    ]
}

/// The way in which the library is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Usage {
    /// A client connects through hyper-openssl. In memory, sessions keep their record buffers while they have no data to read
    /// or write, which is libssl's default.
    Usual,
    /// A client connects through tokio-openssl alone. Only for connections: in memory, there is no connector.
    Plain,
    /// Sessions free their buffers (`SSL_MODE_RELEASE_BUFFERS`), as with the openssl crate's connector. Only for
    /// the suite: in connections, the stack with the default already uses that connector.
    ReleasedBuffers,
    /// Records pass through OpenSSL's memory BIOs. Only for the suite.
    MemoryBios,
}

/// OpenSSL as it is linked.
pub struct OpenSsl {
    library: Library,
    pub(crate) usage: Usage,
    executable: &'static str,
}

impl OpenSsl {
    /// Returns the library with which this build is linked, for workers of libraries on top of it.
    pub fn linked(executable: &'static str) -> Self {
        Self::new(crate::LINKED, Usage::Usual, executable)
    }

    pub(crate) fn new(library: Library, usage: Usage, executable: &'static str) -> Self {
        Self {
            library,
            usage,
            executable,
        }
    }

    /// Refuses operations that a variant for the suite does not support.
    fn beyond_the_suite(&self) -> Result<(), SetupError> {
        match self.usage {
            Usage::Usual | Usage::Plain => Ok(()),
            Usage::ReleasedBuffers => Err(SetupError::unsupported(
                "it is for the suite; the connector of the stack openssl releases buffers already",
            )),
            Usage::MemoryBios => Err(SetupError::unsupported(
                "it is for the suite; the connector of the stack openssl has a BIO over the socket",
            )),
        }
    }
}

impl Stack for OpenSsl {
    fn name(&self) -> &'static str {
        match (self.library, self.usage) {
            (Library::Vendored, Usage::Usual) => env!("OPENSSL_STACK"),
            (Library::Vendored, Usage::Plain) => concat!(env!("OPENSSL_STACK"), "+plain"),
            (Library::Vendored, Usage::ReleasedBuffers) => {
                concat!(env!("OPENSSL_STACK"), "+release-buffers")
            }
            (Library::Vendored, Usage::MemoryBios) => concat!(env!("OPENSSL_STACK"), "+memory-bio"),
            (Library::System, Usage::Usual) => "openssl-system",
            (Library::System, Usage::Plain) => "openssl-system+plain",
            (Library::System, Usage::ReleasedBuffers) => "openssl-system+release-buffers",
            (Library::System, Usage::MemoryBios) => "openssl-system+memory-bio",
        }
    }

    fn describe(&self) -> StackDescription {
        use Operation::*;

        let connecting: &[Operation] = &[
            Connect,
            Serve,
            Request,
            ClientCertificate,
            ClientFile,
            RequiresClientCertificate,
            DeprecatedVersions,
        ];
        let operations = match self.usage {
            Usage::Plain => [connecting, OF_SERVERS].concat(),
            Usage::Usual => [connecting, &[Suite, SetUp, Verify], OF_CLIENTS, OF_SERVERS].concat(),
            Usage::ReleasedBuffers | Usage::MemoryBios => vec![Suite],
        };
        StackDescription {
            record: WorkerRecord {
                executable: self.executable.to_owned(),
                stack: self.name().to_owned(),
                library: version().to_owned(),
                provider: None,
                connector: locked_package(
                    include_str!("../../../Cargo.lock"),
                    match self.usage {
                        Usage::Plain => "tokio-openssl",
                        _ => "hyper-openssl",
                    },
                ),
                build: build_facts_with(library_facts()),
            },
            operations: operations.into_iter().collect(),
            trust_sources: match self.usage {
                Usage::Usual => SOURCES.map(str::to_owned).to_vec(),
                _ => Vec::new(),
            },
            groups: supported(Group::OFFERED, can_group),
            suites: CipherSuite::SERVED.to_vec(),
            signatures: supported(&SignatureScheme::known(), can_scheme),
        }
    }

    fn connector(&self, setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        self.beyond_the_suite()?;
        match self.usage {
            Usage::Plain => plain_client::connector(setup),
            _ => client::connector(setup),
        }
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        self.beyond_the_suite()?;
        server::acceptor(site)
    }

    fn set_up_actions<'a>(
        &'a self,
        settings: &'a ClientSettings,
        roots_pem: &'a str,
    ) -> Vec<SetUpAction<'a>> {
        set_up::actions(settings, roots_pem)
    }

    fn chain_verifier(&self) -> Result<Box<dyn ChainVerifier + '_>, SetupError> {
        self.beyond_the_suite()?;
        Ok(Box::new(client_of_chains::<Self>()?))
    }

    fn own_trust(&self, source: &str) -> Result<OwnTrust, SetupError> {
        self.beyond_the_suite()?;
        own_trust::<Self>(source)
    }

    fn in_memory(&self) -> Option<&dyn InMemory> {
        (self.usage != Usage::Plain).then_some(self as &dyn InMemory)
    }

    fn capabilities(&self) -> Option<u64> {
        leaf_7(&ffi::cpu_settings())
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        netbench_libssl::explain::<Self>(error)
    }
}

/// Returns the second word of `OPENSSL_ia32cap`, which libssl reports as `CPUINFO: OPENSSL_ia32cap=0x…:0x…
/// …`.
fn leaf_7(settings: &str) -> Option<u64> {
    let (_, words) = settings.split_once("OPENSSL_ia32cap=")?;
    let word = words.split_whitespace().next()?.split(':').nth(1)?;
    u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_leaf_7_is_found_in_what_libssl_says() {
        let cases = [
            (
                "CPUINFO: OPENSSL_ia32cap=0x7ffaf3ff:0x40069c219c97a9",
                Some(0x40_069c_219c_97a9),
            ),
            (
                "CPUINFO: OPENSSL_ia32cap=0x1:0x2:0x3:0x4:0x5 env::~0x4",
                Some(2),
            ),
            ("CPUINFO: OPENSSL_armcap=0x7d", None),
            ("CPUINFO: N/A", None),
            ("CPUINFO: OPENSSL_ia32cap=0x1", None),
            ("CPUINFO: OPENSSL_ia32cap=0x1:zz", None),
        ];
        for (settings, expected) in cases {
            assert_eq!(leaf_7(settings), expected, "{settings}");
        }
        // OpenSSL 1.1.1 does not report it.
        if cfg!(all(target_arch = "x86_64", not(before_openssl_3))) {
            assert!(
                leaf_7(&ffi::cpu_settings()).is_some(),
                "{}",
                ffi::cpu_settings()
            );
        }
    }
}
