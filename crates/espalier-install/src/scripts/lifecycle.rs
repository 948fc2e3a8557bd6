//! Plans the scripts of an installation: which packages have some, which of them may run, and in
//! which order (`rebuild.js`, `install-scripts.js`).
//!
//! The dependencies come first, then the targets of links. Each group has four rounds: preinstall,
//! prepare (links only), install, postinstall. Before the third round, the caller links the
//! commands. In a round, the order is by depth and path, and scripts run concurrently.

use std::io;
use std::path::{Path, PathBuf};

use espalier_core::collation;
use espalier_core::graph::{Graph, GraphNode};
use espalier_package::layout::lies_in_node_modules;

use super::environment::ScriptEnvironment;
use super::identity::Subject;
use super::ownership;
use super::package::ScriptPackage;
use super::policy::{Policy, Verdict};
use super::process::{Ended, Script};
use crate::blocking;

/// The project's own scripts that npm runs at the end of an installation (`install.js`), in this
/// order.
pub const PROJECT_EVENTS: [&str; 7] =
    ["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"];

/// The events of dependencies.
pub const INSTALL_EVENTS: [&str; 3] = ["preinstall", "install", "postinstall"];

/// What permits scripts.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    /// The project's policy.
    pub policy: Policy,
    /// `ignore-scripts`: no script runs, whatever the policy says.
    pub ignore_scripts: bool,
    /// `dangerously-allow-all-scripts`: every script runs, whatever the policy says.
    pub allow_all: bool,
}

impl Gate {
    /// Whether the scripts of a package may run.
    pub fn allows(&self, graph: &Graph, node: usize, project: &Path) -> bool {
        let project = project.to_string_lossy();
        let is_approved = || self.policy.decide(&Subject::of(graph, node, &project), &project) == Verdict::Allowed;
        let is_allowed = || self.allow_all || graph.nodes[node].workspace || !self.policy.is_empty() && is_approved();
        !self.ignore_scripts && is_allowed()
    }
}

/// A script to run.
#[derive(Clone, Debug)]
pub struct Task {
    /// The node in the graph. For a link, its target.
    pub node: usize,
    /// npm's location of the node.
    pub location: String,
    /// Its folder.
    pub folder: PathBuf,
    /// The event.
    pub event: &'static str,
    /// The command.
    pub command: String,
    /// Whether the installation continues without the package if the script fails.
    pub optional: bool,
    package: ScriptPackage,
    extra: Vec<(String, String)>,
}

/// The rounds of a group of packages.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    /// The first round.
    pub preinstall: Vec<Task>,
    /// The round of links, before commands are linked.
    pub prepare: Vec<Task>,
    /// The round after commands are linked.
    pub install: Vec<Task>,
    /// The last round.
    pub postinstall: Vec<Task>,
}

/// A package with unreviewed scripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreviewed {
    /// The node in the graph.
    pub node: usize,
    /// Its trusted name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// Its events and commands.
    pub scripts: Vec<(&'static str, String)>,
}

/// The scripts of an installation.
#[derive(Clone, Debug, Default)]
pub struct Lifecycle {
    /// The scripts of packages in `node_modules`.
    pub dependencies: Rounds,
    /// The scripts of folders that links lead to.
    pub links: Rounds,
}

impl Lifecycle {
    /// Plans the scripts of these nodes, whose files are in place. `None` means all nodes.
    pub fn plan(graph: &Graph, nodes: Option<&[usize]>, project: &Path, gate: &Gate) -> Self {
        let mut lifecycle = Self::default();
        if gate.ignore_scripts {
            return lifecycle;
        }
        let all: Vec<usize> = (0..graph.nodes.len()).collect();
        let nodes = nodes.unwrap_or(&all);
        let linked: Vec<usize> =
            nodes.iter().filter_map(|&node| graph.nodes[node].target).map(|target| target as usize).collect();
        let mut ordered: Vec<usize> = nodes.iter().copied().filter(|node| !linked.contains(node)).collect();
        ordered.sort_by(|&a, &b| {
            let location = |node: usize| &graph.nodes[node].location;
            depth(graph, a).cmp(&depth(graph, b)).then_with(|| collation::compare(location(a), location(b)))
        });
        for node in ordered {
            let is_link = graph.nodes[node].target.is_some();
            let rounds = if is_link { &mut lifecycle.links } else { &mut lifecycle.dependencies };
            let node = graph.nodes[node].target.map_or(node, |target| target as usize);
            rounds.add(graph, node, project, gate);
        }
        // Only links are prepared. A git dependency was prepared when it was packed.
        lifecycle.dependencies.prepare.clear();
        lifecycle
    }
}

impl Rounds {
    fn add(&mut self, graph: &Graph, node: usize, project: &Path, gate: &Gate) {
        let entry = &graph.nodes[node];
        if entry.inert || !gate.allows(graph, node, project) {
            return;
        }
        let folder = project.join(&entry.location);
        let Ok(package) = ScriptPackage::read(&folder) else { return };
        let rounds = [
            ("preinstall", &mut self.preinstall),
            ("prepare", &mut self.prepare),
            ("install", &mut self.install),
            ("postinstall", &mut self.postinstall),
        ];
        for (event, round) in rounds {
            let Some(command) = package.command(event, &folder) else { continue };
            round.push(Task {
                node,
                location: entry.location.clone(),
                folder: folder.clone(),
                event,
                command: command.to_owned(),
                optional: entry.optional,
                package: package.clone(),
                extra: extra_variables(entry),
            });
        }
    }
}

