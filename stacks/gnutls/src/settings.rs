//! Versions, suites, groups and signature schemes in GnuTLS' priority strings.

use std::{
    ffi::{CString, c_int},
    fmt::Display,
    ptr,
};

use netbench_tls::{CipherSuite, Group, SignatureScheme, TlsVersion};
use netbench_worker::{Owned, Parameters, SetupError, all_of, refused, supported, usable_suites};

use crate::{ffi, session::made};

/// The library's number of each scheme. Those of ECDSA have another one before TLS 1.3, which does not include the curve.
const SCHEMES: &[(SignatureScheme, c_int)] = &[
    (SignatureScheme::ECDSA_SECP256R1_SHA256, 37),
    (SignatureScheme::ECDSA_SECP256R1_SHA256, 14),
    (SignatureScheme::ECDSA_SECP384R1_SHA384, 38),
    (SignatureScheme::ECDSA_SECP384R1_SHA384, 15),
    (SignatureScheme::ED25519, 35),
    (SignatureScheme::RSA_PSS_RSAE_SHA256, 40),
    (SignatureScheme::RSA_PSS_RSAE_SHA384, 41),
    (SignatureScheme::RSA_PSS_RSAE_SHA512, 42),
    (SignatureScheme::RSA_PKCS1_SHA256, 6),
    (SignatureScheme::RSA_PKCS1_SHA384, 7),
    (SignatureScheme::RSA_PKCS1_SHA512, 8),
];

/// The groups, whose names in the library are the registered ones, except for lowercase letters.
const GROUPS: [Group; 3] = [Group::X25519, Group::SECP256R1, Group::SECP384R1];

/// Returns the scheme with the library's number.
pub(crate) fn scheme(number: c_int) -> Option<SignatureScheme> {
    let mut known = SCHEMES.iter();
    known.find(|(_, own)| *own == number).map(|(it, _)| *it)
}

/// Returns the library's number of a scheme, in TLS 1.3.
pub(crate) fn number(scheme: SignatureScheme) -> Option<c_int> {
    numbers(scheme).next()
}

fn numbers(scheme: SignatureScheme) -> impl Iterator<Item = c_int> {
    let of_scheme = SCHEMES.iter().filter(move |(it, _)| *it == scheme);
    of_scheme.map(|(_, number)| *number)
}

/// Returns the group with the library's name.
pub(crate) fn group(name: &str) -> Option<Group> {
    name.parse().ok().filter(|group| has_group(*group))
}

/// Returns whether the library supports the group.
pub(crate) fn has_group(group: Group) -> bool {
    GROUPS.contains(&group)
}

/// Returns whether the library supports the scheme.
pub(crate) fn has_scheme(scheme: SignatureScheme) -> bool {
    number(scheme).is_some()
}

/// Returns whether the library supports the suite.
pub(crate) fn has_suite(suite: CipherSuite) -> bool {
    LibrarySuite::of(suite).is_some()
}

/// The library's priorities, which sessions share.
pub(crate) struct Priority {
    priority: Owned<ffi::PriorityInt>,
    /// The versions for which they were made.
    pub(crate) versions: Vec<TlsVersion>,
}

impl Priority {
    /// Makes the library's default priorities, with these versions.
    pub(crate) fn of_library(versions: &[TlsVersion]) -> Result<Self, SetupError> {
        Self::parse(&library_words(versions)?, versions)
    }

    /// Makes priorities with exactly these parameters; all others are those of the library's `NORMAL`.
    pub(crate) fn exact(parameters: &Parameters) -> Result<Self, SetupError> {
        let suites = usable_suites(&parameters.suites, &parameters.versions);
        let priority = Self::parse(&words(parameters, &suites)?, &parameters.versions)?;
        let offered = priority.suites();
        if let Some(extra) = offered.iter().find(|suite| !suites.contains(suite)) {
            return Err(SetupError::Unsupported(format!(
                "GnuTLS offers every key exchange with every cipher: {extra} would be offered too"
            )));
        }
        for suite in &suites {
            if competitors(*suite, &suites) != competitors(*suite, &offered) {
                return Err(SetupError::Unsupported(format!(
                    "GnuTLS has no such order of suites: {suite} would have another place"
                )));
            }
        }
        Ok(priority)
    }

