//! Reader of a server's first flight: everything until the server waits for the client.

use netbench_model::tls::CipherSuite;

use super::{
    Alert, CertificateRequest, Message, Messages, ReadError, Record, Records, ServerHello,
    ServerKeyExchange, content, messages,
};

/// A server's first flight, as far as it has arrived. In TLS 1.3, everything after the hello is encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Flight {
    /// The ServerHello, or a HelloRetryRequest.
    pub hello: ServerHello,
    /// The message with its header, for the transcript.
    pub hello_message: Vec<u8>,
    /// The certificates, the leaf first, as DER.
    pub certificates: Option<Vec<Vec<u8>>>,
    /// A stapled OCSP response, as DER.
    pub ocsp: Option<Vec<u8>>,
    /// The ServerKeyExchange.
    pub key_exchange: Option<ServerKeyExchange>,
    /// The server's request for a client certificate, if there is one.
    pub certificate_request: Option<CertificateRequest>,
    /// Whether the flight is complete: it ends with ServerHelloDone, or in TLS 1.3 with the hello.
    pub is_done: bool,
    /// Every message after the hello, with its header: for a transcript.
    pub messages: Vec<u8>,
}

/// The progress of a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// More bytes are needed.
    More,
    /// The flight is complete.
    Done,
    /// An alert that ends the handshake.
    Alert(Alert),
}

/// A reader of a flight.
#[derive(Debug, Default)]
pub struct FlightReader {
    records: Records,
    joined: Messages,
    flight: Option<Flight>,
    empty_records: u32,
    /// Whether the flight answers the second hello of a connection.
    follows_retry: bool,
}

impl FlightReader {
    /// Creates a reader of the flight after a HelloRetryRequest, from the records that followed that message.
    pub fn after_retry(records: Records) -> Self {
        Self {
            records,
            follows_retry: true,
            ..Self::default()
        }
    }

    /// Returns the flight that has been read so far.
    pub fn flight(&self) -> Option<&Flight> {
        self.flight.as_ref()
    }

    /// Returns the flight that has been read, and the following records.
    pub fn into_parts(self) -> (Option<Flight>, Records) {
        (self.flight, self.records)
    }

    /// Adds arrived bytes, and reads as far as possible.
    ///
    /// # Errors
    /// Returns an error if the bytes cannot be a server's flight.
    pub fn push(&mut self, arrived: &[u8]) -> Result<Step, ReadError> {
        self.records.push(arrived);
        while let Some(record) = self.records.next_record()? {
            match self.take(&record)? {
                Step::More => {}
                step => return Ok(step),
            }
        }
        Ok(Step::More)
    }

    fn take(&mut self, record: &Record) -> Result<Step, ReadError> {
        match record.content {
            content::HANDSHAKE => {
                if record.payload.is_empty() {
                    self.empty_records += 1;
                    if self.empty_records > 32 {
                        return Err(ReadError::Malformed("many empty records".to_owned()));
                    }
                }
                self.joined.push(&record.payload);
                self.messages()
            }
            content::ALERT => match Alert::parse(&record.payload) {
                // Warnings, such as unrecognized_name, may nevertheless come before a ServerHello.
                Some(Alert {
                    level: 1,
                    description,
                }) if description != 0 => Ok(Step::More),
                Some(alert) => Ok(Step::Alert(alert)),
                None => Err(ReadError::Malformed(format!(
                    "an alert of {} bytes",
                    record.payload.len()
                ))),
            },
            // The following records are encrypted: the server resumes a session (RFC 5246 section 7.3).
            content::CHANGE_CIPHER_SPEC => match &mut self.flight {
                Some(flight) => {
                    flight.is_done = true;
                    Ok(Step::Done)
                }
                // For middleboxes (RFC 8446 appendix D.4).
                None if self.follows_retry => Ok(Step::More),
                None => Err(ReadError::Malformed(
                    "a ChangeCipherSpec before the ServerHello".to_owned(),
                )),
            },
            other => Err(ReadError::Malformed(format!(
                "a record of type {other} in a server's first flight"
            ))),
        }
    }

    fn messages(&mut self) -> Result<Step, ReadError> {
        while let Some(message) = self.joined.next_message()? {
            match self.message(&message)? {
                Step::More => {}
                step => return Ok(step),
            }
        }
        Ok(Step::More)
    }

    fn message(&mut self, message: &Message) -> Result<Step, ReadError> {
        let body = message.body();
        let Some(flight) = &mut self.flight else {
            return match message.kind {
                0 => Ok(Step::More),
                2 => {
                    let hello =
                        ServerHello::parse(body).ok_or_else(|| unreadable("ServerHello"))?;
                    let last = hello.version == 0x0304 || hello.is_retry;
                    self.flight = Some(Flight {
                        hello,
                        hello_message: message.whole.clone(),
                        is_done: last,
                        ..Flight::default()
                    });
                    Ok(if last { Step::Done } else { Step::More })
                }
                other => Err(ReadError::Malformed(format!(
                    "a handshake message of type {other} before the ServerHello"
                ))),
            };
        };
        flight.messages.extend_from_slice(&message.whole);
        match message.kind {
            11 => {
                flight.certificates =
                    Some(messages::certificates(body).ok_or_else(|| unreadable("Certificate"))?);
            }
            12 => {
                let suite = CipherSuite(flight.hello.suite).facts();
                let parsed = suite
                    .map(|suite| ServerKeyExchange::parse(body, suite, flight.hello.version))
                    .unwrap_or_default();
                flight.key_exchange = Some(parsed.ok_or_else(|| unreadable("ServerKeyExchange"))?);
            }
            13 => {
                // Before TLS 1.2 the message has another format, and it is not answered here.
                let request = CertificateRequest::parse12(body).unwrap_or_default();
                flight.certificate_request = Some(request);
            }
            14 => {
                flight.is_done = true;
                return Ok(Step::Done);
            }
            22 => {
                // CertificateStatus: type ocsp, then the response (RFC 6066 section 8).
                let response = super::Reader::new(body.get(1..).unwrap_or_default())
                    .vec24()
                    .ok_or_else(|| unreadable("CertificateStatus"))?;
                flight.ocsp = Some(response.to_vec());
            }
            2 => return Err(ReadError::Malformed("a second ServerHello".to_owned())),
            _ => {}
        }
        Ok(Step::More)
    }
}

fn unreadable(message: &str) -> ReadError {
    ReadError::Malformed(format!("a {message} that cannot be read"))
}
