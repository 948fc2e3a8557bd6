//! Dependency specs: the text after a name (`npm-package-arg`).
//!
//! Each distinct text is parsed once and shared. Parsing never fails. A spec that npm would refuse
//! has the kind [`SpecKind::Invalid`], so the error appears where the spec is used. A relative path
//! is kept as written, because its target depends on the dependent.

use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use crate::hosted::{HostedGit, percent_decode};
use crate::paths;
use crate::semver::{Range, Version};

/// A parsed spec with its text.
#[derive(Debug)]
pub struct Spec {
    /// The text.
    pub raw: Rc<str>,
    /// The meaning.
    pub kind: SpecKind,
}

/// The meaning of a spec.
#[derive(Debug)]
pub enum SpecKind {
    /// One version of a registry package.
    Version {
        /// The version, cleaned.
        version: Version,
        /// The range of this version.
        range: Range,
    },
    /// Any version in a range.
    Range {
        /// The range as written, trimmed.
        wanted: Box<str>,
        /// The parsed range.
        range: Range,
    },
    /// A dist-tag of the registry.
    Tag(Box<str>),
    /// Another package under this name.
    Alias {
        /// The package's name in the registry.
        name: Rc<str>,
        /// Its spec, which is always for a registry.
        spec: Rc<Spec>,
    },
    /// A tarball on disk.
    File(LocalPath),
    /// A folder on disk.
    Directory(LocalPath),
    /// A tarball by URL.
    Remote(Box<str>),
    /// A git repository.
    Git(GitSpec),
    /// A spec that npm refuses.
    Invalid(InvalidSpec),
}

/// The path of a `file:` spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalPath {
    /// Absolute, in the user's home folder (`~/`), or relative to the dependent.
    path: Box<str>,
    /// The user's home folder.
    #[cfg(feature = "home")]
    home: Option<Rc<str>>,
}

/// A git repository and a revision.
#[derive(Debug)]
pub struct GitSpec {
    /// The host, if npm knows it.
    pub hosted: Option<HostedGit>,
    /// The repository's URL for git. A hosted shortcut has none.
    pub fetch: Option<String>,
    /// The text that npm writes into package.json.
    pub save: String,
    /// A branch, tag or commit.
    pub committish: Option<String>,
    /// The range of `#semver:`.
    pub range: Option<String>,
    /// The folder of `#path:` inside the repository.
    pub folder: Option<String>,
}

impl LocalPath {
    /// The absolute path, for a spec of the package at the absolute path `base`.
    pub fn resolve(&self, base: &str) -> String {
        #[cfg(feature = "home")]
        if let Some((home, below)) = self.home.as_deref().zip(self.path.strip_prefix("~/")) {
            return paths::join(home, below);
        }
        paths::join(base, &self.path)
    }

    /// The spec that npm writes for it (`saveSpec` of `fromFile`), for a dependent at the absolute
    /// path `base`. An absolute path stays absolute.
    pub fn saved(&self, base: &str) -> String {
        let path = &*self.path;
        match path.starts_with("~/") {
            true => format!("file:{path}"),
            false if path.starts_with('/') => format!("file:{}", self.resolve(base)),
            false => format!("file:{}", paths::relative(base, &self.resolve(base))),
        }
    }
}

impl Spec {
    /// A spec that npm refuses, whatever its text is. Other specs with that text may be valid.
    pub fn invalid(raw: &str, problem: InvalidSpec) -> Rc<Self> {
        Rc::new(Self { raw: raw.into(), kind: SpecKind::Invalid(problem) })
    }

    /// Whether it isn't a string. Then npm fails as soon as it sees the dependency (`edge.js`).
    pub fn is_no_string(&self) -> bool {
        matches!(&self.kind, SpecKind::Invalid(problem) if problem.code == InvalidSpec::NOT_A_STRING)
    }

    /// Whether a registry answers it, possibly through an alias.
    pub fn is_registry(&self) -> bool {
        matches!(
            self.kind,
            SpecKind::Version { .. } | SpecKind::Range { .. } | SpecKind::Tag(_) | SpecKind::Alias { .. }
        )
    }

    /// The range of versions, if the spec is one.
    pub fn range(&self) -> Option<&Range> {
        match &self.kind {
            SpecKind::Version { range, .. } | SpecKind::Range { range, .. } => Some(range),
            _ => None,
        }
    }
}

