//! The output of `--json`: one object, which `docs/json.md` of this crate describes. An
//! incompatible change raises [`SCHEMA`].

use std::borrow::Cow;
use std::time::Duration;

use espalier_core::Warning;
use espalier_core::error::PeerConflict;
use espalier_core::{FetchFailure, InvalidJson, Remedy, Requirer, ResolveError};
use espalier_install::activity::Activity;
use espalier_install::install::{Done, InstallError};
use espalier_install::lock::{LockError, Locked};
use espalier_install::project::Written;
use espalier_install::reify::ReifyError;
use serde::Serialize;
use serde_json::{Value, json};

use super::{failure, install};

const SCHEMA: u32 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Success<'a> {
    schema: u32,
    ok: bool,
    command: &'static str,
    lockfile: LockfileReport,
    packages: usize,
    elapsed_ms: f64,
    network: Network,
    timings_ms: Timings,
    warnings: &'a [Warning],
}

#[derive(Serialize)]
struct LockfileReport {
    path: String,
    written: Written,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Network {
    requests: u64,
    bytes: u64,
    retries: u64,
    from_cache: u64,
}

#[derive(Serialize)]
struct Timings {
    starting: f64,
    waiting: f64,
    finishing: f64,
    resolving: f64,
    inflating: f64,
    parsing: f64,
}

#[derive(Serialize)]
struct Failure<E> {
    schema: u32,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'static str>,
    error: E,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ErrorReport<'a> {
    code: Cow<'a, str>,
    message: String,
    chain: &'a [Requirer],
    #[serde(skip_serializing_if = "Option::is_none")]
    package: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spec: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fetch: Option<&'a FetchFailure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conflict: Option<&'a PeerConflict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedies: Option<&'a [Remedy]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<Position<'a>>,
}

#[derive(Serialize)]
struct Position<'a> {
    file: &'a str,
    line: usize,
    column: usize,
}

/// A successful run.
pub fn success(locked: &Locked, activity: &Activity) -> String {
    print(&Success {
        schema: SCHEMA,
        ok: true,
        command: "lock",
        lockfile: LockfileReport { path: locked.path.display().to_string(), written: locked.written },
        packages: locked.outcome.statistics.packages,
        elapsed_ms: milliseconds(locked.elapsed),
        network: Network {
            requests: activity.network_requests.get(),
            bytes: activity.network_bytes.get(),
            retries: activity.retries.get(),
            from_cache: activity.cached_documents.get(),
        },
        timings_ms: Timings {
            starting: milliseconds(locked.phases.starting),
            waiting: milliseconds(locked.phases.waiting),
            finishing: milliseconds(locked.phases.finishing),
            resolving: milliseconds(activity.resolving.total()),
            inflating: milliseconds(activity.inflating.total()),
            parsing: milliseconds(activity.parsing.total()),
        },
        warnings: &locked.outcome.warnings,
    })
}

/// A failed run. Commands that otherwise print npm's JSON don't state their name.
pub fn failure(command: Option<&'static str>, error: &LockError) -> String {
    let mut report =
        ErrorReport { code: failure::code(error), message: failure::headline(error), ..ErrorReport::default() };
    if let LockError::Resolve { error, remedies, .. } = error {
        report.chain = error.chain();
        report.package = error.package().map(|(name, _)| name);
        match &**error {
            ResolveError::InvalidJson(InvalidJson { file, line, column, .. }) => {
                report.position = Some(Position { file, line: *line, column: *column });
            }
            ResolveError::NoMatchingVersion { spec, nearest, .. } => {
                report.spec = Some(spec);
                report.nearest = Some(nearest);
            }
            ResolveError::Fetch { failure, .. } => report.fetch = Some(failure),
            ResolveError::PeerConflict(conflict) => {
                report.conflict = Some(conflict);
                report.remedies = Some(remedies);
            }
            ResolveError::Refused { .. } => {}
        }
    }
    print(&Failure { schema: SCHEMA, ok: false, command, error: report })
}

/// A successful installation.
pub fn installed(command: &'static str, done: &Done, activity: &Activity) -> String {
    let report = &done.report;
    let pairs = |pairs: &[(String, String)]| -> Vec<Value> {
        pairs.iter().map(|(location, reason)| json!({ "location": location, "reason": reason })).collect()
    };
    let lockfile = done.lockfile.as_ref().map(|(path, written)| json!({ "path": path, "written": written }));
    let deprecated: Vec<Value> = report
        .deprecated
        .iter()
        .map(|(package, message)| json!({ "location": package.location, "name": package.name, "message": message }))
        .collect();
    let plan = done.plan.as_ref().map(|plan| plan.to_string().lines().map(str::to_owned).collect::<Vec<_>>());
    print(&json!({
        "schema": SCHEMA,
        "ok": true,
        "command": command,
        "lockfile": lockfile,
        "dryRun": plan,
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "repaired": pairs(&report.repaired),
        "kept": report.kept,
        "leftOut": pairs(&report.left_out),
        "withScripts": report.with_scripts,
        "deprecated": deprecated,
        "note": done.note.as_deref().or(report.copied_because),
        "elapsedMs": milliseconds(done.elapsed),
        "network": Network {
            requests: activity.network_requests.get(),
            bytes: activity.network_bytes.get(),
            retries: activity.retries.get(),
            from_cache: activity.cached_documents.get(),
        },
        "warnings": done.warnings,
    }))
}

/// A failed installation.
pub fn install_failure(command: Option<&'static str>, error: &InstallError) -> String {
    if let InstallError::Lock(error) = error {
        return failure(command, error);
    }
    let mut report = json!({ "code": install::code(error), "message": install::headline(error) });
    match error {
        InstallError::Disagreement { differences } => report["differences"] = json!(differences),
        InstallError::Unreviewed { packages } => report["packages"] = json!(packages),
        InstallError::Refused(refusal) => report["location"] = json!(refusal.location),
        InstallError::Reify(ReifyError::Fetch { name, location, failure, .. }) => {
            report["package"] = json!(name);
            report["location"] = json!(location);
            report["fetch"] = json!(failure);
        }
        _ => {}
    }
    print(&Failure { schema: SCHEMA, ok: false, command, error: report })
}

/// A small object.
pub fn object(value: &Value) -> String {
    print(value)
}

fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

fn print(report: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(report).expect("reports are plain data with string keys");
    text + "\n"
}
