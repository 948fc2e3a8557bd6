//! `cargo xtask profile`: records the paths that the command takes, for the compiler.
//!
//! A build that counts its branches runs the bench's phases. `.cargo/rustc-with-profile` gives the
//! counts to later optimised builds, which lay out and inline code by them. The counts say nothing
//! about what the program does, so an old profile only makes it slower. Whether a new one pays is
//! for `cargo xtask bench --before` to show.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::contestants::Contestant;
use super::measure;
use super::phase::{Phase, Project};
use super::server::{Replay, Served};
use super::{build_replay, in_no_project};
use crate::oracle;
use crate::toolchain;

/// Arguments of `cargo xtask profile`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder with the recorded registry and `projects/`
    #[arg(long, value_name = "DIR")]
    corpus: PathBuf,
    /// The folder for the projects and caches of the runs, outside of any project
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
}

/// The recorded profile, which `.cargo/rustc-with-profile` names, too.
const PROFILE: &str = "crates/espalier-cli/espalier.profdata";

/// The registries of the runs: how many times as long as recorded the manifests in full documents
/// are, and whether the registry speaks TLS. The command takes other paths on each.
const REGISTRIES: [(f64, bool); 3] = [(1.0, false), (5.0, false), (1.0, true)];

/// The packages to build, as arguments of cargo: the command alone, and what is built without
/// arguments. Cargo hashes the features of all dependencies into the names of functions, and they
/// depend on what is built together.
const BUILDS: [&[&str]; 2] = [&["--package", "espalier-cli"], &[]];

/// A profile that fits has the runs of [`BUILDS`] builds, and a program has the functions of one.
const LEAST_FIT: f64 = 0.2;

/// Says so if the profile was recorded with other names of functions than a program has. The names
/// contain hashes of the compiler, and of the versions and features of all dependencies.
pub fn warn_unless_fitting(program: &Path) -> Result<()> {
    let (recorded, compiled) = (fs::read(toolchain::root().join(PROFILE))?, fs::read(program)?);
    let (recorded, compiled) = (functions(&recorded), functions(&compiled));
    let known = recorded.intersection(&compiled).count();
    if (known as f64) < LEAST_FIT * recorded.len() as f64 {
        let all = recorded.len();
        eprintln!("{PROFILE} does not fit: the program has {known} of its {all} functions.");
        eprintln!("`cargo xtask profile --corpus DIR` records it again.");
    }
    Ok(())
}

/// The names of functions in a program, or in a profile.
fn functions(bytes: &[u8]) -> BTreeSet<&[u8]> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.$".contains(byte);
    bytes.split(|byte| !is_part(byte)).filter(|name| name.starts_with(b"_ZN") && name.ends_with(b"E")).collect()
}

/// Records and writes the profile.
pub fn run(arguments: &Arguments) -> Result<()> {
    let merge = toolchain::profile_merger()?;
    let target = oracle::target_folder();
    let replay = build_replay(&target)?;
    let folder = std::path::absolute(target.join("profile"))?;
    let counts = folder.join("counts");
    // Counts of an earlier build would be added.
    if counts.exists() {
        fs::remove_dir_all(&counts)?;
    }
    let scratch = arguments.scratch.clone().unwrap_or_else(std::env::temp_dir);
    let scratch = tempfile::Builder::new().prefix("espalier-profile-").tempdir_in(std::path::absolute(scratch)?)?;
    in_no_project(scratch.path())?;
    for packages in BUILDS {
        let espalier = build(packages, &folder, &counts)?;
        for (pad_full, tls) in REGISTRIES {
            let recording = Served::Corpus { folder: &arguments.corpus, pad_full };
            let server = Replay::start(&replay, recording, 0, tls, scratch.path())?;
            let over = if tls { "TLS" } else { "TCP" };
            eprintln!("All projects over {over}, with full documents {pad_full} times as long as recorded");
            for project in Project::all(&arguments.corpus)? {
                for phase in Phase::ALL.into_iter().filter(|phase| phase.suits(&project)) {
                    take(phase, &project, &server, &espalier, scratch.path())?;
                }
            }
        }
    }
    let merging = &mut Command::new(merge);
    toolchain::run(merging.args(["merge", "--sparse", "--output", PROFILE]).arg(&counts))?;
    eprintln!("{PROFILE} is new. The next release build uses it.");
    Ok(())
}

/// Builds the command that writes its counts into a folder.
fn build(packages: &[&str], target: &Path, counts: &Path) -> Result<PathBuf> {
    let mut cargo = toolchain::cargo();
    cargo.args(["build", "--quiet", "--release"]).args(packages).arg("--target-dir").arg(target);
    toolchain::run(cargo.env("ESPALIER_PROFILE_INTO", counts))?;
    Ok(target.join("release/espalier"))
}

/// Runs the command once as the phase does.
fn take(phase: Phase, project: &Project, server: &Replay, espalier: &Path, scratch: &Path) -> Result<()> {
    let Some(seed) = phase.seed(Contestant::Espalier, espalier, project, server, scratch)? else { return Ok(()) };
    let scene = seed.scene(project, server, scratch)?;
    let command = phase.command(Contestant::Espalier, espalier, project, server, &scene);
    measure::run(&command, &scene.folder.join("usage.json")).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::functions;

    #[test]
    fn functions_are_found_between_other_bytes() {
        let names = functions(b"\x01_ZN3foo17h0E\0_ZN3bar17h1E.llvm.1\xff_R_ZNE main _ZN3baz17h2E");
        assert_eq!(names.into_iter().collect::<Vec<_>>(), [b"_ZN3baz17h2E", b"_ZN3foo17h0E"]);
    }
}
