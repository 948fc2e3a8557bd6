//! Versions that dependents name exactly, and the documents that describe them.
//!
//! The version for an exact spec is known before the packument arrives, so the document of the
//! version is sufficient. It is shorter than the packument. Packages for platforms are an example:
//! one package names dozens of them exactly.
//!
//! A registry that stands before another one may correct the address of a tarball in packuments only,
//! or add its integrity. So a document counts only if its tarball is at the registry of the package,
//! where npm's registry would have it, and if it states more than a SHA-1. Each document is judged by
//! itself, whatever other answers say. This module doesn't know when a document is requested.

use std::rc::Rc;

use crate::manifest::Manifest;
use crate::options::RegistryAddresses;
use crate::request::Request;
use crate::spec::{Spec, SpecKind};

/// The version that an exact spec names.
pub fn exact(spec: &Spec) -> Option<Rc<str>> {
    match &spec.kind {
        SpecKind::Version { version, .. } => Some(version.to_string().into()),
        _ => None,
    }
}

/// Whether a spec names a version.
pub fn is_exact(spec: &Spec) -> bool {
    matches!(spec.kind, SpecKind::Version { .. })
}

/// Whether the document of a version can take the packument's place.
pub fn counts(document: &Manifest, name: &str, version: &str, registries: &RegistryAddresses) -> bool {
    let is_it = document.name.as_deref() == Some(name) && document.version.as_deref() == Some(version);
    let is_hashed = document.integrity.as_deref().is_some_and(|integrity| !integrity.starts_with("sha1-"));
    is_it && is_hashed && is_usual(document, name, version, registries.of_package(name))
}

/// Whether the tarball is `<registry>@scope/name/-/name-1.0.0.tgz`.
fn is_usual(document: &Manifest, name: &str, version: &str, registry: &str) -> bool {
    let base = name.split_once('/').map_or(name, |(_, base)| base);
    let parts = [registry, name, "/-/", base, "-", version, ".tgz"];
    let mut rest = document.resolved.as_deref();
    for part in parts {
        rest = rest.and_then(|rest| rest.strip_prefix(part));
    }
    rest == Some("")
}

/// The request for the document of a version that an exact spec names.
pub fn request(manifest: &Manifest) -> Request {
    let (name, version) = identity(manifest);
    Request::Manifest { name, version }
}

/// The request for the same document if it completes a manifest.
pub fn completion(manifest: &Manifest) -> Request {
    let (name, version) = identity(manifest);
    let integrity = manifest.integrity.as_deref().map(str::to_owned);
    Request::VersionDocument { name, version, integrity }
}

fn identity(manifest: &Manifest) -> (String, String) {
    let text = |text: &Option<Rc<str>>| text.as_deref().unwrap_or_default().to_owned();
    (text(&manifest.name), text(&manifest.version))
}
