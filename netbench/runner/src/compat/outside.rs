//! Tests of browsers and other programs with the cases. Each runs in a private network without a connection to any
//! other.
//!
//! A browser stays open for all cases, except WebKitGTK, which starts in a second. State from one case must not
//! affect the next. Therefore every case has a separate port, because browsers separate sessions and connections by
//! port, and separate names in the certificates, because they distinguish issuers by name.

use std::{
    iter,
    net::{Ipv4Addr, SocketAddr},
    ops::ControlFlow,
    sync::atomic::AtomicBool,
    time::Duration,
};

use jiff::Timestamp;
use netbench_browser::{
    Browser, BrowserError, BrowserProgram, Fetch, Fetched, Fetcher, HttpsRecords, Network,
    OutsideProgram, Shown, Surroundings, ToolProgram, Trust, failures,
};
use netbench_compat::{Case, NameServer, Running, Served, Server, Zone};
use netbench_link::Namespace;
use netbench_model::{
    Failure, Negotiated, StackName,
    browser::Sandbox,
    compat::{CompatOutcome, CompatSample, Expected, OutsideClient, OutsideFound, Refusal},
};

use super::{
    Attempt, CompatError, PATIENCE, SERVER_GRACE, answered,
    decisions::{Show, decide},
    engines::Seen,
    hang, needs,
    records::{self, Source},
    running, server, unsupported, untested,
};
use crate::side_by_side::{Outlet, side_by_side};

/// The time limit for the start of a browser.
const START: Duration = Duration::from_secs(60);

/// The port of the first case. Browsers refuse some ports below it.
const FIRST_PORT: u16 = 20_000;

const DNS_PORT: u16 = 53;

/// Number of ports from there on: with more cases than ports, a case would meet sessions of earlier ones.
const PORTS: usize = 40_000;

/// The external clients and their limits.
pub struct OutsideClients<'a> {
    /// The clients, with the programs of the installed ones.
    pub clients: &'a [(OutsideClient, Option<OutsideProgram>)],
    /// The time limit of a stack with a server; an external client has the limit of a stack's second attempt.
    pub limit: Duration,
    /// A flag that stops further cases when it becomes true.
    pub stop: &'a AtomicBool,
}

/// Tests each client with its `wanted` cases, all clients at the same time, and passes each sample to `found`,
/// which can end the run.
///
/// # Errors
/// Returns the first error that prevents cases from being tested.
pub fn try_outside(
    outside: &OutsideClients<'_>,
    cases: &[Case],
    wanted: impl Fn(&StackName, &Case) -> bool + Sync,
    found: impl FnMut(CompatSample) -> ControlFlow<()>,
) -> Result<(), CompatError> {
    side_by_side(
        outside.clients,
        outside.stop,
        |(client, program), outlet| {
            let cases = cases.iter().enumerate();
            let cases = cases.filter(|(_, case)| wanted(&client.name, case));
            let tries = Tries {
                client,
                limit: outside.limit * PATIENCE,
                outlet,
            };
            tries.make(program.as_ref(), cases.collect())
        },
        found,
    )
}

/// The tests of one client.
struct Tries<'a> {
    client: &'a OutsideClient,
    limit: Duration,
    outlet: &'a Outlet<'a, CompatSample, CompatError>,
}

/// A case whose server is ready.
struct Prepared<'a> {
    case: &'a Case,
    server: Server,
    port: u16,
}

