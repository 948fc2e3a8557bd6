//! Packuments and version documents: how they are requested and recognised.
//!
//! Requests ask for abbreviated packuments, which are several times smaller. A registry that
//! doesn't know them sends full ones. The content type identifies an abbreviated packument; failing
//! that, the document does. If a registry has no document of a single version, the full packument
//! replaces it. It contains the same manifest.

use espalier_core::{Detail, FetchFailureKind, Packument, PackumentForm};
use serde::de::IgnoredAny;

const ABBREVIATED: &str = "application/vnd.npm.install-v1+json";
/// The `Accept` headers. All are safelisted, so browsers send no preflight. Registries look for
/// npm's type. `espalier play` also tells which other form would do.
const ACCEPT_ANY: &str = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*";
const ACCEPT_ABBREVIATED: &str = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.5, */*; q=0.1";
pub(crate) const ACCEPT_RATHER_FULL: &str = "application/json, */*; q=0.1";
const ACCEPT_FULL: &str = "application/json";
/// What takes the place of the content type if a packument was requested in full, although the
/// abbreviated one would do. It is confirmed in the same form.
const ASKED_IN_FULL: &str = "application/json; asked=full";

/// The maximum length of a document as it is sent. The largest documents of npm's registry have a
/// fifth of that.
pub const LONGEST_SENT: u64 = 256 << 20;
/// The maximum length of a document after decompression.
pub const LONGEST_MEANT: u64 = 1 << 30;

/// The content type to keep with the answer to a request with this `Accept` header.
pub(crate) fn content_type(accept: &str, stated: Option<String>) -> String {
    let stated = stated.unwrap_or_default();
    if accept == ACCEPT_RATHER_FULL && !is_abbreviated(&stated) { ASKED_IN_FULL.to_owned() } else { stated }
}

fn is_abbreviated(content_type: &str) -> bool {
    content_type.trim_start().to_ascii_lowercase().starts_with(ABBREVIATED)
}

/// Which document of a package. Abbreviated and full packuments are different documents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The packument in the form that is cheaper on this registry.
    Any,
    /// The packument, abbreviated if the registry can do that.
    Abbreviated,
    /// The whole packument.
    Full,
    /// The document of this version.
    Version(String),
}

impl From<PackumentForm> for Form {
    fn from(form: PackumentForm) -> Self {
        match form {
            PackumentForm::Any => Self::Any,
            PackumentForm::Abbreviated => Self::Abbreviated,
            PackumentForm::Full => Self::Full,
        }
    }
}

impl Form {
    /// The `Accept` header, as far as nothing is known about the registry.
    pub fn accept(&self) -> &'static str {
        match self {
            Self::Any => ACCEPT_ANY,
            Self::Abbreviated => ACCEPT_ABBREVIATED,
            Self::Full | Self::Version(_) => ACCEPT_FULL,
        }
    }

    /// The form of a packument that a request with this `Accept` header asks for.
    pub fn of_accept(accept: &str) -> Self {
        match accept {
            ACCEPT_ANY | ACCEPT_RATHER_FULL => Self::Any,
            _ if accept.contains(ABBREVIATED) => Self::Abbreviated,
            _ => Self::Full,
        }
    }

    /// Whether a document that was kept with this content type is in this form.
    pub fn includes(&self, content_type: &str) -> bool {
        *self != Self::Abbreviated || content_type != ASKED_IN_FULL
    }

    /// The `Accept` header to ask whether a document has changed that was kept with this content
    /// type.
    pub fn accept_again(&self, content_type: &str) -> &'static str {
        if content_type == ASKED_IN_FULL { ACCEPT_RATHER_FULL } else { self.accept() }
    }

    /// Whether it is the document of a version.
    pub fn is_of_version(&self) -> bool {
        matches!(self, Self::Version(_))
    }

    /// The document to ask for instead, after a failure of this kind. `opaque` means that the
    /// client can't tell a refusal from a dead network: a browser can't if the refusal has no CORS
    /// header, and nobody can offline.
    pub fn instead(&self, kind: FetchFailureKind, opaque: bool) -> Option<Self> {
        use FetchFailureKind::{Forbidden, Invalid, NotCached, NotFound, Status, Unauthorized, Unreachable};
        let refused = matches!(kind, NotFound | Unauthorized | Forbidden | Status(_) | Invalid | NotCached)
            || (opaque && kind == Unreachable);
        (refused && matches!(self, Self::Version(_))).then_some(Self::Full)
    }

    /// How much of each manifest a packument has that was requested in this form.
    pub fn detail(&self, content_type: &str) -> Detail {
        if is_abbreviated(content_type) {
            Detail::Abbreviated
        } else if matches!(self, Self::Any | Self::Abbreviated) {
            Detail::Unstated
        } else {
            // The registry doesn't have more than this document.
            Detail::Whole
        }
    }

    /// Parses a packument that was requested in this form.
    ///
    /// # Errors
    /// When the text is no packument. The error completes a sentence about the answer.
    pub fn packument(&self, text: &[u8], content_type: &str) -> Result<Packument, String> {
        Packument::parse(text, self.detail(content_type)).map_err(|error| format!("is {error}"))
    }
}

