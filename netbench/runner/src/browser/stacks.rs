//! Stacks that visit the same sites as browsers, through hyper.

use std::{collections::HashMap, net::SocketAddr, time::Duration};

use netbench_model::{
    Condition, Measured, Outcome, Role, Target,
    browser::{Visit, VisitOutcome, VisitTimes},
};
use netbench_protocol::{Configure, Connect, HttpRequest, Operation};

use super::Visits;
use crate::{
    Unit, Worker, WorkerError,
    proof::Expected,
    requests::{connect, connect_request},
};

/// The workers of the plan's stacks, restarted for each round.
pub(super) struct Stacks<'a> {
    visits: &'a Visits<'a>,
    round: u32,
    workers: HashMap<usize, Worker>,
}

impl<'a> Stacks<'a> {
    pub(super) fn new(visits: &'a Visits<'a>) -> Self {
        Self {
            visits,
            round: 0,
            workers: HashMap::new(),
        }
    }

    /// Makes the stack at this index of the clients connect, after `begin`. Returns `None` if the run was stopped.
    pub(super) fn connect(
        &mut self,
        unit: &Unit,
        client: usize,
        address: SocketAddr,
        begin: impl Fn(),
    ) -> Option<VisitOutcome> {
        if unit.round != self.round {
            self.workers.clear();
            self.round = unit.round;
        }
        let connected = self.connected(unit, client, address, begin);
        match connected {
            Ok(outcome) => Some(outcome),
            Err(WorkerError::Stopped) => None,
            Err(error) => Some(VisitOutcome::Failed(error.failure())),
        }
    }

    fn connected(
        &mut self,
        unit: &Unit,
        client: usize,
        address: SocketAddr,
        begin: impl Fn(),
    ) -> Result<VisitOutcome, WorkerError> {
        let mut worker = match self.workers.remove(&client) {
            Some(worker) => worker,
            None => {
                let mut worker = self.start(client)?;
                // The first connection pays for the library's set-up.
                let warmup = (Condition::Clean, Role::Warmup);
                self.ask(&mut worker, unit, client, warmup, address)?;
                worker
            }
        };
        begin();
        if unit.condition == Condition::Resumed {
            let prime = (unit.condition, Role::Prime);
            self.ask(&mut worker, unit, client, prime, address)?;
        }
        let measured = (unit.condition, Role::Measured);
        let outcome = self.ask(&mut worker, unit, client, measured, address)?;
        self.workers.insert(client, worker);
        Ok(outcome)
    }

    fn start(&self, client: usize) -> Result<Worker, WorkerError> {
        let visits = self.visits;
        let stack = visits.plan.clients[client].stack();
        let client = visits.plan.client.clone();
        let client =
            client.ok_or_else(|| WorkerError::Refused(format!("no settings for {stack}")))?;
        let settings = Configure::new(stack, client, visits.roots_pem);
        let place = visits.targets.client_place();
        let launch = visits.workers.launch(place.as_ref());
        visits.workers.start_configured(&launch, settings)
    }

    fn ask(
        &self,
        worker: &mut Worker,
        unit: &Unit,
        client: usize,
        (condition, role): (Condition, Role),
        address: SocketAddr,
    ) -> Result<VisitOutcome, WorkerError> {
        let plan = self.visits.plan;
        let site = &plan.sites[unit.site];
        let limit = Duration::from_millis(plan.limit_ms);
        let request = Connect {
            request: HttpRequest {
                path: site.path.clone(),
                ..HttpRequest::default()
            },
            ..connect_request(site, address, (condition, role), limit)
        };
        let (workers, stack) = (self.visits.workers, plan.clients[client].stack());
        let expected = Expected {
            condition,
            role,
            target: Target::Lab,
            site,
            ech: None,
            times_verification: !workers.does(stack, Operation::VerificationUntimed),
            client_chain_bytes: None,
        };
        Ok(match connect(worker, request, &expected, |_| None)? {
            Outcome::Ok(measured) => VisitOutcome::Ok(Box::new(visit(*measured))),
            Outcome::Failed(failure) => VisitOutcome::Failed(failure),
            Outcome::Unsupported { reason } => VisitOutcome::Unsupported { reason },
            Outcome::Discarded { reason } => VisitOutcome::Discarded { reason },
        })
    }
}

/// Returns a connection as the visit of a page. hyper sends its request when the handshake ends.
fn visit(measured: Measured) -> Visit {
    let phases = measured.phases;
    Visit {
        times: VisitTimes {
            dns_ns: phases.dns_ns,
            tcp_ns: phases.tcp_ns,
            tls_ns: phases.tls_ns,
            wait_ns: 0,
            first_byte_ns: Some(phases.first_byte_ns),
            total_ns: Some(phases.total_ns.saturating_sub(phases.dns_ns)),
        },
        client: measured.client,
        server: measured.server,
        http_status: measured.http_status,
        body_bytes: measured.body_bytes,
        ..Visit::default()
    }
}
