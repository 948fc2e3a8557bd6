//! The output of a successful run: one sentence, and a few lines of warnings.

use std::fmt::Write as _;
use std::time::Duration;

use espalier_core::Warning;
use espalier_install::activity::{Activity, Stopwatch};
use espalier_install::install;
use espalier_install::lock::{self, Locked};
use espalier_install::project::Written;

use super::{bytes, counted, duration, shown_path, wrapped};
use crate::style::{CAUTION, LIVING, Styled, quiet, strong};

/// The sentence.
pub fn sentence(locked: &Locked) -> String {
    let packages = strong(counted(locked.outcome.statistics.packages, "package"));
    let path = strong(shown_path(&locked.path));
    let written = match locked.written {
        Written::Created => format!("{path} created"),
        Written::Changed => format!("{path} updated"),
        Written::Unchanged => format!("{path} was up to date"),
    };
    format!("{packages} resolved in {}; {written}.\n", Styled(LIVING, duration(locked.elapsed)))
}

/// The lines below it: each kind of warning with its count and a few examples.
pub fn warnings(warnings: &[Warning], width: Option<usize>) -> String {
    let mut lines = String::new();
    let of = |code: &str| warnings.iter().filter(|warning| warning.code == code).collect::<Vec<_>>();

    let conflicts = of("ERESOLVE");
    if !conflicts.is_empty() {
        let count = counted(conflicts.len(), "peer conflict");
        let _ = writeln!(lines, "  {} left in the tree", Styled(CAUTION, count));
        write_messages(&mut lines, &conflicts, width);
    }
    let engines = of("EBADENGINE");
    if !engines.is_empty() {
        let verb = if engines.len() == 1 { "does" } else { "do" };
        let _ = writeln!(
            lines,
            "  {} {verb} not support this version of Node.js or npm",
            Styled(CAUTION, counted(engines.len(), "package"))
        );
        write_messages(&mut lines, &engines, width);
    }
    let deprecated = of("deprecated");
    if !deprecated.is_empty() {
        let count = counted(deprecated.len(), "package");
        let verb = if deprecated.len() == 1 { "is" } else { "are" };
        let _ = writeln!(lines, "  {} {verb} deprecated", Styled(CAUTION, count));
        let named = |warning: &&Warning| (folder_of(&warning.location).to_owned(), warning.message.clone());
        for line in deprecations(&deprecated.iter().map(named).collect::<Vec<_>>()) {
            write_indented(&mut lines, &line, width);
        }
    }
    let others: Vec<_> =
        warnings.iter().filter(|warning| !["ERESOLVE", "EBADENGINE", "deprecated"].contains(&&*warning.code)).collect();
    if !others.is_empty() {
        let _ = writeln!(lines, "  {}", Styled(CAUTION, counted(others.len(), "other warning")));
        write_messages(&mut lines, &others, width);
    }
    lines
}

fn write_messages(lines: &mut String, warnings: &[&Warning], width: Option<usize>) {
    const MOST: usize = 3;
    for warning in warnings.iter().take(MOST) {
        write_indented(lines, &warning.message, width);
    }
    if warnings.len() > MOST {
        write_indented(lines, &format!("and {} more; --json lists them all", warnings.len() - MOST), width);
    }
}

fn write_indented(lines: &mut String, text: &str, width: Option<usize>) {
    for line in wrapped(text, 4, width) {
        let _ = writeln!(lines, "    {}", quiet(line));
    }
}

/// The lines about deprecated packages: the messages of a few, or the names of many.
pub(super) fn deprecations(packages: &[(String, String)]) -> Vec<String> {
    const FEW: usize = 3;
    let mut unique = packages.to_vec();
    unique.sort();
    unique.dedup();
    if unique.len() <= FEW {
        return unique.into_iter().map(|(_, line)| line).collect();
    }
    vec![listed(&unique.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())]
}

/// A list of names: `a, b, c and 4 more`.
pub fn listed(names: &[&str]) -> String {
    const MOST: usize = 5;
    let mut unique = names.to_vec();
    unique.sort_unstable();
    unique.dedup();
    let shown = unique.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
    if unique.len() > MOST { format!("{shown} and {} more", unique.len() - MOST) } else { shown }
}

/// The last folder of a location: that of `node_modules/a/node_modules/@s/b` is `@s/b`.
pub(super) fn folder_of(location: &str) -> &str {
    location.rsplit_once("node_modules/").map_or(location, |(_, folder)| folder)
}

