//! The modules of a crate use each other in one direction: none leads back to itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which modules of a crate each of its modules uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

#[test]
fn no_module_leads_back_to_itself() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut circles, mut count) = (Vec::new(), 0);
    for folder in entries(&crates) {
        let uses = uses(&folder.join("src"));
        count += uses.values().map(BTreeSet::len).sum::<usize>();
        let in_circle = uses.keys().filter(|module| reached(&uses, module).contains(*module));
        let modules: Vec<&str> = in_circle.map(String::as_str).collect();
        if !modules.is_empty() {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            circles.push(format!("{name}: {}", modules.join(", ")));
        }
    }
    assert!(count > 300, "the uses were not read");
    assert!(circles.is_empty(), "these modules use each other in circles:\n{}", circles.join("\n"));
}

/// The modules that a module uses, directly or through others.
fn reached<'a>(uses: &'a Uses, module: &str) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut next = vec![module];
    while let Some(module) = next.pop() {
        for used in uses.get(module).into_iter().flatten() {
            if reached.insert(used) {
                next.push(used);
            }
        }
    }
    reached
}

/// The uses between the modules directly below a crate's root. A module contains everything below it.
fn uses(source: &Path) -> Uses {
    let mut uses = Uses::new();
    let mut folders = vec![source.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let inside = path.strip_prefix(source).expect("a file below it").with_extension("");
            let module = inside.iter().next().unwrap_or_default().to_string_lossy().into_owned();
            if matches!(module.as_str(), "lib" | "main" | "tests") {
                continue;
            }
            let text = fs::read_to_string(&path).expect("a source file");
            let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
            let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            let code = code.join("\n");
            let names = code.split("crate::").skip(1).flat_map(modules_of);
            let others = names.filter(|name| *name != module && name.starts_with(char::is_lowercase));
            uses.entry(module.clone()).or_default().extend(others);
        }
    }
    uses
}

/// The modules that a path names after `crate::`: one, or those in braces.
fn modules_of(path: &str) -> Vec<String> {
    let word =
        |text: &str| text.trim().chars().take_while(|&letter| letter.is_alphanumeric() || letter == '_').collect();
    match path.strip_prefix('{') {
        Some(list) => list.split('}').next().unwrap_or_default().split(',').map(word).collect(),
        None => vec![word(path)],
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
