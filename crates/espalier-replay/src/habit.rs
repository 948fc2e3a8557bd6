//! The differences of other registries from npm's: each habit by itself, and those of products by
//! name.
//!
//! `docs/registries.md` lists the habits of each product, with sources.

use std::str::FromStr;

use memchr::memmem;

/// The help of `--habit`.
pub const HELP: &str = "\
Do something as other registries do it: HABIT[=VALUE]. May be repeated.

  below=PATH                 the registry is below this path, and nothing else is at its origin
  version-documents=STATUS   there are none; STATUS/STATUS tells unscoped from scoped packages
  full-only                  full packuments also to clients that ask for abbreviated ones
  abbreviated-only           abbreviated packuments also to clients that ask for full ones
  plain-types                abbreviated documents as application/json
  sha1-only                  documents have no `dist.integrity`, only `dist.shasum`
  tarballs-below=PATH        tarballs are below another path of the origin
  tarballs-elsewhere         tarballs are at another origin (localhost for 127.0.0.1, and back)
  other-version-tarballs     documents of single versions state tarballs at that origin, packuments don't
  scope-in-file              the file of a tarball has the scope in its name: /@s/a/-/@s/a-1.0.0.tgz
  encoded-scope              the address of a tarball has the scope's slash encoded: /@s%2fa/-/a-1.0.0.tgz
  signed-storage             tarballs are redirected to another origin, which refuses a second credential
  token=TEXT                 only who sends `Authorization: TEXT` gets anything
  token-of=WHAT              of documents or of tarballs only
  login=TEXT                 what a 401 says about logging in
  no-validators              neither ETag nor Cache-Control
  no-encoded-slash           404 where a path has %2f";

/// The values of `--like`: the habits of each product.
const PRODUCTS: [(&str, &[&str]); 7] = [
    (
        "artifactory",
        &[
            "below=/artifactory/api/npm/npm/",
            "token=Bearer secret",
            "login=Authentication is required",
            "scope-in-file",
            "signed-storage",
            "plain-types",
        ],
    ),
    ("nexus", &["below=/repository/npm/", "version-documents=404/400", "full-only", "no-validators"]),
    (
        "github",
        &[
            "version-documents=405",
            "token=Bearer secret",
            "login=unauthenticated: User cannot be authenticated with the token provided.",
            "tarballs-below=/download/",
            "signed-storage",
        ],
    ),
    (
        "gitlab",
        &[
            "below=/api/v4/packages/npm/",
            "tarballs-below=/api/v4/projects/1/packages/npm/",
            "version-documents=404",
            "abbreviated-only",
            "plain-types",
            "sha1-only",
            "scope-in-file",
            "token=Bearer secret",
        ],
    ),
    ("codeartifact", &["below=/npm/team/", "token=Bearer secret", "login=Unauthenticated", "no-validators"]),
    (
        "azure",
        &[
            "below=/team/_packaging/feed/npm/registry/",
            "version-documents=404",
            "token=Basic YW55OnNlY3JldA==",
            "signed-storage",
            "full-only",
            "sha1-only",
        ],
    ),
    (
        "cloudsmith",
        &["below=/team/npm/", "token=Bearer secret", "tarballs-elsewhere", "token-of=documents", "plain-types"],
    ),
];

/// The habits of a server. The default is npm's own registry. It has a field for each habit.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a habit of its own")]
pub struct Habits {
    /// The path of the registry, with slashes around it, or empty.
    pub below: String,
    /// The statuses of version documents, for unscoped and for scoped packages.
    pub version_documents: Option<(u16, u16)>,
    /// The only form of packuments, if there is only one.
    pub only: Option<Only>,
    /// Abbreviated documents have the content type of full ones.
    pub plain_types: bool,
    /// There is no `dist.integrity`.
    pub sha1_only: bool,
    /// The path of tarballs, if it isn't that of documents.
    pub tarballs_below: Option<String>,
    /// Tarballs are at another origin.
    pub tarballs_elsewhere: bool,
    /// The documents of single versions state tarballs at another origin.
    pub other_version_tarballs: bool,
    /// Tarballs are at `/@s/a/-/@s/a-1.0.0.tgz`.
    pub scope_in_file: bool,
    /// Tarballs are at `/@s%2fa/-/a-1.0.0.tgz`.
    pub encoded_scope: bool,
    /// Tarballs are elsewhere, at signed addresses.
    pub signed_storage: bool,
    /// The required `Authorization`.
    pub token: Option<String>,
    /// The requests that need it. `None` for all.
    pub token_of: Option<TokenOf>,
    /// The login challenge for requests without it.
    pub login: Option<String>,
    /// There are no validators.
    pub no_validators: bool,
    /// `%2f` is refused.
    pub no_encoded_slash: bool,
}

/// The only form of packuments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// Full, whatever is requested.
    Full,
    /// Abbreviated, whatever is requested.
    Abbreviated,
}

/// The requests that need a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenOf {
    /// Documents only.
    Documents,
    /// Tarballs only.
    Tarballs,
}

