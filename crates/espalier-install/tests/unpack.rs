//! Hostile and unusual archives, one kind in each test. Entries that npm leaves out are left out,
//! and nothing is ever written outside of the folder.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::support::archive::Archive;
use espalier_install::activity::Activity;
use espalier_install::unpack::{Limits, Manner, UnpackError, Unpacked, unpack};
use tar::EntryType;

const MANNER: Manner = Manner { umask: 0o022, modified: SystemTime::UNIX_EPOCH };

/// A folder to unpack into, in an otherwise empty folder.
struct Scene {
    outside: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let outside = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(outside.path().join("inside")).expect("a folder");
        Self { outside }
    }

    fn inside(&self) -> std::path::PathBuf {
        self.outside.path().join("inside")
    }

    fn unpack(&self, archive: &[u8]) -> Result<Unpacked, UnpackError> {
        let unpacked = unpack(archive, &self.inside(), MANNER, Limits::default(), &Activity::default());
        assert_eq!(names(self.outside.path()), ["inside"], "something was written outside");
        unpacked
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.inside().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

/// All files below a folder, after unpacking this archive together with one harmless file.
fn unpacked(archive: Archive) -> (Scene, Vec<String>) {
    let scene = Scene::new();
    let unpacked = scene.unpack(&archive.file("package/good.js", b"good").tgz()).expect("unpacked");
    let mut files: Vec<String> = unpacked.files.keys().cloned().collect();
    files.sort();
    for file in &files {
        let found = fs::symlink_metadata(scene.inside().join(file)).expect("what is recorded is there");
        assert!(found.is_file(), "{file}");
    }
    assert_eq!(scene.read("good.js"), "good");
    (scene, files)
}

#[track_caller]
fn leaves_out(archive: Archive) {
    let (scene, files) = unpacked(archive);
    assert_eq!(files, ["good.js"]);
    assert_eq!(names(&scene.inside()), ["good.js"]);
}

#[test]
fn files_are_unpacked_below_the_first_folder() {
    let (scene, files) = unpacked(Archive::default().file("other/lib/a.js", b"a").file("package/package.json", b"{}"));
    assert_eq!(files, ["good.js", "lib/a.js", "package.json"]);
    assert_eq!(scene.read("lib/a.js"), "a");
}

#[test]
fn an_archive_need_not_be_compressed() {
    let scene = Scene::new();
    scene.unpack(&Archive::default().file("package/a", b"a").tar()).expect("unpacked");
    assert_eq!(scene.read("a"), "a");
}

#[test]
fn paths_that_climb_are_left_out() {
    for path in ["package/../../evil", "package/a/../../../evil", "../../evil", "package/..\\..\\evil", "package/.."] {
        leaves_out(Archive::default().file(path, b"evil"));
    }
}

#[test]
fn absolute_paths_stay_inside() {
    let (_, files) = unpacked(Archive::default().file("package//etc/passwd", b"").file("/package/b", b""));
    assert_eq!(files, ["etc/passwd", "good.js", "package/b"]);
}

/// CVE-2021-37713: a path through a drive that climbs (`c:../x`).
#[test]
fn drives_do_not_hide_a_climb() {
    leaves_out(Archive::default().file("package/c:../evil", b"evil"));
}

#[test]
fn links_are_left_out() {
    leaves_out(Archive::default().link("package/a", EntryType::Symlink, "/etc/passwd"));
    leaves_out(Archive::default().link("package/a", EntryType::Link, "package/good.js"));
}

/// CVE-2021-32803: a link first, then a file through it.
#[test]
fn a_file_does_not_go_through_a_link() {
    let archive = Archive::default().link("package/lib", EntryType::Symlink, "../..").file("package/lib/evil", b"evil");
    let (scene, files) = unpacked(archive);
    assert_eq!(files, ["good.js", "lib/evil"]);
    assert!(fs::symlink_metadata(scene.inside().join("lib")).expect("a folder").is_dir());
}

/// CVE-2021-37701, CVE-2021-37712: a link, and a file through a name that some systems consider the
/// same: with a backslash, in another case, or composed differently.
#[test]
fn a_file_does_not_go_through_a_link_by_another_spelling() {
    for (link, file) in [
        ("package/lib\\sub", "package/lib/sub/evil"),
        ("package/lib/sub", "package/lib\\sub/evil"),
        ("package/LIB", "package/lib/evil"),
        ("package/caf\u{e9}", "package/cafe\u{301}/evil"),
        ("package/stra\u{df}e", "package/strasse/evil"),
    ] {
        let archive = Archive::default().link(link, EntryType::Symlink, "../..").file(file, b"evil");
        let (_, files) = unpacked(archive);
        assert_eq!(files.len(), 2, "{files:?}");
    }
}

/// CVE-2026-23745: a link of either kind to an absolute path, and then a file of its name.
#[test]
fn a_file_does_not_replace_what_an_absolute_link_leads_to() {
    for kind in [EntryType::Symlink, EntryType::Link] {
        let scene = Scene::new();
        let victim = scene.outside.path().join("victim");
        fs::write(&victim, "safe").expect("written");
        let target = victim.to_string_lossy().into_owned();
        let archive = Archive::default().link("package/x", kind, &target).file("package/x", b"evil").tgz();
        unpack(&archive, &scene.inside(), MANNER, Limits::default(), &Activity::default()).expect("unpacked");
        assert_eq!((fs::read_to_string(&victim).expect("there"), scene.read("x")), ("safe".into(), "evil".into()));
    }
}

/// CVE-2026-26960: a hard link to a file outside, by way of a link to its folder, and then a file
/// of the same name that would be written into it.
#[test]
fn a_hard_link_is_not_written_through() {
    let scene = Scene::new();
    fs::write(scene.inside().with_file_name("inside").join("../victim"), "safe").expect("written");
    let archive = Archive::default()
        .link("package/up", EntryType::Symlink, "..")
        .link("package/y", EntryType::Link, "package/up/victim")
        .file("package/y", b"evil")
        .link("package/x", EntryType::Link, "../victim")
        .file("package/x", b"evil");
    unpack(&archive.tgz(), &scene.inside(), MANNER, Limits::default(), &Activity::default()).expect("unpacked");
    assert_eq!(fs::read_to_string(scene.outside.path().join("victim")).expect("still there"), "safe");
}

#[test]
fn devices_and_folders_are_left_out() {
    for kind in [EntryType::Char, EntryType::Block, EntryType::Fifo, EntryType::Directory] {
        leaves_out(Archive::default().entry("package/x", kind, 0o777, "", b""));
    }
}

#[cfg(unix)]
#[test]
fn modes_are_what_npm_makes_of_them() {
    use std::os::unix::fs::PermissionsExt as _;
    for (recorded, expected) in
        [(0o644, 0o644), (0o755, 0o755), (0, 0o644), (0o777, 0o755), (0o4711, 0o755), (0o400, 0o644)]
    {
        let (scene, _) = unpacked(Archive::default().file_of_mode("package/x", recorded, b""));
        let found = fs::metadata(scene.inside().join("x")).expect("a file").permissions().mode() & 0o7777;
        assert_eq!(found, expected, "{recorded:o}");
    }
}

#[test]
fn times_are_given() {
    let scene = Scene::new();
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_234_567_890);
    let manner = Manner { modified, ..MANNER };
    unpack(
        &Archive::default().file("package/x", b"").tgz(),
        &scene.inside(),
        manner,
        Limits::default(),
        &Activity::default(),
    )
    .expect("unpacked");
    assert_eq!(fs::metadata(scene.inside().join("x")).and_then(|found| found.modified()).expect("a time"), modified);
}

