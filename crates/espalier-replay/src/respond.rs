//! Answers requests: what is served, and with which headers. This module knows no sockets.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};

use crate::fault::{FaultKind, Faults};
use crate::habit::Only;
use crate::registry::Registry;
use crate::representation::{ABBREVIATED_TYPE, Form, JSON_TYPE, Key, Made, Representation, Representations, etag};
use crate::route::Route;
use crate::settings::Settings;
use crate::spoil::{self, ReplyBody};
use crate::static_files;
use crate::statistics::Statistics;

/// How long clients may use a document without revalidation, as in npm's registry.
const DOCUMENT_FRESHNESS: &str = "public, max-age=300";
/// A tarball never changes.
const TARBALL_FRESHNESS: &str = "public, immutable, max-age=31557600";

/// The path for advisories, which npm's clients use.
const ADVISORIES: &str = "/-/npm/v1/security/advisories/bulk";

type Reply = Response<ReplyBody>;

/// The connection is closed without an answer, because of a fault.
#[derive(Debug, thiserror::Error)]
#[error("cut on purpose")]
pub struct Cut;

/// The state that all connections of a server share.
pub struct Responder {
    registry: Arc<Registry>,
    settings: Settings,
    faults: Faults,
    representations: Representations,
    statistics: Mutex<Statistics>,
}

impl Responder {
    pub fn new(registry: Arc<Registry>, settings: Settings) -> Self {
        let faults = Faults::new(settings.faults.clone(), settings.fault_seed);
        let (representations, statistics) = Default::default();
        Self { registry, settings, faults, representations, statistics }
    }

