//! The tests of this crate from outside. They are one program, because each program would be linked
//! by itself.

mod decisions;
mod exact_versions;
mod failed_fetches;
mod manifest_edit;
mod resolution_properties;
mod saved_specs;
mod scenario;
mod scenarios;
mod semver_agreement;
mod semver_properties;
mod semver_rules;
mod starts;
