//! What a run has learned about its registries: which of them have no documents of single versions,
//! and in which form their packuments are cheaper.
//!
//! Some registries answer requests for such documents with 404, 400 or 405. Without this module,
//! each of thousands of packages would cost a useless request. A registry that has answered one
//! such request has these documents, whatever it refuses afterwards.
//!
//! An abbreviated packument needs the document of a version beside it, for its license. On npm's
//! public registry, full packuments are several times as long as abbreviated ones. Where they are
//! hardly longer, a full one costs less than the second request. So the second packument of every
//! other registry is requested in full, and shows how long an abbreviated one would be. A run that
//! needs only one has nothing to learn. Either form gives the same answers.

use espalier_core::{Detail, Packument};

use crate::address::Address;
use crate::document::Form;
use crate::registries::public_host;

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
    /// How many packuments were requested that may be abbreviated or full.
    packuments: u32,
    /// The lengths of manifests in a full packument, and the lengths that they would have in an
    /// abbreviated one.
    whole: usize,
    abbreviated: usize,
    /// The lengths of the versions in full packuments, and of what is beside them, such as a readme.
    versions: usize,
    beside: usize,
}

impl Seen {
    /// Whether full packuments are hardly longer than abbreviated ones: manifests are at most a
    /// quarter longer, and what is beside them adds at most another quarter.
    fn is_hardly_longer(&self) -> bool {
        self.whole > 0 && 4 * self.whole <= 5 * self.abbreviated && 4 * self.beside <= self.versions
    }
}

impl Experience {
    /// The form to ask for, if this form is wanted.
    pub fn form(&self, registry: &Address, form: Form) -> Form {
        let lacks = |seen: &Seen| !seen.given && seen.refusals >= ENOUGH;
        if form.is_of_version() && self.seen_of(registry).is_some_and(lacks) { Form::Full } else { form }
    }

    /// The cheapest of the forms that answer a request for a packument, or the form that shows which
    /// one that is. The first is the usual one.
    pub fn cheapest<'a>(&self, registry: &Address, forms: &'a [Form]) -> &'a Form {
        let rather_full = forms.iter().find(|form| **form == Form::RatherFull);
        let is_preferred = |seen: &Seen| match seen {
            Seen { packuments: 1, whole: 0, .. } => registry.host() != public_host(),
            seen => seen.is_hardly_longer(),
        };
        rather_full.filter(|_| self.seen_of(registry).is_some_and(is_preferred)).unwrap_or(&forms[0])
    }

    /// Records that a packument was requested that may be abbreviated or full.
    pub fn note_request(&mut self, registry: &Address) {
        self.of(registry).packuments += 1;
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

    /// Records that a registry has given the document of a version.
    pub fn learn_document(&mut self, registry: &Address) {
        self.of(registry).given = true;
    }

    /// Records that a document was refused, though nobody knows yet whether there is such a version.
    pub fn note_refusal(&mut self, name: &str, version: &str) {
        self.refused.push((name.to_owned(), version.to_owned()));
    }

    /// Learns from a packument which refusals concerned one of its versions, and from a full one how
    /// long it is.
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
            if seen.whole == 0 {
                (seen.whole, seen.abbreviated) = packument.sample();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use espalier_core::{Detail, Packument, PackumentForm};

    use super::Experience;
    use crate::address::Address;
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
        experience.learn_document(&registry);
        for _ in 0..3 {
            experience.learn_refusal(&registry);
        }
        assert_eq!(experience.form(&registry, version.clone()), version);
    }

    /// A full packument whose manifests have a part that abbreviated ones would have, one that they
    /// wouldn't, and something beside the manifests, of these lengths in bytes.
    fn packument(lengths: [usize; 3]) -> Packument {
        with_license(lengths, r#""license":"MIT","#)
    }

    fn with_license([abbreviated, rest, beside]: [usize; 3], license: &str) -> Packument {
        let [abbreviated, rest, beside] = [abbreviated, rest, beside].map(|length| "x".repeat(length));
        let manifest = format!(r#"{{{license}"dependencies":{{"a":"{abbreviated}"}},"scripts":"{rest}"}}"#);
        let text = format!(r#"{{"readme":"{beside}","versions":{{"1.0.0":{manifest},"1.1.0":{manifest}}}}}"#);
        Packument::parse(text.as_bytes(), Detail::Unstated).expect("a packument")
    }

    fn cheapest(experience: &Experience, registry: &Address, form: PackumentForm) -> Form {
        experience.cheapest(registry, Form::answering(form)).clone()
    }

    #[test]
    fn packuments_are_requested_in_full_where_they_are_hardly_longer() {
        let registry = address("http://one.test/");
        for (lengths, expected) in [
            ([2000, 300, 0], Form::RatherFull),
            ([2000, 700, 0], Form::Abbreviated),
            // Readmes make them expensive.
            ([2000, 300, 1500], Form::RatherFull),
            ([2000, 300, 4000], Form::Abbreviated),
        ] {
            let mut experience = Experience::default();
            experience.learn_packument(&registry, "a", &packument(lengths));
            assert_eq!(cheapest(&experience, &registry, PackumentForm::Any), expected, "{lengths:?}");
            for (form, expected) in [(PackumentForm::Abbreviated, Form::Abbreviated), (PackumentForm::Full, Form::Full)]
            {
                assert_eq!(cheapest(&experience, &registry, form), expected, "{lengths:?}");
            }
        }
    }

    #[test]
    fn the_second_packument_of_each_registry_shows_how_long_full_ones_are() {
        let (one, other) = (address("http://one.test/"), address("http://other.test/"));
        let mut experience = Experience::default();
        for expected in [Form::Abbreviated, Form::RatherFull, Form::Abbreviated, Form::Abbreviated] {
            assert_eq!(cheapest(&experience, &one, PackumentForm::Any), expected);
            experience.note_request(&one);
        }
        experience.note_request(&other);
        assert_eq!(cheapest(&experience, &other, PackumentForm::Any), Form::RatherFull);
        // What a registry sends unasked shows the same.
        experience.learn_packument(&other, "a", &packument([2000, 700, 0]));
        assert_eq!(cheapest(&experience, &other, PackumentForm::Any), Form::Abbreviated);
        experience.learn_packument(&one, "a", &packument([2000, 300, 0]));
        assert_eq!(cheapest(&experience, &one, PackumentForm::Any), Form::RatherFull);
    }

    #[test]
    fn an_abbreviated_packument_without_its_type_shows_nothing() {
        let registry = address("http://one.test/");
        let mut experience = Experience::default();
        experience.note_request(&registry);
        experience.learn_packument(&registry, "a", &with_license([2000, 0, 0], ""));
        experience.note_request(&registry);
        assert_eq!(cheapest(&experience, &registry, PackumentForm::Any), Form::Abbreviated);
        experience.learn_packument(&registry, "b", &packument([2000, 9000, 0]));
        assert_eq!(cheapest(&experience, &registry, PackumentForm::Any), Form::Abbreviated);
    }

    #[test]
    fn the_public_registry_is_known() {
        let registry = address(crate::PUBLIC_REGISTRY);
        let mut experience = Experience::default();
        experience.note_request(&registry);
        assert_eq!(cheapest(&experience, &registry, PackumentForm::Any), Form::Abbreviated);
    }
}
