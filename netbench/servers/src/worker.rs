//! The worker's side of the protocol.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, Write},
    process::{self, ExitCode},
    sync::Arc,
    thread,
    time::Duration,
};

use netbench_protocol::{
    Description, PROTOCOL_VERSION, Request, RequestBody, Response, ResponseBody, Serve, ServeSite,
    Serving,
};
use netbench_tls::sanitize;
use parking_lot::Mutex;

use crate::{
    program::{Answers, Installed, PROGRAMS},
    server::{Server, StartError},
};

/// The interval at which the worker checks whether a server has ended.
const LOOK: Duration = Duration::from_millis(20);

/// The running servers.
type Running = Arc<Mutex<Vec<Server>>>;

/// Answers requests until stdin closes, which signals the end of netbench.
pub(crate) fn run() -> ExitCode {
    let installed: Vec<Installed> = PROGRAMS.iter().map(Installed::look).collect();
    let running = Running::default();
    let watched = Arc::clone(&running);
    let watch = thread::Builder::new().spawn(move || {
        while watched.lock().iter_mut().all(Server::runs) {
            thread::sleep(LOOK);
        }
        let ended = watched.lock().iter_mut().find_map(Server::last_words);
        eprintln!("{}", ended.unwrap_or_default());
        // netbench finds this process dead, and starts it again.
        watched.lock().clear();
        process::exit(1);
    });
    if let Err(error) = watch {
        eprintln!("no thread: {error}");
        return ExitCode::FAILURE;
    }
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if line.trim().is_empty() {
            continue;
        }
        if write(&answer(&line, &installed, &running)).is_err() {
            break;
        }
    }
    running.lock().clear();
    // The process exits here instead of returning: otherwise, the other thread would report the ended servers
    // as a failure.
    process::exit(0)
}

fn write(response: &Response) -> io::Result<()> {
    let mut line = serde_json::to_vec(response)?;
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}

fn answer(line: &str, installed: &[Installed], running: &Running) -> Response {
    match serde_json::from_str::<Request>(line) {
        Err(what) => {
            let id = serde_json::from_str::<serde_json::Value>(line)
                .ok()
                .and_then(|value| value["id"].as_u64());
            Response {
                id: id.unwrap_or(0),
                body: error(sanitize(&format!("not a request: {what}"))),
            }
        }
        Ok(Request { id, body }) => Response {
            id,
            body: match body {
                RequestBody::Describe => ResponseBody::Description(Description {
                    protocol: PROTOCOL_VERSION,
                    stacks: installed.iter().map(Installed::describe).collect(),
                }),
                RequestBody::Serve(request) => {
                    let mut known = installed.iter();
                    match known.find(|server| server.program.name == request.stack) {
                        Some(server) => ResponseBody::Serving(serve(server, *request, running)),
                        None => error(format!("this worker has no server {:?}", request.stack)),
                    }
                }
                // These servers do not count connections.
                RequestBody::Counts => ResponseBody::Counted { sites: Vec::new() },
                _ => error("this worker serves sites and does nothing else".to_owned()),
            },
        },
    }
}

fn error(message: String) -> ResponseBody {
    ResponseBody::Error { message }
}

fn serve(installed: &Installed, request: Serve, running: &Running) -> Serving {
    let mut serving = Serving {
        listening: BTreeMap::new(),
        failed: BTreeMap::new(),
        unsupported: BTreeMap::new(),
    };
    let mut able = Vec::new();
    for site in request.sites {
        match installed.cannot(&site) {
            None => able.push(site),
            Some(why) => {
                serving.unsupported.insert(site.site, why);
            }
        }
    }
    let together = match installed.program.answers {
        Answers::ByItself => able.len().max(1),
        Answers::ThroughWorker => 1,
    };
    for sites in able.chunks(together) {
        start(installed, sites, running, &mut serving);
    }
    serving
}

/// Starts one server for all of `sites`. If it does not start, one of the sites may be the reason: the sites are then split
/// in two halves, each with a separate server, and so on.
fn start(installed: &Installed, sites: &[ServeSite], running: &Running, serving: &mut Serving) {
    if sites.is_empty() {
        return;
    }
    match Server::start(installed, sites) {
        Ok((server, addresses)) => {
            let names = sites.iter().map(|site| site.site.clone());
            serving.listening.extend(names.zip(addresses));
            running.lock().push(server);
        }
        Err(StartError::Refused(_)) if sites.len() > 1 => {
            let (first, second) = sites.split_at(sites.len() / 2);
            start(installed, first, running, serving);
            start(installed, second, running, serving);
        }
        Err(error) => {
            let failed = sites.iter();
            serving
                .failed
                .extend(failed.map(|site| (site.site.clone(), error.to_string())));
        }
    }
}