/// Checks that a text is the document of a version. Whoever needs the manifest parses it.
///
/// # Errors
/// When the text is no such document. The error completes a sentence about the answer.
pub fn check_version(text: &[u8]) -> Result<&str, String> {
    let text = str::from_utf8(text).map_err(|error| format!("is not text: {error}"))?;
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) if text.trim_start().starts_with('{') => Ok(text),
        Ok(_) => Err("is not the document of a version".to_owned()),
        Err(error) => Err(format!("is not the document of a version: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use espalier_core::{Detail, FetchFailureKind as Kind};

    use super::{ACCEPT_ANY, ACCEPT_RATHER_FULL, ASKED_IN_FULL, Form, check_version, content_type};

    #[test]
    fn what_came_is_told_by_what_was_asked_and_said() {
        let packument = |form: &Form, content_type| form.packument(b"{}", content_type).expect("a packument").detail;
        for (form, content_type, detail) in [
            (Form::Abbreviated, "application/vnd.npm.install-v1+json; charset=utf-8", Detail::Abbreviated),
            (Form::Abbreviated, "Application/VND.npm.install-v1+json", Detail::Abbreviated),
            (Form::Abbreviated, "application/json", Detail::Unstated),
            (Form::Abbreviated, "", Detail::Unstated),
            (Form::Any, "application/vnd.npm.install-v1+json", Detail::Abbreviated),
            (Form::Any, ASKED_IN_FULL, Detail::Unstated),
            (Form::Full, "application/json", Detail::Whole),
            (Form::Full, "application/vnd.npm.install-v1+json", Detail::Abbreviated),
        ] {
            assert_eq!(packument(&form, content_type), detail, "{form:?} {content_type}");
        }
    }

    #[test]
    fn a_packument_is_confirmed_in_the_form_that_was_asked_for() {
        let kept = |accept: &str, stated: &str| content_type(accept, Some(stated.to_owned()));
        let (full, other) =
            (kept(ACCEPT_RATHER_FULL, "application/json; charset=utf-8"), kept(ACCEPT_ANY, "application/json"));
        assert_eq!((Form::Any.accept_again(&full), Form::Any.accept_again(&other)), (ACCEPT_RATHER_FULL, ACCEPT_ANY));
        assert!(Form::Any.includes(&full) && !Form::Abbreviated.includes(&full) && Form::Abbreviated.includes(&other));
        // It is abbreviated nevertheless.
        let kind = "application/vnd.npm.install-v1+json";
        assert_eq!(kept(ACCEPT_RATHER_FULL, kind), kind);
    }

    #[test]
    fn a_request_says_which_forms_would_do() {
        for form in [Form::Any, Form::Abbreviated, Form::Full] {
            assert_eq!(Form::of_accept(form.accept()), form);
        }
        assert_eq!(Form::of_accept(ACCEPT_RATHER_FULL), Form::Any);
        assert_eq!(Form::of_accept("application/vnd.npm.install-v1+json"), Form::Abbreviated);
        assert_eq!(Form::of_accept("*/*"), Form::Full);
    }

    #[test]
    fn a_version_that_is_refused_may_be_in_the_packument() {
        let version = Form::Version("1.0.0".to_owned());
        for kind in [Kind::NotFound, Kind::Unauthorized, Kind::Forbidden, Kind::Status(500), Kind::Invalid] {
            assert_eq!(version.instead(kind, false), Some(Form::Full), "{kind:?}");
            assert_eq!(Form::Abbreviated.instead(kind, false), None, "{kind:?}");
        }
        assert_eq!(version.instead(Kind::NotCached, false), Some(Form::Full));
        assert_eq!(version.instead(Kind::Unreachable, false), None);
        assert_eq!(version.instead(Kind::Unreachable, true), Some(Form::Full));
    }

    #[test]
    fn a_version_is_an_object() {
        assert_eq!(check_version(b" {}"), Ok(" {}"));
        for text in [b"[]".as_slice(), b"{", b"\xff", b"<html>", b""] {
            assert!(check_version(text).is_err(), "{text:?}");
        }
    }
}
