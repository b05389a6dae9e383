//! The variants of a worker (`+jemalloc`, `+noavx512`), and the proof of each.

use std::{any::Any, env, error::Error, sync::Arc};

use netbench_protocol::{Material, ServeSite, StackDescription};
use netbench_tls::{Aead, ClientSettings, Group, KeyType, Variant, Variants};

use crate::{
    Accept, ChainVerifier, ClientSetup, Endpoint, EndpointSetup, Explained, Fetch, InMemory,
    KeyExchange, OwnTrust, RecordProtection, SetUpAction, SetupError, Signatures, Stack,
    TrustRoots, Verifier, allocator, compiler, native,
};

/// Returns the stacks under the names of their variants, if the environment requests variants. A library in FIPS mode
/// without a requested variant makes its stack unsupported.
pub(crate) fn varied(stacks: Vec<Arc<dyn Stack>>) -> Vec<Arc<dyn Stack>> {
    let asked = env::var(Variants::VARIABLE).unwrap_or_default();
    stacks
        .into_iter()
        .map(|inner: Arc<dyn Stack>| -> Arc<dyn Stack> {
            if asked.is_empty() && inner.fips().is_none() {
                inner
            } else {
                Arc::new(Varied::new(inner, &asked))
            }
        })
        .collect()
}

/// A stack that is a variant of another, or reports why it cannot be.
struct Varied {
    inner: Arc<dyn Stack>,
    name: &'static str,
    /// The reason why the stack is not the variant of its name. Such a stack refuses all operations.
    problem: Option<String>,
}

impl Varied {
    fn new(inner: Arc<dyn Stack>, asked: &str) -> Self {
        let problem = match Variants::split(asked) {
            Ok((rest, variants)) if rest.is_empty() => {
                let lacks = variants.iter().find_map(|variant| lacks(&*inner, variant));
                // The figures of FIPS mode must not be mistaken for those of the default library.
                let hides = !variants.has(Variant::Fips) && inner.fips().is_some();
                lacks.or_else(|| hides.then(|| "its library is in FIPS mode".to_owned()))
            }
            Ok((rest, _)) => Some(format!("its worker knows no variant {rest}")),
            Err(error) => Some(error.to_string()),
        };
        // The leak happens once for each stack of a process.
        let name = format!("{}{asked}", inner.name()).leak();
        Self {
            inner,
            name,
            problem,
        }
    }

    fn proven(&self) -> Result<&dyn Stack, SetupError> {
        match &self.problem {
            None => Ok(&*self.inner),
            Some(problem) => Err(SetupError::Unsupported(problem.clone())),
        }
    }

    fn library(&self) -> Result<&dyn InMemory, SetupError> {
        let library = self.proven()?.in_memory();
        library.ok_or_else(|| SetupError::Unsupported("it does not do the suite".to_owned()))
    }
}

/// Returns the reason why this process, with this stack, is not the variant.
fn lacks(stack: &dyn Stack, variant: Variant) -> Option<String> {
    match variant {
        Variant::Malloc => {
            let found = allocator::found();
            (found != "system").then(|| format!("the worker's allocator is {found}"))
        }
        Variant::Jemalloc | Variant::Mimalloc => {
            let found = allocator::found();
            let proven = found.strip_prefix(variant.name());
            let proven = proven.is_some_and(|version| !version.contains("system"));
            (!proven).then(|| format!("the worker's allocator is not {variant}: it is {found}"))
        }
        Variant::Gcc | Variant::Clang => compiler::lacks(variant),
        Variant::Lto => {
            let set = option_env!("NETBENCH_LTO").unwrap_or("as the profile has it");
            (set != "fat").then(|| format!("the worker's LTO is {set}, and not fat"))
        }
        Variant::Native => native::lacks(),
        Variant::Fips => stack
            .fips()
            .is_none()
            .then(|| format!("the library of {} is in no FIPS mode", stack.name())),
        Variant::NoAvx512 | Variant::NoVaes => {
            if !processor_has(variant) {
                let without = variant.name().trim_start_matches("no");
                return Some(format!("this processor has no {without} to do without"));
            }
            let Some(used) = stack.capabilities() else {
                return Some(format!(
                    "{} does not heed OPENSSL_ia32cap, or does not tell",
                    stack.name()
                ));
            };
            let still = used & variant.hidden();
            (still != 0).then(|| {
                format!("the library was to do without {still:#x} of CPUID's leaf 7, and uses it")
            })
        }
    }
}

fn processor_has(variant: Variant) -> bool {
    #[cfg(target_arch = "x86_64")]
    match variant {
        Variant::NoAvx512 => std::arch::is_x86_feature_detected!("avx512f"),
        Variant::NoVaes => std::arch::is_x86_feature_detected!("vaes"),
        _ => true,
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = variant;
        false
    }
}

