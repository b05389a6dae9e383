//! Tests of the lab's certificates by rustls-webpki and by the system's `openssl`.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::Path,
    sync::Arc,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use netbench_lab::Lab;
use netbench_model::{KeyType, Site, Sweep, parse_sites};
use netbench_protocol::ServeSite;
use rustls_pki_types::{CertificateDer, ServerName, SignatureVerificationAlgorithm, UnixTime};
use support::{certificates, check_key, openssl};
use webpki::{EndEntityCert, Error, KeyUsage, anchor_from_trusted_cert, aws_lc_rs};

netbench_testing::tests! {
    webpki_takes_every_chain_but_the_faulty_ones;
    chains_have_the_length_and_the_bytes_asked_for;
    the_built_in_sites_get_the_bytes_that_their_file_says;
    every_lab_has_keys_and_serial_numbers_of_its_own;
    a_lab_without_a_served_site_is_no_error;
    webpki_takes_chains_of_ml_dsa_and_those_whose_cas_have_another_type_of_key;
    a_leaf_has_the_size_of_a_merkle_tree_certificate;
    clients_have_chains_of_the_size_and_the_root_that_their_site_requires;
    openssl_takes_keys_chains_and_staples: OpensslCommand;
}

/// Sites with every type of key, every length of chain, addresses, long names, padding, staples and
/// faults.
const SITES: &str = "
rsa2048.example chain=2 ocsp=on
rsa3072.example key=rsa-3072 chain=1 ocsp=on
rsa4096.example key=rsa-4096 chain=3/5609 ocsp=on
p256.example key=ecdsa-p256 chain=2/4032 ocsp=on
p384.example key=ecdsa-p384 chain=1 ocsp=on
ed25519.example key=ed25519 chain=6/9000 ocsp=on
10.1.2.3 chain=3/2308 ocsp=on
10.1.2.4:8443 key=ecdsa-p256 chain=4/60000
under_score.example key=ecdsa-p256
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb.ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc.example chain=2/7000
wrong.example fault=wrong-name chain=2/4032
unknown.example fault=unknown-root chain=3 ocsp=on
unknown-ec.example fault=unknown-root key=ecdsa-p256 chain=1
expired.example fault=expired ocsp=on
silent.example fault=silent server=rustls-ring
refused.example fault=refuse
";

const POST_QUANTUM_SITES: &str = "
mldsa44.example key=mldsa-44 chain=1
mldsa65.example key=mldsa-65 chain=2/20000
mldsa87.example key=mldsa-87 chain=6
leaf.example key=mldsa-65 ca-key=ecdsa-p256
leaf-rsa.example key=mldsa-44 ca-key=rsa-2048
cas.example key=ecdsa-p256 ca-key=mldsa-65 chain=3
cas-ed25519.example key=ecdsa-p384 ca-key=ed25519
cas-rsa.example key=ed25519 ca-key=rsa-3072
";

struct Made {
    lab: Lab,
    served: Vec<(Site, ServeSite)>,
}

fn make() -> Made {
    let sites = parse_sites(SITES).unwrap();
    let lab = Lab::new(&sites).unwrap();
    let by_stack = lab.serve_sites(&sites, address);
    assert_eq!(
        by_stack.keys().collect::<Vec<_>>(),
        ["openssl", "rustls-ring"]
    );
    let mut served = Vec::new();
    for (index, site) in sites.iter().enumerate() {
        let name = site.name();
        match by_stack.values().flatten().find(|it| it.site == name) {
            Some(found) => {
                assert_eq!(found.listen, address(index));
                served.push((site.clone(), found.clone()));
            }
            None => assert_eq!(site.host.as_str(), "refused.example"),
        }
    }
    Made { lab, served }
}

fn address(index: usize) -> SocketAddr {
    SocketAddr::from(([10, 1, 0, u8::try_from(index).unwrap()], 443))
}

fn verify(lab: &Lab, site: &Site, served: &ServeSite) -> Result<(), Error> {
    let chain = certificates(&served.chain_pem);
    verify_chain(lab, &chain, webpki::ALL_VERIFICATION_ALGS)?;
    let host = ServerName::try_from(site.host.as_str()).unwrap();
    EndEntityCert::try_from(&chain[0])?.verify_is_valid_for_subject_name(&host)
}

