//! Compares the numbers of system calls and instructions of small cases with committed budgets.
//!
//! On a shared machine, times don't show a change of three per cent; counts do. Only system calls
//! about files are counted, because their number doesn't depend on the timing of threads. Valgrind
//! counts the instructions of a resolution with one thread and no network. A count above its budget
//! fails. A count well below its budget asks for a lower budget, so that the next regression shows.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use espalier_replay::{Registry, Server, Settings};

use crate::bench::counted;
use crate::oracle;
use crate::parity;

/// Arguments of `cargo xtask guard`.
#[derive(Default, clap::Args)]
pub struct Arguments {
    /// Write the current counts as budgets
    #[arg(long)]
    pub write: bool,
    /// The program to count [default: it is built]
    #[arg(long, value_name = "FILE")]
    pub espalier: Option<PathBuf>,
}

/// Budgets by case and kind of call.
type Budgets = BTreeMap<String, BTreeMap<String, u64>>;

/// The system calls about files. All that read a file's metadata are one kind, because libraries
/// choose between them.
const KINDS: [(&str, &[&str]); 6] = [
    (
        "look",
        &[
            "stat",
            "lstat",
            "fstat",
            "newfstatat",
            "statx",
            "access",
            "faccessat",
            "faccessat2",
            "readlink",
            "readlinkat",
        ],
    ),
    ("open", &["open", "openat", "creat"]),
    ("list", &["getdents64"]),
    ("make", &["mkdir", "mkdirat", "link", "linkat", "symlink", "symlinkat"]),
    ("remove", &["unlink", "unlinkat", "rmdir", "rename", "renameat", "renameat2"]),
    ("change", &["utimensat", "chmod", "fchmod", "fchmodat", "fchmodat2", "ftruncate"]),
];

/// The tolerance of instruction counts in per cent, because libraries take other paths on other
/// processors.
const TOLERANCE: u64 = 3;
/// The tolerance of system call counts, because a thread may ask once more.
const SLACK: u64 = 3;

/// Counts, and compares or writes.
pub fn run(arguments: &Arguments) -> Result<()> {
    let file = oracle::repository().join("tests/budgets.json");
    let mut counts = Budgets::new();
    if is_there("strace") {
        let espalier = arguments.espalier.clone().map_or_else(parity::install::build, Ok)?;
        system_calls(espalier, &mut counts)?;
    } else {
        eprintln!("System calls are left out: there is no strace.");
    }
    if is_there("valgrind") {
        counts.insert("resolve overrides".to_owned(), BTreeMap::from([("instructions".to_owned(), instructions()?)]));
    } else {
        eprintln!("Instructions are left out: there is no valgrind.");
    }
    if arguments.write {
        return Ok(fs::write(&file, serde_json::to_string_pretty(&counts)? + "\n")?);
    }
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let differences = compare(&serde_json::from_str(&text)?, &counts);
    for line in &differences {
        println!("{line}");
    }
    ensure!(
        differences.is_empty(),
        "counts differ from tests/budgets.json; if that is meant, `cargo xtask guard --write` takes them over"
    );
    Ok(())
}

/// The counts above or well below their budgets.
fn compare(budgets: &Budgets, counts: &Budgets) -> Vec<String> {
    let mut lines = Vec::new();
    for (case, kinds) in counts {
        for (kind, &count) in kinds {
            let Some(&budget) = budgets.get(case).and_then(|kinds| kinds.get(kind)) else {
                lines.push(format!("{case}: there is no budget of {kind}; it takes {count}"));
                continue;
            };
            let room = if kind == "instructions" { budget * TOLERANCE / 100 } else { SLACK + budget * TOLERANCE / 100 };
            if count > budget + room || count + room < budget {
                lines.push(format!("{case}: {count} {kind}, and the budget is {budget}"));
            }
        }
    }
    lines
}

