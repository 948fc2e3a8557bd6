//! Compares a lockfile with package.json. `ci` requires that they agree (`validate-lockfile.js`).

use espalier_core::order::sort_by_key;
use espalier_core::paths::name_from_folder;
use espalier_core::{
    EdgeKind, Graph, GraphEdge, GraphNode, LockEntry, PackageExtensions, ParsedLock, PatchFile, integrity_of,
};
use rustc_hash::FxHashSet;
use serde_json::Value;
use std::borrow::Cow;

use crate::entry::text;
use crate::layout::{lies_in_node_modules, split};

/// The version of an entry. That of a link is its target's. npm prints `undefined` if there is none.
fn version<'a>(lock: &'a ParsedLock<'_>, entry: &LockEntry<'a>) -> Cow<'a, str> {
    let version = match target(lock, entry) {
        Some((_, package)) => package.text("version"),
        None => entry.text("version"),
    };
    version.unwrap_or(Cow::Borrowed("undefined"))
}

/// The location and entry of a link's target.
fn target<'a>(lock: &'a ParsedLock<'_>, entry: &LockEntry<'a>) -> Option<(Cow<'a, str>, LockEntry<'a>)> {
    let target = entry.text("resolved").filter(|_| entry.flag("link"))?;
    let package = lock.packages.get(&target)?;
    Some((target, package))
}

/// The parts of a project that its lockfile has to agree with.
#[derive(Default)]
pub struct Declared {
    /// The text of package.json.
    pub manifest: String,
    /// The name and content of each `.npm-extension` file, even if it is ignored.
    pub extension_files: Vec<(String, Vec<u8>)>,
}

/// The disagreements, in npm's words. `lockfile` is the one on disk, and `placed` lists the
/// locations that the resolution placed, in its order.
pub fn disagreements(lockfile: &ParsedLock<'_>, resolved: &Graph, placed: &[String]) -> Vec<String> {
    // Newly placed packages follow the existing ones.
    let order = |node: &GraphNode| placed.iter().rposition(|other| *other == node.location).map_or(0, |at| at + 1);
    let mut nodes: Vec<&GraphNode> = resolved.nodes.iter().filter(|node| !node.location.is_empty()).collect();
    sort_by_key(&mut nodes, |node| order(node));
    let folders = resolved.nodes.iter().filter_map(|node| node.link.as_deref());
    let folders: FxHashSet<&str> = folders.filter(|folder| !lies_in_node_modules(folder)).collect();
    let mut wrong = Vec::new();
    for node in nodes {
        let name = split(&node.location).1;
        let wanted = node.version.as_deref().unwrap_or("undefined");
        let Some(entry) = lockfile.packages.get(&node.location) else {
            // npm compares before it looks into bundles that the lock doesn't list.
            if !node.in_bundle {
                wrong.push(format!("Missing: {name}@{wanted} from lock file"));
            }
            continue;
        };
        let locked = version(lockfile, &entry);
        // For both sides, npm reads the version from the folder that is linked to
        // (`load-virtual.js`, `#resolveLinks`).
        let is_of_folder = match &node.link {
            Some(folder) => entry.flag("link") && folders.contains(folder.as_str()),
            None => folders.contains(node.location.as_str()),
        };
        if locked != wanted && !is_of_folder {
            wrong.push(format!("Invalid: lock file's {name}@{locked} does not satisfy {name}@{wanted}"));
        }
        wrong.extend(patch_disagreement(name, wanted, node.contents.patch.as_ref(), &entry));
    }
    let recorded = of_root(lockfile, "packageExtensionsHash");
    wrong.extend(extensions_disagreement(recorded.as_deref(), resolved.extensions_hash.as_deref()).map(str::to_owned));
    wrong
}

/// The dependencies that could not be loaded, in npm's words. For npm they are packages without a
/// version, so no lockfile has them, not even one that npm has just written. A tab omits this check.
pub fn unloaded(resolved: &Graph) -> Vec<String> {
    // What a folder outside of the project needs isn't loaded.
    let is_outside = |node: u32| resolved.nodes[node as usize].location.starts_with("../");
    let is_unloaded = |edge: &&GraphEdge| {
        let is_wanted = matches!(edge.kind, EdgeKind::Prod | EdgeKind::Optional) && !edge.bundled;
        is_wanted && edge.to.is_none() && !is_outside(edge.from)
    };
    let edges = resolved.edges.iter().filter(is_unloaded);
    edges.map(|edge| format!("Missing: {}@ from lock file", edge.name)).collect()
}

