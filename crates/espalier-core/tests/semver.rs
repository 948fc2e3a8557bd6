//! Replays node-semver's verdicts, as `semver/pairs.mjs` prints them, against ours.
//!
//! `semver/pairs.jsonl` always runs; `ESPALIER_SEMVER_PAIRS` may name further files, separated by commas.

use std::cmp::Ordering;
use std::fs;

use espalier_core::semver::{self, Range, RangeOptions, Version};
use serde::Deserialize;
use serde_json::{Value, json};

/// How many disagreements to print before giving up.
const SHOWN: usize = 20;

#[derive(Deserialize)]
#[serde(untagged)]
enum Verdict {
    Version(Tag<'v'>, String, u8, Option<String>),
}
