//! Whether this worker was compiled for the processor that it runs on.

use crate::compiler;

/// The processor that C is compiled for where nobody says another.
const GENERIC: &str = "-march=x86-64";

/// Why it was not. What Rust was compiled for is known when it is compiled; C is asked only where a compiler wrote its flags
/// down: a stack in Rust has none.
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

/// What this processor has and the worker was compiled without, of what compilers use by themselves.
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

/// Elsewhere nothing is known of this.
#[cfg(not(target_arch = "x86_64"))]
fn unused() -> Vec<&'static str> {
    vec!["what this kind of processor has, of which nothing is known"]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests are compiled for any processor, unless RUSTFLAGS says otherwise.
    #[test]
    fn a_program_for_any_processor_is_told_from_one_for_this() {
        let native = env!("NETBENCH_RUSTFLAGS").contains("target-cpu=native");
        assert_eq!(lacks().is_none(), native, "{:?}", lacks());
    }
}
