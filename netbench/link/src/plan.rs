use std::{fmt, str::FromStr};

use netbench_model::{LinkProfile, tls::one_of};

/// Which kind of link is wanted: the values of `--link`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinkChoice {
    /// The best that works: the link in user space. Never loopback, whose times say nothing of a network.
    #[default]
    Auto,
    /// The link in user space: over veth pairs, or over TUN where those cannot be made.
    User,
    /// The link in user space, over TUN devices.
    Tun,
    /// The kernel's netem.
    Netem,
    /// None: sites are addresses of the loopback interface.
    None,
}

impl LinkChoice {
    /// Every choice.
    pub const ALL: [Self; 5] = [Self::Auto, Self::User, Self::Tun, Self::Netem, Self::None];

    /// The word of `--link`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::User => "user",
            Self::Tun => "tun",
            Self::Netem => "netem",
            Self::None => "none",
        }
    }
}

impl fmt::Display for LinkChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for LinkChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        one_of("link", text, &Self::ALL)
    }
}

/// One emulated site: what its path is like.
#[derive(Debug, Clone)]
pub struct LinkSite {
    /// Its name. Losses are drawn from it, so that a site keeps its losses when others are added.
    pub name: String,
    /// The path to it.
    pub profile: LinkProfile,
}

/// What a link is to be.
#[derive(Debug, Clone)]
pub struct LinkPlan {
    /// The kind.
    pub choice: LinkChoice,
    /// The sites; everywhere else they are known by their place in this list.
    pub sites: Vec<LinkSite>,
    /// Losses and jitter come from it.
    pub seed: u64,
}

/// What a trial's losses and jitter are drawn from, beside the run's seed and the site. Trials
/// that are compared with each other have the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TrialKey(pub u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_read_as_they_are_written() {
        for choice in LinkChoice::ALL {
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
        let error = "\u{1b}[31mveth"
            .parse::<LinkChoice>()
            .expect_err("not a choice");
        assert_eq!(
            error,
            r#"unknown link "\u{1b}[31mveth"; expected one of auto, user, tun, netem, none"#
        );
    }
}
