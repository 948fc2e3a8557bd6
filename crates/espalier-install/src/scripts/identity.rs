//! The trusted identity of the package in a folder of `node_modules` (`script-allowed.js`).
//!
//! A package's own package.json comes from its tarball and can claim any name. The URL in the lock
//! can be trusted. Without a URL, so can the name that dependents ask for.

use espalier_core::graph::{Graph, GraphNode};
use espalier_core::paths;
use espalier_core::semver::Version;
use espalier_core::spec::{SpecKind, Specs};

/// A package whose scripts are in question.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// The name of its folder.
    pub name: String,
    /// The version in its own manifest.
    pub version: Option<String>,
    /// Its `resolved` in the lock.
    pub resolved: Option<String>,
    /// The `resolved` of the links to it.
    pub links: Vec<String>,
    /// Its absolute folder.
    pub path: String,
    /// Whether it came inside another package.
    pub in_bundle: bool,
    /// The names and specs of its dependents' requests.
    pub asked: Vec<(String, String)>,
}

/// A name and version that only the registry could have chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The package's name in its registry.
    pub name: String,
    /// Its version. `None` if the lock has no URL.
    pub version: Option<String>,
}

impl Subject {
    /// Describes a node of a graph. `project` is the absolute folder of the project.
    pub fn of(graph: &Graph, index: usize, project: &str) -> Self {
        let node = &graph.nodes[index];
        let edges = graph.dependents.get(index).into_iter().flatten().map(|&edge| &graph.edges[edge as usize]);
        // Links matter only if the lock doesn't say where the package came from.
        let leads_here =
            |other: &&GraphNode| node.resolved.is_none() && other.target.is_some_and(|target| target as usize == index);
        Self {
            name: node.name.clone(),
            version: node.version.clone(),
            resolved: node.resolved.clone(),
            links: graph.nodes.iter().filter(leads_here).filter_map(|link| link.resolved.clone()).collect(),
            path: paths::join(project, &node.location),
            in_bundle: node.in_bundle,
            asked: edges.map(|edge| (edge.name.clone(), edge.spec.clone())).collect(),
        }
    }

    /// Whether all dependents ask a registry for it.
    pub fn is_from_registry(&self) -> bool {
        let specs = Specs::default();
        !self.asked.is_empty() && self.asked.iter().all(|(_, spec)| specs.intern(spec).is_registry())
    }

    /// Its trusted identity.
    pub fn identity(&self) -> Option<Identity> {
        self.resolved.as_deref().and_then(of_tarball).or_else(|| {
            let name = self.asked.iter().find_map(|(name, spec)| registry_name(name, spec))?;
            Some(Identity { name, version: None })
        })
    }

    /// Its name and version for display. Decisions must not use this.
    pub fn shown(&self) -> (String, Option<String>) {
        match self.identity() {
            Some(identity) => (identity.name, identity.version.or_else(|| self.version.clone())),
            None => (self.name.clone(), self.version.clone()),
        }
    }

    /// The sources that a policy can match: its `resolved`, or those of the links to it.
    pub fn sources(&self) -> Vec<&str> {
        match self.resolved.as_deref().filter(|resolved| !resolved.is_empty()) {
            Some(resolved) => vec![resolved],
            None if self.links.is_empty() => Vec::new(),
            None => self.links.iter().map(String::as_str).chain([self.path.as_str()]).collect(),
        }
    }
}

/// The package's name in its registry, according to a dependent's request.
fn registry_name(name: &str, spec: &str) -> Option<String> {
    match &Specs::default().intern(spec).kind {
        SpecKind::Alias { name, .. } => Some(name.to_string()),
        SpecKind::Version { .. } | SpecKind::Range { .. } | SpecKind::Tag(_) => Some(name.to_owned()),
        _ => None,
    }
}

/// The name and version in the URL of a tarball, `…/@scope/name/-/name-1.2.3.tgz`
/// (`version-from-tgz.js`).
pub fn of_tarball(resolved: &str) -> Option<Identity> {
    let address = resolved.strip_prefix("http://").or_else(|| resolved.strip_prefix("https://"))?;
    let path = address.split_once('/')?.1.split(['?', '#']).next()?;
    let (package, file) = path.rsplit_once("/-/")?;
    let package = package.rsplit("/-/").next()?;
    if !resolved.ends_with(file) || file.contains('/') {
        return None;
    }
    let decoded = package.replace("%2f", "/").replace("%2F", "/");
    let mut parts = decoded.rsplit('/');
    let (name, scope) = (parts.next()?, parts.next().filter(|scope| scope.starts_with('@')));
    let version = file.strip_suffix(".tgz")?.strip_prefix(name)?.strip_prefix('-')?;
    let version = Version::parse(version)?.to_string();
    let name = scope.map_or_else(|| name.to_owned(), |scope| format!("{scope}/{name}"));
    Some(Identity { name, version: Some(version) })
}

#[cfg(test)]
mod tests {
    use super::{Identity, of_tarball};

    #[track_caller]
    fn check(url: &str, expected: Option<(&str, &str)>) {
        let expected = expected.map(|(name, version)| Identity { name: name.into(), version: Some(version.into()) });
        assert_eq!(of_tarball(url), expected, "{url}");
    }

    #[test]
    fn the_url_names_package_and_version() {
        check("http://registry.test/canvas/-/canvas-2.11.2.tgz", Some(("canvas", "2.11.2")));
        check("http://registry.test/@s/canvas/-/canvas-2.11.2.tgz", Some(("@s/canvas", "2.11.2")));
        check("http://registry.test/@s%2fcanvas/-/canvas-2.11.2.tgz", Some(("@s/canvas", "2.11.2")));
        check("http://registry.test/deep/er/canvas/-/canvas-1.0.0-rc.1.tgz", Some(("canvas", "1.0.0-rc.1")));
    }

    #[test]
    fn other_urls_name_nothing() {
        check("http://registry.test/-/trusted-1.0.0.tgz", None);
        check("http://registry.test/other/-/canvas-2.11.2.tgz", None);
        check("http://registry.test/canvas/-/canvas-2.11.2.tgz?x=1", None);
        check("http://registry.test/canvas/archive/canvas-2.11.2.tgz", None);
        check("git+ssh://git@github.com/a/b.git#c0ffee", None);
    }
}