/// Why a spec, or the name before it, is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSpec {
    /// npm's code.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
}

impl InvalidSpec {
    /// The code of a spec that isn't a string. npm's error has none.
    pub const NOT_A_STRING: &str = "EINVALIDSPEC";

    /// Why a package can't have a name.
    pub fn name(name: &str) -> Self {
        Self { code: "EINVALIDPACKAGENAME", message: format!("\"{name}\" cannot be the name of a package") }
    }

    /// Why a spec isn't one: it isn't a string.
    pub fn not_a_string() -> Self {
        Self { code: Self::NOT_A_STRING, message: "it must be a string".into() }
    }
}

/// All specs of a resolution. Like names, specs are only ever added.
#[derive(Default)]
pub struct Specs {
    index: RefCell<FxHashMap<Rc<str>, Rc<Spec>>>,
    /// The user's home folder.
    #[cfg(feature = "home")]
    home: Option<Rc<str>>,
}

impl Specs {
    /// Specs of a user whose home folder is this one.
    #[cfg(feature = "home")]
    pub fn at_home(home: Option<&str>) -> Self {
        Self { home: home.map(Rc::from), ..Self::default() }
    }

    /// Interns a text.
    pub fn intern(&self, raw: &str) -> Rc<Spec> {
        if let Some(spec) = self.index.borrow().get(raw) {
            return spec.clone();
        }
        let kind = self.parse(raw);
        let raw: Rc<str> = raw.into();
        let spec = Rc::new(Spec { raw: raw.clone(), kind });
        self.index.borrow_mut().insert(raw, spec.clone());
        spec
    }

    /// The name and spec of an argument such as `name@spec`. The name is `None` if the argument is
    /// just a spec.
    pub fn argument<'a>(&self, argument: &'a str) -> Result<(Option<&'a str>, Rc<Spec>), InvalidSpec> {
        let (name, text) = split_argument(argument);
        if let Some(name) = name.filter(|name| !is_valid_name(name)) {
            return Err(InvalidSpec::name(name));
        }
        let spec = self.intern(&text);
        match &spec.kind {
            SpecKind::Invalid(problem) => Err(problem.clone()),
            _ => Ok((name, spec)),
        }
    }

    fn parse(&self, raw: &str) -> SpecKind {
        if is_file(raw) {
            return self.local(raw);
        }
        if starts_with_ignoring_case(raw, "npm:") {
            return self.alias(&raw[4..]);
        }
        if let Some(hosted) = HostedGit::parse(raw) {
            return hosted_git(hosted);
        }
        if is_url(raw) {
            return url(raw);
        }
        if raw.contains('/') || is_tarball_name(raw) {
            return self.local(raw);
        }
        registry(raw)
    }

    #[cfg_attr(not(feature = "home"), expect(clippy::unused_self, reason = "it has the home folder"))]
    fn local(&self, raw: &str) -> SpecKind {
        let mut path = if starts_with_ignoring_case(raw, "file:") { &raw[5..] } else { raw };
        // file://path and file:///path are absolute, but file:/../path and file://../path aren't
        // (`fromFile`).
        let trimmed = path.trim_start_matches('/');
        let slashes = path.len() - trimmed.len();
        let dotted = matches!(trimmed.split('/').next(), Some("." | ".."));
        if (1..=3).contains(&slashes) && dotted {
            path = trimmed;
        } else if slashes > 1 {
            path = &path[slashes - 1..];
        }
        let path = LocalPath {
            path: percent_decode(path).into(),
            #[cfg(feature = "home")]
            home: self.home.clone(),
        };
        if is_tarball_name(raw) { SpecKind::File(path) } else { SpecKind::Directory(path) }
    }

    /// Parses the text after `npm:`, as `npm-package-arg` reads an argument.
    fn alias(&self, argument: &str) -> SpecKind {
        let invalid = |message: &str| SpecKind::Invalid(InvalidSpec { code: "EINVALIDALIAS", message: message.into() });
        let (name, spec) = split_argument(argument);
        let Some(name) = name else {
            return invalid("aliases must have a name");
        };
        if !is_valid_name(name) {
            return SpecKind::Invalid(InvalidSpec::name(name));
        }
        let spec = self.intern(&spec);
        match spec.kind {
            SpecKind::Alias { .. } => invalid("nested aliases are not supported"),
            SpecKind::Invalid(ref problem) => SpecKind::Invalid(problem.clone()),
            _ if !spec.is_registry() => invalid("aliases only work for registry dependencies"),
            _ => SpecKind::Alias { name: name.into(), spec },
        }
    }
}

