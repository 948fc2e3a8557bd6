//! `espalier approve` and `espalier deny` decide which packages may run their install scripts (`npm
//! approve-scripts`).

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use espalier_core::manifest_edit;
use espalier_core::semver;
use espalier_core::spec::{SpecKind, Specs, split_argument};
use espalier_install::installed::{Installed, Source};
use espalier_install::lock::LockError;
use espalier_install::project::ProjectError;
use espalier_install::scripts::approvals::{self, ChangedEntry};
use espalier_install::scripts::identity::Subject;
use espalier_install::scripts::lifecycle::{self, Unreviewed};
use espalier_install::scripts::policy::Policy;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::complaint::Complaint;
use super::context::Context;
use crate::arguments::project::WorkspaceArguments;
use crate::arguments::scripts::ApprovalArguments;
use crate::report::{self, counted, wrapped};
use crate::style::{CAUTION, LIVING, Styled, quiet, strong};

/// Approves or denies packages.
pub fn run(arguments: &ApprovalArguments, approving: bool) -> ExitCode {
    match decide(arguments, approving) {
        Ok(()) => ExitCode::SUCCESS,
        Err(complaint) => complaint.report(arguments.json),
    }
}

fn decide(arguments: &ApprovalArguments, approving: bool) -> Result<(), Complaint> {
    let command = if approving { "approve" } else { "deny" };
    let context = Context::new(&arguments.project, &WorkspaceArguments::default(), command)?;
    let installed = Installed::load(&context.project, Source::NodeModules)?;
    let text = context.project.manifest().unwrap_or_default();
    let manifest: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    let policy = Policy::of_project(&manifest, &context.config)
        .map_err(|error| Complaint::own("EALLOWSCRIPTS", error.to_string(), ""))?;
    warn(&policy.warnings);
    let folder = context.project.path();
    let is_dry = arguments.dry_run || context.config.flag("dry-run", false);
    if arguments.prune {
        return prune(arguments.json, is_dry, &installed, folder, &text);
    }
    let waiting = lifecycle::unreviewed(&installed.graph, folder, &policy);
    if arguments.pending || (arguments.packages.is_empty() && !arguments.all) {
        super::say(&if arguments.json { pending_json(&waiting) } else { pending(&waiting) });
        return Ok(());
    }
    let nodes = if arguments.all {
        waiting.iter().map(|unreviewed| unreviewed.node).collect()
    } else {
        named(&installed, &arguments.packages)?
    };
    let pin = !arguments.no_pin && context.config.flag("allow-scripts-pin", true);
    let project = installed.path.clone();
    let subjects: Vec<Subject> = nodes.iter().map(|&node| Subject::of(&installed.graph, node, &project)).collect();
    let mut groups: IndexMap<String, Vec<&Subject>> = IndexMap::new();
    for subject in &subjects {
        match approvals::name_key(subject) {
            Some(key) => groups.entry(key).or_default().push(subject),
            None => warn(&[format!("{} is skipped, because no trusted source identifies it", subject.name)]),
        }
    }
    let mut entries = manifest.get("allowScripts").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut summary: Vec<(String, Vec<ChangedEntry>)> = Vec::new();
    for (name, subjects) in groups {
        let decision = if approving {
            approvals::approve(&entries, &subjects, pin, &project)
        } else {
            approvals::deny(&entries, &subjects, &project)
        };
        warn(decision.warning.as_slice());
        entries = decision.entries;
        summary.push((name, decision.changes));
    }
    if summary.iter().any(|(_, changes)| !changes.is_empty()) && !is_dry {
        save(folder, &text, entries)?;
    }
    let text = |verb: &str| summary_text(&summary, verb);
    let mut said = match (arguments.json, approving, is_dry) {
        (true, ..) => summary_json(&summary),
        (_, true, false) => text("Approved"),
        (_, false, false) => text("Denied"),
        (_, true, true) => text("Would approve"),
        (_, false, true) => text("Would deny"),
    };
    if said.is_empty() {
        said.push_str("Nothing changed.\n");
    } else if approving && !is_dry && !arguments.json {
        let _ = writeln!(said, "\n{} runs the approved scripts.", strong("espalier rebuild"));
    }
    super::say(&said);
    Ok(())
}

/// Removes the entries that match no package.
fn prune(is_json: bool, is_dry: bool, installed: &Installed, folder: &Path, text: &str) -> Result<(), Complaint> {
    let manifest: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    let mut entries = manifest.get("allowScripts").and_then(Value::as_object).cloned().unwrap_or_default();
    let candidates = installed.graph.nodes.iter().enumerate().skip(1);
    let candidates =
        candidates.filter(|(_, node)| !node.workspace && node.target.is_none() && !node.in_bundle && !node.inert);
    let subjects: Vec<(Subject, bool)> = candidates
        .map(|(index, node)| {
            let subject = Subject::of(&installed.graph, index, &installed.path);
            let has_scripts = !lifecycle::install_scripts(&folder.join(&node.location), &subject).is_empty();
            (subject, has_scripts)
        })
        .collect();
    let unused = approvals::unused(&entries, &subjects, &installed.path);
    entries.retain(|key, _| unused.iter().all(|unused| unused.key != *key));
    if !unused.is_empty() && !is_dry {
        save(folder, text, entries)?;
    }
    if is_json {
        let summary = json!({"allowScripts": {"removed": unused, "dryRun": is_dry}});
        super::say(&format!("{summary:#}\n"));
    } else if unused.is_empty() {
        super::say("Every entry of allowScripts matches an installed package with scripts.\n");
    } else {
        let verb = if is_dry { "Would drop" } else { "Dropped" };
        let mut lines = format!(
            "{verb} {} of allowScripts:\n",
            if unused.len() == 1 { "1 entry".to_owned() } else { format!("{} entries", unused.len()) }
        );
        for unused in &unused {
            let why = if unused.reason == "not-installed" { "not installed" } else { "no install scripts" };
            let _ = writeln!(lines, "  - {}  {}", unused.key, quiet(why));
        }
        super::say(&lines);
    }
    Ok(())
}