impl Stack for Varied {
    fn name(&self) -> &'static str {
        self.name
    }

    fn describe(&self) -> StackDescription {
        let mut description = self.inner.describe();
        let record = &mut description.record;
        self.name.clone_into(&mut record.stack);
        if let Some(used) = self.inner.capabilities() {
            let used = format!("{used:#x}");
            record.build.insert("cpuid_leaf_7".to_owned(), used);
        }
        if let Some(module) = self.inner.fips() {
            record.build.insert("fips140".to_owned(), module);
        }
        if let Some(compilers) = compiler::found() {
            record.build.insert("compiler".to_owned(), compilers);
        }
        if let Some(flags) = compiler::processors() {
            record.build.insert("c_processor".to_owned(), flags);
        }
        if let Some(problem) = &self.problem {
            let not = "not_the_variant".to_owned();
            record.build.insert(not, problem.clone());
        }
        description
    }

    fn connector(&self, setup: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
        self.proven()?.connector(setup)
    }

    fn needs_another_process(&self, settings: &ClientSettings) -> bool {
        self.inner.needs_another_process(settings)
    }

    fn never_resumes(&self) -> Option<&'static str> {
        self.inner.never_resumes()
    }

    fn acceptor(&self, site: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
        self.proven()?.acceptor(site)
    }

    fn set_up_actions<'a>(
        &'a self,
        settings: &'a ClientSettings,
        roots_pem: &'a str,
    ) -> Vec<SetUpAction<'a>> {
        match self.proven() {
            Ok(inner) => inner.set_up_actions(settings, roots_pem),
            Err(_) => Vec::new(),
        }
    }

    fn chain_verifier(&self) -> Result<Box<dyn ChainVerifier + '_>, SetupError> {
        self.proven()?.chain_verifier()
    }

    fn own_trust(&self, source: &str) -> Result<OwnTrust, SetupError> {
        self.proven()?.own_trust(source)
    }

    fn in_memory(&self) -> Option<&dyn InMemory> {
        Some(self)
    }

    fn capabilities(&self) -> Option<u64> {
        self.inner.capabilities()
    }

    fn fips(&self) -> Option<String> {
        self.inner.fips()
    }

    fn explain(&self, error: &(dyn Error + 'static)) -> Option<Explained> {
        self.inner.explain(error)
    }
}

impl InMemory for Varied {
    fn endpoint(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        self.library()?.endpoint(setup)
    }

    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError> {
        self.library()?.verifier(roots_pem, host)
    }

    fn configuration(&self, roots: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        self.library()?.configuration(roots)
    }

    fn signatures(
        &self,
        key: KeyType,
        material: &Material,
    ) -> Result<Box<dyn Signatures>, SetupError> {
        self.library()?.signatures(key, material)
    }

    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>, SetupError> {
        self.library()?.key_exchange(group)
    }

    fn record_protection(&self, aead: Aead) -> Result<Box<dyn RecordProtection>, SetupError> {
        self.library()?.record_protection(aead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stack that reports the given FIPS module, and whose `own_trust` returns `source` as its error.
    struct Says(Option<&'static str>);

    impl Stack for Says {
        fn name(&self) -> &'static str {
            "says"
        }

        fn describe(&self) -> StackDescription {
            unreachable!("never asked")
        }

        fn connector(&self, _: &ClientSetup<'_>) -> Result<Box<dyn Fetch>, SetupError> {
            unreachable!("never asked")
        }

        fn acceptor(&self, _: &ServeSite) -> Result<Arc<dyn Accept>, SetupError> {
            unreachable!("never asked")
        }

        fn own_trust(&self, source: &str) -> Result<OwnTrust, SetupError> {
            Err(SetupError::Refused(source.to_owned()))
        }

        fn fips(&self) -> Option<String> {
            self.0.map(str::to_owned)
        }

        fn explain(&self, _: &(dyn Error + 'static)) -> Option<Explained> {
            None
        }
    }

    #[test]
    fn a_stack_is_fips_where_its_library_says_so_and_its_name_does() {
        let module = Some("a module 1.0");
        let works = "it works";
        let cases = [
            ("+fips", module, works),
            ("+fips", None, "the library of says is in no FIPS mode"),
            ("", module, "its library is in FIPS mode"),
            ("+malloc", module, "its library is in FIPS mode"),
            ("+malloc+fips", module, works),
            ("+malloc", None, works),
            ("+fips+odd", module, "its worker knows no variant +odd"),
        ];
        for (asked, says, expected) in cases {
            let varied = Varied::new(Arc::new(Says(says)), asked);
            assert_eq!(varied.name(), format!("says{asked}"));
            // The inner stack is called only if it is the variant of its name.
            let said = match varied.own_trust(works) {
                Err(SetupError::Unsupported(reason) | SetupError::Refused(reason)) => reason,
                other => panic!("{asked}: {:?}", other.map(drop)),
            };
            assert_eq!(said, expected, "{asked}");
        }
    }
}
