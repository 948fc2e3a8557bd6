//! What a run has learned about its registries: which of them have no documents of single versions,
//! and in which form their packuments are cheaper.
//!
//! Some registries answer requests for such documents with 404, 400 or 405. Without this module,
//! each of thousands of packages would cost a useless request. A registry that has answered one
//! such request has these documents, whatever it refuses afterwards.
//!
//! An abbreviated packument needs the document of a version beside it, for its license. On npm's
//! registry, this document is several times as long as the manifest in the abbreviated packument, so
//! full packuments would be, too. Where it is hardly longer, a full packument costs less than the
//! second request. Either form gives the same answers.

use espalier_core::request::SAMPLES;
use espalier_core::{Detail, Packument};

use crate::address::Address;
use crate::document::Form;

/// How many refusals, without an answer among them, mean that a registry has no such documents.
const ENOUGH: u32 = 3;
/// How many bytes beside the versions of a packument don't count: even an abbreviated one has its
/// name and tags.
const USUAL_BESIDE: usize = 1024;

/// What was learned. An adapter has one for each run.
#[derive(Clone, Debug, Default)]
pub struct Experience {
    seen: Vec<(Address, Seen)>,
    /// Names and versions whose documents were refused, until their packuments come.
    refused: Vec<(String, String)>,
}

/// What was seen of a registry.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// Whether it has given the document of a version.
    given: bool,
    refusals: u32,
    /// How many documents of versions were compared with manifests in abbreviated packuments.
    samples: usize,
    /// The lengths of manifests in abbreviated packuments, and of the documents of the same
    /// versions.
    abbreviated: usize,
    whole: usize,
    /// The lengths of the versions in full packuments, and of what is beside them, such as a readme.
    versions: usize,
    beside: usize,
}

impl Seen {
    /// Whether full packuments are hardly longer than abbreviated ones: manifests are at most a
    /// quarter longer, and what is beside them adds at most another quarter.
    fn is_hardly_longer(&self) -> bool {
        self.samples >= SAMPLES && 4 * self.whole <= 5 * self.abbreviated && 4 * self.beside <= self.versions
    }
}

impl Experience {
    /// The form to ask for, if this form is wanted.
    pub fn form(&self, registry: &Address, form: Form) -> Form {
        let lacks = |seen: &Seen| !seen.given && seen.refusals >= ENOUGH;
        if form.is_of_version() && self.seen_of(registry).is_some_and(lacks) { Form::Full } else { form }
    }

    /// The cheapest of the forms that answer a request for a packument. The first is the usual one.
    pub fn cheapest<'a>(&self, registry: &Address, forms: &'a [Form]) -> &'a Form {
        let rather_full = forms.iter().find(|form| **form == Form::RatherFull);
        rather_full.filter(|_| self.seen_of(registry).is_some_and(Seen::is_hardly_longer)).unwrap_or(&forms[0])
    }

    /// Whether a registry has given the document of a version.
    pub fn has_given(&self, registry: &Address) -> bool {
        self.seen_of(registry).is_some_and(|seen| seen.given)
    }

    fn seen_of(&self, registry: &Address) -> Option<&Seen> {
        self.seen.iter().find(|(other, _)| other == registry).map(|(_, seen)| seen)
    }

    fn of(&mut self, registry: &Address) -> &mut Seen {
        let at = self.seen.iter().position(|(other, _)| other == registry).unwrap_or_else(|| {
            self.seen.push((registry.clone(), Seen::default()));
            self.seen.len() - 1
        });
        &mut self.seen[at].1
    }

    /// Records that a registry has refused the document of a version, although the packument has the
    /// version.
    pub fn learn_refusal(&mut self, registry: &Address) {
        self.of(registry).refusals += 1;
    }

    /// Records that a registry has given the document of a version, and the lengths in bytes of the
    /// manifest in the abbreviated packument and of the document. A length is 0 if nobody knows it.
    pub fn learn_document(&mut self, registry: &Address, abbreviated: usize, length: usize) {
        let seen = self.of(registry);
        seen.given = true;
        if seen.samples < SAMPLES && abbreviated > 0 && length > 0 {
            seen.samples += 1;
            seen.abbreviated += abbreviated;
            seen.whole += length;
        }
    }

    /// Records that a document was refused, though nobody knows yet whether there is such a version.
    pub fn note_refusal(&mut self, name: &str, version: &str) {
        self.refused.push((name.to_owned(), version.to_owned()));
    }

    /// Learns from a packument which refusals concerned one of its versions, and from a full one what
    /// it has beside manifests.
    pub fn learn_packument(&mut self, registry: &Address, name: &str, packument: &Packument) {
        while let Some(at) = self.refused.iter().position(|(refused, _)| refused == name) {
            if packument.find(&self.refused.swap_remove(at).1).is_some() {
                self.learn_refusal(registry);
            }
        }
        if packument.detail != Detail::Abbreviated
            && let Some((versions, beside)) = packument.lengths()
        {
            let seen = self.of(registry);
            seen.versions += versions;
            seen.beside += beside.saturating_sub(USUAL_BESIDE);
        }
    }
}

