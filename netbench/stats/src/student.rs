/// The quantile `p` (0.5 to 1) of Student's t distribution with `degrees` of freedom, which need
/// not be whole. Infinite at 1.
pub fn student_t_quantile(p: f64, degrees: f64) -> f64 {
    if p >= 1.0 {
        return f64::INFINITY;
    }
    if p <= 0.5 {
        return 0.0;
    }
    let tail = 1.0 - p;
    let mut high = 1.0;
    while upper_tail(high, degrees) > tail {
        high *= 2.0;
        if high > 1e12 {
            return f64::INFINITY;
        }
    }
    let mut low = 0.0;
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if upper_tail(middle, degrees) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// P(T > t) for t of 0 or more.
fn upper_tail(t: f64, degrees: f64) -> f64 {
    0.5 * incomplete_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5)
}

/// The regularised incomplete beta function, by its continued fraction (Lentz's method).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front =
        (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The fraction converges fast only below the mean.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(1.0 - x, b, a) / b
    }
}

fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for m in 1..500 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            change = d * c;
            result *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    result
}

/// The logarithm of the gamma function for x over 0: Stirling's series after shifting x up.
fn ln_gamma(x: f64) -> f64 {
    let mut shift = 0.0;
    let mut x = x;
    while x < 10.0 {
        shift += x.ln();
        x += 1.0;
    }
    let i = 1.0 / (x * x);
    let series = (1.0 / 12.0 - i * (1.0 / 360.0 - i * (1.0 / 1260.0 - i / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_tables() {
        let cases = [
            (0.975, 1.0, 12.706_204_7),
            (0.975, 2.0, 4.302_652_7),
            (0.975, 10.0, 2.228_138_9),
            (0.995, 5.0, 4.032_142_98),
            (0.9995, 11.0, 4.436_979_3),
            (0.999, 40.0, 3.306_877_8),
            (0.975, 1e6, 1.959_966_4),
            (0.5, 3.0, 0.0),
        ];
        for (p, degrees, expected) in cases {
            let got = student_t_quantile(p, degrees);
            assert!(
                (got - expected).abs() < 2e-6 * (1.0 + expected),
                "{p} {degrees}: {got}"
            );
        }
        // One degree of freedom is Cauchy's distribution: tan(pi (p - 1/2)).
        let cauchy = (std::f64::consts::PI * (0.999_375 - 0.5)).tan();
        assert!((student_t_quantile(0.999_375, 1.0) / cauchy - 1.0).abs() < 1e-9);
    }
}
