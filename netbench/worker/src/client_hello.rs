//! The first message of a client, read before a library reads it.

use std::{io, time::Duration};

use netbench_tls::wire::{
    content::HANDSHAKE, extension::ENCRYPTED_CLIENT_HELLO, handshake::CLIENT_HELLO,
};
use tokio::net::TcpStream;

use crate::observed::MessageReader;

/// Maximum length of a message in one record.
const MOST_BYTES: usize = 5 + (16 << 10);

/// The time until an incomplete message is read again: bytes that stay in the socket do not announce the next ones.
const PAUSE: Duration = Duration::from_millis(1);

/// Returns the code points and the bodies of the extensions in a record with a ClientHello (RFC 8446 section 4.1.2), up to the
/// first that is cut off, or `None` for another record.
pub fn hello_extensions(record: &[u8]) -> Option<impl Iterator<Item = (u16, &[u8])>> {
    let mut record = MessageReader(record);
    let is_handshake = record.number(1)? == usize::from(HANDSHAKE);
    record.take(4)?;
    let is_hello = record.number(1)? == usize::from(CLIENT_HELLO);
    if !is_handshake || !is_hello {
        return None;
    }
    let mut hello = MessageReader(record.prefixed(3)?);
    // The version and the random value, the session ID, the suites, and the methods of compression.
    hello.take(2 + 32)?;
    hello.prefixed(1)?;
    hello.prefixed(2)?;
    hello.prefixed(1)?;
    hello.extensions()
}

/// Returns whether a client sends the extension encrypted_client_hello. The message stays in the socket. A message in several
/// records is not read.
///
/// # Errors
/// The connection fails, or ends before the message.
pub(crate) async fn offers_ech(stream: &TcpStream) -> io::Result<bool> {
    let mut bytes = vec![0; MOST_BYTES];
    loop {
        let length = stream.peek(&mut bytes).await?;
        match first_record(&bytes[..length]) {
            Some((record, _)) => return Ok(has_ech(record).unwrap_or(false)),
            None if length == 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            None if length == MOST_BYTES => return Ok(false),
            None => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Splits off the first record, with its header (RFC 8446 section 5.1), if it is complete.
pub fn first_record(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let [_, _, _, high, low] = *bytes.first_chunk()?;
    bytes.split_at_checked(5 + usize::from(u16::from_be_bytes([high, low])))
}

/// Returns whether a record with a ClientHello has the extension, or `None` for another record.
fn has_ech(record: &[u8]) -> Option<bool> {
    let mut extensions = hello_extensions(record)?;
    Some(extensions.any(|(code, _)| code == ENCRYPTED_CLIENT_HELLO))
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    /// Makes a record with a ClientHello that has these extensions.
    fn hello(extensions: &[u16]) -> Vec<u8> {
        let body = [9; 3];
        let extensions: Vec<u8> = extensions
            .iter()
            .flat_map(|code| [&code.to_be_bytes()[..], &[0, 3], &body].concat())
            .collect();
        let length = u16::try_from(extensions.len()).unwrap().to_be_bytes();
        let hello = [
            &[3, 3][..],
            &[7; 32],
            &[2, 5, 5],
            &[0, 4, 0x13, 1, 0x13, 2],
            &[1, 0],
            &length,
            &extensions,
        ]
        .concat();
        let message = [
            &[1, 0, 0][..],
            &[u8::try_from(hello.len()).unwrap()],
            &hello,
        ]
        .concat();
        let length = u16::try_from(message.len()).unwrap().to_be_bytes();
        [&[22, 3, 1][..], &length, &message].concat()
    }

    #[test]
    fn the_extension_is_found_in_a_hello_alone() {
        let with = hello(&[0, 0xfe0d, 43]);
        assert_eq!(has_ech(&with), Some(true));
        assert_eq!(has_ech(&hello(&[0, 43])), Some(false));
        assert_eq!(has_ech(&hello(&[])), Some(false));
        for (at, byte) in [(0, 23), (5, 2)] {
            let mut other = with.clone();
            other[at] = byte;
            assert_eq!(has_ech(&other), None, "{at}");
        }
        for end in 0..with.len() {
            assert_eq!(first_record(&with[..end]), None, "{end} bytes");
        }
        let more = [&with[..], &[22, 3]].concat();
        assert_eq!(first_record(&more), Some((&with[..], &[22, 3][..])));
    }

    async fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let client = TcpStream::connect(address).await.unwrap();
        (client, listener.accept().await.unwrap().0)
    }

    #[tokio::test]
    async fn a_hello_in_parts_stays_in_the_socket() {
        for (codes, due) in [(&[0, 0xfe0d][..], true), (&[0, 43], false)] {
            let (mut client, mut server) = connected().await;
            let sent = hello(codes);
            let (start, end) = sent.split_at(30);
            client.write_all(start).await.unwrap();
            let reading = tokio::spawn(async move {
                let found = offers_ech(&server).await.unwrap();
                let mut received = vec![0; 1024];
                let length = server.read(&mut received).await.unwrap();
                (found, received[..length].to_vec())
            });
            tokio::time::sleep(20 * PAUSE).await;
            assert!(!reading.is_finished());
            client.write_all(end).await.unwrap();
            assert_eq!(reading.await.unwrap(), (due, sent));
        }
    }

    #[tokio::test]
    async fn a_connection_without_a_hello_is_an_error() {
        let (client, server) = connected().await;
        drop(client);
        let error = offers_ech(&server).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
