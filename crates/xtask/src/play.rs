//! `cargo xtask play`: to be written.

/// Arguments of `cargo xtask play`.
#[derive(clap::Args)]
pub struct Arguments {}

/// Runs the command.
pub fn run(_arguments: &Arguments) -> anyhow::Result<()> {
    anyhow::bail!("not built yet")
}
