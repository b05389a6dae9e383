//! Browsers, other programs, and the network stacks of browser engines, which are tried in addition to the stacks.

use std::{fmt, str::FromStr};

use netbench_browser::{Outside, OutsideProgram};
use netbench_model::{
    StackName,
    browser::Sandbox,
    compat::{CompatPlan, OutsideClient, OutsideFound, OutsideKind},
    tls::one_of,
};
use netbench_protocol::Operation;
use netbench_runner::Workers;

use crate::{
    browsers::{Found, look, look_again},
    exit::{WrongInput, bail_input},
    options::each_once,
};

/// The client that is the network stack of Servo, without the engine.
const ENGINE: &str = "servo-net";

/// The stack whose worker contains [`ENGINE`] and loads pages.
const ENGINE_STACK: &str = "servo";

/// A client of `--client`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    /// A browser or another program.
    Outside(Outside),
    /// The network stack of a browser engine.
    Engine,
}

impl Client {
    fn all() -> impl Iterator<Item = Self> {
        Outside::all().map(Self::Outside).chain([Self::Engine])
    }
}

impl FromStr for Client {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known: Vec<_> = Self::all().collect();
        one_of("client", text, &known)
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside(outside) => outside.fmt(f),
            Self::Engine => f.pad(ENGINE),
        }
    }
}

/// Returns the stacks whose workers load pages for the engines of a plan.
pub(crate) fn engines(plan: &CompatPlan) -> Vec<StackName> {
    let engines = plan.clients.iter().filter(|client| is_engine(client));
    engines.map(|_| StackName::new(ENGINE_STACK)).collect()
}

fn is_engine(client: &OutsideClient) -> bool {
    client.name.as_str() == ENGINE
}

/// Returns the name of the engine in samples.
pub(super) fn engine() -> StackName {
    StackName::new(ENGINE)
}

/// Adds the descriptions that the workers of engines give.
pub(super) fn describe(clients: &mut [OutsideClient], workers: &Workers) -> anyhow::Result<()> {
    for client in clients.iter_mut().filter(|client| is_engine(client)) {
        let Some(description) = workers.description(ENGINE_STACK) else {
            continue;
        };
        if !workers.does(ENGINE_STACK, Operation::Load) {
            bail_input!(
                "the worker of {ENGINE_STACK} loads no pages: it has no operation \"load\""
            );
        }
        let record = &description.record;
        let provider = record.provider.as_ref();
        client.found = OutsideFound::Installed {
            version: record.connector.clone(),
            library: provider.map_or(record.library.clone(), |provider| {
                format!("{} and {provider}", record.library)
            }),
            sandbox: None,
            settings: Vec::new(),
        };
    }
    Ok(())
}

/// Returns the record of an engine whose worker has not described itself yet.
fn unasked() -> OutsideClient {
    OutsideClient {
        name: engine(),
        kind: OutsideKind::Engine,
        found: OutsideFound::Missing {
            reason: "its worker was not asked yet".to_owned(),
        },
    }
}

/// Looks for the clients of `--client`, and returns their descriptions in the order of the options.
pub(super) fn find(
    clients: &[Client],
    sandbox: Sandbox,
    stacks: &[StackName],
) -> anyhow::Result<Vec<OutsideClient>> {
    let mut found = Vec::new();
    for client in each_once("--client", clients)? {
        if stacks
            .iter()
            .any(|stack| stack.stack() == client.to_string())
        {
            bail_input!("{client} is a stack and a client: the run would have two of one name");
        }
        found.push(match client {
            Client::Outside(client) => look(*client, sandbox)?.0,
            Client::Engine => unasked(),
        });
    }
    Ok(found)
}

/// Looks for the browsers and other programs of a run that continues. The workers of engines are compared with those of
/// the first session elsewhere.
pub(super) fn find_again(
    run: &str,
    clients: &[OutsideClient],
) -> anyhow::Result<Vec<Found<OutsideProgram>>> {
    let mut found = Vec::new();
    for then in clients {
        if let Client::Outside(client) = then.name.as_str().parse().map_err(WrongInput)? {
            found.push(look_again(run, then, |sandbox| look(client, sandbox))?);
        }
    }
    Ok(found)
}
