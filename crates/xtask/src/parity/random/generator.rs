//! The generator of cases: chance, and the packages to choose from.

use fastrand::Rng;

use super::catalog::Catalog;

/// One dependency of a made-up project.
pub struct Entry {
    /// The key in package.json.
    pub key: String,
    /// The value.
    pub spec: String,
    /// The package that this comes to, and about which version.
    pub package: Option<(String, String)>,
}

/// Chance and what it chooses from.
pub struct Generator<'a> {
    /// Decides everything.
    pub random: Rng,
    /// The packages to choose from.
    pub catalog: &'a Catalog,
}

impl Generator<'_> {
    /// True once in so many times.
    pub fn one_in(&mut self, times: u32) -> bool {
        self.random.u32(0..times) == 0
    }
}
