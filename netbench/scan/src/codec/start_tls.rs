//! The dialogue in plain text by which a client asks a server for TLS.

use netbench_model::StartTls;
use x509_parser::{
    asn1_rs::{Any, FromBer},
    nom,
};

/// The most bytes of a server's part of a dialogue.
const MOST_BYTES: usize = 64 * 1024;

/// The tag of IMAP commands (RFC 9051 section 2.2.1).
const TAG: &str = "a1";

/// The tag of a message of LDAP.
const SEQUENCE: u8 = 0x30;

/// The next action of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartTlsStep {
    /// Waits for more.
    Wait,
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Begins the handshake.
    Handshake,
    /// Leaves, for this reason. It may quote the server.
    Leave(String),
}

/// The client's side of a dialogue.
#[derive(Debug)]
pub struct StartTlsDialogue {
    protocol: StartTls,
    state: State,
    bytes: Vec<u8>,
    /// The lines of a reply of SMTP that is not whole yet.
    reply: String,
    received: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The server greets.
    Greeting,
    /// The server lists what it can do.
    Capabilities,
    /// The server says whether it begins TLS.
    Asked,
}

impl StartTlsDialogue {
    /// A dialogue with this host, and what the client says first, where it does.
    pub fn new(protocol: StartTls, host: &str) -> (Self, Option<Vec<u8>>) {
        let (state, first) = match protocol {
            StartTls::Smtp | StartTls::Imap | StartTls::Pop3 => (State::Greeting, None),
            StartTls::Ldap => (State::Asked, Some(ldap_request())),
            StartTls::Postgresql => (State::Asked, Some(postgresql_request())),
            StartTls::Xmpp => (State::Capabilities, Some(xmpp_stream(host))),
        };
        let dialogue = Self {
            protocol,
            state,
            bytes: Vec::new(),
            reply: String::new(),
            received: 0,
        };
        (dialogue, first)
    }

    /// Takes what has arrived.
    pub fn push(&mut self, arrived: &[u8]) -> StartTlsStep {
        self.bytes.extend_from_slice(arrived);
        self.received += arrived.len();
        if self.received > MOST_BYTES {
            return StartTlsStep::Leave(format!("sends more than {} KiB", MOST_BYTES / 1024));
        }
        let step = match self.protocol {
            StartTls::Smtp => self.smtp(),
            StartTls::Imap => self.imap(),
            StartTls::Pop3 => self.pop3(),
            StartTls::Ldap => self.ldap(),
            StartTls::Postgresql => self.postgresql(),
            StartTls::Xmpp => self.xmpp(),
        };
        match step {
            // TLS would take it for a record, or a client for a part of the encrypted dialogue (CVE-2011-0411).
            StartTlsStep::Handshake if !self.bytes.is_empty() => {
                StartTlsStep::Leave("sends more in plain text after it agreed to TLS".to_owned())
            }
            step => step,
        }
    }

    /// RFC 3207.
    fn smtp(&mut self) -> StartTlsStep {
        while let Some(line) = self.line() {
            self.reply.push_str(&line);
            self.reply.push('\n');
            // Each line of a reply but the last has a hyphen after the code (RFC 5321 section 4.2.1).
            let code = line.bytes().take_while(u8::is_ascii_digit).count();
            if code != 3 || line.as_bytes().get(code) != Some(&b'-') {
                let reply = std::mem::take(&mut self.reply);
                return self.smtp_reply(&reply);
            }
        }
        StartTlsStep::Wait
    }

    fn smtp_reply(&mut self, reply: &str) -> StartTlsStep {
        match (self.state, reply.get(..3)) {
            (State::Greeting, Some("220")) => {
                self.state = State::Capabilities;
                StartTlsStep::Send(b"EHLO netbench.invalid\r\n".to_vec())
            }
            (State::Capabilities, Some("250")) => {
                let mut keywords = reply.lines().filter_map(|line| line.get(4..));
                if !keywords.any(|word| word.eq_ignore_ascii_case("STARTTLS")) {
                    return StartTlsStep::Leave("does not offer STARTTLS".to_owned());
                }
                self.state = State::Asked;
                StartTlsStep::Send(b"STARTTLS\r\n".to_vec())
            }
            (State::Asked, Some("220")) => StartTlsStep::Handshake,
            _ => answered(reply),
        }
    }

