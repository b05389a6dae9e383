//! Comparison of predictions with real handshakes of the workers.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use netbench_interop::{LossReport, confirmation, is_up_to_the_verifier};
use netbench_link::Namespace;
use netbench_model::{
    ClientSettings, Condition, Failure, FailureClass, Phase, Role, Site, StackName, Transfer,
    scan::{Agreement, Confirmation, HandshakeResult, PacketsSeen},
};
use netbench_protocol::{ClientIdentity, Configure, RequestBody, ResponseBody};
use netbench_scan::Witness;
use parking_lot::Mutex;

use crate::{
    Targets, Worker, Workers,
    requests::{GRACE, connect_request},
};

/// Number of connections to a site whose packets are lost, or late.
const CONNECTIONS: u32 = 10;

/// The shortest round-trip time at which a round trip beyond the predicted ones is evidence. Over a shorter path,
/// the computation of a client or server can last longer than the path, and packets that cross look like responses.
const SHORTEST_RTT: Duration = Duration::from_millis(10);

/// The pauses before a handshake is repeated with a server that hung up. Periods of connection limits are usually
/// over 10 s.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(11)];

/// The destination of handshakes, and the clients that make them.
pub struct Clients<'a> {
    /// The stacks' workers.
    pub workers: &'a Workers,
    /// The sites.
    pub targets: &'a Targets,
    /// The namespaces of the workers.
    pub place: Option<&'a Namespace>,
    /// The settings of the clients.
    pub client: &'a ClientSettings,
    /// The trust roots, as PEM.
    pub roots_pem: &'a str,
    /// The certificate that clients show to a server that requests one.
    pub identity: Option<&'a ClientIdentity>,
    /// The time limit of an answer. A handshake with its response has twice as long.
    pub answer_limit: Duration,
    /// A flag that stops further handshakes when it becomes true.
    pub stop: &'a AtomicBool,
}

/// The maximum numbers of sites that are tested.
#[derive(Debug, Clone, Copy)]
pub struct Most {
    /// Maximum number of sites that a stack loses, and of sites that all reach and whose certificate may sign
    /// others.
    pub lost: usize,
    /// Maximum number of sites that all reach.
    pub reached: usize,
}

/// A site that every stack should reach.
#[derive(Debug, Clone, Copy)]
pub struct Reached {
    /// Its index among the sites.
    pub site: usize,
    /// Whether its certificate may sign others, which some stacks refuse.
    pub signs: bool,
}

/// A site to test.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// Its index among the sites.
    pub site: usize,
    /// The predictions, one for each stack.
    pub agreements: Vec<Agreement>,
    /// A hello that the site answered when it was scanned.
    pub witness: Option<Witness>,
}

/// Tests the chosen sites on every stack.
pub fn confirm(
    clients: &Clients<'_>,
    stacks: &[StackName],
    sites: &[Site],
    chosen: &[Chosen],
) -> Vec<Confirmation> {
    let tests = &Tests {
        clients,
        stacks,
        sites,
        chosen,
        turns: chosen.iter().map(|_| Mutex::default()).collect(),
    };
    let mut found: Vec<Confirmation> = thread::scope(|scope| {
        let running: Vec<_> = (0..stacks.len())
            .map(|number| scope.spawn(move || tests.of_stack(number)))
            .collect();
        let joined = running.into_iter().map(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.flatten().collect()
    });
    found.sort_by(|a, b| a.site.cmp(&b.site));
    found
}

/// The tests of the chosen sites on every stack.
struct Tests<'a> {
    clients: &'a Clients<'a>,
    stacks: &'a [StackName],
    sites: &'a [Site],
    chosen: &'a [Chosen],
    /// A lock for each chosen site: the packets of two simultaneous connections to it could not be separated.
    turns: Vec<Mutex<()>>,
}