/// A text in the root's entry.
fn of_root<'a>(lockfile: &'a ParsedLock<'_>, key: &str) -> Option<Cow<'a, str>> {
    lockfile.packages.get("")?.text(key)
}

/// The disagreements about extensions, in npm's words. npm prints them last. A tab omits this
/// check, because it can't run extensions and the check weighs 1 KB.
pub fn stale(lockfile: &ParsedLock<'_>, declared: &Declared, resolved: &Graph) -> Vec<String> {
    let mut wrong = Vec::new();
    // If the rules differ, npm compares nothing else.
    if of_root(lockfile, "packageExtensionsHash").as_deref() == resolved.extensions_hash.as_deref() {
        wrong.extend(stale_extensions(lockfile, &declared.manifest, resolved));
    }
    wrong.extend(extension_file_disagreements(lockfile, &declared.extension_files).into_iter().map(str::to_owned));
    wrong
}

/// Compares the patch in package.json with the one in the lock.
fn patch_disagreement(name: &str, wanted: &str, declared: Option<&PatchFile>, entry: &LockEntry<'_>) -> Option<String> {
    let recorded = Some(entry.value("patched")).filter(Value::is_object);
    match (declared, &recorded) {
        (None, None) => None,
        (Some(_), None) => Some(format!(
            "Invalid: package.json declares a patch for {name}@{wanted} that the lock file does not record (it may have been \
             skipped with --ignore-patch-failures). Fix the patch and reinstall, or remove its patchedDependencies entry"
        )),
        (None, Some(_)) => {
            let locked = entry.text("version").unwrap_or(Cow::Borrowed("undefined"));
            Some(format!("Invalid: lock file records a patch for {name}@{locked} that package.json no longer declares"))
        }
        (Some(declared), Some(recorded)) => {
            let same = text(recorded, "integrity") == Some(&declared.integrity)
                && text(recorded, "path") == Some(&declared.path);
            let message = "does not match the patch recorded in the lock file";
            (!same).then(|| format!("Invalid: patch for {name}@{wanted} {message}"))
        }
    }
}

/// Compares the rules in package.json with those that the lock was made under
/// (`validatePackageExtensions`).
fn extensions_disagreement(recorded: Option<&str>, current: Option<&str>) -> Option<&'static str> {
    match (recorded, current) {
        (None, Some(_)) => Some("Missing: packageExtensions state from lock file"),
        (Some(_), None) => Some("Invalid: lock file records packageExtensions state but package.json has none"),
        (recorded, current) => {
            (recorded != current).then_some("Invalid: packageExtensions in package.json do not match the lock file")
        }
    }
}

/// If the rules agree: the packages that several rules match, and those that a rule changed without
/// matching.
fn stale_extensions(lockfile: &ParsedLock<'_>, manifest: &str, resolved: &Graph) -> Vec<String> {
    let Ok(extensions) = PackageExtensions::of_manifest(manifest) else { return Vec::new() };
    if extensions.is_empty() && !lockfile.packages.may_have("packageExtensionsApplied") {
        return Vec::new();
    }
    let workspaces = resolved.nodes.iter().filter(|node| node.workspace).map(|node| node.location.as_str());
    let workspaces: Vec<&str> = workspaces.collect();
    let mut wrong = Vec::new();
    for (location, entry) in lockfile.packages.iter() {
        if location.is_empty() || workspaces.contains(&location) {
            continue;
        }
        let folder = name_from_folder(location);
        // A link has the name and version of its target. npm prints no version if there is none.
        let target = target(lockfile, &entry);
        let (place, package) = target.as_ref().map_or((location, &entry), |(place, package)| (place, package));
        let name = package.text("name").unwrap_or(Cow::Borrowed(name_from_folder(place)));
        let version = package.text("version").unwrap_or_default();
        let selectors: Vec<String> = extensions.selectors(&name, &version).map(|key| format!("\"{key}\"")).collect();
        if selectors.len() > 1 {
            let selectors = selectors.join(", ");
            wrong.push(format!(
                "Invalid: Multiple packageExtensions selectors match {name}@{version}: {selectors}. Narrow or remove one of the \
                 overlapping rules."
            ));
        }
        let applied = entry.value("packageExtensionsApplied");
        let selector = entry.has("packageExtensionsApplied").then(|| text(&applied, "selector").unwrap_or("undefined"));
        if let Some(selector) = selector.filter(|selector| selectors.is_empty() || !extensions.has(selector)) {
            wrong.push(format!(
                "Invalid: stale packageExtensions provenance for {folder}@{version} (selector \"{selector}\")"
            ));
        }
    }
    wrong
}

