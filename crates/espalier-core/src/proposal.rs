//! Changes that might resolve a conflict of peers. [`crate::remedy`] tries them.

use serde::Serialize;
use serde_json::{Value, json};

/// A change to a package.json of the project, or one of npm's flags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Proposal {
    /// Change the range of a dependency.
    Range {
        /// The workspace whose package.json changes. Empty for the project's own.
        #[serde(skip_serializing_if = "String::is_empty")]
        folder: String,
        /// The block of package.json, such as `devDependencies`.
        block: &'static str,
        /// The dependency's key.
        name: String,
        /// The present range.
        from: String,
        /// The new range.
        to: String,
    },
    /// Override a dependency of a package.
    Override {
        /// The dependent.
        parent: String,
        /// The dependency.
        name: String,
        /// The new spec. `$name` refers to the root's spec.
        spec: String,
    },
    /// Remove a dependency.
    Remove {
        /// The workspace whose package.json changes. Empty for the project's own.
        #[serde(skip_serializing_if = "String::is_empty")]
        folder: String,
        /// The block of package.json.
        block: &'static str,
        /// The dependency's key.
        name: String,
    },
    /// Use a flag of npm's that ignores peers or their conflicts.
    Flag {
        /// `legacy-peer-deps` or `force`.
        flag: &'static str,
    },
}

impl Proposal {
    /// The workspace that changes. `None` if the project itself does.
    pub fn folder(&self) -> Option<&str> {
        match self {
            Self::Range { folder, .. } | Self::Remove { folder, .. } => {
                Some(folder.as_str()).filter(|it| !it.is_empty())
            }
            Self::Override { .. } | Self::Flag { .. } => None,
        }
    }

    /// Applies the change to a manifest. A flag changes nothing.
    pub(crate) fn edit(&self, manifest: &mut Value) {
        match self {
            Self::Range { block, name, to, .. } => manifest[*block][name] = to.as_str().into(),
            Self::Override { parent, name, spec } => {
                let rules = &mut manifest["overrides"];
                if !rules.is_object() {
                    *rules = json!({});
                }
                let rule = &mut rules[parent];
                match rule {
                    Value::String(own) => *rule = json!({ ".": own, name: spec }),
                    Value::Object(rules) => {
                        rules.insert(name.clone(), spec.as_str().into());
                    }
                    _ => *rule = json!({ name: spec }),
                }
            }
            Self::Remove { block, name, .. } => {
                if let Some(block) = manifest[*block].as_object_mut() {
                    block.shift_remove(name);
                }
            }
            Self::Flag { .. } => {}
        }
    }

    /// Whether two changes concern the same dependency, so that only one of them makes sense.
    pub(crate) fn concerns_same(&self, other: &Self) -> bool {
        let subject = |change: &Self| match change {
            Self::Range { folder, name, .. } | Self::Remove { folder, name, .. } => {
                Some((None, folder.clone(), name.clone()))
            }
            Self::Override { parent, name, .. } => Some((Some(parent.clone()), String::new(), name.clone())),
            Self::Flag { .. } => None,
        };
        subject(self) == subject(other)
    }
}
