//! npm's answers to random projects. They depend on the question only, so they are cached on disk,
//! except for failures of the network.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use sha2::{Digest, Sha256};

use super::case::{Left, ORIGIN, Round};
use crate::oracle::{self, Driver, FileCoverage, without_origin};
use crate::parity::compare::Expected;

/// The processor time that npm gets for one random project. It visits peer sets repeatedly, which
/// takes hours for some projects.
pub const PATIENCE: Duration = Duration::from_mins(1);
/// The same for small registries. There, npm answers within moments or never.
pub const SMALL_PATIENCE: Duration = Duration::from_secs(10);
/// The number of questions between two reports of coverage. A process that is killed later loses
/// only its last questions.
const COVERAGE_EVERY: usize = 5;

/// npm, with a folder to work in.
pub struct Npm {
    folder: PathBuf,
    scratch: PathBuf,
    driver: Driver,
    /// The code that each process has not executed. The last process is running, and the others
    /// were killed.
    coverage: Option<Vec<Vec<FileCoverage>>>,
    registry: String,
    /// The circumstances that answers depend on, beside the question.
    salt: String,
    memory: Option<PathBuf>,
    patience: Duration,
    /// The folder of the current project. Its name is the project's if package.json has none.
    pub project: PathBuf,
    /// The number of questions that the cache could not answer.
    pub asked: usize,
}

impl Npm {
    /// Starts a process of npm. Without the cache `memory`, npm answers every question.
    pub fn start(
        npm: &Path,
        scratch: &Path,
        registry: String,
        salt: &str,
        memory: Option<PathBuf>,
        patience: Duration,
        coverage: bool,
    ) -> anyhow::Result<Self> {
        let folder = npm.to_owned();
        let driver = Driver::start(npm, &scratch.join("npm"), coverage)?;
        if let Some(memory) = &memory {
            fs::create_dir_all(memory).with_context(|| format!("cannot create {}", memory.display()))?;
        }
        let salt = format!("npm {} on node {}, {salt}", oracle::NPM_VERSION, driver.node_version);
        let project = scratch.join("project");
        let coverage = coverage.then(|| vec![Vec::new()]);
        Ok(Self {
            folder,
            scratch: scratch.to_owned(),
            driver,
            coverage,
            registry,
            salt,
            memory,
            patience,
            project,
            asked: 0,
        })
    }

    /// npm's answer to a project.
    pub fn answer(&mut self, round: &Round, lockfile: Option<&str>) -> anyhow::Result<Left<Expected>> {
        let key = serde_json::to_vec(&(&self.salt, round, lockfile))?;
        let name: String =
            Sha256::digest(&key)[..16].iter().fold(String::new(), |name, byte| format!("{name}{byte:02x}"));
        let remembered = self.memory.as_ref().map(|memory| memory.join(format!("{name}.json")));
        if let Some(text) = remembered.as_ref().and_then(|file| fs::read(file).ok())
            && let Ok(answer) = serde_json::from_slice(&text)
        {
            return Ok(answer);
        }
        self.asked += 1;
        round.write(&self.project, lockfile, &self.registry)?;
        let answer =
            match self.driver.ask(&self.project, &self.registry, &round.command(), &round.arguments, self.patience)? {
                None => {
                    self.restart()?;
                    Expected::Unanswered
                }
                Some(oracle::Answer::Lockfile { lockfile }) => {
                    Expected::Lockfile(without_origin(&lockfile, &self.registry).replace(&self.registry, ORIGIN))
                }
                Some(oracle::Answer::Failure { code, message }) => {
                    let message = message.replace(&self.registry, ORIGIN);
                    Expected::Failure { code, message }
                }
            };
        let manifests = if round.command.is_empty() { BTreeMap::new() } else { self.manifests(round)? };
        let answer = Left { answer, manifests };
        if self.asked.is_multiple_of(COVERAGE_EVERY) {
            self.note_coverage()?;
        }
        if let Some(file) = remembered.filter(|_| !answer.answer.is_network_failure()) {
            fs::write(&file, serde_json::to_vec(&answer)?)
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
        Ok(answer)
    }

    /// The project's package.json files after npm's command.
    fn manifests(&self, round: &Round) -> anyhow::Result<BTreeMap<String, String>> {
        let read = |folder: &String| {
            let file = self.project.join(folder).join("package.json");
            let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            Ok((folder.clone(), text.replace(&self.registry, ORIGIN)))
        };
        round.manifests.keys().map(read).collect()
    }

    /// The Node version that npm runs on.
    pub fn node_version(&self) -> &str {
        &self.driver.node_version
    }

    fn restart(&mut self) -> anyhow::Result<()> {
        self.driver = Driver::start(&self.folder, &self.scratch.join("npm"), self.coverage.is_some())?;
        if let Some(coverage) = &mut self.coverage {
            coverage.push(Vec::new());
        }
        Ok(())
    }

    fn note_coverage(&mut self) -> anyhow::Result<()> {
        if let Some(latest) = self.coverage.as_mut().and_then(|coverage| coverage.last_mut()) {
            *latest = self.driver.coverage()?;
        }
        Ok(())
    }

    /// The parts of npm's code that each process never executed.
    pub fn coverage(mut self) -> anyhow::Result<Vec<Vec<FileCoverage>>> {
        self.note_coverage()?;
        let coverage = self.coverage.unwrap_or_default();
        Ok(coverage.into_iter().filter(|files| !files.is_empty()).collect())
    }
}
