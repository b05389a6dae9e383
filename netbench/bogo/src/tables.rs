//! Tables of the source: lines of columns between tabs. Lines that begin with `#` are comments.

/// Returns the columns of each line; columns that a line lacks are empty.
pub(crate) fn rows<const N: usize>(text: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let mut columns = line.split('\t');
        std::array::from_fn(|_| columns.next().unwrap_or_default())
    })
}
