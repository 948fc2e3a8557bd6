//! `espalier outdated` prints a table of packages with newer versions.

use std::process::ExitCode;
use std::sync::Arc;

use espalier_core::error::ResolveError;
use espalier_install::cache::{self, Cache};
use espalier_install::config::settings::Freshness;
use espalier_install::installed::{Installed, Source};
use espalier_install::lock::LockError;
use espalier_install::outdated::{Outdated, Question, outdated};
use espalier_install::registry::Registry;
use serde_json::{Map, Value, json};

use super::complaint::Complaint;
use super::context::{Context, choosing};
use super::measured::Measured;
use crate::arguments::reading::OutdatedArguments;
use crate::style::{CAUTION, LIVING, PROBLEM, Styled, quiet};

/// Prints the table. As in npm, the exit code is 1 if anything is outdated.
pub fn run(arguments: &OutdatedArguments) -> ExitCode {
    let mut measured = Measured::start(&arguments.measuring);
    let found = find(arguments, &mut measured);
    measured.end();
    match found {
        Ok(list) => {
            let text = if arguments.json {
                format!("{:#}\n", machine(&list, arguments.long))
            } else if arguments.parseable {
                parseable(&list, arguments.long)
            } else {
                table(&list, arguments.long)
            };
            super::say(&text);
            if list.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(complaint) => complaint.report(arguments.json),
    }
}

fn find(arguments: &OutdatedArguments, measured: &mut Measured<'_>) -> Result<Vec<Outdated>, Complaint> {
    let context = Context::anywhere(&arguments.project, &arguments.workspaces, "outdated")?;
    let workspaces = context.workspaces(&arguments.workspaces)?;
    let load = || Installed::load(&context.project, Source::NodeModules);
    let installed = measured.phase("reading", "package.json and node_modules", load)?;
    let mut settings = context.settings.clone();
    if settings.freshness == Freshness::Normal {
        // Cached documents may not list the newest versions.
        settings.freshness = Freshness::Revalidate;
    }
    let cache = cache::default_folder(&context.environment).map(|folder| Arc::new(Cache::at(&folder)));
    let registry = Registry::new(&settings, cache.clone(), Arc::clone(&measured.activity)).map_err(LockError::from)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads can be started");
    let question = Question {
        all: arguments.all,
        names: arguments.packages.clone(),
        omit: context.omitted(),
        workspaces: workspaces.into_iter().flatten().map(|workspace| workspace.location).collect(),
        without_workspaces: arguments.workspaces.are_off(),
        homepages: arguments.long,
    };
    let ask = || {
        runtime.block_on(async {
            let options = choosing(&settings).await;
            outdated(&installed, &question, &registry, &options).await
        })
    };
    let found = measured.phase("asking", "the registry for the newest versions", ask);
    if let Some(cache) = cache {
        cache.flush();
    }
    found.map_err(|failure| {
        let name = failure.url.rsplit('/').next().unwrap_or_default().replace("%2f", "/");
        let error = Box::new(ResolveError::Fetch { name, failure, chain: Vec::new() });
        LockError::Resolve { error, project: Box::default(), remedies: Vec::new() }.into()
    })
}

fn table(list: &[Outdated], long: bool) -> String {
    if list.is_empty() {
        return String::new();
    }
    let mut titles = vec!["Package", "Current", "Wanted", "Latest", "Location", "Depended by"];
    if long {
        titles.extend(["Package Type", "Homepage", "Depended By Location"]);
    }
    let rows: Vec<Vec<(anstyle::Style, String)>> = list
        .iter()
        .map(|outdated| {
            let within = outdated.current.as_ref() == Some(&outdated.wanted);
            let plain = anstyle::Style::new();
            let mut row = vec![
                (if within { CAUTION } else { PROBLEM }, outdated.name.clone()),
                (plain, outdated.current.clone().unwrap_or_else(|| "MISSING".to_owned())),
                (LIVING, outdated.wanted.clone()),
                (plain, outdated.latest.clone()),
                (plain, outdated.location.clone().unwrap_or_else(|| "-".to_owned())),
                (plain, outdated.workspace.clone().unwrap_or_else(|| outdated.dependent.clone())),
            ];
            if long {
                let homepage = outdated.homepage.clone().unwrap_or_default();
                let dependent = outdated.dependent_location.clone();
                row.extend([outdated.block.to_owned(), homepage, dependent].map(|text| (plain, text)));
            }
            row
        })
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].1.chars().count());
        cells.chain([titles[column].chars().count()]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..titles.len()).map(width).collect();
    let line = |cells: &[(String, usize)]| {
        // Versions are right-aligned, because their ends are compared.
        let cells = cells.iter().zip(&widths).enumerate().map(|(column, ((text, used), width))| {
            let space = " ".repeat(width - used);
            let right = (1..=3).contains(&column);
            let is_last = column + 1 == widths.len();
            if right {
                format!("{space}{text}")
            } else if is_last {
                text.clone()
            } else {
                format!("{text}{space}")
            }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let heading: Vec<_> = titles.iter().map(|title| (quiet(title).to_string(), title.chars().count())).collect();
    let mut text = line(&heading);
    for row in &rows {
        let cells: Vec<_> =
            row.iter().map(|(style, cell)| (Styled(*style, cell).to_string(), cell.chars().count())).collect();
        text += &line(&cells);
    }
    text
}

fn parseable(list: &[Outdated], long: bool) -> String {
    let line = |outdated: &Outdated| {
        let Outdated { name, wanted, latest, dependent, .. } = outdated;
        let current =
            outdated.current.as_ref().map_or_else(|| "MISSING".to_owned(), |current| format!("{name}@{current}"));
        let path = outdated.path.as_deref().unwrap_or_default();
        let mut line = format!("{path}:{name}@{wanted}:{current}:{name}@{latest}:{dependent}");
        if long {
            let homepage = outdated.homepage.as_deref().unwrap_or_default();
            line.extend([":", outdated.block, ":", homepage, ":", &outdated.dependent_location]);
        }
        line + "\n"
    };
    list.iter().map(line).collect()
}

/// An object with the packages by name. A name that is outdated in several places has a list.
fn machine(list: &[Outdated], long: bool) -> Value {
    let mut all: Map<String, Value> = Map::new();
    for outdated in list {
        let mut entry = Map::new();
        let mut put = |key: &str, value: Option<&str>| value.map(|value| entry.insert(key.to_owned(), value.into()));
        put("current", outdated.current.as_deref());
        put("wanted", Some(&outdated.wanted));
        put("latest", Some(&outdated.latest));
        put("dependent", Some(&outdated.dependent));
        put("location", outdated.path.as_deref());
        if long {
            put("type", Some(outdated.block));
            put("homepage", outdated.homepage.as_deref());
            put("dependedByLocation", Some(&outdated.dependent_location));
        }
        match all.get_mut(&outdated.name) {
            Some(Value::Array(several)) => several.push(entry.into()),
            Some(one) => *one = json!([one.take(), entry]),
            None => {
                all.insert(outdated.name.clone(), entry.into());
            }
        }
    }
    Value::Object(all)
}
