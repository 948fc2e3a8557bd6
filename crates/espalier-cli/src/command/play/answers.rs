//! Answers requests of the page. It first decides whether the request may be answered: it has to
//! come from this server's page, under a path that nobody can guess. This module knows no sockets.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use bytes::Bytes;
use espalier_core::{FetchFailure, FetchFailureKind, Options, Platform, RegistryAddresses};
use espalier_install::project::{ProjectFolder, Workspace};
use espalier_install::registry::Registry;
use http_body_util::Full;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use super::page::Page;

/// The page's content security policy. It permits the page's own scripts and wasm, and nothing but
/// this server. `SCRIPT` stands for the hash of the page's inline script.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' SCRIPT; worker-src 'self'; \
    style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";
/// The path of advisories below a registry, which npm's clients use.
const ADVISORIES: &str = "-/registry/-/npm/v1/security/advisories/bulk";
const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

pub type Answer = Response<Full<Bytes>>;

/// What the server serves.
pub struct Answers {
    /// The page.
    pub page: Page,
    /// The project.
    pub project: ProjectFolder,
    /// The registries, with the user's tokens, certificates and cache. The page gets none of these.
    pub registry: Registry,
    /// npm's settings that change the tree.
    pub options: Box<Options>,
    /// The version of Node.js to resolve for.
    pub node: Option<String>,
    /// The platform to resolve for.
    pub platform: Platform,
    /// The port, which `Host` has to name.
    pub port: u16,
    /// The first component of every path. It is secret, because other users of the machine can
    /// reach the port.
    pub key: String,
}