impl Tests<'_> {
    /// Tests the chosen sites on the stack of this number.
    fn of_stack(&self, number: usize) -> Vec<Confirmation> {
        let (clients, stack) = (self.clients, &self.stacks[number]);
        let mut worker = None;
        let mut found = Vec::new();
        for (at, chosen) in self.chosen.iter().enumerate() {
            if clients.stop.load(Ordering::Relaxed) {
                break;
            }
            let prediction = chosen.agreements[number].clone();
            let mut seen = self.connect(number, at, &mut worker);
            // A server that hangs up despite a predicted handshake may limit connections.
            for pause in PAUSES {
                let stopped = clients.stop.load(Ordering::Relaxed);
                if stopped || !prediction.agrees() || !hung_up(&seen) {
                    break;
                }
                thread::sleep(pause);
                seen = self.connect(number, at, &mut worker);
            }
            let (i, site) = (chosen.site, &self.sites[chosen.site]);
            if is_cut(&seen) {
                let mut others = self.stacks.iter().zip(&chosen.agreements);
                let other = others.find(|(other, due)| *other != stack && due.agrees());
                let mut its_worker = None;
                seen = proven(
                    seen,
                    || self.connect(number, at, &mut worker),
                    || {
                        let _turn = self.turns[at].lock();
                        let mut witness = chosen.witness.iter();
                        witness.any(|hello| is_answered(clients, i, hello))
                            || other.is_some_and(|(other, _)| {
                                let (seen, _) = handshake(clients, other, i, site, &mut its_worker);
                                matches!(seen, HandshakeResult::Handshake { .. })
                            })
                    },
                );
            }
            let name = site.name();
            found.push(confirmation(&name, stack.as_str(), prediction, seen));
        }
        found
    }

    /// Makes handshakes of a stack with a chosen site until one is undisturbed.
    fn connect(&self, number: usize, at: usize, worker: &mut Option<Worker>) -> HandshakeResult {
        let _turn = self.turns[at].lock();
        let (i, prediction) = (self.chosen[at].site, &self.chosen[at].agreements[number]);
        let (site, stack) = (&self.sites[i], &self.stacks[number]);
        undisturbed(self.clients, (i, site.lab.link.rtt()), prediction, || {
            handshake(self.clients, stack, i, site, worker)
        })
    }
}

/// Returns the indices of the sites to test: lost ones, from each reason in turn, with those on which only a
/// stack's verifier decides, then sites that every stack reaches, beginning with those whose certificate may sign
/// others.
pub fn choose(report: &LossReport, sites: &[Site], reached: &[Reached], most: Most) -> Vec<usize> {
    let mut lost: BTreeSet<&str> = BTreeSet::new();
    let up_to_the_verifier = report
        .sites
        .iter()
        .filter(|site| site.agreements.iter().any(is_up_to_the_verifier))
        .map(|site| site.site.as_str());
    let mut columns: Vec<Box<dyn Iterator<Item = &str>>> = vec![Box::new(up_to_the_verifier)];
    for group in &report.lost {
        columns.push(Box::new(group.sites.keys().map(String::as_str)));
    }
    while lost.len() < most.lost {
        let row: Vec<&str> = columns.iter_mut().filter_map(Iterator::next).collect();
        if row.is_empty() {
            break;
        }
        for site in row {
            if lost.len() < most.lost {
                lost.insert(site);
            }
        }
    }
    let places = sites.iter().enumerate();
    let lost = places.filter(|(_, site)| lost.contains(site.name().as_str()));
    let mut chosen: Vec<usize> = lost.map(|(place, _)| place).collect();
    let mut reached = reached.to_vec();
    reached.sort_by_key(|site| !site.signs);
    // Spread over the list, which is often sorted.
    let step = (reached.len() / most.reached.max(1)).max(1);
    let signing = reached.iter().filter(|site| site.signs).take(most.lost);
    let spread = reached.iter().step_by(step).take(most.reached);
    for Reached { site, .. } in signing.chain(spread) {
        if !chosen.contains(site) {
            chosen.push(*site);
        }
    }
    chosen
}

