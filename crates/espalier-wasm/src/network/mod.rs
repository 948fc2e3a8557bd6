//! Documents and tarballs, from the cache or over the network, for resolving and installing.
//!
//! [`espalier_registry`] defines what is sent and what an answer means, as it does natively. This
//! module uses JavaScript's platform: [`fetch`], [`cache`] and [`digest`].

mod cache;
mod digest;
mod fetch;
pub mod timer;
mod traffic;

use std::cell::RefCell;
use std::rc::Rc;

use espalier_core::{Answer, FetchFailure, FetchFailureKind, Request, Urgency};
use espalier_registry::document::Form;
use espalier_registry::integrity::{Algorithm, Integrity};
use espalier_registry::{Address, Credentials, Experience, Get, Registries, ReplacedHost, Retries};
use js_sys::{Date, Function, Promise, Reflect, Uint8Array};
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use web_sys::Url;

use crate::boundary;
use crate::outcome;
use crate::pairs::Pairs;
use crate::queue::Queue;
use crate::recent;
use cache::{Cache, Entry};
use fetch::{Body, Fetch, Manner, Reader, Use};
use timer::Patience;
use traffic::Traffic;

/// The message if bytes can't be hashed.
const UNHASHED: &str =
    "its integrity can't be checked: browsers only offer crypto.subtle on pages loaded over https or from localhost";

/// `NetworkOptions` in `pkg/src/glue.d.ts`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NetworkOptions {
    registry: Option<String>,
    /// Addresses by scope (`@acme`).
    registries: Pairs,
    /// Settings such as `//host/path/:_authToken`.
    credentials: Pairs,
    replace_registry_host: Option<String>,
    prefer_offline: bool,
    offline: bool,
    retries: u32,
    timeout: f64,
    /// The maximum size in bytes of documents that stay in memory between runs.
    room: usize,
    /// Identifies these registries and credentials.
    asked: usize,
}

/// The network of a run. Requests under way are cancelled at its end.
#[wasm_bindgen]
#[derive(Clone)]
pub struct Network(Rc<Inner>);

struct Inner {
    registries: Registries,
    experience: RefCell<Experience>,
    fetch: Fetch,
    cache: Option<Cache>,
    prefer_offline: bool,
    offline: bool,
    room: usize,
    asked: usize,
    end: Queue<()>,
    /// The tarballs that were fetched while resolving, by key, because an installation needs them
    /// again.
    flights: RefCell<Vec<Flight>>,
}

/// A tarball under way.
struct Flight {
    key: String,
    tarball: Promise,
    /// Whether it stays until the next request for it.
    listed: bool,
}

/// A verified tarball: `Tarball` in `pkg/src/glue.d.ts`.
#[derive(Serialize)]
struct TarballObject {
    url: String,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    bytes: Uint8Array,
    integrity: String,
    cached: bool,
}

/// A verified tarball whose content Rust reads.
pub struct Tarball {
    /// Its URL without credentials.
    pub url: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Its own integrity.
    pub integrity: String,
}

/// The normal form of a URL, by JavaScript's own parser.
fn normalize(text: &str) -> Option<String> {
    Url::new(text).ok().map(|url| url.href())
}

fn address(text: &str) -> Result<Address, JsError> {
    Address::parse(text, normalize).ok_or_else(|| JsError::new("a registry's address is not one of http"))
}

#[wasm_bindgen]
impl Network {
    /// `fetch` replaces the global one, and `cache` keeps what was fetched.
    ///
    /// # Errors
    ///
    /// Never, for checked options.
    #[wasm_bindgen(constructor)]
    pub fn new(options: JsValue, fetch: Option<Function>, cache: Option<Cache>) -> Result<Self, JsValue> {
        let options: NetworkOptions = boundary::from_javascript(options)?;
        let default = options.registry.as_deref().map(address).transpose()?;
        let mut scopes = Vec::new();
        for (scope, registry) in options.registries.iter() {
            scopes.push((scope.trim_start_matches('@').to_owned(), address(registry)?));
        }
        let credentials = options.credentials.iter();
        let replaced = ReplacedHost::read(options.replace_registry_host.as_deref().unwrap_or_default(), normalize);
        let registries = Registries::new(default, scopes, Credentials::new(credentials), replaced, normalize);
        let function = match fetch {
            Some(function) => function,
            None => platform_fetch()?,
        };
        let end = Queue::new();
        let retries = Retries { most: options.retries, ..Retries::default() };
        let traffic = Rc::new(Traffic::begin());
        let patience = Patience::new(options.timeout);
        let fetch = Fetch { function, retries, patience, ended: end.clone(), traffic };
        let (prefer_offline, offline) = (options.prefer_offline, options.offline);
        let (flights, experience) = Default::default();
        let (room, asked) = (options.room, options.asked);
        Ok(Self(Rc::new(Inner {
            registries,
            experience,
            fetch,
            cache,
            prefer_offline,
            offline,
            room,
            asked,
            end,
            flights,
        })))
    }

