use clap::{Args, Subcommand};
use netbench_link::LinkChoice;

#[derive(Debug, Args)]
pub(crate) struct Link {
    #[command(subcommand)]
    pub(crate) command: LinkCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LinkCommand {
    /// Measure the link itself: TCP connect against the configured time, rate, lateness
    Bench {
        /// Which: auto, user, tun, netem, none
        #[arg(long, value_name = "LINK", default_value = "auto")]
        link: LinkChoice,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}
