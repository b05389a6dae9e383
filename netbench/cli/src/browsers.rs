//! The browsers and other clients on this machine. Servo has no package: netbench builds it.

use netbench_browser::{BrowserError, BrowserProgram, Outside, OutsideProgram, Product, ServoTls};
use netbench_model::{
    StackName,
    browser::Sandbox,
    compat::{OutsideClient, OutsideFound, OutsideKind},
};

use crate::{
    exit::cannot_continue,
    workers::{Program, Terminal},
};

/// A client from outside, and its program if it is installed.
pub(crate) type Found<P> = (OutsideClient, Option<P>);

/// Looks for a client. One that is not installed is kept: the report states how to install it.
pub(crate) fn look(client: Outside, sandbox: Sandbox) -> anyhow::Result<Found<OutsideProgram>> {
    if let Outside::Browser(product) = client {
        let (record, program) = look_for_browser(product, sandbox)?;
        return Ok((record, program.map(OutsideProgram::Browser)));
    }
    let found = OutsideProgram::find(client).map(|program| {
        let installed = OutsideFound::Installed {
            version: program.version().to_owned(),
            library: program.library().to_owned(),
            sandbox: None,
            settings: Vec::new(),
        };
        (installed, program)
    });
    Ok(recorded(client.to_string(), OutsideKind::Program, found))
}

/// Looks for a browser as [`look`] does.
pub(crate) fn look_for_browser(
    product: Product,
    sandbox: Sandbox,
) -> anyhow::Result<Found<BrowserProgram>> {
    let found = find(product)?.map(|program| {
        let installed = OutsideFound::Installed {
            version: program.version().to_owned(),
            library: product.library().to_owned(),
            sandbox: Some(product.sandbox(sandbox)),
            settings: product.settings(),
        };
        (installed, program)
    });
    Ok(recorded(product.to_string(), OutsideKind::Browser, found))
}

fn recorded<P>(
    name: String,
    kind: OutsideKind,
    found: Result<(OutsideFound, P), BrowserError>,
) -> Found<P> {
    let (found, program) = match found {
        Ok((found, program)) => (found, Some(program)),
        Err(error) => {
            let reason = error.to_string();
            (OutsideFound::Missing { reason }, None)
        }
    };
    let name = StackName::new(name);
    (OutsideClient { name, kind, found }, program)
}

/// Looks for a client of a run that continues, with the sandbox that it had, and refuses one that has changed.
pub(crate) fn look_again<P>(
    run: &str,
    then: &OutsideClient,
    look: impl FnOnce(Sandbox) -> anyhow::Result<Found<P>>,
) -> anyhow::Result<Found<P>> {
    let sandbox = match then.found {
        OutsideFound::Installed { sandbox, .. } => sandbox,
        OutsideFound::Missing { .. } => None,
    };
    let now = look(sandbox.unwrap_or(Sandbox::On))?;
    if now.0 != *then {
        let name = &then.name;
        let why = format!("{name} was another one when it was started, or was not there");
        return Err(cannot_continue(run, why));
    }
    Ok(now)
}

/// Finds a browser, or returns the reason why it cannot be used. A Servo that is not there is built.
pub(crate) fn find(product: Product) -> anyhow::Result<Result<BrowserProgram, BrowserError>> {
    let Product::Servo(tls) = product else {
        return Ok(BrowserProgram::find(product));
    };
    let program = match tls {
        // Both providers of rustls are in one program.
        ServoTls::AwsLc | ServoTls::Ring => Program::servo(),
        ServoTls::OpenSsl => Program::servo_openssl(),
    };
    let path = program.find_or_build_servo(&Terminal)?;
    Ok(BrowserProgram::at(product, path))
}
