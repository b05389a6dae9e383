//! Stores of trust roots as systems keep them, and the sites that chain to the roots in them.

mod layout;

use std::{collections::BTreeMap, path::PathBuf};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use jiff::Timestamp;
use netbench_model::roots::RootsSite;

use crate::{
    case::{usual_sent, usual_trusted},
    certificates::{CertificateSpec, Chain, ChainSpec, Digest, DirectoryName, der, pem, rdns},
};

use layout::{Entry, Form, Held};
pub use layout::{Layout, StoreFile, layouts};

/// The number of roots for which `10000` stands.
const MANY: usize = 10_000;

/// The sites, and the roots that they chain to.
pub struct Stores {
    /// The sites, each with the chain that it sends, as DER in base64.
    pub sites: Vec<(RootsSite, Vec<String>)>,
    roots: BTreeMap<&'static str, Root>,
    many: Vec<Vec<u8>>,
}

struct Root {
    der: Vec<u8>,
    subject: Vec<(u32, String)>,
}

/// The sites of the lab, and the days for which the root of each is valid.
const SITES: [(&str, &str, i32, i32); 4] = [
    ("public", "below a root that every system has", -400, 3650),
    (
        "corporate",
        "below a root that a company has added",
        -400,
        3650,
    ),
    (
        "expired",
        "below a root that expired ten days ago",
        -4000,
        -10,
    ),
    (
        "distrusted",
        "below a root that the system rejects",
        -400,
        3650,
    ),
];

impl Stores {
    /// Creates the stores with new keys, as of `now`.
    ///
    /// # Errors
    /// Returns the reason why a certificate cannot be made.
    pub fn new(now: Timestamp) -> Result<Self, String> {
        let (mut sites, mut roots) = (Vec::new(), BTreeMap::new());
        for (name, about, begins, ends) in SITES {
            let host = format!("{name}.netbench.test");
            let subject = vec![
                (10, "netbench stores".to_owned()),
                (3, format!("Root {name}")),
            ];
            let root = CertificateSpec {
                subject: Some(DirectoryName(subject.clone())),
                begins: Some(begins),
                ends: Some(ends),
                ..CertificateSpec::default()
            };
            let described = BTreeMap::from([("root".to_owned(), root)]);
            let made = make(&host, &described, &usual_trusted(), now)?;
            let sent = made
                .sent
                .iter()
                .map(|der| BASE64_STANDARD.encode(der))
                .collect();
            let site = RootsSite {
                name: name.to_owned(),
                about: about.to_owned(),
                host,
            };
            sites.push((site, sent));
            let der = made.roots.into_iter().next().unwrap_or_default();
            roots.insert(name, Root { der, subject });
        }
        Ok(Self {
            sites,
            roots,
            many: Vec::new(),
        })
    }

    /// Returns the files of a layout.
    ///
    /// # Errors
    /// Returns the reason why a certificate cannot be made.
    pub fn files(&mut self, layout: &Layout, now: Timestamp) -> Result<Vec<StoreFile>, String> {
        let many = layout
            .files
            .iter()
            .any(|file| file.holds.contains(&Held::Many));
        if many && self.many.is_empty() {
            self.many = many_roots(now)?;
        }
        let mut files = Vec::new();
        for entry in &layout.files {
            match entry.form {
                Form::Bundle => files.push(StoreFile::text(&entry.path, self.bundle(&entry.holds))),
                Form::UnreadableBundle => files.push(StoreFile {
                    mode: 0,
                    ..StoreFile::text(&entry.path, self.bundle(&entry.holds))
                }),
                Form::Link => files.push(StoreFile::link(&entry.path, &entry.to)),
                Form::Folder | Form::HashedFolder | Form::RejectingFolder => {
                    for held in &entry.holds {
                        if let Some(root) = self.roots.get(held.name()) {
                            files.extend(in_folder(entry, held.name(), root));
                        }
                    }
                }
            }
        }
        Ok(files)
    }

    fn bundle(&self, holds: &[Held]) -> String {
        let mut text = String::new();
        for held in holds {
            match held {
                Held::Garbage => text.push_str(
                    "-----BEGIN CERTIFICATE-----\nthis is no certificate!\n-----END CERTIFICATE-----\n",
                ),
                Held::Many => text.extend(self.many.iter().map(|der| pem(der))),
                other => text.extend(self.roots.get(other.name()).map(|root| pem(&root.der))),
            }
        }
        text
    }
}

/// Returns the files of a root in a folder.
fn in_folder(entry: &Entry, name: &str, root: &Root) -> Vec<StoreFile> {
    let file = PathBuf::from(format!("{name}.pem"));
    let plain = StoreFile::text(&entry.path.join(&file), pem(&root.der));
    let link = entry
        .path
        .join(format!("{:08x}.0", name_hash(&root.subject)));
    match entry.form {
        Form::HashedFolder => vec![plain, StoreFile::link(&link, &file)],
        Form::RejectingFolder => vec![StoreFile::text(&link, rejected(&root.der))],
        _ => vec![plain],
    }
}

fn make(
    host: &str,
    certificates: &BTreeMap<String, CertificateSpec>,
    trusted: &[String],
    now: Timestamp,
) -> Result<Chain, String> {
    ChainSpec {
        host,
        unit: None,
        certificates,
        sent: &usual_sent(),
        trusted,
        staple: None,
        crls: &[],
    }
    .make(now)
    .map_err(|error| error.to_string())
}

fn many_roots(now: Timestamp) -> Result<Vec<Vec<u8>>, String> {
    let names: Vec<String> = (0..MANY).map(|number| format!("many-{number}")).collect();
    let described = names.iter().map(|name| {
        let spec = CertificateSpec {
            issuer: Some(name.clone()),
            key_of: Some(names[0].clone()),
            ..CertificateSpec::default()
        };
        (name.clone(), spec)
    });
    Ok(make("many.netbench.test", &described.collect(), &names, now)?.roots)
}

/// Returns OpenSSL's format of a certificate that lists the purposes for which it is not trusted: servers.
fn rejected(certificate: &[u8]) -> String {
    let server = der::oid(&[1, 3, 6, 1, 5, 5, 7, 3, 1]);
    let auxiliary = der::sequence(&[&der::value(der::tag::constructed(0), &server)]);
    let text = pem(&[certificate, &auxiliary].concat());
    text.replace(" CERTIFICATE", " TRUSTED CERTIFICATE")
}

/// Returns the number by which OpenSSL names a link: the first bytes of the digest of a name in its canonical form,
/// in lower case and without the outer tag.
fn name_hash(subject: &[(u32, String)]) -> u32 {
    let lower = subject
        .iter()
        .map(|(attribute, text)| (*attribute, text.to_lowercase()));
    let digest = Digest::Sha1.of(&rdns(&lower.collect::<Vec<_>>()));
    u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_has_its_files() {
        let now = Timestamp::now();
        let mut stores = Stores::new(now).unwrap();
        let all = layouts();
        assert!(all.len() >= 12);
        for layout in &all {
            let files = stores.files(layout, now).unwrap();
            assert_eq!(files.is_empty(), layout.files.is_empty(), "{}", layout.name);
        }
        let many = all
            .iter()
            .find(|layout| layout.name == "10000-roots")
            .unwrap();
        let files = stores.files(many, now).unwrap();
        let text = files[0].text.as_deref().unwrap();
        assert_eq!(text.matches("BEGIN CERTIFICATE").count(), MANY + 1);
    }
}
