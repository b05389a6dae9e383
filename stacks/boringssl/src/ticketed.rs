//! A session of a server. The worker of aws-lc compiles this file too, with its library under the name
//! `openssl`.

use std::ptr;

use foreign_types_shared::ForeignTypeRef;
use netbench_tls::{FailureWord, Negotiated};
use netbench_worker::{HandshakeState, Session, SessionError};
use openssl::{error::ErrorStack, ssl::SslStream};

use crate::piped::{Pipe, Piped};

/// A server's session, which sends its tickets at once.
///
/// BoringSSL, and AWS-LC in the same way, keeps the tickets of TLS 1.3 until the server writes, and lets
/// servers without data make an empty write.
pub(crate) struct ServerSession(pub(crate) Piped);

impl Session for ServerSession {
    fn handshake(
        &mut self,
        input: &mut Vec<u8>,
        output: &mut Vec<u8>,
    ) -> Result<HandshakeState, SessionError> {
        let state = self.0.handshake(input, output)?;
        if state == HandshakeState::Done {
            let ticketed = |stream: &mut SslStream<Pipe>| {
                // SAFETY: the connection is live, and no bytes are read.
                let result =
                    unsafe { openssl_sys::SSL_write(stream.ssl().as_ptr(), ptr::null(), 0) };
                if result < 0 {
                    Err(ErrorStack::get().into())
                } else {
                    Ok(())
                }
            };
            self.0
                .with_buffers(FailureWord::Handshake, &mut Vec::new(), output, ticketed)?;
        }
        Ok(state)
    }

    fn send(&mut self, plaintext: &[u8], output: &mut Vec<u8>) -> Result<(), SessionError> {
        self.0.send(plaintext, output)
    }

    fn receive(
        &mut self,
        input: &mut Vec<u8>,
        plaintext: &mut [u8],
    ) -> Result<usize, SessionError> {
        self.0.receive(input, plaintext)
    }

    fn negotiated(&self) -> Negotiated {
        self.0.negotiated()
    }

    fn resumed(&self) -> bool {
        self.0.resumed()
    }
}
