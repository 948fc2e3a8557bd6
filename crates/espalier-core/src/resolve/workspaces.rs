//! The root's workspaces and their folders (`@npmcli/map-workspaces`).

use serde_json::Value;
use std::borrow::Cow;
use std::rc::Rc;

use super::start::Start;
use crate::collation;
use crate::error::ResolveError;
use crate::glob::{Manner, Pattern};
use crate::json::{self, Fields};
use crate::manifest::Manifest;
use crate::order;
use crate::refusal::Refusal;
use crate::request::{Answer, Request};
use crate::tree::Workspaces;

impl Start {
    /// Finds the workspaces and gives them to the root.
    pub(super) async fn map_workspaces(&mut self) -> Result<(), ResolveError> {
        let Some(declared) = &self.tree[self.tree.root].manifest.workspaces else {
            return Ok(());
        };
        let patterns = Patterns::new(declared)?;
        if patterns.wanted.is_empty() {
            return Ok(());
        }
        let Ok(Answer::PackageFolders(folders)) = self.sources.answer(&Request::PackageFolders).await else {
            return Ok(());
        };
        let mut workspaces = Workspaces::new();
        for folder in patterns.folders(folders) {
            let manifest = if folder.is_empty() {
                self.tree[self.tree.root].manifest.clone()
            } else {
                let Some(text) = self.sources.folder_manifest(&folder).await else { continue };
                let value = json::parse(&[&folder, "/package.json"].concat(), &text)?;
                Rc::new(Manifest::from_value(&value, &self.sources.vocabulary))
            };
            let name = match &manifest.name {
                Some(name) => Cow::Borrowed(&**name),
                None => self.tree.folder_name(&folder),
            };
            let name = self.sources.vocabulary.names.intern(&name);
            let folder: Rc<str> = folder.into();
            match workspaces.iter().find(|(other, _)| *other == name) {
                Some((_, other)) if *other != folder => {
                    return Err(Refusal::DuplicateWorkspace {
                        name: self.tree.text(name).to_owned(),
                        first: other.to_string(),
                        second: folder.to_string(),
                    }
                    .into());
                }
                Some(_) => {}
                None => {
                    if !self.sources.only_reading {
                        self.sources.foresee_dependencies(&manifest);
                    }
                    workspaces.push((name, folder));
                }
            }
        }
        if !workspaces.is_empty() {
            let root = self.tree.root;
            self.tree.set_workspaces(root, workspaces);
        }
        Ok(())
    }
}

/// A pattern of `workspaces`.
struct WorkspacePattern {
    text: String,
    glob: Pattern,
}

impl WorkspacePattern {
    fn new(text: &str) -> Self {
        Self { text: text.to_owned(), glob: Pattern::new(&text.replace('\\', "/"), Manner::default()) }
    }

    /// Whether walking along the pattern ends in a folder. Hidden folders are skipped.
    fn walks_to(&self, folder: &str) -> bool {
        [folder, &format!("{folder}/")].into_iter().any(|folder| self.glob.matches(folder))
    }

    /// Whether it excludes a folder. It can exclude hidden ones, too.
    fn ignores(&self, folder: &str) -> bool {
        [folder, &format!("{folder}/")].into_iter().any(|folder| self.glob.matches_hidden(folder))
    }
}

/// The patterns of `workspaces`.
struct Patterns {
    wanted: Vec<WorkspacePattern>,
    /// The patterns that exclude folders.
    negated: Vec<WorkspacePattern>,
}

impl Patterns {
    /// Parses the patterns. A pattern that follows an excluding one and matches it includes the
    /// folders again.
    fn new(declared: &Value) -> Result<Self, ResolveError> {
        let list = declared.get("packages").filter(|packages| packages.is_array()).unwrap_or(declared);
        let list = list.as_array().ok_or(Refusal::WorkspacesNotAList)?;
        let (mut wanted, mut negated): (Vec<WorkspacePattern>, Vec<WorkspacePattern>) = (Vec::new(), Vec::new());
        for pattern in list.iter().filter_map(Value::as_str) {
            let bare = pattern.trim_start_matches('!');
            let is_negated = (pattern.len() - bare.len()) % 2 == 1;
            let bare = bare.strip_prefix('.').filter(|rest| rest.starts_with('/')).unwrap_or(bare);
            let bare = WorkspacePattern::new(bare.trim_start_matches('/'));
            if is_negated {
                negated.push(bare);
            } else {
                negated.retain(|negated| !negated.glob.matches(&bare.text));
                wanted.push(bare);
            }
        }
        wanted.retain(|pattern: &WorkspacePattern| !negated.iter().any(|negated| negated.glob.matches(&pattern.text)));
        Ok(Self { wanted, negated })
    }

    /// The workspaces among these folders, in npm's order and possibly repeated. The project can be
    /// a workspace of itself; its path is empty.
    fn folders(&self, mut folders: Vec<String>) -> Vec<String> {
        folders.push(".".to_owned());
        folders.retain(|folder| {
            !folder.split('/').any(|part| part == "node_modules")
                && !self.negated.iter().any(|pattern| pattern.ignores(folder))
                && self.wanted.iter().any(|pattern| pattern.walks_to(folder))
        });
        order::sort_by(&mut folders, |a, b| collation::compare(a, b));
        // npm lists a folder where the first pattern could match it or something below it.
        let mut found = Vec::new();
        for pattern in &self.wanted {
            found.extend(folders.iter().filter(|folder| pattern.glob.matches_above(folder)).cloned());
        }
        for folder in found.iter_mut().filter(|folder| *folder == ".") {
            folder.clear();
        }
        found
    }
}

