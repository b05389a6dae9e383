//! HTTP for a server that only does TLS: `openssl s_server` prints the negotiated parameters and its clients'
//! data, and sends its input to the clients.
//!
//! The server reads from a socket that keeps messages apart, because it interprets a message that begins with
//! one of some letters as a command. No message here does: each begins as the response's head does, or as a
//! line of the page.

use std::{
    collections::VecDeque,
    fmt::Write as _,
    io::{self, Read},
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::net::UnixDatagram,
    },
    process::ChildStdout,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use netbench_protocol::{PAGE_LINE, SERVER_VIEW_HEADER};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::words::{self, Pair, View};

/// Number of lines of the page in a message. The server reads 16 KiB at once, and drops the rest of a longer
/// message.
const LINES: usize = 200;

/// The maximum output that is kept of a connection that sends no request.
const MOST_SAID: usize = 1 << 20;

/// The end of a request's head. The server's own output never contains these bytes.
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// The lines that the server prints, and does not buffer, when a connection has ended.
const ENDS: [&[u8]; 2] = [b"\nDONE\n", b"\nERROR\n"];

nix::ioctl_read_bad!(queued_bytes, nix::libc::TIOCOUTQ, nix::libc::c_int);

/// The reason why no more requests are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The server has ended.
    Ended,
    /// A client disconnected before the end of its response, and the next client would receive the rest.
    Spoilt,
}

/// The socket that a server reads from, and its peer.
pub(crate) struct Relay {
    input: UnixDatagram,
    body_bytes: u64,
}

impl Relay {
    /// Makes a relay for a server whose page has `body_bytes` bytes, and that server's standard input.
    pub(crate) fn new(body_bytes: u64) -> io::Result<(Self, OwnedFd)> {
        let (input, servers) = UnixDatagram::pair()?;
        input.set_nonblocking(true)?;
        Ok((Self { input, body_bytes }, servers.into()))
    }

    /// Answers every request that the server prints, for as long as the server can be used.
    pub(crate) fn run(&self, mut output: ChildStdout) -> io::Result<Stopped> {
        let mut conversation = Conversation::default();
        let mut due: VecDeque<Due> = VecDeque::new();
        loop {
            let mut places = vec![PollFd::new(output.as_fd(), PollFlags::POLLIN)];
            if !due.is_empty() {
                places.push(PollFd::new(self.input.as_fd(), PollFlags::POLLOUT));
            }
            poll(&mut places, PollTimeout::NONE)?;
            let ready: Vec<bool> = places
                .iter()
                .map(|place| place.any().unwrap_or(false))
                .collect();
            if ready[0] {
                let mut bytes = [0; 16 << 10];
                let count = output.read(&mut bytes)?;
                if count == 0 {
                    return Ok(Stopped::Ended);
                }
                for event in conversation.enter(&bytes[..count]) {
                    match event {
                        Event::Request { view } => due.push_back(Due::new(&view, self.body_bytes)),
                        Event::End if due.is_empty() && self.queued()? == 0 => {}
                        Event::End => return Ok(Stopped::Spoilt),
                    }
                }
            }
            if ready.get(1) == Some(&true)
                && let Some(first) = due.front_mut()
            {
                match self.input.send(&first.message()) {
                    Ok(_) => first.sent(),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
                due.retain(|due| !due.is_done());
            }
        }
    }

    fn queued(&self) -> io::Result<i32> {
        let mut bytes = 0;
        // SAFETY: the call writes only this number.
        unsafe { queued_bytes(self.input.as_raw_fd(), &raw mut bytes) }?;
        Ok(bytes)
    }
}

/// The rest of a response that is still to be sent.
struct Due {
    /// The head of the response; empty once it is sent.
    head: String,
    body_bytes: u64,
}

impl Due {
    fn new(view: &str, body_bytes: u64) -> Self {
        let mut head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n".to_owned();
        // Writing to a string cannot fail.
        let _ = write!(
            head,
            "content-length: {body_bytes}\r\n{SERVER_VIEW_HEADER}: {view}\r\n\r\n"
        );
        Self { head, body_bytes }
    }

    /// Returns the next message: whole lines of the page, except at its end.
    fn message(&self) -> Vec<u8> {
        let body = PAGE_LINE.iter().copied().cycle().take(self.next_bytes());
        self.head.bytes().chain(body).collect()
    }

    fn next_bytes(&self) -> usize {
        let most = LINES * PAGE_LINE.len();
        usize::try_from(self.body_bytes).map_or(most, |left| left.min(most))
    }

    fn sent(&mut self) {
        self.body_bytes -= self.next_bytes() as u64;
        self.head.clear();
    }

    fn is_done(&self) -> bool {
        self.head.is_empty() && self.body_bytes == 0
    }
}

/// The output of a server.
#[derive(Default)]
struct Conversation {
    said: Vec<u8>,
    /// The negotiated parameters of the connection, once the server has printed them.
    view: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum Event {
    /// A client requests the page.
    Request { view: String },
    /// A connection has ended.
    End,
}

impl Conversation {
    fn enter(&mut self, bytes: &[u8]) -> Vec<Event> {
        self.said.extend_from_slice(bytes);
        let mut events = Vec::new();
        while let Some(event) = self.next() {
            events.push(event);
        }
        if self.said.len() > MOST_SAID {
            self.said.clear();
        }
        events
    }