    pub fn statistics(&self) -> Statistics {
        *self.statistics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, update: impl FnOnce(&mut Statistics)) {
        update(&mut self.statistics.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Answers a request. Errors are answers, too.
    pub async fn respond(self: Arc<Self>, request: Parts) -> Result<Reply, Cut> {
        tokio::time::sleep(self.settings.delay).await;
        if request.method == Method::OPTIONS {
            self.count(|counts| (counts.requests, counts.preflights) = (counts.requests + 1, counts.preflights + 1));
            return Ok(self.preflight(&request.headers));
        }
        if let Some(file) = self.static_file(&request).await {
            return Ok(self.counted(file));
        }
        if Route::of(request.uri.path()) == Route::Statistics {
            let counts = serde_json::to_string(&self.statistics()).unwrap_or_default();
            return Ok(self.share(json(StatusCode::OK, counts)));
        }
        let route = self.settings.habits.inside(request.uri.path()).map_or(Route::Unknown, Route::of);
        if let Some(reply) = self.by_habit(&request, &route) {
            return Ok(self.counted(reply));
        }
        let fault = self.fault(&request, &route);
        match fault {
            Some(FaultKind::Reset) => return Err(Cut),
            Some(FaultKind::Stall) => std::future::pending().await,
            _ => {}
        }
        if let Some(reply) = fault.and_then(|fault| self.instead(&request, fault)) {
            return Ok(self.counted(reply));
        }
        let reply = match self.get(&request, route, fault == Some(FaultKind::WrongHash)).await {
            Ok(Some(reply)) => reply,
            Ok(None) => failure(StatusCode::NOT_FOUND, "Not found"),
            Err(error) => failure(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        };
        Ok(self.counted(match fault {
            Some(fault) => spoil::body(reply, fault),
            None => reply,
        }))
    }

    /// The answer of a habit, if one applies.
    fn by_habit(&self, request: &Parts, route: &Route) -> Option<Reply> {
        let habits = &self.settings.habits;
        let path = request.uri.path();
        if habits.no_encoded_slash && path.to_ascii_lowercase().contains("%2f") {
            return Some(failure(StatusCode::NOT_FOUND, "Non URL-safe name"));
        }
        let authorization = request.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let is_tarball = matches!(route, Route::Tarball { .. });
        if is_tarball && spoil::is_signed(request.uri.query()) {
            // Storage with signed addresses accepts one way of authentication, not two.
            return authorization.map(|_| failure(StatusCode::BAD_REQUEST, "Only one auth mechanism allowed"));
        }
        if habits.refuses(authorization, is_tarball) {
            let words = habits.login.as_deref().unwrap_or("Unauthorized");
            let mut reply = failure(StatusCode::UNAUTHORIZED, words);
            reply.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"npm\""));
            return Some(reply);
        }
        if is_tarball && habits.signed_storage {
            let mut reply = empty(StatusCode::FOUND);
            reply.headers_mut().insert(header::LOCATION, spoil::signed(&self.origin(request), path)?);
            return Some(reply);
        }
        let Route::Version { name, .. } = route else { return None };
        let (unscoped, scoped) = habits.version_documents?;
        let status = StatusCode::from_u16(if name.starts_with('@') { scoped } else { unscoped }).ok()?;
        self.count(|counts| counts.version_documents += 1);
        Some(failure(status, "there are no documents of versions"))
    }

    /// Counts a reply and permits other origins to read it.
    fn counted(&self, reply: Reply) -> Reply {
        let bytes = hyper::body::Body::size_hint(reply.body()).lower();
        self.count(|counts| {
            counts.requests += 1;
            counts.bytes += bytes;
            counts.not_modified += u64::from(reply.status() == StatusCode::NOT_MODIFIED);
            counts.errors += u64::from(reply.status().as_u16() >= 400);
        });
        self.share(reply)
    }

    /// The fault of a request. A redirected request has none.
    fn fault(&self, request: &Parts, route: &Route) -> Option<FaultKind> {
        if spoil::is_redirected(request.uri.query()) {
            return None;
        }
        let fault = self.faults.strike(request.uri.path(), route, wants_abbreviated(&request.headers));
        self.count(|counts| counts.faults += u64::from(fault.is_some()));
        fault
    }

    /// The reply of a fault. `None` for a fault of the body.
    fn instead(&self, request: &Parts, fault: FaultKind) -> Option<Reply> {
        match fault {
            FaultKind::Status(status, after) => {
                let status = StatusCode::from_u16(status).ok()?;
                let mut reply = failure(status, "failing on purpose");
                if let Some(seconds) = after {
                    spoil::retry_after(&mut reply, seconds);
                }
                Some(reply)
            }
            FaultKind::Redirect => {
                let mut reply = empty(StatusCode::FOUND);
                let location = spoil::elsewhere(&self.origin(request), request.uri.path())?;
                reply.headers_mut().insert(header::LOCATION, location);
                Some(reply)
            }
            _ => None,
        }
    }

    async fn static_file(&self, request: &Parts) -> Option<Reply> {
        let root = self.settings.static_root.as_ref().filter(|_| is_read(&request.method))?;
        let file = static_files::read(root, request.uri.path()).await?;
        let tag = etag(&file.body, "");
        Some(cached(&request.headers, &file.content_type, &tag, "no-cache", file.body))
    }

    async fn get(self: &Arc<Self>, request: &Parts, route: Route, wrong_hashes: bool) -> io::Result<Option<Reply>> {
        if request.method == Method::POST && request.uri.path() == ADVISORIES {
            return Ok(self.registry.advisories.clone().map(|known| json(StatusCode::OK, known)));
        }
        if !is_read(&request.method) {
            return Ok(Some(failure(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are served")));
        }
        match route {
            Route::Packument { name } => {
                let form = self.form(&request.headers);
                self.count(|counts| match form {
                    Form::Abbreviated => counts.abbreviated_packuments += 1,
                    Form::Full | Form::Version(_) => counts.full_packuments += 1,
                });
                self.document(request, name, form, wrong_hashes).await
            }
            Route::Version { name, selector } => {
                self.count(|counts| counts.version_documents += 1);
                self.document(request, name, Form::Version(selector), wrong_hashes).await
            }
            Route::Tarball { name, file } => {
                self.count(|counts| counts.tarballs += 1);
                let responder = Arc::clone(self);
                let body = blocking(move || responder.registry.tarball(&name, &file).transpose()).await?;
                Ok(body.map(|body| {
                    let tag = etag(&body, "");
                    cached(&request.headers, "application/octet-stream", &tag, TARBALL_FRESHNESS, body)
                }))
            }
            Route::Ping => Ok(Some(json(StatusCode::OK, "{}"))),
            Route::Statistics | Route::Unknown => Ok(None),
        }
    }

    fn form(&self, headers: &HeaderMap) -> Form {
        match self.settings.habits.only {
            Some(Only::Abbreviated) => Form::Abbreviated,
            None if wants_abbreviated(headers) => Form::Abbreviated,
            Some(Only::Full) | None => Form::Full,
        }
    }

    async fn document(
        self: &Arc<Self>,
        request: &Parts,
        name: String,
        form: Form,
        wrong_hashes: bool,
    ) -> io::Result<Option<Reply>> {
        let gzip = values(&request.headers, &header::ACCEPT_ENCODING).any(|value| value == "gzip" || value == "*");
        let origin = self.settings.habits.tarball_base(&self.origin(request));
        let key = Key { name, form, origin, gzip, ranges: self.settings.ranges, wrong_hashes };
        let made = if let Some(made) = self.representations.ready(&key) {
            made
        } else {
            let responder = Arc::clone(self);
            let derive = move || {
                let Settings { habits, pad_full, .. } = &responder.settings;
                Ok(responder.representations.make(&responder.registry, &key, habits, *pad_full))
            };
            match blocking(derive).await? {
                Some(made) => made,
                None => return Ok(None),
            }
        };
        let Representation { body, etag, content_type } = match &made {
            Made::Body(body) => &**body,
            Made::NoSuchVersion => return Ok(Some(failure(StatusCode::NOT_FOUND, "version not found"))),
            Made::Broken(reason) => return Err(io::Error::other(reason.clone())),
        };
        let content_type = if self.settings.habits.plain_types { JSON_TYPE } else { content_type };
        let mut reply = cached(&request.headers, content_type, etag, DOCUMENT_FRESHNESS, body.clone());
        let headers = reply.headers_mut();
        headers.insert(header::VARY, HeaderValue::from_static("accept, accept-encoding"));
        if gzip && headers.contains_key(header::CONTENT_TYPE) {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        if self.settings.habits.no_validators {
            headers.remove(header::ETAG);
            headers.remove(header::CACHE_CONTROL);
        }
        Ok(Some(reply))
    }

    /// The client's name of this server: `Host` in HTTP/1.1, `:authority` in HTTP/2.
    fn origin(&self, request: &Parts) -> String {
        let host = request.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let authority = request.uri.authority().map(hyper::http::uri::Authority::as_str);
        let scheme = if self.settings.tls { "https" } else { "http" };
        format!("{scheme}://{}", authority.or(host).unwrap_or("localhost"))
    }

    /// Permits other origins to read a reply, according to the settings.
    fn share(&self, mut reply: Reply) -> Reply {
        let readable = if reply.status().as_u16() < 400 { self.settings.cors } else { self.settings.cors_on_errors };
        if readable {
            reply.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        }
        reply
    }

    fn preflight(&self, headers: &HeaderMap) -> Reply {
        if !self.settings.preflight {
            return self.share(failure(StatusCode::METHOD_NOT_ALLOWED, "preflights are not answered"));
        }
        let mut reply = empty(StatusCode::NO_CONTENT);
        let granted = reply.headers_mut();
        granted.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        granted.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD"));
        granted.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("300"));
        if let Some(wanted) = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
            granted.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
        }
        reply
    }
}

/// The body, or 304 if the client has it.
fn cached(request: &HeaderMap, content_type: &str, tag: &HeaderValue, freshness: &'static str, body: Bytes) -> Reply {
    let known = values(request, &header::IF_NONE_MATCH)
        .any(|known| known == "*" || known.trim_start_matches("W/").as_bytes() == tag.as_bytes());
    let mut reply = if known { empty(StatusCode::NOT_MODIFIED) } else { Response::new(body.into()) };
    let headers = reply.headers_mut();
    if !known && let Ok(content_type) = HeaderValue::from_str(content_type) {
        headers.insert(header::CONTENT_TYPE, content_type);
    }
    headers.insert(header::ETAG, tag.clone());
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(freshness));
    reply
}

fn is_read(method: &Method) -> bool {
    method == Method::GET || method == Method::HEAD
}

fn wants_abbreviated(headers: &HeaderMap) -> bool {
    values(headers, &header::ACCEPT).any(|value| value == ABBREVIATED_TYPE)
}

/// The members of a comma-separated header, without parameters.
fn values<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(|value| value.split(';').next().unwrap_or_default().trim())
}

fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(Bytes::new().into());
    *reply.status_mut() = status;
    reply
}

fn json(status: StatusCode, body: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(body.into().into());
    *reply.status_mut() = status;
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

fn failure(status: StatusCode, message: &str) -> Reply {
    json(status, serde_json::json!({ "error": message }).to_string())
}

/// Runs work that reads or compresses on another thread than those of the sockets.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
