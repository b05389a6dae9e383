//! The workers of a slot.

use netbench_model::{Failure, FailureClass, FailureWord, Outcome, StackName};
use netbench_protocol::Configure;

use crate::{Event, Launch, Worker, WorkerError, execute::Shared, plan::OwnClient};

/// The workers of a slot: one for each stack and each setting of clients.
pub(crate) struct Seats<'a> {
    shared: &'a Shared<'a>,
    /// The settings of clients.
    clients: Vec<OwnClient>,
    /// The workers, or the reasons why stacks have none, by [`Seats::index`].
    workers: Vec<Result<Worker, Failure>>,
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
        Self {
            shared,
            clients,
            workers: (0..seats).map(|_| not_started()).collect(),
        }
    }

    /// Returns the index of a stack's worker, with the settings of clients of a site.
    pub(crate) fn index(&self, site: usize, stack: usize) -> usize {
        let own = self.shared.trials.own_client(site);
        let client = self.clients.iter().position(|client| *client == own);
        client.unwrap_or(0) * self.shared.trials.plan.stacks.len() + stack
    }

    pub(crate) fn has_worker(&self, seat: usize) -> bool {
        self.workers[seat].is_ok()
    }

    /// Returns the settings of the worker of a seat.
    pub(crate) fn settings(&self, seat: usize) -> Configure {
        let trials = self.shared.trials;
        let (stack, own) = (self.stack_at(seat).stack(), self.client(seat));
        let required = self.shared.targets.as_lab().zip(own.chain);
        let required = required.and_then(|(targets, chain)| targets.lab().client_identity(chain));
        Configure {
            identity: required.or_else(|| trials.identity.clone()),
            ech: own.ech(),
            ..Configure::new(stack, own.settings(&trials.plan.client), trials.roots_pem)
        }
    }

    /// Returns the worker of a seat, or the reason why it has none.
    pub(crate) fn worker(&mut self, seat: usize) -> Result<&mut Worker, &Failure> {
        self.workers[seat].as_mut().map_err(|failure| &*failure)
    }

    /// Takes the worker from a seat, which then has none.
    pub(crate) fn take(&mut self, seat: usize) -> Result<Worker, Failure> {
        std::mem::replace(&mut self.workers[seat], not_started())
    }

    /// Puts a worker that was taken back.
    pub(crate) fn put(&mut self, seat: usize, worker: Result<Worker, Failure>) {
        self.workers[seat] = worker;
    }

    pub(crate) fn clear(&mut self) {
        self.workers.fill_with(not_started);
    }

    /// Fills the seat with a fresh worker, and returns whether that succeeded.
    pub(crate) fn start_anew(&mut self, seat: usize) -> bool {
        self.workers[seat] = not_started();
        match self.start(seat) {
            Ok(worker) => self.workers[seat] = Ok(worker),
            Err(WorkerError::Stopped) => {}
            Err(error) => {
                self.lost(seat, &error);
            }
        }
        self.workers[seat].is_ok()
    }

    fn stack_at(&self, seat: usize) -> &'a StackName {
        let stacks = &self.shared.trials.plan.stacks;
        &stacks[seat % stacks.len()]
    }

    /// Gives the worker up: the next unit starts another.
    pub(crate) fn lost(&mut self, seat: usize, error: &WorkerError) -> Outcome {
        let why = error.to_string();
        let failure = error.failure();
        self.workers[seat] = Err(failure.clone());
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

fn not_started() -> Result<Worker, Failure> {
    let (class, word) = (FailureClass::Worker, FailureWord::Start);
    let detail = "the worker was not started".to_owned();
    Err(Failure::new(class, word, detail))
}
