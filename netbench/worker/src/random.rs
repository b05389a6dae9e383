/// Returns the next number of a random sequence with any initial `state`, for layouts and not for secrets (the
/// multiplier of Knuth's MMIX; the high bits are the most random).
pub(crate) fn next(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state
}

/// Returns the next number below `limit`, or 0 if the limit is 0.
pub(crate) fn below(state: &mut u64, limit: usize) -> usize {
    let scaled = (u128::from(next(state)) * limit as u128) >> 64;
    usize::try_from(scaled).unwrap_or(0)
}
