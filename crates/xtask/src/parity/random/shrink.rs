//! Searches for the smallest case that still differs by removing one part at a time.

use std::collections::BTreeSet;

use serde_json::Value;

use super::case::Case;

/// A part that can be removed from a case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// A whole round.
    Round(usize),
    /// A folder, in all rounds.
    Folder(String),
    /// A flag, in all rounds.
    Argument(String),
    /// An argument of a command.
    Word { round: usize, word: usize },
    /// A member of a package.json, in all rounds.
    Member { folder: String, path: Vec<String> },
    /// A member of a package.json, in one round.
    MemberOnce { round: usize, folder: String, path: Vec<String> },
}

/// Removes parts as long as `differs` holds. Asks at most `budget` times.
pub fn shrink(
    case: &Case,
    mut budget: usize,
    mut differs: impl FnMut(&Case) -> anyhow::Result<bool>,
) -> anyhow::Result<Case> {
    let mut smallest = case.clone();
    loop {
        let mut progress = false;
        for part in parts(&smallest) {
            let Some(candidate) = without(&smallest, &part).filter(|candidate| *candidate != smallest) else {
                continue;
            };
            if budget == 0 {
                return Ok(smallest);
            }
            budget -= 1;
            if differs(&candidate)? {
                smallest = candidate;
                progress = true;
            }
        }
        if !progress {
            return Ok(smallest);
        }
    }
}

/// The parts of a case, the larger ones first.
fn parts(case: &Case) -> BTreeSet<Part> {
    let mut parts = BTreeSet::new();
    for (index, round) in case.rounds.iter().enumerate() {
        parts.insert(Part::Round(index));
        parts.extend(round.arguments.iter().cloned().map(Part::Argument));
        parts.extend((1..round.command.len()).map(|word| Part::Word { round: index, word }));
        for (folder, manifest) in &round.manifests {
            if !folder.is_empty() {
                parts.insert(Part::Folder(folder.clone()));
            }
            for path in paths(manifest, &[]) {
                parts.insert(Part::Member { folder: folder.clone(), path: path.clone() });
                parts.insert(Part::MemberOnce { round: index, folder: folder.clone(), path });
            }
        }
    }
    parts
}

fn paths(value: &Value, prefix: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        let path = [prefix, std::slice::from_ref(name)].concat();
        found.extend(paths(value, &path));
        found.push(path);
    }
    found
}

/// The case without a part. `None` if nothing would be left.
fn without(case: &Case, part: &Part) -> Option<Case> {
    let mut case = case.clone();
    if let Part::Round(index) = part {
        if *index < case.rounds.len() {
            case.rounds.remove(*index);
        }
        return Some(case).filter(|case| !case.rounds.is_empty());
    }
    for (index, round) in case.rounds.iter_mut().enumerate() {
        match part {
            Part::Argument(argument) => round.arguments.retain(|other| other != argument),
            Part::Folder(folder) => {
                round.manifests.remove(folder);
            }
            Part::MemberOnce { round: only, .. } | Part::Word { round: only, .. } if *only != index => {}
            Part::Word { word, .. } => {
                // Without arguments, it would be another command.
                if round.command.len() > 2 && *word < round.command.len() {
                    round.command.remove(*word);
                }
            }
            Part::Member { folder, path } | Part::MemberOnce { folder, path, .. } => {
                if let Some(manifest) = round.manifests.get_mut(folder) {
                    remove(manifest, path);
                }
            }
            Part::Round(_) => {}
        }
    }
    Some(case)
}

fn remove(value: &mut Value, path: &[String]) {
    match (value.as_object_mut(), path) {
        (Some(object), [name]) => {
            object.shift_remove(name);
        }
        (Some(object), [name, rest @ ..]) => {
            if let Some(inner) = object.get_mut(name) {
                remove(inner, rest);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::super::case::Round;
    use super::*;

    fn round(manifest: Value, arguments: &[&str]) -> Round {
        let manifests = BTreeMap::from([(String::new(), manifest), ("packages/a".into(), json!({"name": "a"}))]);
        let arguments = arguments.iter().map(ToString::to_string).collect();
        Round { manifests, arguments, command: Vec::new() }
    }

    fn depends_on(case: &Case, name: &str) -> bool {
        case.rounds.iter().any(|round| round.manifests[""]["dependencies"].get(name).is_some())
    }

    #[test]
    fn only_what_makes_the_difference_is_left() {
        let manifest =
            json!({"name": "x", "dependencies": {"a": "1", "b": "2", "c": "3"}, "overrides": {"a": {"b": "1"}}});
        let case = Case { rounds: vec![round(manifest.clone(), &["--force"]), round(manifest, &[])] };
        let smallest = shrink(&case, 1000, |case| Ok(depends_on(case, "a") && depends_on(case, "c"))).unwrap();
        let manifests = BTreeMap::from([(String::new(), json!({"dependencies": {"a": "1", "c": "3"}}))]);
        assert_eq!(smallest, Case { rounds: vec![Round { manifests, arguments: Vec::new(), command: Vec::new() }] });
    }

    #[test]
    fn a_difference_between_rounds_keeps_both() {
        let first = round(json!({"dependencies": {"a": "1"}}), &[]);
        let second = round(json!({"dependencies": {"a": "1", "b": "1"}}), &[]);
        let added = |case: &Case| case.rounds.len() == 2 && case.rounds[0] != case.rounds[1];
        let smallest = shrink(&Case { rounds: vec![first, second] }, 1000, |case| Ok(added(case))).unwrap();
        assert_eq!(smallest.rounds[0].manifests[""], json!({}));
        assert_eq!(smallest.rounds[1].manifests[""], json!({"dependencies": {}}));
    }

    #[test]
    fn the_budget_bounds_the_questions() {
        let case = Case { rounds: vec![round(json!({"dependencies": {"a": "1", "b": "2"}}), &[])] };
        let mut asked = 0;
        shrink(&case, 3, |_| {
            asked += 1;
            Ok(false)
        })
        .unwrap();
        assert_eq!(asked, 3);
    }
}
