//! One resolution from its input to its outcome: the task that owns the core's [`Resolution`].

use std::rc::Rc;

use espalier_core::{Event, Progress, Resolution};
use js_sys::Function;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::exchange::Exchange;
use crate::files::Files;
use crate::input::Input;
use crate::memory::Growth;
use crate::outcome;
use crate::registry::Registries;
use crate::source::Source;
use crate::statistics::Traffic;
use crate::timer;
use crate::workers::Workers;

/// Resolves; dropping the future stops everything that it started.
pub async fn run(input: Input, fetch: Function, observe: Function) -> Result<JsValue, JsValue> {
    let started = timer::now();
    let (project, options) = input.project_and_options();
    let traffic = Rc::new(Traffic::default());
    let exchange = Exchange { fetch, retries: input.retries, timeout: input.timeout, traffic: Rc::clone(&traffic) };
    let registries = Registries::new(input.registry, input.registries);
    let source = Source::new(Files::new(input.files), registries, exchange);
    let mut workers = Workers::start(input.concurrency, &Rc::new(source));
    let mut resolution = Resolution::new(project, options);
    let mut growth = Growth::default();
    loop {
        growth.keep_ahead();
        let progress = resolution.advance();
        if progress == Progress::Waiting {
            hand_over(&mut resolution, &mut workers);
        }
        observe_events(&mut resolution, &traffic, started, &observe)?;
        if progress == Progress::Done {
            break;
        }
        for (request, answer) in workers.answers().await {
            resolution.supply(&request, answer);
        }
    }
    let elapsed = timer::now() - started;
    outcome::to_javascript(resolution.finish(), traffic.reading(), elapsed)
}

fn hand_over(resolution: &mut Resolution, workers: &mut Workers) {
    while workers.any_free() {
        let Some((request, urgency)) = resolution.next_request() else { break };
        workers.give(request, urgency);
    }
    assert!(workers.any_busy(), "the resolution waits for an answer that it didn't ask for");
}

/// How far the fetching is; the last event of each batch.
#[derive(Serialize)]
#[serde(tag = "type", rename = "progress")]
struct ProgressEvent {
    requests: u32,
    pending: u32,
    bytes: u64,
    elapsed: f64,
}

fn observe_events(
    resolution: &mut Resolution,
    traffic: &Traffic,
    started: f64,
    observe: &Function,
) -> Result<(), JsValue> {
    let events = js_sys::Array::new();
    while let Some(event) = resolution.next_event() {
        events.push(&event_to_javascript(&event)?);
    }
    let reading = traffic.reading();
    let elapsed = timer::now() - started;
    let progress =
        ProgressEvent { requests: reading.requests, pending: reading.pending, bytes: reading.bytes, elapsed };
    events.push(&serde_wasm_bindgen::to_value(&progress)?);
    observe.call1(&JsValue::UNDEFINED, &events)?;
    Ok(())
}

fn event_to_javascript(event: &Event) -> Result<JsValue, JsValue> {
    Ok(serde_wasm_bindgen::to_value(event)?)
}
