//! Proof that this worker was compiled for the processor on which it runs.

use crate::compiler;

/// The default target processor of C compilers.
const GENERIC: &str = "-march=x86-64";

/// Returns the reason why the worker was not compiled for this processor. Rust's target is known at compile time. C is
/// checked only if a compiler recorded its flags, because a stack in Rust has no C.
pub(crate) fn lacks() -> Option<String> {
    let unused = unused();
    if !unused.is_empty() {
        return Some(format!(
            "the worker's Rust was not compiled for this processor: it does not use {}",
            unused.join(", ")
        ));
    }
    let c = compiler::processors()?;
    (c == GENERIC).then(|| format!("the worker's C was compiled for any processor ({c})"))
}

/// Returns the features of this processor that the worker was compiled without, among those that compilers use
/// automatically.
#[cfg(target_arch = "x86_64")]
fn unused() -> Vec<&'static str> {
    macro_rules! unused {
        ($($feature:tt),*) => {
            [$((
                $feature,
                std::arch::is_x86_feature_detected!($feature) && !cfg!(target_feature = $feature),
            )),*]
        };
    }
    let features = unused!(
        "sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "avx", "avx2", "bmi1", "bmi2", "fma",
        "lzcnt"
    );
    let unused = features.into_iter().filter(|(_, unused)| *unused);
    unused.map(|(feature, _)| feature).collect()
}

/// Returns a description for processors whose features are unknown.
#[cfg(not(target_arch = "x86_64"))]
fn unused() -> Vec<&'static str> {
    vec!["what this kind of processor has, of which nothing is known"]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests are compiled for any processor by default, except with RUSTFLAGS.
    #[test]
    fn a_program_for_any_processor_is_told_from_one_for_this() {
        let native = env!("NETBENCH_RUSTFLAGS").contains("target-cpu=native");
        assert_eq!(lacks().is_none(), native, "{:?}", lacks());
    }
}
