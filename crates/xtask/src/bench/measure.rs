//! Measures a run of a command as a whole process: time, processor time, memory, context switches,
//! and, in a separate run, system calls.
//!
//! The system adds up the usage of a process's finished children. So a process without other
//! children starts the command: this program again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};

/// Arguments of the process that starts the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// The file for the figures.
    output: PathBuf,
    /// The command to run
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<std::ffi::OsString>,
}

/// The usage of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    pub wall_ms: f64,
    pub user_ms: f64,
    pub system_ms: f64,
    /// The peak of the largest process.
    pub peak_mib: f64,
    pub context_switches: i64,
    pub succeeded: bool,
}

/// Runs a command and returns its usage. Its output is beside `file`.
pub fn run(command: &Command, file: &Path) -> Result<Usage> {
    let mut starter = Command::new(std::env::current_exe()?);
    starter.arg("measure").arg(file).arg("--").arg(command.get_program()).args(command.get_args());
    starter.current_dir(command.get_current_dir().context("a folder to run in")?).env_clear();
    starter.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let printed = fs::File::create(file.with_extension("log"))?;
    starter.stdin(Stdio::null()).stdout(printed.try_clone()?).stderr(printed);
    let status = starter.status()?;
    let figures = fs::read(file).with_context(|| format!("no figures: {status}"))?;
    let usage: Usage = serde_json::from_slice(&figures)
        .with_context(|| format!("{} is incomplete: {status}; is the disk full?", file.display()))?;
    if !usage.succeeded {
        let printed = fs::read_to_string(file.with_extension("log")).unwrap_or_default();
        let end: Vec<&str> = printed.lines().rev().take(12).collect();
        bail!("{command:?} failed:\n{}", end.into_iter().rev().collect::<Vec<_>>().join("\n"));
    }
    Ok(usage)
}

/// Runs the command in the intermediate process and records the usage of its children.
pub fn child(arguments: &Arguments) -> Result<()> {
    let (program, rest) = arguments.command.split_first().context("a command")?;
    let start = Instant::now();
    let status =
        Command::new(program).args(rest).status().with_context(|| format!("cannot run {}", program.display()))?;
    let wall_ms = start.elapsed().as_secs_f64() * 1e3;
    let used = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let milliseconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 * 1e3 + time.tv_usec() as f64 / 1e3;
    let usage = Usage {
        wall_ms,
        user_ms: milliseconds(used.user_time()),
        system_ms: milliseconds(used.system_time()),
        peak_mib: used.max_rss() as f64 / 1024.0,
        context_switches: used.voluntary_context_switches() + used.involuntary_context_switches(),
        succeeded: status.success(),
    };
    fs::write(&arguments.output, serde_json::to_vec(&usage)?)?;
    Ok(())
}

/// The number of system calls of a run, by name. Empty without `strace`.
pub fn system_calls(command: &Command, folder: &Path) -> Result<BTreeMap<String, u64>> {
    let counts = folder.join("strace");
    let mut traced = Command::new("strace");
    traced.args(["-f", "-c", "-o"]).arg(&counts).arg(command.get_program()).args(command.get_args());
    traced.current_dir(command.get_current_dir().context("a folder to run in")?).env_clear();
    traced.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let Ok(output) = traced.stdin(Stdio::null()).output() else { return Ok(BTreeMap::new()) };
    if !output.status.success() {
        bail!("{traced:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(counted(&fs::read_to_string(counts)?))
}

/// Parses the table of `strace -c`: percent, seconds, microseconds per call, calls, errors if there
/// are any, name.
pub fn counted(table: &str) -> BTreeMap<String, u64> {
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (name, calls) = (words.last()?, words.get(3)?);
        Some(((*name).to_owned(), calls.parse().ok()?))
    };
    table.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn the_table_is_read_with_and_without_errors() {
        let table = "% time     seconds  usecs/call     calls    errors syscall\n\
                     ------ ----------- ----------- --------- --------- ----------------\n \
                     10.27    0.079054          22      3516       185 statx\n  \
                     0.10    0.000803           8        92           brk\n\
                     ------ ----------- ----------- --------- --------- ----------------\n\
                     100.00    0.769000          11      3608       185 total\n";
        let counts = counted(table);
        assert_eq!((counts["statx"], counts["brk"], counts["total"], counts.len()), (3516, 92, 3608, 3));
    }
}
