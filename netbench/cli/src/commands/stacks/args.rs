use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Stacks {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}
