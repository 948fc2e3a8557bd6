//! The state of a generator: random numbers and the packages to choose from.

use fastrand::Rng;

use super::catalog::Catalog;

/// A dependency of a random project.
pub struct Entry {
    /// The key in package.json.
    pub key: String,
    /// The value.
    pub spec: String,
    /// The package that it leads to, and the probable version.
    pub package: Option<(String, String)>,
}

/// The state of a generator.
pub struct Generator<'a> {
    /// The random numbers.
    pub random: Rng,
    /// The packages to choose from.
    pub catalog: &'a Catalog,
}

impl Generator<'_> {
    /// Whether a random event of this frequency occurs.
    pub fn one_in(&mut self, times: u32) -> bool {
        self.random.u32(0..times) == 0
    }
}
