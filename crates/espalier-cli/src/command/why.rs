//! `espalier why` prints the dependents of a package as `npm explain` does.

use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use espalier_core::EdgeKind;
use espalier_core::paths;
use espalier_install::installed::explain::{Dependent, Explained, Explanations};
use espalier_install::installed::{Installed, Source};

use super::complaint::Complaint;
use super::context::{Context, current_folder};
use crate::arguments::project::WorkspaceArguments;
use crate::arguments::reading::WhyArguments;
use crate::style::{CAUTION, PROBLEM, Styled, quiet, strong};

/// The style of dependencies that apply under a condition only.
const KIND: Style = AnsiColor::Cyan.on_default();

/// Prints the explanations.
pub fn run(arguments: &WhyArguments) -> ExitCode {
    match why(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(complaint) => complaint.report(arguments.json),
    }
}

fn why(arguments: &WhyArguments) -> Result<(), Complaint> {
    let context = Context::new(&arguments.project, &WorkspaceArguments::default(), "explain")?;
    let installed = Installed::load(&context.project, Source::NodeModules)?;
    let here = current_folder().to_string_lossy().replace('\\', "/");
    let mut nodes = Vec::new();
    for package in &arguments.packages {
        let path = paths::relative(&installed.path, &paths::join(&here, package));
        for node in installed.explainer().matching(package, Some(&path)) {
            if !nodes.contains(&node) {
                nodes.push(node);
            }
        }
    }
    if nodes.is_empty() {
        let details = format!("  {} lists the installed packages.\n", strong("espalier tree --all"));
        return Err(Complaint::own(
            "ENOMATCH",
            format!("no installed package matches {}", arguments.packages.join(" or ")),
            details,
        ));
    }
    let explanations = installed.explainer().explain(&nodes);
    if arguments.json {
        super::say(&format!("{:#}\n", explanations.to_json()));
        return Ok(());
    }
    let mut telling = Telling { explanations: &explanations, seen: Vec::new() };
    let told: Vec<String> = explanations.asked.iter().map(|&explained| telling.node(explained)).collect();
    super::say(&(told.join("\n\n") + "\n"));
    Ok(())
}

struct Telling<'a> {
    explanations: &'a Explanations,
    /// The explanations further up, so that circles end.
    seen: Vec<Explained>,
}

impl Telling<'_> {
    fn node(&mut self, explained: Explained) -> String {
        self.title(explained) + &self.dependents(explained) + &self.links(explained)
    }

    fn title(&self, explained: Explained) -> String {
        let explanation = &self.explanations[explained];
        let name = explanation.name.as_deref().unwrap_or_default();
        let id = strong(format!("{name}@{}", explanation.version.as_deref().unwrap_or("undefined")));
        let shown = ["extraneous", "dev", "optional", "peer", "bundled", "overridden"];
        let marks = shown.into_iter().filter(|mark| explanation.marks.contains(&(mark, true)));
        let marks: String = marks.flat_map(|mark| [" ".to_owned(), styled(mark)]).collect();
        let location = explanation.location.as_deref().filter(|location| !location.is_empty());
        let location = location.map(|location| format!("\n{}", quiet(location))).unwrap_or_default();
        format!("{id}{marks}{location}")
    }

    fn dependents(&mut self, explained: Explained) -> String {
        let dependents = self.explanations[explained].dependents.clone();
        let told: Vec<String> = dependents.iter().map(|dependent| self.dependent(dependent)).collect();
        indented(&told)
    }

    fn links(&mut self, explained: Explained) -> String {
        let links = self.explanations[explained].links.clone();
        let told: Vec<String> = links.into_iter().map(|link| self.node(link)).collect();
        indented(&told)
    }

    fn dependent(&mut self, dependent: &Dependent) -> String {
        let mut asked = if dependent.kind == EdgeKind::Workspace {
            let from = self.explanations[dependent.from].location.as_deref().unwrap_or_default();
            strong(paths::relative(from, dependent.spec.trim_start_matches("file:"))).to_string()
        } else {
            format!("{}@\"{}\"", dependent.name, dependent.spec)
        };
        if let Some(raw) = &dependent.raw_spec {
            asked = format!("{} {asked} (was \"{raw}\")", styled("overridden"));
        }
        let bundled = if dependent.bundled { format!("{} ", styled("bundled")) } else { String::new() };
        let of_kind = match dependent.kind {
            EdgeKind::Prod => String::new(),
            kind if kind.is_peer() => format!("{} ", Styled(CAUTION, kind.as_str())),
            kind => format!("{} ", Styled(KIND, kind.as_str())),
        };
        format!("{of_kind}{bundled}{asked} from {}", self.from(dependent.from))
    }

    fn from(&mut self, explained: Explained) -> String {
        if self.explanations[explained].name.is_none() {
            return "the root project".to_owned();
        }
        if self.seen.contains(&explained) {
            return self.title(explained);
        }
        self.seen.push(explained);
        let told = self.node(explained);
        self.seen.pop();
        told
    }
}

/// Each text on a line of its own, with more indentation.
fn indented(texts: &[String]) -> String {
    texts.iter().map(|text| format!("\n{text}").replace('\n', "\n  ")).collect()
}

/// A mark of a package in its colour.
fn styled(mark: &str) -> String {
    match mark {
        "extraneous" => Styled(PROBLEM, mark).to_string(),
        "overridden" => quiet(mark).to_string(),
        "peer" => Styled(CAUTION, mark).to_string(),
        _ => Styled(KIND, mark).to_string(),
    }
}
