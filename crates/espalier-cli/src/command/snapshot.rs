//! `espalier snapshot`.

use std::process::ExitCode;
use std::sync::Arc;

use espalier_core::Changes;
use espalier_install::activity::Activity;
use espalier_install::lock::LockError;
use espalier_install::snapshot::Snapshot;

use super::complaint::Complaint;
use super::lock::{FAILED, Known, count, exit_code, interruption, prepare, report_failure};
use super::say;
use crate::arguments::SnapshotArguments;
use crate::report::{bytes, counted, machine};
use crate::style::{PROBLEM, Styled};

/// Runs the command to its exit code.
pub fn run(arguments: &SnapshotArguments) -> ExitCode {
    let SnapshotArguments { file, lock } = arguments;
    if lock.global {
        return Complaint::no_globals("snapshot").report(lock.output.json);
    }
    let mut known = Known::default();
    let snapshot = match taken(arguments, &mut known) {
        Ok(snapshot) => snapshot,
        Err(error) => {
            report_failure(&error, &known, &lock.output);
            return ExitCode::from(exit_code(&error));
        }
    };
    let Snapshot { bytes: content, documents, left_out } = snapshot;
    if let Err(error) = std::fs::write(file, &content) {
        anstream::eprintln!("{} cannot write {}: {error}", Styled(PROBLEM, "error:"), file.display());
        return ExitCode::from(FAILED);
    }
    let length = content.len() as u64;
    if lock.output.json {
        let report = serde_json::json!({ "file": file, "documents": documents, "leftOut": left_out, "bytes": length });
        say(&machine::object(&report));
    } else if !lock.output.quiet {
        let missing = if left_out == 0 { String::new() } else { format!("; {left_out} left out") };
        say(&format!("{} ({}) in {}{missing}.\n", counted(documents, "document"), bytes(length), file.display()));
    }
    ExitCode::SUCCESS
}

fn taken(arguments: &SnapshotArguments, known: &mut Known) -> Result<Snapshot, LockError> {
    let activity = Arc::<Activity>::default();
    let lock = prepare(&arguments.lock, Changes::default(), &activity, known)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("threads can be started");
    let observe = count(&activity);
    let snapshot = runtime.block_on(async { lock.snapshot(observe, interruption()).await });
    runtime.shutdown_background();
    snapshot
}