    fn parse(words: &str, versions: &[TlsVersion]) -> Result<Self, SetupError> {
        ffi::ready();
        let text = CString::new(words).map_err(refused("priorities"))?;
        // SAFETY: the library copies the string.
        let priority =
            made(|made| unsafe { ffi::gnutls_priority_init(made, text.as_ptr(), ptr::null_mut()) });
        Ok(Self {
            priority: priority.map_err(refused("priorities"))?,
            versions: versions.to_vec(),
        })
    }

    pub(crate) fn pointer(&self) -> ffi::Priority {
        self.priority.pointer()
    }

    /// Returns the suites, in the order in which they are offered.
    fn suites(&self) -> Vec<CipherSuite> {
        let mut suites = Vec::new();
        for index in 0.. {
            let mut at = 0;
            // SAFETY: the priorities and the place for the result are alive.
            let code = unsafe {
                ffi::gnutls_priority_get_cipher_suite_index(self.pointer(), index, &raw mut at)
            };
            match code {
                0 => suites.extend(LibrarySuite::at(at as usize).map(|known| known.suite)),
                // No suite has this pair of a key exchange and a cipher.
                UNKNOWN_CIPHER_SUITE => {}
                _ => break,
            }
        }
        suites
    }
}

/// `GNUTLS_E_UNKNOWN_CIPHER_SUITE`.
const UNKNOWN_CIPHER_SUITE: i32 = -21;

/// Returns the words of the library's default priorities with these versions.
fn library_words(versions: &[TlsVersion]) -> Result<String, SetupError> {
    let mut words = "NORMAL:-VERS-ALL".to_owned();
    // The library offers the versions in this order, and some servers choose the first one that they support.
    for version in newest_first(versions.iter().copied()) {
        words += &format!(":+{}", version_word(version)?);
    }
    Ok(words)
}

/// Returns those of `all` that compete with a suite: suites for different keys do not.
fn competitors(suite: CipherSuite, all: &[CipherSuite]) -> Vec<CipherSuite> {
    let key = suite.facts().map(|facts| facts.authentication);
    supported(all, |other| {
        other.version() == suite.version() && other.facts().map(|facts| facts.authentication) == key
    })
}

fn newest_first(versions: impl Iterator<Item = TlsVersion>) -> Vec<TlsVersion> {
    let mut versions: Vec<_> = versions.collect();
    versions.sort_unstable_by_key(|version| std::cmp::Reverse(version.code()));
    versions.dedup();
    versions
}

fn words(parameters: &Parameters, suites: &[CipherSuite]) -> Result<String, SetupError> {
    let versions = newest_first(suites.iter().map(|suite| suite.version()));
    if versions.is_empty() {
        return Err(SetupError::Refused(
            "versions: none with a suite".to_owned(),
        ));
    }
    let ours = all_of(suites, LibrarySuite::of, |suite| lacks("suite", &suite))?;
    let mut words = vec![
        "NORMAL:-VERS-ALL:-CIPHER-ALL:-MAC-ALL:-KX-ALL:-GROUP-ALL:-SIGN-ALL".to_owned(),
        "%SERVER_PRECEDENCE".to_owned(),
    ];
    let mut add = |word: String| {
        if !words.contains(&word) {
            words.push(word);
        }
    };
    for version in versions {
        add(format!("+{}", version_word(version)?));
    }
    for suite in &ours {
        // The suites of TLS 1.3 have no key exchange.
        if let Some(kx) = suite.kx {
            add(format!("+{kx}"));
        }
        add(format!("+{}", suite.cipher));
        add(format!("+{}", suite.mac));
    }
    for group in &parameters.groups {
        if !has_group(*group) {
            return Err(lacks("group", group));
        }
        add(format!("+GROUP-{group}"));
    }
    for scheme in &parameters.signatures {
        if !has_scheme(*scheme) {
            return Err(lacks("signature scheme", scheme));
        }
        let names = numbers(*scheme).filter_map(|number| ffi::gnutls_sign_get_name(number).get());
        names.for_each(|name| add(format!("+SIGN-{name}")));
    }
    Ok(words.join(":"))
}

