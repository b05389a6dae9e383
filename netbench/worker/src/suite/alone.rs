use std::sync::Arc;

use netbench_protocol::{Clocks, Material};
use netbench_tls::{Aead, FailureWord, Group, KeyType, Measure, Primitive, RootsForm};

use super::{
    InMemory, KeyExchange, RECORD_DATA, RecordProtection, SessionError, Signatures, TrustRoots,
    Verifier,
    error::{PrepareError, not_in_memory},
    meter::Meter,
    pair::ran,
    turn::Turn,
};
use crate::{SetupError, Stack, chain_of_pem};

/// Maximum number of operations that are timed together.
const MOST_IN_BATCH: u32 = 1_000_000;

/// An operation of a client without a session.
pub(crate) struct Alone {
    operation: Operation,
    timed: Timed,
}

/// Executes and times the given number of operations together.
type Operation = Box<dyn FnMut(&mut Meter, Clocks, u32) -> Result<(), SessionError>>;

/// The way in which operations can be timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Timed {
    /// Several together, if the slice has batches.
    InBatches,
    /// One at a time, because an untimed step precedes each.
    Alone,
}

impl Alone {
    /// Creates an operation that can be repeated without other steps in between.
    fn repeated(mut operation: impl FnMut() -> Result<(), SessionError> + 'static) -> Self {
        Self {
            operation: Box::new(move |meter, clocks, batch| {
                ran(meter.first(clocks, || (0..batch).try_for_each(|_| operation())))
            }),
            timed: Timed::InBatches,
        }
    }

    /// Prepares the verification of the material's chain.
    pub(crate) fn verify(stack: &dyn InMemory, material: &Material) -> Result<Self, PrepareError> {
        let chain = VerifiedChain::new(stack, material)?;
        Ok(Self::repeated(move || chain.verify()))
    }

    /// Prepares the creation of a client's configuration.
    pub(crate) fn connector(
        stack: &Arc<dyn Stack>,
        form: RootsForm,
        material: &Material,
    ) -> Result<Self, PrepareError> {
        let roots = match form {
            RootsForm::Pem => Roots::Pem(material.roots_pem.clone()),
            RootsForm::Der => Roots::Der(certificates(&material.roots_pem)?),
            RootsForm::Native => {
                let why = "this system has no bundle of trust roots";
                let path = material.native_path.clone();
                Roots::File(path.ok_or_else(|| SetupError::unsupported(why))?)
            }
        };
        let stack = Arc::clone(stack);
        let make = move || match stack.in_memory() {
            Some(library) => library.configuration(roots.borrowed()),
            None => Err(not_in_memory(stack.name())),
        };
        make()?;
        // The configuration is freed after its time has been measured.
        Ok(Self {
            operation: Box::new(move |meter, clocks, _| {
                let made = meter.first(clocks, &make);
                match made {
                    Some(Ok(_)) => Ok(()),
                    Some(Err(error)) => Err(SessionError::new(FailureWord::Configuration, error)),
                    None => Err(SessionError::new(
                        FailureWord::Configuration,
                        "it was not made",
                    )),
                }
            }),
            timed: Timed::Alone,
        })
    }

    /// Prepares an operation of the library's cryptography, after a proof that its result is correct.
    pub(crate) fn primitive(
        stack: &dyn InMemory,
        primitive: Primitive,
        material: &Material,
    ) -> Result<Self, PrepareError> {
        Ok(match primitive {
            Primitive::Sign { key } => {
                let mut signatures = signatures(stack, key, material)?;
                Self::repeated(move || signatures.sign())
            }
            Primitive::Verify { key } => {
                let signatures = signatures(stack, key, material)?;
                Self::repeated(move || signatures.verify())
            }
            Primitive::KeyShare { group } => {
                let mut exchange = exchange(stack, group)?;
                Self::repeated(move || exchange.key_share())
            }
            Primitive::Respond { group } => {
                let mut exchange = exchange(stack, group)?;
                Self::repeated(move || exchange.respond())
            }
            Primitive::Agree { group } => {
                let mut exchange = exchange(stack, group)?;
                Self {
                    operation: Box::new(move |meter, clocks, _| {
                        // The preceding steps are untimed.
                        exchange.key_share()?;
                        exchange.respond()?;
                        ran(meter.first(clocks, || exchange.agree()))
                    }),
                    timed: Timed::Alone,
                }
            }
            Primitive::Seal { aead } => {
                let mut protection = record_protection(stack, aead)?;
                Self::repeated(move || protection.seal())
            }
            Primitive::Open { aead } => {
                let mut protection = record_protection(stack, aead)?;
                Self {
                    operation: Box::new(move |meter, clocks, _| {
                        // The copy is untimed: a record is opened in place, and can be opened only once.
                        protection.receive();
                        ran(meter.first(clocks, || protection.open()))
                    }),
                    timed: Timed::Alone,
                }
            }
        })
    }

