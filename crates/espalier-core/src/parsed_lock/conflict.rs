//! Merges a lockfile with git's conflict markers: our changes are applied to their text
//! (`parse-conflict-json`).
//!
//! The resolution then repairs whatever doesn't fit.

use serde_json::{Map, Value};

use super::text::Text;
use crate::json;

/// A change from the common text to ours.
struct Difference {
    path: Vec<String>,
    kind: DifferenceKind,
}

enum DifferenceKind {
    Remove,
    Replace(Value),
    Add(Value),
}

/// A lockfile with both sides of conflict markers merged. `None` if a side isn't JSON. A text without
/// markers isn't checked.
pub fn merged(text: Text<'_>) -> Option<Text<'_>> {
    let text = match text {
        Text::Borrowed(text) => json::strip_byte_order_mark(text).into(),
        Text::Shared(text) if text.starts_with('\u{feff}') => json::strip_byte_order_mark(&text).to_owned().into(),
        text @ Text::Shared(_) => text,
    };
    if !"<=>".bytes().all(|character| has_run(text.as_bytes(), character)) {
        return Some(text);
    }
    let [parent, ours, mut theirs] = sides(&text).map(|side| serde_json::from_str::<Value>(&side).ok());
    let (parent, ours, theirs) = (parent?, ours?, theirs.as_mut()?);
    for change in changes(&parent, &ours) {
        if !apply(theirs, &change) {
            copy_path(theirs, &ours, &change.path);
        }
    }
    Some(theirs.to_string().into())
}

/// Whether a character is repeated as often as in a marker. Such a run covers the last character of
/// a piece of its length, so the others needn't be looked at.
fn has_run(text: &[u8], character: u8) -> bool {
    const LENGTH: usize = "<<<<<<<".len();
    let is_same = |byte: &&u8| **byte == character;
    let pieces = text.as_chunks::<LENGTH>().0.iter().enumerate();
    pieces.filter(|(_, piece)| piece[LENGTH - 1] == character).any(|(index, _)| {
        let (before, after) = text.split_at((index + 1) * LENGTH);
        let same = before.iter().rev().take_while(is_same).chain(after.iter().take_while(is_same));
        same.count() >= LENGTH
    })
}

/// The text of the common ancestor, as far as the markers show it, of our side and of theirs.
fn sides(text: &str) -> [String; 3] {
    let (mut parent, mut ours, mut theirs) = (String::new(), String::new(), String::new());
    let mut state = "top";
    for line in text.split(['\n', '\r']) {
        let marker = [("|||||||", "parent"), ("<<<<<<<", "ours"), ("=======", "theirs"), (">>>>>>>", "top")];
        if let Some((_, next)) = marker.iter().find(|(marker, _)| line.contains(marker)) {
            state = next;
            continue;
        }
        for (side, name) in [(&mut parent, "parent"), (&mut ours, "ours"), (&mut theirs, "theirs")] {
            if state == "top" || state == name {
                side.push_str(line);
            }
        }
    }
    [parent, ours, theirs]
}

/// The changes from `before` to `after`: removals from the end, then replacements, then additions
/// (`just-diff`).
fn changes(before: &Value, after: &Value) -> Vec<Difference> {
    let mut all: [Vec<Difference>; 3] = Default::default();
    compare(before, after, &[], &[], &mut all);
    let [mut removed, replaced, added] = all;
    removed.reverse();
    removed.into_iter().chain(replaced).chain(added).collect()
}

fn compare(before: &Value, after: &Value, path: &[String], removal_path: &[String], all: &mut [Vec<Difference>; 3]) {
    let excess = match (before, after) {
        (Value::Array(before), Value::Array(after)) if !trims_from_right(before, after) => before.len() - after.len(),
        _ => 0,
    };
    let at = |path: &[String], key: String| path.iter().cloned().chain([key]).collect::<Vec<_>>();
    if excess > 0 {
        let removed = (0..excess).map(|index| at(removal_path, index.to_string()));
        all[0].extend(removed.map(|path| Difference { path, kind: DifferenceKind::Remove }));
    } else {
        let gone = keys(before).into_iter().filter(|key| get(after, key).is_none());
        all[0].extend(gone.map(|key| Difference { path: at(removal_path, key), kind: DifferenceKind::Remove }));
    }
    for key in keys(after) {
        let new = get(after, &key).expect("one of its keys");
        let shifted = match key.parse::<usize>() {
            Ok(index) if excess > 0 => (index + excess).to_string(),
            _ => key.clone(),
        };
        let (place, removal_place) = (at(path, key), at(removal_path, shifted.clone()));
        match get(before, &shifted) {
            None => all[2].push(Difference { path: place, kind: DifferenceKind::Add(new.clone()) }),
            Some(old) if old == new => {}
            Some(old) if same_shape(old, new) => compare(old, new, &place, &removal_place, all),
            Some(_) => all[1].push(Difference { path: place, kind: DifferenceKind::Replace(new.clone()) }),
        }
    }
}

fn same_shape(one: &Value, other: &Value) -> bool {
    (one.is_object() && other.is_object()) || (one.is_array() && other.is_array())
}

/// Whether a shortened array lost its end rather than its beginning.
fn trims_from_right(before: &[Value], after: &[Value]) -> bool {
    if before.len() <= after.len() {
        return true;
    }
    let left = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let right = before.iter().rev().zip(after.iter().rev()).take_while(|(one, other)| one == other).count();
    left >= right
}

fn keys(value: &Value) -> Vec<String> {
    match value {
        Value::Object(object) => object.keys().cloned().collect(),
        Value::Array(array) => (0..array.len()).map(|index| index.to_string()).collect(),
        _ => Vec::new(),
    }
}

fn get<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Object(object) => object.get(key),
        Value::Array(array) => array.get(key.parse::<usize>().ok()?),
        _ => None,
    }
}

