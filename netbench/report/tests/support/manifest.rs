//! Manifests of artificial runs.

use netbench_model::{
    Environment, Manifest, Origin, Plan, SCHEMA_VERSION, Session, Thresholds, WorkerRecord,
};

const STARTED: &str = "2026-01-02T03:04:05Z";

/// Returns the manifest of a run of this plan that has begun.
pub fn manifest_of<P: Plan>(plan: P) -> Manifest<P> {
    Manifest {
        schema: SCHEMA_VERSION,
        kind: P::KIND,
        netbench: "0.1.0".to_owned(),
        name: "a-run".to_owned(),
        started: STARTED.to_owned(),
        finished: None,
        plan,
        workers: Vec::new(),
        link: None,
        environment: Environment::default(),
        sessions: Vec::new(),
        warnings: Vec::new(),
        origin: Origin::default(),
        thresholds: Thresholds::default(),
    }
}

/// Returns the manifest of a run of this plan and command that was interrupted.
pub fn interrupted<P: Plan>(command: &str, plan: P) -> Manifest<P> {
    Manifest {
        sessions: vec![Session {
            interrupted: true,
            ..session(command)
        }],
        ..manifest_of(plan)
    }
}

/// Returns a session of such a run that was not interrupted.
pub fn session(command: &str) -> Session {
    Session {
        started: STARTED.to_owned(),
        finished: None,
        command: command.split(' ').map(str::to_owned).collect(),
        interrupted: false,
        served: Vec::new(),
    }
}

/// Returns the worker of a stack.
pub fn worker(stack: &str) -> WorkerRecord {
    WorkerRecord {
        executable: "worker".to_owned(),
        stack: stack.to_owned(),
        library: format!("{stack} 1.0"),
        provider: None,
        connector: "hyper".to_owned(),
        build: [].into(),
    }
}
