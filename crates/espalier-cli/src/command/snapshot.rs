//! `espalier snapshot`.

use std::process::ExitCode;
use std::sync::Arc;

use espalier_core::Changes;
use espalier_install::lock::LockError;
use espalier_install::snapshot::Snapshot;

use super::complaint::Complaint;
use super::context::Context;
use super::lock::{context, count, interruption, of};
use super::measured::Measured;
use super::say;
use crate::arguments::{LockArguments, SnapshotArguments};
use crate::report::failure::Circumstances;
use crate::report::{bytes, counted, machine};

const NAME: &str = "snapshot";

/// Runs the command.
pub fn run(arguments: &SnapshotArguments) -> ExitCode {
    let SnapshotArguments { file, lock } = arguments;
    let changes = Changes::default();
    let found = match context(lock, &changes, NAME) {
        Ok(found) => found,
        Err(complaint) => return complaint.report_as(NAME, Circumstances::unknown(), lock.output.json),
    };
    let mut measured = Measured::start(&lock.output.measuring);
    let taken = taken(&found, lock, changes, &mut measured);
    let snapshot = match taken {
        Ok(snapshot) => snapshot,
        Err(error) => {
            measured.end();
            return Complaint::from(error).report_as(NAME, found.circumstances(), lock.output.json);
        }
    };
    let Snapshot { bytes: packed, documents, left_out } = snapshot;
    let written = measured.phase("writing", "the snapshot", || std::fs::write(file, &packed));
    measured.end();
    if let Err(error) = written {
        let details = "  Check that its folder exists, and the permissions of both.\n";
        let complaint = Complaint::own("EWRITE", format!("cannot write {}: {error}", file.display()), details);
        return complaint.report(lock.output.json);
    }
    let length = packed.len() as u64;
    if lock.output.json {
        let report = serde_json::json!({ "file": file, "documents": documents, "leftOut": left_out, "bytes": length });
        say(&machine::object(&report));
    } else if !lock.output.quiet {
        let missing = if left_out == 0 { String::new() } else { format!("; {left_out} left out") };
        say(&format!("{} ({}) in {}{missing}.\n", counted(documents, "document"), bytes(length), file.display()));
    }
    ExitCode::SUCCESS
}

fn taken(
    context: &Context,
    arguments: &LockArguments,
    changes: Changes,
    measured: &mut Measured<'_>,
) -> Result<Snapshot, LockError> {
    let activity = Arc::clone(&measured.activity);
    let lock = of(context, arguments, changes, &activity)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("threads can be started");
    let observe = count(&activity);
    let take = || runtime.block_on(async { lock.snapshot(observe, interruption()).await });
    let snapshot = measured.phase("resolving", "asking registries, packing their documents", take);
    runtime.shutdown_background();
    snapshot
}
