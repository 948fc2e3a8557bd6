//! `espalier rebuild` links the commands of installed packages and runs their install scripts again
//! (`rebuild.js`).

use std::process::ExitCode;

use espalier_install::installed::{Installed, Source};
use espalier_install::scripts::lifecycle::{self, Finished, Gate, Lifecycle, Rounds};
use espalier_install::scripts::policy::Policy;
use serde_json::Value;

use super::complaint::Complaint;
use super::context::Context;
use super::measured::Measured;
use super::run::Runner;
use crate::arguments::scripts::RebuildArguments;
use crate::report::counted;
use crate::style::{CAUTION, LIVING, PROBLEM, Styled, quiet, strong};

/// Rebuilds packages.
pub fn run(arguments: &RebuildArguments) -> ExitCode {
    let mut measured = Measured::start(&arguments.measuring);
    let rebuilt = rebuild(arguments, &mut measured);
    measured.end();
    rebuilt.unwrap_or_else(|complaint| complaint.report(false))
}

fn rebuild(arguments: &RebuildArguments, measured: &mut Measured<'_>) -> Result<ExitCode, Complaint> {
    let context = Context::new(&arguments.project, &arguments.workspaces, "rebuild")?;
    // A workspace has to exist, but as in npm, it does not limit what is rebuilt.
    context.workspaces(&arguments.workspaces)?;
    if context.config.flag("dry-run", false) {
        let details = "  `espalier approve` lists the packages whose scripts wait for a decision.\n";
        return Err(Complaint::own(
            "EUSAGE",
            "rebuild cannot be a dry run: it only links commands and runs scripts",
            details,
        ));
    }
    let load = || Installed::load(&context.project, Source::NodeModules);
    let installed = measured.phase("reading", "package.json and node_modules", load)?;
    let manifest = context.project.manifest().unwrap_or_default();
    let manifest: Value = serde_json::from_str(manifest.trim_start_matches('\u{feff}')).unwrap_or_default();
    let policy = Policy::of_project(&manifest, &context.config)
        .map_err(|error| Complaint::own("EALLOWSCRIPTS", error.to_string(), ""))?;
    let gate = Gate {
        policy,
        ignore_scripts: context.config.flag("ignore-scripts", false),
        allow_all: context.config.flag("dangerously-allow-all-scripts", false),
    };
    let nodes = selected(&installed, arguments)?;
    let folder = context.project.path();
    let lifecycle = Lifecycle::plan(&installed.graph, nodes.as_deref(), folder, &gate);
    let foreground = context.config.flag("foreground-scripts", false);
    let runner = Runner::new(&context, "rebuild", false, arguments.quiet);
    if context.config.flag("bin-links", true) {
        let relinked = measured.phase("linking commands", "", || installed.relink(nodes.as_deref()));
        relinked.map_err(|error| {
            let details = "  Check the permissions of node_modules.\n";
            Complaint::own("EWRITE", format!("cannot write the commands in node_modules/.bin: {error}"), details)
        })?;
    }
    let mut ran = 0;
    for Rounds { preinstall, prepare, install, postinstall } in [lifecycle.dependencies, lifecycle.links] {
        for (event, round) in
            [("preinstall", preinstall), ("prepare", prepare), ("install", install), ("postinstall", postinstall)]
        {
            if round.is_empty() {
                continue;
            }
            let run = || runner.runtime().block_on(lifecycle::run(round, runner.environment(), foreground));
            let finished = measured.phase(event, "scripts of dependencies", run);
            if let Some(failed) = finished.iter().find(|finished| !is_fine(finished)) {
                report_failure(failed);
                return Ok(ExitCode::FAILURE);
            }
            ran += finished.len();
        }
    }
    if !arguments.quiet {
        super::say(&format!("{} ran.\n", Styled(LIVING, counted(ran, "install script"))));
        let blocked = lifecycle::unreviewed(&installed.graph, folder, &gate.policy).len();
        if blocked > 0 && !gate.allow_all && !gate.ignore_scripts {
            let verb = if blocked == 1 { "has" } else { "have" };
            anstream::eprintln!(
                "  {} {verb} scripts that have not been approved; {} lists them.",
                Styled(CAUTION, counted(blocked, "package")),
                strong("espalier approve")
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn is_fine(finished: &Finished) -> bool {
    finished.result.as_ref().is_ok_and(espalier_install::scripts::process::Ended::is_success)
}

/// The nodes that the arguments match. `None` means all.
fn selected(installed: &Installed, arguments: &RebuildArguments) -> Result<Option<Vec<usize>>, Complaint> {
    if arguments.packages.is_empty() {
        let root = std::iter::once(0);
        let needed = || root.chain(installed.needed_by_the_project().into_iter().map(|node| node as usize)).collect();
        return Ok(arguments.workspaces.are_off().then(needed));
    }
    let mut nodes = Vec::new();
    for package in &arguments.packages {
        let found = installed.explainer().matching(package, None).into_iter().map(|node| node as usize);
        let own = found.filter(|&node| !installed.graph.nodes[node].in_bundle).collect::<Vec<_>>();
        if own.is_empty() {
            return Err(Complaint::own("ENOMATCH", format!("no installed package matches {package}"), ""));
        }
        nodes.extend(own);
    }
    Ok(Some(nodes))
}

/// Reports a script that failed, with its output.
fn report_failure(failed: &Finished) {
    let task = &failed.task;
    let (how, output) = match &failed.result {
        Ok(ended) => {
            let code = ended.code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
            (format!("ended with {code}"), [ended.stdout.as_slice(), &ended.stderr].concat())
        }
        Err(reason) => (format!("could not be started: {reason}"), Vec::new()),
    };
    let title = strong(format!("the script {} of {} {how} (ELIFECYCLE)", task.event, task.location));
    anstream::eprintln!("{} {title}\n\n  {}", Styled(PROBLEM, "error:"), quiet(&task.command));
    let output = String::from_utf8_lossy(&output);
    if !output.trim().is_empty() {
        anstream::eprintln!("\n{}", output.trim_end());
    }
}