/// CVE-2023-37478: scanners and installers that disagree about which of two entries counts.
#[test]
fn the_last_of_two_files_counts() {
    let (scene, _) = unpacked(Archive::default().file("package/a", b"a longer first").file("package/a", b"last"));
    assert_eq!(scene.read("a"), "last");
    let (scene, _) = unpacked(Archive::default().file("package/a", b"first").file("package/./a", b"last"));
    assert_eq!(scene.read("a"), "last");
}

/// Names that differ in case only. On a file system that ignores case, the last one counts and the
/// other one is not recorded.
#[test]
fn names_that_collide_are_what_the_file_system_makes_of_them() {
    let (scene, files) = unpacked(Archive::default().file("package/README", b"first").file("package/readme", b"last"));
    assert_eq!(scene.read("readme"), "last");
    assert_eq!(files.len(), names(&scene.inside()).len());
}

#[test]
fn the_first_of_a_file_and_a_folder_counts() {
    let (_, files) = unpacked(Archive::default().file("package/a", b"file").file("package/a/b", b"in a folder"));
    assert_eq!(files, ["a", "good.js"]);
    let (_, files) = unpacked(Archive::default().file("package/a/b", b"in a folder").file("package/a", b"file"));
    assert_eq!(files, ["a/b", "good.js"]);
}

