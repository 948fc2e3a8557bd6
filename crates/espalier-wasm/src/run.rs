//! Runs a resolution from its input to its outcome, in the task that owns the core's
//! [`Resolution`].

use std::collections::VecDeque;
use std::future::pending;
use std::pin::Pin;
use std::rc::Rc;

use espalier_core::remedy::Search;
use espalier_core::{
    Event, LockfileText, Options, Outcome, Progress, Project, Remedy, Reporting, Request, Resolution, ResolveError,
    Urgency,
};
use espalier_package::agreement;
use espalier_registry::Registries;
use futures_lite::future::or;
use js_sys::{Date, Function};
use wasm_bindgen::prelude::*;

use crate::boundary;
use crate::files::Files;
use crate::input::Input;
use crate::memory::Growth;
use crate::network::Network;
use crate::network::timer::{Timer, sleep};
use crate::outcome::{self, Failure};
use crate::source::Source;
use crate::tree::TargetTree;
use crate::workers::Workers;

/// The time limit of the search for remedies, in milliseconds. npm's flags are still tried
/// afterwards.
const PATIENCE: f64 = 5_000.0;
const MOST_TRIALS: usize = 40;
/// Below this number of packuments under way, version documents are fetched beside them, at most as
/// many as this. A request takes a browser two milliseconds of processor time, so that more
/// requests at once don't end sooner, and the tree would wait for documents that only the lockfile
/// needs.
const FEW: usize = 8;

/// How often events and the traffic are reported, in milliseconds.
const A_FRAME: f64 = 16.0;

/// How long a resolution that needn't wait may occupy the thread, in milliseconds.
const BREATH: f64 = 50.0;

/// Resolves. Dropping the future stops everything that it has started.
pub async fn run(input: Input, network: Network, observe: Function) -> Result<JsValue, JsValue> {
    let (project, mut options) = input.project_and_options();
    options.registries = Some(network.registries().addresses());
    let source = Rc::new(Source::new(Files::new(input.files.clone()), network.clone()));
    let mut placed = Vec::new();
    let mut workers = Workers::start(input.concurrency, &source);
    let mut report = |mut events: Vec<Event>| {
        placed.extend(events.iter().filter_map(|event| match event {
            Event::Placed { location, .. } => Some(location.clone()),
            _ => None,
        }));
        if !input.events {
            events.clear();
        }
        observe.call2(&JsValue::UNDEFINED, &boundary::to_javascript(&events)?, &network.traffic()?)?;
        Ok(())
    };
    let resolution = Resolution::new(project.clone(), options.clone());
    let result = driven(resolution, &source, &mut workers, &mut report).await?;
    let outcome = match result {
        Ok(outcome) => outcome,
        Err(error) => {
            let remedies =
                if input.remedies { remedies(project, options, &error, &source, &mut workers).await? } else { None };
            return Err(outcome::rejection(&Failure::Resolve { error: &error, remedies }));
        }
    };
    let lockfile = project.lockfile.as_ref();
    let installed = installed(&input, lockfile, outcome, &placed, network.registries());
    let (outcome, tree) = installed.map_err(|failure| outcome::rejection(&failure))?;
    outcome::to_javascript(&outcome, tree)
}

/// The outcome, and the target tree if there is anything to install.
fn installed(
    input: &Input,
    lockfile: Option<&LockfileText>,
    outcome: Outcome,
    placed: &[String],
    registries: &Registries,
) -> Result<(Rc<Outcome>, Option<TargetTree>), Failure<'static>> {
    let Some(install) = &input.install else { return Ok((Rc::new(outcome), None)) };
    if install.frozen {
        let lockfile = lockfile.and_then(|lockfile| lockfile.parsed(&outcome.graph.project));
        let Some(lockfile) = lockfile else { return Err(Failure::NoLockfile) };
        let differences = agreement::disagreements(lockfile, &outcome.graph, placed);
        if !differences.is_empty() {
            return Err(Failure::Disagreement(differences));
        }
    }
    let noted = install.noted.as_deref();
    let file = |path: &str| input.files.get(path).map(str::to_owned);
    let (omit, trust, registries) = (install.omit.into(), input.trust(), registries.clone());
    let tree = TargetTree::new(outcome, file, omit, trust, noted, registries, !install.frozen);
    let tree = tree.map_err(Failure::Tree)?;
    Ok((tree.outcome(), Some(tree)))
}

/// Receives events. This is one type, because an instance of [`drive`] for each receiver would
/// weigh kilobytes.
type Observer<'a> = &'a mut dyn FnMut(Vec<Event>) -> Result<(), JsValue>;

type Driven = Result<Result<Outcome, ResolveError>, JsValue>;

