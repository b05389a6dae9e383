use rand_xoshiro::{
    SplitMix64, Xoshiro256PlusPlus,
    rand_core::{Rng as _, SeedableRng as _},
};

/// Returns the first number of SplitMix64 (Steele, Lea and Flood 2014) from `word`. Every bit of the number depends on
/// every bit of `word`.
pub fn mix(word: u64) -> u64 {
    SplitMix64::seed_from_u64(word).next_u64()
}

/// SplitMix64, for orders that must be the same for a seed in every version of netbench.
#[derive(Debug, Clone)]
pub struct SplitMix(SplitMix64);

impl SplitMix {
    /// Creates the stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// Shuffles the items (Fisher and Yates); the bias of the reduction is under 2^-40 for any list that fits.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let wide = u128::from(self.0.next_u64()) * (last as u128 + 1);
            items.swap(last, usize::try_from(wide >> 64).unwrap_or(0));
        }
    }
}

/// xoshiro256++, seeded by SplitMix64, the same on every machine.
///
/// Suitable for resampling and for tests; not for secrets.
#[derive(Debug, Clone)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// Creates the stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `bound`, which must not be 0. The bias is under `bound` in 2^64.
    pub fn below(&mut self, bound: u32) -> u32 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the product's high half is below bound"
        )]
        let drawn = ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u32;
        drawn
    }

    /// Returns a number from 0 to 1, excluding 1.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws from the normal distribution of mean 0 and deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published runs are reproduced from their seeds, so these numbers must never change.
    #[test]
    fn the_numbers_of_a_seed_stay() {
        assert_eq!(
            [0, 7, u64::MAX].map(mix),
            [
                0xe220_a839_7b1d_cdaf,
                0x63cb_e1e4_5932_0dd7,
                0xe4d9_7177_1b65_2c20
            ]
        );
        let mut order: Vec<u32> = (0..10).collect();
        let mut orders = SplitMix::new(7);
        orders.shuffle(&mut order);
        assert_eq!(order, [9, 5, 8, 6, 1, 2, 4, 7, 0, 3]);
        orders.shuffle(&mut order);
        assert_eq!(order, [5, 0, 6, 8, 3, 2, 4, 7, 9, 1]);
        let mut rng = Rng::new(7);
        let drawn: [u64; 3] = std::array::from_fn(|_| rng.next_u64());
        assert_eq!(
            drawn,
            [
                0x0e2c_1a00_2aae_913d,
                0x2c0f_c8dd_fa4e_9e14,
                0xb7b3_11b3_b0d4_5872
            ]
        );
        assert_eq!(rng.below(1_000), 427);
        assert!((rng.unit() - 0.9636595218812296).abs() < 1e-15);
        assert!((rng.normal() - -0.18274106190368677).abs() < 1e-12);
    }

    #[test]
    fn same_seed_same_stream() {
        let [one, same, other] = [7, 7, 8].map(|seed| {
            let mut rng = Rng::new(seed);
            [(); 4].map(|()| rng.next_u64())
        });
        assert_eq!(one, same);
        assert_ne!(one, other);
    }

    #[test]
    fn draws_are_spread() {
        let mut rng = Rng::new(1);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[rng.below(7) as usize] += 1;
        }
        assert!(
            counts.iter().all(|c| (9_500..10_500).contains(c)),
            "{counts:?}"
        );
        let normal: Vec<f64> = (0..50_000).map(|_| rng.normal()).collect();
        let mean = normal.iter().sum::<f64>() / 50_000.0;
        let variance = normal.iter().map(|x| x * x).sum::<f64>() / 50_000.0;
        assert!(
            mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03,
            "{mean} {variance}"
        );
    }
}
