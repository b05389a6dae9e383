use std::sync::OnceLock;

/// Returns the value in the cell, which `make` makes at the first call. Two threads that call it first may both make a value, of
/// which one stays.
///
/// # Errors
/// The error from `make`.
pub fn made_once<T: Copy, E>(
    cell: &OnceLock<T>,
    make: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    match cell.get() {
        Some(made) => Ok(*made),
        None => make().map(|made| *cell.get_or_init(|| made)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_made_once_and_an_error_is_not_kept() {
        let cell = OnceLock::new();
        assert_eq!(made_once(&cell, || Err("no")), Err("no"));
        assert_eq!(made_once(&cell, || Ok::<_, &str>(1)), Ok(1));
        assert_eq!(made_once(&cell, || Err("unused")), Ok(1));
    }
}
