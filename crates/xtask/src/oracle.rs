//! `cargo xtask oracle`: npm itself, at the version that Espalier reproduces.
//!
//! npm is installed once into a folder of its own. `tests/oracle/driver.mjs` drives it, in one
//! process for many projects.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use serde::{Deserialize, Serialize};

/// The oracle's version.
pub const NPM_VERSION: &str = espalier_core::options::NPM_VERSION;

/// The largest project of the corpus takes half a minute on a busy machine.
pub const PATIENCE: Duration = Duration::from_mins(5);
/// A process that waits for others may take this many times its patience, on the clock.
const MOST_WAITING: u32 = 60;

/// Arguments of `cargo xtask oracle`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder to install into [default: a folder in cargo's target folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Installs the oracle if necessary and prints the folder of its npm.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    println!("{}", install(arguments.dir.as_deref())?.display());
    Ok(())
}

/// The folder of npm's own package, which is installed if necessary.
pub fn install(folder: Option<&Path>) -> anyhow::Result<PathBuf> {
    let folder = folder.map_or_else(|| target_folder().join("oracle"), Path::to_owned);
    let npm = folder.join("node_modules/npm");
    if installed_version(&npm).as_deref() != Some(NPM_VERSION) {
        eprintln!("installing npm {NPM_VERSION} into {}", folder.display());
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let status = Command::new("npm")
            .args([
                "install",
                "--no-audit",
                "--no-fund",
                "--ignore-scripts",
                "--no-save",
                "--no-package-lock",
                "--prefix",
            ])
            .arg(&folder)
            .arg(format!("npm@{NPM_VERSION}"))
            .stdout(Stdio::null())
            .status()
            .context("cannot run npm, which installs the oracle; is Node.js on the PATH?")?;
        ensure!(status.success(), "npm could not install npm@{NPM_VERSION} into {}: {status}", folder.display());
    }
    Ok(npm)
}

fn installed_version(npm: &Path) -> Option<String> {
    let manifest: serde_json::Value = serde_json::from_slice(&fs::read(npm.join("package.json")).ok()?).ok()?;
    Some(manifest["version"].as_str()?.to_owned())
}

/// The repository's root.
pub fn repository() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest)
}

/// The folder for generated files.
pub fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| repository().join("target"), PathBuf::from)
}

/// A lock with the origin taken off `resolved`, as the corpus holds npm's.
pub fn without_origin(lockfile: &str, origin: &str) -> String {
    lockfile.replace(&format!("\"resolved\": \"{origin}/"), "\"resolved\": \"/")
}

/// A job for npm.
#[derive(Serialize)]
#[serde(untagged)]
enum Job<'a> {
    /// Write the lock of the project in a folder.
    Lock { folder: &'a Path, registry: &'a str, command: &'a [String], arguments: &'a [String] },
    /// Fetch a full packument.
    Packument { packument: &'a str, registry: &'a str },
    /// Fetch a tarball.
    Tarball { tarball: &'a str, registry: &'a str },
    /// Return the code that was never executed.
    Coverage { coverage: bool },
}

/// npm's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Answer {
    /// The lock, as npm wrote it.
    Lockfile {
        /// Its text.
        lockfile: String,
    },
    /// npm's error.
    Failure {
        /// npm's code, such as `ERESOLVE`. `None` if npm crashed.
        code: Option<String>,
        /// npm's message.
        message: String,
    },
}

/// The first line of a driver.
#[derive(Deserialize)]
struct Greeting {
    node: String,
    npm: String,
}

/// The code of one of npm's files that was never executed.
#[derive(Clone, Debug, Deserialize)]
pub struct FileCoverage {
    /// Relative to arborist's `lib`.
    pub file: String,
    /// Beginnings and ends, in UTF-16 units.
    pub unreached: Vec<(usize, usize)>,
}

/// npm takes too long.
#[derive(Debug)]
struct TooSlow(Duration);

impl std::fmt::Display for TooSlow {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "the driver said nothing for {:?}", self.0)
    }
}

impl std::error::Error for TooSlow {}

/// A process that runs npm again and again. It ends when it is dropped.
pub struct Driver {
    /// Its version of Node, which npm's choices depend on.
    pub node_version: String,
    process: Child,
    jobs: Option<ChildStdin>,
    answers: Receiver<String>,
}