fn depth(graph: &Graph, node: usize) -> usize {
    let above = |node: &usize| graph.nodes[*node].parent.map(|parent| parent as usize);
    std::iter::successors(Some(node), above).count()
}

fn extra_variables(node: &GraphNode) -> Vec<(String, String)> {
    let flag = |set: bool| if set { "1".to_owned() } else { String::new() };
    let mut variables = vec![
        ("npm_package_optional".to_owned(), flag(node.optional)),
        ("npm_package_dev".to_owned(), flag(node.dev)),
        ("npm_package_peer".to_owned(), flag(node.peer)),
        ("npm_package_dev_optional".to_owned(), flag(node.dev_optional && !node.dev && !node.optional)),
    ];
    let texts = [("npm_package_resolved", &node.resolved), ("npm_package_integrity", &node.integrity)];
    variables.extend(texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text.clone()?))));
    variables
}

/// The dependencies with install scripts that the policy doesn't mention, in the order of the
/// graph.
pub fn unreviewed(graph: &Graph, project: &Path, policy: &Policy) -> Vec<Unreviewed> {
    let text = project.to_string_lossy();
    let candidates = graph
        .nodes
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(_, node)| !node.workspace && node.target.is_none() && !node.in_bundle && !node.inert);
    candidates
        .filter_map(|(index, node)| {
            let subject = Subject::of(graph, index, &text);
            let scripts = install_scripts(&project.join(&node.location), &subject);
            if scripts.is_empty() || policy.decide(&subject, &text) != Verdict::Unreviewed {
                return None;
            }
            let (name, version) = subject.shown();
            Some(Unreviewed { node: index, name, version, scripts })
        })
        .collect()
}

/// The scripts that installing this package would run. They include `prepare`, unless the package
/// is from a registry.
pub fn install_scripts(folder: &Path, subject: &Subject) -> Vec<(&'static str, String)> {
    let Ok(package) = ScriptPackage::read(folder) else { return Vec::new() };
    let prepare = (!subject.is_from_registry()).then_some("prepare");
    let events = INSTALL_EVENTS.into_iter().chain(prepare);
    events.filter_map(|event| Some((event, package.command(event, folder)?.to_owned()))).collect()
}

/// A script that has run.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The script.
    pub task: Task,
    /// How it ended, or why it couldn't start.
    pub result: Result<Ended, String>,
}

/// Runs a round: as many scripts at once as there are processors but one, or one after the other on
/// the terminal. The results have the order of the tasks. After the failure of a script that isn't
/// optional, no more are started.
pub async fn run(tasks: Vec<Task>, environment: &ScriptEnvironment, foreground: bool) -> Vec<Finished> {
    if tasks.is_empty() {
        return Vec::new();
    }
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let limit = if foreground { 1 } else { processors.saturating_sub(1).max(1) };
    let mut running = tokio::task::JoinSet::new();
    let mut finished: Vec<(usize, Finished)> = Vec::new();
    let mut failed = false;
    // All files are copied before the first script runs, because a package may contain another
    // whose script changes files.
    let mut waiting = Vec::new();
    for (index, task) in tasks.into_iter().enumerate() {
        match take_files(&task).await {
            Ok(()) => waiting.push((index, task)),
            Err(error) => {
                failed |= !task.optional;
                let result = Err(format!("its files can't be copied: {error}"));
                finished.push((index, Finished { task, result }));
            }
        }
    }
    let mut waiting = waiting.into_iter();
    loop {
        while !failed && running.len() < limit {
            let Some((index, task)) = waiting.next() else { break };
            let environment = environment.clone();
            running.spawn(async move { (index, run_one(task, &environment, foreground).await) });
        }
        let Some(ended) = running.join_next().await else { break };
        let (index, ended) = ended.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        let well = ended.result.as_ref().is_ok_and(Ended::is_success);
        failed |= !well && !ended.task.optional;
        finished.push((index, ended));
    }
    finished.sort_by_key(|(index, _)| *index);
    finished.into_iter().map(|(_, finished)| finished).collect()
}

async fn run_one(task: Task, environment: &ScriptEnvironment, foreground: bool) -> Finished {
    let Task { folder, event, command, package, extra, .. } = &task;
    let variables = environment.of_event(package, folder, event, command, &[], extra);
    let shell = environment.shell.as_deref();
    let script = Script { command, arguments: &[], folder, variables, shell };
    let result = if foreground { script.run_in_foreground().await } else { script.run_in_background().await };
    Finished { result: result.map_err(|error| error.to_string()), task }
}

/// Makes the files of an installed package its own, because its script may write to them.
async fn take_files(task: &Task) -> io::Result<()> {
    if !lies_in_node_modules(&task.location) {
        return Ok(());
    }
    let folder = task.folder.clone();
    blocking::run(move || ownership::take(&folder)).await
}
