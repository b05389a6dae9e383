//! The compilers of this worker's C, as its executable names them: compilers put their name and version into the
//! section `.comment` of every object file, and linkers keep one copy of each.

use std::{fs::File, os::unix::fs::FileExt};

use netbench_tls::Variant;

/// The executable of this process.
const OWN: &str = "/proc/self/exe";

/// The text after the vendor's name in Clang's comment.
const CLANG: &str = "clang version ";

/// The flag that names a processor. Compilers record `-march=native` as the processor that it stands for.
const PROCESSOR: &str = "-march=";

/// Beginnings of comments that are not of a C compiler.
const OTHERS: [&str; 2] = ["rustc version ", "Linker: "];

/// Returns the C compilers that the executable names. GCC is among them if it compiled the C library's start code.
pub(crate) fn found() -> Option<String> {
    let mut comments = comments(&File::open(OWN).ok()?)?;
    comments.retain(|comment| !OTHERS.iter().any(|other| comment.starts_with(other)));
    (!comments.is_empty()).then(|| comments.join(", "))
}

/// Returns the reason why the worker's C was not compiled by the variant's compiler, GCC or Clang.
pub(crate) fn lacks(variant: Variant) -> Option<String> {
    let Some(found) = found() else {
        return Some("the worker does not report its C compiler".to_owned());
    };
    let by_clang = found.contains(CLANG);
    (by_clang != (variant == Variant::Clang))
        .then(|| format!("the worker's C was not compiled by {variant}: it names {found}"))
}

/// Returns the processors for which the worker's C was compiled, if the compilers recorded their flags
/// (`-frecord-gcc-switches`).
pub(crate) fn processors() -> Option<String> {
    let flags = texts(&File::open(OWN).ok()?, b".GCC.command.line\0")?;
    let words = flags.iter().flat_map(|flags| flags.split_whitespace());
    let mut found: Vec<&str> = words.filter(|word| word.starts_with(PROCESSOR)).collect();
    found.sort_unstable();
    found.dedup();
    (!found.is_empty()).then(|| found.join(", "))
}

/// Returns the texts of a program's section `.comment`.
fn comments(program: &File) -> Option<Vec<String>> {
    texts(program, b".comment\0")
}

/// Returns the texts of a program's section. Each text ends with a null byte.
fn texts(program: &File, section: &[u8]) -> Option<Vec<String>> {
    let section = Elf::new(program)?.section(section)?;
    let texts = section.split(|byte| *byte == 0);
    let texts = texts.filter(|text| !text.is_empty());
    Some(
        texts
            .map(|text| String::from_utf8_lossy(text).into_owned())
            .collect(),
    )
}

/// A 64-bit little-endian file in the Executable and Linkable Format (elf(5)). The file is not read as a whole, because
/// that would determine the peak memory of the process.
struct Elf<'a> {
    file: &'a File,
    /// The table of sections: its offset, the size of an entry in bytes, and the number of entries.
    table: u64,
    entry_bytes: u64,
    sections: u64,
    /// The section with the names of all sections.
    names: u64,
}

impl<'a> Elf<'a> {
    fn new(file: &'a File) -> Option<Self> {
        const BEGIN: &[u8] = &[0x7f, b'E', b'L', b'F', 2, 1];
        let header = read(file, 0, 0x40)?;
        header.starts_with(BEGIN).then_some(())?;
        Some(Self {
            file,
            table: number(&header, 0x28, 8)?,
            entry_bytes: number(&header, 0x3a, 2)?,
            sections: number(&header, 0x3c, 2)?,
            names: number(&header, 0x3e, 2)?,
        })
    }

    /// Returns the content of the section with this name, which ends with a null byte.
    fn section(&self, name: &[u8]) -> Option<Vec<u8>> {
        let names = self.content(&self.header(self.names)?)?;
        let mut headers = (0..self.sections).filter_map(|number| self.header(number));
        self.content(&headers.find(|header| {
            let start = number(header, 0, 4).and_then(|start| usize::try_from(start).ok());
            let text = start.and_then(|start| names.get(start..));
            text.is_some_and(|text| text.starts_with(name))
        })?)
    }

    fn header(&self, number: u64) -> Option<Vec<u8>> {
        let before = number.checked_mul(self.entry_bytes)?;
        read(self.file, self.table.checked_add(before)?, self.entry_bytes)
    }

    fn content(&self, header: &[u8]) -> Option<Vec<u8>> {
        read(
            self.file,
            number(header, 0x18, 8)?,
            number(header, 0x20, 8)?,
        )
    }
}

/// Returns the unsigned little-endian number of `length` bytes at `at`.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + length)?.iter().rev();
    Some(bytes.fold(0, |all, byte| all << 8 | u64::from(*byte)))
}

/// Reads a part of a file, of at most `MOST` bytes.
fn read(file: &File, at: u64, length: u64) -> Option<Vec<u8>> {
    const MOST: u64 = 1 << 16;
    let mut bytes = vec![0; usize::try_from(length.min(MOST)).ok()?];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write};

    use super::*;

    #[test]
    fn an_executable_says_what_compiled_it() {
        let own = comments(&File::open(OWN).unwrap()).unwrap();
        assert!(
            own.iter()
                .any(|comment| comment.starts_with("rustc version ")),
            "{own:?}"
        );
        let found = found().unwrap();
        assert!(!found.contains("rustc"), "{found}");
        // The program has no C except the C library's.
        let why = lacks(Variant::Clang).unwrap();
        assert!(why.ends_with(&found), "{why}");
    }

    #[test]
    fn what_is_no_program_says_nothing() {
        let own = fs::read(OWN).unwrap();
        let mut lying = own[..0x40].to_vec();
        lying[0x28..].fill(0xff);
        for bytes in [
            b"#!/bin/sh\n",
            &own[..6],
            &own[..0x40],
            &own[..own.len() / 2],
            &lying,
        ] {
            let mut file = unnamed();
            file.write_all(bytes).unwrap();
            assert_eq!(comments(&file), None, "{}", bytes.len());
        }
    }

    fn unnamed() -> File {
        let path = std::env::temp_dir().join(format!("netbench-comment-{}", std::process::id()));
        let mut options = File::options();
        let file = options.read(true).write(true).create(true).truncate(true);
        let file = file.open(&path).unwrap();
        fs::remove_file(&path).unwrap();
        file
    }
}
