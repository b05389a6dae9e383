/// A reader that takes values from the front of a slice. It copies no bytes, and reads none beyond the end.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Creates a reader of these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Reads one byte.
    pub fn u8(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Reads two bytes, the higher first.
    pub fn u16(&mut self) -> Option<u16> {
        self.take(2).map(|b| u16::from_be_bytes([b[0], b[1]]))
    }

    /// Reads three bytes, the highest first.
    pub fn u24(&mut self) -> Option<u32> {
        self.take(3)
            .map(|b| u32::from_be_bytes([0, b[0], b[1], b[2]]))
    }

    /// Reads four bytes, the highest first.
    pub fn u32(&mut self) -> Option<u32> {
        self.take(4)
            .map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }

    /// Reads `count` bytes.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Reads bytes after their length in one byte.
    pub fn vec8(&mut self) -> Option<&'a [u8]> {
        let count = self.u8()?;
        self.take(usize::from(count))
    }

    /// Reads bytes after their length in two bytes.
    pub fn vec16(&mut self) -> Option<&'a [u8]> {
        let count = self.u16()?;
        self.take(usize::from(count))
    }

    /// Reads bytes after their length in three bytes.
    pub fn vec24(&mut self) -> Option<&'a [u8]> {
        let count = self.u24()?;
        self.take(usize::try_from(count).ok()?)
    }

    /// Reads all remaining bytes.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// Returns whether no bytes remain.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads all remaining bytes as numbers of two bytes. Returns `None` if their count is odd.
    pub fn u16s(&mut self) -> Option<Vec<u16>> {
        let bytes = self.rest();
        if !bytes.len().is_multiple_of(2) {
            return None;
        }
        Some(
            bytes
                .chunks_exact(2)
                .map(|b| u16::from_be_bytes([b[0], b[1]]))
                .collect(),
        )
    }
}
