//! Variants that any stack can have: other ways to build or run a worker.

use std::fmt;

use crate::named::words;

words!(
    /// A variant of a worker in Rust, of any stack. The variant's name follows the stack's name after a `+`, and the worker
    /// proves the variant at run time (`variant.rs` of `netbench-worker`).
    Variant, {
        /// The worker's memory comes from the system's allocator, as without a variant.
        Malloc = "malloc",
        /// The worker's memory comes from jemalloc.
        Jemalloc = "jemalloc",
        /// The worker's memory comes from mimalloc.
        Mimalloc = "mimalloc",
        /// The library's C is compiled by GCC.
        Gcc = "gcc",
        /// The library's C is compiled by Clang.
        Clang = "clang",
        /// The worker's Rust is optimised as one program: fat LTO, where the default is thin LTO.
        Lto = "lto",
        /// The worker is compiled for the processor of the machine that builds it.
        Native = "native",
        /// The library runs as if the processor had no AVX-512.
        NoAvx512 = "noavx512",
        /// The library runs as if the processor had neither VAES nor VPCLMULQDQ.
        NoVaes = "novaes",
        /// The cryptography comes from a FIPS 140-3 module, and algorithms that are not approved are left out.
        Fips = "fips",
    }
);

impl Variant {
    /// Returns a description in a line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Malloc => {
                "the worker's memory comes from the system's malloc, as it does without a variant"
            }
            Self::Jemalloc => "the worker's memory comes from jemalloc, that of C libraries too",
            Self::Mimalloc => "the worker's memory comes from mimalloc, that of C libraries too",
            Self::Gcc => "the library's C is compiled by GCC",
            Self::Clang => "the library's C is compiled by Clang",
            Self::Lto => "the worker's Rust is optimised with fat LTO, where it usually is thin",
            Self::Native => {
                "the worker's Rust and C are compiled for this processor (target-cpu=native, -march=native)"
            }
            Self::NoAvx512 => {
                "the library does without AVX-512 (OPENSSL_ia32cap; OpenSSL and AWS-LC)"
            }
            Self::NoVaes => {
                "the library does without VAES and VPCLMULQDQ (OPENSSL_ia32cap; OpenSSL and AWS-LC)"
            }
            Self::Fips => {
                "the cryptography is a FIPS 140-3 module's, without what is not approved (Go and AWS-LC)"
            }
        }
    }

    /// Returns the exclusive choice to which the variant belongs, if any.
    fn choice(self) -> Option<Choice> {
        match self {
            Self::Malloc | Self::Jemalloc | Self::Mimalloc => Some(Choice::Allocator),
            Self::Gcc | Self::Clang => Some(Choice::Compiler),
            Self::Lto | Self::Native | Self::NoAvx512 | Self::NoVaes | Self::Fips => None,
        }
    }

    /// Returns whether the variant changes how a worker in Rust is built, and not only how it is run.
    fn is_built(self) -> bool {
        !matches!(self, Self::Malloc | Self::NoAvx512 | Self::NoVaes)
    }

    /// Returns the instructions that the library must not use: the bits of CPUID's leaf 7, ECX above EBX.
    pub fn hidden(self) -> u64 {
        match self {
            Self::NoAvx512 => AVX512,
            Self::NoVaes => VAES,
            _ => 0,
        }
    }
}

/// A property of which a worker can have only one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Allocator,
    Compiler,
}

/// Bits of EBX: F, DQ, IFMA, CD, BW, VL; of ECX: VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ.
const AVX512: u64 = 0x5842_D023_0000;
/// Bits of ECX: VAES, VPCLMULQDQ.
const VAES: u64 = 0x0600_0000_0000;

/// An error in the variants of a stack's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariantError {
    /// The same variant occurs twice.
    #[error("+{0} is there twice")]
    Twice(Variant),
    /// The variants exclude each other: a worker has one allocator, and one compiler of its C.
    #[error("+{0} and +{1} exclude each other")]
    Exclude(Variant, Variant),
}

/// The variants of a worker, in the order given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variants(Vec<Variant>);

impl Variants {
    /// The environment variable with the variants that a worker has to prove.
    pub const VARIABLE: &'static str = "NETBENCH_VARIANTS";

    /// The environment variable with the settings of Go's runtime, of which the last duplicate counts.
    pub const GO_SETTINGS: &'static str = "GODEBUG";

    /// No variants.
    pub const NONE: Self = Self(Vec::new());

    /// Splits the variants from the name of a stack. The rest is a stack that a worker knows.
    ///
    /// # Errors
    /// Variants that exclude each other or are repeated.
    pub fn split(name: &str) -> Result<(String, Self), VariantError> {
        let mut parts = name.split('+');
        let mut stack = parts.next().unwrap_or_default().to_owned();
        let mut found = Vec::new();
        for part in parts {
            let variant = Variant::ALL.iter().find(|known| known.name() == part);
            match variant.copied() {
                Some(variant) if found.contains(&variant) => {
                    return Err(VariantError::Twice(variant));
                }
                Some(variant) => found.push(variant),
                None => stack = format!("{stack}+{part}"),
            }
        }
        for choice in [Choice::Allocator, Choice::Compiler] {
            let mut chosen = found
                .iter()
                .filter(|variant| variant.choice() == Some(choice));
            if let (Some(one), Some(other)) = (chosen.next(), chosen.next()) {
                return Err(VariantError::Exclude(*one, *other));
            }
        }
        Ok((stack, Self(found)))
    }

