//! Disks that are full, read-only, or not the store's. An installation fails with a clear error and
//! leaves nothing half installed, or it succeeds and reports the difference.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::scene::Scene;
use serde_json::json;

/// A file system in memory of this size, if this machine permits mounting one.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(folder: &Path, bytes: u32) -> Option<Self> {
        fs::create_dir_all(folder).expect("a folder");
        let size = format!("size={bytes}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder.to_owned()));
        }
        eprintln!("left out: no file system may be mounted here");
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A remaining mount ends with the machine.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

fn large() -> Scene {
    let noise: Vec<u8> = (0..100_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    Scene::of(&["a", "b"])
        .package("a@1.0.0", json!({}))
        .package_of("b@1.0.0", json!({}), |archive| archive.file("package/noise", &noise))
}

#[tokio::test]
async fn a_full_store_is_an_error_and_nothing_is_half_installed() {
    let scene = large();
    let Some(_disk) = SmallDisk::mount(&scene.path("store"), 300_000) else { return };
    let error = scene.fail_to_install().await.to_string();
    assert!(error.contains("No space left") && error.contains("store"), "{error}");
    assert!(!scene.at("node_modules/b").exists() && !scene.at("package-lock.json").exists());
    assert!(!scene.at("node_modules/.package-lock.json").exists());
}

#[tokio::test]
async fn a_full_disk_leaves_the_project_as_it_was_and_more_room_completes_it() {
    let scene = large();
    let disk = SmallDisk::mount(&scene.at("node_modules"), 100_000);
    let Some(disk) = disk else { return };
    let error = scene.fail_to_install().await.to_string();
    assert!(error.contains("No space left"), "{error}");
    assert!(!scene.at("package-lock.json").exists());
    drop(disk);
    scene.install().await;
    assert_eq!(fs::metadata(scene.at("node_modules/b/noise")).expect("the file").len(), 400_000);
}

#[tokio::test]
async fn a_store_on_another_disk_is_copied_from_and_that_is_said() {
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({}));
    let Some(_disk) = SmallDisk::mount(&scene.path("store"), 10_000_000) else { return };
    let done = scene.install().await;
    assert_eq!(done.report.copied_because, Some("node_modules and the store are on different file systems"));
    assert_eq!(scene.read("node_modules/a/index.js"), "module.exports = 'a@1.0.0'");
    assert_eq!(scene.ci().await.report.kept, 1, "a copy is recognised like a link");
}

#[tokio::test]
async fn a_store_that_may_only_be_read_is_done_without() {
    let scene = Scene::of(&["a"]).package("a@1.0.0", json!({}));
    let Some(disk) = SmallDisk::mount(&scene.path("store"), 10_000_000) else { return };
    scene.install().await;
    fs::remove_dir_all(scene.at("node_modules")).expect("removed");
    assert!(Command::new("mount").args(["-o", "remount,ro"]).arg(&disk.0).status().expect("mount").success());
    let done = scene.install().await;
    assert!(done.note.is_some_and(|note| note.contains("cannot be written to")));
    assert_eq!(scene.tree(), [".package-lock.json", "a/", "a/index.js", "a/package.json"]);
}