    /// RFC 9051 section 6.2.1.
    fn imap(&mut self) -> StartTlsStep {
        while let Some(line) = self.line() {
            match self.state {
                State::Greeting if line.starts_with("* OK") => {
                    self.state = State::Asked;
                    return StartTlsStep::Send(format!("{TAG} STARTTLS\r\n").into_bytes());
                }
                State::Asked if line.starts_with("* ") && !line.starts_with("* BYE") => {}
                State::Asked if line.starts_with(&format!("{TAG} OK")) => {
                    return StartTlsStep::Handshake;
                }
                _ => return answered(&line),
            }
        }
        StartTlsStep::Wait
    }

    /// RFC 2595 section 4.
    fn pop3(&mut self) -> StartTlsStep {
        let Some(line) = self.line() else {
            return StartTlsStep::Wait;
        };
        match self.state {
            _ if !line.starts_with("+OK") => answered(&line),
            State::Greeting => {
                self.state = State::Asked;
                StartTlsStep::Send(b"STLS\r\n".to_vec())
            }
            State::Capabilities | State::Asked => StartTlsStep::Handshake,
        }
    }

    /// RFC 4511 section 4.14.
    fn ldap(&mut self) -> StartTlsStep {
        let Some(&first) = self.bytes.first() else {
            return StartTlsStep::Wait;
        };
        if first != SEQUENCE {
            return answered(&String::from_utf8_lossy(&self.bytes));
        }
        let (rest, message) = match Any::from_ber(&self.bytes) {
            Ok(read) => read,
            Err(nom::Err::Incomplete(_)) => return StartTlsStep::Wait,
            Err(_) => return StartTlsStep::Leave("is not LDAP".to_owned()),
        };
        let step = match ldap_result(message.data) {
            Some((0, _)) => StartTlsStep::Handshake,
            Some((code, why)) => StartTlsStep::Leave(format!("refuses: result {code} {why}")),
            None => StartTlsStep::Leave("is not LDAP".to_owned()),
        };
        self.bytes = rest.to_vec();
        step
    }

    /// "SSL Session Encryption" in the documentation of the protocol of PostgreSQL.
    fn postgresql(&mut self) -> StartTlsStep {
        match self.bytes.first() {
            None => StartTlsStep::Wait,
            Some(b'S') => {
                self.bytes.drain(..1);
                StartTlsStep::Handshake
            }
            Some(b'N') => StartTlsStep::Leave("has no TLS".to_owned()),
            Some(_) => answered(&String::from_utf8_lossy(&self.bytes)),
        }
    }

    /// RFC 6120 section 5.
    fn xmpp(&mut self) -> StartTlsStep {
        let text = String::from_utf8_lossy(&self.bytes).into_owned();
        let start = text.trim_start();
        if !start.is_empty() && !start.starts_with('<') {
            return answered(start);
        }
        if text.contains("<stream:error") {
            return answered(text.split("<stream:error").nth(1).unwrap_or_default());
        }
        let (ends, answer): (&[&str], _) = match self.state {
            State::Greeting | State::Capabilities => {
                (&["</stream:features>", "<stream:features/>"], "<starttls")
            }
            State::Asked => (&["/>", "</proceed>", "</failure>"], "<proceed"),
        };
        let Some(end) = ends
            .iter()
            .find_map(|end| Some(text.find(end)? + end.len()))
        else {
            return StartTlsStep::Wait;
        };
        let is_offered = text.get(..end).is_some_and(|text| text.contains(answer));
        // What follows is at most white space: a server waits for the client.
        let rest = text.get(end..).unwrap_or_default().trim();
        self.bytes = rest.as_bytes().to_vec();
        match (self.state, is_offered) {
            (State::Asked, true) => StartTlsStep::Handshake,
            (State::Asked, false) => StartTlsStep::Leave("refuses TLS".to_owned()),
            (_, false) => StartTlsStep::Leave("does not offer STARTTLS".to_owned()),
            (_, true) => {
                self.state = State::Asked;
                let ask = "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>";
                StartTlsStep::Send(ask.as_bytes().to_vec())
            }
        }
    }

