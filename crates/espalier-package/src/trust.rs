//! The permitted sources of packages: what npm 12 refuses by default, and lockfiles that replace
//! one package by another.

use espalier_core::address::without_credentials;
use espalier_core::spec::{SpecKind, Specs};
use espalier_core::{Allow, Graph, GraphNode};
use rustc_hash::FxHashMap;

use crate::identity::package_of;
use crate::layout::{Layout, Origin, Package};

/// The permitted sources: npm's `allow-git` and similar settings.
#[derive(Clone, Copy, Debug)]
pub struct Trust {
    /// Git repositories.
    pub git: Allow,
    /// Tarballs by URL.
    pub remote: Allow,
    /// Tarballs on disk.
    pub file: Allow,
    /// Folders that are packed.
    pub directory: Allow,
}

/// What the check needs to know.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// Whether an address is at the registry of a package with this name. Only then may its tarball
    /// be fetched without permission.
    pub is_of_registry: &'a dyn Fn(&str, &str) -> bool,
    /// Whether a path relative to the project is a folder.
    pub is_folder: &'a dyn Fn(&str) -> bool,
}

/// A package that isn't permitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// npm's code, or one in its style.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// The package's location.
    pub location: String,
    /// The setting that would permit it, if there is one.
    pub setting: Option<&'static str>,
}

impl Trust {
    /// Checks these packages. An optional package that isn't permitted is returned, to be left out
    /// as in npm. Any other is an error. So is a lock that replaces one package by another, even if
    /// it is optional.
    pub fn check<'a>(
        self,
        locations: impl IntoIterator<Item = &'a str>,
        layout: &Layout,
        graph: &Graph,
        world: &World<'_>,
    ) -> Result<Vec<Refusal>, Refusal> {
        let asked = Asked::of(graph);
        let mut left_out = Vec::new();
        for location in locations {
            let Some(package) = layout.packages.get(location) else { continue };
            match self.check_one(location, package, &asked, world) {
                Err(refusal) if package.optional && refusal.setting.is_some() => left_out.push(refusal),
                judged => judged?,
            }
        }
        Ok(left_out)
    }

    fn check_one(self, location: &str, package: &Package, asked: &Asked<'_>, world: &World<'_>) -> Result<(), Refusal> {
        let Origin::Tarball { resolved, .. } = &package.origin else { return Ok(()) };
        let name = &package.package_name;
        let refusal = |code, message, setting| Refusal { code, message, location: location.to_owned(), setting };
        let of_kind = |allow: Allow, kind: &str, code, setting, whence: &str| {
            if asked.is_allowed(allow, location) {
                return Ok(());
            }
            let others = if allow == Allow::Root { "non-root " } else { "" };
            let message =
                format!("{name} comes from {whence}, and fetching {others}packages of type \"{kind}\" is disabled");
            Err(refusal(code, message, Some(setting)))
        };
        let (path, is_git) =
            (resolved.strip_prefix("file:"), matches!(Specs::default().intern(resolved).kind, SpecKind::Git(_)));
        if (path.is_some() || is_git) && asked.is_of_registry_alone(location) {
            let message = format!(
                "the lockfile takes {name} from {}, but its dependents require it from the registry",
                path.unwrap_or("git")
            );
            return Err(refusal("ELOCKNAME", message, None));
        }
        if let Some(path) = path {
            return if (world.is_folder)(path) {
                of_kind(self.directory, "directory", "EALLOWDIRECTORY", "allow-directory", path)
            } else {
                of_kind(self.file, "file", "EALLOWFILE", "allow-file", path)
            };
        }
        if is_git {
            return of_kind(self.git, "git", "EALLOWGIT", "allow-git", "git");
        }
        if asked.is_of_registry(location) && (world.is_of_registry)(resolved, name) {
            let other = package_of(resolved);
            if !other.is_empty() && other != *name {
                let message = format!("the lockfile takes {name} from the tarball of {other}");
                return Err(refusal("ELOCKNAME", message, None));
            }
            return Ok(());
        }
        of_kind(self.remote, "remote", "EALLOWREMOTE", "allow-remote", &without_credentials(resolved))
    }
}

/// The dependents of each location, and their specs.
struct Asked<'a>(FxHashMap<&'a str, Vec<(&'a GraphNode, &'a str)>>);

impl<'a> Asked<'a> {
    fn of(graph: &'a Graph) -> Self {
        let node = |number: u32| graph.nodes.get(usize::try_from(number).ok()?);
        let mut asked: FxHashMap<&str, Vec<(&GraphNode, &str)>> = FxHashMap::default();
        for edge in &graph.edges {
            if let (Some(from), Some(to)) = (node(edge.from), edge.to.and_then(node)) {
                asked.entry(&to.location).or_default().push((from, &edge.spec));
            }
        }
        Self(asked)
    }

    fn edges(&self, location: &str) -> &[(&'a GraphNode, &'a str)] {
        self.0.get(location).map(Vec::as_slice).unwrap_or_default()
    }

    fn is_allowed(&self, allow: Allow, location: &str) -> bool {
        match allow {
            Allow::All => true,
            Allow::None => false,
            Allow::Root => self.edges(location).iter().any(|(from, _)| from.location.is_empty() || from.workspace),
        }
    }

    /// Whether a package has dependents, and their specs are all for its registry.
    fn is_of_registry_alone(&self, location: &str) -> bool {
        let specs = Specs::default();
        let edges = self.edges(location);
        !edges.is_empty() && edges.iter().all(|(_, spec)| specs.intern(spec).is_registry())
    }

    /// Whether no dependent asks for it by URL.
    fn is_of_registry(&self, location: &str) -> bool {
        self.edges(location).iter().all(|(_, spec)| !spec.contains("://") && !spec.starts_with("file:"))
    }
}
