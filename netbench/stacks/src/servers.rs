use std::sync::LazyLock;

use crate::{Build, Stack};

/// The servers, each with a description.
const SERVERS: [(&str, &str); 5] = [
    ("apache", "Apache's httpd"),
    ("haproxy", "HAProxy, which answers by itself"),
    ("nginx", "nginx"),
    ("node", "Node.js, with its modules https and http2"),
    (
        "openssl-s_server",
        "openssl s_server, OpenSSL's test server",
    ),
];

/// Returns the servers that a sites file can name in addition to stacks, by name: one worker starts the installed
/// servers.
pub fn installed_servers() -> &'static [Stack] {
    static ALL: LazyLock<Vec<Stack>> = LazyLock::new(|| {
        let servers = SERVERS.iter();
        servers
            .map(|(name, about)| of_worker("servers", name, about))
            .collect()
    });
    &ALL
}

/// Returns the server of the pages that test a browser's features, whose worker is built as those of stacks are.
pub fn web_server() -> &'static Stack {
    static SERVER: LazyLock<Stack> = LazyLock::new(|| {
        let about = "the server of the pages that test a browser's features";
        of_worker("web", "web", about)
    });
    &SERVER
}

fn of_worker(worker: &str, name: &str, about: &str) -> Stack {
    Stack {
        name: name.to_owned(),
        about: about.to_owned(),
        is_compared: false,
        executable: format!("netbench-worker-{worker}"),
        build: Build::cargo(&format!("netbench-{worker}"), &format!("netbench/{worker}")),
        fips: None,
        licences: Vec::new(),
    }
}