/// Splits `name@spec`. The name is `None` if the argument is just a spec.
pub fn split_argument(argument: &str) -> (Option<&str>, Cow<'_, str>) {
    if is_url(argument) {
        return (None, argument.into());
    }
    if is_scp(argument) {
        return (None, format!("git+ssh://{argument}").into());
    }
    let at = argument.char_indices().skip(1).find(|&(_, character)| character == '@').map(|(index, _)| index);
    let name = at.map_or(argument, |at| &argument[..at]);
    if !name.starts_with('@') && (name.contains('/') || is_tarball_name(name)) {
        return (None, argument.into());
    }
    match at {
        Some(at) => (Some(name), Some(&argument[at + 1..]).filter(|spec| !spec.is_empty()).unwrap_or("*").into()),
        None if is_valid_name(argument) => (Some(argument), "*".into()),
        None => (None, argument.into()),
    }
}

/// The path, if a spec is one without a scheme.
pub fn local_path(spec: &str) -> Option<LocalPath> {
    if is_url(spec) {
        return None;
    }
    match Specs::default().parse(spec) {
        SpecKind::File(path) | SpecKind::Directory(path) => Some(path),
        _ => None,
    }
}

fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Whether a text matches `/^(?:git[+])?[a-z]+:/i`.
fn is_url(text: &str) -> bool {
    let text = if starts_with_ignoring_case(text, "git+") { &text[4..] } else { text };
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    letters > 0 && text.as_bytes().get(letters) == Some(&b':')
}

/// Whether a text matches `/^[^@]+@[^:.]+\.[^:]+:.+$/`: an address as `scp` takes it.
fn is_scp(text: &str) -> bool {
    let Some((user, rest)) = text.split_once('@') else { return false };
    let Some((host, path)) = rest.split_once(':') else { return false };
    let Some((first, others)) = host.split_once('.') else { return false };
    [user, first, others, path].iter().all(|part| !part.is_empty())
}

/// Whether a text can only be a path: it starts with `file:`, `.`, `~/`, `/` or a drive letter.
fn is_file(text: &str) -> bool {
    let bytes = text.as_bytes();
    starts_with_ignoring_case(text, "file:")
        || text.starts_with(['.', '/'])
        || text.starts_with("~/")
        || (bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':'))
}

fn is_tarball_name(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    [".tgz", ".tar.gz", ".tar"].iter().any(|ending| lower.ends_with(ending))
}

fn hosted_git(hosted: HostedGit) -> SpecKind {
    let git = GitSpec {
        save: hosted.to_spec(),
        fetch: hosted.fetch_url(),
        committish: None,
        range: None,
        folder: None,
        hosted: None,
    };
    let fragment = hosted.committish.clone();
    with_fragment(GitSpec { hosted: Some(hosted), ..git }, fragment.as_deref())
}

fn url(raw: &str) -> SpecKind {
    let scheme = raw.split(':').next().unwrap_or_default().to_ascii_lowercase();
    match scheme.as_str() {
        "http" | "https" => SpecKind::Remote(raw.into()),
        "git" | "git+http" | "git+https" | "git+rsync" | "git+ftp" | "git+file" | "git+ssh" => {
            let (address, fragment) = raw.split_once('#').map_or((raw, None), |(a, f)| (a, Some(f)));
            let fetch = scp_address(address).unwrap_or_else(|| {
                if starts_with_ignoring_case(address, "git+") { address[4..].to_owned() } else { address.to_owned() }
            });
            let (save, fetch) = (raw.to_owned(), Some(fetch));
            let git = GitSpec { hosted: None, fetch, save, committish: None, range: None, folder: None };
            with_fragment(git, fragment)
        }
        scheme => SpecKind::Invalid(InvalidSpec {
            code: "EUNSUPPORTEDPROTOCOL",
            message: format!("unsupported URL type \"{scheme}:\": {raw}"),
        }),
    }
}

