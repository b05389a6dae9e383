use statrs::distribution::{ContinuousCDF, StudentsT};

/// Returns the quantile `p` (0.5 to 1) of Student's t distribution with `degrees` of freedom, which need not be whole.
/// The result is infinite at 1.
pub fn student_t_quantile(p: f64, degrees: f64) -> f64 {
    if p <= 0.5 {
        return 0.0;
    }
    let Ok(distribution) = StudentsT::new(0.0, 1.0, degrees) else {
        return f64::INFINITY;
    };
    // Bisection is used because the library's inverse is wrong in the far tail and for many degrees of freedom.
    let tail = 1.0 - p;
    let mut high = 1.0;
    while distribution.sf(high) > tail {
        high *= 2.0;
        if high > 1e12 {
            return f64::INFINITY;
        }
    }
    bisect(high, |value| distribution.sf(value) > tail)
}

/// Returns the point between 0 and `high` where `is_below` turns from true to false.
pub(crate) fn bisect(mut high: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    let mut low = 0.0;
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_tables() {
        // Computed by bisection of the incomplete beta function, by its continued fraction.
        let cases = [
            (0.6, 0.999, 0.3249922862127219),
            (0.6, 1.5, 0.300745392569697),
            (0.6, 3.0, 0.2766706623326197),
            (0.6, 11.37, 0.2593514709385062),
            (0.6, 40.0, 0.2550386863456704),
            (0.6, 500.5, 0.2534818150969912),
            (0.6, 10000.0, 0.25335384344705114),
            (0.6, 1000000.0, 0.25334717047785327),
            (0.975, 0.999, 12.736300329239842),
            (0.975, 1.5, 6.016663104429211),
            (0.975, 3.0, 3.1824463052840253),
            (0.975, 11.37, 2.1922780571266607),
            (0.975, 40.0, 2.0210753903065175),
            (0.975, 500.5, 1.9647150750575197),
            (0.975, 10000.0, 1.960201239891639),
            (0.975, 1000000.0, 1.9599663569861794),
            (0.995, 0.999, 63.909672423366175),
            (0.995, 1.5, 17.8203105144665),
            (0.995, 3.0, 5.84090930973386),
            (0.995, 11.37, 3.0856141338034533),
            (0.995, 40.0, 2.7044592674333723),
            (0.995, 500.5, 2.5856879410063662),
            (0.995, 10000.0, 2.5763210466692303),
            (0.995, 1000000.0, 2.5758342202491358),
            (0.99999, 0.999, 32156.86224930895),
            (0.99999, 1.5, 1124.5001233848525),
            (0.99999, 3.0, 47.927728376010606),
            (0.99999, 11.37, 6.964947581211261),
            (0.99999, 40.0, 4.835023895059251),
            (0.99999, 500.5, 4.30611775312736),
            (0.99999, 10000.0, 4.266937665768378),
            (0.99999, 1000000.0, 4.2649112541583705),
            (0.999999999, 0.999, 324547061.7810868),
            (0.999999999, 1.5, 521946.95257465704),
            (0.999999999, 3.0, 1033.109684243358),
            (0.999999999, 11.37, 16.95411556379681),
            (0.999999999, 40.0, 7.704012091004971),
            (0.999999999, 500.5, 6.110355605529552),
            (0.999999999, 10000.0, 6.003355452554054),
            (0.999999999, 1000000.0, 5.997862460367603),
            (0.5, 3.0, 0.0),
        ];
        for (p, degrees, expected) in cases {
            let got = student_t_quantile(p, degrees);
            assert!(
                (got - expected).abs() <= 1e-9 * (1.0 + expected),
                "{p} {degrees}: {got} {expected}"
            );
        }
        // One degree of freedom is Cauchy's distribution: tan(pi (p - 1/2)).
        let cauchy = (std::f64::consts::PI * (0.999_375 - 0.5)).tan();
        assert!((student_t_quantile(0.999_375, 1.0) / cauchy - 1.0).abs() < 1e-9);
        assert_eq!(student_t_quantile(1.0, 5.0), f64::INFINITY);
    }
}
