//! Packuments and version documents: how they are requested and recognised.
//!
//! Requests ask for abbreviated packuments, which are several times smaller. A registry that
//! doesn't know them sends full ones. The content type identifies an abbreviated packument; failing
//! that, the document does. If a registry has no document of a single version, the full packument
//! replaces it. It contains the same manifest.

use espalier_core::{Detail, FetchFailureKind, Packument};
use serde::de::IgnoredAny;

const ABBREVIATED: &str = "application/vnd.npm.install-v1+json";
const ACCEPT_ABBREVIATED: &str = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*";
const ACCEPT_FULL: &str = "application/json";

/// The maximum length of a document as it is sent. The largest documents of npm's registry have a
/// fifth of that.
pub const LONGEST_SENT: u64 = 256 << 20;
/// The maximum length of a document after decompression.
pub const LONGEST_MEANT: u64 = 1 << 30;

/// Which document of a package. Abbreviated and full packuments are different documents.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The packument, abbreviated if the registry can do that.
    Abbreviated,
    /// The whole packument.
    Full,
    /// The document of this version.
    Version(String),
}

impl Form {
    /// The `Accept` header. Both values are safelisted, so browsers send no preflight.
    pub fn accept(&self) -> &'static str {
        if *self == Self::Abbreviated { ACCEPT_ABBREVIATED } else { ACCEPT_FULL }
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
        if content_type.trim_start().to_ascii_lowercase().starts_with(ABBREVIATED) {
            Detail::Abbreviated
        } else if *self == Self::Abbreviated {
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
            (Form::Full, "application/json", Detail::Whole),
            (Form::Full, "application/vnd.npm.install-v1+json", Detail::Abbreviated),
        ] {
            assert_eq!(packument(&form, content_type), detail, "{form:?} {content_type}");
        }
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
