use std::time::Duration;

use netbench_model::browser::BrowserPlan;

use crate::cost::{times, transfer};

/// The time of a visit: a profile, a browser's start, a page and the end of all its processes.
const VISIT: Duration = Duration::from_millis(1_600);

/// The time of a stack's connection that accompanies a visit.
const CONNECTION: Duration = Duration::from_millis(250);

pub(super) fn time(plan: &BrowserPlan) -> Duration {
    let limit = Duration::from_millis(plan.limit_ms);
    let browsers = plan.browsers.len();
    let stacks = plan.clients.len() - browsers;
    let one = plan.sites.iter().map(|site| {
        let body = transfer(site);
        let visit = VISIT.saturating_add(body).min(limit.max(VISIT));
        let connection = CONNECTION.saturating_add(body).min(limit.max(CONNECTION));
        times(visit, browsers as f64).saturating_add(times(connection, stacks as f64))
    });
    let one = one.fold(Duration::ZERO, Duration::saturating_add);
    let times_each = plan.conditions.len() as f64 * f64::from(plan.rounds);
    times(one, times_each)
}

#[cfg(test)]
mod tests {
    use netbench_model::parse_sites;
    use serde_json::json;

    use super::*;

    /// Returns the predicted seconds of ten rounds with one site.
    fn cost(site: &str) -> u64 {
        let browsers = ["chromium", "firefox"].map(|name| {
            json!({"name": name, "version": "", "library": "", "sandbox": "on", "user": null, "settings": []})
        });
        let plan = json!({
            "seed": 1, "clients": ["chromium", "firefox", "openssl"], "browsers": browsers, "conditions": ["clean"],
            "rounds": 10, "sites_file": "", "sites_sha256": "", "sites": parse_sites(site).unwrap(),
            "roots": {"source": "mozilla", "count": 0, "sha256": ""}, "client": null, "limit_ms": 60_000,
        });
        time(&serde_json::from_value(plan).unwrap()).as_secs()
    }

    #[test]
    fn long_bodies_over_slow_links_cost_time_up_to_the_limit() {
        assert_eq!(cost("a.example"), 34);
        // 2 MiB at 1 Mbit/s take 17 s.
        assert!((500..560).contains(&cost("a.example rate=1mbit body=2m")));
        assert_eq!(cost("a.example rate=1mbit body=200m"), 1_800);
    }
}