/// [`drive`] as a function of its own. Its loop is hot, and V8 would otherwise optimise everything
/// before and after it as well, which takes longer than a small resolution computes.
fn driven<'a>(
    resolution: Resolution,
    source: &'a Source,
    workers: &'a mut Workers,
    observe: Observer<'a>,
) -> Pin<Box<dyn Future<Output = Driven> + 'a>> {
    Box::pin(drive(resolution, source, workers, observe))
}

/// Advances a resolution to its end. `observe` receives the events.
async fn drive(mut resolution: Resolution, source: &Source, workers: &mut Workers, observe: Observer<'_>) -> Driven {
    let mut growth = Growth::watch();
    let mut documents = Documents::default();
    let mut rested = Date::now();
    let mut events = Vec::new();
    // It runs while something that has happened waits to be observed. To observe each answer would
    // take longer than to read it.
    let mut frame: Option<Timer> = None;
    loop {
        growth.keep_ahead();
        let progress = resolution.advance();
        events.extend(std::iter::from_fn(|| resolution.next_event()));
        if progress == Progress::Done {
            observe(events)?;
            return Ok(resolution.finish());
        }
        if events.iter().any(|event| matches!(event, Event::Settled { .. })) {
            // To start the requests that the tree needn't wait for takes tens of milliseconds.
            observe(std::mem::take(&mut events))?;
            sleep(0.0).await;
        }
        if hand_over(&mut resolution, source, workers, &mut documents) {
            if Date::now() - rested > BREATH {
                observe(std::mem::take(&mut events))?;
                // This sends the events, and lets an abort through.
                sleep(0.0).await;
                rested = Date::now();
            }
            continue;
        }
        frame.get_or_insert_with(|| Timer::set(A_FRAME));
        let answers = loop {
            let passed = async {
                match &mut frame {
                    Some(timer) => timer.passed().await,
                    None => pending().await,
                }
                None
            };
            if let Some(answers) = or(async { Some(workers.answers().await) }, passed).await {
                break answers;
            }
            observe(std::mem::take(&mut events))?;
            frame = None;
        };
        for (request, answer) in answers {
            documents.under_way -= usize::from(request.is_for_lockfile());
            resolution.supply(&request, answer);
        }
        rested = Date::now();
    }
}

/// The version documents under way.
#[derive(Default)]
struct Documents {
    waiting: VecDeque<Request>,
    under_way: usize,
}

/// Hands requests over. Returns whether an answer was at hand, so that the resolution can continue.
fn hand_over(resolution: &mut Resolution, source: &Source, workers: &mut Workers, documents: &mut Documents) -> bool {
    let mut goes_on = false;
    while workers.any_free() {
        let Some((request, urgency)) = resolution.next_request() else { break };
        if let Some(answer) = source.at_hand(&request) {
            resolution.supply(&request, Ok(answer));
            goes_on = true;
        } else if request.is_for_lockfile() && urgency == Urgency::Speculative {
            documents.waiting.push_back(request);
        } else {
            documents.under_way += usize::from(request.is_for_lockfile());
            workers.give(request, urgency);
        }
    }
    while workers.any_free() {
        let packuments = workers.busy() - documents.under_way;
        if packuments >= FEW || (packuments > 0 && documents.under_way >= FEW) {
            break;
        }
        let Some(request) = documents.waiting.pop_front() else { break };
        workers.give(request, Urgency::Speculative);
        documents.under_way += 1;
    }
    assert!(goes_on || workers.busy() > 0, "the resolution waits for an answer that it didn't ask for");
    goes_on
}

/// The remedies for a conflict of peers. `None` for other failures.
async fn remedies(
    project: Project,
    options: Options,
    error: &ResolveError,
    source: &Source,
    workers: &mut Workers,
) -> Result<Option<Vec<Remedy>>, JsValue> {
    if !matches!(error, ResolveError::PeerConflict(_)) {
        return Ok(None);
    }
    let started = Date::now();
    let mut search = Search::new(project, Options { reporting: Reporting::Tree, ..options }, error);
    let mut trials = 0;
    while let Some((project, options)) = search.next_trial() {
        workers.forget().await;
        let result = driven(Resolution::new(project, options), source, workers, &mut |_| Ok(())).await?;
        search.report(&result);
        trials += 1;
        if trials >= MOST_TRIALS || Date::now() - started > PATIENCE {
            search.give_up();
        }
    }
    Ok(Some(search.finish()))
}

/// Explains a package of the tree in a lockfile: `Explanation[]` of `pkg/explain.d.ts`.
pub fn explain(input: &Input, package: &str) -> Result<JsValue, JsValue> {
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
    let tree = explain::Explainer { graph: &outcome.graph, path: &path };
    boundary::to_javascript(&tree.explain(&tree.matching(package, None)).to_json())
}
