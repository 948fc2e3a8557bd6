//! Proposals that might resolve a conflict of peers, one by one. Whether any does is found out by [`crate::remedy`].

use serde::Serialize;
use serde_json::{Value, json};

/// One change to a package.json of the project, or one of npm's flags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Proposal {
    /// Ask for another range.
    Range {
        /// The workspace whose package.json it is; empty for the project's own.
        #[serde(skip_serializing_if = "String::is_empty")]
        folder: String,
        /// The block of package.json, such as `devDependencies`.
        block: &'static str,
        /// The dependency's key there.
        name: String,
        /// What stands there.
        from: String,
        /// What should.
        to: String,
    },
    /// Override what a package asks for.
    Override {
        /// The package that asks.
        parent: String,
        /// What it asks for.
        name: String,
        /// What it shall have; `$name` is what the root asks for.
        spec: String,
    },
    /// Do without a dependency.
    Remove {
        /// The workspace whose package.json it is; empty for the project's own.
        #[serde(skip_serializing_if = "String::is_empty")]
        folder: String,
        /// The block of package.json.
        block: &'static str,
        /// The dependency's key there.
        name: String,
    },
    /// Ignore peers or their conflicts: a flag of npm's.
    Flag {
        /// `legacy-peer-deps` or `force`.
        flag: &'static str,
    },
}

impl Proposal {
    /// The workspace that it changes; none for what is the project's own.
    pub fn folder(&self) -> Option<&str> {
        match self {
            Self::Range { folder, .. } | Self::Remove { folder, .. } => {
                Some(folder.as_str()).filter(|it| !it.is_empty())
            }
            Self::Override { .. } | Self::Flag { .. } => None,
        }
    }

    /// Makes it in a manifest, where a flag changes nothing.
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

    /// Whether two changes are about the same thing, so that only one of them makes sense.
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