fn put(value: &mut Value, key: &str, new: Value) {
    match value {
        Value::Object(object) => {
            object.insert(key.to_owned(), new);
        }
        Value::Array(array) => match key.parse::<usize>() {
            Ok(index) if index < array.len() => array[index] = new,
            Ok(_) => array.push(new),
            Err(_) => {}
        },
        _ => {}
    }
}

/// Makes a change. Returns `false` if it doesn't fit; folders on the way may have been created.
fn apply(target: &mut Value, change: &Difference) -> bool {
    let Some((last, way)) = change.path.split_last() else { return false };
    let mut place = target;
    for key in way {
        if get(place, key).is_none() {
            put(place, key, Value::Object(Map::new()));
        }
        place = match place {
            Value::Object(object) => object.get_mut(key).expect("made above"),
            Value::Array(array) => match key.parse::<usize>().ok().and_then(|index| array.get_mut(index)) {
                Some(place) => place,
                None => return false,
            },
            _ => return false,
        };
    }
    if !place.is_object() && !place.is_array() {
        return false;
    }
    let is_there = get(place, last).is_some();
    match (&change.kind, place) {
        (DifferenceKind::Add(value), place) => put(place, last, value.clone()),
        (DifferenceKind::Replace(value), place) if is_there => put(place, last, value.clone()),
        (DifferenceKind::Remove, Value::Object(object)) if is_there => {
            object.shift_remove(last);
        }
        (DifferenceKind::Remove, Value::Array(array)) if is_there => {
            array.remove(last.parse().expect("an index that is there"));
        }
        _ => return false,
    }
    true
}

/// Copies our value to a place where a change didn't fit, as deep as both sides have the same
/// shape.
fn copy_path(target: &mut Value, ours: &Value, path: &[String]) {
    let Some((key, rest)) = path.split_first() else { return };
    let own = get(ours, key);
    match (target, own) {
        (Value::Object(object), None) => {
            object.shift_remove(key);
        }
        (Value::Object(object), Some(own)) => match object.get_mut(key) {
            Some(theirs) if same_shape(theirs, own) => copy_path(theirs, own, rest),
            _ => {
                object.insert(key.clone(), own.clone());
            }
        },
        (target, Some(own)) => put(target, key, own.clone()),
        (_, None) => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    proptest! {
        #[test]
        fn a_run_is_as_long_as_a_marker(text in "[<a]{0,40}|(a|<{5,7}){0,9}") {
            prop_assert_eq!(super::has_run(text.as_bytes(), b'<'), text.contains("<<<<<<<"), "{}", text);
        }
    }

    fn parse(text: &str) -> Option<Value> {
        super::merged(text.into()).map(|merged| serde_json::from_str(&merged).expect("JSON"))
    }

    #[test]
    fn our_changes_go_on_top_of_theirs() {
        let text = "{\n  \"packages\": {\n<<<<<<< HEAD\n    \"a\": { \"version\": \"2\" },\n||||||| base\n    \"a\": { \
                    \"version\": \"1\" },\n=======\n    \"a\": { \"version\": \"3\" },\n    \"b\": { \"version\": \"1\" \
                    },\n>>>>>>> other\n    \"c\": { \"os\": [\"x\"] }\n  }\n}\n";
        let expected =
            json!({ "packages": { "a": { "version": "2" }, "b": { "version": "1" }, "c": { "os": ["x"] } } });
        assert_eq!(parse(text), Some(expected));
    }

    #[test]
    fn what_they_removed_and_we_changed_comes_back() {
        let text = "{\n<<<<<<< HEAD\n  \"a\": { \"version\": \"2\", \"dev\": true },\n||||||| base\n  \"a\": { \
                    \"version\": \"1\", \"dev\": true },\n=======\n>>>>>>> other\n  \"c\": 1\n}\n";
        assert_eq!(parse(text), Some(json!({ "c": 1, "a": { "version": "2" } })));
    }

    #[test]
    fn a_side_that_is_no_json_spoils_the_whole() {
        assert_eq!(parse("{\n<<<<<<< a\n \"a\": 1,,\n=======\n \"b\": 1\n>>>>>>> b\n}"), None);
    }
}