fn verify_chain(
    lab: &Lab,
    chain: &[CertificateDer<'_>],
    algorithms: &[&dyn SignatureVerificationAlgorithm],
) -> Result<(), Error> {
    let roots = certificates(lab.ca_pem());
    let anchors: Vec<_> = roots
        .iter()
        .map(|root| anchor_from_trusted_cert(root).unwrap())
        .collect();
    let leaf = EndEntityCert::try_from(&chain[0])?;
    let (now, usage) = (UnixTime::now(), KeyUsage::server_auth());
    leaf.verify_for_usage(algorithms, &anchors, &chain[1..], now, usage, None, None)
        .map(drop)
}

fn webpki_takes_every_chain_but_the_faulty_ones() {
    let Made { lab, served } = make();
    for (site, served) in &served {
        let found = verify(&lab, site, served);
        let as_wanted = match site.host.as_str() {
            "wrong.example" => matches!(found, Err(Error::CertNotValidForName(_))),
            "unknown.example" | "unknown-ec.example" => found == Err(Error::UnknownIssuer),
            "expired.example" => matches!(found, Err(Error::CertExpired { .. })),
            _ => found.is_ok(),
        };
        assert!(as_wanted, "{}: {found:?}", site.name());
    }
}

/// The system's `openssl` may be older than ML-DSA, so these sites are not among [`SITES`].
fn webpki_takes_chains_of_ml_dsa_and_those_whose_cas_have_another_type_of_key() {
    let sites = parse_sites(POST_QUANTUM_SITES).unwrap();
    let lab = Lab::new(&sites).unwrap();
    let kinds: BTreeSet<_> = sites.iter().map(|site| site.lab.ca_key()).collect();
    assert_eq!(certificates(lab.ca_pem()).len(), kinds.len());
    for site in &sites {
        let name = site.name();
        let served = lab
            .serve_site(site, || ([10, 1, 0, 1], 443).into())
            .unwrap();
        assert_eq!(verify(&lab, site, &served), Ok(()), "{name}");
        let chain = certificates(&served.chain_pem);
        assert_eq!(chain.len(), usize::from(site.lab.chain.length), "{name}");
        // The CAs' keys sign every certificate of the chain, and the leaf's key none.
        let own = algorithm(site.lab.ca_key());
        assert_eq!(verify_chain(&lab, &chain, &[own]), Ok(()), "{name}");
        if site.lab.ca_key() != site.lab.key {
            let other = algorithm(site.lab.key);
            assert!(verify_chain(&lab, &chain, &[other]).is_err(), "{name}");
        }
    }
}

/// A proof of 736 bytes takes the place of the signature (draft-ietf-plants-merkle-tree-certs-04 section 6.4).
fn a_leaf_has_the_size_of_a_merkle_tree_certificate() {
    const PROOF_BYTES: usize = 736;
    // The signature of ECDSA P-256 has 70 to 72 bytes, and names have any length.
    const SIGNATURE_BYTES: usize = 71;
    const TOLERANCE_BYTES: usize = 20;
    let unpadded = parse_sites("google.com key=mldsa-44 ca-key=ecdsa-p256 chain=1").unwrap();
    let sweep = Sweep::parse(&["certificates=merkle"]).unwrap();
    let padded = sweep.expand(&unpadded).unwrap();
    let [without, with] = [unpadded, padded].map(|sites| {
        let lab = Lab::new(&sites).unwrap();
        let served = lab.serve_site(&sites[0], || address(0)).unwrap();
        let chain = certificates(&served.chain_pem);
        assert_eq!(verify(&lab, &sites[0], &served), Ok(()));
        assert_eq!(chain.len(), 1);
        chain[0].len()
    });
    let wanted = without - SIGNATURE_BYTES + PROOF_BYTES;
    assert!(
        with.abs_diff(wanted) < TOLERANCE_BYTES,
        "{with} bytes, expected {wanted}"
    );
}

/// Returns the algorithm with which a CA with such a key signs.
fn algorithm(key: KeyType) -> &'static dyn SignatureVerificationAlgorithm {
    match key {
        KeyType::Rsa2048 | KeyType::Rsa3072 | KeyType::Rsa4096 => {
            aws_lc_rs::RSA_PKCS1_2048_8192_SHA256
        }
        KeyType::EcdsaP256 => aws_lc_rs::ECDSA_P256_SHA256,
        KeyType::EcdsaP384 => aws_lc_rs::ECDSA_P384_SHA384,
        KeyType::Ed25519 => aws_lc_rs::ED25519,
        KeyType::MlDsa44 => aws_lc_rs::ML_DSA_44,
        KeyType::MlDsa65 => aws_lc_rs::ML_DSA_65,
        KeyType::MlDsa87 => aws_lc_rs::ML_DSA_87,
    }
}

