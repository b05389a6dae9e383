//! HTTPS records (RFC 9460) of a site, and whether their configurations of Encrypted ClientHello are those of its server.

use std::{io, net::SocketAddr, time::Duration};

use netbench_model::scan::{HttpsRecordScan, Observed};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UdpSocket},
    time::timeout,
};

use super::{dns, ech, prober::Prober};
use crate::{
    codec::{
        HttpsAnswer, HttpsRecord,
        dns::{HTTPS, MAX_UDP_BYTES, NO_SUCH_NAME, https_name},
        ech_configs, https_answer, vec16,
    },
    text::clean,
};

/// Asks the client's DNS server for the site's HTTPS records, and compares their configurations with the list that the server
/// has `sent`, which is empty if it sends none. The feature remains unknown without an answer.
pub(super) async fn https_records(prober: &Prober<'_>, sent: Option<&[u8]>) {
    let Some(server) = prober.client.dns_server else {
        return;
    };
    let name = https_name(&prober.target.host, prober.target.port);
    let found = match dns::question(&name, HTTPS) {
        // Boxed, because few scans need the room of this future.
        Some(question) => Box::pin(answer(server, &question, prober.limits.timeout)).await,
        None => return,
    };
    let why = match found {
        Ok(answer) if answer.code == 0 || answer.code == NO_SUCH_NAME => {
            let mut findings = prober.findings.borrow_mut();
            let records = answer.records.iter();
            let records = records.map(|record| scan(record, sent));
            findings.features.https_records = Some(records.collect());
            return;
        }
        Ok(answer) => format!("the DNS server answered with error {}", answer.code),
        Err(error) => clean(&error.to_string()),
    };
    prober.note(format!("no HTTPS record of {}: {why}", clean(&name)));
}

/// Asks over UDP, and again over TCP if the answer is too long for that.
async fn answer(server: SocketAddr, question: &[u8], limit: Duration) -> io::Result<HttpsAnswer> {
    let over_udp = timeout(limit, over_udp(server, question)).await??;
    if !over_udp.is_cut {
        return Ok(over_udp);
    }
    timeout(limit, over_tcp(server, question)).await?
}

async fn over_udp(server: SocketAddr, question: &[u8]) -> io::Result<HttpsAnswer> {
    let socket = UdpSocket::bind((dns::any_address(server), 0)).await?;
    socket.connect(server).await?;
    socket.send(question).await?;
    let mut message = [0; MAX_UDP_BYTES];
    loop {
        let length = socket.recv(&mut message).await?;
        // Answers to other questions are not read.
        if message[..length].starts_with(&question[..2]) {
            return parsed(&message[..length]);
        }
    }
}

async fn over_tcp(server: SocketAddr, question: &[u8]) -> io::Result<HttpsAnswer> {
    let mut stream = TcpStream::connect(server).await?;
    stream.write_all(&vec16(question)).await?;
    let length = stream.read_u16().await?;
    let mut message = Vec::new();
    let mut body = stream.take(length.into());
    body.read_to_end(&mut message).await?;
    parsed(&message)
}

fn parsed(message: &[u8]) -> io::Result<HttpsAnswer> {
    https_answer(message).ok_or_else(|| io::Error::other("the DNS server's answer cannot be read"))
}

/// Returns the result for a record. `sent` is the list that the server sends, or an empty one if it sends none.
fn scan(record: &HttpsRecord, sent: Option<&[u8]>) -> HttpsRecordScan {
    let configs = record.ech.as_deref().map(ech_configs);
    let alpn = record.alpn.iter();
    HttpsRecordScan {
        target: clean(&record.target),
        priority: record.priority,
        alpn: alpn
            .map(|name| clean(&String::from_utf8_lossy(name)))
            .collect(),
        is_ech_readable: configs.as_ref().map(Option::is_some),
        ech_configs: configs.flatten().iter().flatten().map(ech::scan).collect(),
        ech_is_the_servers: match (&record.ech, sent) {
            (None, _) | (_, None) => Observed::Unknown,
            (Some(list), Some(sent)) if list == sent => Observed::Yes,
            (Some(_), Some(_)) => Observed::No,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(ech: Option<&[u8]>) -> HttpsRecord {
        HttpsRecord {
            priority: 1,
            target: ".".to_owned(),
            alpn: vec![b"h2".to_vec()],
            ech: ech.map(<[u8]>::to_vec),
        }
    }

    #[test]
    fn a_record_is_compared_with_the_list_that_the_server_sends() {
        for (ech, sent, due) in [
            (None, None, Observed::Unknown),
            (None, Some(b"ab".as_slice()), Observed::Unknown),
            (Some(b"ab".as_slice()), None, Observed::Unknown),
            (Some(b"ab"), Some(b"ab"), Observed::Yes),
            (Some(b"ab"), Some(b""), Observed::No),
        ] {
            let found = scan(&record(ech), sent);
            assert_eq!(found.ech_is_the_servers, due, "{ech:?} {sent:?}");
            assert_eq!(found.is_ech_readable, ech.map(|_| false));
            assert_eq!(found.alpn, ["h2"]);
        }
    }
}