    pub(crate) fn slice(&mut self, turn: &mut Turn<'_>) -> Result<(), SessionError> {
        turn.sliced.batch = match self.timed {
            Timed::InBatches => turn.slice.batch.clamp(1, MOST_IN_BATCH),
            Timed::Alone => 1,
        };
        while turn.goes_on() {
            let mut meter = Meter::default();
            (self.operation)(&mut meter, turn.slice.clocks, turn.sliced.batch)?;
            turn.record([(Measure::Whole, meter.ns())]);
        }
        Ok(())
    }
}

/// A chain with a verifier that has accepted it.
pub(crate) struct VerifiedChain {
    verifier: Box<dyn Verifier>,
    chain: Vec<Vec<u8>>,
}

impl VerifiedChain {
    /// Verifies the material's chain for the first time.
    pub(crate) fn new(stack: &dyn InMemory, material: &Material) -> Result<Self, PrepareError> {
        let verifier = stack.verifier(&material.roots_pem, &material.host)?;
        let chain = certificates(&material.chain_pem)?;
        verifier.verify(&chain)?;
        Ok(Self { verifier, chain })
    }

    /// Verifies the chain again.
    pub(crate) fn verify(&self) -> Result<(), SessionError> {
        self.verifier.verify(&self.chain)
    }
}

/// Returns a key that has signed. Its signature verifies, and a signature with a changed bit does not.
fn signatures(
    stack: &dyn InMemory,
    key: KeyType,
    material: &Material,
) -> Result<Box<dyn Signatures>, PrepareError> {
    let mut made = stack.signatures(key, material)?;
    made.sign()?;
    made.verify()?;
    if let Some(byte) = made.signature().last_mut() {
        *byte ^= 1;
    }
    if made.verify().is_ok() {
        return Err(wrong("a wrong signature is accepted"));
    }
    made.sign()?;
    Ok(made)
}

/// Returns a key exchange that gives both sides the same secret. Its client has generated another key share since.
fn exchange(stack: &dyn InMemory, group: Group) -> Result<Box<dyn KeyExchange>, PrepareError> {
    let mut made = stack.key_exchange(group)?;
    made.key_share()?;
    made.respond()?;
    made.agree()?;
    let agreed = made
        .secrets()
        .is_some_and(|[client, server]| !client.is_empty() && client == server);
    if !agreed {
        return Err(wrong("the sides have different secrets"));
    }
    made.key_share()?;
    Ok(made)
}

/// Returns a record protection. Its record opens to the data, and a record with a changed bit does not open.
fn record_protection(
    stack: &dyn InMemory,
    aead: Aead,
) -> Result<Box<dyn RecordProtection>, PrepareError> {
    let mut made = stack.record_protection(aead)?;
    made.seal()?;
    made.receive();
    made.open()?;
    if made.data() != RECORD_DATA {
        return Err(wrong("a record opens to other data than it was made of"));
    }
    if made.record().len() < RECORD_DATA.len() || made.record().starts_with(&RECORD_DATA[..64]) {
        return Err(wrong("a record is not encrypted"));
    }
    if let Some(byte) = made.record().last_mut() {
        *byte ^= 1;
    }
    made.receive();
    if made.open().is_ok() {
        return Err(wrong("a changed record is accepted"));
    }
    made.seal()?;
    Ok(made)
}

fn wrong(why: &str) -> PrepareError {
    SessionError::new(FailureWord::Primitive, why).into()
}

enum Roots {
    Pem(String),
    Der(Vec<Vec<u8>>),
    File(String),
}

impl Roots {
    fn borrowed(&self) -> TrustRoots<'_> {
        match self {
            Self::Pem(text) => TrustRoots::Pem(text),
            Self::Der(all) => TrustRoots::Der(all),
            Self::File(path) => TrustRoots::File(path),
        }
    }
}

fn certificates(text: &str) -> Result<Vec<Vec<u8>>, SetupError> {
    let found = chain_of_pem("PEM", text)?;
    if found.is_empty() {
        return Err(SetupError::Refused("no certificate in the PEM".to_owned()));
    }
    Ok(found.iter().map(|der| der.to_vec()).collect())
}

#[cfg(test)]
mod tests;