/// An invalid habit or product.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct HabitError(String);

/// The habits of a product.
#[derive(Clone, Debug)]
pub struct Product(&'static [&'static str]);

impl FromStr for Product {
    type Err = HabitError;

    fn from_str(name: &str) -> Result<Self, HabitError> {
        let names = || PRODUCTS.map(|(name, _)| name).join(", ");
        let found = PRODUCTS.iter().find(|(other, _)| *other == name);
        found.map(|(_, habits)| Self(habits)).ok_or_else(|| HabitError(format!("`{name}` is none of {}", names())))
    }
}

impl Habits {
    /// The habits of a product, and further ones.
    ///
    /// # Errors
    ///
    /// If a text isn't a habit.
    pub fn new<'a>(product: Option<&Product>, more: impl IntoIterator<Item = &'a str>) -> Result<Self, HabitError> {
        let mut habits = Self::default();
        let own = product.map(|product| product.0).unwrap_or_default();
        for text in own.iter().copied().chain(more) {
            habits.adopt(text)?;
        }
        Ok(habits)
    }

    fn adopt(&mut self, text: &str) -> Result<(), HabitError> {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let wrong = || HabitError(format!("`{value}` is no value for the habit `{name}`"));
        let path = || {
            let path = value.trim_matches('/');
            if value.starts_with('/') && !path.is_empty() { Ok(format!("/{path}/")) } else { Err(wrong()) }
        };
        let given = || if value.is_empty() { Err(wrong()) } else { Ok(Some(value.to_owned())) };
        match name {
            "below" => self.below = path()?,
            "version-documents" => {
                let status = |text: &str| text.parse().ok().filter(|status| (400..600).contains(status));
                let (unscoped, scoped) = value.split_once('/').unwrap_or((value, value));
                self.version_documents = Some((status(unscoped).ok_or_else(wrong)?, status(scoped).ok_or_else(wrong)?));
            }
            "tarballs-below" => self.tarballs_below = Some(path()?),
            "token" => self.token = given()?,
            "login" => self.login = given()?,
            "token-of" => {
                self.token_of = Some(match value {
                    "documents" => TokenOf::Documents,
                    "tarballs" => TokenOf::Tarballs,
                    _ => return Err(wrong()),
                });
            }
            _ if !value.is_empty() => return Err(wrong()),
            "full-only" => self.only = Some(Only::Full),
            "abbreviated-only" => self.only = Some(Only::Abbreviated),
            "plain-types" => self.plain_types = true,
            "sha1-only" => self.sha1_only = true,
            "tarballs-elsewhere" => self.tarballs_elsewhere = true,
            "other-version-tarballs" => self.other_version_tarballs = true,
            "scope-in-file" => self.scope_in_file = true,
            "encoded-scope" => self.encoded_scope = true,
            "signed-storage" => self.signed_storage = true,
            "no-validators" => self.no_validators = true,
            "no-encoded-slash" => self.no_encoded_slash = true,
            _ => return Err(HabitError(format!("there is no habit `{name}`"))),
        }
        Ok(())
    }

    /// The path inside of the registry. `None` if it is outside.
    pub fn inside<'a>(&self, path: &'a str) -> Option<&'a str> {
        let of_tarball = || path.strip_prefix(self.tarballs_below.as_deref()?.trim_end_matches('/'));
        if self.below.is_empty() {
            return of_tarball().or(Some(path));
        }
        path.strip_prefix(self.below.trim_end_matches('/')).or_else(of_tarball)
    }

    /// The beginning of tarball addresses, for an origin.
    pub fn tarball_base(&self, origin: &str) -> String {
        let origin = if self.tarballs_elsewhere { alias(origin) } else { origin.to_owned() };
        format!("{origin}{}", self.tarballs_below.as_ref().unwrap_or(&self.below).trim_end_matches('/'))
    }

    /// Changes a document, which can be that of a single version, in the way of this registry.
    pub fn adapt(&self, mut document: Vec<u8>, is_of_version: bool) -> Vec<u8> {
        if self.sha1_only {
            document = without_integrity(&document);
        }
        if self.scope_in_file || self.encoded_scope {
            document = with_tarballs(&document, |address| self.scoped(address));
        }
        if self.other_version_tarballs && is_of_version {
            document = with_tarballs(&document, |address| Some(alias(address)));
        }
        document
    }

    fn scoped(&self, address: &str) -> Option<String> {
        let (package, file) = address.rsplit_once("/-/")?;
        let (base, name) = package.rsplit_once("/@")?;
        let (scope, own) = name.split_once('/')?;
        let slash = if self.encoded_scope { "%2f" } else { "/" };
        let file_scope = if self.scope_in_file { format!("@{scope}/") } else { String::new() };
        Some(format!("{base}/@{scope}{slash}{own}/-/{file_scope}{file}"))
    }

    /// Whether this request lacks the required token.
    pub fn refuses(&self, authorization: Option<&str>, is_tarball: bool) -> bool {
        let concerned = match self.token_of {
            None => true,
            Some(of) => (of == TokenOf::Tarballs) == is_tarball,
        };
        concerned && self.token.as_deref().is_some_and(|token| authorization != Some(token))
    }
}