#[test]
fn a_gitignore_becomes_the_npmignore() {
    let (scene, files) =
        unpacked(Archive::default().file("package/.gitignore", b"git").file("package/lib/.gitignore", b"lib"));
    assert_eq!(files, [".npmignore", "good.js", "lib/.npmignore"]);
    assert_eq!(scene.read(".npmignore"), "git");
    let (scene, _) = unpacked(Archive::default().file("package/.npmignore", b"npm").file("package/.gitignore", b"git"));
    assert_eq!(scene.read(".npmignore"), "npm");
    let (scene, _) = unpacked(Archive::default().file("package/.gitignore", b"git").file("package/.npmignore", b"npm"));
    assert_eq!(scene.read(".npmignore"), "npm");
}

fn refused(archive: &[u8], limits: Limits) -> UnpackError {
    let scene = Scene::new();
    unpack(archive, &scene.inside(), MANNER, limits, &Activity::default()).expect_err("refused")
}

#[test]
fn bombs_are_refused() {
    let zeros = vec![0; 3 << 20];
    let bomb = Archive::default().file("package/zeros", &zeros).tgz();
    let error = refused(&bomb, Limits { ratio: 10, ..Limits::default() });
    assert!(matches!(error, UnpackError::TooLarge(_)), "{error}");
    let error = refused(&bomb, Limits { bytes: 1 << 20, ..Limits::default() });
    assert!(matches!(error, UnpackError::TooLarge(_)), "{error}");
    let many = (0..20).fold(Archive::default(), |archive, number| archive.file(&format!("package/{number}"), b""));
    let error = refused(&many.tgz(), Limits { entries: 10, ..Limits::default() });
    assert!(matches!(error, UnpackError::TooLarge(_)), "{error}");
}

#[test]
fn a_name_of_many_megabytes_is_refused() {
    let name = vec![b'x'; 3 << 20];
    let archive = Archive::default().entry("././@LongLink", EntryType::GNULongName, 0o644, "", &name);
    let error = refused(&archive.file("package/x", b"").tar(), Limits::default());
    assert!(matches!(error, UnpackError::TooLarge(_)), "{error}");
}

#[test]
fn what_is_damaged_is_refused() {
    let whole = Archive::default().file("package/a", &[7; 5000]).tgz();
    for archive in [&whole[..whole.len() / 2], b"<html>not found</html>", b"", &[0x1f, 0x8b]] {
        let error = refused(archive, Limits::default());
        assert!(matches!(error, UnpackError::Unreadable(_) | UnpackError::Empty), "{error}");
    }
}

/// A header that states more bytes than the archive has.
#[test]
fn a_lying_length_is_refused() {
    let mut archive = Archive::default().file("package/a", &[7; 2000]).tar();
    archive.truncate(1024);
    assert!(matches!(refused(&archive, Limits::default()), UnpackError::Unreadable(_)));
}

#[test]
fn an_archive_without_files_is_refused() {
    let archive = Archive::default().entry("package/", EntryType::Directory, 0o755, "", b"").tgz();
    assert!(matches!(refused(&archive, Limits::default()), UnpackError::Empty));
}