fn chains_have_the_length_and_the_bytes_asked_for() {
    let sites = parse_sites(SITES).unwrap();
    let unpadded: Vec<Site> = sites
        .iter()
        .cloned()
        .map(|mut site| {
            Arc::make_mut(&mut site.lab).chain.bytes = 0;
            site
        })
        .collect();
    let (padded, natural) = (chain_bytes(&sites), chain_bytes(&unpadded));
    for site in sites {
        let (name, wanted) = (site.name(), site.lab.chain);
        let Some((length, bytes)) = padded.get(&name) else {
            continue;
        };
        let (natural, wanted_bytes) = (natural[&name].1, wanted.bytes as usize);
        assert_eq!(*length, usize::from(wanted.length), "{name}");
        assert!(*bytes >= wanted_bytes, "{name}: {bytes} bytes");
        // The size may exceed the request by the steps of DER lengths, and of ECDSA signatures, one
        // per certificate.
        let most = natural.max(wanted_bytes) + 16 + 4 * length;
        assert!(
            *bytes <= most,
            "{name}: {bytes} bytes, wanted {wanted_bytes}, {natural} without padding"
        );
    }
}

fn the_built_in_sites_get_the_bytes_that_their_file_says() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sites.txt");
    let sites = parse_sites(&std::fs::read_to_string(file).unwrap()).unwrap();
    let made = chain_bytes(&sites);
    for site in &sites {
        let (wanted, (_, bytes)) = (site.lab.chain.bytes as usize, made[&site.name()]);
        assert!(
            (wanted..wanted + 32).contains(&bytes),
            "{}: {bytes} bytes, wanted {wanted}",
            site.name()
        );
    }
}

/// Returns the number of certificates that each site sends, and their size in bytes.
fn chain_bytes(sites: &[Site]) -> BTreeMap<String, (usize, usize)> {
    let served = Lab::new(sites)
        .unwrap()
        .serve_sites(sites, |_| ([10, 1, 0, 1], 443).into());
    served
        .values()
        .flatten()
        .map(|served| {
            let chain = certificates(&served.chain_pem);
            let bytes = chain.iter().map(|der| der.len()).sum();
            (served.site.clone(), (chain.len(), bytes))
        })
        .collect()
}

fn every_lab_has_keys_and_serial_numbers_of_its_own() {
    let sites = parse_sites("a.example key=ecdsa-p256\nb.example key=ecdsa-p256\n").unwrap();
    let labs = [(); 2].map(|()| Lab::new(&sites).unwrap());
    assert_ne!(labs[0].ca_pem(), labs[1].ca_pem());
    let [one, two] = labs.map(|lab| {
        lab.serve_sites(&sites, |_| ([10, 1, 0, 1], 443).into())
            .remove("openssl")
            .unwrap()
    });
    assert_eq!(
        one[0].key_pem, one[1].key_pem,
        "sites with one type of key share a pair"
    );
    assert_ne!(one[0].key_pem, two[0].key_pem);
    let leaves: BTreeSet<_> = one.iter().chain(&two).map(|site| &site.chain_pem).collect();
    assert_eq!(leaves.len(), 4);
}

fn a_lab_without_a_served_site_is_no_error() {
    for sites in [vec![], parse_sites("a.example fault=refuse").unwrap()] {
        let lab = Lab::new(&sites).unwrap();
        assert_eq!(lab.ca_pem(), "");
        assert!(lab.serve_sites(&sites, |_| unreachable!()).is_empty());
    }
}

