//! Prints the package-lock.json of a project. The packuments come from a folder: `<name>.json`,
//! with `%2f` for the slash in a scoped name.
//!
//! ```sh
//! cargo run -p espalier-core --example lock -- PROJECT PACKUMENTS [--legacy-peer-deps]
//! ```
//!
//! This is the smallest possible host of the core. It answers one request after another. Real hosts
//! have many requests under way.

#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "the core does no I/O, but its hosts do")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use espalier_core::{
    Answer, Detail, FetchFailure, FetchFailureKind, Options, Packument, Progress, Project, Request, Resolution,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [project, packuments, flags @ ..] = arguments.as_slice() else {
        return Err("expected PROJECT PACKUMENTS [--legacy-peer-deps]".into());
    };
    let (folder, packuments) = (Path::new(project), Path::new(packuments));
    let name = folder.canonicalize()?.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let project =
        Project { manifest: fs::read_to_string(folder.join("package.json"))?, folder_name: name, ..Project::default() };
    let options =
        Options { legacy_peer_deps: flags.iter().any(|flag| flag == "--legacy-peer-deps"), ..Options::default() };

    let mut resolution = Resolution::new(project, options);
    while resolution.advance() == Progress::Waiting {
        while let Some((request, _urgency)) = resolution.next_request() {
            let answer = answer(&request, folder, packuments);
            resolution.supply(&request, answer);
        }
    }
    let outcome = resolution.finish()?;
    print!("{}", outcome.lockfile.text());
    for warning in &outcome.warnings {
        eprintln!("{}: {}", warning.code, warning.message);
    }
    Ok(())
}

/// Answers a request from files. The packuments are full, so the core requests no other documents
/// of a registry.
fn answer(request: &Request, project: &Path, packuments: &Path) -> Result<Answer, FetchFailure> {
    let failure =
        |kind, error: &dyn Error, url: &str| FetchFailure { kind, message: error.to_string(), url: url.into() };
    match request {
        Request::Packument { name, .. } => {
            let file = packuments.join(format!("{}.json", name.replace('/', "%2f")));
            let body = fs::read(&file).map_err(|error| failure(FetchFailureKind::NotFound, &error, name))?;
            let packument = Packument::parse(&body, Detail::Whole);
            let packument = packument.map_err(|error| failure(FetchFailureKind::Invalid, &error, name))?;
            Ok(Answer::Packument(Arc::new(packument)))
        }
        Request::Folder { path } => {
            Ok(Answer::Folder(fs::read_to_string(project.join(path).join("package.json")).ok()))
        }
        Request::File { path } => Ok(Answer::File(fs::read(project.join(path)).ok())),
        other => {
            let error = format!("this example does not answer {other:?}");
            Err(failure(FetchFailureKind::Unsupported, &*Box::<dyn Error>::from(error), ""))
        }
    }
}
