//! Commands: which package owns a name in `.bin` (`bin-links`, `rebuild.js`).
//!
//! If several packages want a name in the same folder, the first in npm's order of building gets
//! it, with packages before links. A link in the project's own `node_modules` gets the commands of
//! the package that it leads to. Other links to packages leave them to the packages: npm does the
//! opposite, and the next installation finds the commands missing. When npm adds to a tree, the added
//! package gets a name; here, the result is always that of a fresh installation.

use rustc_hash::FxHashSet;

use crate::layout::{Layout, Origin, Package, lies_in_node_modules, split};

/// A command in a `.bin` folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinLink {
    /// The link, relative to the project: `node_modules/.bin/tsc`.
    pub location: String,
    /// Its text: `../typescript/bin/tsc`.
    pub target: String,
    /// The location of the package with the file. For a bundled package, that of the package above.
    pub package: String,
    /// The file in that package.
    pub file: String,
}

/// All commands of a layout.
pub fn links(layout: &Layout) -> Vec<BinLink> {
    let order = layout.some_in_building_order(|_, package| !package.bins.is_empty());
    let (links, packages): (Vec<_>, Vec<_>) = order.into_iter().partition(|(_, package)| package.is_link());
    let is_of_project = |(location, _): &&(&str, &Package)| split(location).0 == "node_modules";
    let targets = links.iter().filter(is_of_project).filter_map(|(_, package)| package.link());
    let linked: FxHashSet<&str> = targets.collect();
    let mut taken = FxHashSet::default();
    let mut bins = Vec::new();
    for (location, package) in packages.into_iter().chain(links) {
        if !lies_in_node_modules(location) || linked.contains(location) {
            continue;
        }
        let (folder, name) = split(location);
        for (command, file) in &package.bins {
            let link = format!("{folder}/.bin/{command}");
            if taken.insert(link.clone()) {
                let target = format!("../{name}/{file}");
                let real = package.link().filter(|target| layout.packages.contains_key(*target));
                let (package, file) = owner(layout, real.unwrap_or(location), file);
                bins.push(BinLink { location: link, target, package, file });
            }
        }
    }
    bins
}

/// The package whose tarball has the file, and the file's path in it.
fn owner(layout: &Layout, location: &str, file: &str) -> (String, String) {
    let mut package = location;
    while layout.packages.get(package).is_some_and(|package| matches!(package.origin, Origin::Bundle { .. }))
        && let Some(above) = package.rfind("/node_modules/")
    {
        package = &package[..above];
    }
    let inside = location[package.len()..].trim_start_matches('/');
    let file = if inside.is_empty() { file.to_owned() } else { format!("{inside}/{file}") };
    (package.to_owned(), file)
}

/// The content with the carriage return removed from its first line, if it has one.
pub fn without_carriage_return(content: &[u8]) -> Option<Vec<u8>> {
    let end = content.iter().position(|byte| *byte == b'\n')?;
    let line = content[..end].strip_suffix(b"\r").filter(|line| line.starts_with(b"#!") && line.len() > 2)?;
    Some([line, &content[end..]].concat())
}
