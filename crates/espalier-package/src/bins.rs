//! Commands: which package's a name in `.bin` is (`bin-links`, `rebuild.js`).
//!
//! Of several packages that want a name in the same folder, the first in npm's order of building has it, packages before
//! links. npm, when it adds to a tree, gives the name to what it added; here it is always what a fresh installation gives.

use rustc_hash::FxHashSet;
use serde_json::Value;

use crate::layout::{Layout, Origin, lies_in_node_modules, split};

/// A command in a `.bin` folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinLink {
    /// The link, relative to the project: `node_modules/.bin/tsc`.
    pub location: String,
    /// What it says: `../typescript/bin/tsc`.
    pub target: String,
    /// The location of the package that the file came with: for what is bundled, that of the package above.
    pub package: String,
    /// The file in that package.
    pub file: String,
}

/// All commands of a layout.
pub fn links(layout: &Layout) -> Vec<BinLink> {
    let order = layout.in_building_order();
    let (links, packages): (Vec<_>, Vec<_>) = order.into_iter().partition(|(_, package)| package.is_link());
    let mut taken = FxHashSet::default();
    let mut bins = Vec::new();
    for (location, package) in packages.into_iter().chain(links) {
        if !lies_in_node_modules(location) {
            continue;
        }
        let (folder, name) = split(location);
        for (command, file) in &package.bins {
            let link = format!("{folder}/.bin/{command}");
            if taken.insert(link.clone()) {
                let target = format!("../{name}/{file}");
                let (package, file) = owner(layout, location, file);
                bins.push(BinLink { location: link, target, package, file });
            }
        }
    }
    bins
}

/// The package whose tarball holds a file, and the file's path in it.
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

/// `bin` of a manifest as npm reads it: names are base names, and paths stay in the package.
pub fn normalize(bin: &Value, package_name: &str) -> Vec<(String, String)> {
    let entries: Vec<(&str, &Value)> = match bin {
        Value::String(_) => vec![(package_name, bin)],
        Value::Array(files) => files.iter().filter_map(|file| Some((file.as_str()?, file))).collect(),
        Value::Object(bins) => bins.iter().map(|(name, file)| (name.as_str(), file)).collect(),
        _ => Vec::new(),
    };
    let mut bins: Vec<(String, String)> = Vec::new();
    for (name, file) in entries {
        let name = name.replace(['\\', ':'], "/");
        let name = name.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        let file = inside(&file.as_str().unwrap_or_default().replace('\\', "/"));
        if matches!(name.as_str(), "" | "." | "..") || file.is_empty() || name.contains('\0') || file.contains('\0') {
            continue;
        }
        match bins.iter_mut().find(|(other, _)| *other == name) {
            Some(bin) => bin.1 = file,
            None => bins.push((name, file)),
        }
    }
    bins
}

/// A path as `path.join('/', path)` makes it, without the slash.
fn inside(path: &str) -> String {
    let mut steps = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    steps.join("/")
}

/// The content with its first line as Unix wants it, if it needs that.
pub fn without_carriage_return(content: &[u8]) -> Option<Vec<u8>> {
    let end = content.iter().position(|byte| *byte == b'\n')?;
    let line = content[..end].strip_suffix(b"\r").filter(|line| line.starts_with(b"#!") && line.len() > 2)?;
    Some([line, &content[end..]].concat())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::normalize;

    fn pairs(bins: &[(&str, &str)]) -> Vec<(String, String)> {
        bins.iter().map(|(name, file)| ((*name).to_owned(), (*file).to_owned())).collect()
    }

    #[test]
    fn a_command_alone_has_the_packages_base_name() {
        assert_eq!(normalize(&json!("./cli.js"), "@scope/tool"), pairs(&[("tool", "cli.js")]));
    }

    #[test]
    fn names_and_paths_stay_where_they_belong() {
        let bin =
            json!({ "../../../usr/bin/ls": "../../../etc/passwd", "C:\\x\\y": "a\\..\\b.js", "..": "x", ".": "y" });
        assert_eq!(normalize(&bin, "a"), pairs(&[("ls", "etc/passwd"), ("y", "b.js")]));
    }

    #[test]
    fn what_is_no_command_is_none() {
        assert_eq!(normalize(&json!({ "a": 1, "b": "", "": "x" }), "a"), pairs(&[]));
        assert_eq!(normalize(&json!(false), "a"), pairs(&[]));
        assert_eq!(normalize(&json!(["./bin/a.js"]), "x"), pairs(&[("a.js", "bin/a.js")]));
    }
}
