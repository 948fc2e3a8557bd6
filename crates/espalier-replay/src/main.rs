//! The command line of the recorded registry. Its only line on standard output is the address, once
//! it serves.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Parser;
use espalier_replay::{FAULT_HELP, Fault, HABIT_HELP, Habits, Product, Registry, Server, Settings, Synthetic};

/// Serve a recorded npm registry on loopback.
// It has a field for each option.
#[derive(Parser)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
struct Arguments {
    /// The folder that holds the recording.
    #[arg(long, value_name = "DIR", required_unless_present = "synthetic")]
    corpus: Option<PathBuf>,
    /// Serve a made-up registry instead: deep, wide, versions or peers, and the number of packages,
    /// such as deep:1000.
    #[arg(long, value_name = "SHAPE:PACKAGES", conflicts_with = "corpus")]
    synthetic: Option<Synthetic>,
    /// The port on 127.0.0.1; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Wait before the first byte of each response.
    #[arg(long, value_name = "DURATION", default_value = "0ms", value_parser = humantime::parse_duration)]
    delay: std::time::Duration,
    /// Serve HTTPS with a self-signed certificate, and h2 to clients that offer it.
    #[arg(long)]
    tls: bool,
    /// With --tls: write the certificate to this file as PEM, for clients that should trust it.
    #[arg(long, value_name = "FILE", requires = "tls")]
    certificate: Option<PathBuf>,
    #[arg(long, help = "Have a habit of other registries; --help lists them", long_help = HABIT_HELP)]
    habit: Vec<String>,
    /// Have the habits of a product: artifactory, nexus, github, gitlab, codeartifact, azure or
    /// cloudsmith.
    #[arg(long, value_name = "NAME")]
    like: Option<Product>,
    /// Answer /<name>/<range> with the document of the highest version in it.
    #[arg(long)]
    ranges: bool,
    /// Make the version manifests of full documents this many times as large as recorded.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pad_full: f64,
    /// Let no other origin read responses.
    #[arg(long)]
    no_cors: bool,
    /// Let other origins read error responses too.
    #[arg(long)]
    cors_on_errors: bool,
    /// Answer preflights.
    #[arg(long)]
    preflight: bool,
    /// Also serve the static files in this folder.
    #[arg(long, value_name = "DIR")]
    also_serve: Option<PathBuf>,
    #[arg(long, value_name = "FAULT", help = "Let requests fail; --help lists the kinds", long_help = FAULT_HELP)]
    fault: Vec<Fault>,
    /// Which requests fail, where a fault has a rate.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    fault_seed: u64,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let registry = match (&arguments.corpus, arguments.synthetic) {
        (_, Some(synthetic)) => Registry::synthetic(synthetic),
        (corpus, None) => Registry::open(corpus.as_deref().context("--corpus names the recording")?)?,
    };
    let registry = Arc::new(registry);
    let habits = Habits::new(arguments.like.as_ref(), arguments.habit.iter().map(String::as_str))?;
    let below = habits.below.clone();
    let server = Server::start(registry, settings(&arguments, habits)).await?;
    if let (Some(file), Some(certificate)) = (&arguments.certificate, &server.certificate) {
        std::fs::write(file, certificate).with_context(|| format!("cannot write {}", file.display()))?;
    }
    println!("{}{}", server.origin(), below.trim_end_matches('/'));
    tokio::signal::ctrl_c().await.context("cannot wait for an interrupt")
}

fn settings(arguments: &Arguments, habits: Habits) -> Settings {
    Settings {
        port: arguments.port,
        tls: arguments.tls,
        delay: arguments.delay,
        habits,
        ranges: arguments.ranges,
        pad_full: arguments.pad_full,
        cors: !arguments.no_cors,
        cors_on_errors: arguments.cors_on_errors,
        preflight: arguments.preflight,
        static_root: arguments.also_serve.clone(),
        faults: arguments.fault.clone(),
        fault_seed: arguments.fault_seed,
    }
}
