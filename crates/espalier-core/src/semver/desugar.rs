//! Turns carets, tildes and wildcards into plain comparators.
//!
//! It reads text whose hyphens are expanded and whose operators are closed up, word by word.
//! node-semver rewrites a word several times. This module reads it directly, and comments mark the
//! rules that result from that rewriting.

use std::fmt;

use super::comparator::{Comparator, Comparators, Operator};
use super::grammar::{self, MAX_LENGTH, Partial};
use super::number::Number;
use super::options::RangeOptions;

/// A part of a range makes the whole range invalid.
pub(super) struct InvalidRange;

/// The comparators of an alternative so far.
pub(super) struct Desugaring {
    options: RangeOptions,
    pub comparators: Comparators,
    /// Whether a word means `*`, which counts only if there are no comparators.
    pub anything: bool,
}

/// Whether a word leaves text behind, which separates the words around it.
#[derive(PartialEq, Eq)]
enum Word {
    Vanished,
    Kept,
}

/// The source of a bound's number.
#[derive(Clone, Copy)]
enum Source<'text> {
    /// The number as written.
    Written(&'text str),
    /// The number after the written one.
    After(&'text str),
}

const ZERO: Source = Source::Written("0");

impl Source<'_> {
    fn number(self) -> Number {
        match self {
            Self::Written(digits) => Number::written(digits),
            Self::After(digits) => Number::after(digits),
        }
    }

    fn is_zero(self) -> bool {
        matches!(self, Self::Written("0"))
    }

    /// The length of node-semver's text for this number, given its value.
    fn length(self, value: u64) -> usize {
        match self {
            Self::Written(digits) => digits.len(),
            Self::After(_) => value.checked_ilog10().map_or(1, |log| log as usize + 1),
        }
    }
}

impl fmt::Display for Source<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written(digits) => formatter.write_str(digits),
            Self::After(digits) => Number::after(digits).fmt(formatter),
        }
    }
}

impl Desugaring {
    pub fn new(options: RangeOptions) -> Self {
        Self { options, comparators: Comparators::new(), anything: false }
    }

