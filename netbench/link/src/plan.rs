use std::{fmt, str::FromStr};

use netbench_model::{LinkProfile, tls::one_of};

/// The requested kind of link: the values of `--link`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinkChoice {
    /// The best kind that works: the link in user space. Never loopback, whose times do not represent a
    /// network.
    #[default]
    Auto,
    /// The link in user space: over veth pairs, or over TUN where those cannot be made.
    User,
    /// The link in user space, over TUN devices.
    Tun,
    /// The kernel's netem.
    Netem,
    /// No link: sites are addresses of the loopback interface.
    None,
}

impl LinkChoice {
    /// Every choice.
    pub const ALL: [Self; 5] = [Self::Auto, Self::User, Self::Tun, Self::Netem, Self::None];

    /// Returns the value of `--link`.
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

/// One emulated site with its path.
#[derive(Debug, Clone)]
pub struct LinkSite {
    /// The site's name. Losses are drawn from it, so that a site keeps its losses when others are added.
    pub name: String,
    /// The path to the site.
    pub profile: LinkProfile,
}

/// The specification of a link.
#[derive(Debug, Clone)]
pub struct LinkPlan {
    /// The kind.
    pub choice: LinkChoice,
    /// The sites; elsewhere, they are identified by their index in this list.
    pub sites: Vec<LinkSite>,
    /// The seed of losses and jitter.
    pub seed: u64,
}

/// A key from which a trial's losses and jitter are drawn, beside the run's seed and the site. Trials that
/// are compared with each other have the same key.
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
