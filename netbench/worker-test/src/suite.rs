mod scenarios;
mod wrong;

use std::time::{Duration, Instant};

use netbench_model::{
    Group, HandshakeKind, Held, HeldAfter, KeyType, Measure, ParallelWork, RootsForm, Scenario,
    SessionSettings, SignatureScheme, Timing, TlsVersion, Work,
};
use netbench_protocol::{
    Clocks, Hold, Material, Operation, Prepare, Prepared, RequestBody, ResponseBody, Slice,
    SliceLimit, Sliced, StackDescription,
};
use netbench_runner::{
    Materials, Worker, WorkerError, WorkerProgram, prove_held, prove_prepared, prove_slice,
};

use crate::{
    bench,
    findings::{Findings, Lack, error_of},
    talk::ANSWER_LIMIT,
};

/// Time limit of all scenarios, so that a worker that hangs at every scenario does not delay a test run.
const LIMIT: Duration = Duration::from_secs(180);

/// Number of operations of each turn with the wall clock: over two turns, the sessions of bulk are renewed.
const OPERATIONS: u32 = 2;

/// Number of operations in every batch.
const BATCH: u32 = 4;

/// Maximum memory of one session, in bytes: OpenSSL's sessions need less than a tenth of it.
const MOST_PER_SESSION: u64 = 1 << 20;

/// Minimum memory of one of many sessions, in bytes: its keys and secrets have this size.
const LEAST_PER_SESSION: u64 = 500;

/// Runs every scenario and sends impossible requests, and returns the findings.
pub(crate) fn run(program: &WorkerProgram, stack: &str, lacks: Lacks) -> Result<Findings, String> {
    let mut bench = Bench::new(program, stack, lacks)?;
    let mut wrong = wrong::before_prepare(&mut bench);
    wrong.extend(wrong::settings(&mut bench)?);
    let deadline = Instant::now() + LIMIT;
    let scenarios = scenarios::all();
    let materials = Materials::of(&scenarios).map_err(|e| e.to_string())?;
    for scenario in &scenarios {
        if Instant::now() > deadline {
            wrong.push(format!("stopped after {LIMIT:?}"));
            break;
        }
        let ran = bench.runs(scenario, materials.material(scenario));
        wrong.extend(error_of(scenario, ran));
    }
    wrong.extend(error_of("hold", holds(program, stack)));
    Ok(Findings {
        wrong,
        lacks: bench.found,
    })
}

/// A predicate for the scenarios that a stack must refuse.
pub(crate) type Lacks = fn(&Scenario) -> bool;

/// A worker that executes one scenario after another.
struct Bench {
    worker: Worker,
    can: StackDescription,
    lacks: Lacks,
    /// The scenarios that the stack refused without a permitted reason.
    found: Vec<Lack>,
}

impl Bench {
    fn new(program: &WorkerProgram, stack: &str, lacks: Lacks) -> Result<Self, String> {
        let mut worker = bench::start(program)?;
        let can = bench::describe(&mut worker, stack)?;
        if !can.does(Operation::Suite) {
            return Err("it does not report that it supports the suite".to_owned());
        }
        Ok(Self {
            worker,
            can,
            lacks,
            found: Vec::new(),
        })
    }

    fn ask(&mut self, body: RequestBody) -> Result<ResponseBody, WorkerError> {
        self.worker.ask(body, ANSWER_LIMIT)
    }

    fn prepare(
        &mut self,
        scenario: &Scenario,
        material: Material,
    ) -> Result<ResponseBody, WorkerError> {
        self.ask(RequestBody::Prepare(Box::new(Prepare {
            stack: self.can.record.stack.clone(),
            scenario: *scenario,
            material,
        })))
    }

    /// Prepares a scenario with the material that the runner would send. Returns the reason if it is unsupported.
    fn begin(&mut self, scenario: &Scenario) -> Result<Option<String>, String> {
        match self.prepare(scenario, material(scenario)?) {
            Ok(ResponseBody::Prepared(prepared)) => agreed(scenario, &prepared).map(|()| None),
            Ok(ResponseBody::Unsupported { reason }) => Ok(Some(reason)),
            other => Err(format!("{other:?}")),
        }
    }

    /// Prepares a scenario as [`Self::begin`] does, which must be supported.
    fn must_begin(&mut self, scenario: &Scenario) -> Result<(), String> {
        match self.begin(scenario)? {
            None => Ok(()),
            Some(reason) => Err(format!("it is unsupported: {reason}")),
        }
    }

    fn hold(&mut self, sessions: u32) -> Result<Held, String> {
        match self.ask(RequestBody::Hold(Hold { sessions })) {
            Ok(ResponseBody::Held(held)) => Ok(*held),
            other => Err(format!("{other:?}")),
        }
    }

