//! `espalier tree` lists the installed packages as `npm ls` prints them.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use espalier_install::installed::listing::{Item, Listing, Problem, Selection};
use espalier_install::installed::{Installed, Source};
use espalier_install::scripts::package::ScriptPackage;
use serde_json::{Map, Value, json};

use super::complaint::Complaint;
use super::context::Context;
use crate::arguments::reading::TreeArguments;
use crate::report::printable;
use crate::style::{CAUTION, LIVING, PROBLEM, Styled, quiet, strong};

/// Prints the list.
pub fn run(arguments: &TreeArguments) -> ExitCode {
    match tree(arguments) {
        Ok(code) => code,
        Err(complaint) => complaint.report(arguments.json),
    }
}

fn tree(arguments: &TreeArguments) -> Result<ExitCode, Complaint> {
    let context = Context::anywhere(&arguments.project, &arguments.workspaces, "ls")?;
    let workspaces = context.workspaces(&arguments.workspaces)?;
    let source = if arguments.package_lock_only { Source::Lockfile } else { Source::NodeModules };
    let installed = Installed::load(&context.project, source)?;
    let listing = installed.list(&Selection {
        all: arguments.all || context.config.flag("all", false),
        depth: arguments.depth,
        omit: context.omitted(),
        links_only: arguments.link,
        packages: arguments.packages.clone(),
        workspaces: workspaces.into_iter().flatten().map(|workspace| workspace.location).collect(),
        without_workspaces: arguments.workspaces.are_off(),
        with_root: arguments.workspaces.include_workspace_root,
    });
    let drawing = Drawing { installed: &installed, listing: &listing, arguments };
    let text = if arguments.json {
        format!("{:#}\n", drawing.json())
    } else if arguments.parseable {
        drawing.folders()
    } else {
        drawing.lines()
    };
    super::say(&text);
    if listing.is_broken() {
        if !arguments.json {
            anstream::eprint!("{}", problems(&listing));
        }
        return Ok(ExitCode::FAILURE);
    }
    let nothing = listing.is_empty() && !arguments.packages.is_empty();
    Ok(if nothing { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn texts(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

/// npm's text of each problem, under one headline.
fn problems(listing: &Listing) -> String {
    let mut text =
        format!("\n{} {}\n\n", Styled(PROBLEM, "error:"), strong("the tree does not match package.json (ELSPROBLEMS)"));
    for problem in &listing.problems {
        let _ = writeln!(text, "  {problem}");
    }
    text
}

struct Drawing<'a> {
    installed: &'a Installed,
    listing: &'a Listing,
    arguments: &'a TreeArguments,
}

impl Drawing<'_> {
    fn lines(&self) -> String {
        let mut text = self.label(&self.listing.items[0]).replace('\n', "\n│ ") + "\n";
        if self.listing.below(0).is_empty() {
            let _ = writeln!(text, "{} (empty)", quiet("└──"));
        }
        self.draw(0, "", &mut text);
        text
    }

    fn draw(&self, item: usize, prefix: &str, text: &mut String) {
        let below = self.listing.below(item);
        for (index, &child) in below.iter().enumerate() {
            let last = index + 1 == below.len();
            let more = !self.listing.below(child).is_empty();
            let branch = format!("{}─{}", if last { "└" } else { "├" }, if more { "┬" } else { "─" });
            let continued = format!("{prefix}{} ", if last { " " } else { "│" });
            let label = self.label(&self.listing.items[child]);
            let label = label.replace('\n', &format!("\n{continued}{} ", if more { "│" } else { " " }));
            let _ = writeln!(text, "{}{label}", quiet(format!("{prefix}{branch} ")));
            self.draw(child, &continued, text);
        }
    }

    fn label(&self, item: &Item) -> String {
        let node = item.node.map(|node| &self.installed.graph.nodes[node as usize]);
        let mut label = String::new();
        if item.missing.is_some() {
            let (style, word) =
                if item.optional { (CAUTION, "UNMET OPTIONAL DEPENDENCY") } else { (PROBLEM, "UNMET DEPENDENCY") };
            let _ = write!(label, "{} ", Styled(style, word));
        }
        let highlighted = !self.arguments.packages.is_empty() && item.matched;
        let workspace = node.is_some_and(|node| node.workspace);
        label += &match (item.node, highlighted) {
            (Some(0), _) => self.root(item),
            (_, true) => Styled(CAUTION, &item.id).to_string(),
            _ if workspace => Styled(LIVING, &item.id).to_string(),
            _ => item.id.clone(),
        };
        let mut add = |text: String| label.extend([" ", &text]);
        if item.deduped {
            add(quiet("deduped").to_string());
        }
        if let Some(invalid) = &item.invalid {
            add(Styled(PROBLEM, format!("invalid: {invalid}")).to_string());
        }
        if item.extraneous {
            add(Styled(PROBLEM, "extraneous").to_string());
        }
        if let Some(node) = node.filter(|_| item.node != Some(0)) {
            if node.overridden && !item.deduped {
                add(quiet("overridden").to_string());
            }
            if let Some(resolved) = node.resolved.as_deref().filter(|text| text.starts_with("git") && !item.deduped) {
                add(format!("({resolved})"));
            }
            if let Some(target) = node.target {
                add(format!("-> ./{}", self.installed.graph.nodes[target as usize].location));
            }
        }
        if self.arguments.long {
            let _ = write!(label, "\n{}", printable(self.manifest(item).text("description").unwrap_or_default()));
        }
        label
    }

    fn root(&self, item: &Item) -> String {
        if !self.has_manifest() {
            return self.installed.path.clone();
        }
        let separator = if self.arguments.long { '\n' } else { ' ' };
        format!("{}{separator}{}", strong(&item.id), self.installed.path)
    }

    /// Whether there is a package.json with any content.
    fn has_manifest(&self) -> bool {
        ScriptPackage::read(Path::new(&self.installed.path)).is_ok_and(|own| !own.fields().is_empty())
    }

    fn manifest(&self, item: &Item) -> ScriptPackage {
        let path = item.node.map(|node| self.installed.path_of(node)).unwrap_or_default();
        ScriptPackage::read(Path::new(&path)).unwrap_or_default()
    }

    fn folders(&self) -> String {
        let mut text = String::new();
        for &index in &self.listing.folders {
            let item = &self.listing.items[index];
            let Some(node) = item.node else { continue };
            let path = self.installed.path_of(node);
            text += &path;
            if self.arguments.long {
                let entry = &self.installed.graph.nodes[node as usize];
                let _ = write!(text, ":{}", item.id);
                if let Some(target) = entry.target {
                    let _ = write!(text, ":{}", self.installed.path_of(target));
                }
                let marks = [
                    (item.extraneous, ":EXTRANEOUS"),
                    (item.invalid.is_some(), ":INVALID"),
                    (entry.overridden, ":OVERRIDDEN"),
                ];
                text.extend(marks.into_iter().filter(|(set, _)| *set).map(|(_, mark)| mark));
            }
            text.push('\n');
        }
        text
    }

    fn json(&self) -> Value {
        let mut root = self.object(0);
        if !self.listing.problems.is_empty() {
            root.insert("problems".to_owned(), texts(&self.listing.problems).into());
        }
        let mut tree = self.with_dependencies(0, root);
        if self.listing.is_broken() {
            // npm adds any error to its JSON.
            tree["error"] =
                json!({"code": "ELSPROBLEMS", "summary": texts(&self.listing.problems).join("\n"), "detail": ""});
        }
        tree
    }

    fn with_dependencies(&self, item: usize, mut object: Map<String, Value>) -> Value {
        let below: Map<String, Value> = self
            .listing
            .below(item)
            .iter()
            .map(|&child| (self.listing.items[child].name.clone(), self.with_dependencies(child, self.object(child))))
            .collect();
        if !below.is_empty() {
            object.insert("dependencies".to_owned(), below.into());
        }
        Value::Object(object)
    }

    fn object(&self, index: usize) -> Map<String, Value> {
        let item = &self.listing.items[index];
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        if let Some(node) = item.node {
            let entry = &self.installed.graph.nodes[node as usize];
            if let Some(version) = &entry.version {
                put("version", version.as_str().into());
            }
            if !item.deduped && node != 0 {
                if let Some(resolved) = &entry.resolved {
                    put("resolved", resolved.as_str().into());
                }
                put("overridden", entry.overridden.into());
            }
            if node == 0 && self.has_manifest() {
                put("name", self.installed.package_name(0).into());
            }
            if self.arguments.long {
                put("name", item.name.as_str().into());
                for (key, value) in self.manifest(item).fields().clone() {
                    if key != "dependencies" {
                        put(&key, value);
                    }
                }
                put("extraneous", false.into());
                put("path", self.installed.path_of(node).into());
            }
        }
        if item.extraneous {
            put("extraneous", true.into());
        }
        if let Some(invalid) = &item.invalid {
            put("invalid", invalid.as_str().into());
        }
        if item.missing.is_some() && !item.optional {
            if let Some(required) = &item.required {
                put("required", required.as_str().into());
            }
            put("missing", true.into());
        }
        if !item.problems.is_empty() {
            put("problems", texts(&item.problems).into());
        }
        object
    }
}
