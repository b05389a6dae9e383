//! Names of scenarios, in the format of the tables that rustls publishes:
//! `handshake-full_1.3_ECDHE_RSA_AES256-GCM_SHA384`. Values other than the default are appended.

use std::fmt;

use crate::{Group, KeyType, TlsVersion};

use super::{
    Aead, ClientAuth, HeapState, HeldAfter, ParallelWork, Primitive, Scenario, SessionSettings,
    Timing, Work,
};

/// Default size of one write in a name, in bytes.
const USUAL_WRITE: u32 = 16 << 10;

impl Work {
    /// Default amount of data over one session in a name, in bytes.
    pub const USUAL_AMOUNT_BYTES: u64 = 100_000_000;
}

impl Timing {
    /// The part of a name that stands for [`Self::Bench`].
    pub const BENCH_SUFFIX: &str = "_bench-timing";
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = if self.counted { "instructions_" } else { "" };
        let timing = match self.timing {
            Timing::Whole => "",
            Timing::Bench => Timing::BENCH_SUFFIX,
        };
        f.pad(&format!("{counted}{}{timing}", work(&self.work)))
    }
}

fn work(work: &Work) -> String {
    match work {
        Work::Handshake { kind, settings } => format!("handshake-{kind}_{}", session(settings)),
        Work::Bulk {
            settings,
            write_bytes,
            amount_bytes,
            max_fragment_bytes,
            heap,
        } => {
            let mut name = format!("bulk_{}", session(settings));
            if *write_bytes != USUAL_WRITE {
                name += &format!("_write-{}", bytes(u64::from(*write_bytes)));
            }
            if *amount_bytes != Work::USUAL_AMOUNT_BYTES {
                name += &format!("_amount-{}", bytes(*amount_bytes));
            }
            if let Some(most) = max_fragment_bytes {
                name += &format!("_fragment-{most}");
            }
            if *heap != HeapState::Settled {
                name += &format!("_{heap}-heap");
            }
            name
        }
        Work::Verify {
            key,
            chain_length,
            roots,
        } => format!("verify_{key}_chain-{chain_length}_roots-{roots}"),
        Work::Connector { form, roots } => match roots {
            Some(roots) => format!("connector_{form}_roots-{roots}"),
            None => format!("connector_{form}"),
        },
        Work::Crypto { primitive } => match primitive {
            Primitive::Sign { key } => format!("crypto_{key}_sign"),
            Primitive::Verify { key } => format!("crypto_{key}_verify"),
            Primitive::KeyShare { group } => format!("crypto_{}_key-share", group_name(*group)),
            Primitive::Respond { group } => format!("crypto_{}_respond", group_name(*group)),
            Primitive::Agree { group } => format!("crypto_{}_agree", group_name(*group)),
            Primitive::Seal { aead } => format!("crypto_{}_seal", algorithm(*aead)),
            Primitive::Open { aead } => format!("crypto_{}_open", algorithm(*aead)),
        },
        Work::Memory {
            settings,
            sessions,
            after,
        } => {
            let mut name = format!("memory-{sessions}_{}", session(settings));
            if *after != HeldAfter::Handshake {
                name += &format!("_after-{after}");
            }
            name
        }
        Work::Threads {
            threads,
            work,
            settings,
        } => {
            let what = match work {
                ParallelWork::Handshake(kind) => format!("handshake-{kind}"),
                ParallelWork::Bulk => "bulk".to_owned(),
            };
            format!("threads-{threads}_{what}_{}", session(settings))
        }
        Work::ParallelVerify {
            threads,
            key,
            chain_length,
            roots,
        } => format!("threads-{threads}_verify_{key}_chain-{chain_length}_roots-{roots}"),
    }
}

fn session(settings: &SessionSettings) -> String {
    let usual = SessionSettings::usual(settings.version, settings.key, settings.aead);
    let mut name = format!(
        "{}_ECDHE_{}_{}",
        settings.version,
        settings.key.algorithm(),
        settings.aead
    );
    if !settings.key.is_usual() {
        name += &format!("_{}", settings.key);
    }
    if settings.group != usual.group {
        name += &format!("_{}", group_name(settings.group));
    }
    if settings.chain_length != usual.chain_length {
        name += &format!("_chain-{}", settings.chain_length);
    }
    if settings.client_auth == ClientAuth::On {
        name += "_client-auth";
    }
    name
}

/// Returns the name of the algorithm without the hash of the key schedule, which protects no record.
fn algorithm(aead: Aead) -> &'static str {
    match aead {
        Aead::Aes128Gcm => "aes128-gcm",
        Aead::Aes256Gcm => "aes256-gcm",
        Aead::ChaCha20Poly1305 => "chacha20-poly1305",
    }
}

fn group_name(group: Group) -> String {
    group.to_string().to_ascii_lowercase()
}

fn bytes(bytes: u64) -> String {
    match bytes {
        b if b % (1 << 20) == 0 => format!("{}MiB", b >> 20),
        b if b % 1_000_000 == 0 => format!("{}MB", b / 1_000_000),
        b if b % (1 << 10) == 0 => format!("{}KiB", b >> 10),
        b => format!("{b}B"),
    }
}

impl SessionSettings {
    /// Returns every combination that the standards define.
    pub fn all() -> impl Iterator<Item = Self> {
        TlsVersion::OFFERED
            .iter()
            .flat_map(|version| {
                Aead::ALL.iter().flat_map(move |aead| {
                    KeyType::ALL.iter().flat_map(move |key| {
                        Group::OFFERED.iter().flat_map(move |group| {
                            (1..=4).flat_map(move |chain_length| {
                                ClientAuth::ALL.iter().map(move |client_auth| Self {
                                    version: *version,
                                    aead: *aead,
                                    key: *key,
                                    group: *group,
                                    chain_length,
                                    client_auth: *client_auth,
                                })
                            })
                        })
                    })
                })
            })
            .filter(Self::is_defined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HandshakeKind, RootsForm};

    #[test]
    fn a_part_of_the_work_is_in_the_name() {
        let settings = SessionSettings::usual(TlsVersion::Tls13, KeyType::Rsa2048, Aead::Aes256Gcm);
        let kind = HandshakeKind::Ticket;
        let form = RootsForm::Native;
        for (work, whole, part) in [
            (
                Work::Handshake { kind, settings },
                "handshake-ticket_1.3_ECDHE_RSA_AES256-GCM_SHA384",
                "handshake-ticket_1.3_ECDHE_RSA_AES256-GCM_SHA384_bench-timing",
            ),
            (
                Work::Connector { form, roots: None },
                "connector_native",
                "connector_native",
            ),
        ] {
            let scenario = Scenario::timed(work);
            assert_eq!(scenario.to_string(), whole);
            let bench = scenario.with_timing(Timing::Bench);
            assert_eq!(bench.to_string(), part);
            assert_eq!(bench.with_timing(Timing::Whole), scenario);
        }
    }
}
