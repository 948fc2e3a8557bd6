//! The outcome as JavaScript sees it: the objects that `pkg/index.d.ts` describes.

use espalier_core::error::PeerConflict;
use espalier_core::{FetchFailureKind, Graph, Outcome, Requirer, ResolveError, Warning};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::statistics::Reading;

#[derive(Serialize)]
struct ResultObject<'a> {
    lockfile: &'a str,
    graph: &'a Graph,
    warnings: &'a [Warning],
    statistics: StatisticsObject,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatisticsObject {
    packages: usize,
    packuments: usize,
    version_documents: usize,
    requests: u32,
    retries: u32,
    bytes: u64,
    elapsed: f64,
}

/// The fields of an `EspalierError`.
#[derive(Default, Serialize)]
struct ErrorObject<'a> {
    code: &'a str,
    message: String,
    package: Option<&'a str>,
    spec: Option<&'a str>,
    chain: &'a [Requirer],
    conflict: Option<&'a PeerConflict>,
    nearest: Option<&'a [String]>,
    url: Option<&'a str>,
    status: Option<u16>,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
}

/// The value to resolve or to reject the promise with.
pub fn to_javascript(
    outcome: Result<Outcome, ResolveError>,
    traffic: Reading,
    elapsed: f64,
) -> Result<JsValue, JsValue> {
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => return Err(serde_wasm_bindgen::to_value(&error_object(&error))?),
    };
    let statistics = StatisticsObject {
        packages: outcome.statistics.packages,
        packuments: outcome.statistics.packuments,
        version_documents: outcome.statistics.version_documents,
        requests: traffic.requests,
        retries: traffic.retries,
        bytes: traffic.bytes,
        elapsed,
    };
    let result =
        ResultObject { lockfile: &outcome.lockfile, graph: &outcome.graph, warnings: &outcome.warnings, statistics };
    Ok(serde_wasm_bindgen::to_value(&result)?)
}

fn error_object(error: &ResolveError) -> ErrorObject<'_> {
    let common =
        ErrorObject { code: error.code(), message: error.to_string(), chain: error.chain(), ..ErrorObject::default() };
    match error {
        ResolveError::InvalidJson { file, line, column, .. } => {
            ErrorObject { file: Some(file), line: Some(*line), column: Some(*column), ..common }
        }
        ResolveError::NoMatchingVersion { name, spec, nearest, .. } => {
            ErrorObject { package: Some(name), spec: Some(spec), nearest: Some(nearest), ..common }
        }
        ResolveError::Fetch { name, failure, .. } => {
            let status = match failure.kind {
                FetchFailureKind::Status(status) => Some(status),
                _ => None,
            };
            ErrorObject { package: Some(name), url: Some(&failure.url), status, ..common }
        }
        ResolveError::PeerConflict(conflict) => {
            ErrorObject { package: Some(&conflict.name), conflict: Some(conflict), ..common }
        }
        ResolveError::Refused { .. } => common,
    }
}