    /// The next line, without its end.
    fn line(&mut self) -> Option<String> {
        let end = self.bytes.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.bytes.drain(..=end).collect();
        Some(String::from_utf8_lossy(&line).trim_end().to_owned())
    }
}

/// The reason to leave a server that answered otherwise than expected.
fn answered(text: &str) -> StartTlsStep {
    let text = text.split('\n').next().unwrap_or_default().trim_end();
    let start: String = text.chars().take(100).collect();
    StartTlsStep::Leave(format!("answers {start:?}"))
}

/// An ExtendedRequest with the name of StartTLS, as message 1.
fn ldap_request() -> Vec<u8> {
    const NAME: &[u8] = b"1.3.6.1.4.1.1466.20037";
    let name = ber(0x80, NAME);
    let request = ber(0x77, &name);
    ber(SEQUENCE, &[&[0x02, 1, 1], &request[..]].concat())
}

/// The result code and the diagnostic message of an ExtendedResponse.
fn ldap_result(message: &[u8]) -> Option<(u8, String)> {
    const EXTENDED_RESPONSE: u8 = 0x78;
    let (response, _) = Any::from_ber(message).ok()?;
    if response.first() != Some(&EXTENDED_RESPONSE) {
        return None;
    }
    let (_, response) = Any::from_ber(response).ok()?;
    let (rest, code) = Any::from_ber(response.data).ok()?;
    let (rest, _) = Any::from_ber(rest).ok()?;
    let (_, why) = Any::from_ber(rest).ok()?;
    let why = String::from_utf8_lossy(why.data).into_owned();
    Some((*code.data.first()?, why))
}

/// An SSLRequest.
fn postgresql_request() -> Vec<u8> {
    const CODE: u32 = 80_877_103;
    [8_u32.to_be_bytes(), CODE.to_be_bytes()].concat()
}

fn xmpp_stream(host: &str) -> Vec<u8> {
    format!(
        "<?xml version='1.0'?><stream:stream xmlns='jabber:client' \
         xmlns:stream='http://etherx.jabber.org/streams' to='{host}' version='1.0'>"
    )
    .into_bytes()
}

