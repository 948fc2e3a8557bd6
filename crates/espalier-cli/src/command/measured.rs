//! `--timings` and `--trace`, which every command that does some work has.

use std::sync::Arc;
use std::time::{Duration, Instant};

use espalier_install::activity::Activity;

use crate::arguments::MeasuringArguments;
use crate::report::success::{self, Row};
use crate::style::{CAUTION, Styled};

/// What a command is doing, for commands that have phases of their own.
pub struct Measured<'a> {
    arguments: &'a MeasuringArguments,
    /// The counts of the run.
    pub activity: Arc<Activity>,
    phases: Vec<Row>,
}

impl<'a> Measured<'a> {
    /// Begins to measure, if that is wanted.
    pub fn start(arguments: &'a MeasuringArguments) -> Self {
        let activity = Arc::<Activity>::default();
        start(arguments, &activity);
        Self { arguments, activity, phases: Vec::new() }
    }

    /// Runs a phase.
    pub fn phase<T>(&mut self, name: &'static str, note: &str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = match self.activity.spans() {
            Some(spans) => spans.work(name, work),
            None => work(),
        };
        self.phases.push((name, start.elapsed(), note.to_owned()));
        result
    }

    /// Adds the phases of an installation that was part of the command.
    pub fn add(&mut self, rows: impl IntoIterator<Item = Row>) {
        self.phases.extend(rows);
    }

    /// Prints the timings and writes the trace, after a failure as well.
    pub fn end(mut self) {
        if self.arguments.timings {
            self.phases
                .extend(success::processor(&self.activity).into_iter().filter(|(_, time, _)| *time > Duration::ZERO));
            anstream::eprint!("{}", success::table(&self.phases));
        }
        write_trace(self.arguments, &self.activity);
    }
}

/// Sets the activity's stopwatches going, if they are wanted.
pub fn start(arguments: &MeasuringArguments, activity: &Activity) {
    if arguments.timings {
        activity.measure();
    }
    if arguments.trace.is_some() {
        activity.trace();
    }
}

/// Writes the trace, if one is wanted. A trace that can't be written doesn't change how the command
/// ends.
pub fn write_trace(arguments: &MeasuringArguments, activity: &Activity) {
    let (Some(file), Some(spans)) = (&arguments.trace, activity.spans()) else { return };
    let written = std::fs::File::create(file).and_then(|file| spans.write(std::io::BufWriter::new(file)));
    if let Err(error) = written {
        anstream::eprintln!("{} cannot write {}: {error}", Styled(CAUTION, "warning:"), file.display());
    }
}
