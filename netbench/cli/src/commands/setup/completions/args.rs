use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell to generate for
    pub(crate) shell: Shell,
}
