//! Tests of pages as Servo's embedder loads them, compared with the servers' records.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use netbench_compat::{BUILT_IN, Case, Running, catalogue};
use netbench_model::{
    Profile, StackName,
    compat::{CompatOutcome, CompatSample, EmbedderView, NextLoad, ToldCertificate},
};
use netbench_protocol::{Configure, Load, Loaded, RequestBody, ResponseBody};
use netbench_runner::{
    Launch, Worker, WorkerError, WorkerProgram, Workers,
    compat::{CompatClients, try_engines},
    scan::client_settings,
};

const WORKER: &str = env!("CARGO_BIN_EXE_netbench-worker-servo");

const STALLS: &str = r#"
[[case]]
name = "own/stalls"
about = "never answers a ClientHello"
expect = ["timeout"]
why = "There is nothing to show"
advice = "None."
server.at-hello = "stall"
"#;

const LIMIT: Duration = Duration::from_secs(10);

fn cases(names: &[&str]) -> Vec<Case> {
    let mut all = catalogue(BUILT_IN).unwrap();
    all.retain(|case| names.contains(&case.record.name.as_str()));
    assert_eq!(all.len(), names.len(), "{names:?}");
    all
}

fn workers(stack: &str) -> Workers {
    let program = WorkerProgram::from(PathBuf::from(WORKER));
    let programs = BTreeMap::from([(stack.to_owned(), program)]);
    Workers::probe(programs, None, Arc::default()).unwrap()
}

