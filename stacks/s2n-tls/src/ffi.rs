//! Features of the library that its crate does not expose: custom policies, the number of tickets, and the
//! code points of negotiated parameters. Layouts and functions are those of the C sources of [`PATCHES`];
//! Cargo.toml restricts the crate to the newest of these. A test reads one of the library's own policies with
//! them.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ops::RangeInclusive,
    ptr,
};

use netbench_tls::{CipherSuite, Group, SignatureScheme};
use netbench_worker::{SetupError, locked_version, refused};
use s2n_tls::{config::Config, connection::Connection, error::Error};
use s2n_tls_sys::{s2n_config, s2n_connection};

/// The releases of 0.3 whose C sources were examined. In earlier ones, a policy had no preferred groups, and
/// its fields had other offsets.
const PATCHES: RangeInclusive<u32> = 32..=47;

/// The versions with which this worker is built.
pub(crate) const LOCK: &str = include_str!("../../../Cargo.lock");

/// `struct s2n_security_policy` of tls/s2n_security_policies.h.
#[repr(C)]
pub(crate) struct SecurityPolicy {
    pub(crate) minimum_version: u8,
    pub(crate) suites: *const Suites,
    pub(crate) hybrids: *const Hybrids,
    pub(crate) signatures: *const List,
    /// Null: the signatures of certificates are left to the libcrypto.
    pub(crate) certificate_signatures: *const List,
    pub(crate) curves: *const List,
    pub(crate) strongly_preferred_groups: *const c_void,
    pub(crate) certificate_keys: *const c_void,
    pub(crate) certificate_preferences_apply_locally: bool,
    /// The rules, of which the library has two; the rest is padding of the structure.
    pub(crate) rules: [bool; 7],
}

/// `struct s2n_cipher_preferences`.
#[repr(C)]
pub(crate) struct Suites {
    pub(crate) count: u16,
    pub(crate) items: *const Part,
    pub(crate) boosts_chacha20: bool,
}

/// `struct s2n_kem_preferences`.
#[repr(C)]
pub(crate) struct Hybrids {
    pub(crate) kems: List,
    pub(crate) groups: List,
}

/// `struct s2n_ecc_preferences` and `struct s2n_signature_preferences`.
#[repr(C)]
pub(crate) struct List {
    pub(crate) count: u8,
    pub(crate) items: *const Part,
}

/// A suite, curve, hybrid or scheme of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Part(*const c_void);

/// `s2n_result`.
#[repr(C)]
struct ResultOfC {
    signal: c_int,
}

unsafe extern "C" {
    static s2n_signature_preferences_all: List;

    fn s2n_cipher_suite_from_iana(iana: *const u8, bytes: usize, suite: *mut Part) -> ResultOfC;
    fn s2n_find_ecc_curve_from_iana_id(iana: u16, curve: *mut Part, found: *mut bool) -> c_int;
    fn s2n_find_kem_group_from_iana_id(iana: u16, group: *mut Part, found: *mut bool) -> c_int;
    // These functions are in lib/crypto/s2n_fips_rules.c.
    fn s2n_fips_validate_cipher_suite(suite: Part, valid: *mut bool) -> ResultOfC;
    fn s2n_fips_validate_curve(curve: Part, valid: *mut bool) -> ResultOfC;
    fn s2n_fips_validate_hybrid_group(hybrid: Part, valid: *mut bool) -> ResultOfC;
    fn s2n_fips_validate_signature_scheme(scheme: Part, valid: *mut bool) -> ResultOfC;
    fn s2n_kem_group_is_available(group: Part) -> bool;
    fn s2n_mldsa_is_supported() -> bool;
    fn s2n_libcrypto_get_version_name() -> *const c_char;
    fn s2n_config_set_security_policy(config: *mut s2n_config, policy: &SecurityPolicy) -> c_int;
    fn s2n_post_handshake_send(connection: *mut s2n_connection, blocked: *mut c_int) -> c_int;
}

/// Returns the version of the linked libcrypto, as it reports it.
pub(crate) fn libcrypto_version() -> String {
    // SAFETY: the libcrypto returns a static string.
    let text = unsafe { CStr::from_ptr(s2n_libcrypto_get_version_name()) };
    text.to_string_lossy().into_owned()
}

/// The library's rule for one kind of part in FIPS mode.
type Rule = unsafe extern "C" fn(Part, *mut bool) -> ResultOfC;