/// Encodes a short value in the Basic Encoding Rules.
fn ber(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u8::try_from(content.len()).unwrap_or(u8::MAX);
    [&[tag, length], content].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the client's actions after each of the parts that a server sends.
    fn steps(protocol: StartTls, parts: &[&[u8]]) -> Vec<StartTlsStep> {
        let (mut dialogue, _) = StartTlsDialogue::new(protocol, "mail.test");
        parts.iter().map(|part| dialogue.push(part)).collect()
    }

    fn last(protocol: StartTls, parts: &[&[u8]]) -> StartTlsStep {
        // In pieces of one byte, all but the last of each part has to be waited for.
        let (mut dialogue, _) = StartTlsDialogue::new(protocol, "mail.test");
        let mut last = StartTlsStep::Wait;
        for part in parts {
            for (at, byte) in part.iter().enumerate() {
                last = dialogue.push(&[*byte]);
                let is_end = at + 1 == part.len();
                assert!(is_end || last == StartTlsStep::Wait, "{last:?}");
            }
        }
        assert_eq!(steps(protocol, parts).pop(), Some(last.clone()));
        last
    }

    #[test]
    fn a_server_that_agrees_begins_the_handshake() {
        let cases: [(StartTls, &[&[u8]]); 6] = [
            (
                StartTls::Smtp,
                &[
                    b"220-mail.test\r\n220 ESMTP\r\n",
                    b"250-mail.test\r\n250-SIZE\r\n250-starttls\r\n250 OK\r\n",
                    b"220 2.0.0 Ready\r\n",
                ],
            ),
            (
                StartTls::Imap,
                &[
                    b"* OK [CAPABILITY IMAP4rev1 STARTTLS] ready\r\n",
                    b"* NO busy\r\na1 OK Begin\r\n",
                ],
            ),
            (StartTls::Pop3, &[b"+OK ready\r\n", b"+OK Begin\r\n"]),
            (
                StartTls::Ldap,
                &[&[0x30, 12, 2, 1, 1, 0x78, 7, 10, 1, 0, 4, 0, 4, 0]],
            ),
            (StartTls::Postgresql, &[b"S"]),
            (
                StartTls::Xmpp,
                &[
                    b"<?xml version='1.0'?><stream:stream id='1'><stream:features><starttls \
                      xmlns='urn:ietf:params:xml:ns:xmpp-tls'><required/></starttls></stream:features>",
                    b"<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>",
                ],
            ),
        ];
        for (protocol, parts) in cases {
            assert_eq!(last(protocol, parts), StartTlsStep::Handshake, "{protocol}");
            let more = [parts[parts.len() - 1], b"<more>"].concat();
            let mut parts = parts.to_vec();
            let place = parts.len() - 1;
            parts[place] = &more;
            let step = steps(protocol, &parts).pop();
            assert!(
                matches!(step, Some(StartTlsStep::Leave(_))),
                "{protocol}: {step:?}"
            );
        }
    }

    #[test]
    fn a_server_that_does_not_agree_is_left_with_its_words() {
        let cases: [(StartTls, &[&[u8]], &str); 11] = [
            (
                StartTls::Smtp,
                &[b"220 x\r\n", b"250 mail.test\r\n"],
                "does not offer STARTTLS",
            ),
            (StartTls::Smtp, &[b"421 too many\r\n"], "421 too many"),
            (StartTls::Smtp, &[b"SSH-2.0-x\r\n"], "SSH-2.0-x"),
            (
                StartTls::Smtp,
                &[b"220 x\r\n", b"250 STARTTLS\r\n", b"454 no certificate\r\n"],
                "454 no certificate",
            ),
            (StartTls::Imap, &[b"* BYE x\r\n"], "* BYE x"),
            (StartTls::Imap, &[b"* OK x\r\n", b"a1 BAD x\r\n"], "a1 BAD"),
            (StartTls::Pop3, &[b"+OK\r\n", b"-ERR no\r\n"], "-ERR no"),
            (
                StartTls::Ldap,
                &[&[0x30, 14, 2, 1, 1, 0x78, 9, 10, 1, 2, 4, 0, 4, 2, b'n', b'o']],
                "result 2 no",
            ),
            (StartTls::Postgresql, &[b"N"], "has no TLS"),
            (
                StartTls::Xmpp,
                &[b"<stream:stream><stream:features/>"],
                "does not offer STARTTLS",
            ),
            (StartTls::Xmpp, &[b"HTTP/1.1 400\r\n"], "HTTP/1.1 400"),
        ];
        for (protocol, parts, word) in cases {
            let step = steps(protocol, parts).pop();
            assert!(
                matches!(&step, Some(StartTlsStep::Leave(why)) if why.contains(word)),
                "{protocol}: {step:?}"
            );
        }
        let endless = vec![b'x'; MOST_BYTES + 1];
        let step = steps(StartTls::Imap, &[&endless]).pop();
        assert!(matches!(step, Some(StartTlsStep::Leave(_))), "{step:?}");
    }

    #[test]
    fn requests_are_as_their_protocols_have_them() {
        let (_, ldap) = StartTlsDialogue::new(StartTls::Ldap, "a.test");
        let ldap = ldap.unwrap();
        // RFC 4511 appendix B and section 4.14.1.
        assert_eq!(ldap[..9], [0x30, 0x1d, 2, 1, 1, 0x77, 0x18, 0x80, 0x16]);
        assert_eq!(ldap[9..], *b"1.3.6.1.4.1.1466.20037");
        let (_, postgresql) = StartTlsDialogue::new(StartTls::Postgresql, "a.test");
        assert_eq!(postgresql.unwrap(), [0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]);
        let (_, xmpp) = StartTlsDialogue::new(StartTls::Xmpp, "a.test");
        assert!(xmpp.unwrap().ends_with(b"to='a.test' version='1.0'>"));
    }
}
