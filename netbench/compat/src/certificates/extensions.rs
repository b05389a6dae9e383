//! Extensions of a certificate (RFC 5280 section 4.2).

use super::{
    der::{self, tag},
    name,
    spec::{CertificateSpec, DirectoryName, Flaw, GeneralName, KeyIdentifier, KeyUsage, Purpose},
};

/// The inputs of extensions other than the certificate's description.
pub(super) struct Around<'a> {
    pub(super) host: &'a str,
    pub(super) is_leaf: bool,
    /// SubjectPublicKeyInfo of the certificate and of its issuer.
    pub(super) key: &'a [u8],
    pub(super) issuer_key: &'a [u8],
    pub(super) subject_is_empty: bool,
}

/// Returns all extensions of a certificate, as the content of its `extensions` field.
pub(super) fn extensions(spec: &CertificateSpec, around: &Around<'_>) -> Vec<u8> {
    let mut all = Vec::new();
    if !spec.without.contains(&KeyIdentifier::Subject) {
        let content = identifier(0x04, around.key);
        all.push(extension(&[2, 5, 29, 14], Critical::No, &content));
    }
    if !spec.without.contains(&KeyIdentifier::Authority) {
        let content = der::sequence(&[&identifier(tag::primitive(0), around.issuer_key)]);
        all.push(extension(&[2, 5, 29, 35], Critical::No, &content));
    }
    all.extend(basic_constraints(spec, around.is_leaf));
    all.extend(key_usage(spec, around.is_leaf));
    all.extend(purposes(spec, around.is_leaf));
    all.extend(alternative_names(spec, around));
    all.extend(name_constraints(spec));
    if spec.must_staple {
        // TLS feature: status_request (RFC 7633).
        let content = der::sequence(&[&der::value(tag::INTEGER, &[5])]);
        all.push(extension(
            &[1, 3, 6, 1, 5, 5, 7, 1, 24],
            Critical::No,
            &content,
        ));
    }
    for extra in &spec.extra {
        let critical = Critical::from(extra.critical);
        all.push(extension(&extra.oid.0, critical, &extra.content.0));
    }
    // In the arc for examples (RFC 5612).
    const EXAMPLE: [u32; 8] = [1, 3, 6, 1, 4, 1, 32473, 1];
    let padding = vec![0; usize::from(spec.padding_bytes)];
    if spec.flaw == Some(Flaw::UnknownCriticalExtension) {
        all.push(extension(&EXAMPLE, Critical::Yes, &[5, 0]));
    } else if spec.padding_bytes > 0 || spec.flaw == Some(Flaw::UnknownExtension) {
        let content = der::value(tag::OCTET_STRING, &padding);
        all.push(extension(&EXAMPLE, Critical::No, &content));
    }
    if spec.flaw == Some(Flaw::DuplicateExtension)
        && let Some(last) = all.last().cloned()
    {
        all.push(last);
    }
    der::sequence(&[&all.concat()])
}

/// Whether a client that does not know the extension must refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Critical {
    Yes,
    No,
}

impl From<bool> for Critical {
    fn from(is_critical: bool) -> Self {
        if is_critical { Self::Yes } else { Self::No }
    }
}

pub(super) fn extension(oid: &[u32], critical: Critical, content: &[u8]) -> Vec<u8> {
    let flag: &[u8] = match critical {
        Critical::Yes => &[tag::BOOLEAN, 1, 0xff],
        Critical::No => &[],
    };
    der::sequence(&[
        &der::oid(oid),
        flag,
        &der::value(tag::OCTET_STRING, content),
    ])
}

/// Returns an identifier of a key: the first bytes of its digest, as in RFC 7093 section 2.
pub(super) fn identifier(tag: u8, key: &[u8]) -> Vec<u8> {
    let digest = super::digest::Digest::Sha256.of(key);
    der::value(tag, &digest[..20])
}

fn basic_constraints(spec: &CertificateSpec, is_leaf: bool) -> Option<Vec<u8>> {
    let mut content = match (spec.ca, is_leaf) {
        (Some(true), _) | (None, false) => vec![tag::BOOLEAN, 1, 0xff],
        (Some(false), false) => Vec::new(),
        // DER omits a value that equals the default (X.690 section 11.5).
        (_, true) if spec.flaw == Some(Flaw::ExplicitFalse) => vec![tag::BOOLEAN, 1, 0],
        (_, true) => Vec::new(),
    };
    if let Some(length) = spec.path_length {
        content.extend(der::unsigned(&[length]));
    }
    let content = der::sequence(&[&content]);
    Some(extension(&[2, 5, 29, 19], Critical::Yes, &content))
}