    /// Returns the variants that change how the worker is built, in the order of [`Variant`].
    #[must_use]
    pub fn built(&self) -> Self {
        let mut built: Vec<_> = self.iter().filter(|variant| variant.is_built()).collect();
        built.sort_unstable();
        Self(built)
    }

    /// Returns whether the variants include the given one.
    pub fn has(&self, variant: Variant) -> bool {
        self.0.contains(&variant)
    }

    /// Returns the variants without the given one.
    #[must_use]
    pub fn without(&self, variant: Variant) -> Self {
        Self(self.iter().filter(|other| *other != variant).collect())
    }

    /// Returns the allocator with which the worker is linked, if it is not the system's.
    pub fn allocator(&self) -> Option<Variant> {
        let chosen = self.chosen(Choice::Allocator);
        chosen.filter(|variant| variant.is_built())
    }

    /// Returns the compiler of the library's C, if it is not the build's default.
    pub fn compiler(&self) -> Option<Variant> {
        self.chosen(Choice::Compiler)
    }

    fn chosen(&self, choice: Choice) -> Option<Variant> {
        self.iter().find(|variant| variant.choice() == Some(choice))
    }

    /// Returns an iterator over the variants.
    pub fn iter(&self) -> impl Iterator<Item = Variant> {
        self.0.iter().copied()
    }

    /// Returns the environment of such a worker: [`Self::VARIABLE`], and the variables that its library heeds.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let mut environment = Vec::new();
        if !self.0.is_empty() {
            environment.push((Self::VARIABLE, self.to_string()));
        }
        let hidden = self.0.iter().fold(0, |all, variant| all | variant.hidden());
        if hidden != 0 {
            environment.push(("OPENSSL_ia32cap", format!(":~{hidden:#x}")));
        }
        if self.has(Variant::Fips) {
            environment.push((Self::GO_SETTINGS, "fips140=on".to_owned()));
        }
        environment
    }
}

impl fmt::Display for Variants {
    /// Formats the variants as at the end of a stack's name, in the given order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|variant| write!(f, "+{variant}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_taken_out_of_a_name_and_the_rest_is_a_stack() {
        let cases = [
            ("openssl", "openssl", "", None),
            (
                "openssl+noavx512",
                "openssl",
                "+noavx512",
                Some(":~0x5842d0230000"),
            ),
            (
                "rustls-aws-lc+unbuffered+novaes+jemalloc+noavx512",
                "rustls-aws-lc+unbuffered",
                "+novaes+jemalloc+noavx512",
                Some(":~0x5e42d0230000"),
            ),
            ("go+fips", "go", "+fips", None),
            ("mine+odd", "mine+odd", "", None),
            ("", "", "", None),
        ];
        for (name, stack, variants, capabilities) in cases {
            let (left, found) = Variants::split(name).expect(name);
            assert_eq!(
                (left.as_str(), found.to_string().as_str()),
                (stack, variants)
            );
            let environment = found.environment();
            let given = environment
                .iter()
                .find(|(name, _)| *name == "OPENSSL_ia32cap");
            let given = given.map(|(_, value)| value.as_str());
            assert_eq!(given, capabilities, "{name}");
            assert_eq!(environment.is_empty(), variants.is_empty(), "{name}");
        }
    }

    #[test]
    fn go_is_told_of_fips_by_its_environment() {
        for (name, told) in [("go+fips", Some("fips140=on")), ("go", None)] {
            let (_, variants) = Variants::split(name).expect(name);
            let environment = variants.environment();
            let given = environment
                .iter()
                .find(|(name, _)| *name == Variants::GO_SETTINGS);
            assert_eq!(given.map(|(_, value)| value.as_str()), told, "{name}");
        }
    }

    #[test]
    fn another_program_is_named_after_what_it_is_built_with() {
        let cases = [
            ("a", "", None),
            ("a+malloc+noavx512+novaes", "", None),
            ("a+fips+native+noavx512", "+native+fips", None),
            (
                "a+native+lto+gcc+malloc+mimalloc2+noavx512",
                "+gcc+lto+native",
                None,
            ),
            (
                "a+clang+jemalloc",
                "+jemalloc+clang",
                Some(Variant::Jemalloc),
            ),
        ];
        for (name, built, allocator) in cases {
            let (_, variants) = Variants::split(name).expect(name);
            assert_eq!(variants.built().to_string(), built, "{name}");
            assert_eq!(variants.allocator(), allocator, "{name}");
        }
    }

    #[test]
    fn what_cannot_be_together_is_refused() {
        let cases = [
            ("a+jemalloc+jemalloc", "+jemalloc is there twice"),
            (
                "a+mimalloc+b+jemalloc",
                "+mimalloc and +jemalloc exclude each other",
            ),
            ("a+clang+jemalloc+gcc", "+clang and +gcc exclude each other"),
            (
                "a+malloc+jemalloc",
                "+malloc and +jemalloc exclude each other",
            ),
        ];
        for (name, expected) in cases {
            let said = Variants::split(name).expect_err(name).to_string();
            assert_eq!(said, expected);
        }
    }
}