impl Answers {
    /// The address of the page.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/?play", self.port, self.key)
    }

    /// Answers a request. `body` is `None` if the body is too long.
    pub async fn answer(&self, request: &Parts, body: Option<Bytes>) -> Answer {
        let mut answer = self.judged(request, body).await;
        let policy = HeaderValue::try_from(POLICY.replace("SCRIPT", &self.page.script));
        answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy.expect("visible characters"));
        let fixed = [
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CACHE_CONTROL, "no-store"),
        ];
        for (name, value) in fixed {
            answer.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        let same = HeaderValue::from_static("same-origin");
        answer.headers_mut().insert("cross-origin-resource-policy", same.clone());
        answer.headers_mut().insert("cross-origin-opener-policy", same);
        answer
    }

    async fn judged(&self, request: &Parts, body: Option<Bytes>) -> Answer {
        if let Some(reason) = self.stranger(&request.headers) {
            return said(StatusCode::FORBIDDEN, reason);
        }
        let path = request.uri.path();
        let Some(path) = path.strip_prefix('/').and_then(|path| path.strip_prefix(&*self.key)) else {
            return said(StatusCode::NOT_FOUND, "open the address that `espalier play` printed");
        };
        let path = path.strip_prefix('/');
        if request.method == Method::POST && path == Some(ADVISORIES) {
            return self.advisories(body).await;
        }
        if request.method != Method::GET {
            return said(StatusCode::METHOD_NOT_ALLOWED, "this server is read-only");
        }
        match path {
            None => said(StatusCode::NOT_FOUND, "the address must end with a slash"),
            Some("-/project") => self.about(),
            // The page asks for this every second, so new documents are written to the cache here.
            Some("-/revision") => {
                self.registry.keep();
                said(StatusCode::OK, self.revision())
            }
            Some(path) => match path.strip_prefix("-/registry/") {
                Some(document) => self.document(document, &request.headers).await,
                None => self.file(path, &request.headers),
            },
        }
    }

    /// Why a request doesn't come from this server's page. A foreign host name may lead here, and
    /// another page may know the port.
    fn stranger(&self, headers: &HeaderMap) -> Option<&'static str> {
        let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        let host = text("host").unwrap_or_default();
        // Browsers omit the default port.
        let is_bare = self.port == 80 && matches!(host, "127.0.0.1" | "localhost");
        if !is_bare && !hosts.iter().any(|own| own == host) {
            return Some("the Host is not this server's");
        }
        if text("origin").is_some_and(|origin| origin.strip_prefix("http://") != Some(host)) {
            return Some("the Origin is not this server's");
        }
        let from = text("sec-fetch-site").unwrap_or("none");
        (!matches!(from, "none" | "same-origin")).then_some("requests from other sites are refused")
    }

    fn file(&self, path: &str, headers: &HeaderMap) -> Answer {
        let Some(file) = self.page.file(path) else { return said(StatusCode::NOT_FOUND, "there is no such file") };
        let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let takes_gzip = accepted.split(',').any(|name| name.split(';').next().unwrap_or_default().trim() == "gzip");
        if !takes_gzip {
            return with(StatusCode::OK, &file.kind, file.plain());
        }
        let mut answer = with(StatusCode::OK, &file.kind, file.body.clone());
        answer.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        answer
    }

    /// The project for the page. Of the .npmrc, it has only the settings that change the tree.
    fn about(&self) -> Answer {
        // The revision comes first. A file that is saved in the meantime then has another revision
        // and is read again.
        let revision = self.revision();
        let lockfile = self.project.lockfile().ok().and_then(|lockfile| lockfile.text().map(str::to_owned));
        let files: Map<String, Value> = self.files().into_iter().map(|(path, text)| (path, text.into())).collect();
        let Platform { os, cpu, libc } = &self.platform;
        let RegistryAddresses { default, scopes } = &*self.registry.addresses();
        let scopes: Map<String, Value> =
            scopes.iter().map(|(scope, address)| (format!("@{scope}"), address.as_str().into())).collect();
        let about = json!({
            "folder": self.project.path().file_name().unwrap_or_default().to_string_lossy(),
            "manifest": self.project.manifest().unwrap_or_default(),
            "lockfile": lockfile,
            "files": files,
            "revision": revision,
            "registry": default,
            "registries": scopes,
            "settings": {
                "legacyPeerDeps": self.options.legacy_peer_deps,
                "strictPeerDeps": self.options.strict_peer_deps,
                "force": self.options.force,
                "preferDedupe": self.options.prefer_dedupe,
                "before": self.options.before,
                "node": self.node,
                "platform": { "os": os, "cpu": cpu, "libc": libc },
            },
        });
        with(StatusCode::OK, JSON, about.to_string().into())
    }

    /// The package.json files of the workspaces, by path.
    fn files(&self) -> Vec<(String, String)> {
        let file = |workspace: Workspace| {
            let text = self.project.manifest_in(&workspace.location).ok()??;
            Some((format!("{}/package.json", workspace.location), text))
        };
        self.project.workspaces().into_iter().filter_map(file).collect()
    }

    /// A digest of all package.json files and the lockfile.
    fn revision(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.project.manifest().hash(&mut hasher);
        self.files().hash(&mut hasher);
        self.project.lockfile().ok().and_then(|lockfile| lockfile.text().map(str::to_owned)).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// The advisories of the registry. The question is passed on unchanged: names with versions.
    async fn advisories(&self, question: Option<Bytes>) -> Answer {
        let Some(question) = question else { return said(StatusCode::PAYLOAD_TOO_LARGE, "the question is too long") };
        let is_question = serde_json::from_slice::<HashMap<String, Vec<String>>>(&question).is_ok();
        if !is_question {
            return said(StatusCode::BAD_REQUEST, "expected package names with lists of versions");
        }
        match self.registry.advisories(question.into()).await {
            Ok(answer) => with(StatusCode::OK, JSON, answer.into()),
            Err(failure) => failed(&failure),
        }
    }

    /// A document of a package's registry: `name`, or `name/version`.
    async fn document(&self, path: &str, headers: &HeaderMap) -> Answer {
        let mut steps = path.split('/').map(|step| percent_decode_str(step).decode_utf8());
        let (name, version, more) = (steps.next(), steps.next(), steps.next());
        let (Some(Ok(name)), None) = (name, more) else { return said(StatusCode::NOT_FOUND, "not a package's name") };
        let version = match version {
            None => None,
            Some(Ok(version)) => Some(version),
            Some(Err(_)) => return said(StatusCode::NOT_FOUND, "not a version"),
        };
        let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let found = match version {
            Some(version) => {
                let text = self.registry.version_document(&name, &version, None).await;
                text.map(|text| (text.into_bytes(), JSON.to_owned()))
            }
            None => self.registry.packument_text(&name, accept).await,
        };
        match found {
            Ok((text, kind)) => with(StatusCode::OK, &kind, text.into()),
            Err(failure) => failed(&failure),
        }
    }
}

fn failed(failure: &FetchFailure) -> Answer {
    with(status(failure), JSON, json!({ "error": failure.message }).to_string().into())
}

fn status(failure: &FetchFailure) -> StatusCode {
    match failure.kind {
        FetchFailureKind::NotFound => StatusCode::NOT_FOUND,
        FetchFailureKind::Unauthorized => StatusCode::UNAUTHORIZED,
        FetchFailureKind::Forbidden => StatusCode::FORBIDDEN,
        FetchFailureKind::Status(code) if code < 500 && code != 429 => {
            StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_GATEWAY)
        }
        // The registry client has retried already. With this status, the page doesn't retry again.
        _ => StatusCode::NOT_IMPLEMENTED,
    }
}

fn said(status: StatusCode, words: impl Into<Bytes>) -> Answer {
    with(status, TEXT, words.into())
}

fn with(status: StatusCode, kind: &str, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body));
    *answer.status_mut() = status;
    let kind = HeaderValue::from_str(kind).unwrap_or(HeaderValue::from_static("application/octet-stream"));
    answer.headers_mut().insert(header::CONTENT_TYPE, kind);
    answer
}

/// A random component of a path.
pub fn key() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
