//! A run whose workers are fakes.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, atomic::AtomicBool},
};

use netbench_model::{ConnectPlan, Role, Sample};
use netbench_protocol::{HttpRequest, Operation, Resolve};
use netbench_runner::{Event, HostAddress, Targets, Trials, Workers, execute};
use netbench_store::RunFolder;
use serde_json::json;
use tempfile::TempDir;

use super::{HONEST, LIAR};
use crate::fake::{Fake, Lie, Script};

/// Two fake workers, in a separate folder.
pub(super) struct Run {
    pub(super) folder: TempDir,
    pub(super) honest: Fake,
    pub(super) liar: Fake,
    pub(super) workers: Workers,
}

impl Run {
    pub(super) fn new(lie: Lie) -> Self {
        let mut run = Self::new_honest();
        run.lie(lie);
        run
    }

    /// Creates a run without a lie.
    pub(super) fn new_honest() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [honest, liar] =
            [HONEST, LIAR].map(|stack| Fake::new(folder.path(), &script(stack, Vec::new())));
        let programs = [(HONEST, &honest), (LIAR, &liar)];
        let programs =
            programs.map(|(stack, fake)| (stack.to_owned(), fake.program.clone().into()));
        let workers = Workers::probe(programs.into(), None, Arc::default()).unwrap();
        Self {
            folder,
            honest,
            liar,
            workers,
        }
    }

    /// Makes the liar lie from now on.
    pub(super) fn lie(&mut self, lie: Lie) {
        self.liar = Fake::new(self.folder.path(), &script(LIAR, vec![lie]));
    }

    /// Returns the measured samples, and the stacks whose workers were lost.
    pub(super) fn execute(&self, plan: &ConnectPlan) -> (Vec<Sample>, Vec<String>) {
        let folder = RunFolder::create(&self.folder.path().join("run"), &json!({})).unwrap();
        let events = Mutex::new((Vec::new(), Vec::new()));
        // Any address is valid: the fakes make no connections.
        let anywhere = HostAddress {
            address: SocketAddr::from(([127, 0, 0, 1], 9)),
            resolve: Resolve::Given,
        };
        let addresses = vec![Ok(anywhere); plan.sites.len()];
        let stop = AtomicBool::new(false);
        let trials = Trials {
            plan,
            shard: None,
            roots_pem: "",
            identity: None,
            request: HttpRequest::default(),
            session: 0,
        };
        execute(
            &trials,
            &self.workers,
            &Targets::Hosts(addresses),
            &[],
            folder.appender::<Sample>().unwrap(),
            &|event| {
                let mut events = events.lock().unwrap();
                match event {
                    Event::Begin { .. } | Event::Again(_) | Event::ServerDied { .. } => {}
                    Event::Sampled(sample) => events.0.push(*sample),
                    Event::WorkerLost { stack, .. } => events.1.push(stack.to_string()),
                }
            },
            &stop,
        )
        .unwrap();
        let (mut samples, lost) = events.into_inner().unwrap();
        assert_eq!(
            folder.records::<Sample>().unwrap(),
            samples,
            "the events have the stored samples"
        );
        samples.retain(|sample| sample.role == Role::Measured);
        (samples, lost)
    }
}

pub(super) fn script(stack: &str, lies: Vec<Lie>) -> Script {
    Script {
        stack: stack.to_owned(),
        operations: [Operation::Connect, Operation::EarlyRequest].into(),
        body_bytes: 1_000,
        vm_info: None,
        lies,
    }
}
