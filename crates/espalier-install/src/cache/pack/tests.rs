use std::fs;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::{Change, Contents, Key, Pack};

const KEPT: Key = [1; 32];
const CHANGED: Key = [2; 32];

fn keep(key: Key, body: Vec<u8>) -> Change {
    let parts = [Bytes::from_static(b"head"), Bytes::new(), body.into()];
    Change::Keep { key, revision: 0, fresh_until: 0, confirmed: 0, recipient: 0, parts }
}

/// A pack of which most is superseded, so that the next change replaces it.
fn superseded() -> (tempfile::TempDir, Pack) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut pack = Pack::at(folder.path().join("documents"));
    pack.append(&[keep(KEPT, vec![1; 1 << 20])]).expect("appended");
    for length in [40 << 20, 1] {
        pack.append(&[keep(CHANGED, vec![2; length])]).expect("appended");
    }
    (folder, pack)
}

fn body(pack: &Pack, key: &Key) -> Option<Vec<u8>> {
    let Contents { last, .. } = pack.contents(pack.find(key)?)?;
    Some(last.read()?.to_vec())
}

/// The names of the files, without the random number of a pack.
fn files(folder: &tempfile::TempDir) -> Vec<String> {
    let names = fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    for name in &mut names {
        if let Some(("documents", rest)) = name.split_once('.')
            && rest.len() == "0123456789abcdef.pack".len()
        {
            *name = "documents.*.pack".to_owned();
        }
    }
    names.sort();
    names
}

#[test]
fn the_former_pack_takes_changes_if_there_can_be_no_new_one() {
    let (folder, mut pack) = superseded();
    // Nothing can be put in the place of a folder.
    fs::create_dir_all(folder.path().join("documents.next/inside")).expect("folders");
    for byte in 3..6 {
        pack.append(&[keep(CHANGED, vec![byte; 1])]).expect("appended");
        assert_eq!(body(&pack, &CHANGED), Some(vec![byte; 1]));
    }
    assert_eq!(body(&pack, &KEPT), Some(vec![1; 1 << 20]));
    assert_eq!(files(&folder), ["documents.*.pack", "documents.index", "documents.lock", "documents.next"]);
}

/// Does this with a superseded pack, in a process whose files can't grow beyond a limit. That
/// stands for a full disk. The process runs the same test. Nothing may be left behind, and the
/// remains of others have to go.
#[cfg(unix)]
fn without_room(test: &str, blocks: u32, act: impl FnOnce(Pack)) {
    const PATH: &str = "ESPALIER_TEST_PACK";
    if let Some(path) = std::env::var_os(PATH) {
        return act(Pack::at(path.into()));
    }
    let (folder, _) = superseded();
    fs::write(folder.path().join("documents.0123456789abcdef.pack"), "of a killed process").expect("written");
    let limited = std::process::Command::new("sh")
        .args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\""), "sh"])
        .arg(std::env::current_exe().expect("this program"))
        .args(["--exact", &format!("cache::pack::tests::{test}")])
        .env(PATH, folder.path().join("documents"))
        .output()
        .expect("a shell");
    let printed = String::from_utf8_lossy(&limited.stdout);
    assert!(limited.status.success() && printed.contains("1 passed"), "{printed}");
    assert_eq!(files(&folder), ["documents.*.pack", "documents.index", "documents.lock"]);
}

#[cfg(unix)]
#[test]
fn a_new_pack_is_empty_if_there_is_no_room_for_the_contents() {
    without_room("a_new_pack_is_empty_if_there_is_no_room_for_the_contents", 512, |mut pack| {
        pack.append(&[keep(CHANGED, vec![3; 1])]).expect("appended");
        assert_eq!((body(&pack, &KEPT), body(&pack, &CHANGED)), (None, Some(vec![3; 1])));
    });
}

#[cfg(unix)]
#[test]
fn without_any_room_everything_stays_as_it_was() {
    without_room("without_any_room_everything_stays_as_it_was", 0, |mut pack| {
        for _ in 0..3 {
            pack.append(&[keep(CHANGED, vec![3; 1])]).expect_err("no room");
        }
        pack.refresh();
        assert_eq!((body(&pack, &KEPT), body(&pack, &CHANGED)), (Some(vec![1; 1 << 20]), Some(vec![2; 1])));
    });
}

#[test]
fn the_remains_of_a_killed_process_go_and_files_of_others_stay() {
    let (folder, mut pack) = superseded();
    for name in ["documents.0123456789abcdef.pack", "documents.next", "documents.holiday.pack", "documents.12.pack"] {
        fs::write(folder.path().join(name), "something").expect("written");
    }
    pack.append(&[keep(CHANGED, vec![3; 1])]).expect("appended");
    let kept = ["documents.*.pack", "documents.12.pack", "documents.holiday.pack", "documents.index", "documents.lock"];
    assert_eq!(files(&folder), kept);
    assert_eq!(body(&pack, &KEPT), Some(vec![1; 1 << 20]));
}

#[test]
fn all_changes_together_wait_for_other_processes_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let held = fs::File::create(folder.path().join("documents.lock")).expect("a file");
    held.lock().expect("locked");
    let patience = Duration::from_millis(200);
    let mut pack = Pack { patience, ..Pack::at(folder.path().join("documents")) };
    let start = Instant::now();
    for _ in 0..50 {
        pack.append(&[keep(KEPT, vec![1])]).expect_err("somebody has the lock");
    }
    assert!(start.elapsed() < 50 * patience / 4, "{:?}", start.elapsed());
    drop(held);
    pack.append(&[keep(KEPT, vec![1])]).expect("appended");
}

#[cfg(unix)]
#[test]
fn no_file_is_written_through_a_link() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let somebodys = folder.path().join("notes");
    fs::write(&somebodys, "notes").expect("written");
    symlink(&somebodys, folder.path().join("documents.next")).expect("a link");
    let mut pack = Pack::at(folder.path().join("documents"));
    pack.append(&[keep(KEPT, vec![1])]).expect("appended");
    fs::remove_file(folder.path().join("documents.lock")).expect("removed");
    symlink(&somebodys, folder.path().join("documents.lock")).expect("a link");
    pack.append(&[keep(KEPT, vec![1])]).expect_err("a link");
    assert_eq!(fs::read_to_string(&somebodys).expect("notes"), "notes");
}
