use std::time::Duration;

use netbench_model::StackName;
use netbench_protocol::{Configure, RequestBody, ResponseBody};

use crate::{Worker, WorkerError, Workers};

/// A stack's worker, which is started on its first use, and again after it was lost.
pub(crate) struct Restarted<'a> {
    workers: &'a Workers,
    stack: &'a StackName,
    worker: Option<Worker>,
}

impl<'a> Restarted<'a> {
    pub(crate) fn new(workers: &'a Workers, stack: &'a StackName) -> Self {
        Self {
            workers,
            stack,
            worker: None,
        }
    }

    /// Sends a request to the worker, which is lost after any error but a refusal.
    pub(crate) fn ask(
        &mut self,
        body: RequestBody,
        limit: Duration,
    ) -> Result<ResponseBody, WorkerError> {
        let worker = match self.worker.take() {
            Some(worker) => worker,
            None => {
                let launch = self.workers.launch(None);
                self.workers.start(self.stack.stack(), &launch)?
            }
        };
        let worker = self.worker.insert(worker);
        let answered = worker.ask(body, limit);
        if !matches!(answered, Ok(_) | Err(WorkerError::Refused(_))) {
            self.lose();
        }
        answered
    }

    /// Returns the worker with these settings, without state of earlier ones. A running worker has `limit` to take
    /// them.
    pub(crate) fn configured(
        &mut self,
        settings: Configure,
        limit: Duration,
    ) -> Result<&mut Worker, WorkerError> {
        let worker = match self.worker.take() {
            Some(mut worker) => {
                let settings = self.workers.fitted(settings);
                worker.ask(RequestBody::Configure(Box::new(settings)), limit)?;
                worker
            }
            None => {
                let launch = self.workers.launch(None);
                self.workers.start_configured(&launch, settings)?
            }
        };
        Ok(self.worker.insert(worker))
    }

    /// Ends the worker, so that the next use starts another.
    pub(crate) fn lose(&mut self) {
        self.worker = None;
    }
}
