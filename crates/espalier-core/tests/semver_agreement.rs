//! Compares our semver with recorded verdicts of node-semver (`semver/pairs.mjs`).
//!
//! `semver/pairs.jsonl` always runs; `ESPALIER_SEMVER_PAIRS` may name a larger file to run as well.

#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "unlike the core, its tests may look")]

use std::fs;

use espalier_core::semver::{self, Range, RangeOptions, Version};
use serde_json::{Value, json};

/// The maximum number of printed disagreements.
const SHOWN: usize = 20;

#[test]
fn agrees_with_node_semver_on_the_committed_sample() {
    assert_agreement(include_str!("semver/pairs.jsonl"));
}

#[test]
fn agrees_with_node_semver_on_the_file_named_by_the_environment() {
    let Ok(path) = std::env::var("ESPALIER_SEMVER_PAIRS") else { return };
    let pairs = fs::read_to_string(&path).unwrap_or_else(|error| panic!("can't read {path}: {error}"));
    assert_agreement(&pairs);
}

fn assert_agreement(pairs: &str) {
    let mut count = 0;
    let mut disagreements = Vec::new();
    for line in pairs.lines() {
        let Value::Array(pair) = serde_json::from_str(line).expect(line) else { panic!("not an array: {line}") };
        let ours = our_verdict(&pair);
        count += 1;
        if !pair.ends_with(&ours) {
            disagreements.push(format!("{line}\n  ours: {}", json!(ours)));
        }
    }
    println!("{count} verdicts, {} disagreements", disagreements.len());
    let shown = &disagreements[..disagreements.len().min(SHOWN)];
    assert!(count > 0 && shown.is_empty(), "{} of {count} disagree:\n{}", disagreements.len(), shown.join("\n"));
}

/// Our answer to the question at the head of `pair`, in the form of the answer at its end.
fn our_verdict(pair: &[Value]) -> Vec<Value> {
    let text = |index: usize| pair[index].as_str().expect("a string");
    let flags = |index: usize| {
        let flags = pair[index].as_u64().expect("flags");
        RangeOptions { loose: flags & 1 != 0, include_prerelease: flags & 2 != 0 }
    };
    match text(0) {
        "v" => vec![json!(version(text(1), flags(2)).map(|version| version.to_string()))],
        "c" => match (version(text(1), flags(3)), version(text(2), flags(3))) {
            (Some(left), Some(right)) => {
                let by_build = if pair[5].is_null() { None } else { Some(left.compare_build(&right) as i8) };
                vec![json!(left.compare(&right) as i8), json!(by_build)]
            }
            _ => vec![json!("invalid")],
        },
        "r" => {
            let options = flags(2);
            let range = Range::parse_with(text(1), options);
            let normal = match &range {
                Some(range) if range.is_any() => Some("*".to_owned()),
                range => range.as_ref().map(Range::to_string),
            };
            if !options.include_prerelease {
                assert_eq!(semver::valid_range(text(1), options.loose), normal);
            }
            let least = range.as_ref().and_then(semver::min_version);
            vec![json!(normal), json!(least.map(|version| version.to_string()))]
        }
        "s" => {
            let options = flags(3);
            let satisfied = match (version(text(1), options), Range::parse_with(text(2), options)) {
                (Some(version), Some(range)) => range.satisfied_by(&version),
                _ => false,
            };
            if !options.include_prerelease {
                assert_eq!(semver::satisfies(text(1), text(2), options.loose), satisfied);
            }
            vec![json!(satisfied)]
        }
        "i" | "u" => match (Range::parse_with(text(1), flags(3)), Range::parse_with(text(2), flags(3))) {
            (Some(left), Some(right)) if text(0) == "i" => vec![json!(left.intersects(&right))],
            (Some(left), Some(right)) => vec![json!(left.is_subset_of(&right))],
            _ => vec![json!("invalid")],
        },
        "m" => {
            let versions = pair[1].as_array().expect("versions").iter().map(|text| text.as_str().expect("a string"));
            vec![json!(semver::max_satisfying(versions, text(2), flags(3).loose))]
        }
        other => panic!("no such question: {other}"),
    }
}

fn version(text: &str, options: RangeOptions) -> Option<Version> {
    if options.loose { Version::parse_loose(text) } else { Version::parse(text) }
}
