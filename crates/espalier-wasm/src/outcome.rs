//! The outcome as JavaScript sees it: the objects that `pkg/index.d.ts` describes.

use espalier_core::error::PeerConflict;
use espalier_core::{FetchFailureKind, Outcome, Remedy, Requirer, ResolveError, Warning};
use js_sys::Reflect;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::json;
use crate::packed::PackedGraph;
use crate::tree::{Tree, TreeError};

/// Why there is nothing.
pub enum Failure<'a> {
    /// No tree.
    Resolve {
        /// Why.
        error: &'a ResolveError,
        /// What would help.
        remedies: Option<Vec<Remedy>>,
    },
    /// A tree that can't be installed.
    Tree(TreeError),
    /// A lockfile is insisted on, and there is none.
    NoLockfile,
    /// A lockfile is insisted on, and it doesn't fit.
    Disagreement(Vec<String>),
}

#[derive(Serialize)]
struct ResultObject<'a> {
    lockfile: &'a str,
    warnings: &'a [Warning],
    statistics: espalier_core::Statistics,
}

/// The fields of an `EspalierError`, which leaves out those that are null.
#[derive(Default, Serialize)]
struct ErrorObject<'a> {
    code: &'a str,
    message: String,
    package: Option<&'a str>,
    spec: Option<&'a str>,
    chain: &'a [Requirer],
    conflict: Option<&'a PeerConflict>,
    remedies: Option<&'a [Remedy]>,
    differences: Option<&'a [String]>,
    location: Option<&'a str>,
    nearest: Option<&'a [String]>,
    url: Option<&'a str>,
    status: Option<u16>,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
}

/// The value to resolve the promise with: `RunOutcome` in `pkg/src/glue.d.ts`.
pub fn to_javascript(outcome: &Outcome, tree: Option<Tree>) -> Result<JsValue, JsValue> {
    let result =
        ResultObject { lockfile: &outcome.lockfile, warnings: &outcome.warnings, statistics: outcome.statistics };
    let result = json::to_javascript(&result)?;
    Reflect::set(&result, &"packedGraph".into(), &PackedGraph::new(&outcome.graph).to_javascript()?)?;
    Reflect::set(&result, &"tree".into(), &tree.map_or(JsValue::UNDEFINED, Into::into))?;
    Ok(result)
}

/// The value to reject it with.
pub fn rejection(failure: &Failure<'_>) -> JsValue {
    let object = match failure {
        Failure::Resolve { error, remedies } => ErrorObject { remedies: remedies.as_deref(), ..resolve_error(error) },
        Failure::Tree(TreeError::Refused(refusal)) => ErrorObject {
            code: refusal.code,
            message: refusal.message.clone(),
            location: Some(&refusal.location),
            ..ErrorObject::default()
        },
        Failure::Tree(TreeError::Patch { location, error }) => ErrorObject {
            code: error.code,
            message: error.to_string(),
            location: Some(location),
            ..ErrorObject::default()
        },
        Failure::Tree(error @ TreeError::Layout(_)) => {
            ErrorObject { code: "ELOCKFILE", message: error.to_string(), ..ErrorObject::default() }
        }
        Failure::NoLockfile => ErrorObject {
            code: "EUSAGE",
            message: "there is no package-lock.json, and a frozen installation goes by it".to_owned(),
            ..ErrorObject::default()
        },
        Failure::Disagreement(differences) => ErrorObject {
            code: "EUSAGE",
            message: "package.json and package-lock.json are not in sync".to_owned(),
            differences: Some(differences),
            ..ErrorObject::default()
        },
    };
    json::to_javascript(&object).unwrap_or_else(|error| error)
}

fn resolve_error(error: &ResolveError) -> ErrorObject<'_> {
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
