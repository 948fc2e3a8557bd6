//! Paths as npm's tree uses them: POSIX, textual, without a file system.
//!
//! A path in the tree is relative to the project (`node_modules/a`, `packages/ui`, `../shared`).
//! The project itself is the empty path. This is also npm's *location*.

/// Joins and normalises like `path.posix.join`, without a leading `./`.
pub fn join(base: &str, relative: &str) -> String {
    if base.is_empty() || relative.starts_with('/') {
        return normalize(relative);
    }
    normalize(&format!("{base}/{relative}"))
}

/// Removes `.`, `..` and repeated slashes if possible. The empty path is the current folder.
pub fn normalize(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|&last| last != "..") => {
                parts.pop();
            }
            ".." if absolute => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if absolute { format!("/{joined}") } else { joined }
}

/// The relative path from one absolute path to another, like `path.posix.relative`.
pub fn relative(from: &str, to: &str) -> String {
    let (from, to) = (normalize(from), normalize(to));
    let split = |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (from, to) = (split(&from), split(&to));
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..".to_owned(), from.len() - common);
    up.chain(to[common..].iter().cloned()).collect::<Vec<_>>().join("/")
}

/// The parent folder. Empty at the top.
pub fn parent(path: &str) -> &str {
    match last_slash(path) {
        Some(0) => "/",
        Some(index) => &path[..index],
        None => "",
    }
}

/// npm's name for the package in a folder: its base name, with the scope above it
/// (`@npmcli/name-from-folder`).
pub fn name_from_folder(path: &str) -> &str {
    let Some(slash) = last_slash(path) else { return path };
    let scope = last_slash(&path[..slash]).map_or(0, |index| index + 1);
    if path[scope..].starts_with('@') { &path[scope..] } else { &path[slash + 1..] }
}

/// The position of the last slash. The standard library's search looks at many bytes at once, which
/// takes longer for a name of usual length.
fn last_slash(path: &str) -> Option<usize> {
    path.bytes().rposition(|byte| byte == b'/')
}

#[cfg(test)]
mod tests {
    use super::{join, name_from_folder, normalize, relative};

    #[test]
    fn joins_and_normalises() {
        assert_eq!(join("", "packages/a"), "packages/a");
        assert_eq!(join("packages/a", "../b"), "packages/b");
        assert_eq!(join("packages", "../../x"), "../x");
        assert_eq!(join("/home/me", "../x"), "/home/x");
        assert_eq!(join("a", "/b"), "/b");
        assert_eq!(normalize("./a//b/./c/.."), "a/b");
    }

    #[test]
    fn relates() {
        assert_eq!(relative("/a/b", "/a/c/d"), "../c/d");
        assert_eq!(relative("/a/b", "/a/b"), "");
    }

    #[test]
    fn names_a_folder_with_its_scope() {
        assert_eq!(name_from_folder("node_modules/@babel/core"), "@babel/core");
        assert_eq!(name_from_folder("node_modules/a"), "a");
        assert_eq!(name_from_folder("@x/y"), "@x/y");
        assert_eq!(name_from_folder("/home/me/app"), "app");
        assert_eq!(name_from_folder("/@x/y"), "@x/y");
        assert_eq!(name_from_folder("x/@y"), "@y");
        assert_eq!(name_from_folder("@x//y"), "y");
        assert_eq!(name_from_folder("@x"), "@x");
    }
}
