//! The root's workspaces: which folders they are (`@npmcli/map-workspaces`).

use serde_json::Value;
use std::rc::Rc;

use super::Builder;
use crate::collation;
use crate::error::ResolveError;
use crate::order;
use crate::request::{Answer, Request};
use crate::tree::Workspaces;

impl Builder {
    /// Finds the workspaces and gives them to the root.
    pub(super) async fn map_workspaces(&mut self) -> Result<(), ResolveError> {
        let Some(declared) = &self.tree[self.tree.root].manifest.workspaces else {
            return Ok(());
        };
        let (patterns, negated) = patterns(declared)?;
        if patterns.is_empty() {
            return Ok(());
        }
        let Ok(Answer::PackageFolders(mut folders)) = self.answer(&Request::PackageFolders).await else {
            return Ok(());
        };
        folders.retain(|folder| !folder.split('/').any(|part| part == "node_modules"));
        folders.retain(|folder| !negated.iter().any(|pattern| matches(pattern, folder)));
        order::sort_by(&mut folders, |a, b| collation::compare(a, b));

        let mut workspaces = Workspaces::new();
        for pattern in &patterns {
            // The project can be a workspace of itself.
            let project = (pattern == ".").then(String::new);
            for folder in project.iter().chain(folders.iter().filter(|folder| matches(pattern, folder))) {
                let manifest = match folder.as_str() {
                    "" => Some(self.tree[self.tree.root].manifest.clone()),
                    folder => self.read_folder(folder).await,
                };
                let Some(manifest) = manifest else { continue };
                let name = manifest.name.clone().unwrap_or_else(|| self.tree.folder_name(folder).into());
                let name = self.tree.names.intern(&name);
                let folder: Rc<str> = folder.as_str().into();
                match workspaces.iter().find(|(other, _)| *other == name) {
                    Some((_, other)) if *other != folder => {
                        return Err(refused(
                            "EDUPLICATEWORKSPACE",
                            format!("two workspaces are called {}: {other} and {folder}", self.tree.names.text(name)),
                        ));
                    }
                    Some(_) => {}
                    None => {
                        if !self.only_reading {
                            self.catalog.foresee_dependencies(&mut self.tree, &self.exchange, &manifest);
                        }
                        workspaces.push((name, folder));
                    }
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

fn refused(code: &'static str, message: String) -> ResolveError {
    ResolveError::Refused { code, message, chain: Vec::new() }
}

/// The patterns, and those that take folders away again. A pattern that comes after a negated one and matches
/// it brings the folders back.
fn patterns(declared: &Value) -> Result<(Vec<String>, Vec<String>), ResolveError> {
    let list = declared.get("packages").filter(|packages| packages.is_array()).unwrap_or(declared);
    let list = list.as_array().ok_or_else(|| {
        refused("EWORKSPACESCONFIG", "workspaces in package.json has to be an array of patterns".to_owned())
    })?;
    let (mut patterns, mut negated): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for pattern in list.iter().filter_map(Value::as_str) {
        let bare = pattern.trim_start_matches('!');
        let is_negated = (pattern.len() - bare.len()) % 2 == 1;
        let bare = bare.strip_prefix('.').filter(|rest| rest.starts_with('/')).unwrap_or(bare);
        let bare = bare.trim_start_matches('/').trim_end_matches('/').to_owned();
        if is_negated {
            negated.push(bare);
        } else {
            negated.retain(|negated| !matches(negated, &bare));
            patterns.push(bare);
        }
    }
    patterns.retain(|pattern| !negated.iter().any(|negated| matches(negated, pattern)));
    Ok((patterns, negated))
}

/// Whether a folder matches a glob; hidden folders only match a pattern that names them.
fn matches(pattern: &str, folder: &str) -> bool {
    let hidden = folder.split('/').any(|part| part.starts_with('.') && part != "..");
    (!hidden || pattern.contains("/.") || pattern.starts_with('.')) && fast_glob::glob_match(pattern, folder)
}
