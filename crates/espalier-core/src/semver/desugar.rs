//! Carets, tildes and wildcards, turned into plain comparators.
//!
//! Works word by word on text whose hyphens are expanded and whose operators are closed up. A word is read directly
//! where node-semver rewrites it several times; the rules that only come from that rewriting are noted where they
//! show.

use super::comparator::{Comparator, Operator};
use super::grammar::{self, MAX_LENGTH, Partial, safe_integer};
use super::range::RangeOptions;
use super::successor::Successor;
use super::version::{self, Version};

/// Something in a range makes all of it invalid.
pub(super) struct InvalidRange;

/// The comparators found so far in one alternative.
pub(super) struct Desugaring {
    options: RangeOptions,
    pub comparators: Vec<Comparator>,
    /// Whether some word came to `*`, which says something only if no comparator is found.
    pub anything: bool,
}

/// Whether a word leaves text behind for the words around it to be separated by.
#[derive(PartialEq, Eq)]
enum Word {
    Vanished,
    Kept,
}

/// One number of a bound.
#[derive(Clone, Copy)]
enum Number<'text> {
    /// As it was written.
    Written(&'text str),
    /// One more than was written.
    After(&'text str),
}

const ZERO: Number = Number::Written("0");

impl Number<'_> {
    fn is_zero(self) -> bool {
        matches!(self, Self::Written("0"))
    }

    fn is_exponential(self) -> bool {
        matches!(self, Self::After(digits) if matches!(Successor::of(digits), Successor::Exponential(_)))
    }

    fn value(self) -> Option<u64> {
        match self {
            Self::Written(digits) => safe_integer(digits),
            Self::After(digits) => match Successor::of(digits) {
                Successor::Safe(number) => Some(number),
                Successor::TooLarge | Successor::Exponential(_) => None,
            },
        }
    }

    /// How many characters node-semver would write for it.
    fn length(self, value: u64) -> usize {
        match self {
            Self::Written(digits) => digits.len(),
            Self::After(_) => value.ilog10() as usize + 1,
        }
    }
}

impl Desugaring {
    pub fn new(options: RangeOptions) -> Self {
        Self { options, comparators: Vec::new(), anything: false }
    }

    pub fn read(&mut self, text: &str) -> Result<(), InvalidRange> {
        let mut words = text.split(' ').peekable();
        let mut is_first = true;
        while let Some(word) = words.next() {
            let vanished = self.read_word(word)? == Word::Vanished;
            // A word that vanishes between two others leaves only whitespace, which node-semver splits at.
            self.anything |= vanished && (is_first || words.peek().is_none());
            is_first = false;
        }
        Ok(())
    }

    fn read_word(&mut self, word: &str) -> Result<Word, InvalidRange> {
        match word.as_bytes() {
            [] => Ok(Word::Vanished),
            [b'^', ..] => match self.scan_after(&word[1..]) {
                Some(partial) => self.caret(&partial),
                None => self.unreadable(),
            },
            [b'~', ..] => match self.scan_after(word[1..].strip_prefix('>').unwrap_or(&word[1..])) {
                Some(partial) => self.tilde(&partial),
                None => self.unreadable(),
            },
            _ => {
                let (operator, rest) = Operator::strip(word);
                match self.scan_after(rest) {
                    Some(partial) if !partial.is_full() && has_numbers_first(&partial) => {
                        self.wildcard(operator, &partial)
                    }
                    _ => self.without_star(word),
                }
            }
        }
    }

