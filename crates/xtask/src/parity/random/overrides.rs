//! Generates override rules of all forms, for names that the project's dependencies need.

use serde_json::{Value, json};

use super::generator::{Entry, Generator};
use super::ranges;

/// The maximum depth of the dependencies that a rule is for.
const DEPTH: usize = 4;

/// Generates a key and value for `overrides`. `None` if no dependency was found.
pub fn rule(generator: &mut Generator, root: &Value, entries: &[Entry]) -> Option<(String, Value)> {
    let (parent, name, spec) = step(generator, entries)?;
    let wanted = wanted(generator, root, &name)?;
    Some(match generator.random.u32(0..9) {
        0..=1 => (name, wanted),
        2..=3 => (parent, json!({ name: wanted })),
        4 => (format!("{name}@{spec}"), wanted),
        5 => {
            let key = ranges::spec(&mut generator.random, &*generator.catalog.packument(&name)?)?;
            (format!("{name}@{}", key.trim()), wanted)
        }
        6 => {
            let parents = ranges::exact(&mut generator.random, &*generator.catalog.packument(&parent)?)?;
            (parent, json!({ ".": parents, name: wanted }))
        }
        7 => (parent.clone(), json!({ name.clone(): { ".": wanted, parent: "*" } })),
        _ => (name, json!({ ".": wanted })),
    })
}

/// Generates the spec of a rule.
fn wanted(generator: &mut Generator, root: &Value, name: &str) -> Option<Value> {
    let packument = generator.catalog.packument(name)?;
    Some(match generator.random.u32(0..10) {
        0 => direct(generator, root).map_or_else(|| "*".into(), |direct| format!("${direct}").into()),
        1 => "".into(),
        2 => format!("npm:{name}@{}", ranges::exact(&mut generator.random, &packument)?).into(),
        3..=6 => ranges::exact(&mut generator.random, &packument)?.into(),
        _ => ranges::spec(&mut generator.random, &packument)?.into(),
    })
}

/// A direct dependency of the root.
fn direct(generator: &mut Generator, root: &Value) -> Option<String> {
    let names: Vec<&String> = root["dependencies"].as_object()?.keys().collect();
    generator.random.choice(names).cloned()
}

/// A dependency below the project: the dependent, the name and the range.
fn step(generator: &mut Generator, entries: &[Entry]) -> Option<(String, String, String)> {
    let (mut parent, mut version) = generator.random.choice(entries)?.package.clone()?;
    let mut found = None;
    for _ in 0..generator.random.usize(1..=DEPTH) {
        let dependencies = generator.catalog.dependencies(&parent, &version);
        let Some((name, spec)) = generator.random.choice(&dependencies).cloned() else { break };
        let Some(next) = generator.catalog.pick(&name, &spec) else { break };
        found = Some((parent, name.clone(), spec));
        (parent, version) = (name, next);
    }
    found
}