/// Returns the results of these cases, in their order.
fn tried(stack: &str, names: &[&str]) -> BTreeMap<String, CompatSample> {
    let (workers, engine) = (workers(stack), [StackName::new(stack)]);
    let stop = AtomicBool::new(false);
    let clients = CompatClients {
        workers: &workers,
        client: &client_settings(Profile::Library, &engine, &workers),
        limit: LIMIT,
        stop: &stop,
    };
    let mut samples = BTreeMap::new();
    try_engines(
        &clients,
        &engine,
        &cases(names),
        |_, _| true,
        |sample| {
            samples.insert(sample.case.clone(), sample);
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    samples
}

fn view(sample: &CompatSample) -> &EmbedderView {
    sample
        .embedder
        .as_ref()
        .unwrap_or_else(|| panic!("{sample:?}"))
}

#[test]
fn what_the_embedder_is_told_is_what_the_server_saw() {
    for stack in ["servo", "servo+webpki-roots"] {
        let samples = tried(
            stack,
            &[
                "certificate/usual",
                "certificate/expired",
                "name/wrong-host",
                "alpn/h2-alone",
                "suite/cbc-rsa",
                "client-certificate/shown-1.3",
            ],
        );
        for case in ["certificate/usual", "alpn/h2-alone"] {
            let sample = &samples[case];
            assert!(
                matches!(
                    &sample.outcome,
                    CompatOutcome::Accepted {
                        version: Some(_),
                        suite: Some(_),
                        group: Some(_),
                        ..
                    }
                ),
                "{sample:?}"
            );
            let view = view(sample);
            assert_eq!(view.certificate, ToldCertificate::Sent, "{case}");
            assert_eq!(view.again, Some(NextLoad::Cached), "{case}");
            assert_eq!((&view.proceeded, &view.elsewhere), (&None, &None));
        }
        for case in ["certificate/expired", "name/wrong-host"] {
            let sample = &samples[case];
            let CompatOutcome::Rejected { library, .. } = &sample.outcome else {
                panic!("{sample:?}");
            };
            assert_eq!(library, "SslValidation", "{case}");
            let view = view(sample);
            assert_eq!(view.certificate, ToldCertificate::Sent, "{case}");
            assert_eq!(view.proceeded, Some(NextLoad::Connected), "{case}");
            assert_eq!(view.again, None, "{case}");
        }
        let sample = &samples["suite/cbc-rsa"];
        let CompatOutcome::Rejected { library, .. } = &sample.outcome else {
            panic!("{sample:?}");
        };
        assert_eq!(library, "HttpError");
        assert_eq!(view(sample).certificate, ToldCertificate::NotSent);
        let sample = &samples["client-certificate/shown-1.3"];
        assert!(
            matches!(sample.outcome, CompatOutcome::Unsupported { .. }),
            "{sample:?}"
        );
    }
}

/// A server and a worker that has loaded no page yet.
struct Visit {
    worker: Worker,
    running: Running,
    host: String,
}

impl Visit {
    fn of(case: &str) -> Self {
        Self::of_case(&cases(&[case])[0])
    }

    fn of_case(case: &Case) -> Self {
        let server = case.server(jiff::Timestamp::now()).unwrap();
        let settings = configure(server.roots_pem());
        Self {
            worker: Worker::start_configured(
                &Path::new(WORKER).into(),
                &Launch::default(),
                settings,
            )
            .unwrap(),
            running: server.cacheable().start(LIMIT).unwrap(),
            host: case.record.host.clone(),
        }
    }

    fn load(&mut self, proceed: Option<&str>) -> Result<Loaded, WorkerError> {
        let load = Load {
            host: self.host.clone(),
            port: self.running.address().port(),
            address: self.running.address(),
            proceed_base64: proceed.map(str::to_owned),
            timeout_ms: 3000,
        };
        match self.worker.ask(RequestBody::Load(load), LIMIT)? {
            ResponseBody::Loaded(loaded) => Ok(loaded),
            other => panic!("{other:?}"),
        }
    }

    /// Returns the certificate of the error with which the page is refused.
    fn refused(&mut self, proceed: Option<&str>) -> String {
        match self.load(proceed).unwrap() {
            Loaded::Refused {
                certificate_base64: Some(certificate),
                ..
            } => certificate,
            other => panic!("{other:?}"),
        }
    }
}

fn configure(roots_pem: &str) -> Configure {
    let engine = [StackName::new("servo")];
    Configure {
        stack: "servo".to_owned(),
        client: client_settings(Profile::Library, &engine, &Workers::default()),
        roots_pem: roots_pem.to_owned(),
        identity: None,
        early_data: false,
        ech: None,
    }
}

#[test]
fn a_decision_is_for_one_certificate_and_one_process() {
    let mut other = Visit::of("name/wrong-host");
    let others = other.refused(None);
    let mut visit = Visit::of("certificate/expired");
    let own = visit.refused(None);
    assert_ne!(own, others);
    // With another certificate, the page is refused as before.
    assert_eq!(visit.refused(Some(&others)), own);
    assert!(matches!(
        visit.load(Some(&own)).unwrap(),
        Loaded::Page {
            from_cache: false,
            ..
        }
    ));
    // The decision persists, and the page is in the cache.
    assert!(matches!(
        visit.load(None).unwrap(),
        Loaded::Page {
            from_cache: true,
            ..
        }
    ));
    // After other settings, neither remains.
    let again = visit.worker.ask(
        RequestBody::Configure(Box::new(configure(&roots_of("certificate/expired")))),
        LIMIT,
    );
    assert!(matches!(again, Ok(ResponseBody::Configured)), "{again:?}");
    visit.refused(None);
    // The load from the cache made no connection.
    assert_eq!(visit.running.accepted(), 4);
}

fn roots_of(case: &str) -> String {
    let server = cases(&[case])[0].server(jiff::Timestamp::now()).unwrap();
    server.roots_pem().to_owned()
}

fn page(address: SocketAddr, host: &str) -> Load {
    Load {
        host: host.to_owned(),
        port: address.port(),
        address,
        proceed_base64: None,
        timeout_ms: 3000,
    }
}

#[test]
fn what_cannot_be_loaded_is_said() {
    let mut visit = Visit::of("certificate/usual");
    let address = visit.running.address();
    let other_port = Load {
        port: 1,
        ..page(address, "case.netbench.test")
    };
    for (page, why) in [
        (other_port, "port"),
        (page(address, "127.0.0.2"), "address"),
        (page(address, "a b"), "no URL"),
    ] {
        let answered = visit.worker.ask(RequestBody::Load(page), LIMIT).unwrap();
        let ResponseBody::Unsupported { reason } = answered else {
            panic!("{answered:?}");
        };
        assert!(reason.contains(why), "{reason}");
    }
    visit.load(None).unwrap();
    for page in [
        page(address, "another.netbench.test"),
        Load {
            proceed_base64: Some("?".to_owned()),
            ..page(address, "case.netbench.test")
        },
    ] {
        let answered = visit.worker.ask(RequestBody::Load(page), LIMIT);
        assert!(
            matches!(answered, Err(WorkerError::Refused(_))),
            "{answered:?}"
        );
    }
}

#[test]
fn a_server_that_says_nothing_is_waited_for_until_the_limit() {
    let stalls = catalogue(STALLS).unwrap();
    let mut visit = Visit::of_case(&stalls[0]);
    assert_eq!(visit.load(None).unwrap(), Loaded::TimedOut);
}