/// Makes a handshake and returns the result with its packets. The handshake is repeated a few times if a packet was
/// lost, or if there were more round trips than predicted: a machine that is too busy to answer within one adds
/// some, and takes none away.
fn undisturbed(
    clients: &Clients<'_>,
    (site, rtt): (usize, Duration),
    prediction: &Agreement,
    mut handshake: impl FnMut() -> (HandshakeResult, Option<Transfer>),
) -> HandshakeResult {
    let Some(link) = clients.targets.link() else {
        return handshake().0;
    };
    let mut left = CONNECTIONS;
    loop {
        left -= 1;
        let ((mut seen, transfer), trace) = link.traced(site, &mut handshake);
        let (HandshakeResult::Handshake { packets, .. }, Some(trace), Some(transfer)) =
            (&mut seen, trace, transfer)
        else {
            return seen;
        };
        let first_byte = trace.round_trips(transfer.handshake_bytes_out);
        let predicted = predicted_trips(prediction);
        let disturbed = trace.is_lossy() || first_byte > predicted;
        if disturbed && left > 0 && !clients.stop.load(Ordering::Relaxed) {
            continue;
        }
        if !trace.is_lossy() && is_evidence(first_byte, predicted, rtt) {
            *packets = first_byte.map(|first_byte| PacketsSeen {
                first_byte,
                hello_segments: trace.first_flight_segments(),
            });
        }
        return seen;
    }
}

/// Returns whether the counted round trips can confirm or refute the predicted ones over a path of this round-trip
/// time.
fn is_evidence(counted: Option<u32>, predicted: Option<u32>, rtt: Duration) -> bool {
    counted <= predicted || rtt >= SHORTEST_RTT
}

/// Returns the predicted round trips; the maximum if there is no prediction.
fn predicted_trips(prediction: &Agreement) -> Option<u32> {
    match prediction {
        Agreement::Agrees(agreed) => Some(agreed.round_trips.map_or(u32::MAX, |of| of.first_byte)),
        Agreement::Loses { .. } | Agreement::Unknown { .. } => Some(u32::MAX),
    }
}

/// Makes a handshake, and returns the result with the transferred bytes.
fn handshake(
    clients: &Clients<'_>,
    stack: &StackName,
    index: usize,
    site: &Site,
    worker: &mut Option<Worker>,
) -> (HandshakeResult, Option<Transfer>) {
    let address = match clients.targets.address(index) {
        Ok(address) => address,
        Err(failure) => return (failed(&failure), None),
    };
    let running = match worker.take() {
        Some(running) => Ok(running),
        None => {
            let settings = Configure {
                identity: clients.identity.cloned(),
                ..Configure::new(stack.stack(), clients.client.clone(), clients.roots_pem)
            };
            let launch = clients.workers.launch(clients.place);
            clients.workers.start_configured(&launch, settings)
        }
    };
    let ready = match running {
        Ok(running) => worker.insert(running),
        Err(error) => return (broken(error.to_string()), None),
    };
    let limit = clients.answer_limit * 2;
    // The requested page makes no difference to a handshake.
    let connect = connect_request(site, address, (Condition::Clean, Role::Measured), limit);
    match ready.ask(RequestBody::Connect(Box::new(connect)), limit + GRACE) {
        Ok(ResponseBody::Connected(measured)) => {
            let seen = HandshakeResult::Handshake {
                version: text(measured.client.version).unwrap_or_default(),
                suite: text(measured.client.suite).unwrap_or_default(),
                group: text(measured.client.group),
                signature: text(measured.client.signature),
                packets: None,
            };
            (seen, Some(measured.transfer))
        }
        Ok(ResponseBody::Failed(failure)) => (failed(&failure), None),
        Ok(other) => (broken(format!("answered {other:?}")), None),
        Err(error) => {
            *worker = None;
            (broken(error.to_string()), None)
        }
    }
}

/// Returns the result of a handshake that the worker did not make.
fn broken(reason: String) -> HandshakeResult {
    HandshakeResult::Failed {
        class: "worker".to_owned(),
        reason,
        in_tls: false,
    }
}

