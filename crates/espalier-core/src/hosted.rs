//! Git repositories on hosts that npm knows by name (`hosted-git-info`).
//!
//! To npm, `user/repo`, `gitlab:user/repo`, `git@github.com:user/repo.git` and the URL of the same
//! repository are the same. This module parses all of these forms and writes each of them.

/// A repository on a known host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostedGit {
    host: &'static Host,
    user: Option<String>,
    auth: Option<String>,
    project: String,
    /// The text after `#`.
    pub committish: Option<String>,
    form: Form,
}

/// The form in which the repository was written, which npm keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Shortcut,
    Https,
    Ssh,
    Git,
    Http,
}

#[derive(Debug, PartialEq, Eq)]
struct Host {
    name: &'static str,
    domain: &'static str,
    protocols: &'static [&'static str],
    /// Values of a path's fourth component that mark other URLs, such as those of tarballs.
    foreign: &'static [&'static str],
}

const HOSTS: [Host; 5] = [
    Host {
        name: "github",
        domain: "github.com",
        protocols: &["git", "http", "git+ssh", "git+https", "ssh", "https"],
        foreign: &[],
    },
    Host {
        name: "bitbucket",
        domain: "bitbucket.org",
        protocols: &["git+ssh", "git+https", "ssh", "https"],
        foreign: &["get"],
    },
    Host { name: "gitlab", domain: "gitlab.com", protocols: &["git+ssh", "git+https", "ssh", "https"], foreign: &[] },
    Host {
        name: "gist",
        domain: "gist.github.com",
        protocols: &["git", "git+ssh", "git+https", "ssh", "https"],
        foreign: &["raw"],
    },
    Host { name: "sourcehut", domain: "git.sr.ht", protocols: &["git+ssh", "https"], foreign: &["archive"] },
];

/// The parts of a repository's address.
struct Address<'a> {
    protocol: String,
    auth: Option<&'a str>,
    host: &'a str,
    path: &'a str,
    fragment: Option<&'a str>,
}

impl HostedGit {
    /// Parses any form. `None` if it isn't on a known host.
    pub fn parse(text: &str) -> Option<Self> {
        // Most texts are addresses of tarballs, which are neither of the short forms.
        if let Some(rest) = without_scheme(text) {
            return if is_elsewhere(rest) { None } else { Self::from_address(&address(text)?) };
        }
        if is_github_shorthand(text) {
            return Some(Self::shortcut(&HOSTS[0], text));
        }
        let colon = text.find(':');
        if let Some(host) = colon.and_then(|colon| HOSTS.iter().find(|host| host.name == &text[..colon])) {
            let path = &text[host.name.len() + 1..];
            return Some(Self::shortcut(host, path.strip_prefix("//").unwrap_or(path)));
        }
        Self::from_address(&address(text)?)
    }

    /// Whether a text is plainly the address of something else.
    pub fn is_plainly_not(text: &str) -> bool {
        without_scheme(text).is_some_and(is_elsewhere)
    }

    fn shortcut(host: &'static Host, text: &str) -> Self {
        let (path, fragment) = split_fragment(text);
        let path = path.strip_prefix('/').unwrap_or(path);
        // The credentials of a shortcut are ignored.
        let path = path.split_once('@').map_or(path, |(_, path)| path);
        let (user, project) = path.rsplit_once('/').map_or((None, path), |(user, project)| (Some(user), project));
        let project = percent_decode(project);
        Self {
            host,
            user: user.filter(|user| !user.is_empty()).map(percent_decode),
            auth: None,
            project: without_git(&project).to_owned(),
            committish: fragment.filter(|text| !text.is_empty()).map(percent_decode),
            form: Form::Shortcut,
        }
    }

