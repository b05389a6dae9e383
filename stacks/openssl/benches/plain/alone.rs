//! Operations without a session: the verification of a chain, and a signature and its verification.

use netbench_lab::SUITE_HOST;
use netbench_protocol::Material;
use netbench_tls::{KeyType, Primitive};
use netbench_worker_test::plain::{self, material_of_key};
use openssl::{
    pkey::{PKey, Private, Public},
    sign,
    stack::Stack,
    x509::{
        X509, X509PurposeId, X509StoreContext,
        store::{X509Store, X509StoreBuilder},
        verify::X509VerifyParam,
    },
};

/// The signed bytes, as many as in a handshake with SHA-256.
const SIGNED: [u8; Primitive::SIGNED_BYTES] = [0x20; Primitive::SIGNED_BYTES];

pub(crate) fn store(material: &Material) -> X509StoreBuilder {
    let mut store = X509StoreBuilder::new().unwrap();
    for root in X509::stack_from_pem(material.roots_pem.as_bytes()).unwrap() {
        store.add_cert(root).unwrap();
    }
    store
}

/// A verifier of one chain, and the chain in DER.
pub(crate) struct Verifier {
    store: X509Store,
    chain: Vec<Vec<u8>>,
}

impl Verifier {
    pub(crate) fn new(key: KeyType) -> Self {
        let material = material_of_key(key);
        let mut store = store(&material);
        let mut name = X509VerifyParam::new().unwrap();
        name.set_host(SUITE_HOST).unwrap();
        store.set_param(&name).unwrap();
        store.set_purpose(X509PurposeId::SSL_SERVER).unwrap();
        let chain = X509::stack_from_pem(material.chain_pem.as_bytes()).unwrap();
        Self {
            store: store.build(),
            chain: chain
                .iter()
                .map(|certificate| certificate.to_der().unwrap())
                .collect(),
        }
    }

    pub(crate) fn verify(&self) {
        let leaf = X509::from_der(&self.chain[0]).unwrap();
        let mut above = Stack::new().unwrap();
        for der in &self.chain[1..] {
            above.push(X509::from_der(der).unwrap()).unwrap();
        }
        let mut context = X509StoreContext::new().unwrap();
        let good = context.init(&self.store, &leaf, &above, |context| context.verify_cert());
        assert!(good.unwrap());
    }
}

/// A key of ML-DSA, its public key, and the last signature.
pub(crate) struct Signing {
    private: PKey<Private>,
    public: PKey<Public>,
    signature: Vec<u8>,
}

impl Signing {
    pub(crate) fn new(key: KeyType) -> Self {
        let material = material_of_key(key);
        let certificate = X509::from_pem(material.chain_pem.as_bytes()).unwrap();
        Self {
            private: PKey::private_key_from_pem(material.key_pem.as_bytes()).unwrap(),
            public: certificate.public_key().unwrap(),
            signature: Vec::new(),
        }
    }
}

impl plain::Signing for Signing {
    fn sign(&mut self) {
        let mut signer = sign::Signer::new_without_digest(&self.private).unwrap();
        self.signature = signer.sign_oneshot_to_vec(&SIGNED).unwrap();
    }

    fn verify(&self) {
        let mut verifier = sign::Verifier::new_without_digest(&self.public).unwrap();
        assert!(verifier.verify_oneshot(&self.signature, &SIGNED).unwrap());
    }
}
