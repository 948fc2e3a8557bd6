//! Dependencies that could be newer: for each, the present version, the version that its spec would
//! get today, and the version that the package's name alone would get (`outdated.js`).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use espalier_core::graph::GraphEdge;
use espalier_core::pick::Picker;
use espalier_core::spec::{Spec, SpecKind, Specs};
use espalier_core::{EdgeKind, FetchFailure, FetchFailureKind, Options, Packument, collation, options};
use serde_json::Value;
use tokio::task::JoinSet;

use crate::installed::Installed;
use crate::registry::Registry;

/// Which dependencies to look at.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// `all`: every dependency in the tree, not only the project's own.
    pub all: bool,
    /// Only dependencies with these names.
    pub names: Vec<String>,
    /// Kinds of packages that are left out: `dev`, `optional`, `peer`.
    pub omit: Vec<String>,
    /// Locations of the selected workspaces; empty for all.
    pub workspaces: Vec<String>,
    /// `--workspaces=false`: leaves out the dependencies of workspaces.
    pub without_workspaces: bool,
    /// Whether homepages are wanted.
    pub homepages: bool,
}

/// A dependency that isn't as new as it could be. It has a field for each fact that npm prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outdated {
    /// The requested name. An alias is followed by the package that it stands for.
    pub name: String,
    /// Its absolute path; absent if the package is missing.
    pub path: Option<String>,
    /// npm's location of it.
    pub location: Option<String>,
    /// The block of package.json that has the dependency.
    pub block: &'static str,
    /// The present version.
    pub current: Option<String>,
    /// The version that the spec would get.
    pub wanted: String,
    /// The version that a package without a spec would get.
    pub latest: String,
    /// The package's homepage, where it is known.
    pub homepage: Option<String>,
    /// The folder's name of the dependent.
    pub dependent: String,
    /// The dependent as `name@version`, if it is a workspace.
    pub workspace: Option<String>,
    /// npm's location of the dependent.
    pub dependent_location: String,
}

/// Asks the registry. Packages that it doesn't have are skipped, and so are specs of other kinds.
pub async fn outdated(
    installed: &Installed,
    question: &Question,
    registry: &Registry,
    options: &Options,
) -> Result<Vec<Outdated>, FetchFailure> {
    let specs = Specs::default();
    let edges: Vec<(&GraphEdge, std::rc::Rc<Spec>)> = edges(installed, question)
        .into_iter()
        .map(|edge| &installed.graph.edges[edge as usize])
        .map(|edge| (edge, specs.intern(&edge.spec)))
        .filter(|(edge, spec)| spec.is_registry() && is_looked_at(installed, question, edge))
        .collect();
    let names: BTreeSet<String> = edges.iter().map(|(edge, spec)| package_of(edge, spec).to_owned()).collect();
    // Abbreviated documents know neither times nor homepages.
    let packuments = packuments(names, registry, options.before.is_some() || question.homepages).await?;

    let picker = |before| Picker::new(&options.node_version, &options.npm_version, before, &options.default_tag);
    let (mut picker, mut timeless) = (picker(options.before), picker(None));
    let any = specs.intern("*");
    let mut found = Vec::new();
    for (edge, spec) in edges {
        let Some(packument) = packuments.get(package_of(edge, &spec)) else { continue };
        let picker = if options::is_excepted(&options.before_exclude, package_of(edge, &spec)) {
            &mut timeless
        } else {
            &mut picker
        };
        let mut pick = |spec: &Spec| picker.pick(packument, spec).ok().map(|index| packument.version(index).to_owned());
        let (Some(wanted), Some(latest)) = (pick(&spec), pick(&any)) else { continue };
        let to = edge.to.map(|to| &installed.graph.nodes[to as usize]);
        let current = to.and_then(|to| to.version.clone());
        if current.as_deref() == Some(&wanted) && wanted == latest {
            continue;
        }
        let from = &installed.graph.nodes[edge.from as usize];
        let alias = matches!(spec.kind, SpecKind::Alias { .. });
        found.push(Outdated {
            name: if alias { edge.spec.replacen("npm", &edge.name, 1) } else { edge.name.clone() },
            path: edge.to.map(|to| installed.path_of(to)),
            location: to.map(|to| to.location.clone()),
            block: block(edge),
            current,
            wanted,
            latest,
            homepage: packument.tagged("latest").and_then(|latest| homepage(packument, latest)),
            dependent: from.name.clone(),
            workspace: from.workspace.then(|| installed.id(edge.from)),
            dependent_location: from.location.clone(),
        });
    }
    found.sort_by(|a, b| {
        collation::compare(&a.name, &b.name).then_with(|| collation::compare(&a.dependent, &b.dependent))
    });
    Ok(found)
}