/// Returns the part if it may be used: in FIPS mode, the library leaves that to its policies.
fn approved(part: Part, rule: Rule) -> Option<Part> {
    let mut valid = false;
    // SAFETY: the part belongs to the library and is of the rule's kind; the result is written to `valid`.
    let valid =
        cfg!(not(feature = "fips")) || unsafe { rule(part, &raw mut valid) }.signal == 0 && valid;
    valid.then_some(part)
}

/// Returns the library's suite, if it supports it.
pub(crate) fn suite(suite: CipherSuite) -> Option<Part> {
    let (iana, mut found) = (suite.0.to_be_bytes(), Part(ptr::null()));
    // SAFETY: the code point has two bytes; the result is written to `found`.
    let result = unsafe { s2n_cipher_suite_from_iana(iana.as_ptr(), iana.len(), &raw mut found) };
    let able = result.signal == 0 && !found.0.is_null();
    approved(able.then_some(found)?, s2n_fips_validate_cipher_suite)
}

/// Returns the library's curve, or its hybrid of a curve and a KEM, if the library and its libcrypto support it.
pub(crate) fn group(group: Group) -> Option<Part> {
    let curve = found(group, s2n_find_ecc_curve_from_iana_id);
    let curve = curve.and_then(|curve| approved(curve, s2n_fips_validate_curve));
    curve.or_else(|| hybrid(group))
}

/// Returns the library's hybrid, as [`group`].
pub(crate) fn hybrid(group: Group) -> Option<Part> {
    let hybrid = found(group, s2n_find_kem_group_from_iana_id)?;
    // SAFETY: the group was found, and belongs to the library.
    let able = unsafe { s2n_kem_group_is_available(hybrid) };
    approved(able.then_some(hybrid)?, s2n_fips_validate_hybrid_group)
}

fn found(
    group: Group,
    find: unsafe extern "C" fn(u16, *mut Part, *mut bool) -> c_int,
) -> Option<Part> {
    let (mut part, mut found) = (Part(ptr::null()), false);
    // SAFETY: the results are written to `part` and `found`.
    let result = unsafe { find(group.0, &raw mut part, &raw mut found) };
    (result == 0 && found).then_some(part)
}

/// Returns the library's signature scheme, if the library and its libcrypto support it.
pub(crate) fn scheme(scheme: SignatureScheme) -> Option<Part> {
    // The list has ML-DSA with every libcrypto.
    // SAFETY: the function returns a constant of the library's build.
    if SignatureScheme::ML_DSA.contains(&scheme) && !unsafe { s2n_mldsa_is_supported() } {
        return None;
    }
    // SAFETY: the library never writes to it.
    let all = unsafe { &s2n_signature_preferences_all };
    // SAFETY: the list has `count` parts, and is never freed.
    let all = unsafe { std::slice::from_raw_parts(all.items, usize::from(all.count)) };
    // SAFETY: `struct s2n_signature_scheme` begins with its code point.
    let code = |part: &Part| unsafe { part.0.cast::<u16>().read() };
    let mut all = all.iter().copied();
    let found = all.find(|part| code(part) == scheme.0)?;
    approved(found, s2n_fips_validate_signature_scheme)
}

/// Sets the policy of a configuration, which must not be shared yet.
pub(crate) fn set_policy(
    config: &Config,
    policy: &'static SecurityPolicy,
) -> Result<(), SetupError> {
    let version = locked_version(LOCK, "s2n-tls-sys").unwrap_or_default();
    if !has_known_layout(&version) {
        return Err(SetupError::Unsupported(format!(
            "the policies of s2n-tls {version} may have another layout than the worker knows"
        )));
    }
    // SAFETY: the policy and everything that it points to have static lifetime.
    let result = unsafe { s2n_config_set_security_policy(raw(config), policy) };
    done(result).map_err(refused("policy"))
}

/// Returns whether a release is one of [`PATCHES`].
fn has_known_layout(version: &str) -> bool {
    let patch = version.strip_prefix("0.3.");
    patch.is_some_and(|patch| patch.parse().is_ok_and(|patch| PATCHES.contains(&patch)))
}

/// Sets the number of tickets that servers of TLS 1.3 send after a handshake; the library's default is one.
pub(crate) fn set_tickets(config: &Config, tickets: u8) -> Result<(), SetupError> {
    // SAFETY: the configuration is live.
    let result = unsafe { s2n_tls_sys::s2n_config_set_initial_ticket_count(raw(config), tickets) };
    done(result).map_err(refused("tickets"))
}