fn version_word(version: TlsVersion) -> Result<&'static str, SetupError> {
    match version {
        TlsVersion::Tls13 => Ok("VERS-TLS1.3"),
        TlsVersion::Tls12 => Ok("VERS-TLS1.2"),
        other => Err(lacks("version", &other)),
    }
}

fn lacks(what: &str, name: &dyn Display) -> SetupError {
    SetupError::Unsupported(format!("no {what} {name} in this GnuTLS"))
}

/// A suite, with the library's names of its parts.
pub(crate) struct LibrarySuite {
    suite: CipherSuite,
    kx: Option<&'static str>,
    cipher: &'static str,
    mac: &'static str,
}

impl LibrarySuite {
    /// Returns the suite, if the library supports it.
    pub(crate) fn of(suite: CipherSuite) -> Option<Self> {
        (0..).map_while(Self::at).find(|known| known.suite == suite)
    }

    /// Returns the suite at an index of the library's table.
    fn at(index: usize) -> Option<Self> {
        let mut id = [0; 2];
        let (mut kx, mut cipher, mut mac, mut oldest) = (0, 0, 0, 0);
        let name = ffi::gnutls_cipher_suite_info(
            index,
            &mut id,
            &mut kx,
            &mut cipher,
            &mut mac,
            &mut oldest,
        );
        name.get()?;
        Some(Self {
            suite: CipherSuite(u16::from_be_bytes(id)),
            kx: ffi::gnutls_kx_get_name(kx).get(),
            cipher: ffi::gnutls_cipher_get_name(cipher).get()?,
            mac: ffi::gnutls_mac_get_name(mac).get()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Parameters {
        Parameters {
            versions: TlsVersion::OFFERED.to_vec(),
            suites: CipherSuite::OFFERED.to_vec(),
            groups: vec![Group::X25519, Group::SECP256R1],
            signatures: SignatureScheme::OFFERED.to_vec(),
        }
    }

    #[test]
    fn the_newest_version_is_offered_first() {
        let words = library_words(&[TlsVersion::Tls12, TlsVersion::Tls13]).unwrap();
        assert_eq!(words, "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2");
    }

    #[test]
    fn priorities_have_what_was_asked_for_and_nothing_else() {
        let mut offered = Priority::exact(&parameters()).unwrap().suites();
        let mut wanted = CipherSuite::OFFERED.to_vec();
        offered.sort_unstable_by_key(|suite| suite.0);
        wanted.sort_unstable_by_key(|suite| suite.0);
        assert_eq!(offered, wanted);
        for suite in CipherSuite::SERVED {
            let only = Parameters {
                suites: vec![*suite],
                ..parameters()
            };
            assert_eq!(Priority::exact(&only).unwrap().suites(), [*suite]);
        }
    }

    #[test]
    fn what_the_library_cannot_do_is_said() {
        let cases: [(Parameters, &str); 4] = [
            (
                Parameters {
                    groups: vec![Group::X25519MLKEM768],
                    ..parameters()
                },
                "no group X25519MLKEM768 in this GnuTLS",
            ),
            (
                Parameters {
                    suites: vec![
                        CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
                        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
                    ],
                    ..parameters()
                },
                "GnuTLS offers every key exchange with every cipher: \
                 TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 would be offered too",
            ),
            (
                Parameters {
                    suites: vec![
                        CipherSuite::TLS_AES_128_GCM_SHA256,
                        CipherSuite::TLS_AES_256_GCM_SHA384,
                        CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
                        CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
                    ],
                    ..parameters()
                },
                "GnuTLS has no such order of suites: \
                 TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 would have another place",
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
            let Err(error) = Priority::exact(&parameters) else {
                panic!("it was made: {parameters:?}");
            };
            assert_eq!(error.to_string(), words);
        }
    }

    #[test]
    fn the_librarys_names_are_known() {
        assert_eq!(scheme(14), Some(SignatureScheme::ECDSA_SECP256R1_SHA256));
        assert_eq!(scheme(40), Some(SignatureScheme::RSA_PSS_RSAE_SHA256));
        assert_eq!(scheme(1), None);
        assert_eq!(group("SECP384R1"), Some(Group::SECP384R1));
        assert_eq!(group("FFDHE2048"), None);
    }
}
