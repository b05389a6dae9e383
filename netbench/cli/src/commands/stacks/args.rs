use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Stacks {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
