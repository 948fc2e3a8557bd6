//! `cargo xtask wasm`: to be written.

/// Arguments of `cargo xtask wasm`.
#[derive(clap::Args)]
pub struct Arguments {}

/// Runs the command.
pub fn run(_arguments: &Arguments) -> anyhow::Result<()> {
    anyhow::bail!("not built yet")
}
