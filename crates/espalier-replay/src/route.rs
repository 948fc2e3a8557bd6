//! Interprets paths by npm's URL scheme.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// The meaning of a path.
#[derive(Debug, PartialEq, Eq)]
pub enum Route {
    /// `/-/ping`
    Ping,
    /// `/-/stats`
    Statistics,
    /// `/<name>`
    Packument {
        /// With its scope.
        name: String,
    },
    /// `/<name>/<version>` or `/<name>/<tag>`
    Version {
        /// With its scope.
        name: String,
        /// The version or tag.
        selector: String,
    },
    /// `/<name>/-/<file>`
    Tarball {
        /// With its scope.
        name: String,
        /// The file's name.
        file: String,
    },
    /// Anything else.
    Unknown,
}

impl Route {
    /// Parses the path of a request, still percent-encoded. Clients send the slash of a scope in
    /// both forms.
    pub fn of(path: &str) -> Self {
        let decoded = percent_decode_str(path).decode_utf8().unwrap_or(Cow::Borrowed(""));
        let path = decoded.trim_matches('/');
        match path {
            "-/ping" => return Self::Ping,
            "-/stats" => return Self::Statistics,
            _ => {}
        }
        let name_segments = if path.starts_with('@') { 2 } else { 1 };
        let name_end = path.match_indices('/').nth(name_segments - 1).map_or(path.len(), |(slash, _)| slash);
        let (name, rest) = path.split_at(name_end);
        let name = name.to_owned();
        let rest: Vec<&str> = rest.split('/').skip(1).collect();
        match rest[..] {
            _ if name.is_empty() => Self::Unknown,
            [] => Self::Packument { name },
            // In some registries, the file's name contains the scope.
            ["-", file] | ["-", _, file] => Self::Tarball { name, file: file.to_owned() },
            [selector] => Self::Version { name, selector: selector.to_owned() },
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_may_be_encoded_or_not() {
        for path in ["/@babel/core", "/@babel%2fcore", "/@babel%2Fcore", "/%40babel/core/"] {
            assert_eq!(Route::of(path), Route::Packument { name: "@babel/core".into() }, "{path}");
        }
    }

    #[test]
    fn paths_below_a_package_are_versions_and_tarballs() {
        let version = |name: &str| Route::Version { name: name.into(), selector: "1.0.0".into() };
        assert_eq!(Route::of("/a/1.0.0"), version("a"));
        assert_eq!(Route::of("/@s%2fa/1.0.0"), version("@s/a"));
        assert_eq!(
            Route::of("/@s/a/-/a-1.0.0.tgz"),
            Route::Tarball { name: "@s/a".into(), file: "a-1.0.0.tgz".into() }
        );
    }

    #[test]
    fn other_paths_name_nothing() {
        for path in ["/", "", "/a/b/c", "/%ff"] {
            assert_eq!(Route::of(path), Route::Unknown, "{path}");
        }
    }
}
