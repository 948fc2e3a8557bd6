//! Runs the scripts of an installation: the approved ones of dependencies, while everything can
//! still be undone (`rebuild.js`), and the project's own (`install.js`).
//!
//! The caller decides which packages are new and what a failure leads to.

use std::path::{Path, PathBuf};

use espalier_core::Graph;
use rustc_hash::FxHashSet;
use serde_json::Value;

use crate::config::{Config, Environment};
use crate::host;
use crate::project::ProjectFolder;
use crate::scripts::environment::{ScriptEnvironment, Surroundings, projects_above};
use crate::scripts::lifecycle::{self, Finished, Gate, Lifecycle, Rounds};
use crate::scripts::package::ScriptPackage;
use crate::scripts::policy::{Policy, PolicyError};
use crate::scripts::process::{Ended, Script};

/// Which scripts may run, and how.
#[derive(Clone, Debug)]
pub struct Scripts {
    /// What permits scripts.
    pub gate: Gate,
    /// Their environment.
    pub environment: ScriptEnvironment,
    /// `foreground-scripts`: scripts of dependencies print to the terminal, one after the other.
    pub foreground: bool,
    /// Whether the project's own scripts print to the terminal.
    pub shown: bool,
    /// `strict-allow-scripts`: unreviewed scripts are an error.
    pub strict: bool,
    /// The projects whose installations run this process in a script.
    pub above: Vec<PathBuf>,
}

/// A script that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the script {event} of {whose} {how}")]
pub struct ScriptFailure {
    /// `preinstall`, `install`, `postinstall`, …
    pub event: String,
    /// The location of the package, or `the project`.
    pub whose: String,
    /// How it ended.
    pub how: String,
    /// Its exit code, if it had one.
    pub code: Option<i32>,
    /// The command.
    pub command: String,
    /// The output that wasn't shown.
    pub output: String,
}

/// The scripts that have run.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// The locations of their packages.
    pub locations: FxHashSet<String>,
    /// Optional packages whose scripts failed, and how.
    pub left_out: Vec<(String, String)>,
}

impl Scripts {
    /// Follows npm's settings and the project's `allowScripts`. `command` is npm's name of the
    /// current command.
    pub fn new(
        config: &Config,
        environment: &Environment,
        project: &ProjectFolder,
        command: &str,
        shown: bool,
    ) -> Result<Self, PolicyError> {
        let text = project.manifest().unwrap_or_default();
        // The resolution reports an error in the file.
        let manifest: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
        let policy = Policy::of_project(&manifest, config)?;
        Ok(Self::with(policy, config, environment, project, command, shown))
    }

    /// The same, with another policy than the project's.
    pub fn with(
        policy: Policy,
        config: &Config,
        environment: &Environment,
        project: &ProjectFolder,
        command: &str,
        shown: bool,
    ) -> Self {
        let node_version = environment.node.as_deref().and_then(host::node_version_nearby);
        let surroundings = Surroundings {
            config,
            environment,
            project: project.path(),
            command,
            node_version: node_version.as_deref(),
            workspaces: false,
        };
        Self {
            gate: Gate {
                policy,
                ignore_scripts: config.flag("ignore-scripts", false),
                allow_all: config.flag("dangerously-allow-all-scripts", false),
            },
            environment: ScriptEnvironment::new(&surroundings),
            foreground: config.flag("foreground-scripts", false),
            shown,
            strict: config.flag("strict-allow-scripts", false),
            above: projects_above(environment),
        }
    }

    /// Runs the approved scripts of the packages and links at these locations. Meanwhile, the
    /// project is locked.
    pub async fn of_dependencies(
        &self,
        graph: &Graph,
        project: &Path,
        is_new: impl Fn(&str) -> bool,
    ) -> Result<Ran, ScriptFailure> {
        let nodes: Vec<usize> = (0..graph.nodes.len()).filter(|&node| is_new(&graph.nodes[node].location)).collect();
        let lifecycle = Lifecycle::plan(graph, Some(&nodes), project, &self.gate);
        let environment = self.environment.below(project, &self.above);
        let mut ran = Ran::default();
        for Rounds { preinstall, prepare, install, postinstall } in [lifecycle.dependencies, lifecycle.links] {
            for mut round in [preinstall, prepare, install, postinstall] {
                round.retain(|task| ran.left_out.iter().all(|(location, _)| *location != task.location));
                for finished in lifecycle::run(round, &environment, self.foreground).await {
                    ran.locations.insert(finished.task.location.clone());
                    match failure(&finished) {
                        Some(failure) if finished.task.optional => {
                            ran.left_out.push((finished.task.location, failure.to_string()));
                        }
                        Some(failure) => return Err(failure),
                        None => {}
                    }
                }
            }
        }
        Ok(ran)
    }

    /// Runs one of the project's own scripts, if it exists.
    pub async fn of_project(&self, project: &Path, event: &str) -> Result<(), ScriptFailure> {
        if self.gate.ignore_scripts {
            return Ok(());
        }
        let Ok(package) = ScriptPackage::read(project) else { return Ok(()) };
        let Some(command) = package.command(event, project) else { return Ok(()) };
        let variables = self.environment.of_event(&package, project, event, command, &[], &[]);
        let shell = self.environment.shell.as_deref();
        let script = Script { command, arguments: &[], folder: project, variables, shell };
        let ended = if self.shown { script.run_in_foreground().await } else { script.run_in_background().await };
        match told(&ended.map_err(|error| error.to_string())) {
            None => Ok(()),
            Some((how, code, output)) => Err(ScriptFailure {
                event: event.to_owned(),
                whose: "the project".to_owned(),
                how,
                code,
                command: command.to_owned(),
                output,
            }),
        }
    }
}

fn failure(finished: &Finished) -> Option<ScriptFailure> {
    let (how, code, output) = told(&finished.result)?;
    let task = &finished.task;
    Some(ScriptFailure {
        event: task.event.to_owned(),
        whose: task.location.clone(),
        how,
        code,
        command: task.command.clone(),
        output,
    })
}

/// How a script failed, its exit code, and its output. `None` if it succeeded.
fn told(result: &Result<Ended, String>) -> Option<(String, Option<i32>, String)> {
    match result {
        Ok(ended) if ended.is_success() => None,
        Ok(ended) => {
            let code = ended.code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
            let output = [ended.stdout.as_slice(), &ended.stderr].concat();
            Some((format!("ended with {code}"), ended.code, String::from_utf8_lossy(&output).trim_end().to_owned()))
        }
        Err(reason) => Some((format!("could not be started: {reason}"), None, String::new())),
    }
}
