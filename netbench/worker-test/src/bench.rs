use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    time::{Duration, Instant},
};

use netbench_lab::Lab;
use netbench_model::{Condition, Fault, KeyType, LabProfile, Profile, Role, ServerCount, Site};
use netbench_protocol::{
    Configure, Connect, HttpRequest, RequestBody, Resolve, ResponseBody, StackDescription,
};
use netbench_runner::{Launch, Worker, WorkerProgram};

use crate::{
    cases::{self, Case, Outcome, Roots},
    exception::{Exception, Exceptions},
    findings::{Findings, Lack},
    judge,
    site::{OnlySite, any_port, certificates, lab_site, serve_request},
    talk::ANSWER_LIMIT,
};

/// Time limit of the whole table, so that a worker that hangs at every case does not delay a test run.
const TABLE_LIMIT: Duration = Duration::from_secs(180);

/// A worker that serves, and a worker of the same program that connects to it.
pub(crate) struct Bench {
    client: Worker,
    server: Worker,
    stack: String,
    cases: Vec<Case>,
    served: BTreeMap<String, Served>,
    /// The sites that the stack reports as unsupported, with the reasons.
    unsupported: Reasons,
    roots_pem: String,
}

/// A predicate for the sites that a stack must refuse to serve.
pub(crate) type Lacks = fn(&LabProfile) -> bool;

/// Reasons by the names of sites.
type Reasons = BTreeMap<String, String>;

/// A site that is listening.
struct Served {
    address: SocketAddr,
    /// Size of the DER of each certificate in the chain, in bytes.
    chain_bytes: Vec<u32>,
}

impl Bench {
    /// Starts the workers, without the cases whose sites the stack `lacks`, which it must refuse to serve.
    pub(crate) fn new(program: &WorkerProgram, stack: &str, lacks: Lacks) -> Result<Self, String> {
        let mut client = start(program)?;
        let can = describe(&mut client, stack)?;
        let mut cases = cases::all(&can);
        if profile(&mut client, &can)? == Profile::Library {
            cases = cases::with_the_librarys_settings(&can, cases);
        }
        let (lacking, cases): (Vec<_>, Vec<_>) =
            cases.into_iter().partition(|case| lacks(&case.site));
        for case in lacking {
            refused(&mut client, stack, &case)?;
        }
        let sites = cases
            .iter()
            .map(|case| lab_site(stack, &case.name, case.site.clone()));
        let sites: Vec<Site> = sites.collect::<Result<_, _>>()?;
        let lab = Lab::new(&sites).map_err(|e| e.to_string())?;
        let mut server = start(program)?;
        let (served, unsupported) = serve(&mut server, stack, &lab, &sites)?;
        Ok(Self {
            client,
            server,
            stack: stack.to_owned(),
            cases,
            served,
            unsupported,
            roots_pem: lab.ca_pem().to_owned(),
        })
    }

    /// Runs every case and returns the findings.
    pub(crate) fn run(&mut self, exceptions: &[Exception]) -> Findings {
        let mut wrong = Vec::new();
        let mut lacks = Vec::new();
        let mut measured = BTreeMap::new();
        let mut exceptions = Exceptions::new(exceptions);
        let deadline = Instant::now() + TABLE_LIMIT;
        for case in self.cases.clone() {
            if Instant::now() > deadline {
                wrong.push(format!("stopped after {TABLE_LIMIT:?}"));
                return Findings { wrong, lacks };
            }
            if let Some(reason) = self.unsupported.get(&case.name) {
                lacks.push(Lack {
                    case: case.name,
                    reason: reason.clone(),
                });
                continue;
            }
            match self.try_case(&case, exceptions.of(&case).as_ref()) {
                Ok(ResponseBody::Connected(figures)) => {
                    measured.insert(case.name, *figures);
                }
                Ok(ResponseBody::Unsupported { reason }) if !case.is_to_be_unsupported() => {
                    let case = case.name;
                    lacks.push(Lack { case, reason });
                }
                Ok(_) => {}
                Err(error) => wrong.push(format!("{}: {error}", case.name)),
            }
        }
        wrong.extend(exceptions.end(&self.stack));
        wrong.extend(judge::relations(&measured).err());
        match counts(&mut self.server) {
            Ok(counts) => wrong.extend(self.miscounted(&counts, &lacks)),
            Err(error) => wrong.push(format!("counts: {error}")),
        }
        Findings { wrong, lacks }
    }

