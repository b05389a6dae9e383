//! Servers of the workers of stacks: TLS libraries that no package has a server of.

use std::{
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use netbench_model::{
    CipherSuite, Group,
    tls::{Alpn, TlsVersion},
};
use netbench_protocol::{
    Operation, Request, RequestBody, Response, ResponseBody, Serve, ServeSite,
};
use netbench_testing::worker;

use crate::{
    libraries::is_found,
    support::{Files, HOST, Key, Server},
};

/// Workers that must be there, and others that are used where they are.
const WORKERS: [&str; 3] = ["rustls", "openssl", "s2n-tls"];
const OTHERS: [&str; 3] = ["aws-lc", "boringssl", "openssl@4.0"];

/// A worker that answers requests.
struct Worker {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    fn start(program: &Path) -> Self {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, answers }
    }

    fn ask(&mut self, body: RequestBody) -> ResponseBody {
        let mut line = serde_json::to_string(&Request { id: 1, body }).unwrap();
        line.push('\n');
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.flush().unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        let answer: Response = serde_json::from_str(&answer).unwrap();
        answer.body
    }

    /// Returns the first stack that can serve.
    fn stack(&mut self) -> String {
        let ResponseBody::Description(description) = self.ask(RequestBody::Describe) else {
            panic!("a worker does not describe itself");
        };
        let mut stacks = description.stacks.into_iter();
        let stack = stacks.find(|stack| stack.does(Operation::Serve));
        stack.expect("a stack that serves").record.stack
    }

    /// Lets the worker serve a site. Returns `None` if the library does not support the settings.
    fn serve(mut self, site: ServeSite) -> Option<Server> {
        let name = site.site.clone();
        let stack = self.stack();
        let serve = Serve {
            stack,
            sites: vec![site],
            shared: None,
        };
        let ResponseBody::Serving(serving) = self.ask(RequestBody::Serve(Box::new(serve))) else {
            panic!("a worker does not serve");
        };
        let address: Option<&SocketAddr> = serving.listening.get(&name);
        assert!(serving.failed.is_empty(), "{:?}", serving.failed);
        let address = *address?;
        Some(Server::at(self.child, address))
    }
}

struct Setting {
    versions: &'static [TlsVersion],
    suites: &'static [CipherSuite],
    groups: &'static [Group],
}

pub(crate) fn workers_are_enumerated() {
    let settings = [
        Setting {
            versions: &[TlsVersion::Tls12, TlsVersion::Tls13],
            suites: &[],
            groups: &[],
        },
        Setting {
            versions: &[TlsVersion::Tls12],
            suites: CipherSuite::OFFERED,
            groups: &[Group::SECP384R1, Group::X25519],
        },
        Setting {
            versions: &[TlsVersion::Tls13],
            suites: &[],
            groups: &[Group::SECP256R1],
        },
    ];
    for (name, is_due) in WORKERS
        .map(|name| (name, true))
        .into_iter()
        .chain(OTHERS.map(|name| (name, false)))
    {
        let Some(program) = worker(name) else {
            assert!(!is_due, "{name} is needed for this test");
            println!("{name} is not built");
            continue;
        };
        for key in [Key::Rsa, Key::EcdsaP256] {
            let files = Files::new(key);
            for (number, setting) in settings.iter().enumerate() {
                let site = ServeSite {
                    site: HOST.to_owned(),
                    listen: (Ipv4Addr::LOCALHOST, 0).into(),
                    chain_pem: files.read("whole.pem"),
                    key_pem: files.read("key.pem"),
                    versions: setting.versions.to_vec(),
                    suites: setting.suites.to_vec(),
                    groups: setting.groups.to_vec(),
                    alpn: vec![Alpn::Http11],
                    tickets: 2,
                    early_data: None,
                    client_root_pem: None,
                    ech_keys: Vec::new(),
                    ocsp_base64: None,
                    body_bytes: 100,
                    fault: None,
                    congestion: None,
                };
                let name = format!("worker of {name}, {key:?}, {number}");
                match Worker::start(&program).serve(site) {
                    Some(server) => is_found(&server, &name),
                    None => assert!(number > 0, "{name}: it does not serve"),
                }
            }
        }
    }
}
