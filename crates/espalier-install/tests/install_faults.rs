//! Tarballs from registries that fail: another attempt installs the package, or an error names the
//! package and the address. An installation that fails for good leaves the former state.

use std::path::PathBuf;

use crate::support::archive::{Archive, manifest};
use crate::support::scene::Scene;
use crate::support::scripted::{Reply, Scripted};
use espalier_core::FetchFailureKind;
use espalier_install::install::{Done, InstallError};
use espalier_install::integrity::Integrity;
use espalier_install::reify::ReifyError;
use serde_json::json;

fn tarball() -> Vec<u8> {
    Archive::default()
        .file("package/package.json", &manifest("a", "1.0.0"))
        .file("package/index.js", &[b'x'; 3000])
        .tgz()
}

fn good() -> Reply {
    Reply::Respond("200 OK".into(), vec!["content-type: application/octet-stream".into()], tarball())
}

/// The result of `ci` in a project whose lock names one package of this server.
struct Trial {
    scene: Scene,
    server: Scripted,
}

impl Trial {
    async fn new(script: impl IntoIterator<Item = Reply>) -> Self {
        let server = Scripted::start(script).await;
        let scene = Scene::of(&["a"]).flag("fetch-timeout", "1000");
        let entry = json!({
            "version": "1.0.0",
            "resolved": format!("{}/a/-/a-1.0.0.tgz", server.origin),
            "integrity": Integrity::of(&tarball()).to_string(),
        });
        let root = json!({ "name": "app", "version": "1.0.0", "dependencies": { "a": "*" } });
        let lock = json!({
            "name": "app", "version": "1.0.0", "lockfileVersion": 3, "requires": true,
            "packages": { "": root, "node_modules/a": entry },
        });
        scene.write("package-lock.json", &lock.to_string());
        Self { scene, server }
    }

    async fn ci(&self) -> Result<Done, InstallError> {
        self.scene.prepare(true, &self.server.origin).run(|_| (), std::future::pending()).await
    }

    fn installed(&self) -> PathBuf {
        self.scene.at("node_modules/a")
    }
}

fn troubles() -> Vec<Reply> {
    let mut wrong = tarball();
    *wrong.last_mut().expect("bytes") ^= 1;
    let whole = tarball();
    let ok = |body: &[u8], headers: &[&str]| {
        Reply::Respond("200 OK".into(), headers.iter().map(|line| (*line).to_owned()).collect(), body.to_vec())
    };
    vec![
        Reply::status("500 Internal Server Error"),
        Reply::status("503 Service Unavailable"),
        Reply::Respond("429 Too Many Requests".into(), vec!["retry-after: 0".into()], Vec::new()),
        Reply::HangUp,
        Reply::Stall,
        Reply::BreakOff(whole.clone()),
        ok(&whole[..whole.len() / 2], &[]),
        ok(&wrong, &[]),
        ok(b"<html>please log in</html>", &[]),
        ok(b"", &[]),
        ok(&whole, &["content-encoding: br"]),
    ]
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    for trouble in troubles() {
        let trial = Trial::new([trouble.clone(), good()]).await;
        let result = trial.ci().await;
        assert!(result.is_ok(), "{trouble:?}: {:?}", result.err());
        assert!(trial.installed().join("index.js").is_file(), "{trouble:?}");
        assert_eq!(trial.server.seen().len(), 2, "{trouble:?}");
    }
}

#[tokio::test]
async fn what_does_not_pass_is_an_error_that_names_it() {
    for trouble in troubles().into_iter().filter(|trouble| !matches!(trouble, Reply::Stall)) {
        let trial = Trial::new(std::iter::repeat_n(trouble.clone(), 9)).await;
        let Err(InstallError::Reify(ReifyError::Fetch { name, version, location, failure })) = trial.ci().await else {
            panic!("{trouble:?}: no failed fetch")
        };
        assert_eq!((name.as_str(), version.as_deref(), location.as_str()), ("a", Some("1.0.0"), "node_modules/a"));
        assert!(failure.url.ends_with("/a/-/a-1.0.0.tgz"), "{trouble:?}: {}", failure.url);
        assert!(failure.message.ends_with("(tried 3 times)"), "{trouble:?}: {}", failure.message);
        assert!(!trial.installed().exists(), "{trouble:?}");
        assert!(!trial.scene.at("node_modules/.package-lock.json").exists(), "{trouble:?}");
    }
}

#[tokio::test]
async fn a_refusal_is_not_tried_again() {
    for (line, kind) in [
        ("401 Unauthorized", FetchFailureKind::Unauthorized),
        ("404 Not Found", FetchFailureKind::NotFound),
        ("406 Not Acceptable", FetchFailureKind::Status(406)),
    ] {
        let trial = Trial::new([Reply::status(line), good()]).await;
        let Err(InstallError::Reify(ReifyError::Fetch { failure, .. })) = trial.ci().await else {
            panic!("{line}: no failed fetch")
        };
        assert_eq!((failure.kind, trial.server.seen().len()), (kind, 1), "{line}");
    }
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_followed_without_the_token() {
    let elsewhere = Scripted::start([good()]).await;
    let trial = Trial::new([Reply::redirect(&format!("{}/moved.tgz", elsewhere.origin))]).await;
    let host = trial.server.origin.trim_start_matches("http:").to_owned();
    trial.scene.write(".npmrc", &format!("{host}/:_authToken=secret\n"));
    trial.ci().await.expect("installed");
    assert_eq!(trial.server.seen()[0].header("authorization"), Some("Bearer secret"));
    assert_eq!(elsewhere.seen()[0].header("authorization"), None);
    assert!(trial.installed().join("index.js").is_file());
}

/// The set of an optional package is placed and left out again before the script fails.
#[cfg(unix)]
#[tokio::test]
async fn a_failure_after_an_optional_set_was_left_out_restores_the_former_state() {
    use std::fs;
    let manifest = |version: &str, more: serde_json::Value| {
        let mut manifest = json!({
            "name": "app", "version": "1.0.0",
            "dependencies": { "req": version }, "optionalDependencies": { "o": version },
        });
        for (name, range) in more.as_object().expect("an object") {
            manifest["dependencies"][name] = range.clone();
        }
        manifest.to_string()
    };
    let scene = Scene::of(&[])
        .flag("dangerously-allow-all-scripts", "true")
        .package("s@1.0.0", json!({}))
        .package("s@2.0.0", json!({}))
        .package("o@1.0.0", json!({ "dependencies": { "s": "1" } }))
        .package("o@2.0.0", json!({ "dependencies": { "s": "2" } }))
        .package("req@1.0.0", json!({}))
        .package("req@2.0.0", json!({ "scripts": { "postinstall": "exit 1" }, "hasInstallScript": true }))
        .package("tool@1.0.0", json!({ "bin": "index.js" }));
    scene.write("package.json", &manifest("1", json!({ "tool": "1" })));
    scene.install().await;
    let tree = scene.tree();
    scene.write("package.json", &manifest("2", json!({})));
    fs::remove_file(scene.path("registry/tarballs/o/o-2.0.0.tgz")).expect("removed");
    let error = scene.fail_to_install().await;
    assert!(matches!(error, InstallError::Script(_)), "{error}");
    assert_eq!(scene.tree(), tree);
    for name in ["o", "s", "req", "tool"] {
        assert_eq!(scene.read(&format!("node_modules/{name}/index.js")), format!("module.exports = '{name}@1.0.0'"));
    }
}
