//! The outcome for JavaScript: the objects in `pkg/index.d.ts`.

use std::borrow::Cow;

use espalier_core::error::PeerConflict;
use espalier_core::{FetchFailure, FetchFailureKind, InvalidJson, Outcome, Remedy, Requirer, ResolveError, Warning};
use js_sys::Reflect;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::boundary;
use crate::packed::PackedGraph;
use crate::tree::{TargetTree, TreeError};

/// Why a run failed.
pub enum Failure<'a> {
    /// There is no tree.
    Resolve {
        /// The reason.
        error: &'a ResolveError,
        /// The remedies.
        remedies: Option<Vec<Remedy>>,
    },
    /// The tree can't be installed.
    Tree(TreeError),
    /// A lockfile is required, and there is none.
    NoLockfile,
    /// A lockfile is required, and it doesn't match.
    Disagreement(Vec<String>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultObject<'a> {
    lockfile: &'a str,
    warnings: &'a [Warning],
    statistics: espalier_core::Statistics,
    packed_graph: PackedGraph,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    tree: JsValue,
}

/// The fields of an `EspalierError`, which leaves out null ones. It has a field for each fact that
/// an error can state.
#[derive(Default, Serialize)]
struct ErrorObject<'a> {
    code: Cow<'a, str>,
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

/// The value that the promise resolves with: `RunOutcome` in `pkg/src/glue.d.ts`.
pub fn to_javascript(outcome: &Outcome, tree: Option<TargetTree>) -> Result<JsValue, JsValue> {
    boundary::to_javascript(&ResultObject {
        lockfile: outcome.lockfile.text(),
        warnings: &outcome.warnings,
        statistics: outcome.statistics,
        packed_graph: PackedGraph::new(&outcome.graph),
        tree: tree.map_or(JsValue::UNDEFINED, Into::into),
    })
}

/// The value that the promise rejects with.
pub fn rejection(failure: &Failure<'_>) -> JsValue {
    let object = match failure {
        Failure::Resolve { error, remedies } => ErrorObject { remedies: remedies.as_deref(), ..resolve_error(error) },
        Failure::Tree(TreeError::Refused(refusal)) => ErrorObject {
            code: refusal.code.into(),
            message: refusal.message.clone(),
            location: Some(&refusal.location),
            ..ErrorObject::default()
        },
        Failure::Tree(TreeError::Patch { location, error }) => ErrorObject {
            code: error.code.into(),
            message: error.to_string(),
            location: Some(location),
            ..ErrorObject::default()
        },
        Failure::Tree(TreeError::Layout(error)) => {
            ErrorObject { code: error.code().into(), message: error.to_string(), ..ErrorObject::default() }
        }
        Failure::NoLockfile => ErrorObject {
            code: "EUSAGE".into(),
            message: "a frozen installation needs a package-lock.json, and there is none that is JSON".to_owned(),
            ..ErrorObject::default()
        },
        Failure::Disagreement(differences) => ErrorObject {
            code: "EUSAGE".into(),
            message: "package.json and package-lock.json are not in sync".to_owned(),
            differences: Some(differences),
            ..ErrorObject::default()
        },
    };
    boundary::to_javascript(&object).unwrap_or_else(|error| error)
}

/// The value that the promise rejects with after a failed request.
pub fn fetch_rejection(failure: &FetchFailure) -> JsValue {
    let object = ErrorObject {
        code: failure.kind.code(),
        message: failure.message.clone(),
        url: Some(&failure.url),
        status: failure.kind.status(),
        ..ErrorObject::default()
    };
    boundary::to_javascript(&object).unwrap_or_else(|error| error)
}

/// The failure in a rejection's value.
pub fn fetch_failure(rejection: &JsValue) -> FetchFailure {
    use FetchFailureKind as Kind;
    let field = |name: &str| Reflect::get(rejection, &name.into()).unwrap_or_default();
    let text = |name: &str| field(name).as_string().unwrap_or_default();
    let kinds = [Kind::Invalid, Kind::Integrity, Kind::Preflight, Kind::NotCached, Kind::Unsupported];
    // A status has three digits.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let status = field("status").as_f64().map(|status| Kind::of_status(status as u16));
    let code = text("code");
    let kind = status.or_else(|| kinds.into_iter().find(|kind| kind.code() == code)).unwrap_or(Kind::Unreachable);
    FetchFailure { kind, message: text("message"), url: text("url") }
}

fn resolve_error(error: &ResolveError) -> ErrorObject<'_> {
    let common = ErrorObject {
        code: error.code(),
        message: error.to_string(),
        package: error.package().map(|(name, _)| name),
        chain: error.chain(),
        ..ErrorObject::default()
    };
    match error {
        ResolveError::InvalidJson(InvalidJson { file, line, column, .. }) => {
            ErrorObject { file: Some(file), line: Some(*line), column: Some(*column), ..common }
        }
        ResolveError::NoMatchingVersion { spec, nearest, .. } => {
            ErrorObject { spec: Some(spec), nearest: Some(nearest), ..common }
        }
        ResolveError::Fetch { failure, .. } => {
            ErrorObject { url: Some(&failure.url), status: failure.kind.status(), ..common }
        }
        ResolveError::PeerConflict(conflict) => ErrorObject { conflict: Some(conflict), ..common },
        ResolveError::Refused { .. } => common,
    }
}
