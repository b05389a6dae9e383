use std::{io, time::Duration};

use netbench_tls::{Alert, Fault, wire::content};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
};

/// Maximum time that a silent server waits.
const PATIENCE: Duration = Duration::from_secs(60);

/// Maximum size of an endless message.
const ENDLESS: usize = 64 << 20;

/// The level of a fatal alert.
const FATAL: u8 = 2;

/// Returns whether the fault occurs before a TLS handshake by a stack, with every client.
pub(crate) fn is_before_tls(fault: Fault) -> bool {
    match fault {
        Fault::Refuse
        | Fault::Silent
        | Fault::Reset
        | Fault::Garbage
        | Fault::EndlessCertificate
        | Fault::CloseMidHandshake => true,
        Fault::SlowResponse
        | Fault::BadHttp
        | Fault::WrongName
        | Fault::UnknownRoot
        | Fault::Expired
        | Fault::EchAlert
        | Fault::EchClose
        | Fault::EchSilent => false,
    }
}

/// Applies the fault to a fresh connection.
pub(crate) async fn commit(fault: Fault, mut stream: TcpStream) -> io::Result<()> {
    match fault {
        Fault::Silent | Fault::EchSilent => {
            let mut discarded = tokio::io::sink();
            let reading = tokio::io::copy(&mut stream, &mut discarded);
            let _ = tokio::time::timeout(PATIENCE, reading).await;
            Ok(())
        }
        Fault::Reset => {
            // A reset directly after the accept would race with the client's connect.
            read_some(&mut stream).await?;
            stream.set_zero_linger()
        }
        Fault::Garbage => {
            read_some(&mut stream).await?;
            let garbage: Vec<u8> = (0..4096u32)
                .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
                .collect();
            stream.write_all(&garbage).await?;
            hang_up(&mut stream).await
        }
        Fault::EndlessCertificate => {
            read_some(&mut stream).await?;
            endless_certificate(&mut stream).await
        }
        Fault::CloseMidHandshake | Fault::EchClose => {
            read_some(&mut stream).await?;
            hang_up(&mut stream).await
        }
        Fault::EchAlert => {
            read_some(&mut stream).await?;
            let alert = [FATAL, Alert::ILLEGAL_PARAMETER.0];
            write_record(&mut stream, content::ALERT, &alert).await?;
            hang_up(&mut stream).await
        }
        _ => Ok(()),
    }
}

/// Answers inside TLS with bytes that are not HTTP of any version.
pub(crate) async fn bad_http<S>(stream: &mut S) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    read_some(stream).await?;
    stream
        .write_all(&b"\x1b[31mnot a response\r\n\r\n".repeat(4))
        .await?;
    stream.flush().await?;
    hang_up(stream).await
}

/// Closes the stream and waits for the client to close it too. Otherwise unread data of the client would turn the close
/// into a reset, which can overtake the data that was sent before.
async fn hang_up<S>(stream: &mut S) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    stream.shutdown().await?;
    let mut discarded = tokio::io::sink();
    let _ = tokio::time::timeout(PATIENCE, tokio::io::copy(stream, &mut discarded)).await;
    Ok(())
}

async fn read_some<S: AsyncRead + Unpin + ?Sized>(stream: &mut S) -> io::Result<()> {
    let mut buffer = [0; 16 * 1024];
    stream.read(&mut buffer).await.map(drop)
}

/// Sends a TLS 1.2 ServerHello, followed by records of a Certificate message (RFC 5246 section 7.4.2) with a stated
/// length of 2^24 - 1 bytes, another such message, and so on.
async fn endless_certificate(stream: &mut TcpStream) -> io::Result<()> {
    const RECORD: usize = 16 * 1024;
    const SUITE: [u8; 2] = [0xc0, 0x2f];
    let mut hello = vec![0x03, 0x03];
    hello.extend([0x5a; 32]);
    hello.push(0);
    hello.extend(SUITE);
    hello.push(0);
    // Some clients refuse a ServerHello without renegotiation_info (RFC 5746).
    hello.extend([0x00, 0x05, 0xff, 0x01, 0x00, 0x01, 0x00]);
    let mut message = vec![0x02, 0x00, 0x00, u8::try_from(hello.len()).unwrap_or(0)];
    message.extend(hello);
    write_record(stream, content::HANDSHAKE, &message).await?;

    let mut record = vec![0x0b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfc, 0x00, 0xff, 0xff];
    record.resize(RECORD, 0x30);
    let mut sent = 0;
    while sent < ENDLESS {
        write_record(stream, content::HANDSHAKE, &record).await?;
        record.fill(0x30);
        sent += RECORD;
    }
    Ok(())
}

async fn write_record(stream: &mut TcpStream, kind: u8, payload: &[u8]) -> io::Result<()> {
    let length = u16::try_from(payload.len())
        .map_err(io::Error::other)?
        .to_be_bytes();
    let mut record = vec![kind, 0x03, 0x03, length[0], length[1]];
    record.extend(payload);
    stream.write_all(&record).await
}
