use std::{
    collections::HashSet,
    fs::{self, File, OpenOptions, TryLockError},
    hash::{BuildHasher, RandomState},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    ops::Range,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use netbench_model::{Record, SCHEMA_VERSION};

use crate::{StoreError, pack::packed};

/// Maximum length of a record's line; a site with long chains has the longest.
const LONGEST_LINE: u64 = 16 << 20;

/// An exclusive writer that appends records to a run.
#[derive(Debug)]
pub struct Appender {
    file: File,
    path: PathBuf,
    /// The end of the last complete line.
    end: u64,
}

impl Appender {
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let mut file = lock(path)?;
        let end = file.stream_position().map_err(StoreError::io(path))?;
        let packed = packed(path);
        if end == 0 && packed.exists() {
            fs::remove_file(path).map_err(StoreError::io(path))?;
            return Err(StoreError::Packed(packed));
        }
        Ok(Self {
            file,
            path: path.to_owned(),
            end,
        })
    }

    /// Appends one record with one write, so that a kill truncates at most this line.
    ///
    /// # Errors
    /// An error of the system. Earlier records remain readable.
    pub fn append(&mut self, record: &impl Record) -> Result<(), StoreError> {
        let failed = StoreError::io(&self.path);
        let mut line = match serde_json::to_vec(record) {
            Ok(line) => line,
            Err(error) => return Err(failed(io::Error::other(error))),
        };
        line.push(b'\n');
        if let Err(error) = self.file.write_all(&line) {
            // The disk may have filled up in the middle of the line.
            let _ = self.file.set_len(self.end);
            let _ = self.file.seek(SeekFrom::Start(self.end));
            return Err(failed(error));
        }
        self.end += line.len() as u64;
        Ok(())
    }
}

/// The longest time for which the part of a killed evaluation keeps its file: it stores its last records first.
const ENDING: Duration = Duration::from_secs(5);

/// The interval at which a locked file is tried.
const LOOK: Duration = Duration::from_millis(50);

/// Opens the file exclusively, removes an incomplete last line, and seeks to the end.
pub(crate) fn lock(path: &Path) -> Result<File, StoreError> {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(StoreError::io(path))?;
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if begin.elapsed() < ENDING => thread::sleep(LOOK),
            Err(TryLockError::WouldBlock) => return Err(StoreError::Locked(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(StoreError::io(path)(error)),
        }
    }
    let end = whole_lines(&mut file).map_err(StoreError::io(path))?;
    file.set_len(end).map_err(StoreError::io(path))?;
    file.seek(SeekFrom::Start(end))
        .map_err(StoreError::io(path))?;
    Ok(file)
}

/// Passes each record to `each`, in order.
pub(crate) fn read<R: Record>(path: &Path, mut each: impl FnMut(R)) -> Result<(), StoreError> {
    match stored(path)? {
        None => Ok(()),
        Some(Stored::Plain(file)) => {
            let reader = BufReader::new(file);
            lines(reader, path, StoreError::io(path), |record, _| each(record))
        }
        Some(Stored::Packed(file, path)) => {
            let decoder = zstd::Decoder::new(file).map_err(StoreError::io(&path))?;
            let (reader, failed) = (BufReader::new(decoder), StoreError::unpacking(&path));
            lines(reader, &path, failed, |record, _| each(record))
        }
    }
}

/// A file of records as it is stored.
pub(crate) enum Stored {
    Plain(File),
    /// The packed file, with its own path.
    Packed(File, PathBuf),
}

/// Returns the plain file, or else the packed one, or `None` if there are no records.
pub(crate) fn stored(path: &Path) -> Result<Option<Stored>, StoreError> {
    let packed_path = packed(path);
    Ok(match (open(path)?, open(&packed_path)?) {
        (None, None) => None,
        (Some((file, 1..)), _) | (Some((file, 0)), None) => Some(Stored::Plain(file)),
        (_, Some((file, _))) => Some(Stored::Packed(file, packed_path)),
    })
}

/// Reads a file of a run, or returns `None` if it is missing.
///
/// # Errors
/// [`StoreError::NotAFile`], or the error of the system.
pub fn read_file(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let Some((mut file, _)) = open(path)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(StoreError::io(path))?;
    Ok(Some(bytes))
}

/// Opens a file and returns it with its length, or `None` if it is missing.
fn open(path: &Path) -> Result<Option<(File, u64)>, StoreError> {
    // Opening a pipe waits for who writes to it.
    match fs::metadata(path) {
        Ok(about) if about.is_file() => {}
        Ok(_) => return Err(StoreError::NotAFile(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io(path)(error)),
    }
    let file = File::open(path).map_err(StoreError::io(path))?;
    let length = file.metadata().map_err(StoreError::io(path))?.len();
    Ok(Some((file, length)))
}

/// Repeated lines of a file of records, which was appended to itself or assembled from copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    /// The file.
    pub path: PathBuf,
    /// Number of lines that repeat an earlier line.
    pub lines: u64,
    /// The number of the first such line, from 1.
    pub first: usize,
}

