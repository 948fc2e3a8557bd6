//! The text of a lockfile, and the hidden lockfile, which consists of parts of it.
//!
//! The entries of packages are made and written one at a time, because all entries of a large tree
//! would take a lot of memory. The document records the position of each entry in the text.
//! `node_modules/.package-lock.json`, in which npm records what it installed, is made of the same
//! pieces, so nothing is parsed again.

use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ops::Range;

use crate::collation;
use crate::json::{self, Format};
use crate::order;
use crate::plain;
use crate::writer::{self, Writer};

const PACKAGES: &str = "packages";
/// What a lockfile states about the project itself.
pub const NAMES: [&str; 2] = ["name", "version"];
/// The usual length of a package's entry in bytes. A text with this room is rarely moved.
const USUAL_ENTRY: usize = 512;

/// A written lockfile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "summaries", derive(serde::Serialize, serde::Deserialize))]
pub struct Document {
    text: String,
    /// The values at the top, without the packages.
    #[cfg_attr(feature = "summaries", serde(with = "crate::recorded::as_text"))]
    head: Map<String, Value>,
    format: Format,
    /// The places of the packages' entries, in the text's order.
    entries: Vec<EntryPlace>,
}

/// The place of an entry. It begins with its location, as the key of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "summaries", derive(serde::Serialize, serde::Deserialize))]
struct EntryPlace {
    key: Range<u32>,
    end: u32,
}