    fn scan_after<'text>(&self, prefixed: &'text str) -> Option<Partial<'text>> {
        Partial::scan(grammar::strip_prefix(prefixed), self.options.grammar())
    }

    /// `^1.2.3` and shorter: up to the next change of the leftmost number that isn't zero.
    fn caret(&mut self, partial: &Partial) -> Result<Word, InvalidRange> {
        use Number::{After, Written};
        let Some(major) = partial.major else { return Ok(Word::Vanished) };
        let next_major = [After(major), ZERO, ZERO];
        // It is the text that must be zero: loosely, `^00.1.2` goes up to 1.0.0.
        match (partial.minor, partial.patch) {
            (None, _) => self.lowest_to([Written(major), ZERO, ZERO], next_major),
            (Some(minor), None) => {
                let next_minor = [Written(major), After(minor), ZERO];
                let upper = if major == "0" { next_minor } else { next_major };
                self.lowest_to([Written(major), Written(minor), ZERO], upper)
            }
            (Some(minor), Some(patch)) => {
                let upper = match (major, minor) {
                    ("0", "0") => [Written(major), Written(minor), After(patch)],
                    ("0", _) => [Written(major), After(minor), ZERO],
                    _ => next_major,
                };
                self.between([Written(major), Written(minor), Written(patch)], partial.prerelease, upper)
            }
        }
    }

    /// `~1.2.3` and shorter: up to the next minor, or major if there is no minor.
    fn tilde(&mut self, partial: &Partial) -> Result<Word, InvalidRange> {
        use Number::{After, Written};
        match (partial.major, partial.minor, partial.patch) {
            (Some(major), Some(minor), Some(patch)) => {
                let upper = [Written(major), After(minor), ZERO];
                self.between([Written(major), Written(minor), Written(patch)], partial.prerelease, upper)
            }
            _ => self.wildcard(Operator::Equal, partial),
        }
    }

    /// `1`, `1.x`, `>1.2`, `<=1.*` and the like.
    fn wildcard(&mut self, operator: Operator, partial: &Partial) -> Result<Word, InvalidRange> {
        use Number::{After, Written};
        let Some(major) = partial.major else {
            return match operator {
                Operator::Less | Operator::Greater => self.bound(Operator::Less, [ZERO; 3], Some("0")),
                Operator::LessEqual | Operator::Equal | Operator::GreaterEqual => Ok(Word::Vanished),
            };
        };
        let least = [Written(major), partial.minor.map_or(ZERO, Written), ZERO];
        let next = match partial.minor {
            None => [After(major), ZERO, ZERO],
            Some(minor) => [Written(major), After(minor), ZERO],
        };
        match operator {
            Operator::Equal => self.lowest_to(least, next),
            Operator::Less => self.bound(Operator::Less, least, Some("0")),
            Operator::LessEqual => self.bound(Operator::Less, next, Some("0")),
            Operator::GreaterEqual => self.bound(Operator::GreaterEqual, least, self.lowest_prerelease()),
            Operator::Greater => self.bound(Operator::GreaterEqual, next, self.lowest_prerelease()),
        }
    }

    /// A word that is no x-range. Its first `*`, with the operator before it, counts for nothing.
    fn without_star(&mut self, word: &str) -> Result<Word, InvalidRange> {
        let Some((before, after)) = word.split_once('*') else { return self.plain(word) };
        let before = before.strip_suffix('=').unwrap_or(before);
        let before = before.strip_suffix(['<', '>']).unwrap_or(before);
        self.plain(&[before, after].concat())
    }

    /// A version, or nothing at all, after an operator.
    fn plain(&mut self, word: &str) -> Result<Word, InvalidRange> {
        if word.is_empty() {
            return Ok(Word::Vanished);
        }
        if self.is_anything(word) {
            self.anything = true;
            return Ok(Word::Kept);
        }
        let (operator, prefixed) = Operator::strip(word);
        let core = grammar::strip_prefix(prefixed);
        let is_prefix_allowed = self.options.loose || matches!(prefixed.strip_suffix(core), Some("" | "v"));
        match Partial::scan(core, self.options.grammar()) {
            Some(partial) if partial.is_full() && is_prefix_allowed => {
                let version = Version::from_partial(&partial).filter(|_| prefixed.len() <= MAX_LENGTH);
                self.comparators.push(Comparator { operator, version: version.ok_or(InvalidRange)? });
                Ok(Word::Kept)
            }
            _ => self.unreadable(),
        }
    }

    /// Whether this is the bound below everything, in the one spelling that node-semver takes for `*`.
    fn is_anything(&self, word: &str) -> bool {
        word == if self.options.include_prerelease { ">=0.0.0-0" } else { ">=0.0.0" }
    }

    fn lowest_prerelease(&self) -> Option<&'static str> {
        self.options.include_prerelease.then_some("0")
    }

    fn lowest_to(&mut self, lower: [Number; 3], upper: [Number; 3]) -> Result<Word, InvalidRange> {
        self.between(lower, self.lowest_prerelease(), upper)
    }

    fn between(
        &mut self,
        lower: [Number; 3],
        prerelease: Option<&str>,
        upper: [Number; 3],
    ) -> Result<Word, InvalidRange> {
        self.bound(Operator::GreaterEqual, lower, prerelease)?;
        self.bound(Operator::Less, upper, Some("0"))
    }

    fn bound(
        &mut self,
        operator: Operator,
        numbers: [Number; 3],
        prerelease: Option<&str>,
    ) -> Result<Word, InvalidRange> {
        if operator == Operator::GreaterEqual
            && prerelease == self.lowest_prerelease()
            && numbers.iter().all(|number| number.is_zero())
        {
            self.anything = true;
            return Ok(Word::Kept);
        }
        if numbers.iter().any(|number| number.is_exponential()) {
            return self.unreadable();
        }
        let mut length = "..".len() + prerelease.map_or(0, |prerelease| 1 + prerelease.len());
        let mut values = [0; 3];
        for (number, value) in numbers.iter().zip(&mut values) {
            *value = number.value().ok_or(InvalidRange)?;
            length += number.length(*value);
        }
        if length > MAX_LENGTH {
            return Err(InvalidRange);
        }
        let [major, minor, patch] = values;
        let prerelease = prerelease.map(version::identifiers).unwrap_or_default();
        let version = Version { prerelease, ..Version::release(major, minor, patch) };
        self.comparators.push(Comparator { operator, version });
        Ok(Word::Kept)
    }

    /// Loose mode passes over what it can't read.
    fn unreadable(&self) -> Result<Word, InvalidRange> {
        if self.options.loose { Ok(Word::Kept) } else { Err(InvalidRange) }
    }
}

/// Whether no number follows a wildcard.
fn has_numbers_first(partial: &Partial) -> bool {
    (partial.major.is_some() || partial.minor.is_none()) && (partial.minor.is_some() || partial.patch.is_none())
}
