//! The parts of npm's placement code that no process has executed.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::Context;

use crate::oracle::FileCoverage;

/// The number of characters to print of each piece of code.
const SHOWN: usize = 100;

/// For every file, the share of executed code and each piece that was never executed.
pub fn summary(npm: &Path, processes: &[Vec<FileCoverage>]) -> anyhow::Result<String> {
    let mut files: BTreeMap<&str, Vec<&FileCoverage>> = BTreeMap::new();
    for file in processes.iter().flatten() {
        files.entry(&file.file).or_default().push(file);
    }
    let mut summary = String::new();
    for (name, reports) in files {
        let path = npm.join("node_modules/@npmcli/arborist/lib").join(name);
        let source = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        // V8 counts in UTF-16.
        let source: Vec<u16> = source.encode_utf16().collect();
        let pieces = unreached(source.len(), &reports);
        let missed: usize = pieces.iter().map(|(start, end)| end - start).sum();
        let reached = 100 * (source.len() - missed) / source.len().max(1);
        writeln!(summary, "{name}: {reached} % reached")?;
        for (start, end) in pieces {
            let text = String::from_utf16_lossy(&source[start..end]);
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if text.contains(char::is_alphanumeric) {
                let line = 1 + source[..start].iter().filter(|&&unit| unit == u16::from(b'\n')).count();
                writeln!(summary, "  {line:>5}  {}", text.chars().take(SHOWN).collect::<String>())?;
            }
        }
    }
    Ok(summary)
}

/// The pieces that no report has as executed.
fn unreached(length: usize, reports: &[&FileCoverage]) -> Vec<(usize, usize)> {
    let mut missed_by = vec![0; length];
    for (start, end) in reports.iter().flat_map(|report| &report.unreached) {
        for count in &mut missed_by[*start.min(&length)..*end.min(&length)] {
            *count += 1;
        }
    }
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    for (index, _) in missed_by.iter().enumerate().filter(|(_, count)| **count == reports.len()) {
        match pieces.last_mut() {
            Some((_, end)) if *end == index => *end += 1,
            _ => pieces.push((index, index + 1)),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_unreached_if_no_process_reached_it() {
        let report = |unreached: &[(usize, usize)]| FileCoverage { file: "a.js".into(), unreached: unreached.to_vec() };
        let (one, other) = (report(&[(0, 4), (6, 9)]), report(&[(2, 7)]));
        assert_eq!(unreached(10, &[&one, &other]), [(2, 4), (6, 7)]);
    }
}