/// The timings: elapsed time, and processor time.
pub fn timings(phases: &lock::Phases, activity: &Activity) -> String {
    let finishing = ("finishing", phases.finishing, "writing the lockfile and the cache".to_owned());
    let rows = beginning(phases, activity).into_iter().chain([finishing]).chain(processor(activity));
    table(&rows.collect::<Vec<_>>())
}

/// The timings of an installation.
pub fn installation_timings(phases: &install::Phases, activity: &Activity) -> String {
    let rows = installation_phases(phases, activity).into_iter().chain(processor(activity));
    table(&rows.collect::<Vec<_>>())
}

/// The phases of an installation.
pub fn installation_phases(phases: &install::Phases, activity: &Activity) -> Vec<Row> {
    let row = |label, time, note: &str| (label, time, note.to_owned());
    let own = [
        row("planning", phases.planning, "comparing node_modules with the plan"),
        row("placing", phases.placing, "fetching, unpacking, linking"),
        row("scripts", phases.scripts, "install scripts of dependencies"),
        row("finishing", phases.finishing, "writing the lockfiles, and the project's own scripts"),
    ];
    beginning(&phases.resolution, activity).into_iter().chain(own).collect()
}

/// A row: its name, its time, and a remark.
pub type Row = (&'static str, Duration, String);

fn beginning(phases: &lock::Phases, activity: &Activity) -> [Row; 2] {
    let starting = "reading settings and files, detecting the version of Node.js".to_owned();
    [("starting", phases.starting, starting), ("waiting for answers", phases.waiting, traffic(activity))]
}

/// The processor time of each kind of work.
pub fn processor(activity: &Activity) -> [Row; 7] {
    let row = |label, stopwatch: &Stopwatch, note: &str| (label, stopwatch.total(), note.to_owned());
    [
        row("cpu: resolving", &activity.resolving, "on one thread"),
        row("cpu: inflating", &activity.inflating, "documents and tarballs, on all threads"),
        row("cpu: parsing", &activity.parsing, "documents, on the fetching and resolving threads"),
        row("cpu: hashing", &activity.hashing, "tarballs, on all threads"),
        row("cpu: unpacking", &activity.unpacking, "tarballs, with inflating and writing, on all threads"),
        row("cpu: placing", &activity.placing, "linking and copying, on all threads"),
        row("cpu: writing", &activity.writing, "the files of tarballs and the lockfiles, on all threads"),
    ]
}

/// The rows, one below the other.
pub fn table(rows: &[Row]) -> String {
    let mut table = String::new();
    for (label, time, note) in rows {
        let milliseconds = format!("{:.1} ms", time.as_secs_f64() * 1000.0);
        let _ = writeln!(table, "  {label:<20} {milliseconds:>12}   {}", quiet(note));
    }
    table
}

/// The requests of the run so far.
pub fn traffic(activity: &Activity) -> String {
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let requests = counted(number(activity.network_requests.get()), "request");
    let retries = match activity.retries.get() {
        0 => String::new(),
        1 => ", 1 retry".to_owned(),
        retries => format!(", {retries} retries"),
    };
    let size = bytes(activity.network_bytes.get());
    format!("{requests}, {size}, {} from the cache{retries}", activity.cached_documents.get())
}

#[cfg(test)]
mod tests {
    use espalier_core::Warning;

    use super::warnings;

    fn warning(code: &'static str, message: &str, location: &str) -> Warning {
        Warning { code: code.into(), message: message.into(), location: location.into() }
    }

    #[track_caller]
    fn check(list: &[Warning], expected: &[&str]) {
        let drawn = anstream::adapter::strip_str(&warnings(list, Some(80))).to_string();
        assert_eq!(drawn.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn deprecated_packages_are_named_once() {
        let list: Vec<_> = ["a", "b", "x/node_modules/@s/c", "d", "e", "y/node_modules/a", "f"]
            .map(|folder| warning("deprecated", "use something else", &format!("node_modules/{folder}")))
            .into();
        check(&list, &["  7 packages are deprecated", "    @s/c, a, b, d, e and 1 more"]);
    }

    #[test]
    fn conflicts_are_said_one_by_one_up_to_a_point() {
        let list: Vec<_> = (1..=7).map(|number| warning("ERESOLVE", &format!("conflict {number}"), "")).collect();
        check(
            &list,
            &[
                "  7 peer conflicts left in the tree",
                "    conflict 1",
                "    conflict 2",
                "    conflict 3",
                "    and 4 more; --json lists them all",
            ],
        );
    }

    #[test]
    fn nothing_to_say_is_nothing() {
        check(&[], &[]);
    }
}
