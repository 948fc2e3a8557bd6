//! The target of an installation: the places, links and commands of a resolved tree, which
//! JavaScript carries out.

use std::rc::Rc;

use espalier_core::Outcome;
use espalier_package::bins;
use espalier_package::layout::{Layout, LayoutError, Omit, Origin, Package, lies_in_node_modules, link_text};
use espalier_package::noted::Noted;
use espalier_package::optional::optional_set;
use espalier_package::patch::{self, PatchError};
use espalier_package::trust::{Refusal, Trust, World};
use espalier_registry::Registries;
use rustc_hash::FxHashMap;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::boundary;

/// A resolved tree and the places of its packages.
#[wasm_bindgen]
pub struct TargetTree {
    outcome: Rc<Outcome>,
    layout: Layout,
    noted: Noted,
    /// The texts of the patches to apply.
    patches: FxHashMap<String, String>,
    registries: Registries,
    /// Whether the lockfile is written, and not only read as by `npm ci`.
    is_lock_saved: bool,
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The lockfile can't be installed.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// It names a package that must not be fetched.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A package can't be patched.
    #[error("{error}")]
    Patch {
        /// The package.
        location: String,
        /// The reason.
        error: PatchError,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PlanObject<'a> {
    packages: Vec<PackageObject<'a>>,
    links: Vec<LinkObject<'a>>,
    bins: Vec<BinObject>,
}

/// A package of the target state: `PlannedPackage` in `pkg/src/glue.d.ts`, field for field.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PackageObject<'a> {
    location: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    bundled: bool,
    has_install_script: bool,
    optional: bool,
    /// The address of its tarball. `None` if it is in the tarball of another package.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// The `resolved` of the lockfile.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    integrity: Option<&'a str>,
    /// Whether its name and version have to be those of the registry.
    of_registry: bool,
    /// The text of the patch to apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<&'a str>,
    /// Whether the hidden lockfile says that it is in place.
    kept: bool,
}

#[derive(Serialize)]
struct LinkObject<'a> {
    r#type: &'static str,
    path: &'a str,
    target: String,
}

#[derive(Serialize)]
struct BinObject {
    r#type: &'static str,
    path: String,
    target: String,
    package: String,
    file: String,
}

impl TargetTree {
    /// The places of an outcome's packages. `noted` is the hidden lockfile of what is installed,
    /// and `file` reads a file of the project.
    pub fn new(
        mut outcome: Outcome,
        file: impl Fn(&str) -> Option<String>,
        omit: Omit,
        trust: Trust,
        noted: Option<&str>,
        registries: Registries,
        is_lock_saved: bool,
    ) -> Result<Self, TreeError> {
        let mut layout = Layout::new(&outcome, omit, &|_| true)?;
        if is_lock_saved {
            outcome.lockfile.remove(&layout.unlisted);
        }
        let noted = noted.and_then(Noted::read).unwrap_or_default();
        let locations = layout.packages.iter().filter(|(location, package)| !noted.has(location, package));
        let is_of_registry = |address: &str, name: &str| registries.is_of_registry(address, name);
        // Folders that need packing can't be installed here, whether they are permitted or not.
        let world = World { is_of_registry: &is_of_registry, is_folder: &|_| false };
        let locations = locations.map(|(location, _)| location.as_str());
        let refused = trust.check(locations, &layout, &outcome.graph, &world)?;
        layout.leave_out(refused.into_iter().map(|refusal| refusal.location));
        let mut patches = FxHashMap::default();
        for (location, package) in &layout.packages {
            if let Some(patch) = package.patch.as_ref().filter(|_| !noted.has_patched(location, package)) {
                let text = patch::text(patch, file(&patch.path).as_deref().map(str::as_bytes));
                let text = text.map_err(|error| TreeError::Patch { location: location.clone(), error })?;
                patches.insert(location.clone(), text);
            }
        }
        Ok(Self { outcome: Rc::new(outcome), layout, noted, patches, registries, is_lock_saved })
    }

    /// The outcome, with the lockfile as an installation writes it.
    pub fn outcome(&self) -> Rc<Outcome> {
        Rc::clone(&self.outcome)
    }

    fn package<'a>(&'a self, location: &'a str, package: &'a Package) -> PackageObject<'a> {
        let (resolved, integrity) = match &package.origin {
            Origin::Tarball { resolved, integrity } => (Some(resolved.as_str()), integrity.as_deref()),
            Origin::Bundle { resolved, integrity } => (resolved.as_deref(), integrity.as_deref()),
            Origin::Link(_) | Origin::Folder | Origin::Unknown => (None, None),
        };
        let name = package.package_name.as_str();
        PackageObject {
            location,
            name,
            version: package.version.as_deref(),
            bundled: matches!(package.origin, Origin::Bundle { .. }),
            has_install_script: package.has_install_script,
            optional: package.optional,
            url: resolved.and_then(|resolved| {
                let address = self.registries.tarball_address(resolved, name)?;
                Some(address.as_str().to_owned())
            }),
            resolved,
            integrity,
            of_registry: resolved.is_some_and(|resolved| self.registries.is_of_registry(resolved, name)),
            patch: self.patches.get(location).map(String::as_str),
            kept: self.noted.has_patched(location, package),
        }
    }
}

#[wasm_bindgen]
impl TargetTree {
    /// `Plan` in `pkg/src/glue.d.ts`.
    ///
    /// # Errors
    ///
    /// Never, in practice.
    pub fn plan(&self) -> Result<JsValue, JsValue> {
        let order = self.layout.in_building_order();
        let in_modules = order.iter().filter(|(location, _)| lies_in_node_modules(location));
        let packages = in_modules.clone().filter(|(_, package)| !package.is_link());
        let links = in_modules.filter_map(|(location, package)| match &package.origin {
            Origin::Link(target) => {
                Some(LinkObject { r#type: "link", path: location, target: link_text(location, target) })
            }
            _ => None,
        });
        let bins = bins::links(&self.layout).into_iter().map(|bin| BinObject {
            r#type: "link",
            path: bin.location,
            target: bin.target,
            package: bin.package,
            file: bin.file,
        });
        let plan = PlanObject {
            packages: packages.map(|(location, package)| self.package(location, package)).collect(),
            links: links.collect(),
            bins: bins.collect(),
        };
        boundary::to_javascript(&plan)
    }

    /// The installed locations that have to be removed or replaced.
    #[wasm_bindgen(js_name = outdated)]
    pub fn outdated(&self) -> Vec<String> {
        let is_right = |location: &&str| {
            self.layout.packages.get(*location).is_some_and(|package| self.noted.has_patched(location, package))
        };
        self.noted
            .locations()
            .filter(|location| lies_in_node_modules(location) && !is_right(location))
            .map(str::to_owned)
            .collect()
    }

    /// Removes an optional package that can't be fetched. Returns the locations that go with it.
    #[wasm_bindgen(js_name = leaveOut)]
    pub fn leave_out(&mut self, location: &str) -> Vec<String> {
        let set: Vec<String> = optional_set(&self.outcome.graph, location)
            .into_iter()
            .filter(|location| lies_in_node_modules(location))
            .collect();
        self.layout.leave_out(set.iter().cloned());
        set
    }

    /// The text of `node_modules/.package-lock.json`.
    #[wasm_bindgen(js_name = hiddenLockfile)]
    pub fn hidden_lockfile(&self) -> String {
        self.outcome.lockfile.hidden(self.is_lock_saved, &|location| self.layout.packages.contains_key(location))
    }
}
