//! Objects of texts from JavaScript.

use std::fmt;

use espalier_core::order;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// An object of texts, by key. A sorted list takes 10 KB less code than a map of the standard library.
#[derive(Clone, Default)]
pub struct Pairs(Vec<(String, String)>);

impl Pairs {
    /// The text of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.binary_search_by(|(other, _)| other.as_str().cmp(key)).ok()?;
        Some(&self.0[found].1)
    }

    /// The keys and texts, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, text)| (key.as_str(), text.as_str()))
    }
}

impl FromIterator<(String, String)> for Pairs {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Self {
        let mut pairs: Vec<(String, String)> = pairs.into_iter().collect();
        order::sort_by(&mut pairs, |(a, _), (b, _)| a.cmp(b));
        Self(pairs)
    }
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Texts;

        impl<'de> Visitor<'de> for Texts {
            type Value = Vec<(String, String)>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }
        }

        deserializer.deserialize_map(Texts).map(|pairs| pairs.into_iter().collect())
    }
}
