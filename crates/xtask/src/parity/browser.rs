//! `cargo xtask parity --browser`: the same comparison in Chromium, with the wasm build and
//! `fetch`.
//!
//! `tests/e2e/corpus.spec.ts` is the page and the comparison. The recorded registry is served on
//! loopback, over HTTP/1.1 and HTTP/2.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use crate::toolchain::{npm_packages, npm_program, run as run_command};
use crate::{browser, wasm};

/// Compares the projects of a corpus, or those of these names, and fails if any differs.
pub fn run(corpus: &Path, projects: &[String]) -> anyhow::Result<()> {
    npm_packages()?;
    wasm::build(wasm::Profile::Release)?;
    let chromium = browser::chromium()?;
    let corpus = std::path::absolute(corpus)?;
    let mut playwright = Command::new(npm_program("playwright"));
    playwright.args(["test", "corpus.spec.ts"]);
    if !projects.is_empty() {
        playwright.args(["--grep", &format!("({}) has the result of npm", projects.join("|"))]);
    }
    playwright.env("CHROMIUM_PATH", chromium).env("ESPALIER_CORPUS", corpus).env("ESPALIER_PROTOCOLS", "all");
    // The registry itself serves these pages, so no playground is needed.
    playwright.env("PLAYGROUND_URL", "http://127.0.0.1/");
    run_command(&mut playwright).context("the browser's locks differ from npm's")
}
