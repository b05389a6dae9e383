//! A DNS server for browsers in a private network: it knows addresses, and HTTPS records (RFC 9460) with configurations of
//! Encrypted ClientHello.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use netbench_scan::codec::{
    Reader,
    dns::{
        A, ECH, HEADER_BYTES, HTTPS, IS_ANSWER, IS_CUT, MAX_UDP_BYTES, NO_SUCH_NAME, encoded_name,
        https_name, labels,
    },
    put_u16, put_vec16, vec16,
};

/// The interval at which the server checks whether it should end.
const LOOK: Duration = Duration::from_millis(2);

/// The time limit of a client for each read and write over TCP.
const TCP_LIMIT: Duration = Duration::from_millis(500);

const INTERNET: u16 = 1;

/// The bits of a header's flags (RFC 1035 section 4.1.1).
const IS_AUTHORITATIVE: u16 = 1 << 10;
const WANTS_RECURSION: u16 = 1 << 8;

/// The names that a server knows, all with the address 127.0.0.1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Zone {
    hosts: BTreeSet<String>,
    /// The data of each HTTPS record by its name.
    services: BTreeMap<String, Vec<u8>>,
}

impl Zone {
    /// Adds a host, and the HTTPS record of its server at `port` with a list of configurations of Encrypted ClientHello. A name
    /// that the DNS cannot have is not added.
    pub fn add(&mut self, host: &str, port: u16, ech_configs: &[u8]) {
        let host = host.to_ascii_lowercase();
        let Some(target) = encoded_name(&host) else {
            return;
        };
        let mut data = Vec::new();
        // The priority.
        put_u16(&mut data, 1);
        // The target is the host itself: "." would be the record's own name.
        data.extend(target);
        put_u16(&mut data, ECH);
        put_vec16(&mut data, ech_configs);
        self.services.insert(https_name(&host, port), data);
        self.hosts.insert(host);
    }

    /// Returns the answer to a message, or `None` if it is not one question.
    pub(crate) fn answer(&self, message: &[u8], transport: Transport) -> Option<Answer> {
        let question = Question::parse(message)?;
        let mut flags = IS_ANSWER | IS_AUTHORITATIVE | (question.flags & WANTS_RECURSION);
        let (host, service) = (
            self.hosts.contains(&question.name),
            self.services.get(&question.name),
        );
        let data = match question.kind {
            A if host => Some(Ipv4Addr::LOCALHOST.octets().to_vec()),
            HTTPS => service.cloned(),
            _ => None,
        };
        if !host && service.is_none() {
            flags |= u16::from(NO_SUCH_NAME);
        }
        let mut records = Vec::new();
        if let Some(data) = &data {
            // The name is that of the question.
            put_u16(&mut records, 0xc000 | 12);
            put_u16(&mut records, question.kind);
            put_u16(&mut records, INTERNET);
            // The record may be kept for five minutes.
            records.extend(300_u32.to_be_bytes());
            put_vec16(&mut records, data);
        }
        let length = HEADER_BYTES + question.encoded.len() + records.len();
        let most = match transport {
            Transport::Udp => MAX_UDP_BYTES,
            Transport::Tcp => usize::from(u16::MAX),
        };
        let is_cut = length > most;
        if is_cut {
            flags |= IS_CUT;
            records.clear();
        }
        let mut whole = Vec::new();
        put_u16(&mut whole, question.id);
        put_u16(&mut whole, flags);
        let answers = u16::from(!records.is_empty());
        for count in [1, answers, 0, 0] {
            put_u16(&mut whole, count);
        }
        whole.extend(question.encoded);
        whole.extend(records);
        let is_service = question.kind == HTTPS && data.is_some() && !is_cut;
        Some(Answer {
            message: whole,
            service: is_service.then_some(question.name),
        })
    }
}

/// The way in which a question arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Udp,
    Tcp,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) message: Vec<u8>,
    /// The name of the HTTPS record that it contains.
    pub(crate) service: Option<String>,
}

/// A message with one question.
struct Question<'a> {
    id: u16,
    flags: u16,
    /// The name in lowercase.
    name: String,
    kind: u16,
    /// The question as it arrived.
    encoded: &'a [u8],
}