    fn from_address(address: &Address<'_>) -> Option<Self> {
        let domain = address.host.strip_prefix("www.").unwrap_or(address.host);
        let host = HOSTS.iter().find(|host| host.domain == domain)?;
        if !host.protocols.contains(&address.protocol.as_str()) {
            return None;
        }
        let path = address.path.strip_prefix('/').unwrap_or(address.path);
        let mut committish = address.fragment;
        let (user, project) = if host.name == "gitlab" {
            if path.contains("/-/") || path.contains("/archive.tar.gz") {
                return None;
            }
            path.rsplit_once('/')?
        } else {
            let mut parts = path.splitn(4, '/');
            let (user, project) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            match (host.name, parts.next().filter(|part| !part.is_empty())) {
                ("github", Some("tree")) => committish = parts.next(),
                ("github", Some(_)) => return None,
                (_, Some(part)) if host.foreign.contains(&part) => return None,
                _ => {}
            }
            if host.name == "gist" && project.is_empty() { ("", user) } else { (user, project) }
        };
        let project = without_git(project);
        if project.is_empty() || (user.is_empty() && host.name != "gist") {
            return None;
        }
        Some(Self {
            host,
            user: Some(user).filter(|user| !user.is_empty()).map(percent_decode),
            auth: address.auth.filter(|_| !address.protocol.ends_with("ssh")).map(str::to_owned),
            project: percent_decode(project),
            committish: committish.filter(|text| !text.is_empty()).map(percent_decode),
            form: match address.protocol.as_str() {
                "git+ssh" | "ssh" => Form::Ssh,
                "git" => Form::Git,
                "http" | "git+http" => Form::Http,
                _ => Form::Https,
            },
        })
    }

    fn path(&self) -> String {
        match &self.user {
            Some(user) if self.host.name != "gist" => format!("{user}/{}", self.project),
            _ => self.project.clone(),
        }
    }

    fn fragment(&self) -> String {
        self.committish.as_ref().map(|committish| format!("#{committish}")).unwrap_or_default()
    }

    /// `git+ssh://git@host/user/project.git#committish`.
    pub fn ssh_url(&self) -> String {
        format!("git+ssh://git@{}/{}.git{}", self.host.domain, self.path(), self.fragment())
    }

    /// `git@host:user/project.git`, with the committish if `committish`. npm compares repositories
    /// by this form.
    pub fn ssh(&self, committish: bool) -> String {
        let fragment = if committish { self.fragment() } else { String::new() };
        format!("git@{}:{}.git{fragment}", self.host.domain, self.path())
    }

    /// `git+https://host/user/project.git#committish`.
    pub fn https(&self) -> String {
        let auth = self.auth.as_ref().map(|auth| format!("{auth}@")).unwrap_or_default();
        match self.host.name {
            "sourcehut" => format!("https://{}/{}{}", self.host.domain, self.path(), self.fragment()),
            "gist" => format!("git+https://{}/{}.git{}", self.host.domain, self.path(), self.fragment()),
            _ => format!("git+https://{auth}{}/{}.git{}", self.host.domain, self.path(), self.fragment()),
        }
    }

    /// `github:user/project#committish`.
    pub fn to_shortcut(&self) -> String {
        format!("{}:{}{}", self.host.name, self.path(), self.fragment())
    }

    /// The form in a lockfile (`consistent-resolve.js`). It is ssh, which also reaches private
    /// repositories, unless the spec had https.
    pub fn resolved(&self) -> String {
        if self.auth.is_some() || self.form == Form::Https { self.https() } else { self.ssh_url() }
    }

    /// The form in package.json, which is that of the spec.
    pub fn to_spec(&self) -> String {
        match self.form {
            Form::Shortcut => self.to_shortcut(),
            Form::Https => self.https(),
            Form::Ssh | Form::Http => self.ssh_url(),
            Form::Git => format!("git://{}/{}.git{}", self.host.domain, self.path(), self.fragment()),
        }
    }

    /// The form that npm saves after an installation. Only a spec with https stays a URL.
    pub fn to_saved(&self) -> String {
        let https = self.form == Form::Https || self.auth.is_some();
        let url = self.https();
        match (https, url.strip_prefix("git+")) {
            (true, Some(_)) => url,
            (true, None) => format!("git+{url}"),
            (false, _) => self.to_shortcut(),
        }
    }

    /// The repository at a commit.
    #[must_use]
    pub fn at(&self, commit: &str) -> Self {
        Self { committish: Some(commit.to_owned()), ..self.clone() }
    }

    /// The URLs to fetch from, in npm's order: https, which is faster, and ssh, unless the https
    /// URL has credentials.
    pub fn fetch_urls(&self) -> Vec<String> {
        let plain = Self { committish: None, ..self.clone() };
        let without_prefix = |url: String| url.strip_prefix("git+").map_or(url.clone(), str::to_owned);
        let https = without_prefix(plain.https());
        if self.auth.is_some() { vec![https] } else { vec![https, without_prefix(plain.ssh_url())] }
    }

