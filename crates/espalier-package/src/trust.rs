//! Where packages may come from: what npm 12 refuses by default, and lockfiles that send a name elsewhere.

use espalier_core::{Allow, Graph};
use rustc_hash::FxHashMap;

use crate::identity::package_of;
use crate::layout::{Layout, Origin, Package};

/// Which origins are allowed: npm's `allow-git` and `allow-remote`.
#[derive(Clone, Copy, Debug)]
pub struct Trust {
    /// Git repositories.
    pub git: Allow,
    /// Tarballs by URL.
    pub remote: Allow,
}

/// A package that isn't allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// npm's code, or one in its manner.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// The package's location.
    pub location: String,
    /// The setting that would allow it, if one does.
    pub setting: Option<&'static str>,
}

impl Trust {
    /// The first of these packages that isn't allowed. `is_of_registry` says whether an address is one of the registry that a
    /// package of this name comes from: there, and nowhere else, its tarball may be fetched without asking.
    pub fn check<'a>(
        self,
        locations: impl IntoIterator<Item = &'a str>,
        layout: &Layout,
        graph: &Graph,
        is_of_registry: impl Fn(&str, &str) -> bool,
    ) -> Result<(), Refusal> {
        let asked = Asked::of(graph);
        let mut packages =
            locations.into_iter().filter_map(|location| Some((location, layout.packages.get(location)?)));
        packages.try_for_each(|(location, package)| self.check_one(location, package, &asked, &is_of_registry))
    }

    fn check_one(
        self,
        location: &str,
        package: &Package,
        asked: &Asked<'_>,
        is_of_registry: impl Fn(&str, &str) -> bool,
    ) -> Result<(), Refusal> {
        let Origin::Tarball { resolved, .. } = &package.origin else { return Ok(()) };
        let name = &package.package_name;
        let refusal = |code, message, setting| Refusal { code, message, location: location.to_owned(), setting };
        if resolved.starts_with("git") {
            if asked.is_allowed(self.git, location) {
                return Ok(());
            }
            let message = format!("{name} comes from git, and fetching packages of type \"git\" is disabled");
            return Err(refusal("EALLOWGIT", message, Some("allow-git")));
        }
        if resolved.starts_with("file:") {
            return Ok(());
        }
        if asked.is_of_registry(location) && is_of_registry(resolved, name) {
            let other = package_of(resolved);
            if !other.is_empty() && other != *name {
                let message = format!("the lockfile takes {name} from the tarball of {other}");
                return Err(refusal("ELOCKNAME", message, None));
            }
            return Ok(());
        }
        if asked.is_allowed(self.remote, location) {
            return Ok(());
        }
        let from = without_secrets(resolved);
        let message = format!("{name} comes from {from}, and fetching packages of type \"remote\" is disabled");
        Err(refusal("EALLOWREMOTE", message, Some("allow-remote")))
    }
}

/// Who asks for each location, and by which spec.
struct Asked<'a>(FxHashMap<&'a str, Vec<(&'a str, &'a str)>>);

impl<'a> Asked<'a> {
    fn of(graph: &'a Graph) -> Self {
        let location = |number: u32| graph.nodes.get(usize::try_from(number).ok()?).map(|node| node.location.as_str());
        let mut asked: FxHashMap<&str, Vec<(&str, &str)>> = FxHashMap::default();
        for edge in &graph.edges {
            if let (Some(from), Some(to)) = (location(edge.from), edge.to.and_then(location)) {
                asked.entry(to).or_default().push((from, &edge.spec));
            }
        }
        Self(asked)
    }

    fn edges(&self, location: &str) -> &[(&'a str, &'a str)] {
        self.0.get(location).map(Vec::as_slice).unwrap_or_default()
    }

    fn is_allowed(&self, allow: Allow, location: &str) -> bool {
        match allow {
            Allow::All => true,
            Allow::None => false,
            Allow::Root => self.edges(location).iter().any(|(from, _)| !from.contains("node_modules/")),
        }
    }

    /// Whether nobody asks for a package by a URL.
    fn is_of_registry(&self, location: &str) -> bool {
        self.edges(location).iter().all(|(_, spec)| !spec.contains("://") && !spec.starts_with("file:"))
    }
}

/// An address without what may be secret in it: a name and password, and what follows the path.
fn without_secrets(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return "somewhere else".to_owned() };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let host_ends = rest.find('/').unwrap_or(rest.len());
    let host_begins = rest[..host_ends].rfind('@').map_or(0, |at| at + 1);
    format!("{scheme}://{}", &rest[host_begins..])
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn secrets_are_not_shown() {
        assert_eq!(without_secrets("http://me:secret@files.test/a.tgz?key=1"), "http://files.test/a.tgz");
        assert_eq!(without_secrets("http://files.test"), "http://files.test");
    }
}
