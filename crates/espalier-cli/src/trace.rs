//! The output of `--loglevel`: the decisions of a resolution, as log records on standard error.
//!
//! `verbose` shows each chosen version and each change of the tree, with what prevented a better
//! one. `silly` shows everything. Quieter levels show nothing here, because [`crate::report`]
//! prints warnings and errors.

use std::fmt::Write as _;

use espalier_core::Event;
use espalier_core::decision::{Decision, Placed, Trial, Verdict, Why};
use espalier_install::config::Config;
use tracing::{Level, debug, trace};

/// Starts the log at the level of the settings.
pub fn start(config: &Config) {
    let level = match config.text("loglevel").as_deref() {
        Some("verbose") => Level::DEBUG,
        Some("silly") => Level::TRACE,
        _ => return,
    };
    // This fails if the log has been started, which is fine.
    let _ = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_target(false)
        .without_time()
        .with_ansi(false)
        .with_writer(std::io::stderr)
        .try_init();
}

/// Logs an event.
pub fn event(event: &Event) {
    match event {
        Event::Fetched { name, versions } => trace!(name, versions, "packument"),
        Event::Visited { location, problems } => trace!(location = shown(location), problems = problems.len(), "visit"),
        Event::Picked { name, spec, version, reason, by, versions, .. } => {
            let passed = versions.as_ref().map(|versions| {
                let passed = versions.passed_over.iter();
                passed.map(|other| format!("{} {:?}", other.version, other.why)).collect::<Vec<_>>().join(", ")
            });
            debug!(by, ?reason, above = passed.unwrap_or_default(), "picked {name}@{version} for {spec}");
        }
        Event::Gathered { demand, version, origin, set } => {
            let version = version.as_deref().unwrap_or_default();
            trace!(
                by = demand.by,
                ?origin,
                set = shown(set),
                "candidate {}@{version} for {}",
                demand.name,
                demand.spec
            );
        }
        Event::Decided(decision) => decided(decision),
        Event::Placed { location, version, .. } => trace!(location, version, "placed"),
        Event::Kept { location, version, .. } => trace!(location, version, "kept"),
        Event::Settled { packages } => debug!(packages, "settled"),
        Event::Removed { location } => debug!(location, "removed"),
    }
}

fn decided(decision: &Decision) {
    let (name, version) = (&decision.demand.name, decision.version.as_deref().unwrap_or_default());
    let (by, spec) = (&decision.demand.by, &decision.demand.spec);
    let tried = decision.tried.iter().map(answer).collect::<Vec<_>>().join("; ");
    match &decision.result {
        Placed::Met => trace!(by, spec, "{name} is met already"),
        Placed::Kept { location } => debug!(by, spec, tried, "kept {name} in {}", shown(location)),
        Placed::New { location, replaced: None } => debug!(by, spec, tried, "placed {name}@{version} at {location}"),
        Placed::New { location, replaced: Some(old) } => {
            debug!(by, spec, tried, "placed {name}@{version} at {location}, in place of {old}");
        }
        Placed::Linked { location } => debug!(by, spec, tried, "linked {name}@{version} at {location}"),
        Placed::Refused => debug!(by, spec, tried, "no folder takes {name}@{version}"),
    }
}

/// A folder and its answer: `the project: occupied by 1.0.0`.
fn answer(trial: &Trial) -> String {
    let mut text = format!("{}: ", shown(&trial.location));
    let _ = match &trial.why {
        Why::Free => write!(text, "free"),
        Why::Failed => write!(text, "could not be loaded"),
        Why::PeerOfFolder => write!(text, "has it as a peer"),
        Why::OtherDemand { spec } => write!(text, "asks for {spec} itself"),
        Why::Shadows { dependent, spec } => write!(text, "{} relies on {spec} further up", shown(dependent)),
        Why::Same => write!(text, "has the same package"),
        Why::Satisfies { version } => write!(text, "{version} satisfies"),
        Why::Upgrade { version }
        | Why::Dedupe { version }
        | Why::OwnFolder { version }
        | Why::PeersMove { version } => {
            write!(text, "{version} makes way")
        }
        Why::Occupied { version } => write!(text, "{version} is in the way"),
        Why::PeerRefused { name, spec, location } => {
            write!(text, "no place for its peer {name}@{spec} in {}", shown(location))
        }
    };
    if trial.verdict == Verdict::Conflict {
        text.push_str(" (conflict)");
    }
    text
}

fn shown(location: &str) -> &str {
    if location.is_empty() { "the project" } else { location }
}
