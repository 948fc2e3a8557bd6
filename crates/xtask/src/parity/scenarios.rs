//! `cargo xtask parity --scenarios`: compares npm's results with `tests/scenarios/*.md`. With
//! `--write`, writes them there.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use espalier_replay::{Registry, Server, Settings};

use crate::oracle::{self, Answer, Driver};

#[path = "../../../espalier-core/tests/scenario/mod.rs"]
#[expect(dead_code, reason = "npm's answers are asked for here, and not ours")]
mod scenario;

use scenario::{Scenario, Step};

/// Compares the scenarios, or writes them. Fails if a scenario differs and isn't written.
pub fn run(write: bool) -> anyhow::Result<()> {
    let npm = oracle::install(None)?;
    let scratch = tempfile::tempdir()?;
    let mut driver = Driver::start(&npm, &scratch.path().join("npm"), false)?;
    let (mut count, mut differing) = (0, 0);
    let folder = oracle::repository().join("tests/scenarios");
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let file = entry?.path();
        let text = fs::read_to_string(&file)?;
        let mut expectations = Vec::new();
        for (number, scenario) in Scenario::all(&text).into_iter().enumerate() {
            let told = ask(&scenario, &mut driver, &scratch.path().join(format!("{count}-{number}")))?;
            count += 1;
            for (step, told) in scenario.steps.iter().zip(&told) {
                if *told != step.expected {
                    differing += 1;
                    println!("{}: {}", scenario.title, step.command.join(" "));
                    println!("  npm:    {told}\n  stands: {}", step.expected);
                }
            }
            expectations.extend(told);
        }
        if write {
            fs::write(&file, rewritten(&text, &expectations))?;
        }
    }
    if differing > 0 && !write {
        bail!("{differing} expectations of {count} scenarios are not npm's");
    }
    println!("{count} scenarios");
    Ok(())
}

/// npm's results for each step.
fn ask(scenario: &Scenario, driver: &mut Driver, scratch: &Path) -> anyhow::Result<Vec<String>> {
    let packuments = scratch.join("packuments");
    fs::create_dir_all(&packuments)?;
    for (name, packument) in &scenario.packuments {
        let text = packument.to_string().replace("http://registry.test", "");
        fs::write(packuments.join(format!("{name}.json")), text)?;
    }
    let server = Server::start_blocking(Arc::new(Registry::open(scratch)?), Settings::default())?;
    let project = scratch.join("scenario");
    let mut told = Vec::new();
    for step in &scenario.steps {
        write_manifests(&project, step)?;
        let answer = driver.ask(&project, &server.origin(), &step.command, &step.flags, oracle::PATIENCE)?;
        told.push(match answer.context("npm takes too long")? {
            Answer::Lockfile { lockfile } => scenario::render(&lockfile, step.with_flags),
            // npm's own errors have a code. The errors that it throws here have none.
            Answer::Failure { code: None, message } if message.contains("Unable to resolve reference") => {
                "fails: EOVERRIDE".to_owned()
            }
            Answer::Failure { code, message } => format!("fails: {}", code.unwrap_or(message)),
        });
    }
    Ok(told)
}

fn write_manifests(project: &Path, step: &Step) -> anyhow::Result<()> {
    for (folder, manifest) in &step.manifests {
        let folder = project.join(folder);
        fs::create_dir_all(&folder)?;
        // A command changes the files itself, and the next command starts from them.
        if step.command.len() == 1 && step.command[0] == "install" || !folder.join("package.json").exists() {
            fs::write(folder.join("package.json"), manifest.to_string())?;
        }
    }
    Ok(())
}

/// The text with its expectations replaced, in order.
fn rewritten(text: &str, expectations: &[String]) -> String {
    let mut expectations = expectations.iter();
    let mut inside = false;
    let lines = text.lines().map(|line| {
        inside ^= line.starts_with("```");
        let flags = line.starts_with("tree with flags:");
        if !inside || !(flags || line.starts_with("tree:") || line.starts_with("fails:")) {
            return line.to_owned();
        }
        match expectations.next() {
            Some(failure) if failure.starts_with("fails:") => failure.clone(),
            Some(tree) => format!("{}: {tree}", if flags { "tree with flags" } else { "tree" }).trim_end().to_owned(),
            None => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}