/// Compares the `.npm-extension` file with the one that the lock was made with
/// (`validateNpmExtension`).
fn extension_file_disagreements(lockfile: &ParsedLock<'_>, files: &[(String, Vec<u8>)]) -> Vec<&'static str> {
    let recorded = of_root(lockfile, "npmExtensionHash");
    let mut wrong = Vec::new();
    let current = match files {
        [(name, bytes)] => Some(extension_hash(name, bytes)),
        [] => None,
        _ => {
            wrong.push("Invalid: found both .npm-extension.mjs and .npm-extension.cjs; keep only one");
            None
        }
    };
    match (recorded, current) {
        (None, Some(_)) => wrong.push("Missing: .npm-extension state from lock file"),
        (Some(recorded), Some(current)) if recorded != current => {
            wrong.push("Invalid: .npm-extension file does not match the lock file");
        }
        (Some(_), Some(_)) => {}
        (recorded, None) => {
            const APPLIED: &str = "npmExtensionApplied";
            let packages = &lockfile.packages;
            let is_applied = || packages.may_have(APPLIED) && packages.iter().any(|(_, entry)| entry.has(APPLIED));
            if recorded.is_some() || is_applied() {
                wrong.push("Invalid: lock file records .npm-extension state but no .npm-extension file is present");
            }
        }
    }
    wrong
}

/// The hash of an `.npm-extension` file in the lock.
fn extension_hash(name: &str, bytes: &[u8]) -> String {
    let format = name.rsplit('.').next().unwrap_or_default();
    let mut text = format!("npm-extension:v1:{format}\n").into_bytes();
    text.extend_from_slice(bytes);
    integrity_of(&text)
}

#[cfg(test)]
mod tests {
    use espalier_core::{Graph, GraphNode, ParsedLock, PatchFile};

    use super::Declared;

    fn disagreements(lockfile: &str, tree: &Graph, placed: &[String]) -> Vec<String> {
        super::disagreements(&ParsedLock::parse(lockfile, &tree.project).expect("JSON"), tree, placed)
    }

    fn stale(lockfile: &str, declared: &Declared, tree: &Graph) -> Vec<String> {
        super::stale(&ParsedLock::parse(lockfile, &tree.project).expect("JSON"), declared, tree)
    }

    fn lock(packages: &str) -> String {
        format!("{{ \"lockfileVersion\": 3, \"packages\": {{ \"\": {{}}, {packages} }} }}")
    }

    fn tree(packages: &[(&str, &str)]) -> Graph {
        let node = |&(location, version): &(&str, &str)| GraphNode {
            location: location.to_owned(),
            version: Some(version.to_owned()),
            ..GraphNode::default()
        };
        let nodes = [("", "1.0.0")].iter().chain(packages).map(node).collect();
        Graph { project: "/project".to_owned(), nodes, ..Graph::default() }
    }

    #[test]
    fn what_is_missing_or_another_version_is_said() {
        let locked =
            lock("\"node_modules/a\": { \"version\": \"1.0.0\" }, \"node_modules/x\": { \"version\": \"1.0.0\" }");
        let ideal = tree(&[("node_modules/@s/b", "3.0.0"), ("node_modules/a", "2.0.0")]);
        let placed = ["node_modules/a".to_owned(), "node_modules/@s/b".to_owned()];
        assert_eq!(
            disagreements(&locked, &ideal, &placed),
            ["Invalid: lock file's a@1.0.0 does not satisfy a@2.0.0", "Missing: @s/b@3.0.0 from lock file"]
        );
    }

    #[test]
    fn what_an_old_lock_says_is_read_as_npm_reads_it() {
        let old = |requires: &str| {
            format!(r#"{{ "lockfileVersion": 1, {requires} "dependencies": {{ "a": {{ "version": "1.0.0" }} }} }}"#)
        };
        let same = tree(&[("node_modules/a", "1.0.0")]);
        let more = tree(&[("node_modules/a", "1.0.0"), ("node_modules/b", "1.0.0")]);
        // Before npm 5, a lockfile had no `requires`.
        for lock in [old("\"requires\": true,"), old("")] {
            assert_eq!(disagreements(&lock, &same, &[]), [""; 0]);
            assert_eq!(disagreements(&lock, &more, &[]), ["Missing: b@1.0.0 from lock file"]);
        }
    }

    #[test]
    fn a_folder_has_its_own_version_and_a_link_has_that_of_its_target() {
        let check = |target: &str| {
            let locked = lock(&format!(
                r#""node_modules/ui": {{ "resolved": "{target}", "link": true }}, "{target}": {{ "version": "1.0.0" }}"#
            ));
            let mut tree = tree(&[("node_modules/ui", "2.0.0"), (target, "2.0.0")]);
            tree.nodes[1].link = Some(target.to_owned());
            disagreements(&locked, &tree, &[])
        };
        assert_eq!(check("packages/ui"), [""; 0]);
        let wrong = |name| format!("Invalid: lock file's {name}@1.0.0 does not satisfy {name}@2.0.0");
        assert_eq!(check("node_modules/other"), [wrong("ui"), wrong("other")]);
    }

    #[test]
    fn a_link_in_place_of_a_package_is_compared() {
        let locked = lock(r#""node_modules/ui": { "version": "1.0.0" }"#);
        let mut tree = tree(&[("node_modules/ui", "2.0.0")]);
        tree.nodes[1].link = Some("packages/ui".to_owned());
        assert_eq!(disagreements(&locked, &tree, &[]), ["Invalid: lock file's ui@1.0.0 does not satisfy ui@2.0.0"]);
    }

    #[test]
    fn a_patch_has_to_be_the_one_that_the_lock_records() {
        let recorded = |patch: &str| lock(&format!("\"node_modules/a\": {{ \"version\": \"1.0.0\"{patch} }}"));
        let with = recorded(r#", "patched": { "integrity": "sha512-x", "path": "patches/a.patch" }"#);
        let mut tree = tree(&[("node_modules/a", "1.0.0")]);
        let said = |locked: &str, tree: &Graph| disagreements(locked, tree, &[]).join("; ");
        assert_eq!(
            said(&with, &tree),
            "Invalid: lock file records a patch for a@1.0.0 that package.json no longer declares"
        );
        let patch = |integrity: &str| PatchFile { path: "patches/a.patch".to_owned(), integrity: integrity.to_owned() };
        tree.nodes[1].contents.patch = Some(patch("sha512-x"));
        assert_eq!(said(&with, &tree), "");
        assert!(said(&recorded(""), &tree).starts_with("Invalid: package.json declares a patch for a@1.0.0 that"));
        tree.nodes[1].contents.patch = Some(patch("sha512-y"));
        assert_eq!(said(&with, &tree), "Invalid: patch for a@1.0.0 does not match the patch recorded in the lock file");
    }

    #[test]
    fn extensions_have_to_be_those_that_the_lock_records() {
        let mut tree = tree(&[]);
        let recorded = r#"{ "lockfileVersion": 4, "packages": { "": { "packageExtensionsHash": "sha512-x" } } }"#;
        let said = |locked: &str, tree: &Graph| disagreements(locked, tree, &[]).join("; ");
        assert!(said(recorded, &tree).ends_with("but package.json has none"));
        tree.extensions_hash = Some("sha512-x".to_owned());
        assert_eq!(said(recorded, &tree), "");
        assert!(said(r#"{ "lockfileVersion": 3, "packages": { "": {} } }"#, &tree).starts_with("Missing: "));
        tree.extensions_hash = Some("sha512-y".to_owned());
        assert!(said(recorded, &tree).ends_with("do not match the lock file"));
    }

    /// npm's words for each were recorded by `npm ci --dry-run` of npm 12.2.0.
    #[test]
    fn rules_that_agree_have_to_be_about_what_they_changed() {
        let tree = Graph { extensions_hash: Some("sha512-x".to_owned()), ..tree(&[("node_modules/a", "1.0.0")]) };
        let said = |rules: &str, applied: &str| {
            let packages = format!(r#""node_modules/a": {{ "version": "1.0.0"{applied} }}"#);
            let root = r#""": { "packageExtensionsHash": "sha512-x" }"#;
            let locked = format!(r#"{{ "lockfileVersion": 4, "packages": {{ {root}, {packages} }} }}"#);
            let manifest = format!(r#"{{ "packageExtensions": {{ {rules} }} }}"#);
            let declared = Declared { manifest, ..Declared::default() };
            stale(&locked, &declared, &tree).join("; ")
        };
        let by_first = r#", "packageExtensionsApplied": { "selector": "a@1" }"#;
        let stale = r#"Invalid: stale packageExtensions provenance for a@1.0.0 (selector "a@1")"#;
        assert_eq!(said(r#""a@1": {}"#, by_first), "");
        assert_eq!(said(r#""a@1": {}"#, ""), "");
        assert_eq!(said(r#""b@1": {}"#, by_first), stale);
        assert_eq!(said(r#""a": {}"#, by_first), stale);
        assert_eq!(
            said(r#""a@1": {}, "a": {}"#, by_first),
            r#"Invalid: Multiple packageExtensions selectors match a@1.0.0: "a@1", "a". Narrow or remove one of the overlapping rules."#
        );
    }

    /// npm's words were recorded by `npm ci --dry-run` of npm 12.2.0.
    #[test]
    fn a_link_is_named_as_its_target_and_a_version_may_be_absent() {
        let tree = Graph { extensions_hash: Some("sha512-x".to_owned()), ..tree(&[]) };
        let said = |rules: &str, packages: &str| {
            let root = r#""": { "packageExtensionsHash": "sha512-x" }"#;
            let locked = format!(r#"{{ "lockfileVersion": 4, "packages": {{ {root}, {packages} }} }}"#);
            let manifest = format!(r#"{{ "packageExtensions": {{ {rules} }} }}"#);
            stale(&locked, &Declared { manifest, ..Declared::default() }, &tree)
        };
        let link = r#""node_modules/alias": { "resolved": "real", "link": true }, "real": { "version": "1.0.0" }"#;
        let overlap = r#"Invalid: Multiple packageExtensions selectors match real@1.0.0: "real@1", "real". Narrow or remove one of the overlapping rules."#;
        assert_eq!(said(r#""real@1": {}, "real": {}"#, link), [overlap, overlap]);
        let unversioned = r#""real": { "packageExtensionsApplied": { "selector": "real@1" } }"#;
        let stale = r#"Invalid: stale packageExtensions provenance for real@ (selector "real@1")"#;
        assert_eq!(said(r#""real@1": {}"#, unversioned), [stale]);
    }

    /// The hash and the words were recorded by `npm ci --dry-run` of npm 12.2.0.
    #[test]
    fn an_extension_file_has_to_be_the_one_that_the_lock_records() {
        let said = |root: &str, entry: &str, names: &[&'static str]| {
            let packages = format!(r#""node_modules/a": {{ "version": "1.0.0"{entry} }}"#);
            let locked = format!(r#"{{ "lockfileVersion": 4, "packages": {{ "": {{ {root} }}, {packages} }} }}"#);
            let file = |name: &&str| ((*name).to_owned(), b"exports.transformManifest = (p) => p\n".to_vec());
            let declared = Declared { extension_files: names.iter().map(file).collect(), ..Declared::default() };
            stale(&locked, &declared, &tree(&[("node_modules/a", "1.0.0")])).join("; ")
        };
        let (cjs, mjs) = (".npm-extension.cjs", ".npm-extension.mjs");
        let recorded = r#""npmExtensionHash": "sha512-aurVDywXjq0weW/urX+P1cRxB97ddUsyoUjoybod0xUrDoNrkYz28kB/4HuQe15FM/Qxvk2obl7fIscYw0E2tQ==""#;
        let absent = "Invalid: lock file records .npm-extension state but no .npm-extension file is present";
        assert_eq!(said("", "", &[]), "");
        assert_eq!(said(recorded, "", &[cjs]), "");
        assert_eq!(said(recorded, "", &[mjs]), "Invalid: .npm-extension file does not match the lock file");
        assert_eq!(said("", "", &[cjs]), "Missing: .npm-extension state from lock file");
        assert_eq!(said(recorded, "", &[]), absent);
        assert_eq!(said("", r#", "npmExtensionApplied": {}"#, &[]), absent);
        assert!(said(recorded, "", &[cjs, mjs]).starts_with("Invalid: found both .npm-extension.mjs and "));
    }
}
