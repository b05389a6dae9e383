/// A small seeded generator (xoshiro256++, seeded by splitmix64), the same on every machine.
///
/// Good for resampling and for tests; not for anything secret.
#[derive(Debug, Clone)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// A generator of the stream that belongs to `seed`.
    pub fn new(seed: u64) -> Self {
        let mut x = seed;
        let state = std::array::from_fn(|_| {
            x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = x;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        });
        Self { state }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.state;
        let result = s0.wrapping_add(*s3).rotate_left(23).wrapping_add(*s0);
        let t = *s1 << 17;
        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= t;
        *s3 = s3.rotate_left(45);
        result
    }

    /// A number below `bound`, which must not be 0. The bias is under `bound` in 2^64.
    pub fn below(&mut self, bound: u32) -> u32 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the product's high half is below bound"
        )]
        let drawn = ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u32;
        drawn
    }

    /// A number from 0 up to, not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A draw from the normal distribution of mean 0 and deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_stream() {
        let draw = |seed| -> Vec<u64> {
            let mut rng = Rng::new(seed);
            (0..4).map(|_| rng.next_u64()).collect()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
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
