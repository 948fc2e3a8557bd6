//! The path of an archive's entry in the package, by the rules of node-tar and pacote. The first
//! component is dropped, absolute paths become relative, and a path with `..` is refused.

/// The maximum depth of folders.
const DEEPEST: usize = 1024;

/// The path in the package. `None` if the entry must not be unpacked.
pub fn inside(path: &str) -> Option<String> {
    let (_, below) = path.split_once('/')?;
    let relative = without_root(below);
    // On Unix, a backslash is an ordinary character. A name that would climb on Windows is refused
    // everywhere.
    if relative.split(['/', '\\']).any(|step| step == "..") || relative.contains('\0') {
        return None;
    }
    if cfg!(windows) && relative.contains(['\\', ':', '<', '>', '|', '?', '*', '"']) {
        return None;
    }
    let steps: Vec<&str> = relative.split('/').filter(|step| !matches!(*step, "" | ".")).collect();
    (!steps.is_empty() && steps.len() <= DEEPEST).then(|| steps.join("/"))
}

/// The path without leading slashes, backslashes and drives.
fn without_root(path: &str) -> &str {
    let mut rest = path;
    loop {
        let shorter = rest.trim_start_matches(['/', '\\']);
        let bytes = shorter.as_bytes();
        let drive = bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
        let shorter = if drive { &shorter[2..] } else { shorter };
        if shorter.len() == rest.len() {
            return rest;
        }
        rest = shorter;
    }
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[track_caller]
    fn check(path: &str, expected: Option<&str>) {
        assert_eq!(inside(path).as_deref(), expected, "{path}");
    }

    #[test]
    fn the_first_step_is_dropped_whatever_it_is() {
        check("package/index.js", Some("index.js"));
        check("anything/lib/a.js", Some("lib/a.js"));
        check("./package/index.js", Some("package/index.js"));
        check("index.js", None);
        check("package/", None);
    }

    #[test]
    fn what_climbs_is_refused() {
        for path in
            ["package/../x", "package/a/../../x", "package/a\\..\\..\\x", "a/c:../x", "../../x", "a/..", "a/b/.."]
        {
            check(path, None);
        }
    }

    #[test]
    fn what_is_absolute_becomes_relative() {
        check("package//etc/passwd", Some("etc/passwd"));
        check("/package/x", Some("package/x"));
        check("package/C:/Windows/x", Some("Windows/x"));
        check("package/\\\\host\\share", Some("host\\share"));
        check("package/c:/d:/x", Some("x"));
    }

    #[test]
    fn empty_steps_are_nothing() {
        check("package/./a//b/.", Some("a/b"));
    }

    #[test]
    fn depth_is_bounded() {
        check(&format!("package/{}x", "d/".repeat(2000)), None);
    }
}