fn key_usage(spec: &CertificateSpec, is_leaf: bool) -> Option<Vec<u8>> {
    let usual = if is_leaf {
        vec![KeyUsage::DigitalSignature, KeyUsage::KeyEncipherment]
    } else {
        vec![KeyUsage::CertSign, KeyUsage::CrlSign]
    };
    let usages = spec.key_usage.as_ref().unwrap_or(&usual);
    let bits: Vec<u8> = usages
        .iter()
        .map(|usage| match usage {
            KeyUsage::DigitalSignature => 0,
            KeyUsage::KeyEncipherment => 2,
            KeyUsage::KeyAgreement => 4,
            KeyUsage::CertSign => 5,
            KeyUsage::CrlSign => 6,
        })
        .collect();
    (!bits.is_empty()).then(|| extension(&[2, 5, 29, 15], Critical::Yes, &der::named_bits(&bits)))
}

fn purposes(spec: &CertificateSpec, is_leaf: bool) -> Option<Vec<u8>> {
    let usual = Vec::from_iter(is_leaf.then_some(Purpose::Server));
    let purposes = spec.purposes.as_ref().unwrap_or(&usual);
    let oids = purposes.iter().map(|purpose| match purpose {
        Purpose::Server => der::oid(&[1, 3, 6, 1, 5, 5, 7, 3, 1]),
        Purpose::Client => der::oid(&[1, 3, 6, 1, 5, 5, 7, 3, 2]),
        Purpose::CodeSigning => der::oid(&[1, 3, 6, 1, 5, 5, 7, 3, 3]),
        Purpose::Any => der::oid(&[2, 5, 29, 37, 0]),
    });
    let oids: Vec<u8> = oids.flatten().collect();
    (!oids.is_empty()).then(|| extension(&[2, 5, 29, 37], Critical::No, &der::sequence(&[&oids])))
}

fn alternative_names(spec: &CertificateSpec, around: &Around<'_>) -> Option<Vec<u8>> {
    let host = around.host.trim_end_matches('.');
    let usual = match host.parse::<std::net::IpAddr>() {
        Ok(_) => GeneralName::try_from(format!("ip:{host}")).ok(),
        Err(_) => Some(GeneralName::Dns(host.to_owned())),
    };
    let usual = Vec::from_iter(usual.filter(|_| around.is_leaf));
    let mut names = spec.names.clone().unwrap_or(usual);
    let more = 0..spec.more_names;
    // These come before the host's own name: a client must read all of them.
    let more = more.map(|number| GeneralName::Dns(format!("n{number}.compat.netbench.test")));
    names.splice(0..0, more);
    if names.is_empty() {
        return None;
    }
    let names: Vec<u8> = names.iter().flat_map(general_name).collect();
    Some(extension(
        &[2, 5, 29, 17],
        Critical::from(around.subject_is_empty),
        &der::sequence(&[&names]),
    ))
}

fn name_constraints(spec: &CertificateSpec) -> Option<Vec<u8>> {
    let content = [(0, &spec.permitted), (1, &spec.excluded)].map(|(number, names)| {
        let names = names.iter();
        let trees = names.flat_map(|name| der::sequence(&[&general_name(name)]));
        let trees: Vec<u8> = trees.collect();
        match trees.is_empty() {
            true => trees,
            false => der::value(tag::constructed(number), &trees),
        }
    });
    let content = content.concat();
    (!content.is_empty())
        .then(|| extension(&[2, 5, 29, 30], Critical::Yes, &der::sequence(&[&content])))
}

fn general_name(general: &GeneralName) -> Vec<u8> {
    match general {
        GeneralName::Email(address) => der::value(tag::primitive(1), address.as_bytes()),
        GeneralName::Dns(host) => der::value(tag::primitive(2), host.as_bytes()),
        GeneralName::Directory(DirectoryName(parts)) => {
            der::value(tag::constructed(4), &name(parts))
        }
        GeneralName::Ip(bytes) => der::value(tag::primitive(7), bytes),
    }
}
