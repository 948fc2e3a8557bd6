//! JSON as npm writes it: in the format of `JSON.stringify`, with JavaScript's order of keys in a
//! package.json, and npm's own order (`json-stringify-nice`) in a lockfile.

use serde_json::{Map, Value};
use std::borrow::Cow;
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

/// A value to write. Nothing is copied from the tree into its lockfile.
#[derive(Debug)]
pub enum Written<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// A value that was read.
    Value(&'a Value),
    /// `true`, the only value of a flag.
    True,
    /// A list of texts.
    Texts(Vec<&'a str>),
    /// An object of texts.
    Pairs(Vec<(&'a str, &'a str)>),
    /// An object.
    Object(Vec<(&'a str, Written<'a>)>),
    /// An object whose keys are in npm's order for a lockfile.
    Sorted(Vec<(&'a str, Written<'a>)>),
}

impl Written<'_> {
    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        match self {
            Self::Value(value) => value.is_object(),
            Self::Object(_) | Self::Sorted(_) | Self::Pairs(_) => true,
            Self::Text(_) | Self::Texts(_) | Self::True => false,
        }
    }
}

/// A member of an object that is being sorted: its rank, its key, and the rest.
type Ranked<'a, T> = (usize, &'a str, T);

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
    writer.item(Item::Value(value), 0);
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

    /// Writes a key and its value, which are at a depth.
    pub fn member(&mut self, key: &str, value: &Written<'_>, depth: usize) {
        self.key(key);
        self.value(value, depth);
    }

    /// Writes a key, and returns its place with its quotes.
    pub fn key(&mut self, key: &str) -> Range<u32> {
        let start = self.position();
        let (end, colon) = if self.format.indent.is_empty() { ("\":", 1) } else { ("\": ", 2) };
        self.quoted(key, end);
        start..self.position() - colon
    }

    /// Writes a value, whose key is at a depth.
    pub fn value(&mut self, value: &Written<'_>, depth: usize) {
        self.item(Item::Written(value), depth);
    }

    fn string(&mut self, text: &str) {
        self.quoted(text, "\"");
    }

    /// Writes a string. `end` is its closing quote, with what follows.
    fn quoted(&mut self, text: &str, end: &str) {
        if plain::needs_no_escapes(text) {
            self.text.reserve(text.len() + end.len() + 1);
            self.text.push('"');
            self.text.push_str(text);
            self.text.push_str(end);
        } else {
            self.text.push_str(&serde_json::to_string(text).expect("a string can be written"));
            self.text.push_str(&end[1..]);
        }
    }

    fn item(&mut self, item: Item<'_>, depth: usize) {
        match item {
            Item::Text(text) => self.string(text),
            Item::Written(Written::Value(value)) => self.item(Item::Value(value), depth),
            Item::Written(Written::Text(text)) => self.string(text),
            Item::Written(Written::True) => self.text.push_str("true"),
            Item::Written(Written::Texts(texts)) => {
                self.list('[', ']', texts.len(), depth, &|writer, index| writer.string(texts[index]));
            }
            Item::Value(Value::Array(values)) => {
                self.list('[', ']', values.len(), depth, &|writer, index| {
                    writer.item(Item::Value(&values[index]), depth + 1);
                });
            }
            Item::Value(Value::Number(number)) => self.text.push_str(&json::javascript_number(number).to_string()),
            Item::Value(Value::String(text)) => self.string(text),
            Item::Value(value @ (Value::Null | Value::Bool(_))) => self.text.push_str(&value.to_string()),
            Item::Value(Value::Object(members)) => {
                let members = members.iter().map(|(key, value)| (key.as_str(), Written::Value(value)));
                self.item(Item::Written(&Written::Object(members.collect())), depth);
            }
            Item::Written(Written::Object(_) | Written::Sorted(_) | Written::Pairs(_)) => {
                let order = item.order(self.order);
                self.list('{', '}', item.len(), depth, &|writer, index| {
                    let (key, value) = item.member(order.get(index).copied().unwrap_or(index));
                    writer.key(key);
                    writer.item(value, depth + 1);
                });
            }
        }
    }

    /// Writes an array or an object whose brackets are at a depth, with a line for each item.
    fn list(&mut self, open: char, close: char, count: usize, depth: usize, write: &dyn Fn(&mut Self, usize)) {
        self.text.push(open);
        for index in 0..count {
            self.line(index == 0, depth + 1);
            write(self, index);
        }
        if count > 0 {
            self.line(true, depth);
        }
        self.text.push(close);
    }
}

/// A value of any kind.
#[derive(Clone, Copy)]
enum Item<'a> {
    Text(&'a str),
    /// A value from the tree.
    Written(&'a Written<'a>),
    Value(&'a Value),
}

impl<'a> Item<'a> {
    fn is_object(self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Written(written) => written.is_object(),
            Self::Value(value) => value.is_object(),
        }
    }

    /// The number of an object's members.
    fn len(self) -> usize {
        match self {
            Self::Written(Written::Object(members) | Written::Sorted(members)) => members.len(),
            Self::Written(Written::Pairs(members)) => members.len(),
            _ => 0,
        }
    }

    /// One of an object's members.
    fn member(self, index: usize) -> (&'a str, Self) {
        match self {
            Self::Written(Written::Object(members) | Written::Sorted(members)) => {
                (members[index].0, Self::Written(&members[index].1))
            }
            Self::Written(Written::Pairs(members)) => (members[index].0, Self::Text(members[index].1)),
            _ => unreachable!("only objects have members"),
        }
    }

    /// The order of an object's members, as their indices. Empty if they are in order already, as
    /// most are.
    fn order(self, order: Order) -> Vec<usize> {
        if let Self::Written(Written::Sorted(members)) = self {
            let ranked = |(key, value): &(&'a str, Written<'a>)| (rank(key, value.is_object()), *key, ());
            debug_assert!(members.is_sorted_by(|a, b| compare(&ranked(a), &ranked(b)).is_le()), "{members:?}");
            return Vec::new();
        }
        let ranked = |index| {
            let (key, value) = self.member(index);
            (rank(key, value.is_object()), key, index)
        };
        let mut members = (0..self.len()).map(ranked);
        let is_in_order = match order {
            Order::JavaScript => true,
            Order::Lockfile => members.clone().is_sorted_by(|a, b| compare(a, b).is_le()),
        };
        if is_in_order && !members.any(|(_, key, _)| json::is_array_index(key)) {
            return Vec::new();
        }
        let mut members: Vec<Ranked<'_, usize>> = (0..self.len()).map(ranked).collect();
        match order {
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
