//! One resolution from its input to its outcome: the task that owns the core's [`Resolution`].

use std::rc::Rc;

use espalier_core::remedy::Search;
use espalier_core::{Event, Options, Outcome, Progress, Project, Remedy, Resolution, ResolveError};
use espalier_package::agreement;
use js_sys::{Date, Function};
use wasm_bindgen::prelude::*;

use crate::files::Files;
use crate::input::Input;
use crate::json;
use crate::memory::Growth;
use crate::network::Network;
use crate::outcome::{self, Failure};
use crate::registry::Registries;
use crate::source::Source;
use crate::tree::Tree;
use crate::workers::Workers;

/// How long remedies are looked for, in milliseconds. npm's flags are still tried afterwards.
const PATIENCE: f64 = 5_000.0;
const MOST_TRIALS: usize = 40;

/// Resolves; dropping the future stops everything that it started.
pub async fn run(input: Input, network: Network, observe: Function) -> Result<JsValue, JsValue> {
    let (project, options) = input.project_and_options();
    let registries = Registries::new(input.registry.clone(), input.registries.clone());
    let source = Rc::new(Source::new(Files::new(input.files.clone()), registries, network));
    let mut placed = Vec::new();
    let mut workers = Workers::start(input.concurrency, &source);
    let result = drive(Resolution::new(project.clone(), options.clone()), &mut workers, |events| {
        placed.extend(events.iter().filter_map(|event| match event {
            Event::Placed { location, .. } => Some(location.clone()),
            _ => None,
        }));
        observe.call1(&JsValue::UNDEFINED, &json::to_javascript(&events)?)?;
        Ok(())
    })
    .await?;
    let outcome = match result {
        Ok(outcome) => outcome,
        Err(error) => {
            let remedies = if input.remedies { remedies(project, options, &error, &mut workers).await? } else { None };
            return Err(outcome::rejection(&Failure::Resolve { error: &error, remedies }));
        }
    };
    let tree = installed(&input, &outcome, &placed, source.registries());
    let tree = tree.map_err(|failure| outcome::rejection(&failure))?;
    outcome::to_javascript(&outcome, tree)
}

/// What is to be installed, if anything.
fn installed(
    input: &Input,
    outcome: &Outcome,
    placed: &[String],
    registries: &Registries,
) -> Result<Option<Tree>, Failure<'static>> {
    let Some(install) = &input.install else { return Ok(None) };
    if install.frozen {
        let Some(lockfile) = input.lockfile.as_deref() else { return Err(Failure::NoLockfile) };
        let project = input.project_path();
        let differences = agreement::disagreements(lockfile, &outcome.lockfile, &project, placed);
        if !differences.is_empty() {
            return Err(Failure::Disagreement(differences));
        }
    }
    let noted = install.noted.as_deref();
    let file = |path: &str| input.files.get(path).cloned();
    let tree = Tree::new(outcome.clone(), file, install.omit.into(), input.trust(), noted, registries.clone());
    tree.map(Some).map_err(Failure::Tree)
}

/// Advances a resolution until it has ended; `observe` sees what happens.
async fn drive(
    mut resolution: Resolution,
    workers: &mut Workers,
    mut observe: impl FnMut(&[Event]) -> Result<(), JsValue>,
) -> Result<Result<Outcome, ResolveError>, JsValue> {
    let mut growth = Growth::default();
    loop {
        growth.keep_ahead();
        let progress = resolution.advance();
        if progress == Progress::Waiting {
            hand_over(&mut resolution, workers);
        }
        let events: Vec<Event> = std::iter::from_fn(|| resolution.next_event()).collect();
        observe(&events)?;
        if progress == Progress::Done {
            return Ok(resolution.finish());
        }
        for (request, answer) in workers.answers().await {
            resolution.supply(&request, answer);
        }
    }
}

fn hand_over(resolution: &mut Resolution, workers: &mut Workers) {
    while workers.any_free() {
        let Some((request, urgency)) = resolution.next_request() else { break };
        workers.give(request, urgency);
    }
    assert!(workers.any_busy(), "the resolution waits for an answer that it didn't ask for");
}

/// What would resolve a conflict of peers; `None` for other failures.
async fn remedies(
    project: Project,
    options: Options,
    error: &ResolveError,
    workers: &mut Workers,
) -> Result<Option<Vec<Remedy>>, JsValue> {
    if !matches!(error, ResolveError::PeerConflict(_)) {
        return Ok(None);
    }
    let started = Date::now();
    let mut search = Search::new(project, options, error);
    let mut trials = 0;
    while let Some((project, options)) = search.next_trial() {
        workers.forget().await;
        let result = drive(Resolution::new(project, options), workers, |_| Ok(())).await?;
        search.report(&result);
        trials += 1;
        if trials >= MOST_TRIALS || Date::now() - started > PATIENCE {
            search.give_up();
        }
    }
    Ok(Some(search.finish()))
}

/// Explains a package of the tree that a lockfile describes; `Explanation[]` of `pkg/explain.d.ts` as JSON.
pub fn explain(input: &Input, package: &str) -> Result<String, JsValue> {
    use espalier_core::Reading;
    use espalier_package::explain;
    let (project, options) = input.project_and_options();
    let path = project.path.clone();
    let reading = if project.lockfile.is_some() { Reading::Lockfile } else { Reading::NodeModules };
    let mut inspection = Resolution::inspect(project, options, reading);
    let files = Files::new(input.files.clone());
    while inspection.advance() == Progress::Waiting {
        while let Some((request, _)) = inspection.next_request() {
            inspection.supply(&request, Ok(files.answer(&request)));
        }
    }
    let outcome = inspection.finish();
    let outcome = outcome.map_err(|error| outcome::rejection(&Failure::Resolve { error: &error, remedies: None }))?;
    let tree = explain::Tree { graph: &outcome.graph, path: &path };
    Ok(tree.explain(&tree.matching(package, None)).to_json().to_string())
}
