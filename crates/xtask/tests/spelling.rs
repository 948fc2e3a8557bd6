//! No file has a known misspelling (`typos-dict`).

use std::borrow::Cow;
use std::path::Path;
use std::process::Command;

use typos::tokens::{Case, Identifier, TokenizerBuilder, Word};
use typos::{Dictionary, Status};
use typos_dict::WORD;
use unicase::UniCase;

/// The extensions of our files with prose or code.
const ENDINGS: &str = "css html js jsonc md mjs rs toml ts tsx";

/// Foreign names, npm's own misspelled commands, and words that tests misspell on purpose.
const KNOWN: &[&str] = &["abd", "biuld", "flate", "hlep", "intsall", "isntall", "ser", "udpate", "wronly"];

struct Misspellings;

impl Dictionary for Misspellings {
    fn correct_ident<'s>(&'s self, _: Identifier<'_>) -> Option<Status<'s>> {
        None
    }

    fn correct_word<'s>(&'s self, word: Word<'_>) -> Option<Status<'s>> {
        if word.case() == Case::None || KNOWN.contains(&word.token().to_lowercase().as_str()) {
            return None;
        }
        let better = WORD.find(&UniCase::new(word.token()))?;
        Some(Status::Corrections(better.iter().map(|word| Cow::Borrowed(*word)).collect()))
    }
}

#[test]
fn nothing_is_misspelled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let listed = Command::new("git").arg("ls-files").current_dir(&root).output().expect("git lists the files");
    let listed = String::from_utf8(listed.stdout).expect("names in UTF-8");
    let tokenizer = TokenizerBuilder::new().build();
    let mut found = Vec::new();
    let is_ours = |file: &&str| {
        let ending = file.rsplit('.').next().unwrap_or_default();
        ENDINGS.split(' ').any(|ours| ours == ending) && !file.ends_with("tests/spelling.rs")
    };
    let files: Vec<&str> = listed.lines().filter(is_ours).collect();
    assert!(files.len() > 300, "git lists {} files of ours", files.len());
    for file in files {
        let text = std::fs::read_to_string(root.join(file)).unwrap_or_default();
        found.extend(typos::check_str(&text, &tokenizer, &Misspellings).map(|typo| {
            let line = text[..typo.byte_offset].lines().count();
            format!("{file}:{line}: {}: {:?}", typo.typo, typo.corrections)
        }));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
