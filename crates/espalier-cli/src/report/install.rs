//! The output of `ci` and `install`: one sentence about the result, remarks below it, or an error
//! message.

use std::borrow::Cow;
use std::fmt::Write as _;

use espalier_install::install::{Done, InstallError};
use espalier_install::reify::{PlaceError, PlacedPackage, ReifyError};
use espalier_install::store::StoreError;

use super::failure::{self, Circumstances};
use super::{counted, duration, success, wrapped};
use crate::style::{CAUTION, LIVING, Styled, quiet, strong};

/// The sentence.
pub fn sentence(done: &Done) -> String {
    let elapsed = Styled(LIVING, duration(done.elapsed));
    if let Some(plan) = &done.plan {
        let counts = counts(plan.added(), plan.changed(), 0, plan.removed());
        return format!("Dry run ({elapsed}), nothing changed. Plan: {}.\n", counts.unwrap_or("nothing".into()));
    }
    let report = &done.report;
    match counts(report.added.len(), report.changed.len(), report.repaired.len(), report.removed.len()) {
        Some(counts) => format!("{counts} in {elapsed}.\n"),
        None => format!("{} up to date in {elapsed}.\n", counted(report.kept, "package")),
    }
}

fn counts(added: usize, changed: usize, repaired: usize, removed: usize) -> Option<String> {
    let counts = [("added", added), ("changed", changed), ("repaired", repaired), ("removed", removed)];
    let said: Vec<String> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(verb, count)| format!("{} {verb}", strong(counted(*count, "package"))))
        .collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// The remarks.
pub fn remarks(done: &Done, width: Option<usize>) -> String {
    let report = &done.report;
    let mut lines = String::new();
    if let Some(note) = done.note.as_deref().or(report.copied_because) {
        let _ = writeln!(lines, "  {} {note}", Styled(CAUTION, "copied:"));
    }
    if !report.left_out.is_empty() {
        let count = counted(report.left_out.len(), "optional package");
        let was = if report.left_out.len() == 1 { "was" } else { "were" };
        let _ = writeln!(lines, "  {} {was} left out:", Styled(CAUTION, count));
        for (location, reason) in report.left_out.iter().take(3) {
            indented(&mut lines, &format!("{}: {reason}", success::folder_of(location)), width);
        }
    }
    if report.scripts_run > 0 {
        let count = counted(report.scripts_run, "package");
        let _ = writeln!(lines, "  {} ran install scripts", Styled(LIVING, count));
    }
    if !report.with_scripts.is_empty() {
        let count = counted(report.with_scripts.len(), "package");
        let verb = if report.with_scripts.len() == 1 { "has" } else { "have" };
        let list = strong("espalier approve");
        let _ =
            writeln!(lines, "  {} {verb} install scripts that were not run; {list} lists them", Styled(CAUTION, count));
        let names: Vec<&str> = report.with_scripts.iter().map(|package| package.name.as_str()).collect();
        indented(&mut lines, &success::listed(&names), width);
    }
    if done.plan.is_none() && !report.deprecated.is_empty() {
        let count = counted(report.deprecated.len(), "package");
        let verb = if report.deprecated.len() == 1 { "is" } else { "are" };
        let _ = writeln!(lines, "  {} {verb} deprecated", Styled(CAUTION, count));
        let named = |(package, message): &(PlacedPackage, String)| {
            let version = package.version.as_deref().map(|version| format!("@{version}")).unwrap_or_default();
            (package.name.clone(), format!("{}{version}: {message}", package.name))
        };
        for line in success::deprecations(&report.deprecated.iter().map(named).collect::<Vec<_>>()) {
            indented(&mut lines, &line, width);
        }
    }
    let others: Vec<_> = done.warnings.iter().filter(|warning| warning.code != "deprecated").cloned().collect();
    lines + &success::warnings(&others, width)
}

fn indented(lines: &mut String, text: &str, width: Option<usize>) {
    for line in wrapped(text, 4, width) {
        let _ = writeln!(lines, "    {}", quiet(line));
    }
}

/// npm's code of an error, or one in its style.
pub fn code(error: &InstallError) -> Cow<'static, str> {
    let code = match error {
        InstallError::Lock(error) => return failure::code(error),
        InstallError::Reify(ReifyError::Fetch { failure, .. }) => return failure.kind.code(),
        InstallError::NoLockfile | InstallError::BrokenLockfile | InstallError::Disagreement { .. } => "EUSAGE",
        InstallError::Layout(error) => error.code(),
        InstallError::Refused(refusal) => refusal.code,
        InstallError::Outside(_) => "EOUTSIDE",
        InstallError::Reify(ReifyError::Interrupted) => "EINTERRUPTED",
        InstallError::Reify(ReifyError::Nested { .. }) => "ENESTED",
        InstallError::Patch(error) | InstallError::Reify(ReifyError::Place(PlaceError::Patch(error))) => error.code,
        InstallError::Reify(_) => "EWRITE",
        InstallError::Policy(_) => "EALLOWSCRIPTS",
        InstallError::Script(_) => "ELIFECYCLE",
        InstallError::Unreviewed { .. } => "ESTRICTALLOWSCRIPTS",
    };
    code.into()
}

