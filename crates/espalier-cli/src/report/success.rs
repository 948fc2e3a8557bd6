//! The end of a run that worked: one sentence, and in few lines what deserves a look.

use std::fmt::Write as _;
use std::time::Duration;

use espalier_core::resolution::Warning;
use espalier_install::activity::Activity;
use espalier_install::lock::Locked;
use espalier_install::project::Written;

use super::{bytes, counted, duration, shown_path};
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

/// The lines below it. A kind of warning takes one line, or as many as it has messages where each says something new.
pub fn warnings(warnings: &[Warning]) -> String {
    const MOST: usize = 5;
    let mut lines = String::new();
    let of = |code: &str| warnings.iter().filter(|warning| warning.code == code).collect::<Vec<_>>();

    let conflicts = of("ERESOLVE");
    if !conflicts.is_empty() {
        let count = counted(conflicts.len(), "peer conflict");
        let _ = writeln!(lines, "  {} left in the tree", Styled(CAUTION, count));
        write_messages(&mut lines, &conflicts, MOST);
    }
    let engines = of("EBADENGINE");
    if !engines.is_empty() {
        let verb = if engines.len() == 1 { "does" } else { "do" };
        let count = counted(engines.len(), "package");
        let _ = writeln!(lines, "  {} {verb} not support this Node or npm", Styled(CAUTION, count));
        write_messages(&mut lines, &engines, MOST);
    }
    let deprecated = of("deprecated");
    if !deprecated.is_empty() {
        let names: Vec<_> = deprecated.iter().map(|warning| folder_of(&warning.location)).collect();
        let count = Styled(CAUTION, format!("{} deprecated", deprecated.len()));
        let _ = writeln!(lines, "  {count} {}", quiet(listed(&names, MOST)));
    }
    let others: Vec<_> =
        warnings.iter().filter(|warning| !["ERESOLVE", "EBADENGINE", "deprecated"].contains(&warning.code)).collect();
    if !others.is_empty() {
        let _ = writeln!(lines, "  {}", Styled(CAUTION, counted(others.len(), "other warning")));
        write_messages(&mut lines, &others, MOST);
    }
    lines
}

fn write_messages(lines: &mut String, warnings: &[&Warning], most: usize) {
    for warning in warnings.iter().take(most) {
        let _ = writeln!(lines, "    {}", quiet(&warning.message));
    }
    if warnings.len() > most {
        let _ = writeln!(lines, "    {}", quiet(format!("and {} more; --json lists them all", warnings.len() - most)));
    }
}

/// `a, b, c and 4 more`
fn listed(names: &[&str], most: usize) -> String {
    let mut unique = names.to_vec();
    unique.sort_unstable();
    unique.dedup();
    let shown = unique.iter().take(most).copied().collect::<Vec<_>>().join(", ");
    if unique.len() > most { format!("{shown} and {} more", unique.len() - most) } else { shown }
}

/// The package's folder at a location: `node_modules/a/node_modules/@s/b` is `@s/b`.
fn folder_of(location: &str) -> &str {
    location.rsplit_once("node_modules/").map_or(location, |(_, folder)| folder)
}

/// Where the time went: what passed on the clock, and what the processor did meanwhile.
pub fn timings(locked: &Locked, activity: &Activity) -> String {
    let note = |text: &str| text.to_owned();
    let rows: [(&str, Duration, String); 6] = [
        ("starting", locked.phases.starting, note("reading settings and files, asking for the Node version")),
        ("waiting for answers", locked.phases.waiting, traffic(activity)),
        ("finishing", locked.phases.finishing, note("writing the lockfile and the cache")),
        ("cpu: resolving", activity.resolving.total(), note("on one thread")),
        ("cpu: inflating", activity.inflating.total(), note("on other threads, meanwhile")),
        ("cpu: parsing", activity.parsing.total(), note("on other threads, meanwhile")),
    ];
    let mut table = String::new();
    for (label, time, note) in rows {
        let milliseconds = format!("{:.1} ms", time.as_secs_f64() * 1000.0);
        let _ = writeln!(table, "  {label:<20} {milliseconds:>12}   {}", quiet(note));
    }
    table
}

fn traffic(activity: &Activity) -> String {
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let requests = counted(number(activity.network_requests.get()), "request");
    let retries = match activity.retries.get() {
        0 => String::new(),
        retries => format!(", {}", counted(number(retries), "retry").replace("retrys", "retries")),
    };
    let size = bytes(activity.network_bytes.get());
    format!("{requests}, {size}, {} from the cache{retries}", activity.cached_documents.get())
}

#[cfg(test)]
mod tests {
    use espalier_core::resolution::Warning;

    use super::warnings;

    fn warning(code: &'static str, message: &str, location: &str) -> Warning {
        Warning { code, message: message.into(), location: location.into() }
    }

    #[track_caller]
    fn check(list: &[Warning], expected: &[&str]) {
        let drawn = anstream::adapter::strip_str(&warnings(list)).to_string();
        assert_eq!(drawn.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn deprecated_packages_share_a_line() {
        let list: Vec<_> = ["a", "b", "x/node_modules/@s/c", "d", "e", "y/node_modules/a", "f"]
            .map(|folder| warning("deprecated", "use something else", &format!("node_modules/{folder}")))
            .into();
        check(&list, &["  7 deprecated @s/c, a, b, d, e and 1 more"]);
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
                "    conflict 4",
                "    conflict 5",
                "    and 2 more; --json lists them all",
            ],
        );
    }

    #[test]
    fn nothing_to_say_is_nothing() {
        check(&[], &[]);
    }
}
