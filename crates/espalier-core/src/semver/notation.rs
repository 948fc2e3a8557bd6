//! Rewrites the text of a range before it is split into comparators.
//!
//! node-semver reads a range by replacing parts of its text, and each replacement sees the result
//! of the one before. For usual ranges that makes no difference; for `= v 1.2.3 - 2` it does. So
//! these steps replace text as well. Each returns unchanged text without an allocation.

use std::borrow::Cow;
use std::fmt::Write;
use std::iter;

use super::grammar::{self, Grammar, Partial};
use super::number::Number;
use super::options::RangeOptions;

/// Trims a range and reduces each run of white space to one space.
pub(super) fn collapse_whitespace(text: &str) -> Cow<'_, str> {
    if is_plain_word(text) {
        return Cow::Borrowed(text);
    }
    let text = grammar::trim(text);
    let bytes = text.as_bytes();
    let collapsed = bytes.iter().enumerate().all(|(index, &byte)| match byte {
        b' ' => bytes[index - 1] != b' ',
        b'\t'..=b'\r' => false,
        _ => byte.is_ascii(),
    });
    if collapsed {
        return Cow::Borrowed(text);
    }
    let words = text.split(grammar::is_whitespace).filter(|word| !word.is_empty());
    Cow::Owned(words.collect::<Vec<_>>().join(" "))
}

/// Whether the text is one word that none of these steps changes or splits.
pub(super) fn is_plain_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'+' && byte != b'|')
}

/// The parts of a range between `||`, trimmed. There is at least one.
pub(super) fn alternatives(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    iter::from_fn(move || {
        let text = rest?;
        // For texts this short, this is faster than a string search.
        let bar = text.as_bytes().windows(2).position(|pair| pair == b"||");
        rest = bar.map(|bar| &text[bar + 2..]);
        let part = &text[..bar.unwrap_or(text.len())];
        let part = part.strip_prefix(' ').unwrap_or(part);
        Some(part.strip_suffix(' ').unwrap_or(part))
    })
}

/// Removes build metadata, which a range may contain but which decides nothing.
pub(super) fn strip_build(text: &str) -> Cow<'_, str> {
    let mut rest = text;
    let mut stripped = String::new();
    while let Some((at, build)) =
        rest.match_indices('+').find_map(|(at, _)| Some((at, grammar::build(rest.as_bytes(), at, usize::MAX)?)))
    {
        stripped.push_str(&rest[..at]);
        rest = &rest[build.end..];
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    stripped.push_str(rest);
    Cow::Owned(stripped)
}

/// Writes `1.2 - 2.3.4` as `>=1.2.0 <=2.3.4`.
pub(super) fn expand_hyphen(text: Cow<'_, str>, options: RangeOptions) -> Cow<'_, str> {
    if !text.contains(" - ") {
        return text;
    }
    match hyphen_bounds(&text, options) {
        Some(bounds) => Cow::Owned(bounds),
        None => text,
    }
}

fn hyphen_bounds(text: &str, options: RangeOptions) -> Option<String> {
    let text = text.strip_prefix(' ').unwrap_or(text);
    let (from_text, from, rest) = split_partial(text, options.grammar())?;
    let (to_text, to, rest) = split_partial(rest.strip_prefix(" - ")?, options.grammar())?;
    if !matches!(rest, "" | " ") {
        return None;
    }
    let zero = if options.include_prerelease { "-0" } else { "" };
    let mut bounds = String::new();
    // Writing to a string can't fail, hence `.ok()`.
    match (from.major, from.minor, from.patch) {
        (None, ..) => Ok(()),
        (Some(major), None, _) => write!(bounds, ">={major}.0.0{zero}"),
        (Some(major), Some(minor), None) => write!(bounds, ">={major}.{minor}.0{zero}"),
        _ if from.prerelease.is_some() => write!(bounds, ">={from_text}"),
        _ => write!(bounds, ">={from_text}{zero}"),
    }
    .ok();
    if !bounds.is_empty() && to.major.is_some() {
        bounds.push(' ');
    }
    match (to.major, to.minor, to.patch) {
        (None, ..) => Ok(()),
        (Some(major), None, _) => write!(bounds, "<{}.0.0-0", Number::after(major)),
        (Some(major), Some(minor), None) => write!(bounds, "<{major}.{}.0-0", Number::after(minor)),
        (Some(major), Some(minor), Some(patch)) => match to.prerelease {
            Some(prerelease) => write!(bounds, "<={major}.{minor}.{patch}-{prerelease}"),
            None if options.include_prerelease => write!(bounds, "<{major}.{minor}.{}-0", Number::after(patch)),
            None => write!(bounds, "<={to_text}"),
        },
    }
    .ok();
    // node-semver looks for build metadata once more, and finds it in a number printed as `1e+21`.
    Some(strip_build(&bounds).into_owned())
}

/// Splits off the partial version up to the next space, with everything before it.
fn split_partial(text: &str, grammar: Grammar) -> Option<(&str, Partial<'_>, &str)> {
    let core = grammar::strip_prefix(text);
    let length = core.find(' ').unwrap_or(core.len());
    let partial = Partial::scan(&core[..length], grammar)?;
    let (whole, rest) = text.split_at(text.len() - core.len() + length);
    Some((whole, partial, rest))
}

/// Removes the space between an operator and a version, and after `~` and `^`.
pub(super) fn close_up(text: Cow<'_, str>) -> Cow<'_, str> {
    let after_operator = |pair: &[u8]| matches!(pair, [b'<' | b'>' | b'=' | b'~' | b'^' | b' ', b' ']);
    if !text.as_bytes().windows(2).any(after_operator) {
        return text;
    }
    Cow::Owned(close_up_carets_and_tildes(&close_up_comparators(&text)))
}

/// `> 1.2.3 < 2` becomes `>1.2.3 <2`. Each version is read in whichever grammar takes more of it.
fn close_up_comparators(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut closed = String::with_capacity(text.len());
    let mut position = 0;
    while position < bytes.len() {
        let mut operator_end = position;
        operator_end += usize::from(bytes[operator_end] == b' ');
        operator_end += usize::from(matches!(bytes.get(operator_end), Some(b'<' | b'>')));
        operator_end += usize::from(bytes.get(operator_end) == Some(&b'='));
        let rest = &text[operator_end..];
        let core = text.len() - grammar::strip_prefix(rest).len();
        if let Some(end) = grammar::version_end(bytes, core) {
            closed.push_str(&text[position..operator_end]);
            closed.push_str(&text[operator_end..end][usize::from(bytes[operator_end] == b' ')..]);
            position = end;
        } else {
            // No match can begin before `core` either, because it would end at the same position.
            let next = text[core..].chars().next().filter(|_| core == position).map_or(core, |c| core + c.len_utf8());
            closed.push_str(&text[position..next]);
            position = next;
        }
    }
    closed
}

/// `~ 1.2.3` and `~> 1.2.3` become `~1.2.3`, `^ 1.2.3` becomes `^1.2.3`.
fn close_up_carets_and_tildes(text: &str) -> String {
    let mut closed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['~', '^']) {
        let (before, from_sigil) = rest.split_at(at + 1);
        closed.push_str(before);
        let after_arrow = from_sigil.strip_prefix('>').filter(|_| before.ends_with('~')).unwrap_or(from_sigil);
        rest = after_arrow.strip_prefix(' ').unwrap_or(from_sigil);
    }
    closed.push_str(rest);
    closed
}
