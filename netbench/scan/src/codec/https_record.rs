//! HTTPS records in messages of the DNS (RFC 9460, RFC 1035).

use super::{
    Reader,
    dns::{ECH, HTTPS, IS_ANSWER, IS_CUT, labels},
};

/// The parameter of a service with protocols.
const ALPN: u16 = 1;

/// The maximum number of records and of parameters that are read.
const MOST: usize = 32;

/// The bits of a header's flags with the code (RFC 1035 section 4.1.1).
const CODE: u16 = 0xf;

/// An answer to a question for HTTPS records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpsAnswer {
    /// The code; 0 is no error, 3 is a name that does not exist.
    pub code: u8,
    /// Whether the answer exceeds a datagram. The question has to be repeated over TCP.
    pub is_cut: bool,
    /// The records, the most preferred first.
    pub records: Vec<HttpsRecord>,
}

/// An HTTPS record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpsRecord {
    /// The priority; 0 is an alias of another name.
    pub priority: u16,
    /// The target's name, or `.` for the record's own.
    pub target: String,
    /// The protocols of ALPN in addition to HTTP/1.1.
    pub alpn: Vec<Vec<u8>>,
    /// The list of configurations of Encrypted ClientHello.
    pub ech: Option<Vec<u8>>,
}

/// Parses the answer to a question. Returns `None` if the message is not one, or if a record in it cannot be read.
pub fn https_answer(message: &[u8]) -> Option<HttpsAnswer> {
    let mut reader = Reader::new(message);
    // The number that the client chose.
    reader.u16()?;
    let flags = reader.u16()?;
    let (questions, answers) = (reader.u16()?, reader.u16()?);
    // The counts of other records.
    reader.take(4)?;
    if flags & IS_ANSWER == 0 {
        return None;
    }
    let mut answer = HttpsAnswer {
        code: u8::try_from(flags & CODE).ok()?,
        is_cut: flags & IS_CUT != 0,
        records: Vec::new(),
    };
    // What a cut answer contains is not complete.
    if answer.is_cut {
        return Some(answer);
    }
    for _ in 0..questions {
        skip_name(&mut reader)?;
        reader.take(4)?;
    }
    for _ in 0..usize::from(answers).min(MOST) {
        skip_name(&mut reader)?;
        let kind = reader.u16()?;
        // The class, and for how long the record may be kept.
        reader.take(6)?;
        let data = reader.vec16()?;
        if kind == HTTPS {
            answer.records.push(record(data)?);
        }
    }
    answer.records.sort_by_key(|record| record.priority);
    Some(answer)
}

/// Skips a name, which may end with a reference to another one.
fn skip_name(reader: &mut Reader<'_>) -> Option<()> {
    loop {
        match reader.u8()? {
            0 => return Some(()),
            length @ 1..=63 => reader.take(usize::from(length)).map(drop)?,
            0xc0.. => return reader.u8().map(drop),
            _ => return None,
        }
    }
}

fn record(data: &[u8]) -> Option<HttpsRecord> {
    let mut reader = Reader::new(data);
    let priority = reader.u16()?;
    // References are not allowed here.
    let labels = labels(&mut reader)?;
    let mut record = HttpsRecord {
        priority,
        target: match labels.is_empty() {
            true => ".".to_owned(),
            false => String::from_utf8_lossy(&labels.join(&b'.')).into_owned(),
        },
        alpn: Vec::new(),
        ech: None,
    };
    let mut last = None;
    while !reader.is_empty() {
        let (key, value) = (reader.u16()?, reader.vec16()?);
        // Keys are in ascending order (section 2.2).
        if last.is_some_and(|last| last >= key) {
            return None;
        }
        last = Some(key);
        match key {
            ALPN => record.alpn = protocols(value)?,
            ECH => record.ech = Some(value.to_vec()),
            _ => {}
        }
    }
    Some(record)
}

fn protocols(value: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut reader = Reader::new(value);
    let mut protocols = Vec::new();
    while !reader.is_empty() && protocols.len() < MOST {
        protocols.push(reader.vec8()?.to_vec());
    }
    Some(protocols)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(records: &[&[u8]]) -> Vec<u8> {
        let mut message = vec![0, 7, 0x84, 0, 0, 1, 0, u8::try_from(records.len()).unwrap()];
        message.extend([0, 0, 0, 0]);
        message.extend(b"\x01a\x04test\0\0\x41\0\x01");
        for data in records {
            message.extend([0xc0, 12, 0, 65, 0, 1, 0, 0, 0, 60]);
            crate::codec::put_vec16(&mut message, data);
        }
        message
    }

    const SERVICE: &[u8] = b"\0\x02\x01b\x04test\0\0\x01\0\x03\x02h2\0\x05\0\x03abc";

    #[test]
    fn records_are_read_the_most_preferred_first() {
        let alias = b"\0\x01\0".as_slice();
        let found = https_answer(&answer(&[SERVICE, alias])).unwrap();
        assert_eq!((found.code, found.is_cut), (0, false));
        let targets: Vec<&str> = found.records.iter().map(|it| it.target.as_str()).collect();
        assert_eq!(targets, [".", "b.test"]);
        let service = &found.records[1];
        assert_eq!(service.priority, 2);
        assert_eq!(service.alpn, [b"h2".to_vec()]);
        assert_eq!(service.ech.as_deref(), Some(b"abc".as_slice()));
        let mut cut = answer(&[]);
        cut[2] |= 2;
        cut[3] |= 3;
        let found = https_answer(&cut).unwrap();
        assert_eq!((found.code, found.is_cut), (3, true));
    }

    #[test]
    fn damaged_messages_are_refused() {
        let whole = answer(&[SERVICE]);
        assert!(https_answer(&whole).is_some());
        for length in 0..whole.len() {
            assert_eq!(https_answer(&whole[..length]), None, "{length} bytes");
        }
        for data in [
            b"\0\x01\0\0\x05\0\x01a\0\x01\0\x03\x02h2".as_slice(),
            b"\0\x01\0\0\x01\0\x02\x02h",
            b"\0\x01\xc0\x0c",
        ] {
            assert_eq!(https_answer(&answer(&[data])), None, "{data:?}");
        }
        let mut question = whole.clone();
        question[2] = 0;
        assert_eq!(https_answer(&question), None);
    }
}
