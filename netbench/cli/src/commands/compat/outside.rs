//! Browsers and other programs that are tried beside the stacks.

use netbench_browser::{Outside, OutsideProgram};
use netbench_model::{
    StackName,
    browser::Sandbox,
    compat::{OutsideClient, OutsideFound, OutsideKind},
};

use super::args::Compat;
use crate::exit::{WrongInput, bail_input};

/// A client, and its program where that is here.
pub(super) type Found = (OutsideClient, Option<OutsideProgram>);

/// Looks for the clients that were asked for. One that is not here is kept: the report says what to install.
pub(super) fn find(options: &Compat, stacks: &[StackName]) -> anyhow::Result<Vec<Found>> {
    let sandbox = if options.no_sandbox {
        Sandbox::Off
    } else {
        Sandbox::On
    };
    for (at, client) in options.client.iter().enumerate() {
        if options.client[..at].contains(client) {
            bail_input!("--client names {client} twice");
        }
        if stacks
            .iter()
            .any(|stack| stack.stack() == client.to_string())
        {
            bail_input!("{client} is a stack and a client: the run would have two of one name");
        }
    }
    let clients = options.client.iter();
    Ok(clients.map(|client| look(*client, sandbox)).collect())
}

/// Looks for the clients of a run that is resumed, which are to be what they were.
pub(super) fn find_again(run: &str, clients: &[OutsideClient]) -> anyhow::Result<Vec<Found>> {
    let mut found = Vec::new();
    for then in clients {
        let client: Outside = then.name.as_str().parse().map_err(WrongInput)?;
        let sandbox = match then.found {
            OutsideFound::Installed { sandbox, .. } => sandbox,
            OutsideFound::Missing { .. } => None,
        };
        let now = look(client, sandbox.unwrap_or(Sandbox::On));
        if now.0 != *then {
            bail_input!(
                "run {run} cannot be resumed: {client} was another one when it was started, or was not there"
            );
        }
        found.push(now);
    }
    Ok(found)
}

fn look(client: Outside, sandbox: Sandbox) -> Found {
    let kind = match client {
        Outside::Browser(_) => OutsideKind::Browser,
        Outside::Tool(_) => OutsideKind::Program,
    };
    let (found, program) = match OutsideProgram::find(client) {
        Ok(program) => {
            let installed = OutsideFound::Installed {
                version: program.version().to_owned(),
                library: program.library().to_owned(),
                sandbox: (kind == OutsideKind::Browser).then_some(sandbox),
            };
            (installed, Some(program))
        }
        Err(error) => {
            let reason = error.to_string();
            (OutsideFound::Missing { reason }, None)
        }
    };
    let record = OutsideClient {
        name: StackName::new(client.to_string()),
        kind,
        found,
    };
    (record, program)
}