    fn try_case(&mut self, case: &Case, exception: Option<&Case>) -> Result<ResponseBody, String> {
        let roots_pem = match case.roots {
            Roots::Lab => &self.roots_pem,
            Roots::Text(text) => text,
        };
        configure(&mut self.client, &self.stack, case, roots_pem)?;
        let served = self.served.get(&case.name);
        let address = match served {
            Some(served) => served.address,
            None if case.site.fault == Some(Fault::Refuse) => closed_port()?,
            None => return Err("the site is not served".to_owned()),
        };
        if let Some((condition, role)) = case.before {
            match connect(&mut self.client, case, address, condition, role)? {
                ResponseBody::Connected(first)
                    if !first.client.resumed && first.phases.connector_ns.is_some() => {}
                lack if is_a_lack(case, &lack) => return Ok(lack),
                other => return Err(format!("before: {other:?}")),
            }
        }
        let role = Role::Measured;
        let answer = connect(&mut self.client, case, address, case.condition, role)?;
        if is_a_lack(case, &answer) {
            return Ok(answer);
        }
        let sent = served.map_or(&[][..], |served| &served.chain_bytes);
        let usual = judge::judge(case, sent, &answer);
        match exception {
            None => usual?,
            Some(_) if usual.is_ok() => return Err("it needs no exception".to_owned()),
            Some(exceptional) => judge::judge(exceptional, sent, &answer)?,
        }
        Ok(answer)
    }

    /// Returns the errors in the server's counts: the numbers of handshakes and of resumed handshakes must be those of
    /// the successful connections.
    fn miscounted(&self, counts: &[ServerCount], lacks: &[Lack]) -> Vec<String> {
        let mut wrong = Vec::new();
        let cases = self.cases.iter();
        for case in cases.filter(|case| {
            let is_lacking = lacks.iter().any(|lack| lack.case == case.name);
            matches!(case.outcome, Outcome::Success) && !is_lacking
        }) {
            let connections = 1 + u64::from(case.before.is_some());
            let resumed = u64::from(case.due.resumed);
            let count = counts.iter().find(|count| count.site == case.name);
            let seen = count.map(|c| (c.accepted, c.handshakes, c.resumed, c.responses));
            let due = (connections, connections, resumed, connections);
            if seen != Some(due) {
                wrong.push(format!(
                    "{}: accepted, handshakes, resumed, responses: {due:?} were due, the server saw {seen:?}",
                    case.name
                ));
            }
        }
        wrong
    }
}

/// Returns the profile of a stack's connectors: `library` if the stack supports no other.
pub(crate) fn profile(worker: &mut Worker, can: &StackDescription) -> Result<Profile, String> {
    let stack = &can.record.stack;
    let site = OnlySite::with_key(stack, KeyType::EcdsaP256)?;
    let mut case = cases::good("profile");
    cases::offer_only(can, &mut case.client);
    for profile in [Profile::Default, Profile::Library] {
        case.client.profile = profile;
        configure(worker, stack, &case, &site.roots_pem)?;
        // No server listens, but the connector is made before the connect fails.
        let nowhere = closed_port()?;
        let answer = connect(worker, &case, nowhere, Condition::Clean, Role::Measured)?;
        if !is_a_lack(&case, &answer) {
            return Ok(profile);
        }
    }
    Err("no profile with which a connector can be made".to_owned())
}

/// Returns whether the stack reports a permitted lack of support.
fn is_a_lack(case: &Case, answer: &ResponseBody) -> bool {
    matches!(answer, ResponseBody::Unsupported { reason } if !reason.is_empty())
        && !case.is_to_be_unsupported()
}

pub(crate) fn start(program: &WorkerProgram) -> Result<Worker, String> {
    Worker::start(program, &Launch::default()).map_err(|e| e.to_string())
}

