//! Addresses as messages show them.

/// The address without a password and a query, and without a user who may be a secret: in an HTTP
/// URL, the user can be a token, but the `git` of `ssh://git@host` is none.
pub fn without_credentials(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let rest = rest.split('?').next().unwrap_or_default();
    let host_ends = rest.find('/').unwrap_or(rest.len());
    let user_ends = rest[..host_ends].rfind('@').filter(|&at| scheme.contains("http") || rest[..at].contains(':'));
    [scheme, "://", &rest[user_ends.map_or(0, |at| at + 1)..]].concat()
}

#[cfg(test)]
mod tests {
    use super::without_credentials;

    #[test]
    fn credentials_are_not_shown() {
        for (address, shown) in [
            ("https://me:secret@host.test/a.git", "https://host.test/a.git"),
            ("git+https://token@host.test/a.git#x", "git+https://host.test/a.git#x"),
            ("ssh://git@host.test/a.git", "ssh://git@host.test/a.git"),
            ("ssh://git:secret@host.test/a.git", "ssh://host.test/a.git"),
            ("http://me:secret@files.test/a.tgz?key=1", "http://files.test/a.tgz"),
            ("http://files.test/a@b.tgz#x", "http://files.test/a@b.tgz#x"),
            ("http://files.test?key=me@x", "http://files.test"),
            ("http://me:p@ss@files.test", "http://files.test"),
            ("http://files.test", "http://files.test"),
            ("^1.0.0", "^1.0.0"),
        ] {
            assert_eq!(without_credentials(address), shown);
        }
    }
}
