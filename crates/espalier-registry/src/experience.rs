//! What a run has learned of its registries: which of them have no documents of single versions.
//!
//! Without this, each of thousands of packages would ask for one in vain, because some registries answer such requests with 404,
//! others with 400 or 405. One that has given a single document has them, whatever it refuses afterwards.

use crate::address::Address;
use crate::document::Form;

/// So many refusals, and nothing else, are taken for a habit.
const ENOUGH: u32 = 3;

/// What was learned. An adapter has one for each run.
#[derive(Clone, Debug, Default)]
pub struct Experience(Vec<(Address, Seen)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Given,
    Refused(u32),
}

impl Experience {
    /// The form in which to ask for what is wanted in this one.
    pub fn form(&self, registry: &Address, form: Form) -> Form {
        let lacks = |(other, seen): &(Address, Seen)| {
            other == registry && matches!(seen, Seen::Refused(times) if *times >= ENOUGH)
        };
        if form.is_final() && self.0.iter().any(lacks) { Form::Full } else { form }
    }

    /// Notes how a request for a document of a version ended: with one, or with a refusal although the packument has it.
    pub fn learn(&mut self, registry: &Address, given: bool) {
        let at = self.0.iter().position(|(other, _)| other == registry).unwrap_or_else(|| {
            self.0.push((registry.clone(), Seen::Refused(0)));
            self.0.len() - 1
        });
        let seen = &mut self.0[at].1;
        *seen = match *seen {
            Seen::Refused(times) if !given => Seen::Refused(times + 1),
            _ => Seen::Given,
        };
    }
}

#[cfg(test)]
mod tests {
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