    /// Fetches a tarball. No byte of it is passed on before it is verified. Resolves with a
    /// `Tarball`.
    #[wasm_bindgen(js_name = fetchTarball)]
    pub fn fetch_tarball(&self, resolved: String, package: String, integrity: Option<String>) -> Promise {
        self.flight(resolved, package, integrity, true, false)
    }

    /// The address of the default registry.
    pub fn registry(&self) -> String {
        self.0.registries.default_registry().as_str().to_owned()
    }

    /// Ends all requests.
    pub fn end(&self) {
        self.0.end.close();
    }

    /// Waits until all entries are kept.
    pub async fn flush(&self) {
        let inner = Rc::clone(&self.0);
        if let Some(cache) = &inner.cache {
            cache.flushed().await;
        }
    }

    /// `Traffic` in `pkg/src/glue.d.ts`.
    ///
    /// # Errors
    ///
    /// Never, in practice.
    pub fn traffic(&self) -> Result<JsValue, JsValue> {
        boundary::to_javascript(&self.0.fetch.traffic.counts())
    }
}

/// The global `fetch`, bound to the global object.
fn platform_fetch() -> Result<Function, JsValue> {
    let fetch = Reflect::get(&js_sys::global(), &"fetch".into())?;
    let fetch: Function = fetch.dyn_into().map_err(|_| JsError::new("there is no `fetch`; give one"))?;
    Ok(fetch.bind0(&js_sys::global()).unchecked_into())
}

impl Network {
    /// The registries of the run.
    pub fn registries(&self) -> &Registries {
        &self.0.registries
    }

    /// What the run has learned about them.
    pub fn experience(&self) -> &RefCell<Experience> {
        &self.0.experience
    }

    /// A document that an earlier run has parsed, if it can be used without asking.
    pub fn recent(&self, request: &Request) -> Option<Answer> {
        if self.0.room == 0 {
            return None;
        }
        recent::find(self.0.asked, request, self.is_any_age_fine())
    }

    /// Keeps a document of this size for the next run.
    pub fn remember(&self, request: &Request, answer: &Answer, bytes: usize, fresh_until: f64) {
        if self.0.room > 0 {
            recent::keep(self.0.asked, request, answer, bytes, fresh_until, self.0.room);
        }
    }

    /// Whether cached documents of any age are used.
    fn is_any_age_fine(&self) -> bool {
        self.0.offline || self.0.prefer_offline
    }

    /// Gets a document in one of these forms and reads it. An unreadable document is fetched again,
    /// bypassing all caches. A version document with the integrity of its packument never changes.
    /// Returns until when it can be used without asking, in milliseconds since the epoch.
    pub async fn document(
        &self,
        name: &str,
        forms: &[Form],
        integrity: Option<&str>,
        urgency: Urgency,
        read: Reader<'_>,
    ) -> Result<f64, FetchFailure> {
        let Inner { registries, fetch, cache, .. } = &*self.0;
        let registry = registries.of_package(name);
        let cheapest = self.0.experience.borrow().cheapest(registry, forms);
        if forms.len() > 1 {
            self.0.experience.borrow_mut().note_request(registry);
        }
        let of_version = cheapest.is_of_version();
        let mut get = registries.document(name, cheapest)?;
        let mut key = None;
        let mut anew = false;
        // A full packument, which is the last form, needs nothing else.
        for form in forms.iter().rev() {
            get.accept = form.accept();
            let own_key = match cache {
                Some(_) => document_key(&get).await,
                None => None,
            };
            let entry = self.kept(own_key.as_deref()).await;
            if form == cheapest {
                key = own_key;
            }
            let Some(Entry { bytes, content_type, fresh_until }) = entry else { continue };
            let text = bytes.to_vec();
            let is_right = || {
                let integrity = integrity.filter(|_| of_version);
                integrity.is_some_and(|integrity| str::from_utf8(&text).is_ok_and(|text| text.contains(integrity)))
            };
            if self.is_usable(fresh_until) || is_right() {
                if read(&text, &content_type).is_ok() {
                    self.count_cached();
                    return Ok(fresh_until);
                }
                anew = true;
            }
        }
        get.accept = cheapest.accept();
        self.refuse_offline(&get.address)?;
        // The packument takes the place of a version's document whose integrity nobody knows. A registry
        // that hasn't given any document may have none.
        let may_lack = integrity.is_none() || !self.0.experience.borrow().has_given(registry);
        let once = of_version && may_lack;
        let manner = Manner { urgent: urgency == Urgency::Demanded, anew, once };
        let (Body { bytes, about }, _) = fetch.get(&get, manner, Use::Document(read)).await?;
        #[expect(clippy::cast_precision_loss, reason = "nobody's document is fresh for that long")]
        let fresh_until = about.fresh_for.map_or(0.0, |seconds| Date::now() + seconds as f64 * 1000.0);
        if let (Some(cache), Some(key), Some(_)) = (cache, &key, about.fresh_for) {
            cache.keep(key, &bytes, Some((&about.content_type, fresh_until)));
        }
        Ok(fresh_until)
    }

