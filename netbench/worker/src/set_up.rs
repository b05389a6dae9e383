use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use http::{Request, Uri};
use http_body_util::Empty;
use netbench_protocol::Resolve;
use netbench_tls::{Profile, SetUpStep, Spent, StepCost};

use crate::{Fetch, Probe, SetupError, Stack, TimedTcp, client::HyperClient, spent::spent};

/// A step of a stack's set-up, which runs separately.
pub struct SetUpAction<'a> {
    /// The step.
    pub step: SetUpStep,
    /// Executes the step. Its results are dropped within the call.
    pub run: Box<dyn FnMut() -> Result<(), SetupError> + 'a>,
}

impl<'a> SetUpAction<'a> {
    /// Creates the action that executes `run` as the step `step`.
    pub fn new(step: SetUpStep, run: impl FnMut() -> Result<(), SetupError> + 'a) -> Self {
        Self {
            step,
            run: Box::new(run),
        }
    }
}

/// Executes the stack's steps and the step that is independent of the stack, and then all of them again. In a fresh
/// process, the first execution corresponds to a first connection.
///
/// # Errors
/// A step that the library refuses.
pub(crate) fn take_steps(
    stack: &dyn Stack,
    settings: &netbench_tls::ClientSettings,
    roots_pem: &str,
) -> Result<Vec<StepCost>, SetupError> {
    let address = serve_without_tls().map_err(|e| SetupError::refused("loopback", e))?;
    let mut actions = stack.set_up_actions(settings, roots_pem);
    actions.push(SetUpAction::new(SetUpStep::Http, || {
        fetch_without_tls(address)
    }));
    // All steps run once before all run again, not each step twice: recently executed code would be in the processor's
    // caches, which is not the case in a second connection.
    let (first, again) = (run_all(&mut actions)?, run_all(&mut actions)?);
    let steps = actions.iter().map(|action| action.step);
    let costs = steps.zip(first).zip(again);
    Ok(costs
        .map(|((step, first), again)| StepCost { step, first, again })
        .collect())
}

fn run_all(actions: &mut [SetUpAction<'_>]) -> Result<Vec<Spent>, SetupError> {
    actions
        .iter_mut()
        .map(|action| {
            let (done, took) = spent(&mut action.run);
            done.map(|()| took)
        })
        .collect()
}

/// Answers requests on the loopback interface without TLS, on a separate thread, whose time does not count.
fn serve_without_tls() -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming() {
            // A client that closes early is not an error of the server.
            let _ = stream.and_then(answer);
        }
    });
    Ok(address)
}

/// Makes a request without TLS through the client that every stack uses.
fn fetch_without_tls(address: SocketAddr) -> Result<(), SetupError> {
    const LIMIT: Duration = Duration::from_secs(5);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| SetupError::refused("runtime", e))?;
    let fetched = runtime.block_on(async { tokio::time::timeout(LIMIT, fetch(address)).await });
    match fetched {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(SetupError::refused("HTTP", error)),
        Err(error) => Err(SetupError::refused("HTTP", error)),
    }
}

async fn fetch(address: SocketAddr) -> Result<(), crate::FetchError> {
    let probe = Probe::new();
    probe.aim(address, Resolve::Given);
    let profile = Profile::Default;
    let tcp = TimedTcp::new(profile, &probe);
    let client = HyperClient::new(tcp, profile, &probe);
    let mut request = Request::new(Empty::new());
    *request.uri_mut() = Uri::from_static("http://set-up.test/");
    client.fetch(request).await?;
    Ok(())
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut head = [0; 1024];
    let _ = stream.read(&mut head)?;
    stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spent::{fault_ns, minor_faults};

    #[test]
    fn a_request_without_tls_is_answered() {
        let address = serve_without_tls().unwrap();
        for _ in 0..2 {
            fetch_without_tls(address).unwrap();
        }
    }

    #[test]
    fn faults_are_counted_and_take_time() {
        let before = minor_faults();
        let pages = vec![1_u8; 64 << 12];
        assert!(pages.iter().all(|byte| *byte == 1));
        assert!(minor_faults() > before);
        let ns = fault_ns().unwrap();
        assert!((50..1_000_000).contains(&ns), "{ns}");
    }
}
