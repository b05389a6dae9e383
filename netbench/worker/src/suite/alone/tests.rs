//! Incorrect cryptography is detected before it is timed.

use std::any::Any;

use netbench_protocol::{Clocks, Material, Slice, SliceLimit};
use netbench_tls::{Aead, Primitive};

use super::Alone;
use crate::{
    Endpoint, EndpointSetup, InMemory, RECORD_DATA, RecordProtection, SessionError, SetupError,
    TrustRoots, Verifier,
    suite::{PrepareError, reference::Reference, turn::Turn},
};

/// The behaviour of a library with records.
#[derive(Clone, Copy, PartialEq)]
enum Records {
    Right,
    LeavesTheDataReadable,
    OpensWhatWasChanged,
    OpensToOtherData,
}

struct Library(Records);

impl InMemory for Library {
    fn client(&self, _: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        Err(SetupError::unsupported("no sessions"))
    }

    fn server(&self, _: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        Err(SetupError::unsupported("no sessions"))
    }

    fn verifier(&self, _: &str, _: &str) -> Result<Box<dyn Verifier>, SetupError> {
        Err(SetupError::unsupported("no verifier"))
    }

    fn configuration(&self, _: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        Err(SetupError::unsupported("no configuration"))
    }

    fn record_protection(&self, _: Aead) -> Result<Box<dyn RecordProtection>, SetupError> {
        Ok(Box::new(Cipher {
            does: self.0,
            sealed: Vec::new(),
            received: Vec::new(),
        }))
    }
}

/// A cipher that adds a number to each byte, and a checksum at the end.
struct Cipher {
    does: Records,
    sealed: Vec<u8>,
    received: Vec<u8>,
}

impl Cipher {
    fn sum(bytes: &[u8]) -> u8 {
        bytes.iter().fold(0, |sum, byte| sum ^ byte)
    }
}

impl RecordProtection for Cipher {
    fn seal(&mut self) -> Result<(), SessionError> {
        let key = u8::from(self.does != Records::LeavesTheDataReadable);
        self.sealed = RECORD_DATA.iter().map(|byte| byte + key).collect();
        self.sealed.push(Self::sum(&self.sealed));
        Ok(())
    }

    fn receive(&mut self) {
        self.received.clone_from(&self.sealed);
    }

    fn open(&mut self) -> Result<(), SessionError> {
        let sum = self.received.pop();
        let right = sum == Some(Self::sum(&self.received));
        if !right && self.does != Records::OpensWhatWasChanged {
            return Err(SessionError::new(
                netbench_tls::FailureWord::Primitive,
                "the sum is wrong",
            ));
        }
        let key = match self.does {
            Records::LeavesTheDataReadable => 0,
            Records::OpensToOtherData => 2,
            Records::Right | Records::OpensWhatWasChanged => 1,
        };
        for byte in &mut self.received {
            *byte -= key;
        }
        Ok(())
    }

    fn record(&mut self) -> &mut [u8] {
        &mut self.sealed
    }

    fn data(&self) -> &[u8] {
        &self.received
    }
}

#[test]
fn records_are_protected_before_that_is_timed() {
    let aead = Aead::Aes128Gcm;
    let cases = [
        (Records::Right, None),
        (
            Records::LeavesTheDataReadable,
            Some("a record is not encrypted"),
        ),
        (
            Records::OpensWhatWasChanged,
            Some("a changed record is accepted"),
        ),
        (
            Records::OpensToOtherData,
            Some("a record opens to other data than it was made of"),
        ),
    ];
    for (does, expected) in cases {
        for primitive in [Primitive::Seal { aead }, Primitive::Open { aead }] {
            let made = Alone::primitive(&Library(does), primitive, &Material::default());
            let said = match made {
                Ok(_) => None,
                Err(PrepareError::Session(error)) => Some(error.to_string()),
                Err(PrepareError::Setup(error)) => Some(error.to_string()),
            };
            match (&said, expected) {
                (None, None) => {}
                (Some(said), Some(expected)) => assert!(said.contains(expected), "{said}"),
                _ => panic!("{primitive:?}: {said:?}, not {expected:?}"),
            }
        }
    }
}

#[test]
fn only_operations_that_nothing_comes_before_are_timed_together() {
    let aead = Aead::Aes128Gcm;
    for (primitive, batch) in [(Primitive::Seal { aead }, 8), (Primitive::Open { aead }, 1)] {
        let made = Alone::primitive(&Library(Records::Right), primitive, &Material::default());
        let Ok(mut alone) = made else {
            panic!("{primitive:?} is refused");
        };
        let slice = Slice {
            limit: SliceLimit::Operations(5),
            clocks: Clocks::Wall,
            batch: 8,
        };
        let mut reference = Reference::new();
        let mut turn = Turn::new(slice, &mut reference);
        alone.slice(&mut turn).unwrap();
        let sliced = turn.end();
        assert_eq!((sliced.batch, sliced.operations), (batch, 5));
        assert_eq!(sliced.timings_ns[&netbench_tls::Measure::Whole].len(), 5);
    }
}
