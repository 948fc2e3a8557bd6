//! Parses unified diffs as leniently as `diff` 8 (`patch/parse.js`).

/// The changes to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePatch {
    /// The file's name before.
    pub old: Option<String>,
    /// The file's name after.
    pub new: Option<String>,
    /// The hunks, in the order of their lines.
    pub hunks: Vec<Hunk>,
}

/// A hunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The first line that it replaces, counted from one.
    pub start: usize,
    /// The number of lines that it replaces.
    pub length: usize,
    /// The lines with their signs.
    pub lines: Vec<String>,
}

/// Parses the text of a patch. The error says what is wrong.
pub fn parse(text: &str) -> Result<Vec<FilePatch>, String> {
    let mut reader = Reader { lines: text.split('\n').collect(), at: 0 };
    let mut files = Vec::new();
    while reader.line().is_some() {
        files.push(reader.file()?);
    }
    Ok(files)
}

struct Reader<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn line(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn file(&mut self) -> Result<FilePatch, String> {
        let mut file = FilePatch::default();
        let begins = |line: &str| {
            let rest =
                ["---", "+++"].iter().find_map(|sign| line.strip_prefix(sign)).or_else(|| line.strip_prefix("@@"));
            rest.is_some_and(|rest| rest.starts_with(char::is_whitespace))
        };
        while self.line().is_some_and(|line| !begins(line)) {
            self.at += 1;
        }
        self.name(&mut file);
        self.name(&mut file);
        while let Some(line) = self.line() {
            if is_header(line) {
                break;
            }
            if line.starts_with("@@") {
                file.hunks.push(self.hunk()?);
            } else if line.is_empty() {
                self.at += 1;
            } else {
                return Err(format!("Unknown line {} {line:?}", self.at + 1));
            }
        }
        Ok(file)
    }

    fn name(&mut self, file: &mut FilePatch) {
        let Some(line) = self.line() else { return };
        let is_old = line.starts_with("---");
        let Some(rest) = line.strip_prefix("---").or_else(|| line.strip_prefix("+++")) else { return };
        if !rest.starts_with(char::is_whitespace) {
            return;
        }
        let name = rest.trim().split('\t').next().unwrap_or_default().replace("\\\\", "\\");
        let bare = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).map(str::to_owned);
        let name = Some(bare.unwrap_or(name));
        if is_old {
            file.old = name;
        } else {
            file.new = name;
        }
        self.at += 1;
    }

    fn hunk(&mut self) -> Result<Hunk, String> {
        let first = self.at;
        let header = self.line().unwrap_or_default();
        self.at += 1;
        let (old, new) = ranges(header).ok_or_else(|| format!("Unknown line {} {header:?}", first + 1))?;
        let (mut old_lines, mut new_lines) = (old.1, new.1);
        // A hunk that replaces no lines states the line before it.
        let start = if old_lines == 0 { old.0 + 1 } else { old.0 };
        let mut lines = Vec::new();
        let (mut added, mut removed) = (0, 0);
        while let Some(line) = self.line() {
            if removed >= old_lines && added >= new_lines && !line.starts_with('\\') {
                break;
            }
            let is_last = self.at + 1 == self.lines.len();
            match line.chars().next() {
                Some('+') => added += 1,
                Some('-') => removed += 1,
                Some('\\') => {}
                Some(' ') => (added, removed) = (added + 1, removed + 1),
                None if !is_last => (added, removed) = (added + 1, removed + 1),
                _ => return Err(format!("Hunk at line {} contained invalid line {line}", first + 1)),
            }
            lines.push(line.to_owned());
            self.at += 1;
        }
        if added == 0 && new_lines == 1 {
            new_lines = 0;
        }
        if removed == 0 && old_lines == 1 {
            old_lines = 0;
        }
        if added != new_lines {
            return Err(format!("Added line count did not match for hunk at line {}", first + 1));
        }
        if removed != old_lines {
            return Err(format!("Removed line count did not match for hunk at line {}", first + 1));
        }
        Ok(Hunk { start, length: old_lines, lines })
    }
}

fn is_header(line: &str) -> bool {
    const RULE: &str = "===================================================================";
    let words = ["Index:", "diff", "---", "+++"];
    let starts = |word: &&str| line.strip_prefix(*word).is_some_and(|rest| rest.starts_with(char::is_whitespace));
    line.starts_with(RULE) || words.iter().any(starts)
}

type Range = (usize, usize);

/// Parses `@@ -1,2 +3 @@`. A missing length is one.
fn ranges(header: &str) -> Option<(Range, Range)> {
    let (_, rest) = header.split_once("@@ -")?;
    let (ranges, _) = rest.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| {
        let (start, length) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, length.parse().ok()?))
    };
    Some((range(old)?, range(new)?))
}