    /// Reads the words of an alternative.
    pub fn read<'text>(&mut self, words: impl Iterator<Item = &'text str>) -> Result<(), InvalidRange> {
        let mut words = words.peekable();
        let mut is_first = true;
        while let Some(word) = words.next() {
            let vanished = self.read_word(word)? == Word::Vanished;
            // A word that vanishes between two others leaves only white space, where node-semver
            // splits.
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
                let (operator, prefixed) = Operator::strip(word);
                match self.scan_after(prefixed) {
                    Some(partial) if partial.is_full() => self.plain(word, operator, prefixed, &partial),
                    Some(partial) if has_numbers_first(&partial) => self.wildcard(operator, &partial),
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
        use Source::{After, Written};
        let Some(major) = partial.major else { return Ok(Word::Vanished) };
        let next_major = [After(major), ZERO, ZERO];
        // The text has to be zero: in loose mode, `^00.1.2` goes up to 1.0.0.
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

    /// `~1.2.3` and shorter: up to the next minor version, or major version if there is no minor.
    fn tilde(&mut self, partial: &Partial) -> Result<Word, InvalidRange> {
        use Source::{After, Written};
        match (partial.major, partial.minor, partial.patch) {
            (Some(major), Some(minor), Some(patch)) => {
                let upper = [Written(major), After(minor), ZERO];
                self.between([Written(major), Written(minor), Written(patch)], partial.prerelease, upper)
            }
            _ => self.wildcard(Operator::Equal, partial),
        }
    }

    /// `1`, `1.x`, `>1.2`, `<=1.*` and similar words.
    fn wildcard(&mut self, operator: Operator, partial: &Partial) -> Result<Word, InvalidRange> {
        use Source::{After, Written};
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

    /// A version, or a bound at one.
    fn plain(
        &mut self,
        word: &str,
        operator: Operator,
        prefixed: &str,
        partial: &Partial,
    ) -> Result<Word, InvalidRange> {
        if self.is_anything(word) {
            self.anything = true;
            return Ok(Word::Kept);
        }
        if !self.options.loose && !matches!(prefixed.as_bytes(), [b'0'..=b'9', ..] | [b'v', b'0'..=b'9', ..]) {
            return self.unreadable();
        }
        if prefixed.len() > MAX_LENGTH {
            return Err(InvalidRange);
        }
        let numbers = partial.numbers().ok_or(InvalidRange)?;
        self.comparators.push(Comparator::new(operator, numbers, partial.prerelease));
        Ok(Word::Kept)
    }

    /// A word that isn't an x-range. Its first `*` and the operator before it are dropped, and the
    /// rest may be a version.
    fn without_star(&mut self, word: &str) -> Result<Word, InvalidRange> {
        let Some((before, after)) = word.split_once('*') else { return self.unreadable() };
        let before = before.strip_suffix('=').unwrap_or(before);
        let before = before.strip_suffix(['<', '>']).unwrap_or(before);
        let word = [before, after].concat();
        if word.is_empty() { Ok(Word::Vanished) } else { self.reread(&word) }
    }

    /// The result of rewriting a word, if it was rewritten and can only be a bound at a version.
    fn reread(&mut self, word: &str) -> Result<Word, InvalidRange> {
        let (operator, prefixed) = Operator::strip(word);
        match self.scan_after(prefixed) {
            Some(partial) if partial.is_full() => self.plain(word, operator, prefixed, &partial),
            _ => self.unreadable(),
        }
    }

    /// Whether this is the bound below everything, in the only spelling that node-semver takes for
    /// `*`.
    fn is_anything(&self, word: &str) -> bool {
        word == if self.options.include_prerelease { ">=0.0.0-0" } else { ">=0.0.0" }
    }

    fn lowest_prerelease(&self) -> Option<&'static str> {
        self.options.include_prerelease.then_some("0")
    }

    fn lowest_to(&mut self, lower: [Source; 3], upper: [Source; 3]) -> Result<Word, InvalidRange> {
        self.between(lower, self.lowest_prerelease(), upper)
    }

    fn between(
        &mut self,
        lower: [Source; 3],
        prerelease: Option<&str>,
        upper: [Source; 3],
    ) -> Result<Word, InvalidRange> {
        self.bound(Operator::GreaterEqual, lower, prerelease)?;
        self.bound(Operator::Less, upper, Some("0"))
    }

    fn bound(
        &mut self,
        operator: Operator,
        numbers: [Source; 3],
        prerelease: Option<&str>,
    ) -> Result<Word, InvalidRange> {
        if operator == Operator::GreaterEqual
            && prerelease == self.lowest_prerelease()
            && numbers.iter().all(|number| number.is_zero())
        {
            self.anything = true;
            return Ok(Word::Kept);
        }
        let mut values = [Some(0); 3];
        let mut length = "..".len() + prerelease.map_or(0, |prerelease| 1 + prerelease.len());
        for (source, value) in numbers.iter().zip(&mut values) {
            match source.number() {
                Number::Safe(number) => {
                    *value = Some(number);
                    length += source.length(number);
                }
                Number::TooLarge => *value = None,
                // In loose mode, the rest may still be a version: `>1.12345678901234567890123`
                // becomes `>=1.1.2345678901234568e+22.0`, which is 1.1.2345678901234568-e.
                Number::Exponential(_) => {
                    let [major, minor, patch] = numbers;
                    let hyphen = if prerelease.is_some() { "-" } else { "" };
                    let prerelease = prerelease.unwrap_or_default();
                    return self.reread(&format!("{operator}{major}.{minor}.{patch}{hyphen}{prerelease}"));
                }
            }
        }
        let [Some(major), Some(minor), Some(patch)] = values else { return Err(InvalidRange) };
        if length > MAX_LENGTH {
            return Err(InvalidRange);
        }
        self.comparators.push(Comparator::new(operator, [major, minor, patch], prerelease));
        Ok(Word::Kept)
    }

    /// The loose parser skips unreadable words.
    fn unreadable(&self) -> Result<Word, InvalidRange> {
        if self.options.loose { Ok(Word::Kept) } else { Err(InvalidRange) }
    }
}

/// Whether no number follows a wildcard.
fn has_numbers_first(partial: &Partial) -> bool {
    (partial.major.is_some() || partial.minor.is_none()) && (partial.minor.is_some() || partial.patch.is_none())
}
