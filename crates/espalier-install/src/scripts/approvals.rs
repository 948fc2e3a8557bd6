//! Approves and denies packages in `allowScripts` of package.json (`allow-scripts-writer.js`).
//!
//! Approving pins the installed version (`name@1.2.3`), so that the next version has to be reviewed
//! again. Denying applies to the name, because a denial should outlast a version. Approving twice
//! changes nothing.

use espalier_core::spec::{SpecKind, Specs};
use serde::Serialize;
use serde_json::{Map, Value};

use super::identity::Subject;
use super::policy::{Key, Policy, Verdict};

/// A changed entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedEntry {
    /// Its key.
    pub key: String,
    /// `added`, `removed-stale`, `replaced-by-pin` or `removed-pinned-allow`.
    pub change: &'static str,
}

/// The result of approving or denying a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// The new `allowScripts`.
    pub entries: Map<String, Value>,
    /// The differences from the old one.
    pub changes: Vec<ChangedEntry>,
    /// A warning.
    pub warning: Option<String>,
}

impl Decision {
    fn add(&mut self, key: &str, value: bool) {
        if self.entries.get(key) != Some(&Value::Bool(value)) {
            self.entries.insert(key.to_owned(), value.into());
            self.changes.push(ChangedEntry { key: key.to_owned(), change: "added" });
        }
    }

    /// Removes the entries that `stale` selects.
    fn drop_where(&mut self, change: Option<&'static str>, stale: impl Fn(&str, &Value) -> bool) {
        let gone: Vec<String> =
            self.entries.iter().filter(|(key, value)| stale(key, value)).map(|(key, _)| key.clone()).collect();
        for key in gone {
            self.entries.shift_remove(&key);
            self.changes.extend(change.map(|change| ChangedEntry { key, change }));
        }
    }
}

/// The key for all versions of a package. `None` if only the package itself claims its name.
pub fn name_key(subject: &Subject) -> Option<String> {
    match subject.sources().first() {
        Some(source) if source.starts_with("git") => repository(source, false),
        Some(source) if source.starts_with("file:") || source.starts_with('/') => Some((*source).to_owned()),
        _ => subject.identity().map(|identity| identity.name),
    }
}

/// The key for exactly this version of a package.
pub fn version_key(subject: &Subject) -> Option<String> {
    let source = *subject.sources().first()?;
    if source.starts_with("git") {
        return repository(source, true);
    }
    if source.starts_with("http://") || source.starts_with("https://") {
        let identity = subject.identity()?;
        return Some(format!("{}@{}", identity.name, identity.version?));
    }
    (source.starts_with("file:") || source.starts_with('/')).then(|| source.to_owned())
}

fn repository(source: &str, with_commit: bool) -> Option<String> {
    let spec = Specs::default().intern(source);
    let SpecKind::Git(git) = &spec.kind else { return None };
    let mut hosted = git.hosted.clone()?;
    let commit = git.committish.clone().or_else(|| hosted.committish.take());
    hosted.committish = None;
    let name = hosted.to_shortcut();
    Some(commit.filter(|_| with_commit).map_or_else(|| name.clone(), |commit| format!("{name}#{commit}")))
}

/// Approves the installed versions of a package. `project` is its absolute folder. Without `pin`,
/// approves all versions.
pub fn approve(existing: &Map<String, Value>, subjects: &[&Subject], pin: bool, project: &str) -> Decision {
    let mut decision = Decision { entries: existing.clone(), ..Decision::default() };
    let Some(&sample) = subjects.first() else { return decision };
    let name = name_key(sample);
    let key = |key: &str| Key::parse(key, project);
    let denies = |(entry, value): &(&String, &Value)| {
        **value == Value::Bool(false) && subjects.iter().any(|subject| key(entry).targets(subject))
    };
    if let Some((entry, _)) = existing.iter().find(denies) {
        decision.warning = Some(denial(entry, name.as_deref().unwrap_or("this package"), key(entry).is_name_only()));
        return decision;
    }
    let is_pin =
        |entry: &str, value: &Value| *value == Value::Bool(true) && key(entry).is_pin() && key(entry).targets(sample);
    let versions: Vec<Option<String>> = subjects.iter().map(|subject| version_key(subject)).collect();
    let unknown = versions.iter().any(Option::is_none);
    match &name {
        Some(name) if !pin || unknown => {
            // A pin that can't be verified would never match, so the name replaces it.
            let change = pin.then_some("removed-pinned-allow");
            decision.drop_where(change, |entry, value| entry != name && is_pin(entry, value));
            decision.add(name, true);
            if pin && !decision.changes.is_empty() {
                decision.warning = Some(format!(
                    "all versions of {name} are approved, because the lockfile has no \"resolved\" to pin one"
                ));
            }
        }
        None if !pin => decision.drop_where(None, is_pin),
        _ => {
            let versions: Vec<String> = versions.into_iter().flatten().collect();
            decision.drop_where(Some("removed-stale"), |entry, value| {
                is_pin(entry, value) && !versions.iter().any(|version| version == entry)
            });
            for version in &versions {
                decision.add(version, true);
            }
            if let Some(name) = name.filter(|name| !versions.is_empty() && !versions.contains(name)) {
                decision
                    .drop_where(Some("replaced-by-pin"), |entry, value| entry == name && *value == Value::Bool(true));
            }
        }
    }
    decision
}

fn denial(entry: &str, name: &str, widest: bool) -> String {
    if widest {
        return format!("{entry} is denied; remove the entry from allowScripts to approve {name}");
    }
    format!(
        "{entry} is denied; remove the entry from allowScripts to approve {name}, or deny {name} to deny all versions"
    )
}

