//! `cargo xtask oracle`: to be written.

/// Arguments of `cargo xtask oracle`.
#[derive(clap::Args)]
pub struct Arguments {}

/// Runs the command.
pub fn run(_arguments: &Arguments) -> anyhow::Result<()> {
    anyhow::bail!("not built yet")
}