/// The folders that a manifest's workspaces can be in, so that other folders needn't be searched.
#[derive(Debug)]
pub struct WorkspaceFolders(Vec<Pattern>);

impl WorkspaceFolders {
    /// The folders for the manifest with this text.
    pub fn of(manifest: &str) -> Self {
        let declared = Fields::read(json::strip_byte_order_mark(manifest), &["workspaces"]).unwrap_or_default();
        let patterns = Patterns::new(declared.get("workspaces")).map(|patterns| patterns.wanted).unwrap_or_default();
        Self(patterns.into_iter().map(|pattern| pattern.glob).collect())
    }

    /// Whether this folder may be a workspace.
    pub fn may_be(&self, folder: &str) -> bool {
        self.0.iter().any(|pattern| pattern.matches_above(folder))
    }

    /// Whether a workspace may be below this folder.
    pub fn may_be_below(&self, folder: &str) -> bool {
        self.0.iter().any(|pattern| pattern.matches_below(folder))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Patterns, WorkspaceFolders};

    #[test]
    fn only_the_folders_of_patterns_are_looked_into() {
        for (patterns, folder, expected) in [
            (r#"["packages/*"]"#, "packages", (true, true)),
            (r#"["packages/*"]"#, "packages/a", (true, false)),
            (r#"["packages/*"]"#, "packages/a/b", (false, false)),
            (r#"["packages/*"]"#, "target", (false, false)),
            (r#"{"packages":["./apps/web/"]}"#, "apps/web", (true, false)),
            (r#"["packages/**"]"#, "packages", (true, true)),
            (r#"["packages/**"]"#, "packages/a/b", (true, true)),
            (r#"["packages/**"]"#, "packages/.git", (false, false)),
            (r#"["{apps,libs/*}"]"#, "libs", (true, true)),
            (r#"["{apps,libs/*}"]"#, "libs/a", (true, false)),
            (r#"["packages/!(*-test)"]"#, "packages", (true, true)),
            (r#"["a", "!packages/old", "packages/*"]"#, "packages/old", (true, false)),
            ("null", "packages", (false, false)),
        ] {
            // The expected answers for the folder itself and for folders below it.
            let folders = WorkspaceFolders::of(&format!(r#"{{"workspaces":{patterns}}}"#));
            let seen = (folders.may_be(folder), folders.may_be_below(folder));
            assert_eq!(seen, expected, "{patterns} {folder}");
        }
    }

    /// The expected answers are those of `@npmcli/map-workspaces`.
    #[test]
    fn folders_are_those_of_npm_in_its_order() {
        let folders = [
            "apps/web",
            "packages/a",
            "packages/a/sub",
            "packages/b",
            "packages/b-test",
            "packages/.c",
            "node_modules/x",
        ];
        for (patterns, expected) in [
            (json!(["packages/*"]), vec!["packages/a", "packages/b", "packages/b-test"]),
            (json!(["packages/*/"]), vec!["packages/a", "packages/b", "packages/b-test"]),
            (json!(["./packages/*", "/apps/*"]), vec!["packages/a", "packages/b", "packages/b-test", "apps/web"]),
            (
                json!(["packages/a/sub", "packages/*"]),
                vec!["packages/a", "packages/a/sub", "packages/b", "packages/b-test"],
            ),
            (json!(["packages/**"]), vec!["packages/a", "packages/a/sub", "packages/b", "packages/b-test"]),
            (json!(["**"]), vec!["apps/web", "packages/a", "packages/a/sub", "packages/b", "packages/b-test"]),
            (json!(["packages/@(a|b)"]), vec!["packages/a", "packages/b"]),
            (json!(["packages/!(*-test)"]), vec!["packages/a", "packages/b"]),
            (json!(["packages/+([a-z])"]), vec!["packages/a", "packages/b"]),
            (json!(["{apps,packages}/*"]), vec!["apps/web", "packages/a", "packages/b", "packages/b-test"]),
            (json!(["packages/*", "!packages/b*"]), vec!["packages/a"]),
            (json!(["packages/*", "!packages/*-test/"]), vec!["packages/a", "packages/b"]),
            (json!(["packages/*", "!packages/b", "packages/b"]), vec!["packages/a", "packages/b", "packages/b-test"]),
            (json!(["!packages/b", "packages/*"]), vec!["packages/a", "packages/b-test"]),
            (json!(["packages/.c"]), vec!["packages/.c"]),
            (json!(["packages/.*"]), vec!["packages/.c"]),
            (json!(["packages/*", "!packages/.*"]), vec!["packages/a", "packages/b", "packages/b-test"]),
            (json!(["."]), vec![""]),
            (json!(["*"]), Vec::<&str>::new()),
            (json!(["packages/?"]), vec!["packages/a", "packages/b"]),
            (json!(["packages/b*", "apps/web"]), vec!["packages/b", "packages/b-test", "apps/web"]),
            (json!(["packages\\a"]), vec!["packages/a"]),
            (json!(["packages/a/..//b"]), vec!["packages/b"]),
        ] {
            let mut found = Patterns::new(&patterns).expect("a list").folders(folders.map(str::to_owned).to_vec());
            let mut seen = Vec::new();
            found.retain(|folder| {
                !seen.contains(folder) && {
                    seen.push(folder.clone());
                    true
                }
            });
            assert_eq!(found, expected, "{patterns}");
        }
    }
}