/// Returns whether the site still answers the hello of the scan, sent from the place of the stacks.
fn is_answered(clients: &Clients<'_>, site: usize, hello: &Witness) -> bool {
    let Ok(address) = clients.targets.address(site) else {
        return false;
    };
    let place = clients.place.cloned().unwrap_or_default();
    let answered = place.run(|| hello.is_answered(address, clients.answer_limit));
    answered.unwrap_or(false)
}

fn text(value: Option<impl ToString>) -> Option<String> {
    value.map(|value| value.to_string())
}

fn failed(failure: &Failure) -> HandshakeResult {
    let in_tls = match failure.class {
        FailureClass::Alert | FailureClass::Certificate | FailureClass::Protocol => true,
        // Some servers hang up in situations in which others send an alert, and some middleboxes drop what they refuse.
        FailureClass::Closed | FailureClass::Timeout => failure.phase == Some(Phase::Tls),
        _ => false,
    };
    HandshakeResult::Failed {
        class: failure.class.name().to_owned(),
        reason: failure.reason.to_string(),
        in_tls,
    }
}

/// Returns the result of a connection that was cut: a refusal only if the server does it again, and accepts another
/// stack, or answers the scan's hello, before and after that. Otherwise the result is inconclusive: the site may be gone,
/// or limit connections.
fn proven(
    cut: HandshakeResult,
    mut again: impl FnMut() -> HandshakeResult,
    mut takes_another: impl FnMut() -> bool,
) -> HandshakeResult {
    let mut seen = cut;
    if takes_another() {
        seen = again();
        if !is_cut(&seen) || takes_another() {
            return seen;
        }
    }
    if let HandshakeResult::Failed { in_tls, reason, .. } = &mut seen {
        *in_tls = false;
        reason.push_str("; other connections were not answered either");
    }
    seen
}

/// Returns whether the server ended the connection within the handshake without an alert, or did not answer.
fn is_cut(seen: &HandshakeResult) -> bool {
    hung_up(seen) && matches!(seen, HandshakeResult::Failed { in_tls: true, .. })
}

/// Returns whether the server ended the connection without an alert, or did not answer.
fn hung_up(seen: &HandshakeResult) -> bool {
    let words = [FailureClass::Closed.name(), FailureClass::Timeout.name()];
    matches!(seen, HandshakeResult::Failed { class, .. } if words.contains(&class.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut() -> HandshakeResult {
        HandshakeResult::Failed {
            class: FailureClass::Closed.name().to_owned(),
            reason: "reset".to_owned(),
            in_tls: true,
        }
    }

    /// Returns the result of a cut connection, with these results of another stack's connections.
    fn told(taken: &[bool]) -> HandshakeResult {
        let mut taken = taken.iter().copied();
        proven(cut(), cut, || taken.next().expect("asked so often"))
    }

    #[test]
    fn more_round_trips_than_predicted_are_evidence_over_long_paths_only() {
        let cases = [
            (3, Some(3), 0, true),
            (2, Some(3), 0, true),
            (4, Some(3), 0, false),
            (5, Some(3), 9, false),
            (4, Some(3), 10, true),
            (4, Some(u32::MAX), 0, true),
        ];
        for (counted, predicted, rtt_ms, expected) in cases {
            let rtt = Duration::from_millis(rtt_ms);
            let case = (counted, predicted, rtt_ms);
            assert_eq!(
                is_evidence(Some(counted), predicted, rtt),
                expected,
                "{case:?}"
            );
        }
    }

    #[test]
    fn a_cut_connection_is_a_refusal_only_between_two_that_are_taken() {
        assert_eq!(told(&[true, true]), cut());
        for taken in [&[false][..], &[true, false]] {
            let seen = told(taken);
            assert!(!is_cut(&seen), "{taken:?}: {seen:?}");
        }
        let alert = HandshakeResult::Failed {
            class: FailureClass::Alert.name().to_owned(),
            reason: "handshake_failure".to_owned(),
            in_tls: true,
        };
        assert_eq!(proven(cut(), || alert.clone(), || true), alert);
    }
}
