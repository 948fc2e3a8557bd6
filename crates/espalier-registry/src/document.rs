//! Packuments and version documents: how they are requested and recognised.
//!
//! Requests ask for abbreviated packuments, which are several times smaller on npm's registry, or for
//! full ones where these cost less (`experience`). A registry that doesn't know abbreviated ones sends
//! full ones. The content type identifies an abbreviated packument; failing that, the document does.
//! If a registry has no document of a single version, the full packument replaces it. It contains the
//! same manifest.

use espalier_core::{Detail, FetchFailureKind, Packument, PackumentForm};
use serde::de::IgnoredAny;

const ABBREVIATED: &str = "application/vnd.npm.install-v1+json";
/// The `Accept` headers. All are safelisted, so browsers send no preflight.
const ACCEPT_ABBREVIATED: &str = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*";
/// It tells `espalier play` that the abbreviated packument would do.
const ACCEPT_RATHER_FULL: &str = "application/json, */*; q=0.1";
const ACCEPT_FULL: &str = "application/json";

/// The maximum length of a document as it is sent. The largest documents of npm's registry have a
/// fifth of that.
pub const LONGEST_SENT: u64 = 256 << 20;
/// The maximum length of a document after decompression.
pub const LONGEST_MEANT: u64 = 1 << 30;

fn is_abbreviated(content_type: &str) -> bool {
    content_type.trim_start().to_ascii_lowercase().starts_with(ABBREVIATED)
}

/// Which document of a package. Packuments in different forms are different documents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The packument, abbreviated if the registry can do that.
    Abbreviated,
    /// The whole packument, although the abbreviated one would do.
    RatherFull,
    /// The whole packument.
    Full,
    /// The document of this version.
    Version(String),
}

const ANY: &[Form] = &[Form::Abbreviated, Form::RatherFull];
const ONLY_ABBREVIATED: &[Form] = &[Form::Abbreviated];
const ONLY_FULL: &[Form] = &[Form::Full];

impl Form {
    /// The forms that answer a request for a packument.
    pub fn answering(request: PackumentForm) -> &'static [Self] {
        match request {
            PackumentForm::Any => ANY,
            PackumentForm::Abbreviated => ONLY_ABBREVIATED,
            PackumentForm::Full => ONLY_FULL,
        }
    }

    /// The `Accept` header.
    pub fn accept(&self) -> &'static str {
        match self {
            Self::Abbreviated => ACCEPT_ABBREVIATED,
            Self::RatherFull => ACCEPT_RATHER_FULL,
            Self::Full | Self::Version(_) => ACCEPT_FULL,
        }
    }

    /// The form of a packument that a request with this `Accept` header asks for.
    pub fn of_accept(accept: &str) -> Self {
        match accept {
            ACCEPT_RATHER_FULL => Self::RatherFull,
            _ if accept.contains(ABBREVIATED) => Self::Abbreviated,
            _ => Self::Full,
        }
    }

    /// Whether it is the document of a version.
    pub fn is_of_version(&self) -> bool {
        matches!(self, Self::Version(_))
    }

    /// The document to ask for instead, after a failure of this kind. `opaque` means that the
    /// client can't tell a refusal from a dead network: a browser can't if the refusal has no CORS
    /// header.
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
        } else if matches!(self, Self::Abbreviated | Self::RatherFull) {
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

    use super::{Form, check_version};

    #[test]
    fn what_came_is_told_by_what_was_asked_and_said() {
        let packument = |form: &Form, content_type| form.packument(b"{}", content_type).expect("a packument").detail;
        for (form, content_type, detail) in [
            (Form::Abbreviated, "application/vnd.npm.install-v1+json; charset=utf-8", Detail::Abbreviated),
            (Form::Abbreviated, "Application/VND.npm.install-v1+json", Detail::Abbreviated),
            (Form::Abbreviated, "application/json", Detail::Unstated),
            (Form::Abbreviated, "", Detail::Unstated),
            (Form::RatherFull, "application/vnd.npm.install-v1+json", Detail::Abbreviated),
            (Form::RatherFull, "application/json", Detail::Unstated),
            (Form::Full, "application/json", Detail::Whole),
            (Form::Full, "application/vnd.npm.install-v1+json", Detail::Abbreviated),
        ] {
            assert_eq!(packument(&form, content_type), detail, "{form:?} {content_type}");
        }
    }

    #[test]
    fn a_request_says_which_form_it_asks_for() {
        for form in [Form::Abbreviated, Form::RatherFull, Form::Full] {
            assert_eq!(Form::of_accept(form.accept()), form);
        }
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