/// The dependencies in question, each once, in npm's order.
fn edges(installed: &Installed, question: &Question) -> Vec<u32> {
    let graph = &installed.graph;
    let is_selected = |from: u32| {
        let location = &graph.nodes[from as usize].location;
        question.workspaces.is_empty() || question.workspaces.contains(location)
    };
    // npm considers the dependencies of the project's dependencies, but not the project's own.
    let needed = question.without_workspaces.then(|| installed.needed_by_the_project());
    let is_selected = |from: u32| is_selected(from) && needed.as_ref().is_none_or(|needed| needed.contains(&from));
    let numbered = || graph.edges.iter().zip(0u32..).filter(|(edge, _)| is_selected(edge.from));
    let of_workspace = |edge: &GraphEdge| {
        let from = &graph.nodes[edge.from as usize];
        from.workspace && from.target.is_none()
    };
    if question.names.is_empty() {
        let counts = |edge: &GraphEdge| question.all || edge.from == 0 || of_workspace(edge);
        return numbered().filter(|(edge, _)| counts(edge)).map(|(_, index)| index).collect();
    }
    let named = |edge: &GraphEdge| {
        edge.to.is_some_and(|to| question.names.iter().any(|name| *name == graph.nodes[to as usize].name))
    };
    numbered().filter(|(edge, _)| named(edge)).map(|(_, index)| index).collect()
}

fn is_looked_at(installed: &Installed, question: &Question, edge: &GraphEdge) -> bool {
    // npm reads the kind from the installed package. Of a missing one, it omits dev and peer
    // dependencies and reads the edge.
    let (dev, optional, peer) = match edge.to.map(|to| &installed.graph.nodes[to as usize]) {
        Some(to) => (to.dev, to.optional, to.peer),
        None if matches!(edge.kind, EdgeKind::Dev | EdgeKind::Peer) => return false,
        None => (false, edge.kind.is_optional(), edge.kind == EdgeKind::PeerOptional),
    };
    !question.omit.iter().any(|kind| match kind.as_str() {
        "dev" => dev,
        "optional" => optional,
        "peer" => peer,
        _ => false,
    })
}

fn block(edge: &GraphEdge) -> &'static str {
    match edge.kind {
        EdgeKind::Optional | EdgeKind::PeerOptional => "optionalDependencies",
        EdgeKind::Peer => "peerDependencies",
        EdgeKind::Dev => "devDependencies",
        EdgeKind::Prod | EdgeKind::Workspace => "dependencies",
    }
}

fn package_of<'a>(edge: &'a GraphEdge, spec: &'a Spec) -> &'a str {
    match &spec.kind {
        SpecKind::Alias { name, .. } => name,
        _ => &edge.name,
    }
}

fn homepage(packument: &Packument, version: &str) -> Option<String> {
    let manifest: Value = serde_json::from_str(packument.manifest(packument.find(version)?)).ok()?;
    manifest.get("homepage")?.as_str().map(str::to_owned)
}

async fn packuments(
    names: BTreeSet<String>,
    registry: &Registry,
    full: bool,
) -> Result<HashMap<String, Arc<Packument>>, FetchFailure> {
    let mut names = names.into_iter();
    let mut requests = JoinSet::new();
    let mut packuments = HashMap::new();
    loop {
        for name in names.by_ref().take(registry.concurrency() - requests.len()) {
            let registry = registry.clone();
            requests.spawn(async move {
                let packument = registry.packument(&name, full).await;
                (name, packument)
            });
        }
        let Some(answer) = requests.join_next().await else { return Ok(packuments) };
        let (name, packument) = answer.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        match packument {
            Ok(packument) => {
                packuments.insert(name, packument);
            }
            // npm passes over these two, and over no others (`lib/commands/outdated.js`).
            Err(failure) if matches!(failure.kind, FetchFailureKind::NotFound | FetchFailureKind::Forbidden) => {}
            Err(failure) => return Err(failure),
        }
    }
}
