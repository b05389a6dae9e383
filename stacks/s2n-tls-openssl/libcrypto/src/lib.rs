//! OpenSSL's libcrypto, built from source, under the name of the crate by which s2n-tls-sys links AWS-LC.

use std::ffi::{CStr, c_char, c_int};

/// The release that the build script builds.
pub const RELEASE: &str = env!("OPENSSL_RELEASE");

/// Facts about the build, by the numbers of openssl/crypto.h and the names that the worker of `openssl` gives them.
const FACTS: [(&str, c_int); 5] = [
    ("library_compiler", 1),
    ("library_built_on", 2),
    ("library_platform", 3),
    ("library_folder", 4),
    ("library_cpu", 9),
];

unsafe extern "C" {
    fn OpenSSL_version(fact: c_int) -> *const c_char;
}

/// Returns facts about the library's build, as the library reports them.
pub fn facts() -> Vec<(&'static str, String)> {
    FACTS.map(|(name, fact)| (name, reported(fact))).to_vec()
}

fn reported(fact: c_int) -> String {
    // SAFETY: the result is a static string for every argument.
    let text = unsafe { CStr::from_ptr(OpenSSL_version(fact)) };
    text.to_string_lossy().into_owned()
}