/// Denies all versions of a package.
pub fn deny(existing: &Map<String, Value>, subjects: &[&Subject], project: &str) -> Decision {
    let mut decision = Decision { entries: existing.clone(), ..Decision::default() };
    let Some((sample, name)) = subjects.first().and_then(|&sample| Some((sample, name_key(sample)?))) else {
        return decision;
    };
    decision.drop_where(Some("removed-pinned-allow"), |entry, _| {
        entry != name && Key::parse(entry, project).targets(sample)
    });
    decision.add(&name, false);
    decision
}

/// An entry that matches no installed package (`allow-scripts-prune.js`).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Unused {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: Value,
    /// `not-installed` or `no-scripts`.
    pub reason: &'static str,
}

/// The entries that match none of these packages. The flag of a package says whether it has
/// scripts. Unparsable entries stay.
pub fn unused(existing: &Map<String, Value>, installed: &[(Subject, bool)], project: &str) -> Vec<Unused> {
    let judge = |(key, value): (&String, &Value)| {
        let policy = Policy::of([(key.clone(), true)]);
        if policy.is_empty() {
            return None;
        }
        let about = installed.iter().filter(|(subject, _)| policy.decide(subject, project) == Verdict::Allowed);
        let about: Vec<bool> = about.map(|(_, has_scripts)| *has_scripts).collect();
        let reason = match about.as_slice() {
            [] => "not-installed",
            about if about.contains(&true) => return None,
            _ => "no-scripts",
        };
        Some(Unused { key: key.clone(), value: value.clone(), reason })
    };
    existing.iter().filter_map(judge).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Decision, approve, deny};
    use crate::scripts::identity::Subject;

    fn canvas(version: &str) -> Subject {
        Subject {
            name: "canvas".into(),
            version: Some(version.into()),
            resolved: Some(format!("http://registry.test/canvas/-/canvas-{version}.tgz")),
            asked: vec![("canvas".into(), "^2".into())],
            ..Subject::default()
        }
    }

    #[track_caller]
    fn check(decision: &Decision, entries: &Value, changes: &[(&str, &str)]) {
        assert_eq!(Value::Object(decision.entries.clone()), *entries);
        let found: Vec<_> = decision.changes.iter().map(|change| (change.change, change.key.as_str())).collect();
        assert_eq!(found, changes);
    }

    fn approved(existing: &Value, versions: &[&str], pin: bool) -> Decision {
        let subjects: Vec<Subject> = versions.iter().map(|version| canvas(version)).collect();
        approve(existing.as_object().expect("an object"), &subjects.iter().collect::<Vec<_>>(), pin, "/p")
    }

    #[test]
    fn what_is_installed_is_pinned() {
        let decision = approved(&json!({}), &["2.0.0", "2.1.0"], true);
        check(
            &decision,
            &json!({"canvas@2.0.0": true, "canvas@2.1.0": true}),
            &[("added", "canvas@2.0.0"), ("added", "canvas@2.1.0")],
        );
        check(
            &approved(&Value::Object(decision.entries), &["2.0.0", "2.1.0"], true),
            &json!({"canvas@2.0.0": true, "canvas@2.1.0": true}),
            &[],
        );
    }

    #[test]
    fn a_pin_replaces_older_pins_and_the_name() {
        let existing = json!({"canvas@1.0.0": true, "canvas": true, "other": true, "canvas@1.0.0 || 1.1.0": true});
        let expected = json!({"other": true, "canvas@1.0.0 || 1.1.0": true, "canvas@2.0.0": true});
        let changes = [("removed-stale", "canvas@1.0.0"), ("added", "canvas@2.0.0"), ("replaced-by-pin", "canvas")];
        check(&approved(&existing, &["2.0.0"], true), &expected, &changes);
    }

    #[test]
    fn without_pins_the_name_replaces_them() {
        let existing = json!({"canvas@1.0.0": true, "canvas@2.0.0": true});
        check(&approved(&existing, &["2.0.0"], false), &json!({"canvas": true}), &[("added", "canvas")]);
    }

    #[test]
    fn a_version_that_cannot_be_known_is_approved_by_name() {
        let subject = Subject { resolved: None, ..canvas("2.0.0") };
        let decision = approve(json!({"canvas@2.0.0": true}).as_object().expect("an object"), &[&subject], true, "/p");
        check(&decision, &json!({"canvas": true}), &[("removed-pinned-allow", "canvas@2.0.0"), ("added", "canvas")]);
        assert!(decision.warning.is_some());
    }

    #[test]
    fn a_denial_stands() {
        for key in ["canvas", "canvas@1.0.0"] {
            let decision = approved(&json!({key: false}), &["2.0.0"], true);
            check(&decision, &json!({key: false}), &[]);
            assert!(decision.warning.expect("a warning").contains(key));
        }
    }

    #[test]
    fn a_name_is_denied_in_all_versions() {
        let existing = json!({"canvas@2.0.0": true, "canvas@1.0.0 || 1.1.0": true, "other": true});
        let decision = deny(existing.as_object().expect("an object"), &[&canvas("2.0.0")], "/p");
        let changes = [
            ("removed-pinned-allow", "canvas@2.0.0"),
            ("removed-pinned-allow", "canvas@1.0.0 || 1.1.0"),
            ("added", "canvas"),
        ];
        check(&decision, &json!({"other": true, "canvas": false}), &changes);
    }
}
