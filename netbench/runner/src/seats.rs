//! The workers of a slot.

use netbench_model::{Failure, FailureClass, FailureWord, Outcome, StackName};
use netbench_protocol::Configure;

use crate::{Event, Launch, Worker, WorkerError, execute::Shared, plan::OwnClient};

/// The workers of a slot: one for each stack and each setting of clients.
pub(crate) struct Seats<'a> {
    shared: &'a Shared<'a>,
    /// The settings of clients.
    clients: Vec<OwnClient>,
    /// The workers, by [`Seats::index`].
    workers: Vec<Option<Worker>>,
    /// The reasons why stacks without a worker have none.
    failures: Vec<Failure>,
}

impl<'a> Seats<'a> {
    pub(crate) fn new(shared: &'a Shared<'a>) -> Self {
        let plan = shared.trials.plan;
        let mut clients = Vec::new();
        for site in 0..plan.sites.len() {
            let own = shared.trials.own_client(site);
            if !clients.contains(&own) {
                clients.push(own);
            }
        }
        let seats = clients.len() * plan.stacks.len();
        let not_started = Failure::new(
            FailureClass::Worker,
            FailureWord::Start,
            "the worker was not started".to_owned(),
        );
        Self {
            shared,
            clients,
            workers: std::iter::repeat_with(|| None).take(seats).collect(),
            failures: vec![not_started; seats],
        }
    }

    /// Returns the index of a stack's worker, with the settings of clients of a site.
    pub(crate) fn index(&self, site: usize, stack: usize) -> usize {
        let own = self.shared.trials.own_client(site);
        let client = self.clients.iter().position(|client| *client == own);
        client.unwrap_or(0) * self.shared.trials.plan.stacks.len() + stack
    }

    pub(crate) fn has_worker(&self, seat: usize) -> bool {
        self.workers[seat].is_some()
    }

    /// Returns the settings of the worker of a seat.
    pub(crate) fn settings(&self, seat: usize) -> Configure {
        let trials = self.shared.trials;
        let (stack, own) = (self.stack_at(seat).stack(), self.client(seat));
        let lab = self.shared.targets.as_lab();
        let required = lab.zip(own.chain);
        let required = required.and_then(|(lab, chain)| lab.client_identity(chain));
        Configure {
            identity: required.or_else(|| trials.identity.clone()),
            ech: own.ech(),
            ..Configure::new(stack, own.settings(&trials.plan.client), trials.roots_pem)
        }
    }

    /// Returns the worker of a seat, or the reason why it has none.
    pub(crate) fn worker(&mut self, seat: usize) -> Result<&mut Worker, &Failure> {
        self.workers[seat].as_mut().ok_or(&self.failures[seat])
    }

    /// Puts a worker in a seat, and returns the previous one.
    pub(crate) fn replace(&mut self, seat: usize, worker: Option<Worker>) -> Option<Worker> {
        std::mem::replace(&mut self.workers[seat], worker)
    }

    /// Ends all workers.
    pub(crate) fn clear(&mut self) {
        self.workers.iter_mut().for_each(|worker| *worker = None);
    }

    /// Fills the seat with a fresh worker, and returns whether that succeeded.
    pub(crate) fn start_anew(&mut self, seat: usize) -> bool {
        self.workers[seat] = None;
        match self.start(seat) {
            Ok(worker) => self.workers[seat] = Some(worker),
            Err(WorkerError::Stopped) => {}
            Err(error) => {
                self.lost(seat, &error);
            }
        }
        self.workers[seat].is_some()
    }

    /// Returns the stack of a seat.
    fn stack_at(&self, seat: usize) -> &'a StackName {
        let stacks = &self.shared.trials.plan.stacks;
        &stacks[seat % stacks.len()]
    }

    /// Gives the worker up: the next unit starts another.
    pub(crate) fn lost(&mut self, seat: usize, error: &WorkerError) -> Outcome {
        self.workers[seat] = None;
        let why = error.to_string();
        let failure = error.failure();
        self.failures[seat] = failure.clone();
        let stack = self.stack_at(seat).clone();
        (self.shared.listener)(Event::WorkerLost { stack, why });
        Outcome::Failed(failure)
    }

    fn start(&self, seat: usize) -> Result<Worker, WorkerError> {
        let place = self.shared.targets.client_place();
        let launch = Launch {
            cpu: self.shared.trials.share(self.client(seat)),
            ..self.shared.workers.launch(place.as_ref())
        };
        self.shared
            .workers
            .start_configured(&launch, self.settings(seat))
    }

    /// Returns the settings of clients of a seat.
    fn client(&self, seat: usize) -> &OwnClient {
        &self.clients[seat / self.shared.trials.plan.stacks.len()]
    }
}
