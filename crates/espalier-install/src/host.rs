//! This machine in npm's terms: its platform, its C library and its Node version.
//!
//! These are the defaults of a resolution's inputs. Settings can replace each of them.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::LazyLock;
use std::time::{Duration, UNIX_EPOCH};

use espalier_core::Platform;
use tokio::process::Command;

/// How long `node --version` may take. This stops a version manager's shim that begins to download
/// something.
const NODE_TIMEOUT: Duration = Duration::from_secs(5);

/// The file in a cache that records the versions of Node programs.
const NOTE: &str = "node-version";

/// The first `node` on the `PATH`, links resolved. It is looked for once in a process, because a
/// `PATH` can have dozens of folders.
pub fn node_on_path() -> Option<&'static Path> {
    static NODE: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
        let file = format!("node{}", std::env::consts::EXE_SUFFIX);
        let folders = std::env::var_os("PATH")?;
        let mut candidates = std::env::split_paths(&folders).map(|folder| folder.join(&file));
        candidates.find(|path| is_executable(path))?.canonicalize().ok()
    });
    NODE.as_deref()
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// The version of the `node` on the `PATH`, such as `20.20.2`; `None` if there is no `node` or it
/// doesn't answer in time.
pub async fn node_version() -> Option<String> {
    let mut command = Command::new("node");
    command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(NODE_TIMEOUT, command.output()).await.ok()?.ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let version = text.trim().strip_prefix('v')?;
    version.starts_with(|first: char| first.is_ascii_digit()).then(|| version.to_owned())
}

/// The same, remembered in the folder of a cache, because starting Node takes longer than an
/// installation with nothing to do. Only programs are remembered, by size and time. A script may
/// choose another Node each time.
pub async fn asked_node_version(cache: Option<&Path>) -> Option<String> {
    let version = node_version().await?;
    if let Some((cache, identity)) = cache.zip(node_on_path().and_then(identity_of)) {
        // If the note can't be written, the next run asks again.
        let _ = std::fs::create_dir_all(cache).and_then(|()| {
            let mut file = tempfile::NamedTempFile::new_in(cache)?;
            file.write_all(format!("{identity}{version}").as_bytes())?;
            file.persist(cache.join(NOTE))?;
            Ok(())
        });
    }
    Some(version)
}

/// The remembered version of the `node` that is on the `PATH` now.
pub fn noted_node_version(cache: &Path) -> Option<String> {
    let noted = std::fs::read_to_string(cache.join(NOTE)).ok()?;
    let identity = node_on_path().and_then(identity_of)?;
    noted.strip_prefix(&identity).map(str::to_owned)
}

/// The identity of a program, which changes when a newer one replaces it; `None` for a script.
fn identity_of(program: &Path) -> Option<String> {
    const MAGICS: [&[u8]; 4] = [b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"];
    let mut file = File::open(program).ok()?;
    let mut start = [0; 4];
    file.read_exact(&mut start).ok()?;
    MAGICS.iter().any(|magic| start.starts_with(magic)).then_some(())?;
    let found = file.metadata().ok()?;
    let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    Some(format!("{}\n{} {changed}\n", program.display(), found.len()))
}

/// The version in the header file beside a Node, which is quicker to read than Node is to start. It
/// could be another Node's, so it is only good for informing others, as in the user agent.
pub fn node_version_nearby(node: &Path) -> Option<String> {
    let header = node.parent()?.parent()?.join("include/node/node_version.h");
    let text = std::fs::read_to_string(header).ok()?;
    let part = |name: &str| {
        let definition = format!("#define NODE_{name}_VERSION ");
        text.lines().find_map(|line| line.strip_prefix(&definition)?.trim().parse::<u32>().ok())
    };
    Some(format!("{}.{}.{}", part("MAJOR")?, part("MINOR")?, part("PATCH")?))
}

/// The platform of this machine.
pub fn platform(node: Option<&Path>) -> Platform {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let cpu = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "x86" => "ia32",
        "aarch64" => "arm64",
        "powerpc64" => "ppc64",
        "loongarch64" => "loong64",
        other => other,
    };
    let libc = (os == "linux").then(|| libc(node)).flatten();
    Platform { os: os.into(), cpu: cpu.into(), libc }
}

/// The C library that Node was built for, because native packages have to fit it. Without Node,
/// that of the system's programs.
fn libc(node: Option<&Path>) -> Option<String> {
    let system = [Path::new("/bin/sh"), Path::new("/usr/bin/env")];
    node.into_iter().chain(system).find_map(|program| libc_of(program)).map(str::to_owned)
}

/// Reads the name of a program's dynamic loader, which is near the beginning of the file.
fn libc_of(program: &Path) -> Option<&'static str> {
    let mut start = Vec::with_capacity(4096);
    File::open(program).ok()?.take(4096).read_to_end(&mut start).ok()?;
    let mentions = |loader: &str| start.windows(loader.len()).any(|window| window == loader.as_bytes());
    if !start.starts_with(b"\x7fELF") {
        None
    } else if mentions("/ld-musl-") {
        Some("musl")
    } else if mentions("/ld-linux") || mentions("/ld64.so") {
        Some("glibc")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{identity_of, libc_of};

    #[track_caller]
    fn check(contents: &[u8], expected: Option<&str>) {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(contents).expect("written");
        assert_eq!(libc_of(file.path()), expected);
    }

    #[test]
    fn the_loader_tells_the_library() {
        check(b"\x7fELF....\0/lib/ld-musl-x86_64.so.1\0", Some("musl"));
        check(b"\x7fELF....\0/lib64/ld-linux-x86-64.so.2\0", Some("glibc"));
        check(b"\x7fELF.... static", None);
    }

    #[test]
    fn a_program_is_known_until_it_changes_and_a_script_never() {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(b"\x7fELF....").expect("written");
        let first = identity_of(file.path()).expect("a program");
        assert_eq!(identity_of(file.path()), Some(first.clone()));
        file.write_all(b"more").expect("written");
        assert_ne!(identity_of(file.path()), Some(first));
        std::fs::write(file.path(), "#!/bin/sh\nexec node-22 \"$@\"\n").expect("written");
        assert_eq!(identity_of(file.path()), None);
    }

    #[test]
    fn a_script_has_none() {
        check(b"#!/bin/sh\nexec /lib/ld-musl-x86_64.so.1\n", None);
    }
}