/// The hashes of earlier lines. Each line has the time of its record, so no two lines are equal by chance.
#[derive(Default)]
struct Seen(HashSet<u64>, RandomState);

impl Seen {
    /// Returns whether the line repeats an earlier one.
    fn again(&mut self, line: &[u8]) -> bool {
        !self.0.insert(self.1.hash_one(line))
    }
}

/// Finds the lines that repeat an earlier line.
pub(crate) fn repeated(path: &Path) -> Result<Option<Repeated>, StoreError> {
    let file = File::open(path).map_err(StoreError::io(path))?;
    let reader: Box<dyn Read> = match path.extension() {
        Some(end) if end == "zst" => {
            Box::new(zstd::Decoder::new(file).map_err(StoreError::io(path))?)
        }
        _ => Box::new(file),
    };
    let mut reader = BufReader::new(reader);
    let mut found: Option<Repeated> = None;
    let (mut seen, mut text) = (Seen::default(), Vec::new());
    for line in 1.. {
        let read = next_line(&mut reader, &mut text);
        if read.map_err(StoreError::unpacking(path))? == 0 {
            break;
        }
        if seen.again(&text) {
            let repeated = found.get_or_insert_with(|| Repeated {
                path: path.to_owned(),
                lines: 0,
                first: line,
            });
            repeated.lines += 1;
        }
    }
    Ok(found)
}

/// Reads the next line in place of `text`, and returns its length.
fn next_line(reader: &mut impl BufRead, text: &mut Vec<u8>) -> io::Result<usize> {
    text.clear();
    reader.take(LONGEST_LINE).read_until(b'\n', text)
}

/// Passes each record to `each`, with the position of its line; a line that repeats an earlier one is skipped.
pub(crate) fn lines<R: Record>(
    mut reader: impl BufRead,
    path: &Path,
    failed: impl Fn(io::Error) -> StoreError,
    mut each: impl FnMut(R, Range<u64>),
) -> Result<(), StoreError> {
    let (mut seen, mut text) = (Seen::default(), Vec::new());
    let mut start = 0;
    for line in 1.. {
        next_line(&mut reader, &mut text).map_err(&failed)?;
        if text.last() != Some(&b'\n') && (text.len() as u64) < LONGEST_LINE {
            break;
        }
        match parse(&text, path, line) {
            Ok(_) if seen.again(&text) => {}
            Ok(record) => each(record, start..start + text.len() as u64),
            Err(error) => {
                // The checksum of a packed file is at its end. Damage is reported before a parse error that it may
                // cause.
                io::copy(&mut reader, &mut io::sink()).map_err(&failed)?;
                return Err(error);
            }
        }
        start += text.len() as u64;
    }
    Ok(())
}

/// Returns whether an [`Appender`] holds the file.
pub(crate) fn is_locked(path: &Path) -> Result<bool, StoreError> {
    let Some((file, _)) = open(path)? else {
        return Ok(false);
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(StoreError::io(path)(error)),
    }
}

fn parse<S: Record>(text: &[u8], path: &Path, line: usize) -> Result<S, StoreError> {
    let read = serde_json::from_slice::<S>(text);
    let is_known = read
        .as_ref()
        .is_ok_and(|sample| sample.schema() <= SCHEMA_VERSION);
    if !is_known
        && let Ok(OnlySchema { schema }) = serde_json::from_slice(text)
        && schema > u64::from(SCHEMA_VERSION)
    {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found: schema,
        });
    }
    let read = read.and_then(|sample| match sample.fault() {
        None => Ok(sample),
        Some(fault) => Err(serde::de::Error::custom(fault)),
    });
    read.map_err(|source| StoreError::Sample {
        path: path.to_owned(),
        line,
        source,
    })
}

/// The schema of a record or a manifest, whatever its other fields are.
#[derive(serde::Deserialize)]
pub(crate) struct OnlySchema {
    pub(crate) schema: u64,
}

/// Returns the end of the last complete line.
fn whole_lines(file: &mut File) -> io::Result<u64> {
    const STEP: u64 = 64 * 1024;
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut buffer = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(STEP);
        buffer.clear();
        file.seek(SeekFrom::Start(start))?;
        Read::by_ref(file)
            .take(end - start)
            .read_to_end(&mut buffer)?;
        if let Some(at) = buffer.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}