impl<'a> Question<'a> {
    fn parse(message: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(message);
        let (id, flags, questions) = (reader.u16()?, reader.u16()?, reader.u16()?);
        // The counts of other records.
        reader.take(6)?;
        if flags & IS_ANSWER != 0 || questions != 1 {
            return None;
        }
        let body = reader.rest();
        let mut reader = Reader::new(body);
        // A question does not need references.
        let name = labels(&mut reader)?.join(&b'.').to_ascii_lowercase();
        let (kind, class) = (reader.u16()?, reader.u16()?);
        let length = body.len() - reader.rest().len();
        let name = String::from_utf8(name).ok()?;
        (class == INTERNET).then(|| Self {
            id,
            flags,
            name,
            kind,
            encoded: &body[..length],
        })
    }
}

/// A running DNS server, which ends when this value is dropped.
#[derive(Debug)]
pub struct NameServer {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    served: Arc<Mutex<BTreeSet<String>>>,
    threads: Vec<JoinHandle<()>>,
}

impl NameServer {
    /// Answers questions about a zone over UDP and TCP, at the same port; 0 is any port that is free for both.
    ///
    /// # Errors
    /// Returns an error if the address or a thread is not available.
    pub fn start(zone: Zone, address: SocketAddr) -> io::Result<Self> {
        let (udp, tcp) = bound(address)?;
        let address = udp.local_addr()?;
        udp.set_nonblocking(true)?;
        tcp.set_nonblocking(true)?;
        let mut server = Self {
            address,
            over: Arc::default(),
            served: Arc::default(),
            threads: Vec::new(),
        };
        let zone = Arc::new(zone);
        server.repeat({
            let (zone, served) = (Arc::clone(&zone), Arc::clone(&server.served));
            move || answer_udp(&zone, &udp, &served)
        })?;
        server.repeat({
            let served = Arc::clone(&server.served);
            move || {
                let (stream, _) = tcp.accept()?;
                // A client that does not follow the protocol is not served.
                let _ = answer_tcp(&zone, stream, &served);
                Ok(())
            }
        })?;
        Ok(server)
    }

    /// Returns its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns whether the HTTPS record of this server was sent.
    pub fn has_served(&self, host: &str, port: u16) -> bool {
        let served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
        served.contains(&https_name(&host.to_ascii_lowercase(), port))
    }

    /// Repeats an action in a thread until the server ends, with a pause after each that fails.
    fn repeat(
        &mut self,
        mut action: impl FnMut() -> io::Result<()> + Send + 'static,
    ) -> io::Result<()> {
        let over = Arc::clone(&self.over);
        let thread = thread::Builder::new().spawn(move || {
            while !over.load(Ordering::Relaxed) {
                if action().is_err() {
                    thread::sleep(LOOK);
                }
            }
        })?;
        self.threads.push(thread);
        Ok(())
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn answer_udp(zone: &Zone, socket: &UdpSocket, served: &Mutex<BTreeSet<String>>) -> io::Result<()> {
    let mut buffer = [0; MAX_UDP_BYTES];
    let (count, from) = socket.recv_from(&mut buffer)?;
    if let Some(answer) = zone.answer(&buffer[..count], Transport::Udp) {
        socket.send_to(&answer.message, from)?;
        record(served, answer);
    }
    Ok(())
}

fn answer_tcp(
    zone: &Zone,
    mut stream: TcpStream,
    served: &Mutex<BTreeSet<String>>,
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(TCP_LIMIT))?;
    stream.set_write_timeout(Some(TCP_LIMIT))?;
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut message)?;
    if let Some(answer) = zone.answer(&message, Transport::Tcp) {
        stream.write_all(&vec16(&answer.message))?;
        record(served, answer);
    }
    Ok(())
}

fn record(served: &Mutex<BTreeSet<String>>, answer: Answer) {
    let mut served = served.lock().unwrap_or_else(PoisonError::into_inner);
    served.extend(answer.service);
}

/// Binds sockets of both transports to an address. Where the kernel chooses the port for one of them, the other may be in
/// use, and it chooses again.
fn bound(address: SocketAddr) -> io::Result<(UdpSocket, TcpListener)> {
    const CHOICES: usize = 20;
    for _ in 1..CHOICES {
        match both(address) {
            Err(error) if address.port() == 0 && error.kind() == io::ErrorKind::AddrInUse => {}
            bound => return bound,
        }
    }
    both(address)
}