    /// Gets a tarball to read. An installation finds it here.
    pub async fn tarball(
        &self,
        resolved: &str,
        package: &str,
        integrity: Option<&str>,
        urgency: Urgency,
    ) -> Result<Tarball, FetchFailure> {
        let urgent = urgency == Urgency::Demanded;
        let tarball = self.flight(resolved.to_owned(), package.to_owned(), integrity.map(str::to_owned), urgent, true);
        let tarball = tarball.await.map_err(|error| outcome::fetch_failure(&error))?;
        let field = |name: &str| Reflect::get(&tarball, &name.into()).unwrap_or_default();
        Ok(Tarball {
            url: field("url").as_string().unwrap_or_default(),
            bytes: Uint8Array::new(&field("bytes")).to_vec(),
            integrity: field("integrity").as_string().unwrap_or_default(),
        })
    }

    /// The request for a tarball. Each tarball has one, however often it is needed.
    fn flight(
        &self,
        resolved: String,
        package: String,
        integrity: Option<String>,
        urgent: bool,
        listed: bool,
    ) -> Promise {
        let key = format!("{} {resolved}", integrity.as_deref().unwrap_or_default());
        let mut flights = self.0.flights.borrow_mut();
        if let Some(at) = flights.iter().position(|flight| flight.key == key) {
            let tarball = flights[at].tarball.clone();
            if listed {
                flights[at].listed = true;
            } else if flights[at].listed {
                // Nobody needs it a third time.
                flights.remove(at);
            }
            return tarball;
        }
        let (network, own_key) = (self.clone(), key.clone());
        let tarball = future_to_promise(async move {
            let fetched = network.fetched(&resolved, &package, integrity.as_deref(), urgent).await;
            let mut flights = network.0.flights.borrow_mut();
            // A tarball that was read is kept for the installation, and a failure isn't.
            flights.retain(|flight| flight.key != own_key || (flight.listed && fetched.is_ok()));
            let fetched = fetched.map_err(|failure| outcome::fetch_rejection(&failure))?;
            boundary::to_javascript(&fetched)
        });
        flights.push(Flight { key, tarball: tarball.clone(), listed });
        tarball
    }

    async fn fetched(
        &self,
        resolved: &str,
        package: &str,
        integrity: Option<&str>,
        urgent: bool,
    ) -> Result<TarballObject, FetchFailure> {
        let Inner { registries, fetch, cache, .. } = &*self.0;
        let get = registries.tarball(resolved, package)?;
        let url = get.address.shown();
        let failure = |kind, message: String| FetchFailure { kind, message, url: url.clone() };
        if !digest::is_there() {
            return Err(failure(FetchFailureKind::Unsupported, UNHASHED.to_owned()));
        }
        let expected = integrity
            .map(str::parse::<Integrity>)
            .transpose()
            .map_err(|error| failure(FetchFailureKind::Integrity, format!("its tarball cannot be trusted: {error}")))?;
        // A tarball without an expected integrity can't be identified, so it isn't cached.
        let key = integrity.map(|integrity| format!("tarball:{integrity}"));
        if let Some(Entry { bytes, .. }) = self.kept(key.as_deref()).await {
            if let Ok(own) = digest::verified(&bytes, expected.as_ref()).await {
                self.count_cached();
                return Ok(TarballObject { url, bytes, integrity: own.to_string(), cached: true });
            }
            if let (Some(cache), Some(key)) = (cache, &key) {
                cache.forget(key).await;
            }
        }
        self.refuse_offline(&get.address)?;
        let manner = Manner { urgent, anew: false, once: false };
        let (Body { bytes, .. }, own) = fetch.get(&get, manner, Use::Tarball(expected.as_ref())).await?;
        if let (Some(cache), Some(key)) = (cache, &key) {
            cache.keep(key, &bytes, None);
        }
        let integrity = own.map(|own| own.to_string()).unwrap_or_default();
        Ok(TarballObject { url, bytes, integrity, cached: false })
    }

    async fn kept(&self, key: Option<&str>) -> Option<Entry> {
        self.0.cache.as_ref()?.find(key?).await
    }

    fn count_cached(&self) {
        let cached = &self.0.fetch.traffic.cached;
        cached.set(cached.get() + 1);
    }

    fn is_usable(&self, fresh_until: f64) -> bool {
        self.is_any_age_fine() || fresh_until > Date::now()
    }

    fn refuse_offline(&self, address: &Address) -> Result<(), FetchFailure> {
        if !self.0.offline {
            return Ok(());
        }
        let url = address.shown();
        let message = format!("{url} is not in the cache, and nothing may be fetched (`offline`)");
        Err(FetchFailure { kind: FetchFailureKind::NotCached, message, url })
    }
}

/// The cache key of a document. It includes a hash of the token, because a document may be for this
/// token only. If hashing is impossible, the document isn't cached.
async fn document_key(get: &Get) -> Option<String> {
    let key = format!("document:{} {}", get.address.as_str(), get.accept);
    let Some(authorization) = &get.authorization else { return Some(key) };
    let digest = digest::integrity(&Uint8Array::from(authorization.as_bytes()), Algorithm::Sha256).await?;
    Some(format!("{key} {digest}"))
}
