//! The browsers on this machine. Servo has no package: netbench builds it.

use netbench_browser::{BrowserError, BrowserProgram, Product, ServoTls};

use crate::workers::{Program, Terminal};

/// Finds a browser, or returns the reason why it cannot be used. A Servo that is not there is built.
///
/// # Errors
/// Returns an error if the build fails.
pub(crate) fn find(product: Product) -> anyhow::Result<Result<BrowserProgram, BrowserError>> {
    let Product::Servo(tls) = product else {
        return Ok(BrowserProgram::find(product));
    };
    let path = servo(tls).find_or_build_servo(&Terminal)?;
    Ok(BrowserProgram::at(product, path))
}

/// Returns the program of a Servo. Both providers of rustls are in one program.
fn servo(tls: ServoTls) -> Program {
    match tls {
        ServoTls::AwsLc | ServoTls::Ring => Program::servo(),
        ServoTls::OpenSsl => Program::servo_openssl(),
    }
}