impl Tries<'_> {
    fn make(
        &self,
        program: Option<&OutsideProgram>,
        cases: Vec<(usize, &Case)>,
    ) -> Result<(), CompatError> {
        let Some(program) = program else {
            let reason = match &self.client.found {
                OutsideFound::Missing { reason } => reason,
                OutsideFound::Installed { .. } => "it is not here any more",
            };
            self.cannot(reason, cases.iter().map(|(_, case)| *case));
            return Ok(());
        };
        let now = Timestamp::now();
        let (mut plain, mut recorded) = (Vec::new(), Vec::new());
        for (number, case) in cases {
            if let Some(reason) = needs::lacking(program, case) {
                self.cannot(reason, iter::once(case));
                continue;
            }
            let place = u16::try_from(number % PORTS).unwrap_or_default();
            let prepared = Prepared {
                case,
                server: server(case, now)?,
                port: FIRST_PORT + place,
            };
            match case.ech_configs() {
                Some(_) => recorded.push(prepared),
                None => plain.push(prepared),
            }
        }
        if !plain.is_empty() {
            self.by_hosts(program, plain)?;
        }
        match program {
            OutsideProgram::Browser(program) if !recorded.is_empty() && !self.outlet.is_over() => {
                self.by_records(program, recorded)
            }
            _ => Ok(()),
        }
    }

    /// Tests cases whose hosts are known to the client's system.
    fn by_hosts(
        &self,
        program: &OutsideProgram,
        prepared: Vec<Prepared<'_>>,
    ) -> Result<(), CompatError> {
        let names = prepared
            .iter()
            .map(|prepared| prepared.case.record.host.as_str())
            .filter(|host| host.parse::<Ipv4Addr>().is_err());
        let mut hosts: Vec<_> = names
            .map(|name| (name.to_owned(), Ipv4Addr::LOCALHOST))
            .collect();
        hosts.sort();
        hosts.dedup();
        let namespace = Namespace::isolated()?;
        let network = Network {
            namespace: &namespace,
            hosts: &hosts,
            // No name server listens there.
            name_server: Ipv4Addr::LOCALHOST,
        };
        match program {
            OutsideProgram::Browser(program) => self.browse(program, network, None, prepared),
            OutsideProgram::Tool(program) => self.fetch(program, network, prepared),
        }
    }

    /// Tests cases whose hosts are in the DNS, with HTTPS records.
    fn by_records(
        &self,
        program: &BrowserProgram,
        prepared: Vec<Prepared<'_>>,
    ) -> Result<(), CompatError> {
        let mut zone = Zone::default();
        for Prepared { case, port, .. } in &prepared {
            let configs = case.ech_configs().unwrap_or_default();
            zone.add(&case.record.host, *port, &configs);
        }
        let namespace = Namespace::isolated()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, DNS_PORT));
        let started = namespace.run(|| NameServer::start(zone, address))?;
        let names = match started {
            Ok(names) => names,
            Err(error) => {
                let reason = format!("there is no DNS server for its names: {error}");
                self.cannot(&reason, prepared.iter().map(|of| of.case));
                return Ok(());
            }
        };
        let network = Network {
            namespace: &namespace,
            hosts: &[],
            name_server: Ipv4Addr::LOCALHOST,
        };
        self.browse(program, network, Some(&names), prepared)
    }

    fn fetch(
        &self,
        program: &ToolProgram,
        network: Network<'_>,
        prepared: Vec<Prepared<'_>>,
    ) -> Result<(), CompatError> {
        let fetcher = match Fetcher::new(program, network) {
            Ok(fetcher) => fetcher,
            Err(error) => {
                self.cannot(&error.to_string(), prepared.iter().map(|of| of.case));
                return Ok(());
            }
        };
        for Prepared { case, server, port } in prepared {
            let roots_pem = server.roots_pem().to_owned();
            let running = self.serve(network.namespace, case, server, port)?;
            let fetch = Fetch {
                url: &url(case, port),
                roots_pem: &roots_pem,
            };
            let fetched = fetcher.fetch(fetch, self.outlet.within(self.limit));
            let served = running.end_all();
            let outcome = match fetched {
                Ok(fetched) => answer(fetched, case, &served),
                Err(BrowserError::Stopped) => return Ok(()),
                Err(error) => self.broken(&error),
            };
            if self.tell(case, outcome).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn browse(
        &self,
        program: &BrowserProgram,
        network: Network<'_>,
        names: Option<&NameServer>,
        prepared: Vec<Prepared<'_>>,
    ) -> Result<(), CompatError> {
        let roots: Vec<&str> = prepared.iter().map(|of| of.server.roots_pem()).collect();
        let (trust, refused) = match Trust::of_each(&roots) {
            Ok(made) => made,
            Err(error) => {
                self.cannot(&error.to_string(), prepared.iter().map(|of| of.case));
                return Ok(());
            }
        };
        let sandbox = match self.client.found {
            OutsideFound::Installed {
                sandbox: Some(sandbox),
                ..
            } => sandbox,
            _ => Sandbox::On,
        };
        let stays_open = program.product().keeps_ports_apart();
        let mut browser: Option<Browser> = None;
        let mut left = prepared.into_iter().zip(refused);
        while let Some((Prepared { case, server, port }, refused)) = left.next() {
            if let Some(why) = refused {
                let reason = format!("its profile does not take the case's root: {why}");
                if self.tell(case, unsupported(&reason)).is_break() {
                    return Ok(());
                }
                continue;
            }
            let started = match browser.take() {
                Some(runs) => Ok(runs),
                None => {
                    // A browser for a single case trusts only that case's roots.
                    let own = (!stays_open).then(|| Trust::of_pem(server.roots_pem()));
                    own.transpose().and_then(|own| {
                        let around = Surroundings {
                            network,
                            trust: own.as_ref().unwrap_or(&trust),
                            startup_cache: None,
                            sandbox,
                            https_records: match names {
                                Some(_) => HttpsRecords::On,
                                None => HttpsRecords::Off,
                            },
                        };
                        Browser::start(program, &around, self.outlet.within(START))
                    })
                }
            };
            let mut runs = match started {
                Ok(runs) => runs,
                Err(BrowserError::Stopped) => return Ok(()),
                Err(error) => {
                    let rest = left.map(|(of, _)| of.case);
                    self.cannot(&error.to_string(), iter::once(case).chain(rest));
                    return Ok(());
                }
            };
            let running = self.serve(network.namespace, case, server, port)?;
            let looked = runs.look(&url(case, port), self.outlet.within(self.limit));
            let is_usable = looked.is_ok();
            let attempt = match looked {
                Ok(found) => match certificate(&found).map(str::to_owned) {
                    None => {
                        let source = Source::of(names, case, port);
                        records::outcome(found, case, running.end_each(), source).into()
                    }
                    Some(certificate) => {
                        let refused = 0..running.accepted();
                        let decided =
                            decide(&mut runs, case, &running, || self.outlet.within(self.limit));
                        if decided.all().any(Show::is_stopped) {
                            return Ok(());
                        }
                        let seen = Seen(running.end_each());
                        let served = seen.of(&refused);
                        let decided = decided.map(|show| show.next(&seen, self.limit));
                        let view = seen.view(Some(&certificate), &served, Some(&decided));
                        Attempt {
                            outcome: shown(found, case, &served),
                            embedder: Some(view),
                        }
                    }
                },
                Err(BrowserError::Stopped) => return Ok(()),
                Err(error) => self.broken(&error).into(),
            };
            // After an error, the next case starts another browser.
            if stays_open && is_usable {
                browser = Some(runs);
            }
            if self.tell(case, attempt).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn serve(
        &self,
        namespace: &Namespace,
        case: &Case,
        server: Server,
        port: u16,
    ) -> Result<Running, CompatError> {
        let limit = self.limit + SERVER_GRACE;
        running(case, namespace.run(|| server.start_at(port, limit))?)
    }

    /// Returns the outcome of a client that gave no answer.
    fn broken(&self, error: &BrowserError) -> CompatOutcome {
        match error {
            BrowserError::Hung { .. } => hang(self.limit),
            BrowserError::Ended { .. } => CompatOutcome::Crash {
                detail: netbench_model::sanitize(&error.to_string()),
            },
            _ => unsupported(&error.to_string()),
        }
    }

    /// Sends the same outcome for all these cases.
    fn cannot<'c>(&self, reason: &str, cases: impl Iterator<Item = &'c Case>) {
        for case in cases {
            if self.tell(case, unsupported(reason)).is_break() {
                return;
            }
        }
    }

    fn tell(&self, case: &Case, attempt: impl Into<Attempt>) -> ControlFlow<()> {
        let attempt: Attempt = attempt.into();
        self.outlet.pass(attempt.sample(case, &self.client.name))
    }
}

fn url(case: &Case, port: u16) -> String {
    format!("https://{}:{port}/", case.record.host)
}

/// Returns the outcome of a program's answer.
fn answer(fetched: Fetched, case: &Case, served: &Served) -> CompatOutcome {
    match fetched {
        Fetched::Answered {
            http_status,
            body_bytes,
            alpn,
        } => {
            let agreed = Negotiated {
                alpn,
                ..Negotiated::default()
            };
            answered(served, http_status, body_bytes, agreed)
        }
        Fetched::Failed { failure, code } => refused(&failure, &[], code, case, served),
    }
}

/// Returns the server's certificate that an error page shows beside a button that allows it.
fn certificate(shown: &Shown) -> Option<&str> {
    match shown {
        Shown::Error {
            certificate_base64, ..
        } => certificate_base64.as_deref(),
        Shown::Loaded { .. } => None,
    }
}

/// Returns the outcome of a page that a browser shows.
pub(super) fn shown(shown: Shown, case: &Case, served: &Served) -> CompatOutcome {
    match shown {
        Shown::Error { code, .. } => {
            let (failure, others) = failures(&code);
            refused(&failure, others, code, case, served)
        }
        Shown::Loaded {
            client,
            http_status,
            body_bytes,
        } => {
            // If the browser does not report the status, the server's report is used.
            let status = http_status.or(served.http_status).unwrap_or_default();
            answered(served, status, body_bytes, client)
        }
    }
}

/// Returns the outcome of a refusal. `others` are further meanings of the client's word: if one of them is the
/// expected refusal, it is used.
pub(super) fn refused(
    failure: &Failure,
    others: &[Refusal],
    code: String,
    case: &Case,
    served: &Served,
) -> CompatOutcome {
    if let Some(untested) = untested(served) {
        return untested;
    }
    let first = Refusal::of(failure);
    let reason = match &case.record.expected {
        Expected::Rejected(due) if !due.contains(&first) => {
            let meant = others.iter().find(|other| due.contains(other));
            meant.copied().unwrap_or(first)
        }
        _ => first,
    };
    CompatOutcome::Rejected {
        reason,
        library: code,
        detail: failure.detail.clone(),
        alert: served.alert,
        http_status: None,
    }
}
