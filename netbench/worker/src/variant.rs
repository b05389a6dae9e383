//! The variants of a worker (`+jemalloc`, `+noavx512`), and the proof of each.

use std::{env, sync::Arc};

use netbench_protocol::StackDescription;
use netbench_tls::{ClientSettings, Variant, Variants};

use crate::{SetupError, Stack, allocator, compiler, native};

/// A stack under the name of the variant that the environment requests.
pub(crate) struct Varied {
    inner: Arc<dyn Stack>,
    name: &'static str,
    /// The reason why the stack is not the variant of its name. Such a stack refuses all operations.
    problem: Option<String>,
}

/// Returns the stacks under the names of their variants, if the environment requests variants. A library in FIPS mode
/// without a requested variant makes its stack unsupported.
pub(crate) fn varied(stacks: Vec<Arc<dyn Stack>>) -> Vec<Arc<Varied>> {
    let asked = env::var(Variants::VARIABLE).unwrap_or_default();
    let stacks = stacks.into_iter();
    stacks
        .map(|inner| Arc::new(Varied::new(inner, &asked)))
        .collect()
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

    /// Returns the name of the variant.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the stack, if it is the variant of its name.
    pub(crate) fn proven(&self) -> Result<&Arc<dyn Stack>, SetupError> {
        match &self.problem {
            None => Ok(&self.inner),
            Some(problem) => Err(SetupError::unsupported(problem)),
        }
    }

    /// Returns whether a connector with `settings` needs a new process.
    pub(crate) fn needs_another_process(&self, settings: &ClientSettings) -> bool {
        self.inner.needs_another_process(settings)
    }

    /// Returns the stack's description, with the proof of a variant.
    pub(crate) fn describe(&self) -> StackDescription {
        let mut description = self.inner.describe();
        if self.problem.is_none() && self.name == self.inner.name() {
            return description;
        }
        let record = &mut description.record;
        self.name.clone_into(&mut record.stack);
        let facts = [
            (
                "cpuid_leaf_7",
                self.inner.capabilities().map(|used| format!("{used:#x}")),
            ),
            ("fips140", self.inner.fips()),
            ("compiler", compiler::found()),
            ("c_processor", compiler::processors()),
            ("not_the_variant", self.problem.clone()),
        ];
        for (name, fact) in facts {
            record
                .build
                .extend(fact.map(|fact| (name.to_owned(), fact)));
        }
        description
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

#[cfg(test)]
mod tests {
    use std::error::Error;

    use netbench_protocol::ServeSite;

    use super::*;
    use crate::{Accept, ClientSetup, Explained, Fetch};

    /// A stack that reports the given FIPS module.
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
            let said = match varied.proven() {
                Ok(_) => works.to_owned(),
                Err(error) => error.to_string(),
            };
            assert_eq!(said, expected, "{asked}");
        }
    }
}
