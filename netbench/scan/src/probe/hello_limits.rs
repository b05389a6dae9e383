//! The limits of the hellos that a site reads, for its record.

use std::collections::BTreeMap;

use netbench_model::{
    scan::{HelloLimits, NamedCode, Tolerance},
    tls::{CipherSuite, ExtensionType},
};

use crate::{
    enumeration::{Limit, Refusal},
    text::as_u32,
};

/// The length of a record's header.
const HEADER: usize = 5;

/// The maximum number of suites that are named.
const MOST_SUITES: usize = 64;

/// Returns the found limits as intolerances in words.
pub(super) fn intolerances(found: &[(Limit, Refusal)]) -> BTreeMap<String, Tolerance> {
    let found = found.iter().map(|(limit, how)| {
        let name = match limit {
            Limit::Suites(most) => format!("more than {most} suites"),
            Limit::Groups(most) => format!("more than {most} groups"),
            Limit::Schemes(_) => "uncommon signature schemes".to_owned(),
            Limit::Bytes(most) => format!("hello of more than {} bytes", most + HEADER),
            Limit::Extension(code) => format!("extension {}", ExtensionType(*code).shown()),
            Limit::These(codes) => match &codes[..] {
                [one] => format!("suite {}", CipherSuite(*one)),
                [first, ..] => {
                    format!("{} suites, such as {}", codes.len(), CipherSuite(*first))
                }
                [] => "no suite".to_owned(),
            },
            Limit::Version(version) => format!("offer of TLS {version}"),
            Limit::Protocols => "application protocols".to_owned(),
        };
        let how = how.to_string();
        (name, Tolerance::Intolerant { how })
    });
    found.collect()
}

/// Returns the found limits for predictions.
pub(super) fn hello_limits(found: &[(Limit, Refusal)]) -> HelloLimits {
    let mut limits = HelloLimits::default();
    for (limit, _) in found {
        match limit {
            Limit::Suites(most) => limits.most_suites = Some(as_u32(*most)),
            Limit::Groups(most) => limits.most_groups = Some(as_u32(*most)),
            Limit::Schemes(most) => limits.most_schemes = Some(as_u32(*most)),
            Limit::Bytes(most) => limits.most_bytes = Some(as_u32(most + HEADER)),
            Limit::Extension(code) => {
                let name = ExtensionType(*code).shown();
                limits.extensions.push(NamedCode::new(*code, name));
            }
            Limit::These(codes) => {
                let codes = codes.iter().take(MOST_SUITES);
                let suites = codes.map(|code| NamedCode::new(*code, CipherSuite(*code)));
                limits.suites.extend(suites);
            }
            Limit::Version(version) => limits.versions.push(*version),
            Limit::Protocols => {
                limits.protocols = super::hellos::PROTOCOLS.map(str::to_owned).to_vec();
            }
        }
    }
    limits
}
