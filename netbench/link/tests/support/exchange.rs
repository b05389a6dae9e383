//! What a TLS handshake is to the network, over plain TCP: a connect, a question of one segment, and an
//! answer of three.

use std::{
    error::Error,
    io::{self, Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use netbench_link::Link;

/// A ClientHello, as browsers padded it for long.
const QUESTION_BYTES: usize = 517;
/// A server's flight with a chain of two certificates.
const ANSWER_BYTES: usize = 4_000;
const PORT: u16 = 443;
const LIMIT: Duration = Duration::from_secs(30);

/// How long the two parts of one exchange took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) connect: Duration,
    /// From the connect to the last byte of the answer.
    pub(crate) handshake: Duration,
}

/// Answers exchanges with every site of the link, for as long as this process lives.
pub(crate) fn serve(link: &Link) -> Result<(), Box<dyn Error>> {
    let port = link.listen_port(PORT);
    let bind = || TcpListener::bind((Ipv4Addr::UNSPECIFIED, port));
    let listener = link.server_namespace().run(bind)??;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that goes away has failed by itself.
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
    // Closes after the client has.
    stream.read(&mut question).map(drop)
}

/// One exchange with a site, from the calling thread's namespace.
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
    // The end of one exchange must not be on the way beside the next one.
    stream.shutdown(Shutdown::Write)?;
    stream.read_to_end(&mut Vec::new())?;
    Ok(times)
}