pub(crate) fn describe(worker: &mut Worker, stack: &str) -> Result<StackDescription, String> {
    match ask(worker, RequestBody::Describe)? {
        ResponseBody::Description(description) => description
            .stacks
            .into_iter()
            .find(|known| known.record.stack == stack)
            .ok_or_else(|| format!("the worker has no stack {stack}")),
        other => Err(format!("describe: {other:?}")),
    }
}

/// Makes `worker` serve `sites` on free ports. Returns the sites that are listening, and those that the stack reports as
/// unsupported, with the reasons.
fn serve(
    worker: &mut Worker,
    stack: &str,
    lab: &Lab,
    sites: &[Site],
) -> Result<(BTreeMap<String, Served>, Reasons), String> {
    let mut by_stack = lab.serve_sites(sites, |_| any_port());
    let sites = by_stack.remove(stack).unwrap_or_default();
    let mut chains: BTreeMap<_, _> = sites
        .iter()
        .map(|site| (site.site.clone(), der_lengths(&site.chain_pem)))
        .collect();
    match ask(worker, serve_request(stack, sites))? {
        ResponseBody::Serving(serving) if serving.failed.is_empty() => {
            let served = serving.listening.into_iter().map(|(name, address)| {
                let chain_bytes = chains.remove(&name).unwrap_or_default();
                let served = Served {
                    address,
                    chain_bytes,
                };
                (name, served)
            });
            Ok((served.collect(), serving.unsupported))
        }
        other => Err(format!("not served: {other:?}")),
    }
}

/// Checks that `worker` refuses to serve the site of `case`, with a reason.
fn refused(worker: &mut Worker, stack: &str, case: &Case) -> Result<(), String> {
    let site = OnlySite::new(stack, &case.name, case.site.clone())?;
    match ask(worker, site.request(stack))? {
        ResponseBody::Serving(serving)
            if !serving.failed.is_empty() || serving.unsupported.contains_key(&case.name) =>
        {
            Ok(())
        }
        other => Err(format!("{}: it was to be refused: {other:?}", case.name)),
    }
}

/// Returns the size of the DER of each certificate: three bytes for every four characters, without the padding.
fn der_lengths(pem: &str) -> Vec<u32> {
    let certificates = certificates(pem).into_iter();
    certificates
        .map(|base64| {
            let characters = base64.trim_end_matches('=').len();
            u32::try_from(characters * 3 / 4).unwrap_or(u32::MAX)
        })
        .collect()
}

pub(crate) fn configure(
    worker: &mut Worker,
    stack: &str,
    case: &Case,
    roots_pem: &str,
) -> Result<(), String> {
    let settings = Configure::new(stack, case.client.clone(), roots_pem);
    match ask(worker, RequestBody::Configure(Box::new(settings)))? {
        ResponseBody::Configured => Ok(()),
        other => Err(format!("configure: {other:?}")),
    }
}

pub(crate) fn connect(
    worker: &mut Worker,
    case: &Case,
    address: SocketAddr,
    condition: Condition,
    role: Role,
) -> Result<ResponseBody, String> {
    let request = Connect {
        timeout_ms: case.timeout_ms,
        ..connection(&case.name, address, condition, role)
    };
    ask(worker, RequestBody::Connect(Box::new(request)))
}

/// Creates the request of a connection, whose default path and time limit are enough for most rules.
pub(crate) fn connection(
    host: &str,
    address: SocketAddr,
    condition: Condition,
    role: Role,
) -> Connect {
    Connect {
        host: host.to_owned(),
        port: 443,
        address,
        resolve: Resolve::Given,
        condition,
        role,
        timeout_ms: 20_000,
        request: HttpRequest::default(),
    }
}

fn counts(worker: &mut Worker) -> Result<Vec<ServerCount>, String> {
    match ask(worker, RequestBody::Counts)? {
        ResponseBody::Counted { sites } => Ok(sites),
        other => Err(format!("counts: {other:?}")),
    }
}

pub(crate) fn ask(worker: &mut Worker, body: RequestBody) -> Result<ResponseBody, String> {
    worker.ask(body, ANSWER_LIMIT).map_err(|e| e.to_string())
}

/// Returns an address without a listener, whose port was free a moment ago.
pub(crate) fn closed_port() -> Result<SocketAddr, String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|e| e.to_string())?;
    listener.local_addr().map_err(|e| e.to_string())
}