/// One sentence, which is the first line of the message and part of the JSON.
pub fn headline(error: &InstallError) -> String {
    match error {
        InstallError::Lock(error) => failure::headline(error),
        InstallError::Reify(ReifyError::Fetch { name, version, failure, .. }) => {
            let version = version.as_deref().map(|version| format!("@{version}")).unwrap_or_default();
            failure::fetch_headline(&format!("{name}{version}"), failure)
        }
        error => error.to_string(),
    }
}

/// The whole message.
pub fn render(error: &InstallError, circumstances: Circumstances<'_>) -> String {
    if let InstallError::Lock(error) = error {
        return failure::render(error, circumstances);
    }
    super::screen(&headline(error), &code(error), &details(error, circumstances), circumstances.width)
}

fn details(error: &InstallError, circumstances: Circumstances<'_>) -> String {
    let advice = |lines: &[&str]| lines.iter().fold(String::new(), |text, line| text + "  " + line + "\n");
    match error {
        InstallError::Script(failure) => {
            let mut lines = format!("  {}\n", quiet(&failure.command));
            if !failure.output.is_empty() {
                let _ = writeln!(lines, "\n{}", failure.output);
            }
            lines
        }
        InstallError::Unreviewed { packages } => {
            let list = packages.iter().fold(String::new(), |text, package| text + "  " + package + "\n");
            list + "\n" + &advice(&["Review them with `espalier approve` or `espalier deny`."])
        }
        InstallError::Disagreement { differences } => {
            const MOST: usize = 12;
            let mut lines = String::new();
            for line in differences.iter().take(MOST) {
                let _ = writeln!(lines, "  {}", quiet(line));
            }
            if differences.len() > MOST {
                let _ = writeln!(lines, "  and {} more; --json lists them all", differences.len() - MOST);
            }
            let is_unloaded = |line: &String| line.ends_with("@ from lock file");
            let remedy: &[&str] = if differences.iter().any(is_unloaded) {
                &[
                    "No lockfile has a dependency that cannot be fetched, so `ci` refuses it. Remove",
                    "the dependency, or use `espalier install`, which leaves it out.",
                ]
            } else {
                &["Update the lockfile with `espalier install` or `espalier lock`."]
            };
            lines + "\n" + &advice(remedy)
        }
        InstallError::NoLockfile => advice(&["Create one with `espalier install` or `espalier lock`."]),
        InstallError::BrokenLockfile => {
            advice(&["Restore it, or replace it with `espalier install` or `espalier lock`."])
        }
        InstallError::Layout(_) => advice(&[
            "The file is damaged or malicious. Restore it from version control, or delete it",
            "and run `espalier install` to make a new one from package.json.",
        ]),
        InstallError::Refused(refusal) => {
            let mut lines = format!("  {} {}\n", quiet("location"), refusal.location);
            if let Some(setting) = refusal.setting {
                let _ = write!(
                    lines,
                    "\n  If this is intended, allow it with --{setting}=all, or with\n  `{setting}=all` in .npmrc.\n"
                );
            }
            lines
        }
        InstallError::Reify(ReifyError::Fetch { name, location, failure, .. }) => {
            let asked = format!("  {}   {location}\n", quiet(format!("{:<8}", "location")));
            asked + &failure::fetch(name, failure, &[], circumstances)
        }
        InstallError::Reify(ReifyError::Store(StoreError::Folder { source, .. })) if is_full(source) => {
            advice(&["Free some space (`espalier store prune` helps), or name another folder with --store-dir."])
        }
        InstallError::Reify(ReifyError::Store(_)) => {
            advice(&["Check the permissions, or name another folder with --store-dir."])
        }
        InstallError::Patch(_) | InstallError::Reify(ReifyError::Place(PlaceError::Patch(_))) => advice(&[
            "The package or the patch has changed. Make a new patch, or remove it from",
            "patchedDependencies in package.json.",
        ]),
        InstallError::Reify(ReifyError::Place(_) | ReifyError::Disk { .. }) => advice(&[
            "node_modules was restored as far as possible. Check the free space and the",
            "permissions, and try again.",
        ]),
        InstallError::Reify(ReifyError::Busy { .. }) => {
            advice(&["Wait for it to end, or end it if it hangs, and try again."])
        }
        InstallError::Reify(ReifyError::Nested { .. }) => advice(&[
            "Remove the command from the script. The installation that runs the script",
            "installs the whole project.",
        ]),
        InstallError::Outside(_)
        | InstallError::Policy(_)
        | InstallError::Reify(ReifyError::Interrupted)
        | InstallError::Lock(_) => String::new(),
    }
}

fn is_full(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
}