    /// The URL for git. A shortcut has none of its own.
    pub fn fetch_url(&self) -> Option<String> {
        (self.form != Form::Shortcut).then(|| {
            let spec = Self { committish: None, ..self.clone() }.to_spec();
            spec.strip_prefix("git+").map_or(spec.clone(), str::to_owned)
        })
    }
}

fn without_git(project: &str) -> &str {
    project.strip_suffix(".git").unwrap_or(project)
}

fn without_scheme(text: &str) -> Option<&str> {
    text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))
}

/// Whether an address without its scheme is plainly not one of the hosts, so that it needn't be
/// parsed as an address.
fn is_elsewhere(rest: &str) -> bool {
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-');
    let end = rest.bytes().position(|byte| !is_plain(byte)).unwrap_or(rest.len());
    let (domain, rest) = rest.split_at(end);
    let port = rest.strip_prefix(':').map_or(0, |port| 1 + port.bytes().take_while(|&byte| is_plain(byte)).count());
    let domain = domain.strip_prefix("www.").unwrap_or(domain);
    matches!(rest.as_bytes().get(port), None | Some(b'/')) && HOSTS.iter().all(|host| host.domain != domain)
}

fn split_fragment(text: &str) -> (&str, Option<&str>) {
    text.split_once('#').map_or((text, None), |(text, fragment)| (text, Some(fragment)))
}

/// Whether a text is `user/repo`: one slash, and nothing before a `#` that would make it a path, a
/// scope or a URL.
fn is_github_shorthand(text: &str) -> bool {
    let (path, _) = split_fragment(text);
    let slash = path.find('/');
    slash.is_some_and(|slash| slash > 0)
        && path.matches('/').count() == 1
        && !path.ends_with('/')
        && !path.starts_with('.')
        && !path.contains([':', '@'])
        && !path.chars().any(char::is_whitespace)
}

/// Splits a URL, or scp's `user@host:path`, into its parts.
fn address(text: &str) -> Option<Address<'_>> {
    let (text, fragment) = split_fragment(text);
    let (protocol, rest) = match text.split_once("://") {
        Some((protocol, rest)) => (protocol.to_ascii_lowercase(), rest),
        // `git@host:path` and `git:host:path` mean ssh.
        None if text.contains('@') => ("git+ssh".to_owned(), text),
        None => return None,
    };
    let end = rest.find('/').unwrap_or(rest.len());
    let (auth, host_start) = match rest[..end].rfind('@') {
        Some(at) => (Some(&rest[..at]), at + 1),
        None => (None, 0),
    };
    let separator = rest[host_start..].find(['/', ':']).map_or(rest.len(), |index| host_start + index);
    let host = &rest[host_start..separator];
    let path = rest.get(separator + 1..).unwrap_or_default();
    Some(Address { protocol, auth, host, path, fragment })
}

/// Decodes `%xx`. A text that can't be decoded stays as it is.
pub(crate) fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let hex = (first == b'%').then(|| tail.get(..2)).flatten();
        let decoded = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match decoded {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::HostedGit;

    fn spec(text: &str) -> Option<String> {
        HostedGit::parse(text).map(|hosted| hosted.to_spec())
    }

    #[test]
    fn every_form_of_a_repository_is_read() {
        assert_eq!(spec("npm/cli").as_deref(), Some("github:npm/cli"));
        assert_eq!(spec("npm/cli#semver:^1").as_deref(), Some("github:npm/cli#semver:^1"));
        assert_eq!(spec("gitlab:a/b/c").as_deref(), Some("gitlab:a/b/c"));
        assert_eq!(spec("git@github.com:npm/cli.git").as_deref(), Some("git+ssh://git@github.com/npm/cli.git"));
        assert_eq!(spec("git+https://github.com/npm/cli").as_deref(), Some("git+https://github.com/npm/cli.git"));
        assert_eq!(
            spec("https://github.com/npm/cli/tree/main").as_deref(),
            Some("git+https://github.com/npm/cli.git#main")
        );
    }

    #[test]
    fn what_is_not_a_repository_is_left_alone() {
        for text in [
            "^1.0.0",
            "./a/b",
            "@scope/name",
            "https://example.com/a.tgz",
            "https://github.com/a/b/archive/x.tar.gz",
            "latest",
        ] {
            assert_eq!(spec(text), None, "{text}");
        }
    }
}
