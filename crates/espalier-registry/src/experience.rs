//! What a run has learned about its registries: which of them have no documents of single versions.
//!
//! Some registries answer requests for such documents with 404, 400 or 405. Without this module,
//! each of thousands of packages would cost a useless request. A registry that has answered one
//! such request has these documents, whatever it refuses afterwards.

use espalier_core::Packument;

use crate::address::Address;
use crate::document::Form;

/// How many refusals, without an answer among them, mean that a registry has no such documents.
const ENOUGH: u32 = 3;

/// What was learned. An adapter has one for each run.
#[derive(Clone, Debug, Default)]
pub struct Experience {
    seen: Vec<(Address, Seen)>,
    /// Names and versions whose documents were refused, until their packuments come.
    refused: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Given,
    Refused(u32),
}

impl Experience {
    /// The form to ask for, if this form is wanted.
    pub fn form(&self, registry: &Address, form: Form) -> Form {
        let lacks = |(other, seen): &(Address, Seen)| {
            other == registry && matches!(seen, Seen::Refused(times) if *times >= ENOUGH)
        };
        if form.is_of_version() && self.seen.iter().any(lacks) { Form::Full } else { form }
    }

    /// Records how a request for the document of a version ended: with the document, or with a
    /// refusal although the packument has the version.
    pub fn learn(&mut self, registry: &Address, given: bool) {
        let at = self.seen.iter().position(|(other, _)| other == registry).unwrap_or_else(|| {
            self.seen.push((registry.clone(), Seen::Refused(0)));
            self.seen.len() - 1
        });
        let seen = &mut self.seen[at].1;
        *seen = match *seen {
            Seen::Refused(times) if !given => Seen::Refused(times + 1),
            _ => Seen::Given,
        };
    }

    /// Records that a document was refused, though nobody knows yet whether there is such a version.
    pub fn note_refusal(&mut self, name: &str, version: &str) {
        self.refused.push((name.to_owned(), version.to_owned()));
    }

    /// Learns from a packument which refusals concerned one of its versions.
    pub fn learn_from(&mut self, registry: &Address, name: &str, packument: &Packument) {
        while let Some(at) = self.refused.iter().position(|(refused, _)| refused == name) {
            if packument.find(&self.refused.swap_remove(at).1).is_some() {
                self.learn(registry, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use espalier_core::{Detail, Packument};

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
            experience.learn(&one, false);
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
        experience.learn_from(&registry, "a", &packument);
        assert_eq!(experience.form(&registry, version.clone()), version);
        experience.note_refusal("a", "1.2.0");
        experience.learn_from(&registry, "a", &packument);
        assert_eq!(experience.form(&registry, version), Form::Full);
    }

    #[test]
    fn one_document_outweighs_all_refusals() {
        let registry = address("http://one.test/");
        let version = Form::Version("1.0.0".to_owned());
        let mut experience = Experience::default();
        for given in [false, true, false, false, false] {
            experience.learn(&registry, given);
        }
        assert_eq!(experience.form(&registry, version.clone()), version);
    }
}