/// Another name of the same server, which is another origin.
pub fn alias(origin: &str) -> String {
    let (from, to) =
        if origin.contains("://localhost") { ("localhost", "127.0.0.1") } else { ("127.0.0.1", "localhost") };
    origin.replacen(from, to, 1)
}

/// Changes the values of `tarball` in a document.
fn with_tarballs(document: &[u8], change: impl Fn(&str) -> Option<String>) -> Vec<u8> {
    let mut out = Vec::with_capacity(document.len() + document.len() / 8);
    let mut copied = 0;
    for (start, end) in values(document, br#""tarball""#) {
        if let Some(changed) = str::from_utf8(&document[start..end]).ok().and_then(&change) {
            out.extend_from_slice(&document[copied..start]);
            out.extend_from_slice(changed.as_bytes());
            copied = end;
        }
    }
    out.extend_from_slice(&document[copied..]);
    out
}

/// Removes `integrity` from a document. Its value is between others: shasum and tarball are in the
/// same object.
fn without_integrity(document: &[u8]) -> Vec<u8> {
    const KEY: &[u8] = br#""integrity""#;
    let mut out = Vec::with_capacity(document.len());
    let mut copied = 0;
    for (_, end) in values(document, KEY) {
        let key = memmem::rfind(&document[copied..end], KEY).map_or(end, |at| copied + at);
        let after = end + 1 + document[end + 1..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        out.extend_from_slice(&document[copied..key]);
        if document.get(after) == Some(&b',') {
            copied = after + 1;
        } else {
            // It is the last member of its object, so the comma before it is removed.
            while out.last().is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b',') {
                out.pop();
            }
            copied = end + 1;
        }
    }
    out.extend_from_slice(&document[copied..]);
    out
}

/// The positions of the texts after a key.
fn values<'a>(document: &'a [u8], key: &'a [u8]) -> impl Iterator<Item = (usize, usize)> + 'a {
    memmem::find_iter(document, key).filter_map(move |at| {
        let rest = &document[at + key.len()..];
        let lead = rest.iter().take_while(|&&byte| byte == b':' || byte.is_ascii_whitespace()).count();
        let start = at + key.len() + lead + 1;
        let is_text = lead > 0 && document.get(start - 1) == Some(&b'"');
        let length = memchr::memchr(b'"', document.get(start..)?)?;
        is_text.then_some((start, start + length))
    })
}

#[cfg(test)]
mod tests {
    use super::{Habits, PRODUCTS, Product};

    fn habits(texts: &[&str]) -> Habits {
        Habits::new(None, texts.iter().copied()).expect("habits")
    }

    #[test]
    fn every_product_has_habits_and_what_is_none_is_named() {
        for (name, _) in PRODUCTS {
            let product: Product = name.parse().expect(name);
            Habits::new(Some(&product), []).expect(name);
        }
        assert!("npm".parse::<Product>().expect_err("none").to_string().starts_with("`npm` is none of artifactory, "));
        for (text, problem) in [
            ("often", "there is no habit `often`"),
            ("below=x", "`x` is no value for the habit `below`"),
            ("version-documents=200", "`200` is no value for the habit `version-documents`"),
            ("sha1-only=yes", "`yes` is no value for the habit `sha1-only`"),
        ] {
            assert_eq!(Habits::new(None, [text]).expect_err(text).to_string(), problem);
        }
    }

    #[test]
    fn a_registry_may_be_in_two_places() {
        let habits = habits(&["below=/api/npm", "tarballs-below=/files/"]);
        assert_eq!(habits.inside("/api/npm/a"), Some("/a"));
        assert_eq!(habits.inside("/files/a/-/a-1.0.0.tgz"), Some("/a/-/a-1.0.0.tgz"));
        assert_eq!(habits.inside("/a"), None);
        assert_eq!(habits.tarball_base("http://127.0.0.1:1"), "http://127.0.0.1:1/files");
    }

    #[test]
    fn documents_are_written_as_others_write_them() {
        let document = br#"{"dist":{"integrity":"sha512-A==","shasum":"0f","tarball":"http://h/@s/a/-/a-1.0.0.tgz"}}
            {"dist":{"shasum":"0f","tarball":"http://h/b/-/b-1.0.0.tgz", "integrity": "sha512-B=="}}"#;
        let adapted = habits(&["sha1-only", "scope-in-file", "encoded-scope"]).adapt(document.to_vec(), false);
        assert_eq!(
            String::from_utf8(adapted).expect("text"),
            r#"{"dist":{"shasum":"0f","tarball":"http://h/@s%2fa/-/@s/a-1.0.0.tgz"}}
            {"dist":{"shasum":"0f","tarball":"http://h/b/-/b-1.0.0.tgz"}}"#
        );
    }
}
