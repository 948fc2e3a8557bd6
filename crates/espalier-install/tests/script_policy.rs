//! The packages that an `allowScripts` entry matches, compared with npm's verdicts.
//!
//! For each package, `scripts/verdicts.json` has the keys with which npm 12.2.0 allows it, denies
//! it, and matches it (`script-allowed.js`, `allow-scripts-writer.js`), and the keys that npm would
//! write.

use espalier_install::scripts::approvals::{deny, name_key, version_key};
use espalier_install::scripts::identity::Subject;
use espalier_install::scripts::policy::{Policy, Verdict};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Recorded {
    keys: Vec<String>,
    subjects: Vec<Package>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Package {
    title: String,
    name: String,
    version: String,
    resolved: Option<String>,
    path: Option<String>,
    #[serde(default)]
    links: Vec<String>,
    #[serde(default)]
    in_bundle: bool,
    asked: Vec<(String, String)>,
    allowed: Vec<String>,
    denied: Vec<String>,
    targeted: Vec<String>,
    versioned: Option<String>,
    named: Option<String>,
}

const PROJECT: &str = "/p";

fn subject(package: &Package) -> Subject {
    Subject {
        name: package.name.clone(),
        version: Some(package.version.clone()),
        resolved: package.resolved.clone(),
        links: package.links.clone(),
        path: package.path.clone().unwrap_or_else(|| format!("/p/node_modules/{}", package.name)),
        in_bundle: package.in_bundle,
        asked: package.asked.clone(),
    }
}

fn each(check: impl Fn(&Recorded, &Package, &Subject)) {
    let recorded: Recorded = serde_json::from_str(include_str!("scripts/verdicts.json")).expect("JSON");
    for package in &recorded.subjects {
        check(&recorded, package, &subject(package));
    }
}

#[test]
fn entries_allow_and_deny_whom_npm_allows_and_denies() {
    each(|recorded, package, subject| {
        let saying = |allowed: bool, verdict: Verdict| {
            let says = |key: &&String| Policy::of([((*key).clone(), allowed)]).decide(subject, PROJECT) == verdict;
            recorded.keys.iter().filter(says).cloned().collect::<Vec<_>>()
        };
        assert_eq!(saying(true, Verdict::Allowed), package.allowed, "{}", package.title);
        assert_eq!(saying(false, Verdict::Denied), package.denied, "{}", package.title);
    });
}

#[test]
fn denying_takes_out_the_entries_that_npm_takes_out() {
    each(|recorded, package, subject| {
        let Some(name) = name_key(subject) else { return };
        let existing = recorded.keys.iter().map(|key| (key.clone(), Value::Bool(true))).collect();
        let changes = deny(&existing, &[subject], PROJECT).changes;
        let gone: Vec<_> = changes.iter().filter(|change| change.change != "added").map(|c| c.key.clone()).collect();
        let expected: Vec<_> = package.targeted.iter().filter(|key| **key != name).cloned().collect();
        assert_eq!(gone, expected, "{}", package.title);
    });
}

#[test]
fn approvals_are_written_by_what_can_be_trusted() {
    each(|_, package, subject| {
        assert_eq!(version_key(subject), package.versioned, "{}", package.title);
        assert_eq!(name_key(subject), package.named, "{}", package.title);
    });
}

#[test]
fn a_denial_wins() {
    each(|_, package, subject| {
        if let (Some(yes), Some(no)) = (package.allowed.first(), package.denied.last()) {
            let policy = Policy::of([(yes.clone(), true), (format!("{no} "), false), (no.clone(), false)]);
            assert_eq!(policy.decide(subject, PROJECT), Verdict::Denied, "{}", package.title);
        }
    });
}