/// Parses `git+ssh://user@host:path`, which is scp's notation and not a URL: the text after the
/// colon isn't a port.
fn scp_address(address: &str) -> Option<String> {
    let rest = address.strip_prefix("git+ssh://")?;
    let (host, path) = rest.split_once(':')?;
    let digits = path.bytes().take_while(u8::is_ascii_digit).count();
    let port = digits > 0 && matches!(path.as_bytes().get(digits), None | Some(b'/'));
    (!port && !host.is_empty() && !path.is_empty()).then(|| rest.to_owned())
}

/// Parses `#committish`, `#semver:range` and combinations with `::`.
fn with_fragment(mut git: GitSpec, fragment: Option<&str>) -> SpecKind {
    for part in fragment.unwrap_or_default().split("::").filter(|part| !part.is_empty()) {
        match part.split_once(':') {
            None if git.committish.is_none() && git.range.is_none() => git.committish = Some(part.to_owned()),
            Some(("semver", range)) if git.committish.is_none() && git.range.is_none() => {
                git.range = Some(percent_decode(range));
            }
            Some(("path", folder)) if git.folder.is_none() => git.folder = Some(folder.to_owned()),
            Some((key, _)) if key != "semver" && key != "path" => {}
            _ => {
                return SpecKind::Invalid(InvalidSpec {
                    code: "EINVALIDGITSPEC",
                    message: format!("more than one committish or range in {}", git.save),
                });
            }
        }
    }
    SpecKind::Git(git)
}

fn registry(raw: &str) -> SpecKind {
    let wanted = raw.trim();
    let range = Range::parse_loose(wanted);
    match (Version::parse_loose(wanted), range) {
        (Some(version), Some(range)) => SpecKind::Version { version, range },
        (None, Some(range)) => SpecKind::Range { wanted: wanted.into(), range },
        _ if is_url_component(wanted) => SpecKind::Tag(wanted.into()),
        _ => SpecKind::Invalid(InvalidSpec {
            code: "EINVALIDTAGNAME",
            message: format!("invalid tag name \"{wanted}\": a tag may only contain characters that URLs allow"),
        }),
    }
}

/// Whether `encodeURIComponent` leaves the text as it is.
pub fn is_url_component(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte))
}

/// Whether a package can have this name (`validForOldPackages` of `validate-npm-package-name`).
pub fn is_valid_name(name: &str) -> bool {
    let reserved = name.eq_ignore_ascii_case("node_modules") || name.eq_ignore_ascii_case("favicon.ico");
    if name.is_empty() || name.starts_with(['.', '-', '_']) || name.trim() != name || reserved {
        return false;
    }
    is_url_component(name)
        || name.strip_prefix('@').and_then(|scoped| scoped.split_once('/')).is_some_and(|(scope, base)| {
            let filled = !scope.is_empty() && !base.is_empty();
            filled && !base.starts_with('.') && is_url_component(scope) && is_url_component(base)
        })
}

#[cfg(test)]
mod tests {
    use super::{local_path, split_argument};

    #[test]
    fn a_path_is_saved_relative_to_its_dependent_unless_it_is_absolute() {
        for (path, saved) in [
            ("../b/./b.tgz", "file:../b/b.tgz"),
            ("b.tgz", "file:b.tgz"),
            ("/b/../c.tgz", "file:/c.tgz"),
            ("~/b.tgz", "file:~/b.tgz"),
        ] {
            assert_eq!(local_path(path).expect("a path").saved("/project/node_modules/a"), saved, "{path}");
        }
    }

    /// The expected results are those of `npm-package-arg`.
    #[test]
    fn an_address_for_scp_is_a_repository_and_no_name() {
        for (argument, name, spec) in [
            ("git@github.com:a/b.git", None, "git+ssh://git@github.com:a/b.git"),
            ("me@x.y.test:b", None, "git+ssh://me@x.y.test:b"),
            ("a@npm:b@1", Some("a"), "npm:b@1"),
            ("a@1.0", Some("a"), "1.0"),
            ("a@http://x.test/a.tgz", Some("a"), "http://x.test/a.tgz"),
            ("a@.test:b", Some("a"), ".test:b"),
            ("a@x.:b", Some("a"), "x.:b"),
            ("a@x.test:", Some("a"), "x.test:"),
        ] {
            assert_eq!(split_argument(argument), (name, spec.into()), "{argument}");
        }
    }
}
