//! Policies: s2n-tls takes versions, suites, groups and schemes only together, and only as one of its
//! built-in policies. None of these has a single suite and group. The policies here consist of the library's
//! own parts.

use std::{
    ptr,
    sync::{Mutex, PoisonError},
};

use netbench_tls::{CipherSuite, Group, SignatureScheme, TlsVersion};
use netbench_worker::{Parameters, SetupError, usable_suites};

use crate::ffi::{self, Hybrids, List, Part, SecurityPolicy, Suites};

/// A custom policy. It is never freed, as connections do not report how long they need it.
#[derive(Clone, Copy)]
struct Made(&'static SecurityPolicy);

// SAFETY: a policy, and the data that it points to, are constant once it is made.
unsafe impl Send for Made {}

/// All custom policies: as many as there are different settings in a run.
static MADE: Mutex<Vec<(Parameters, Made)>> = Mutex::new(Vec::new());

/// Returns the policy for these parameters: with the versions and suites that belong to one another.
pub(crate) fn policy(parameters: Parameters) -> Result<&'static SecurityPolicy, SetupError> {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, Made(known))) = made.iter().find(|(known, _)| *known == parameters) {
        return Ok(*known);
    }
    let policy = make(&parameters)?;
    made.push((parameters, Made(policy)));
    Ok(policy)
}

fn make(parameters: &Parameters) -> Result<&'static SecurityPolicy, SetupError> {
    let suites = usable_suites(&parameters.suites, &parameters.versions);
    let oldest = suites.iter().map(|suite| suite.version()).min();
    let minimum_version = match oldest {
        Some(TlsVersion::Tls13) => s2n_tls_sys::s2n_tls_version::TLS13,
        Some(TlsVersion::Tls12) => s2n_tls_sys::s2n_tls_version::TLS12,
        Some(other) => return Err(unsupported("version", &other)),
        None => {
            return Err(SetupError::Refused(
                "versions: none with a suite".to_owned(),
            ));
        }
    };
    let hybrid = |group: &Group| ffi::hybrid(*group).is_some();
    let (hybrids, curves): (Vec<_>, Vec<_>) = parameters.groups.iter().copied().partition(hybrid);
    // s2n-tls always offers them first.
    if !parameters.groups.iter().take(hybrids.len()).all(hybrid) {
        return Err(SetupError::unsupported(
            "s2n-tls prefers hybrids to all other groups",
        ));
    }
    let suites = parts(suites, suite)?;
    let hybrids = parts(hybrids, group)?;
    let curves = parts(curves, group)?;
    let signatures = parts(parameters.signatures.iter().copied(), scheme)?;
    Ok(Box::leak(Box::new(SecurityPolicy {
        minimum_version: u8::try_from(minimum_version).unwrap_or(u8::MAX),
        suites: kept(Suites {
            count: u16::try_from(suites.len()).unwrap_or(u16::MAX),
            items: items(suites),
            boosts_chacha20: false,
        }),
        hybrids: kept(Hybrids {
            old_count: 0,
            old_items: ptr::null(),
            count: count(&hybrids),
            items: items(hybrids),
        }),
        signatures: kept(List {
            count: count(&signatures),
            items: items(signatures),
        }),
        certificate_signatures: ptr::null(),
        curves: kept(List {
            count: count(&curves),
            items: items(curves),
        }),
        strongly_preferred_groups: ptr::null(),
        certificate_keys: ptr::null(),
        certificate_preferences_apply_locally: false,
        rules: [false; 7],
    })))
}

pub(crate) fn has_suite(suite: CipherSuite) -> bool {
    self::suite(suite).is_ok()
}

/// Returns the library's suite.
fn suite(suite: CipherSuite) -> Result<Part, SetupError> {
    ffi::suite(suite).ok_or_else(|| unsupported("suite", &suite))
}

pub(crate) fn has_group(group: Group) -> bool {
    self::group(group).is_ok()
}

/// Returns the library's group.
fn group(group: Group) -> Result<Part, SetupError> {
    ffi::hybrid(group)
        .or_else(|| ffi::curve(group))
        .ok_or_else(|| unsupported("group", &group))
}

pub(crate) fn has_scheme(scheme: SignatureScheme) -> bool {
    self::scheme(scheme).is_ok()
}

/// Returns the library's signature scheme.
fn scheme(scheme: SignatureScheme) -> Result<Part, SetupError> {
    ffi::scheme(scheme).ok_or_else(|| unsupported("signature scheme", &scheme))
}

fn unsupported(what: &str, name: &dyn std::fmt::Display) -> SetupError {
    let libcrypto = ffi::libcrypto_version();
    SetupError::Unsupported(format!("no {what} {name} in s2n-tls with {libcrypto}"))
}

fn parts<T>(
    wanted: impl IntoIterator<Item = T>,
    part: fn(T) -> Result<Part, SetupError>,
) -> Result<Vec<Part>, SetupError> {
    wanted.into_iter().map(part).collect()
}

fn count(parts: &[Part]) -> u8 {
    u8::try_from(parts.len()).unwrap_or(u8::MAX)
}

/// Leaks a list of parts; the library requires a null pointer for an empty list.
fn items(parts: Vec<Part>) -> *const Part {
    if parts.is_empty() {
        return ptr::null();
    }
    parts.leak().as_ptr()
}

fn kept<T>(value: T) -> *const T {
    Box::leak(Box::new(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Parameters {
        Parameters {
            versions: TlsVersion::OFFERED.to_vec(),
            suites: CipherSuite::OFFERED.to_vec(),
            groups: vec![Group::X25519],
            signatures: vec![SignatureScheme::ECDSA_SECP256R1_SHA256],
        }
    }

    #[test]
    fn a_policy_has_what_was_asked_for_and_is_made_once() {
        let made = policy(parameters()).unwrap();
        assert!(ptr::eq(made, policy(parameters()).unwrap()));
        assert_eq!(made.minimum_version, 33);
        // SAFETY: policies are never freed.
        let (suites, curves) = unsafe { (&*made.suites, &*made.curves) };
        assert_eq!(usize::from(suites.count), CipherSuite::OFFERED.len());
        // SAFETY: the list has one part.
        let first = unsafe { curves.items.read() };
        assert_eq!(first, group(Group::X25519).unwrap());
    }

    #[test]
    fn what_the_library_cannot_do_is_said() {
        let cases = [
            (
                Parameters {
                    signatures: vec![SignatureScheme::ED25519],
                    ..parameters()
                },
                "no signature scheme ed25519 in s2n-tls with AWS-LC ",
            ),
            (
                Parameters {
                    groups: vec![Group::X25519, Group::X25519MLKEM768],
                    ..parameters()
                },
                "s2n-tls prefers hybrids to all other groups",
            ),
            (
                Parameters {
                    versions: vec![TlsVersion::Tls12],
                    suites: vec![CipherSuite::TLS_AES_128_GCM_SHA256],
                    ..parameters()
                },
                "versions: none with a suite",
            ),
        ];
        for (parameters, words) in cases {
            let Err(error) = make(&parameters) else {
                panic!("it was made: {parameters:?}");
            };
            assert!(error.to_string().starts_with(words), "{error}");
        }
    }
}
