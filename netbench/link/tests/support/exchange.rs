//! The traffic of a TLS handshake over plain TCP: a connect, a question of one segment, and an answer of
//! three.

use std::{
    error::Error,
    io::{self, Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use netbench_link::Link;

/// The size of a ClientHello that is padded as it was in browsers for a long time.
const QUESTION_BYTES: usize = 517;
/// The size of a server's flight with a chain of two certificates.
const ANSWER_BYTES: usize = 4_000;
const PORT: u16 = 443;
const LIMIT: Duration = Duration::from_secs(30);

/// The durations of the two parts of one exchange.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) connect: Duration,
    /// The time from the connect to the last byte of the answer.
    pub(crate) handshake: Duration,
}

/// Answers exchanges with every site of the link, for the lifetime of this process.
pub(crate) fn serve(link: &Link) -> Result<(), Box<dyn Error>> {
    let port = link.listen_port(PORT);
    let listener = link
        .server_namespace()
        .run(|| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)))??;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that disconnects has failed itself.
            let _ = answer(stream);
        }
    });
    Ok(())
}

fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(LIMIT))?;
    let mut question = [0; QUESTION_BYTES];
    stream.read_exact(&mut question)?;
    stream.write_all(&[0; ANSWER_BYTES])?;
    // The server closes after the client has.
    stream.read(&mut question).map(drop)
}

/// Makes one exchange with a site, from the calling thread's namespace.
pub(crate) fn exchange(address: Ipv4Addr) -> io::Result<Times> {
    let begun = Instant::now();
    let mut stream = TcpStream::connect_timeout(&(address, PORT).into(), LIMIT)?;
    let connected = Instant::now();
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.write_all(&[0; QUESTION_BYTES])?;
    stream.read_exact(&mut [0; ANSWER_BYTES])?;
    let times = Times {
        connect: connected - begun,
        handshake: connected.elapsed(),
    };
    // The end of one exchange must not be in transit beside the next one.
    stream.shutdown(Shutdown::Write)?;
    stream.read_to_end(&mut Vec::new())?;
    Ok(times)
}