fn warn(warnings: &[String]) {
    for warning in warnings {
        let lines = wrapped(warning, 9, report::terminal_width()).join("\n         ");
        anstream::eprintln!("{} {lines}", Styled(CAUTION, "warning:"));
    }
}

fn save(folder: &Path, text: &str, entries: Map<String, Value>) -> Result<(), Complaint> {
    // npm removes the field if it is empty.
    let entries = (!entries.is_empty()).then(|| Value::from(entries));
    let edited = manifest_edit::with_field(text, "allowScripts", entries);
    let edited = edited.map_err(|error| Complaint::own("EJSONPARSE", error.to_string(), ""))?;
    let Some(edited) = edited else { return Ok(()) };
    let path = folder.join("package.json");
    std::fs::write(&path, edited).map_err(|source| LockError::from(ProjectError::Unwritable { path, source }).into())
}

/// The installed packages that the arguments match by their trusted names.
fn named(installed: &Installed, arguments: &[String]) -> Result<Vec<usize>, Complaint> {
    let mut found = Vec::new();
    let mut unknown = Vec::new();
    for argument in arguments {
        let (name, spec) = split_argument(argument);
        let (name, spec) = (name.unwrap_or(argument), Specs::default().intern(&spec));
        let range = match &spec.kind {
            SpecKind::Range { wanted, .. } if !matches!(&**wanted, "" | "*") => Some(wanted.to_string()),
            SpecKind::Version { .. } => Some(spec.raw.to_string()),
            _ => None,
        };
        let before = found.len();
        for (index, node) in installed.graph.nodes.iter().enumerate().skip(1) {
            let (shown, version) = Subject::of(&installed.graph, index, &installed.path).shown();
            let satisfies =
                |range: &String| version.as_ref().is_some_and(|version| semver::satisfies(version, range, true));
            if !node.workspace && !node.in_bundle && shown == name && range.as_ref().is_none_or(satisfies) {
                found.push(index);
            }
        }
        if found.len() == before {
            unknown.push(argument.as_str());
        }
    }
    if unknown.is_empty() {
        return Ok(found);
    }
    let details = format!("  {} lists the packages to review.\n", strong("espalier approve"));
    Err(Complaint::own("ENOMATCH", format!("no installed package matches {}", unknown.join(" or ")), details))
}

fn pending(waiting: &[Unreviewed]) -> String {
    if waiting.is_empty() {
        return "All install scripts have been reviewed.\n".to_owned();
    }
    let verb = if waiting.len() == 1 { "has" } else { "have" };
    let count = Styled(CAUTION, counted(waiting.len(), "package"));
    let mut text = format!("{count} {verb} install scripts that have not been approved:\n");
    for Unreviewed { name, version, scripts, .. } in waiting {
        let _ = writeln!(text, "\n  {}", strong(with_version(name, version.as_deref())));
        for (event, command) in scripts {
            let room = report::output_width().map(|columns| columns.saturating_sub(18).max(20));
            let _ = writeln!(text, "    {event:<11}  {}", quiet(report::shortened(&command.replace('\n', " "), room)));
        }
    }
    let approve = strong("espalier approve <package>");
    text + &format!("\n{approve} approves one, {} denies it.\n", strong("espalier deny <package>"))
}

fn with_version(name: &str, version: Option<&str>) -> String {
    version.map_or_else(|| name.to_owned(), |version| format!("{name}@{version}"))
}

fn pending_json(waiting: &[Unreviewed]) -> String {
    let mut groups: IndexMap<&str, Vec<Value>> = IndexMap::new();
    for Unreviewed { name, version, .. } in waiting {
        let key = with_version(name, version.as_deref());
        groups.entry(name).or_default().push(json!({"key": key, "change": "pending"}));
    }
    let groups: Vec<Value> =
        groups.into_iter().map(|(name, changes)| json!({"name": name, "changes": changes})).collect();
    format!("{:#}\n", json!({"allowScripts": groups}))
}

fn summary_json(summary: &[(String, Vec<ChangedEntry>)]) -> String {
    let groups: Vec<Value> = summary.iter().map(|(name, changes)| json!({"name": name, "changes": changes})).collect();
    format!("{:#}\n", json!({"allowScripts": groups}))
}

fn summary_text(summary: &[(String, Vec<ChangedEntry>)], verb: &str) -> String {
    let mut text = String::new();
    for (name, changes) in summary.iter().filter(|(_, changes)| !changes.is_empty()) {
        let _ = writeln!(text, "{} {}", Styled(LIVING, verb), strong(name));
        for ChangedEntry { key, change } in changes {
            let sign = if *change == "added" { "+" } else { "-" };
            let _ = writeln!(text, "  {sign} {key}{}", quiet(reason(change)));
        }
    }
    text
}

fn reason(change: &str) -> &'static str {
    match change {
        "removed-stale" => "  no longer installed",
        "replaced-by-pin" => "  replaced by versions",
        "removed-pinned-allow" => "  covered by the name",
        _ => "",
    }
}