#[cfg(test)]
mod tests {
    use espalier_core::{Detail, Packument, PackumentForm};

    use super::Experience;
    use crate::address::tests::address;
    use crate::document::Form;

    #[test]
    fn a_registry_that_only_refuses_is_not_asked_any_more() {
        let (one, other) = (address("http://one.test/"), address("http://other.test/"));
        let version = Form::Version("1.0.0".to_owned());
        let mut experience = Experience::default();
        for _ in 0..3 {
            assert_eq!(experience.form(&one, version.clone()), version);
            experience.learn_refusal(&one);
        }
        assert_eq!(experience.form(&one, version.clone()), Form::Full);
        assert_eq!(experience.form(&one, Form::Abbreviated), Form::Abbreviated);
        assert_eq!(experience.form(&other, version.clone()), version);
    }

    #[test]
    fn a_refusal_counts_if_the_packument_has_the_version() {
        let registry = address("http://one.test/");
        let version = Form::Version("1.0.0".to_owned());
        let text = br#"{"name":"a","versions":{"1.0.0":{},"1.1.0":{},"1.2.0":{}}}"#;
        let packument = Packument::parse(text, Detail::Whole).expect("a packument");
        let mut experience = Experience::default();
        for refused in ["0.0.1", "0.0.2", "1.0.0", "1.1.0"] {
            experience.note_refusal("a", refused);
            experience.note_refusal("b", refused);
        }
        experience.learn_packument(&registry, "a", &packument);
        assert_eq!(experience.form(&registry, version.clone()), version);
        experience.note_refusal("a", "1.2.0");
        experience.learn_packument(&registry, "a", &packument);
        assert_eq!(experience.form(&registry, version), Form::Full);
    }

    #[test]
    fn one_document_outweighs_all_refusals() {
        let registry = address("http://one.test/");
        let version = Form::Version("1.0.0".to_owned());
        let mut experience = Experience::default();
        experience.learn_refusal(&registry);
        experience.learn_document(&registry, 0, 0);
        for _ in 0..3 {
            experience.learn_refusal(&registry);
        }
        assert_eq!(experience.form(&registry, version.clone()), version);
    }

    #[test]
    fn packuments_are_requested_in_full_where_documents_of_versions_are_hardly_longer() {
        let registry = address("http://one.test/");
        // The lengths of documents, beside manifests of 100 bytes.
        for (documents, is_full) in [
            (&[110, 120, 130, 140][..], true),
            (&[130, 120, 130, 140], false),
            (&[110, 120, 130], false),
            // What came from a cache has no length.
            (&[0, 110, 120, 130], false),
            (&[0, 110, 120, 130, 140], true),
            // The first ones decide.
            (&[110, 120, 130, 140, 900], true),
            (&[500, 500, 500, 500, 1, 1], false),
        ] {
            let mut experience = Experience::default();
            for &length in documents {
                experience.learn_document(&registry, 100, length);
                experience.learn_document(&registry, 0, 1);
            }
            let expected = if is_full { Form::RatherFull } else { Form::Abbreviated };
            assert_eq!(*experience.cheapest(&registry, Form::answering(PackumentForm::Any)), expected, "{documents:?}");
            for (form, expected) in [(PackumentForm::Abbreviated, Form::Abbreviated), (PackumentForm::Full, Form::Full)]
            {
                assert_eq!(*experience.cheapest(&registry, Form::answering(form)), expected, "{documents:?}");
            }
            let other = address("http://other.test/");
            let found = experience.cheapest(&other, Form::answering(PackumentForm::Any));
            assert_eq!(*found, Form::Abbreviated, "{documents:?}");
        }
    }

    #[test]
    fn readmes_make_full_packuments_expensive() {
        let registry = address("http://one.test/");
        let manifest = "x".repeat(5000);
        for (readme, expected) in [(500, Form::RatherFull), (4000, Form::Abbreviated)] {
            let mut experience = Experience::default();
            for _ in 0..4 {
                experience.learn_document(&registry, 100, 110);
            }
            let readme = "x".repeat(readme);
            let text = format!(r#"{{"readme":"{readme}","versions":{{"1.0.0":"{manifest}","1.1.0":"{manifest}"}}}}"#);
            let packument = Packument::parse(text.as_bytes(), Detail::Unstated).expect("a packument");
            experience.learn_packument(&registry, "a", &packument);
            assert_eq!(*experience.cheapest(&registry, Form::answering(PackumentForm::Any)), expected);
        }
    }
}