impl Driver {
    /// Starts the process. `scratch` is for npm's cache, one folder per process.
    pub fn start(npm: &Path, scratch: &Path, coverage: bool) -> anyhow::Result<Self> {
        let script = repository().join("tests/oracle/driver.mjs");
        let mut process = Command::new("node")
            .args(["--max-old-space-size=6144", "--max-semi-space-size=64"])
            .arg(&script)
            .arg(std::path::absolute(npm)?)
            .arg(std::path::absolute(scratch)?)
            .args(coverage.then_some("--coverage"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run node, which drives the oracle; is Node.js on the PATH?")?;
        let output = process.stdout.take().context("the driver has no output")?;
        let jobs = process.stdin.take();
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut driver = Self { node_version: String::new(), process, jobs, answers };
        let greeting: Greeting = driver.read(PATIENCE)?;
        ensure!(greeting.npm == NPM_VERSION, "the oracle is npm {}, not {NPM_VERSION}", greeting.npm);
        greeting.node.trim_start_matches('v').clone_into(&mut driver.node_version);
        Ok(driver)
    }

    /// Makes npm write the lock of a project by a command, such as `install a@1`. `None` if it
    /// takes longer than `patience`; the driver is then unusable.
    pub fn ask(
        &mut self,
        folder: &Path,
        registry: &str,
        command: &[String],
        arguments: &[String],
        patience: Duration,
    ) -> anyhow::Result<Option<Answer>> {
        let absolute = std::path::absolute(folder)?;
        self.send(&Job::Lock { folder: &absolute, registry, command, arguments })?;
        match self.read(patience) {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if error.is::<TooSlow>() => Ok(None),
            Err(error) => Err(error.context(format!("asking npm about {}", folder.display()))),
        }
    }

    /// Makes npm fetch a full packument. `None` if the registry doesn't have the package.
    pub fn packument(&mut self, name: &str, registry: &str) -> anyhow::Result<Option<serde_json::Value>> {
        self.send(&Job::Packument { packument: name, registry })?;
        let packument: serde_json::Value = self.read(PATIENCE).with_context(|| format!("asking npm for {name}"))?;
        match (packument["message"].as_str(), packument["code"].as_str()) {
            (None, _) => Ok(Some(packument)),
            (Some(_), Some("E404")) => Ok(None),
            (Some(message), _) => bail!("npm cannot fetch {name}: {message}"),
        }
    }

    /// Makes npm fetch and verify the tarball of a `name@version`.
    pub fn tarball(&mut self, package: &str, registry: &str) -> anyhow::Result<Vec<u8>> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Fetched {
            Data { data: String },
            Failure { message: String },
        }
        self.send(&Job::Tarball { tarball: package, registry })?;
        match self.read(PATIENCE).with_context(|| format!("asking npm for the tarball of {package}"))? {
            Fetched::Data { data } => Ok(BASE64.decode(data)?),
            Fetched::Failure { message } => bail!("npm cannot fetch the tarball of {package}: {message}"),
        }
    }

    /// npm's code that the process has never executed.
    pub fn coverage(&mut self) -> anyhow::Result<Vec<FileCoverage>> {
        #[derive(Deserialize)]
        struct Report {
            coverage: Vec<FileCoverage>,
        }
        self.send(&Job::Coverage { coverage: true })?;
        Ok(self.read::<Report>(PATIENCE)?.coverage)
    }

    fn send(&mut self, job: &Job) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(job)?;
        line.push(b'\n');
        self.jobs.as_mut().context("the driver was stopped")?.write_all(&line).context("the driver has died")
    }

    /// Fails if the process works longer than `patience`. Only its own work counts: on a busy
    /// machine, a time on the clock would cut off some projects that npm can resolve.
    fn read<T: for<'de> Deserialize<'de>>(&mut self, patience: Duration) -> anyhow::Result<T> {
        let (start, before) = (Instant::now(), self.worked());
        let mut wait = patience;
        loop {
            match self.answers.recv_timeout(wait) {
                Ok(line) => return serde_json::from_str(&line).with_context(|| format!("the driver said {line:.200}")),
                Err(RecvTimeoutError::Disconnected) => bail!("the driver ended without an answer"),
                Err(RecvTimeoutError::Timeout) => {
                    let worked = match (before, self.worked()) {
                        (Some(before), Some(now)) if start.elapsed() < patience * MOST_WAITING => {
                            now.saturating_sub(before)
                        }
                        _ => start.elapsed(),
                    };
                    if worked >= patience {
                        return Err(TooSlow(patience).into());
                    }
                    wait = patience.saturating_sub(worked).max(Duration::from_secs(1));
                }
            }
        }
    }

    /// How long the process's main thread has run on a processor, where the system says so.
    fn worked(&self) -> Option<Duration> {
        let statistics = fs::read_to_string(format!("/proc/{}/schedstat", self.process.id())).ok()?;
        statistics.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.jobs.take();
        // It may still be busy with a job. A failure means that it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