    fn next(&mut self) -> Option<Event> {
        let ends = ENDS.iter().filter_map(|end| find(&self.said, end));
        let end = ends.min_by_key(|range| range.0);
        let head = find(&self.said, END_OF_HEAD);
        match (head, end) {
            (Some(head), end) if end.is_none_or(|end| head.0 < end.0) => {
                let said: Vec<u8> = self.said.drain(..head.1).collect();
                let said = String::from_utf8_lossy(&said);
                let view = self.view.get_or_insert_with(|| view(&said)).clone();
                // The text that ends a connection begins a line.
                self.said.insert(0, b'\n');
                Some(Event::Request { view })
            }
            (_, Some(end)) => {
                self.said.drain(..end.1);
                self.view = None;
                Some(Event::End)
            }
            _ => None,
        }
    }
}

/// Returns the position of `part` in `bytes`: its start and end.
fn find(bytes: &[u8], part: &[u8]) -> Option<(usize, usize)> {
    let at = bytes.windows(part.len()).position(|here| here == part)?;
    Some((at, at + part.len()))
}

/// Returns the server's report of a connection. The client's data follow that report.
fn view(said: &str) -> String {
    let suite = json(said, "CIPHER is ", words::suites());
    let alpn = json(said, "ALPN protocols selected: ", words::protocols());
    let resumed = said.lines().any(|line| line == "Reused session-id");
    View {
        version: session_version(said).as_deref().unwrap_or("null"),
        suite: suite.as_deref().unwrap_or("null"),
        // The server reports only the groups that both sides have.
        group: "null",
        alpn: alpn.as_deref().unwrap_or("null"),
        resumed: if resumed { "true" } else { "false" },
    }
    .header()
}

/// Returns the JSON of the word that stands after the prefix of a line.
fn json(said: &str, prefix: &str, pairs: Vec<Pair>) -> Option<String> {
    let word = said.lines().find_map(|line| line.strip_prefix(prefix))?;
    let mut pairs = pairs.into_iter();
    pairs.find_map(|(known, json)| (known == word).then_some(json))
}

/// Returns the TLS version in the session that the server prints: a sequence of the format's version, which
/// is 1, and the protocol version, both as DER INTEGERs.
fn session_version(said: &str) -> Option<String> {
    let (_, session) = said.split_once("-----BEGIN SSL SESSION PARAMETERS-----")?;
    let (session, _) = session.split_once("-----END")?;
    let session: String = session.split_whitespace().collect();
    let session = BASE64_STANDARD.decode(session).ok()?;
    let (_, after) = find(session.get(..16)?, &[2, 1, 1, 2, 2])?;
    let version = match session.get(after..after + 2)? {
        [3, 3] => "1.2",
        [3, 4] => "1.3",
        _ => return None,
    };
    Some(format!("\"{version}\""))
}

#[cfg(test)]
mod tests {
    use netbench_tls::{ServerView, TlsVersion};

    use super::*;

    const ACCOUNT: &str = "ACCEPT\nALPN protocols advertised by the client: h2, http/1.1\n\
        ALPN protocols selected: http/1.1\n-----BEGIN SSL SESSION PARAMETERS-----\n\
        MGsCAQECAgMDBALAMAQABDBLMirW/oSbZtzLFu2+cCJqs13T+sAPn53d/m7q7ag/\n\
        7ZbwVYevKKtstsaENYaTVjOhBgIEawQy2aIEAgIcIKQGBAQBAAAArQMCAQGwCgQI\n\
        aHR0cC8xLjGzAwIBHQ==\n-----END SSL SESSION PARAMETERS-----\n\
        CIPHER is ECDHE-RSA-AES256-GCM-SHA384\nReused session-id\nSecure Renegotiation IS supported\n";
    const REQUEST: &str = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";

    fn read(view: &str) -> ServerView {
        serde_json::from_str(view).unwrap()
    }

    #[test]
    fn the_account_of_a_connection_is_for_all_of_its_requests_and_no_longer() {
        let mut all = Conversation::default();
        let text = format!(
            "{ACCOUNT}{REQUEST}{REQUEST}DONE\nshutting down SSL\nCONNECTION CLOSED\n\
             CIPHER is TLS_AES_128_GCM_SHA256\n{REQUEST}ERROR\n"
        );
        // The output arrives in pieces of any size.
        let mut events = Vec::new();
        for piece in text.as_bytes().chunks(7) {
            events.extend(all.enter(piece));
        }
        let views: Vec<_> = events
            .iter()
            .map(|event| match event {
                Event::Request { view } => Some(read(view).negotiated),
                Event::End => None,
            })
            .collect();
        let [Some(first), Some(second), None, Some(other), None] = &views[..] else {
            panic!("{events:?}");
        };
        assert_eq!(first, second);
        assert_eq!(first.version, Some(TlsVersion::Tls12));
        assert_eq!(
            first.suite.unwrap().name(),
            Some("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384")
        );
        assert_eq!(first.alpn.as_deref(), Some("http/1.1"));
        assert!(first.resumed);
        assert_eq!(other.version, None);
        assert_eq!(other.alpn, None);
        assert!(!other.resumed);
    }

    #[test]
    fn messages_make_the_response_and_none_is_a_command() {
        for body_bytes in [0, 1, 15_200, 15_201, 100_000] {
            let mut due = Due::new("{}", body_bytes);
            let mut sent = Vec::new();
            while !due.is_done() {
                let message = due.message();
                assert!(message.len() <= 16 << 10);
                assert!(matches!(message[0], b'H' | b'<'), "{:?}", message[0]);
                sent.extend(message);
                due.sent();
            }
            let (_, head) = find(&sent, END_OF_HEAD).unwrap();
            let page = PAGE_LINE.iter().cycle().take(sent.len() - head);
            assert!(page.eq(&sent[head..]));
            assert_eq!((sent.len() - head) as u64, body_bytes);
        }
    }
}