    fn slice(&mut self, limit: SliceLimit, clocks: Clocks, batch: u32) -> Result<Sliced, String> {
        let slice = Slice {
            limit,
            clocks,
            batch,
        };
        match self.ask(RequestBody::Slice(slice)) {
            Ok(ResponseBody::Sliced(sliced)) => Ok(*sliced),
            Ok(other) => Err(format!("{other:?}")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Returns the default settings of a version, with a chain of one certificate if the stack sends no other, or
    /// `None` if the stack does not support the version.
    fn plain(&mut self, version: TlsVersion) -> Result<Option<SessionSettings>, String> {
        let usual = scenarios::usual(version, KeyType::EcdsaP256);
        for chain_length in [usual.chain_length, 1] {
            let settings = SessionSettings {
                chain_length,
                ..usual
            };
            let scenario = handshake(settings);
            match self.prepare(&scenario, material(&scenario)?) {
                Ok(ResponseBody::Unsupported { .. }) => {}
                _ => return Ok(Some(settings)),
            }
        }
        Ok(None)
    }

    fn runs(&mut self, scenario: &Scenario, material: Material) -> Result<(), String> {
        let has_native = material.native_path.is_some();
        match self.prepare(scenario, material) {
            Ok(ResponseBody::Prepared(_)) if (self.lacks)(scenario) => {
                return Err("it was to be unsupported".to_owned());
            }
            Ok(ResponseBody::Prepared(prepared)) => {
                agreed(scenario, &prepared)?;
                if prepared.timing != scenario.timing {
                    return self.may_lack(scenario, has_native, "the worker omits the timing");
                }
            }
            Ok(ResponseBody::Unsupported { reason }) => {
                return self.may_lack(scenario, has_native, &reason);
            }
            Ok(other) => return Err(format!("{other:?}")),
            Err(error) => return Err(error.to_string()),
        }
        for (operations, clocks, batch) in [
            (OPERATIONS, Clocks::Wall, 1),
            (1, Clocks::Cpu, 1),
            (OPERATIONS, Clocks::Wall, BATCH),
        ] {
            let sliced = self.slice(SliceLimit::Operations(operations), clocks, batch)?;
            if ![1, batch].contains(&sliced.batch) {
                return Err(format!("batches of {batch} were due: {sliced:?}"));
            }
            counted(scenario, operations, &sliced).map_err(|why| format!("{clocks:?}: {why}"))?;
        }
        // Even the shortest turn has an operation.
        let limit = SliceLimit::Microseconds(0);
        let sliced = self.slice(limit, Clocks::Wall, 1)?;
        let asked = Slice {
            limit,
            clocks: Clocks::Wall,
            batch: 1,
        };
        prove_slice(scenario, &asked, &sliced).map_err(|failure| failure.detail)
    }

    /// Checks a refusal. A stack may refuse the scenarios that it must refuse, the hybrid group and keys that it does
    /// not list, the native roots of a system without any, cryptography below sessions, and timings other than the usual
    /// one. Other refusals are recorded as findings.
    fn may_lack(
        &mut self,
        scenario: &Scenario,
        has_native: bool,
        reason: &str,
    ) -> Result<(), String> {
        let other = match (scenario.work, scenario.settings()) {
            _ if scenario.timing != Timing::Whole => true,
            (Work::Connector { form, .. }, _) => form == RootsForm::Native && !has_native,
            (Work::Crypto { .. }, _) => true,
            (Work::Verify { key, .. } | Work::ParallelVerify { key, .. }, _) => {
                self.lacks_schemes(key.schemes())
            }
            (_, Some(settings)) => {
                let hybrid = Group::X25519MLKEM768;
                (settings.group == hybrid && !self.can.groups.contains(&hybrid))
                    || self.lacks_schemes(settings.signatures())
            }
            _ => false,
        };
        if reason.is_empty() {
            return Err("it is unsupported without a reason".to_owned());
        }
        if other || (self.lacks)(scenario) {
            let stack = &self.can.record.stack;
            eprintln!("{stack}: {scenario} is unsupported: {reason}");
        } else {
            self.found.push(Lack {
                case: scenario.to_string(),
                reason: reason.to_owned(),
            });
        }
        Ok(())
    }

    /// Returns whether the stack does not list one of the schemes.
    fn lacks_schemes(&self, schemes: &[SignatureScheme]) -> bool {
        schemes
            .iter()
            .any(|scheme| !self.can.signatures.contains(scheme))
    }
}

/// Holds sessions in fresh processes, as the runner does, because a process that has worked before has free memory from
/// earlier sessions.
fn holds(program: &WorkerProgram, stack: &str) -> Result<(), String> {
    for version in TlsVersion::OFFERED {
        let mut bench = Bench::new(program, stack, |_| false)?;
        let Some(settings) = bench.plain(*version)? else {
            continue;
        };
        if bench.can.does(Operation::HeldAfter) {
            holds_after(program, stack, settings)?;
        }
        let scenario = Scenario::timed(Work::Memory {
            settings,
            sessions: 20,
            after: HeldAfter::Handshake,
        });
        // Sessions come in pairs: an odd number is rounded down.
        for (asked, due) in [(20, 20), (200, 200), (21, 20), (0, 0)] {
            let held = held(program, stack, &scenario, asked)?;
            let plausible = held.sessions == due
                && held.before_bytes > 0
                && held.peak_bytes >= held.before_bytes.max(held.after_bytes)
                && grown(&held) <= u64::from(due.max(20)) * MOST_PER_SESSION
                // Allocations are not counted here.
                && held.heap.is_none();
            if !plausible {
                return Err(format!("{asked} sessions of {version}: {held:?}"));
            }
            // An allocator may already have memory for few sessions.
            if due == 200 && !tells(&held) {
                let many = self::held(program, stack, &scenario, 1000)?;
                if !tells(&many) {
                    return Err(format!("1000 sessions of {version}: {many:?}"));
                }
            }
        }
    }
    Ok(())
}

/// Holds sessions after tickets and after data. A server may have no ticket for a client that keeps no session.
fn holds_after(
    program: &WorkerProgram,
    stack: &str,
    settings: SessionSettings,
) -> Result<(), String> {
    for after in [HeldAfter::Tickets, HeldAfter::Data, HeldAfter::Idle] {
        if after == HeldAfter::Tickets && !after.has_tickets(settings.version) {
            continue;
        }
        let sessions = 20;
        let scenario = Scenario::timed(Work::Memory {
            settings,
            sessions,
            after,
        });
        let mut bench = Bench::new(program, stack, |_| false)?;
        let wrong = |error| format!("{scenario}: {error}");
        if let Some(reason) = bench.begin(&scenario).map_err(wrong)? {
            eprintln!("{stack}: {scenario} is unsupported: {reason}");
            continue;
        }
        let held = bench.hold(sessions).map_err(wrong)?;
        prove_held(&scenario, sessions, &held).map_err(|failure| wrong(failure.detail))?;
    }
    Ok(())
}

/// Returns the answer of a fresh process that holds the same number of sessions.
fn held(
    program: &WorkerProgram,
    stack: &str,
    scenario: &Scenario,
    sessions: u32,
) -> Result<Held, String> {
    let mut bench = Bench::new(program, stack, |_| false)?;
    bench.must_begin(scenario)?;
    bench.hold(sessions)
}

fn grown(held: &Held) -> u64 {
    held.after_bytes.saturating_sub(held.before_bytes)
}

/// Returns whether the resident size has grown by at least the minimum for the number of sessions.
fn tells(held: &Held) -> bool {
    grown(held) >= u64::from(held.sessions) * LEAST_PER_SESSION
}

/// Checks the properties that the runner verifies, and that a group is reported for every key exchange.
fn agreed(scenario: &Scenario, prepared: &Prepared) -> Result<(), String> {
    prove_prepared(scenario, prepared).map_err(|failure| failure.detail)?;
    let Some(settings) = scenario.settings() else {
        let none = prepared.client.is_none() && prepared.server.is_none();
        return if none {
            Ok(())
        } else {
            Err(format!("sessions where there are none: {prepared:?}"))
        };
    };
    for side in [&prepared.client, &prepared.server].into_iter().flatten() {
        let exchanges = !side.resumed || settings.version == TlsVersion::Tls13;
        if exchanges && side.group != Some(settings.group) {
            return Err(format!("no group, or another: {prepared:?}"));
        }
    }
    Ok(())
}

/// Checks the properties that the runner verifies, and the number of each kind of result.
fn counted(scenario: &Scenario, operations: u32, sliced: &Sliced) -> Result<(), String> {
    let asked = Slice {
        limit: SliceLimit::Operations(operations),
        clocks: Clocks::Wall,
        batch: sliced.batch,
    };
    prove_slice(scenario, &asked, sliced).map_err(|failure| failure.detail)?;
    let threads = scenario.threads();
    let done = operations * u32::from(threads.unwrap_or(1));
    let handshakes = match scenario.work {
        Work::Handshake { .. }
        | Work::Threads {
            work: ParallelWork::Handshake(_),
            ..
        } => done,
        _ => 0,
    };
    let measures: Vec<Measure> = sliced.timings_ns.keys().copied().collect();
    let are_due = [scenario.latencies(), &[]].iter().any(|latencies| {
        let mut due = [scenario.measures(), latencies].concat();
        due.sort_unstable();
        due == measures
    });
    let are_counted = sliced.timings_ns.iter().all(|(measure, ns)| {
        // A worker may time its threads only together: by one figure, of the throughput of all.
        let timings = match threads {
            Some(_) if *measure == Measure::Both => 1,
            _ => done as usize,
        };
        ns.len() == timings && ns.iter().all(|ns| *ns > 0)
    });
    if are_due && are_counted && sliced.operations == done && sliced.handshakes == handshakes {
        Ok(())
    } else {
        Err(format!("{operations} operations were due: {sliced:?}"))
    }
}

/// Returns the material that the runner would send for the scenario.
fn material(scenario: &Scenario) -> Result<Material, String> {
    let materials = Materials::of(std::slice::from_ref(scenario)).map_err(|e| e.to_string())?;
    Ok(materials.material(scenario))
}

/// Returns the scenario of a full handshake with these settings.
fn handshake(settings: SessionSettings) -> Scenario {
    Scenario::timed(Work::Handshake {
        kind: HandshakeKind::Full,
        settings,
    })
}
