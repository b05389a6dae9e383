//! Versions, suites, groups and signature schemes in NSS' format.

use std::{
    ffi::{c_int, c_uint},
    fmt::Display,
    slice,
};

use netbench_tls::{CipherSuite, Group, SignatureScheme, TlsVersion};
use netbench_worker::{Parameters, SetupError, all_of, refused, usable_suites, version_range};

use crate::{
    ffi::{self, FileDesc, VersionRange, length},
    library::{checked, library},
};

/// The groups that every release supports. The library ignores a group that it does not know, and has no
/// function that lists them.
const GROUPS: [Group; 3] = [Group::X25519, Group::SECP256R1, Group::SECP384R1];

/// The schemes with which the library signs and verifies in TLS; it ignores others.
const SCHEMES: [SignatureScheme; 8] = [
    SignatureScheme::ECDSA_SECP256R1_SHA256,
    SignatureScheme::ECDSA_SECP384R1_SHA384,
    SignatureScheme::RSA_PSS_RSAE_SHA256,
    SignatureScheme::RSA_PSS_RSAE_SHA384,
    SignatureScheme::RSA_PSS_RSAE_SHA512,
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PKCS1_SHA512,
];

/// The finite-field group without which a server has no suite with DHE (RFC 7919).
pub(crate) const FFDHE2048: Group = Group(0x0100);

/// Returns whether the library supports the group.
pub(crate) fn has_group(group: Group) -> bool {
    GROUPS.contains(&group)
        || group == FFDHE2048
        || (group == Group::X25519MLKEM768 && has_ml_kem())
}

/// Returns whether the library has X25519MLKEM768, which the release notes of NSS 3.105 announce.
fn has_ml_kem() -> bool {
    // SAFETY: the library only reads the version.
    unsafe { ffi::NSS_VersionCheck(c"3.105".as_ptr()) != 0 }
}

/// Returns whether the library supports the scheme.
pub(crate) fn has_scheme(scheme: SignatureScheme) -> bool {
    SCHEMES.contains(&scheme)
}

/// Returns whether the library supports the suite. This requires no initialization.
pub(crate) fn has_suite(suite: CipherSuite) -> bool {
    let count = usize::from(ffi::SSL_GetNumImplementedCiphers());
    // SAFETY: the pointer is to a table of the library that never changes, with its length.
    let all = unsafe { slice::from_raw_parts(ffi::SSL_GetImplementedCiphers(), count) };
    all.contains(&suite.0)
}

/// Sets exactly these parameters.
pub(crate) fn hold_to(fd: FileDesc, parameters: &Parameters) -> Result<(), SetupError> {
    let suites = usable_suites(&parameters.suites, &parameters.versions);
    // A version without suites is not offered.
    let versions: Vec<_> = suites.iter().map(|suite| suite.version()).collect();
    let suites = all_of(
        &suites,
        |suite| has_suite(suite).then_some(suite.0),
        lacks("suite"),
    )?;
    let groups = all_of(
        &parameters.groups,
        |group| has_group(group).then_some(c_uint::from(group.0)),
        lacks("group"),
    )?;
    let schemes = all_of(
        &parameters.signatures,
        |scheme| has_scheme(scheme).then_some(c_uint::from(scheme.0)),
        lacks("signature scheme"),
    )?;
    set_versions(fd, &versions)?;
    let set_suites = library().map_err(refused("NSS"))?.set_suites;
    // SAFETY: the socket is alive, and the library copies the suites; all others are disabled.
    set("suites", unsafe {
        set_suites(fd, suites.as_ptr(), length(suites.len()))
    })?;
    // SAFETY: as above.
    unsafe {
        set(
            "groups",
            ffi::SSL_NamedGroupConfig(fd, groups.as_ptr(), length(groups.len())),
        )?;
        set(
            "key shares",
            ffi::SSL_SendAdditionalKeyShares(fd, further_shares(&parameters.groups)),
        )?;
        set(
            "signature schemes",
            ffi::SSL_SignatureSchemePrefSet(fd, schemes.as_ptr(), length(schemes.len())),
        )
    }
}

/// Returns the number of key shares beside the first group's: one for x25519, where the first is a hybrid
/// with it.
fn further_shares(groups: &[Group]) -> c_uint {
    let begins = [Group::X25519MLKEM768, Group::X25519];
    c_uint::from(groups.starts_with(&begins))
}

/// Sets the minimum and maximum version.
pub(crate) fn set_versions(fd: FileDesc, versions: &[TlsVersion]) -> Result<(), SetupError> {
    let (first, last) = version_range(versions)?;
    let (min, max) = (first.code(), last.code());
    let range = VersionRange { min, max };
    // SAFETY: the socket is alive, and the library copies the range.
    set("versions", unsafe {
        ffi::SSL_VersionRangeSet(fd, &raw const range)
    })
}

fn set(what: &'static str, status: c_int) -> Result<(), SetupError> {
    checked(status).map_err(refused(what))
}

/// Returns a function that creates the error that the library lacks a value.
fn lacks<T: Display>(what: &str) -> impl Fn(T) -> SetupError {
    move |name| SetupError::Unsupported(format!("no {what} {name} in this NSS"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        certificates::Roots,
        config::{Config, Kept},
    };

    fn parameters() -> Parameters {
        Parameters {
            versions: TlsVersion::OFFERED.to_vec(),
            suites: CipherSuite::OFFERED.to_vec(),
            groups: GROUPS.to_vec(),
            signatures: SCHEMES.to_vec(),
        }
    }

    fn try_it(parameters: &Parameters) -> Result<(), SetupError> {
        let roots = Roots::of_der(std::iter::empty()).map_err(refused("roots"))?;
        hold_to(Config::client(roots, &Kept::default())?.model(), parameters)
    }

    #[test]
    fn what_the_library_cannot_do_is_said() {
        try_it(&parameters()).expect("usual parameters");
        let cases: [(Parameters, &str); 3] = [
            (
                Parameters {
                    suites: vec![CipherSuite(0xc0ac)],
                    ..parameters()
                },
                "no suite TLS_ECDHE_ECDSA_WITH_AES_128_CCM in this NSS",
            ),
            (
                Parameters {
                    signatures: vec![SignatureScheme::ED25519],
                    ..parameters()
                },
                "no signature scheme ed25519 in this NSS",
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
            let error = try_it(&parameters).expect_err("it was made");
            assert_eq!(error.to_string(), words);
        }
    }
}
