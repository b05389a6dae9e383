use clap::{Args, Subcommand};
use netbench_link::LinkChoice;

#[derive(Debug, Args)]
pub(crate) struct Link {
    #[command(subcommand)]
    pub(crate) command: LinkCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LinkCommand {
    /// List the links that have a name, for --sweep link=…
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Compare the emulated link with its settings: round-trip time, rate, lateness
    Bench {
        /// Link to measure: auto, user, tun, netem, none
        #[arg(long, value_name = "LINK", default_value = "auto")]
        link: LinkChoice,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
