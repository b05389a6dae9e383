/// Returns at most `most` of the places 0 to `len - 1`, evenly spread, including the first and the last.
pub fn spread(len: usize, most: usize) -> impl Iterator<Item = usize> {
    let chosen = len.min(most);
    let last = len.saturating_sub(1);
    (0..chosen).map(move |at| match chosen {
        1 => 0,
        _ => at * last / (chosen - 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_spread_from_the_first_to_the_last() {
        let cases: [(usize, usize, &[usize]); 7] = [
            (0, 5, &[]),
            (5, 0, &[]),
            (5, 1, &[0]),
            (1, 5, &[0]),
            (3, 5, &[0, 1, 2]),
            (10, 4, &[0, 3, 6, 9]),
            (11, 2, &[0, 10]),
        ];
        for (len, most, places) in cases {
            assert_eq!(
                spread(len, most).collect::<Vec<_>>(),
                places,
                "{len} {most}"
            );
        }
    }
}
