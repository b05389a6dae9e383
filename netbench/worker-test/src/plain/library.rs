//! The cases of a plain program, for libraries with all of them.

use std::{env, path::Path, process::Command, time::Instant};

use netbench_model::{
    Aead, HandshakeKind, HeapState, HeldAfter, KeyType, Measure, Primitive, Scenario,
    SessionSettings, TlsVersion, Work,
};

use super::{Harness, compare};

/// Asks a plain program for the memory of sessions of a version that are held in a state, instead of its comparisons.
const HOLD: &str = "NETBENCH_PLAIN_HOLD";

/// The size of a write of application data, in bytes.
const WRITE_BYTES: u32 = 1 << 20;

/// A library that a plain program calls directly.
pub trait Library {
    /// Number of held sessions.
    const SESSIONS: u32;

    /// Returns an operation that makes a handshake, and returns the times of client and server in nanoseconds and whether
    /// the session was resumed. With tickets, the first handshake is full.
    fn handshake(
        settings: &SessionSettings,
        kind: HandshakeKind,
    ) -> impl FnMut() -> ([u64; 2], bool);

    /// Returns an operation that sends this number of bytes to the other side at once, and returns the times of sender and
    /// receiver in nanoseconds.
    fn burst(settings: &SessionSettings, bytes: usize) -> impl FnMut() -> [u64; 2];

    /// Returns an operation that verifies a chain of two, from DER to the verdict.
    fn verification(key: KeyType) -> impl FnMut();

    /// Returns the signatures of a key.
    fn signing(key: KeyType) -> impl Signing;

    /// Returns the bytes that a session in this state adds to the resident size of this process.
    fn held(version: TlsVersion, after: HeldAfter) -> f64;
}

/// A key with its certificate, and the last signature.
pub trait Signing {
    /// Signs as many bytes as in a handshake with SHA-256.
    fn sign(&mut self);

    /// Verifies the last signature.
    fn verify(&self);
}

/// Runs a plain program: compares it with the suite of `worker`, or prints the memory of held sessions if it is asked for
/// that.
///
/// # Panics
/// A process does not execute a request.
pub fn run<L: Library>(worker: &Path, stack: &str) {
    match env::var(HOLD) {
        Ok(asked) => {
            let (version, after) = asked.split_once(' ').expect("a version and a state");
            let version = version.parse().expect("a version");
            println!("{}", L::held(version, after.parse().expect("a state")));
        }
        Err(_) => compare(worker, stack, timings::<L>, memory::<L>),
    }
}

fn timings<L: Library>(harness: &Harness<'_>) {
    for (version, key, kind) in [
        (TlsVersion::Tls12, KeyType::Rsa2048, HandshakeKind::Full),
        (TlsVersion::Tls13, KeyType::Rsa2048, HandshakeKind::Full),
        (TlsVersion::Tls12, KeyType::Rsa2048, HandshakeKind::Ticket),
        (TlsVersion::Tls13, KeyType::Rsa2048, HandshakeKind::Ticket),
        (TlsVersion::Tls13, KeyType::MlDsa44, HandshakeKind::Full),
        (TlsVersion::Tls13, KeyType::MlDsa65, HandshakeKind::Full),
        (TlsVersion::Tls13, KeyType::MlDsa87, HandshakeKind::Full),
    ] {
        let settings = SessionSettings::usual(version, key, Aead::Aes256Gcm);
        let scenario = Scenario::timed(Work::Handshake { kind, settings });
        let mut handshake = L::handshake(&settings, kind);
        // The first handshake is full; it leaves the tickets by which the others resume.
        handshake();
        harness.take_turns(&scenario, [Measure::Client, Measure::Server], || {
            let (times_ns, resumed) = handshake();
            assert_eq!(resumed, kind != HandshakeKind::Full);
            times_ns
        });
    }
    let settings = SessionSettings::usual(TlsVersion::Tls13, KeyType::Rsa2048, Aead::Aes256Gcm);
    let scenario = Scenario::timed(Work::Bulk {
        settings,
        write_bytes: WRITE_BYTES,
        amount_bytes: 1_000_000_000,
        max_fragment_bytes: None,
        heap: HeapState::Settled,
    });
    let burst = L::burst(&settings, WRITE_BYTES as usize);
    harness.take_turns(&scenario, [Measure::Send, Measure::Receive], burst);
    for key in [
        KeyType::Rsa2048,
        KeyType::MlDsa44,
        KeyType::MlDsa65,
        KeyType::MlDsa87,
    ] {
        let scenario = Scenario::timed(Work::Verify {
            key,
            chain_length: 2,
            roots: 1,
        });
        let mut verify = L::verification(key);
        harness.take_turns(&scenario, [Measure::Whole], || [ns_of(&mut verify)]);
    }
    for key in [KeyType::MlDsa44, KeyType::MlDsa65, KeyType::MlDsa87] {
        let mut signing = L::signing(key);
        let scenario = |primitive| Scenario::timed(Work::Crypto { primitive });
        let sign = scenario(Primitive::Sign { key });
        harness.take_turns(&sign, [Measure::Whole], || [ns_of(|| signing.sign())]);
        signing.sign();
        let verify = scenario(Primitive::Verify { key });
        harness.take_turns(&verify, [Measure::Whole], || [ns_of(|| signing.verify())]);
    }
}

fn memory<L: Library>(harness: &Harness<'_>) {
    for (version, after) in [
        (TlsVersion::Tls12, HeldAfter::Handshake),
        (TlsVersion::Tls12, HeldAfter::Data),
        (TlsVersion::Tls13, HeldAfter::Handshake),
        (TlsVersion::Tls13, HeldAfter::Tickets),
        (TlsVersion::Tls13, HeldAfter::Data),
    ] {
        harness.compare_memory(version, L::SESSIONS, after, || {
            held_by_another(version, after)
        });
    }
}

/// Returns the figure of another process of this program.
fn held_by_another(version: TlsVersion, after: HeldAfter) -> f64 {
    let this = env::current_exe().expect("this program");
    let asked = format!("{version} {after}");
    let output = Command::new(this).env(HOLD, asked).output();
    let text = String::from_utf8(output.expect("a process").stdout).expect("text");
    text.trim().parse().expect("a number")
}

/// Returns the time of an operation.
fn ns_of(operation: impl FnOnce()) -> u64 {
    let begun = Instant::now();
    operation();
    u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
