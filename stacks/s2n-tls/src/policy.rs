//! Policies: s2n-tls takes versions, suites, groups and schemes only together, and only as one of its
//! built-in policies. None of these has a single suite and group. The policies here consist of the library's
//! own parts.

use std::{
    fmt::Display,
    ptr,
    sync::{Mutex, PoisonError},
};

use netbench_tls::{Group, TlsVersion};
use netbench_worker::{Parameters, SetupError, all_of, usable_suites, version_range};

use crate::ffi::{self, Hybrids, List, Part, SecurityPolicy, Suites};

// SAFETY: a policy, and the data that it points to, are constant once it is made.
unsafe impl Sync for SecurityPolicy {}

/// All custom policies: as many as there are different settings in a run. They are never freed, as connections do not
/// report how long they need them.
static MADE: Mutex<Vec<(Parameters, &SecurityPolicy)>> = Mutex::new(Vec::new());

/// Returns the policy for these parameters: with the versions and suites that belong to one another.
pub(crate) fn policy(parameters: Parameters) -> Result<&'static SecurityPolicy, SetupError> {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = made.iter().find(|(known, _)| *known == parameters) {
        return Ok(*known);
    }
    let policy = make(&parameters)?;
    made.push((parameters, policy));
    Ok(policy)
}

fn make(parameters: &Parameters) -> Result<&'static SecurityPolicy, SetupError> {
    let suites = usable_suites(&parameters.suites, &parameters.versions);
    let versions: Vec<_> = suites.iter().map(|suite| suite.version()).collect();
    let minimum_version = match version_range(&versions)? {
        (TlsVersion::Tls13, _) => s2n_tls_sys::s2n_tls_version::TLS13,
        (TlsVersion::Tls12, _) => s2n_tls_sys::s2n_tls_version::TLS12,
        (other, _) => return Err(unsupported("version")(other)),
    };
    let hybrid = |group: &Group| ffi::hybrid(*group).is_some();
    let (hybrids, curves): (Vec<_>, Vec<_>) = parameters.groups.iter().copied().partition(hybrid);
    // s2n-tls always offers them first.
    if !parameters.groups.iter().take(hybrids.len()).all(hybrid) {
        return Err(SetupError::unsupported(
            "s2n-tls prefers hybrids to all other groups",
        ));
    }
    let suites = all_of(&suites, ffi::suite, unsupported("suite"))?;
    let hybrids = all_of(&hybrids, ffi::hybrid, unsupported("group"))?;
    let curves = all_of(&curves, ffi::group, unsupported("group"))?;
    let schemes = parameters.signatures.as_slice();
    let signatures = all_of(schemes, ffi::scheme, unsupported("signature scheme"))?;
    Ok(Box::leak(Box::new(SecurityPolicy {
        minimum_version: u8::try_from(minimum_version).unwrap_or(u8::MAX),
        suites: Box::leak(Box::new(Suites {
            count: u16::try_from(suites.len()).unwrap_or(u16::MAX),
            items: list(suites).items,
            boosts_chacha20: false,
        })),
        hybrids: Box::leak(Box::new(Hybrids {
            kems: list(Vec::new()),
            groups: list(hybrids),
        })),
        signatures: Box::leak(Box::new(list(signatures))),
        certificate_signatures: ptr::null(),
        curves: Box::leak(Box::new(list(curves))),
        strongly_preferred_groups: ptr::null(),
        certificate_keys: ptr::null(),
        certificate_preferences_apply_locally: false,
        rules: [false; 7],
    })))
}

/// Returns a function that creates the error that the library lacks a value.
fn unsupported<T: Display>(what: &str) -> impl Fn(T) -> SetupError {
    move |name| {
        let libcrypto = ffi::libcrypto_version();
        SetupError::Unsupported(format!("no {what} {name} in s2n-tls with {libcrypto}"))
    }
}

/// Leaks a list of parts; the library requires a null pointer for an empty list.
fn list(parts: Vec<Part>) -> List {
    List {
        count: u8::try_from(parts.len()).unwrap_or(u8::MAX),
        items: match parts.as_slice() {
            [] => ptr::null(),
            _ => parts.leak().as_ptr(),
        },
    }
}

#[cfg(test)]
mod tests {
    use netbench_tls::{CipherSuite, SignatureScheme};

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
        assert_eq!(first, ffi::group(Group::X25519).unwrap());
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
