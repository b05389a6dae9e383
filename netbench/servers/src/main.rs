//! The worker of servers that are not part of netbench: nginx, Apache, HAProxy, Node.js and `openssl
//! s_server` serve the lab's sites as these servers are installed on this machine.
//!
//! The worker implements one operation of the worker protocol, `serve`. Each server is a child process with a
//! private folder, and both are removed when this process ends. Start reading at [`worker`], then
//! [`program`], where a further server is one entry of a table.

mod program;
mod relay;
mod server;
mod words;
mod worker;

use std::process::ExitCode;

fn main() -> ExitCode {
    worker::run()
}
