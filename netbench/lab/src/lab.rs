//! The sites of one run with the data for their servers.

use std::{
    collections::{BTreeMap, BTreeSet},
    io, iter,
    net::SocketAddr,
    sync::Arc,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use netbench_model::{ChainProfile, ClientChain, Fault, KeyType, LabProfile, Site, Switch};
use netbench_protocol::{ClientIdentity, ServeSite};
use rcgen::KeyPair;
use time::OffsetDateTime;

use crate::{
    CompressedMessage,
    cores::on_all_cores,
    hierarchy::{Hierarchy, Trust},
    keys,
    leaf::{self, Purpose},
    ocsp, pem,
};

/// The certificates and keys of one run, only in memory.
///
/// Every lab has new keys and serial numbers, from the operating system's generator and not from the run's
/// seed: the owner of a run's record still cannot impersonate a site in it.
///
/// The sites with one type of key share one pair, and all sites with one type of CA's key share the
/// intermediates. Therefore the time to make a lab depends little on the number of its sites: it is the time
/// for at most three RSA pairs for leaves and seven for each of the RSA CAs, of which there are at most two unless sites
/// choose their `ca-key`.
pub struct Lab {
    ca_pem: String,
    served: BTreeMap<String, Served>,
    /// The certificates of clients.
    clients: BTreeMap<ClientChain, Served>,
    /// The sizes of these certificates in DER.
    client_chain_bytes: BTreeMap<ClientChain, u64>,
    /// The known roots, as PEM, by the types of their keys.
    roots: BTreeMap<KeyType, String>,
}

/// A lab that could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// An error of the CAs' keys or certificates.
    #[error("cannot make the lab's CAs")]
    Ca(#[source] rcgen::Error),
    /// An error of the certificate of the site with this name.
    #[error("cannot make a certificate for {0}")]
    Site(String, #[source] rcgen::Error),
}

/// The files of a site, some of which are shared with others.
struct Served {
    /// The certificate in DER, which takes half the memory of PEM.
    leaf_der: Box<[u8]>,
    above_pem: Arc<str>,
    key_pem: Arc<str>,
    ocsp_base64: Option<String>,
}

impl Served {
    /// Returns the certificates above the leaf in DER: none for a chain of one.
    fn above_der(&self) -> Vec<Vec<u8>> {
        pem::certificates(self.above_pem.as_bytes()).unwrap_or_default()
    }

    /// Returns the size of the chain in DER.
    fn chain_bytes(&self) -> u64 {
        let above: usize = self.above_der().iter().map(Vec::len).sum();
        (self.leaf_der.len() + above) as u64
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum KeyId {
    Leaf(KeyType),
    /// Number 0 is the root's.
    Ca(KeyType, Trust, u8),
}

type Hierarchies = BTreeMap<(KeyType, Trust), Hierarchy>;

impl Lab {
    /// Makes the CAs and a certificate for each of `sites`, on all cores.
    ///
    /// Leaves are valid from a day ago, for 90 days from now.
    ///
    /// # Errors
    /// Returns an error if the operating system provides no randomness, or a certificate cannot represent a
    /// profile.
    pub fn new(sites: &[Site]) -> Result<Self, LabError> {
        let now = OffsetDateTime::now_utc();
        let sites: Vec<&Site> = sites.iter().filter(|site| is_served(site)).collect();
        let clients = clients(&sites);
        let all: Vec<&Site> = sites.iter().copied().chain(clients.values()).collect();
        let mut keys = keys::generate(&wanted_keys(&all)).map_err(LabError::Ca)?;
        let hierarchies = hierarchies(&mut keys, now).map_err(LabError::Ca)?;
        let known = hierarchies
            .iter()
            .filter(|((_, trust), _)| *trust == Trust::Known);
        let roots: BTreeMap<KeyType, String> = known
            .map(|((kind, _), hierarchy)| (*kind, pem::certificate(hierarchy.root_der())))
            .collect();

        let mut key_pems = BTreeMap::new();
        for (id, pair) in &keys {
            if let KeyId::Leaf(key_type) = id {
                let der = keys::pkcs8(pair).map_err(LabError::Ca)?;
                key_pems.insert(*key_type, pem::encode("PRIVATE KEY", &der).into());
            }
        }
        let mut above_pems: BTreeMap<Above, Arc<str>> = BTreeMap::new();
        for site in &all {
            let above = above(site);
            if let Some(hierarchy) = hierarchies.get(&(above.0, above.1)) {
                above_pems.entry(above).or_insert_with(|| {
                    let sent = hierarchy.sent(above.2).map(pem::certificate);
                    sent.collect::<String>().into()
                });
            }
        }
        let shared = Shared {
            keys,
            key_pems,
            above_pems,
            hierarchies,
        };
        let served = on_all_cores(sites, |site| {
            let served = serve(site, Purpose::Server, &shared, now);
            let served = served.map_err(|source| LabError::Site(site.name(), source))?;
            Ok((site.name(), served))
        })?;
        let clients = clients.iter().map(|(chain, site)| {
            let served = serve(site, Purpose::Client, &shared, now);
            let served = served.map_err(|source| LabError::Site(site.name(), source))?;
            Ok((*chain, served))
        });
        let clients = clients.collect::<Result<BTreeMap<_, _>, LabError>>()?;
        let client_chain_bytes = clients
            .iter()
            .map(|(chain, own)| (*chain, own.chain_bytes()));
        Ok(Self {
            ca_pem: roots.values().map(String::as_str).collect(),
            served: served.into_iter().collect(),
            client_chain_bytes: client_chain_bytes.collect(),
            clients,
            roots,
        })
    }

    /// Returns the roots to trust, as PEM: one for each type of CA's key that sites have.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// Returns the certificates and the key of clients of sites that require these.
    pub fn client_identity(&self, chain: ClientChain) -> Option<ClientIdentity> {
        let own = self.clients.get(&chain)?;
        let chain_pem = pem::certificate(&own.leaf_der) + &own.above_pem;
        Some(ClientIdentity::of_pem(chain_pem, &*own.key_pem))
    }

    /// Returns the size of the DER of these certificates.
    pub fn client_chain_bytes(&self, chain: ClientChain) -> Option<u64> {
        self.client_chain_bytes.get(&chain).copied()
    }

    /// Compresses the Certificate message of a site's server. Returns `None` where the site has no server.
    ///
    /// # Errors
    /// Returns the error of a compressor.
    pub fn compressed(&self, site: &Site) -> Option<io::Result<CompressedMessage>> {
        let served = self.served.get(&site.name())?;
        let above = served.above_der();
        let chain = iter::once(&*served.leaf_der).chain(above.iter().map(Vec::as_slice));
        let staple = served.ocsp_base64.as_ref();
        let staple = staple.and_then(|text| BASE64_STANDARD.decode(text).ok());
        let chain: Vec<&[u8]> = chain.collect();
        Some(CompressedMessage::new(&chain, staple.as_deref()))
    }

    /// Returns the specifications of the servers, by the stack that serves.
    ///
    /// `address` returns the address of the site with an index in `sites`. Sites that refuse connections
    /// ([`Fault::Refuse`]) are left out, and so are sites that were not passed to [`Lab::new`].
    pub fn serve_sites(
        &self,
        sites: &[Site],
        address: impl Fn(usize) -> SocketAddr,
    ) -> BTreeMap<String, Vec<ServeSite>> {
        let mut by_stack: BTreeMap<String, Vec<ServeSite>> = BTreeMap::new();
        for (index, site) in sites.iter().enumerate() {
            if let Some(served) = self.serve_site(site, || address(index)) {
                let server = site.lab.server.clone();
                by_stack.entry(server).or_default().push(served);
            }
        }
        by_stack
    }

    /// Returns the specification of one site's server, or `None` where it has no server.
    pub fn serve_site(
        &self,
        site: &Site,
        listen: impl FnOnce() -> SocketAddr,
    ) -> Option<ServeSite> {
        let (name, lab) = (site.name(), &site.lab);
        let served = self.served.get(&name).filter(|_| is_served(site))?;
        Some(ServeSite {
            site: name,
            listen: listen(),
            chain_pem: pem::certificate(&served.leaf_der) + &served.above_pem,
            key_pem: served.key_pem.to_string(),
            versions: lab.tls.clone(),
            suites: lab.suites.clone(),
            groups: lab.groups.clone(),
            alpn: lab.alpn.clone(),
            tickets: lab.tickets,
            early_data: lab.early_data,
            client_root_pem: lab.client_chain.and_then(|chain| {
                let root = self.roots.get(&chain.key.usual_ca());
                root.cloned()
            }),
            ech_keys: Vec::new(),
            ocsp_base64: served.ocsp_base64.clone(),
            body_bytes: lab.body_bytes,
            fault: lab.fault,
            congestion: None,
        })
    }
}

fn is_served(site: &Site) -> bool {
    site.lab.fault != Some(Fault::Refuse)
}

/// Returns the chains that clients need, each as that of a site without a server.
fn clients(sites: &[&Site]) -> BTreeMap<ClientChain, Site> {
    const HOST: &str = "client.netbench.invalid";
    const LENGTH: u8 = 2;
    let chains: BTreeSet<ClientChain> = sites
        .iter()
        .filter_map(|site| site.lab.client_chain)
        .collect();
    let sites = chains.into_iter().filter_map(|chain| {
        let lab = LabProfile {
            key: chain.key,
            chain: ChainProfile {
                length: LENGTH,
                bytes: chain.bytes,
            },
            ..LabProfile::default()
        };
        let site = Site {
            lab: Arc::new(lab),
            ..Site::new(HOST.parse().ok()?, 443)
        };
        Some((chain, site))
    });
    sites.collect()
}

fn trust(site: &Site) -> Trust {
    if site.lab.fault == Some(Fault::UnknownRoot) {
        Trust::Unknown
    } else {
        Trust::Known
    }
}

fn wanted_keys(sites: &[&Site]) -> Vec<(KeyId, KeyType)> {
    let mut wanted = BTreeSet::new();
    for site in sites {
        let (leaf, ca) = (site.lab.key, site.lab.ca_key());
        wanted.insert((KeyId::Leaf(leaf), leaf));
        // The root of each type is made even if all of its sites are signed by another.
        wanted.insert((KeyId::Ca(ca, Trust::Known, 0), ca));
        for number in 0..site.lab.chain.length.max(1) {
            wanted.insert((KeyId::Ca(ca, trust(site), number), ca));
        }
    }
    wanted.into_iter().collect()
}

/// Moves the CAs' keys out of `keys`, which keeps those of the leaves.
fn hierarchies(
    keys: &mut BTreeMap<KeyId, KeyPair>,
    now: OffsetDateTime,
) -> Result<Hierarchies, rcgen::Error> {
    let mut hierarchies = BTreeMap::new();
    for kind in KeyType::ALL.iter().copied() {
        for trust in [Trust::Known, Trust::Unknown] {
            let mut own = (0..).map_while(|number| keys.remove(&KeyId::Ca(kind, trust, number)));
            if let Some(root) = own.next() {
                let hierarchy = Hierarchy::new(kind, trust, root, own, now)?;
                hierarchies.insert((kind, trust), hierarchy);
            }
        }
    }
    Ok(hierarchies)
}

/// Data that sites have in common.
struct Shared {
    keys: BTreeMap<KeyId, KeyPair>,
    key_pems: BTreeMap<KeyType, Arc<str>>,
    above_pems: BTreeMap<Above, Arc<str>>,
    hierarchies: Hierarchies,
}

/// The certificates that are sent after the leaf: the type of the CAs' keys, and the number of certificates in the chain.
type Above = (KeyType, Trust, u8);

fn above(site: &Site) -> Above {
    (site.lab.ca_key(), trust(site), site.lab.chain.length)
}

fn serve(
    site: &Site,
    purpose: Purpose,
    shared: &Shared,
    now: OffsetDateTime,
) -> Result<Served, rcgen::Error> {
    const MISSING: rcgen::Error = rcgen::Error::CouldNotParseKeyPair;
    let (lab, above) = (&site.lab, above(site));
    let (ca_key, trust, _) = above;
    let key = shared.keys.get(&KeyId::Leaf(lab.key)).ok_or(MISSING)?;
    let key_pem = shared.key_pems.get(&lab.key).ok_or(MISSING)?;
    let above_pem = shared.above_pems.get(&above).ok_or(MISSING)?;
    let hierarchy = shared.hierarchies.get(&(ca_key, trust)).ok_or(MISSING)?;

    let leaf = leaf::issue(site, purpose, key, hierarchy, now)?;
    let ocsp_base64 = match lab.ocsp {
        Switch::Off => None,
        Switch::On => {
            let issuer = hierarchy.issuer(lab.chain.length);
            let response = ocsp::response(issuer, ca_key, &leaf.serial, now)?;
            Some(BASE64_STANDARD.encode(response))
        }
    };
    Ok(Served {
        leaf_der: leaf.der.into(),
        above_pem: Arc::clone(above_pem),
        key_pem: Arc::clone(key_pem),
        ocsp_base64,
    })
}
