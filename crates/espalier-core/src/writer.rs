//! JSON as npm writes it: in the format of `JSON.stringify`, with JavaScript's order of keys in a
//! package.json, and npm's own order (`json-stringify-nice`) in a lockfile.

use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::ops::Range;

use crate::collation;
use crate::json::{self, Format};
use crate::order;
use crate::plain;

/// An order of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// As they were added, but array indices come first.
    JavaScript,
    /// By rank, then by collation.
    Lockfile,
}

/// A member of an object that is being sorted: its rank, its key, and the rest.
type Ranked<'a, T> = (usize, &'a str, T);

/// A member that has been written: its key, whether its value is an object, and its place in the text,
/// without the beginning of its line.
pub type WrittenMember = (&'static str, bool, Range<u32>);

/// The rank of a key: values that aren't objects first, and among them, the keys that npm prefers in
/// a lockfile.
pub fn rank(key: &str, is_object: bool) -> usize {
    const OTHERS: usize = 8;
    // Unlike a search in a list, this looks at the length of a key first.
    let preferred = match key {
        "name" => 0,
        "version" => 1,
        "lockfileVersion" => 2,
        "resolved" => 3,
        "integrity" => 4,
        "requires" => 5,
        "packages" => 6,
        "dependencies" => 7,
        _ => OTHERS,
    };
    preferred + if is_object { OTHERS + 1 } else { 0 }
}

fn compare<T>(a: &Ranked<'_, T>, b: &Ranked<'_, T>) -> Ordering {
    a.0.cmp(&b.0).then_with(|| collation::compare(a.1, b.1))
}

/// Whether members are in npm's order for a lockfile.
pub fn are_sorted(members: &[WrittenMember]) -> bool {
    let ranked = |(key, is_object, _): &WrittenMember| (rank(key, *is_object), *key, ());
    members.is_sorted_by(|a, b| compare(&ranked(a), &ranked(b)).is_le())
}

/// Sorts members into npm's order for a lockfile: by rank, then by collation.
fn sort<T>(members: &mut [Ranked<'_, T>]) {
    order::sort_by(members, compare);
    // npm inserts the sorted keys into an object again, and JavaScript moves indices to the front.
    json::in_javascript_order(members, |(_, key, _)| key);
}

/// A value like `JSON.stringify`, as npm writes a package.json: keys keep their order, and a single
/// line stays one.
pub fn stringify(value: &Value, format: &Format) -> String {
    let mut writer = Writer { order: Order::JavaScript, ..Writer::new(format, 0) };
    writer.value(value, 0);
    writer.text.push_str(&format.newline);
    writer.text
}

/// A text that is being written.
pub struct Writer<'a> {
    text: String,
    format: &'a Format,
    order: Order,
    /// The beginnings of lines by depth, each after a comma.
    margins: Vec<String>,
}

impl<'a> Writer<'a> {
    /// An empty lockfile with room for so many bytes.
    pub fn new(format: &'a Format, capacity: usize) -> Self {
        Self { text: String::with_capacity(capacity), format, order: Order::Lockfile, margins: Vec::new() }
    }

    /// The place of the next byte in the text, which has less than 4 GB.
    pub fn position(&self) -> u32 {
        u32::try_from(self.text.len()).expect("a lockfile of less than 4 GB")
    }

    /// The text.
    pub fn finish(self) -> String {
        self.text
    }

    /// Adds text as it is.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Begins a line at a depth, after a comma if it isn't the first in its object or array. Without
    /// indentation, everything is on one line.
    pub fn line(&mut self, is_first: bool, depth: usize) {
        while self.margins.len() <= depth {
            let indent = self.format.indent.repeat(self.margins.len());
            let line = if self.format.indent.is_empty() { indent } else { format!("\n{indent}") };
            // npm translates every newline, also those within the indentation.
            self.margins.push(format!(",{}", line.replace('\n', &self.format.newline)));
        }
        self.text.push_str(&self.margins[depth][usize::from(is_first)..]);
    }

    /// Removes what follows this place, and returns it.
    pub fn cut(&mut self, position: u32) -> String {
        self.text.split_off(position as usize)
    }

    /// Writes a key, and returns its place with its quotes.
    pub fn key(&mut self, key: &str) -> Range<u32> {
        let start = self.position();
        self.string(key);
        self.colon(start)
    }

    /// The same for a key without escapes.
    pub fn plain_key(&mut self, key: &'static str) -> Range<u32> {
        let start = self.position();
        self.quoted(key);
        self.colon(start)
    }

    /// Writes a colon after the key that starts here.
    fn colon(&mut self, start: u32) -> Range<u32> {
        let end = self.position();
        self.text.push_str(if self.format.indent.is_empty() { ":" } else { ": " });
        start..end
    }

    /// Writes a string.
    pub fn string(&mut self, text: &str) {
        let start = self.text.len() + 1;
        self.quoted(text);
        // At the end of a longer text, a short one is looked at in one step.
        if plain::first_unusual(self.text.as_bytes(), start) != start + text.len() {
            self.text.truncate(start - 1);
            self.text.push_str(&serde_json::to_string(text).expect("a string can be written"));
        }
    }

    fn quoted(&mut self, text: &str) {
        self.text.reserve(text.len() + 2);
        self.text.push('"');
        self.text.push_str(text);
        self.text.push('"');
    }

    /// Writes a value, whose key is at a depth.
    pub fn value(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Array(values) => {
                self.list(values.len(), depth, &mut |writer, index| writer.value(&values[index], depth + 1));
            }
            Value::Number(number) => self.text.push_str(&json::javascript_number(number).to_string()),
            Value::String(text) => self.string(text),
            Value::Null | Value::Bool(_) => self.text.push_str(&value.to_string()),
            Value::Object(members) => {
                let members: Vec<(&String, &Value)> = members.iter().collect();
                let key = |index: usize| (members[index].0.as_str(), members[index].1.is_object());
                self.object(members.len(), &key, depth, &mut |writer, index| writer.value(members[index].1, depth + 1));
            }
        }
    }

    /// Writes an array whose brackets are at a depth, with a line for each item. `write` writes the
    /// item of an index.
    pub fn list(&mut self, count: usize, depth: usize, write: &mut dyn FnMut(&mut Self, usize)) {
        self.text.push('[');
        for index in 0..count {
            self.line(index == 0, depth + 1);
            write(self, index);
        }
        if count > 0 {
            self.line(true, depth);
        }
        self.text.push(']');
    }

    /// Writes an object whose brackets are at a depth. `key` gives the key of an index, and whether its
    /// value is an object. `write` writes the value of an index.
    pub fn object<'k>(
        &mut self,
        count: usize,
        key: &dyn Fn(usize) -> (&'k str, bool),
        depth: usize,
        write: &mut dyn FnMut(&mut Self, usize),
    ) {
        let order = self.order_of(count, key);
        self.text.push('{');
        for index in 0..count {
            self.line(index == 0, depth + 1);
            let index = order.get(index).copied().unwrap_or(index);
            self.key(key(index).0);
            write(self, index);
        }
        if count > 0 {
            self.line(true, depth);
        }
        self.text.push('}');
    }

    /// Puts the members at the end of the text, which are at a depth, in npm's order for a lockfile.
    pub fn sort(&mut self, members: &[WrittenMember], depth: usize) {
        let Some((.., first)) = members.first() else { return };
        let text = self.cut(first.start);
        let ranked = members.iter().map(|(key, is_object, place)| (rank(key, *is_object), *key, place));
        let mut ranked: Vec<Ranked<'_, _>> = ranked.collect();
        sort(&mut ranked);
        for (index, (.., place)) in ranked.into_iter().enumerate() {
            if index > 0 {
                self.line(false, depth);
            }
            self.text.push_str(&text[(place.start - first.start) as usize..(place.end - first.start) as usize]);
        }
    }

    /// The order of an object's members, as their indices. Empty if they are in order already, as
    /// most are.
    fn order_of<'k>(&self, count: usize, key: &dyn Fn(usize) -> (&'k str, bool)) -> Vec<usize> {
        let ranked = |index| {
            let (key, is_object) = key(index);
            (rank(key, is_object), key, index)
        };
        let is_sorted = || (1..count).all(|next| compare(&ranked(next - 1), &ranked(next)).is_le());
        let is_in_order = self.order == Order::JavaScript || is_sorted();
        if is_in_order && !(0..count).any(|index| json::is_array_index(key(index).0)) {
            return Vec::new();
        }
        let mut members: Vec<Ranked<'_, usize>> = (0..count).map(ranked).collect();
        match self.order {
            Order::JavaScript => json::in_javascript_order(&mut members, |(_, key, _)| key),
            Order::Lockfile => sort(&mut members),
        }
        members.into_iter().map(|(.., index)| index).collect()
    }
}

/// The entries of an object in npm's order for a lockfile.
pub fn sorted_entries(object: &Map<String, Value>) -> Vec<(&str, &Value)> {
    let mut entries: Vec<Ranked<'_, &Value>> =
        object.iter().map(|(key, value)| (rank(key, value.is_object()), key.as_str(), value)).collect();
    sort(&mut entries);
    entries.into_iter().map(|(_, key, value)| (key, value)).collect()
}
