//! Answers by an amount and its limit.

use netbench_interop::WebLoss;
use netbench_model::Threshold;
use netbench_stats::Change;

use super::question::Answer;

/// Answers by the expected loss among the sites of the web: by its whole interval, which contains the limit if the
/// sources do not decide.
pub(super) fn of_web(loss: &WebLoss, limit: Threshold) -> Answer {
    let [low, high] = [loss.low, loss.high].map(|sites| sites / 1e6);
    if limit.is_no(low) {
        Answer::No
    } else if limit.is_no(high) {
        Answer::Open
    } else if high > limit.yes.value() {
        Answer::WithLosses
    } else {
        Answer::Yes
    }
}

pub(super) fn of_lost(lost: u64, of: u64, limit: Threshold) -> Answer {
    by_limit(lost as f64 / of.max(1) as f64, limit)
}

/// Answers by an amount that is known exactly.
pub(super) fn by_limit(amount: f64, limit: Threshold) -> Answer {
    if limit.is_no(amount) {
        Answer::No
    } else if amount > limit.yes.value() {
        Answer::WithLosses
    } else {
        Answer::Yes
    }
}

/// Answers whether it is fast enough by the total time in each condition: yes if every whole interval lies within the
/// limit, and no if every whole interval lies beyond the end that makes the answer a no.
pub(super) fn of_totals<'a>(
    totals: impl IntoIterator<Item = &'a Change>,
    limit: Threshold,
) -> Answer {
    let (mut enough, mut slower, mut bad, mut all) = (0, 0, 0, 0);
    for interval in totals.into_iter().map(|paired| paired.interval) {
        all += 1;
        enough += usize::from(interval.is_some_and(|i| i.high <= limit.yes.ratio()));
        slower += usize::from(interval.is_some_and(|i| i.low > limit.yes.ratio()));
        bad += usize::from(interval.is_some_and(|i| limit.is_no(i.low - 1.0)));
    }
    match (slower, enough) {
        (_, _) if all == 0 => Answer::Open,
        (_, _) if bad == all => Answer::No,
        (0, enough) if enough == all => Answer::Yes,
        (0, _) => Answer::Open,
        _ => Answer::WithLosses,
    }
}
