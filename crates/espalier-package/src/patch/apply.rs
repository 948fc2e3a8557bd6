//! Applies the changes of one file (`patch/apply.js` of `diff` 8, with a fuzz factor of 0).
//!
//! A hunk that doesn't fit at its line is tried above and below, where each of its lines has to
//! match.

use std::borrow::Cow;

use super::parse::Hunk;

/// The text after the changes. `None` if a hunk fits nowhere.
pub fn apply(source: &str, hunks: &[Hunk]) -> Option<String> {
    let hunks = with_line_endings_of(source, hunks);
    let Some(last) = hunks.last() else { return Some(source.to_owned()) };
    let mut lines: Vec<&str> = source.split('\n').collect();
    end_as_said(&mut lines, last)?;
    let mut result: Vec<&str> = Vec::new();
    let (mut next, mut offset) = (0, 0);
    for hunk in hunks.iter() {
        let wanted = signed(hunk.start) + offset - 1;
        let highest = signed(lines.len()) - signed(hunk.length);
        let mut places = nearest(wanted, next, highest);
        let (at, patched, end) = places.find_map(|at| {
            let (patched, end) = fit(&hunk.lines, &lines, at)?;
            Some((at, patched, end))
        })?;
        // A hunk that only adds lines may be beyond the end, after empty lines.
        result
            .extend((next..at).map(|line| usize::try_from(line).ok().and_then(|line| lines.get(line)).unwrap_or(&"")));
        result.extend(patched);
        next = end;
        offset = at + 1 - signed(hunk.start);
    }
    result.extend(lines.get(usize::try_from(next).ok()?..).unwrap_or_default());
    Some(result.join("\n"))
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX / 4)
}

/// Adds or removes the final line break as the patch says. `None` if that is impossible.
fn end_as_said(lines: &mut Vec<&str>, last: &Hunk) -> Option<()> {
    let (mut removes, mut adds) = (false, false);
    let mut before = "";
    for line in &last.lines {
        if line.starts_with('\\') {
            removes |= before.starts_with('+');
            adds |= before.starts_with('-');
        }
        before = line;
    }
    let ends_with_newline = lines.last() == Some(&"");
    match (removes, adds) {
        (true, true) if ends_with_newline => return None,
        (true, false) if ends_with_newline => {
            lines.pop();
        }
        (false, true) if !ends_with_newline => lines.push(""),
        (true, false) | (false, true) => return None,
        _ => {}
    }
    Some(())
}

/// The lines around a line, by their distance, those below first.
fn nearest(wanted: i64, lowest: i64, highest: i64) -> impl Iterator<Item = i64> {
    let most = (highest - wanted).max(wanted - lowest).max(0);
    let around = (1..=most).flat_map(move |distance| [wanted + distance, wanted - distance]);
    let inside = around.filter(move |place| (lowest..=highest).contains(place));
    std::iter::once(wanted).chain(inside)
}

/// The lines that result from a hunk at this line, and where the next hunk may begin.
fn fit<'a>(hunk: &'a [String], lines: &[&'a str], at: i64) -> Option<(Vec<&'a str>, i64)> {
    let mut patched = Vec::new();
    let (mut at, mut context) = (at, 0);
    for line in hunk {
        let (sign, text) = line.split_at(line.len().min(1));
        let found = usize::try_from(at).ok().and_then(|at| lines.get(at)).copied();
        match sign {
            "-" if found == Some(text) => (at, context) = (at + 1, 0),
            "+" => {
                patched.push(text);
                context = 0;
            }
            " " | "" if found == Some(text) => {
                patched.push(text);
                (at, context) = (at + 1, context + 1);
            }
            "\\" => {}
            _ => return None,
        }
    }
    // Later hunks may begin in the context after this one.
    patched.truncate(patched.len() - context);
    Some((patched, at - signed(context)))
}

/// If the patch and the file have different line endings, those of the patch are converted.
fn with_line_endings_of<'a>(source: &str, hunks: &'a [Hunk]) -> Cow<'a, [Hunk]> {
    let ends = |line: &String| line.ends_with('\r');
    let is_note = |line: &String| line.starts_with('\\');
    let all = || hunks.iter().flat_map(|hunk| &hunk.lines);
    let windows_only = source.contains("\r\n") && !source.replace("\r\n", "").contains('\n');
    let unix_only = !source.contains("\r\n") && source.contains('\n');
    if windows_only && !all().any(|line| !is_note(line) && ends(line)) {
        return changed(hunks, |line, exempt| if exempt || ends(line) { line.clone() } else { format!("{line}\r") });
    }
    let fits = |hunk: &Hunk| {
        let exempt = |index: usize| is_note(&hunk.lines[index]) || hunk.lines.get(index + 1).is_some_and(is_note);
        hunk.lines.iter().enumerate().all(|(index, line)| ends(line) || exempt(index))
    };
    if unix_only && all().any(ends) && hunks.iter().all(fits) {
        return changed(hunks, |line, _| line.strip_suffix('\r').unwrap_or(line).to_owned());
    }
    Cow::Borrowed(hunks)
}

/// `exempt` are notes, and lines that a note says have no line break.
fn changed<'a>(hunks: &[Hunk], change: impl Fn(&String, bool) -> String) -> Cow<'a, [Hunk]> {
    let hunk = |hunk: &Hunk| {
        let lines = hunk.lines.iter().enumerate().map(|(index, line)| {
            let next = hunk.lines.get(index + 1);
            change(line, line.starts_with('\\') || next.is_some_and(|next| next.starts_with('\\')))
        });
        Hunk { lines: lines.collect(), ..hunk.clone() }
    };
    Cow::Owned(hunks.iter().map(hunk).collect())
}