/// Sends the tickets that the library would send before a server's first data.
pub(crate) fn send_tickets(connection: &mut Connection) -> Result<(), Error> {
    let mut blocked = 0;
    // SAFETY: the connection is live, and its transport set.
    done(unsafe { s2n_post_handshake_send(raw(connection), &raw mut blocked) })
}

/// Returns the suite of a connection.
pub(crate) fn negotiated_suite(connection: &Connection) -> Option<CipherSuite> {
    let (mut first, mut second) = (0, 0);
    // SAFETY: the connection is live; it is not changed.
    let result = unsafe {
        s2n_tls_sys::s2n_connection_get_cipher_iana_value(
            raw(connection),
            &raw mut first,
            &raw mut second,
        )
    };
    (result == 0).then_some(CipherSuite(u16::from_be_bytes([first, second])))
}

fn done(result: c_int) -> Result<(), Error> {
    use s2n_tls::error::Fallible;
    result.into_result().map(drop)
}

const POINTER: usize = size_of::<*mut c_void>();
const _: () = assert!(size_of::<Config>() == POINTER && size_of::<Connection>() == POINTER);

/// Returns the library's object of a wrapper.
///
/// # Safety
/// The wrapper must be a Config or a Connection, and the object of its type.
unsafe fn raw<W, T>(wrapper: &W) -> *mut T {
    // SAFETY: both consist of a pointer to the library's object and, by their size, of no other fields.
    unsafe { ptr::from_ref(wrapper).cast::<*mut T>().read() }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" {
        fn s2n_find_security_policy_from_version(
            version: *const c_char,
            policy: *mut *const SecurityPolicy,
        ) -> c_int;
    }

    #[test]
    fn layouts_are_known_of_some_releases_and_of_this_one() {
        for (version, known) in [
            (&*locked_version(LOCK, "s2n-tls-sys").unwrap(), true),
            ("0.3.32", true),
            ("0.3.31", false),
            ("0.3.48", false),
            ("0.4.40", false),
            ("", false),
        ] {
            assert_eq!(has_known_layout(version), known, "{version}");
        }
    }

    /// Checks a policy against tls/s2n_security_policies.c: a library with another layout would be misread
    /// here.
    #[test]
    fn a_policy_of_the_librarys_reads_as_its_sources_say() {
        let mut policy = ptr::null();
        // SAFETY: the name ends with a zero, and the result is written to `policy`.
        let result =
            unsafe { s2n_find_security_policy_from_version(c"20250721".as_ptr(), &raw mut policy) };
        assert_eq!(result, 0);
        // SAFETY: the policy was found, and is never freed.
        let policy = unsafe { &*policy };
        // SAFETY: a policy's lists are never freed.
        let (suites, hybrids, curves, signatures) = unsafe {
            (
                &*policy.suites,
                &*policy.hybrids,
                &*policy.curves,
                &*policy.signatures,
            )
        };
        assert_eq!(policy.minimum_version, 33);
        let lists = [
            (usize::from(suites.count), suites.items),
            (usize::from(hybrids.groups.count), hybrids.groups.items),
            (usize::from(curves.count), curves.items),
            (usize::from(signatures.count), signatures.items),
        ];
        assert!(hybrids.kems.count == 0 && hybrids.kems.items.is_null());
        // SAFETY: each list has as many parts as its count.
        let [suites, hybrids, curves, signatures] =
            lists.map(|(count, items)| unsafe { std::slice::from_raw_parts(items, count) });
        let first = super::suite(CipherSuite::TLS_AES_128_GCM_SHA256);
        assert_eq!(suites.first().copied(), first);
        assert_eq!(hybrids.first().copied(), hybrid(Group::X25519MLKEM768));
        assert_eq!(curves.first().copied(), super::group(Group::SECP256R1));
        let p256 = scheme(SignatureScheme::ECDSA_SECP256R1_SHA256);
        assert!(signatures.iter().any(|part| Some(*part) == p256));
        assert!(!policy.certificate_signatures.is_null() && policy.certificate_keys.is_null());
        assert!(!policy.certificate_preferences_apply_locally);
        assert_eq!(policy.rules[..2], [true, false]);
    }
}
