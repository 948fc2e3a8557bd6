//! Edits of a project between two runs of npm.

use serde_json::{Map, Value};

use super::case::Round;
use super::generator::Generator;

const BLOCKS: [&str; 4] = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/// The next state of a project: up to three edits, sometimes none.
pub fn edit(generator: &mut Generator, round: &Round) -> Round {
    let mut next = round.clone();
    let folders: Vec<String> = next.manifests.keys().cloned().collect();
    for _ in 0..generator.random.usize(0..=3) {
        // Most edits are made at the root.
        let folder = if generator.one_in(4) {
            generator.random.choice(&folders).cloned().unwrap_or_default()
        } else {
            String::new()
        };
        if let Some(manifest) = next.manifests.get_mut(&folder) {
            edit_manifest(generator, manifest, folder.is_empty());
        }
    }
    if generator.one_in(12) && folders.len() > 2 {
        next.manifests.remove(&folders[folders.len() - 1]);
    }
    if generator.one_in(6) {
        next.arguments = generator.flags();
    }
    next
}

fn edit_manifest(generator: &mut Generator, manifest: &mut Value, is_root: bool) {
    match generator.random.u32(0..10) {
        0..=2 => {
            let entries = generator.entries(1);
            generator.insert(manifest, &entries);
        }
        3..=4 => {
            take(generator, manifest);
        }
        5..=7 => {
            if let Some((block, name)) = any(generator, manifest)
                && let Some(spec) = generator.spec(&name)
            {
                manifest[block][&name] = spec.into();
            }
        }
        8 => {
            if let Some((_, name, spec)) = take(generator, manifest) {
                let block = BLOCKS[generator.random.usize(0..BLOCKS.len())];
                manifest[block][&name] = spec;
            }
        }
        _ if is_root && manifest.get("overrides").is_some() && generator.one_in(2) => {
            manifest.as_object_mut().map(|manifest| manifest.shift_remove("overrides"));
        }
        _ if is_root => {
            let entries = generator.entries(2);
            generator.insert(manifest, &entries);
            generator.add_overrides(manifest, &entries);
        }
        _ => {}
    }
}

fn any(generator: &mut Generator, manifest: &Value) -> Option<(&'static str, String)> {
    let blocks: Vec<(&str, &Map<String, Value>)> =
        BLOCKS.iter().filter_map(|block| Some((*block, manifest[*block].as_object()?))).collect();
    let all: Vec<(&'static str, &String)> =
        blocks.iter().flat_map(|(block, entries)| entries.keys().map(|name| (*block, name))).collect();
    generator.random.choice(all).map(|(block, name)| (block, name.clone()))
}

fn take(generator: &mut Generator, manifest: &mut Value) -> Option<(&'static str, String, Value)> {
    let (block, name) = any(generator, manifest)?;
    let spec = manifest[block].as_object_mut()?.shift_remove(&name)?;
    Some((block, name, spec))
}
