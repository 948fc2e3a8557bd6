//! The modules of a crate use each other in one direction, so no module leads back to itself.
//! Modules deep inside of a module are private to it: others use only the modules directly below
//! it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The modules that each module uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

#[test]
fn no_module_leads_back_to_itself() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut circles, mut count) = (Vec::new(), 0);
    for folder in entries(&crates) {
        for (parent, uses) in uses(&folder.join("src")) {
            count += uses.values().map(BTreeSet::len).sum::<usize>();
            let in_circle = uses.keys().filter(|module| reached(&uses, module).contains(*module));
            let modules: Vec<&str> = in_circle.map(String::as_str).collect();
            if !modules.is_empty() {
                let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                circles.push(format!("{}: {}", [&[name], parent.as_slice()].concat().join("::"), modules.join(", ")));
            }
        }
    }
    assert!(count > 500, "the uses were not read");
    assert!(circles.is_empty(), "these modules use each other in circles:\n{}", circles.join("\n"));
}

/// `crate::a::b` may be used in the whole crate, `crate::a::b::c` inside of `a`, and so on: only
/// the siblings of a module's parent, and the modules below them, may use it.
#[test]
fn nobody_reaches_deep_into_another_module() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut deep, mut count) = (BTreeSet::new(), 0);
    for folder in entries(&crates) {
        let source = folder.join("src");
        let files = files(&source);
        let modules: BTreeSet<&[String]> = files.iter().map(|(module, _)| module.as_slice()).collect();
        for (own, code) in &files {
            for path in paths(own, code) {
                let module = (0..=path.len()).rev().map(|end| &path[..end]).find(|part| modules.contains(part));
                let module = module.unwrap_or_default();
                count += usize::from(module.len() > 2);
                if module.len() > 2 && !own.starts_with(&module[..module.len() - 2]) {
                    deep.insert(format!("{} reaches into {}", own.join("::"), module.join("::")));
                }
            }
        }
    }
    assert!(count > 10, "the paths were not read");
    assert!(deep.is_empty(), "{}", deep.into_iter().collect::<Vec<_>>().join("\n"));
}

/// The tests of a crate are one program. With `autotests = false`, cargo runs no other file, so
/// `main.rs` has to name each of them.
#[test]
fn no_test_is_left_out() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut missing, mut count) = (Vec::new(), 0);
    for folder in entries(&crates).into_iter().map(|folder| folder.join("tests")) {
        let Ok(main) = fs::read_to_string(folder.join("main.rs")) else { continue };
        for (module, _) in files(&folder).into_iter().filter(|(module, _)| module.len() == 1) {
            count += 1;
            if !main.lines().any(|line| line == format!("mod {};", module[0])) {
                missing.push(format!("{}: {}", folder.display(), module[0]));
            }
        }
    }
    assert!(count > 30, "the tests were not read");
    assert!(missing.is_empty(), "main.rs doesn't name these modules:\n{}", missing.join("\n"));
}

/// The modules of a crate, by their paths, with their code.
fn files(source: &Path) -> Vec<(Vec<String>, String)> {
    let (mut files, mut folders) = (Vec::new(), vec![source.to_owned()]);
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let inside = path.strip_prefix(source).expect("a file below it").with_extension("");
            let names = inside.iter().map(|name| name.to_string_lossy().into_owned());
            let module: Vec<String> = names.filter(|name| !matches!(name.as_str(), "lib" | "main" | "mod")).collect();
            let text = fs::read_to_string(&path).expect("a source file");
            let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            files.push((module, code.join("\n")));
        }
    }
    files
}

/// The paths after `crate::` and `super::` in the code of a module, from the crate's root.
fn paths(own: &[String], code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for rest in code.split("crate::").skip(1) {
        expand(&[], rest, &mut paths);
    }
    for (at, _) in code.match_indices("super::").filter(|(at, _)| !code[..*at].ends_with("super::")) {
        let rest = code[at..].trim_start_matches("super::");
        let above = (code[at..].len() - rest.len()) / "super::".len();
        // A further `super` leads out of a module inside of a file, whose parent is the file.
        expand(&own[..own.len().saturating_sub(above)], rest, &mut paths);
    }
    paths
}

/// The paths of a tree of uses after a known beginning: `a::{b, c::d}` is two.
fn expand(before: &[String], tree: &str, paths: &mut Vec<Vec<String>>) {
    let tree = tree.trim_start();
    if let Some(list) = tree.strip_prefix('{') {
        let (mut depth, mut start) = (0, 0);
        for (at, letter) in list.char_indices() {
            match letter {
                ',' | '}' if depth == 0 => {
                    expand(before, &list[start..at], paths);
                    start = at + 1;
                    if letter == '}' {
                        return;
                    }
                }
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
        }
        return;
    }
    let end = tree.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(tree.len());
    let path = [before, &[tree[..end].to_owned()]].concat();
    match tree[end..].strip_prefix("::") {
        Some(rest) => expand(&path, rest, paths),
        None => paths.push(path),
    }
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

/// The uses between the modules directly below each module. A module contains everything below it.
fn uses(source: &Path) -> BTreeMap<Vec<String>, Uses> {
    let files = files(source);
    let modules: BTreeSet<&[String]> = files.iter().map(|(module, _)| module.as_slice()).collect();
    let mut all = BTreeMap::<Vec<String>, Uses>::new();
    for (own, code) in &files {
        if own.iter().any(|module| module == "tests") {
            continue;
        }
        let code = code.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
        for path in paths(own, code) {
            let common = own.iter().zip(&path).take_while(|(own, other)| own == other).count();
            let (Some(module), Some(other)) = (own.get(common), path.get(common)) else { continue };
            if (common == 0 && starts_lowercase(other)) || modules.contains(&path[..=common]) {
                let uses = all.entry(own[..common].to_vec()).or_default();
                uses.entry(module.clone()).or_default().insert(other.clone());
            }
        }
    }
    all
}

fn starts_lowercase(name: &str) -> bool {
    name.starts_with(char::is_lowercase)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