impl Document {
    /// Writes a lockfile with these values at the top and an entry for each of these locations, which
    /// are in the order of collation. `write` writes the entry of an index at a depth of 2, and returns
    /// whether it stays in the text.
    pub fn new(
        mut head: Map<String, Value>,
        locations: &[&str],
        write: &mut dyn FnMut(&mut Writer<'_>, usize) -> bool,
        format: &Format,
    ) -> Self {
        debug_assert!(locations.is_sorted_by(|a, b| collation::compare(a, b).is_le()), "{locations:?}");
        let format = lockfile_format(format);
        let mut order: Vec<(usize, &str)> = locations.iter().copied().enumerate().collect();
        order::sort_by_key(&mut order, |(_, location)| writer::rank(location, true));
        json::in_javascript_order(&mut order, |(_, location)| location);
        let mut entries = Vec::with_capacity(order.len());
        head.insert(PACKAGES.to_owned(), Value::Object(Map::new()));
        let text = assemble(&head, locations.len(), &format, &mut |writer| {
            for &(index, location) in &order {
                let start = writer.position();
                writer.line(entries.is_empty(), 2);
                let key = writer.key(location);
                if write(writer, index) {
                    entries.push(EntryPlace { key, end: writer.position() });
                } else {
                    writer.cut(start);
                }
            }
        });
        // The hidden lockfile lacks the nested tree of older versions, which is large.
        head.shift_remove("dependencies");
        Self { text, head, format, entries }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Removes the entries of these locations. The first entry, which is the project's, stays.
    pub fn remove(&mut self, is_unlisted: &dyn Fn(&str) -> bool) {
        let Some(first) = self.entries.first() else { return };
        let (mut end, mut shift) = (first.end, 0);
        let mut text = self.text[..end as usize].to_owned();
        let mut entries = vec![first.clone()];
        for place in &self.entries[1..] {
            // The piece of an entry begins behind the entry before it, with a comma.
            let piece = end..place.end;
            end = place.end;
            if is_unlisted(&self.location(place)) {
                shift += end - piece.start;
                continue;
            }
            text.push_str(&self.text[piece.start as usize..end as usize]);
            entries.push(EntryPlace { key: place.key.start - shift..place.key.end - shift, end: end - shift });
        }
        text.push_str(&self.text[end as usize..]);
        (self.text, self.entries) = (text, entries);
    }

    /// The hidden lockfile, possibly with other values for the project's name and version.
    /// `installed` says whether a location is on disk.
    pub fn hidden(&self, names: Option<&Map<String, Value>>, installed: &dyn Fn(&str) -> bool) -> String {
        let mut head = self.head.clone();
        // Its version is always 3.
        head.insert("lockfileVersion".into(), 3.into());
        if let Some(names) = names {
            head.retain(|key, _| !NAMES.contains(&key.as_str()));
            head.extend(names.clone());
        }
        assemble(&head, self.entries.len(), &self.format, &mut |writer| {
            let mut is_first = true;
            for place in &self.entries {
                let location = self.location(place);
                if !location.is_empty() && installed(&location) {
                    writer.line(is_first, 2);
                    writer.push(&self.text[place.key.start as usize..place.end as usize]);
                    is_first = false;
                }
            }
        })
    }

    fn location(&self, place: &EntryPlace) -> Cow<'_, str> {
        let quoted = &self.text[place.key.start as usize..place.key.end as usize];
        let plain = &quoted[1..quoted.len() - 1];
        if plain::needs_no_escapes(plain) {
            return plain.into();
        }
        serde_json::from_str(quoted).map(Cow::Owned).expect("the writer writes JSON")
    }
}

/// The text of a lockfile without a list of packages, as in version 1.
pub fn without_packages(head: &Map<String, Value>, format: &Format) -> String {
    assemble(head, 0, &lockfile_format(format), &mut |_| {})
}

/// Writes the values at the top. `packages` writes at most `count` entries.
fn assemble(
    head: &Map<String, Value>,
    count: usize,
    format: &Format,
    packages: &mut dyn FnMut(&mut Writer<'_>),
) -> String {
    let mut writer = Writer::new(format, count * USUAL_ENTRY);
    writer.push("{");
    for (index, (key, value)) in writer::sorted_entries(head).into_iter().enumerate() {
        writer.line(index == 0, 1);
        if key != PACKAGES {
            writer.key(key);
            writer.value(value, 1);
            continue;
        }
        writer.push("\"packages\": {");
        let start = writer.position();
        packages(&mut writer);
        if writer.position() > start {
            writer.line(true, 1);
        }
        writer.push("}");
    }
    writer.line(true, 0);
    writer.push("}");
    writer.line(true, 0);
    writer.finish()
}

/// npm uses its defaults for missing values (`this.indent || 2`, `this.newline || '\n'`).
fn lockfile_format(format: &Format) -> Format {
    let mut format = format.clone();
    if format.indent.is_empty() {
        format.indent.push_str("  ");
    }
    if format.newline.is_empty() {
        format.newline.push('\n');
    }
    format
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{Document, Format, Writer, without_packages};

    fn head(value: Value) -> Map<String, Value> {
        let Value::Object(head) = value else { panic!("a head is an object") };
        head
    }

    fn document(top: Value, packages: &[(&str, Value)], format: &Format) -> Document {
        let locations: Vec<&str> = packages.iter().map(|(location, _)| *location).collect();
        let mut write = |writer: &mut Writer<'_>, index: usize| {
            writer.value(&packages[index].1, 2);
            true
        };
        Document::new(head(top), &locations, &mut write, format)
    }

    #[test]
    fn values_precede_objects_and_preferred_keys_the_rest() {
        let top = head(json!({ "packages": {}, "zeta": [{}], "alpha": { "10": 1, "2": 1, "b": 1 }, "name": "x" }));
        let expected = "{\n  \"name\": \"x\",\n  \"zeta\": [\n    {}\n  ],\n  \"packages\": {},\n  \
                        \"alpha\": {\n    \"2\": 1,\n    \"10\": 1,\n    \"b\": 1\n  }\n}\n";
        assert_eq!(without_packages(&top, &Format::default()), expected);
    }

    #[test]
    fn the_hidden_lockfile_has_what_is_installed_and_no_root() {
        let top = json!({ "name": "app", "lockfileVersion": 2, "requires": true, "dependencies": { "a": {} } });
        let packages = [
            ("", json!({})),
            ("node_modules/a", json!({ "version": "1.0.0", "engines": { "node": "*" } })),
            ("node_modules/b", json!({})),
            ("node_modules/c\"\u{1}", json!({})),
        ];
        let format = Format { indent: "\t".into(), newline: "\r\n".into() };
        let document = document(top, &packages, &format);
        let a = "\"node_modules/a\": {\n\t\t\t\"version\": \"1.0.0\",\n\t\t\t\"engines\": {\n\t\t\t\t\"node\": \"*\"\n\
                 \t\t\t}\n\t\t}";
        let lockfile = format!(
            "{{\n\t\"name\": \"app\",\n\t\"lockfileVersion\": 2,\n\t\"requires\": true,\n\t\"packages\": {{\n\t\t\"\": {{}},\n\
             \t\t{a},\n\t\t\"node_modules/b\": {{}},\n\t\t\"node_modules/c\\\"\\u0001\": {{}}\n\t}},\n\t\"dependencies\": {{\n\t\t\"a\": {{}}\n\t}}\n}}\n"
        );
        assert_eq!(document.text(), lockfile.replace('\n', "\r\n"));
        let hidden =
            format!("{{\n\t\"lockfileVersion\": 3,\n\t\"requires\": true,\n\t\"packages\": {{\n\t\t{a}\n\t}}\n}}\n");
        let with_name = hidden.replacen("{\n", "{\n\t\"name\": \"app\",\n", 1);
        let installed = |location: &str| location == "node_modules/a";
        assert_eq!(document.hidden(Some(&Map::new()), &installed), hidden.replace('\n', "\r\n"));
        assert_eq!(document.hidden(None, &installed), with_name.replace('\n', "\r\n"));
        assert!(document.hidden(None, &|location| location.ends_with("c\"\u{1}")).contains("c\\\"\\u0001\": {}"));
        assert!(document.hidden(None, &|_| false).contains("\"packages\": {}"));
    }

    #[test]
    fn removed_entries_leave_the_text_of_the_others() {
        let locations = ["", "node_modules/a", "node_modules/b", "node_modules/c\"", "node_modules/d"];
        let packages = |is_listed: &dyn Fn(&str) -> bool| {
            let packages: Vec<_> = locations.iter().filter(|location| is_listed(location)).collect();
            let packages: Vec<_> = packages.into_iter().map(|location| (*location, json!({ "x": location }))).collect();
            document(json!({ "lockfileVersion": 3, "packages": {} }), &packages, &Format::default())
        };
        let gone = ["node_modules/a", "node_modules/c\"", "node_modules/d"];
        for count in 0..=gone.len() {
            let is_gone = |location: &str| gone[..count].contains(&location);
            let mut document = packages(&|_| true);
            document.remove(&is_gone);
            assert_eq!(document, packages(&|location| !is_gone(location)));
        }
    }
}