fn openssl_takes_keys_chains_and_staples() {
    let Made { lab, served } = make();
    let folder = tempfile::tempdir().unwrap();
    let [root, leaf, issuer, chain, key, staple] = [
        "root.pem",
        "leaf.pem",
        "issuer.pem",
        "chain.pem",
        "key.pem",
        "staple.der",
    ]
    .map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    std::fs::write(&root, lab.ca_pem()).unwrap();
    let mut staples = 0;
    for (site, served) in &served {
        let name = site.name();
        let blocks: Vec<&str> = served
            .chain_pem
            .split_inclusive("-----END CERTIFICATE-----\n")
            .collect();
        std::fs::write(&leaf, blocks[0]).unwrap();
        std::fs::write(&chain, blocks[1..].concat()).unwrap();
        std::fs::write(&key, &served.key_pem).unwrap();

        check_key(&name, &key, &leaf);

        let host = site.host.as_str();
        let of_host = if host.starts_with("10.") {
            "-verify_ip"
        } else {
            "-verify_hostname"
        };
        let mut verify = vec![
            "verify",
            "-x509_strict",
            "-purpose",
            "sslserver",
            of_host,
            host,
        ];
        verify.extend(["-no-CApath", "-no-CAstore", "-CAfile", &root]);
        if blocks.len() > 1 {
            verify.extend(["-untrusted", &chain]);
        }
        verify.push(&leaf);
        let found = openssl(&verify);
        let expected = match host {
            "wrong.example" => "hostname mismatch",
            "unknown.example" | "unknown-ec.example" => "unable to get local issuer certificate",
            "expired.example" => "certificate has expired",
            _ => "leaf.pem: OK",
        };
        assert!(found.contains(expected), "{name}: {found}");

        let Some(ocsp) = &served.ocsp_base64 else {
            continue;
        };
        if host == "unknown.example" {
            // Its responder's certificate chains to no root that this test could pass to openssl.
            continue;
        }
        std::fs::write(&staple, BASE64_STANDARD.decode(ocsp).unwrap()).unwrap();
        let roots: Vec<&str> = lab
            .ca_pem()
            .split_inclusive("-----END CERTIFICATE-----\n")
            .collect();
        // The families' roots are in the order RSA, P-256, P-384.
        let own_root = if host == "p384.example" { 2 } else { 0 };
        let above = blocks.get(1).copied().unwrap_or(roots[own_root]);
        std::fs::write(&issuer, above).unwrap();
        let mut respin = vec![
            "ocsp", "-respin", &staple, "-issuer", &issuer, "-cert", &leaf, "-CAfile", &root,
        ];
        respin.extend(["-verify_other", &issuer, "-no-CApath", "-no-CAstore"]);
        if blocks.len() > 1 {
            respin.extend(["-verify_other", &chain]);
        }
        let found = openssl(&respin);
        assert!(found.contains("Response verify OK"), "{name}: {found}");
        assert!(found.contains("leaf.pem: good"), "{name}: {found}");
        staples += 1;
    }
    assert_eq!(staples, 8);
}

fn clients_have_chains_of_the_size_and_the_root_that_their_site_requires() {
    let lines = [
        ("a.example client-cert=ecdsa-p256", 0),
        (
            "b.example client-cert=ecdsa-p256/12000 key=mldsa-44",
            12_000,
        ),
        (
            "c.example client-cert=mldsa-65/13000 ca-key=ecdsa-p256",
            13_000,
        ),
        (
            "d.example client-cert=rsa-3072/6000 server=rustls-ring",
            6000,
        ),
    ];
    let plain = "e.example";
    let text = lines.map(|(line, _)| line).join("\n");
    let sites = parse_sites(&format!("{text}\n{plain}\n")).unwrap();
    let lab = Lab::new(&sites).unwrap();
    let served = lab.serve_sites(&sites, address);
    for (site, bytes) in sites.iter().zip(lines.map(|(_, bytes)| bytes)) {
        let mut served = served.values().flatten();
        let served = served.find(|it| it.site == site.name()).unwrap();
        let root = certificates(served.client_root_pem.as_deref().unwrap());
        assert_eq!(root.len(), 1);
        let anchor = anchor_from_trusted_cert(&root[0]).unwrap();
        let identity = lab.client_identity(site.lab.client_chain.unwrap()).unwrap();
        let chain = certificates(&identity.chain_pem);
        let found: usize = chain.iter().map(|der| der.len()).sum();
        assert_eq!(chain.len(), 2);
        assert!(
            found >= bytes && (bytes == 0 || found < bytes + 10),
            "{found}"
        );
        let leaf = EndEntityCert::try_from(&chain[0]).unwrap();
        for (usage, is_for) in [
            (KeyUsage::client_auth(), true),
            (KeyUsage::server_auth(), false),
        ] {
            let taken = leaf.verify_for_usage(
                webpki::ALL_VERIFICATION_ALGS,
                std::slice::from_ref(&anchor),
                &chain[1..],
                UnixTime::now(),
                usage,
                None,
                None,
            );
            assert_eq!(taken.is_ok(), is_for, "{}", site.name());
        }
        assert_ne!(identity.key_pem, served.key_pem, "{}", site.name());
    }
    let plain = served.values().flatten().find(|it| it.site == plain);
    assert_eq!(plain.unwrap().client_root_pem, None);
}