fn is_there(program: &str) -> bool {
    let status = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Counts while a project of the embedded registry is installed from nothing, from a warm store,
/// and again.
fn system_calls(espalier: PathBuf, counts: &mut Budgets) -> Result<()> {
    let corpus = oracle::repository().join("tests/registry");
    let server = Server::start_blocking(Arc::new(Registry::open(&corpus)?), Settings::default())?;
    let scratch = tempfile::Builder::new().prefix("espalier-guard-").tempdir()?;
    let case = Case { espalier, origin: server.origin(), scratch: scratch.path().to_owned() };
    let manifest =
        r#"{"name":"guard","version":"1.0.0","dependencies":{"react-dom":"19.3.0","clsx":"2.1.1","nanoid":"3.3.19"}}"#;
    let first = case.project("first", manifest, None)?;
    counts.insert("install from nothing".to_owned(), case.count(&first, "install")?);
    let lock = fs::read_to_string(first.join("package-lock.json"))?;
    counts
        .insert("ci from a warm store".to_owned(), case.count(&case.project("second", manifest, Some(&lock))?, "ci")?);
    counts.insert("install with nothing to do, in full".to_owned(), case.count(&first, "install")?);
    counts.insert("install with nothing to do".to_owned(), case.count(&first, "install")?);
    Ok(())
}

struct Case {
    espalier: PathBuf,
    origin: String,
    scratch: PathBuf,
}

impl Case {
    fn project(&self, name: &str, manifest: &str, lock: Option<&str>) -> Result<PathBuf> {
        let folder = self.scratch.join(name).join("guard");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("package.json"), manifest)?;
        if let Some(lock) = lock {
            fs::write(folder.join("package-lock.json"), lock)?;
        }
        Ok(folder)
    }

    fn count(&self, project: &Path, command: &str) -> Result<BTreeMap<String, u64>> {
        let table = self.scratch.join("strace");
        let mut strace = Command::new("strace");
        strace.args(["-f", "-c", "-o"]).arg(&table).arg(&self.espalier).args([command, "--quiet", "--ignore-scripts"]);
        // Programs are found in the same number of steps on every machine.
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let node = std::env::split_paths(&folders).find(|folder| folder.join("node").is_file());
        let path = std::env::join_paths(node.into_iter().chain(["/usr/bin".into(), "/bin".into()]))?;
        strace.current_dir(project).env_clear().env("PATH", path);
        strace.env("HOME", &self.scratch).env("npm_config_registry", &self.origin);
        strace.env("ESPALIER_CACHE_DIR", self.scratch.join("cache")).env("ESPALIER_STORE", self.scratch.join("store"));
        parity::install::succeed(&format!("espalier {command} under strace"), &strace.output()?)?;
        let calls = counted(&fs::read_to_string(table)?);
        let of_kind = |names: &[&str]| names.iter().filter_map(|name| calls.get(*name)).sum();
        Ok(KINDS.iter().map(|(kind, names)| ((*kind).to_owned(), of_kind(names))).collect())
    }
}

/// The instructions of resolving an embedded project, without threads and network.
fn instructions() -> Result<u64> {
    let scratch = tempfile::tempdir()?;
    let output = scratch.path().join("callgrind");
    let mut valgrind = Command::new("valgrind");
    valgrind.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", output.display()));
    // Reading the registry and the arguments isn't counted.
    valgrind.args(["--collect-atstart=no", "--toggle-collect=*Recording*drive*"]);
    valgrind.arg(itself()?).arg("parity").arg("--corpus").arg(oracle::repository().join("tests/registry"));
    let run = valgrind.args(["--project", "overrides", "--abbreviated"]).output()?;
    let said = String::from_utf8_lossy(&run.stderr);
    if !run.status.success() {
        bail!("valgrind failed:\n{said}");
    }
    let line = said.lines().find_map(|line| line.split_once("Collected : ")).context("valgrind names no count")?;
    let count: u64 = line.1.trim().parse()?;
    ensure!(count > 0, "valgrind didn't find the resolution");
    Ok(count)
}

/// This program. `cargo test` may have replaced its file since, and the new one does the same.
fn itself() -> Result<PathBuf> {
    let path = std::env::current_exe()?;
    let former = path.to_str().and_then(|path| path.strip_suffix(" (deleted)"));
    Ok(former.map_or_else(|| path.clone(), PathBuf::from))
}

#[cfg(test)]
mod tests {
    use super::{Budgets, compare};

    fn budgets(kind: &str, count: u64) -> Budgets {
        [("case".to_owned(), [(kind.to_owned(), count)].into())].into()
    }

    #[test]
    fn three_per_cent_more_or_less_is_said() {
        let budget = budgets("instructions", 1000);
        assert!(compare(&budget, &budgets("instructions", 1030)).is_empty());
        assert_eq!(compare(&budget, &budgets("instructions", 1031)).len(), 1);
        assert_eq!(compare(&budget, &budgets("instructions", 969)).len(), 1);
    }

    #[test]
    fn what_has_no_budget_is_said() {
        assert_eq!(compare(&Budgets::new(), &budgets("open", 1)), ["case: there is no budget of open; it takes 1"]);
    }
}
