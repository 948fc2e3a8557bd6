//! The locks that npm wrote for recorded projects are Espalier's, byte for byte.

use std::path::{Path, PathBuf};

use espalier_replay::Registry;

use super::check;
use super::drive::Recording;
use super::project::CorpusProject;

fn compare(corpus: &Path) {
    for abbreviated in [false, true] {
        let recording = Recording::new(Registry::open(corpus).unwrap(), abbreviated);
        let differing: Vec<String> = CorpusProject::all(corpus, &[])
            .unwrap()
            .iter()
            .map(|project| (project, check(&recording, project).unwrap()))
            .filter(|(_, verdict)| !verdict.is_identical())
            .map(|(project, verdict)| format!("{} {verdict}", project.name))
            .collect();
        assert!(differing.is_empty(), "abbreviated packuments: {abbreviated}\n{}", differing.join("\n"));
    }
}

#[test]
fn the_embedded_projects_have_npms_locks() {
    compare(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/registry"));
}

/// This compares nothing unless `ESPALIER_CORPUS` names a corpus. `cargo xtask test` prints whether
/// it does.
#[test]
fn the_projects_of_the_corpus_have_npms_locks() {
    if let Some(corpus) = std::env::var_os("ESPALIER_CORPUS") {
        compare(&PathBuf::from(corpus));
    }
}