fn both(address: SocketAddr) -> io::Result<(UdpSocket, TcpListener)> {
    let udp = UdpSocket::bind(address)?;
    let tcp = TcpListener::bind(udp.local_addr()?)?;
    Ok((udp, tcp))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(list: &[u8]) -> Zone {
        let mut zone = Zone::default();
        zone.add("Case.netbench.test", 20_000, list);
        zone
    }

    fn question(name: &str, kind: u16) -> Vec<u8> {
        let mut message = Vec::new();
        for value in [7, WANTS_RECURSION, 1, 0, 0, 0] {
            put_u16(&mut message, value);
        }
        message.extend(encoded_name(name).unwrap());
        put_u16(&mut message, kind);
        put_u16(&mut message, INTERNET);
        message
    }

    #[test]
    fn questions_are_answered_from_the_zone() {
        let service = "_20000._https.case.netbench.test";
        let (ok, none) = (0, u16::from(NO_SUCH_NAME));
        for (name, kind, code, data) in [
            ("case.netbench.test", A, ok, Some(vec![127, 0, 0, 1])),
            ("CASE.netbench.test", A, ok, Some(vec![127, 0, 0, 1])),
            ("case.netbench.test", 28, ok, None),
            ("case.netbench.test", HTTPS, ok, None),
            (service, A, ok, None),
            (
                service,
                HTTPS,
                ok,
                Some(b"\0\x01\x04case\x08netbench\x04test\0\0\x05\0\x03abc".to_vec()),
            ),
            ("_20001._https.case.netbench.test", HTTPS, none, None),
            ("netbench.test", A, none, None),
        ] {
            let asked = question(name, kind);
            let answer = zone(b"abc").answer(&asked, Transport::Udp).unwrap();
            let flags = IS_ANSWER | IS_AUTHORITATIVE | WANTS_RECURSION | code;
            assert_eq!(&answer.message[..2], &7_u16.to_be_bytes());
            assert_eq!(&answer.message[2..4], &flags.to_be_bytes(), "{name}");
            assert_eq!(answer.message[7], u8::from(data.is_some()), "{name}");
            let record = &answer.message[asked.len()..];
            assert_eq!(record.get(12..), data.as_deref(), "{name} {kind}");
            let is_service = kind == HTTPS && data.is_some();
            assert_eq!(answer.service.is_some(), is_service, "{name} {kind}");
        }
    }

    #[test]
    fn an_answer_that_is_too_long_for_udp_is_given_over_tcp() {
        let asked = question("_20000._https.case.netbench.test", HTTPS);
        let zone = zone(&[0xff; 65_085]);
        let udp = zone.answer(&asked, Transport::Udp).unwrap();
        assert_eq!((udp.message.len(), udp.service), (asked.len(), None));
        assert_ne!(udp.message[2] & 2, 0, "it is cut");
        let tcp = zone.answer(&asked, Transport::Tcp).unwrap();
        assert!(tcp.message.len() > 65_085 && tcp.service.is_some());
    }

    #[test]
    fn messages_that_are_no_question_have_no_answer() {
        let whole = question("case.netbench.test", A);
        for end in 0..whole.len() {
            assert_eq!(zone(b"").answer(&whole[..end], Transport::Udp), None);
        }
        for (at, byte) in [(2, 0x80), (5, 2), (12, 0xc0), (whole.len() - 1, 3)] {
            let mut wrong = whole.clone();
            wrong[at] = byte;
            assert_eq!(zone(b"").answer(&wrong, Transport::Tcp), None, "{at}");
        }
    }

    #[test]
    fn a_server_answers_over_both_transports() {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = NameServer::start(zone(&[1; 600]), any).unwrap();
        let address = server.address();
        let asked = question("_20000._https.case.netbench.test", HTTPS);
        let client = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        client.set_read_timeout(Some(5 * TCP_LIMIT)).unwrap();
        client.send_to(&asked, address).unwrap();
        let mut buffer = [0; MAX_UDP_BYTES];
        assert_eq!(client.recv(&mut buffer).unwrap(), asked.len());
        assert!(!server.has_served("case.netbench.test", 20_000));
        let mut stream = TcpStream::connect(address).unwrap();
        let mut framed = Vec::new();
        put_vec16(&mut framed, &asked);
        stream.write_all(&framed).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(answer.len() > 600);
        assert!(server.has_served("case.netbench.test", 20_000));
    }
}
