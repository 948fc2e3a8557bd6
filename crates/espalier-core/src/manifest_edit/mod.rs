//! Changes a package.json as `install` and `uninstall` do: its dependency blocks and nothing else.
//!
//! An [`Edit`] follows npm's three steps. The requested specs are entered before the resolution,
//! because they are what gets resolved (`add-rm-pkg-deps.js`). Afterwards, the found versions
//! replace them (`saveIdealTree` in `reify.js`, see `saved`). Then the blocks are put back into
//! the original file (`update-dependencies.js`).

mod saved;

use serde_json::{Map, Value};

use crate::collation;
use crate::error::ResolveError;
use crate::json::{self, Format};
use crate::order;
use crate::spec::Specs;
use crate::writer;

pub use crate::changes::SaveType;
pub use saved::Found;

impl SaveType {
    /// npm's order when it looks for the block of an existing dependency.
    const ALL: [Self; 5] = [Self::Dev, Self::Optional, Self::Prod, Self::PeerOptional, Self::Peer];

    fn block(self) -> &'static str {
        match self {
            Self::Prod => DEPENDENCIES,
            Self::Dev => DEV,
            Self::Optional => OPTIONAL,
            Self::Peer | Self::PeerOptional => PEER,
        }
    }
}

const DEPENDENCIES: &str = "dependencies";
const DEV: &str = "devDependencies";
const OPTIONAL: &str = "optionalDependencies";
const PEER: &str = "peerDependencies";
const PEER_META: &str = "peerDependenciesMeta";
const BUNDLED: &str = "bundleDependencies";
const PATCHED: &str = "patchedDependencies";

/// The blocks in npm's order for writing new ones.
const BLOCKS: [&str; 4] = [DEPENDENCIES, OPTIONAL, DEV, PEER];

/// How to save additions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Saving {
    /// `--save-dev` and similar options. By default, the block that has the name already, otherwise
    /// `dependencies`.
    pub kind: Option<SaveType>,
    /// `--save-bundle`.
    pub bundle: bool,
}

/// A package.json that is being changed.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The original text, for the parts that don't change.
    text: String,
    /// The original values.
    original: Map<String, Value>,
    /// The changed values, which npm resolves with.
    manifest: Map<String, Value>,
    format: Format,
    kind: Option<SaveType>,
}

impl Edit {
    /// Begins to edit the text of a package.json.
    pub fn of(text: &str) -> Result<Self, ResolveError> {
        let original = match json::parse("package.json", text)? {
            Value::Object(object) => object,
            _ => Map::new(),
        };
        let mut manifest = original.clone();
        normalize(&mut manifest);
        Ok(Self { text: text.to_owned(), original, manifest, format: json::format_of(text), kind: None })
    }

    /// Adds a requested name and spec. `*` keeps the existing spec. Local paths are relative to the
    /// file's folder.
    pub fn add(&mut self, name: &str, spec: &str, saving: Saving) {
        self.kind = saving.kind;
        let kind = saving.kind.unwrap_or_else(|| self.inferred(name));
        // A dependency can be in several blocks, but not in any combination.
        let displaced: &[&str] = match kind {
            SaveType::Prod => &[DEV, PEER],
            SaveType::Dev => &[DEPENDENCIES],
            SaveType::Optional => &[PEER],
            SaveType::Peer | SaveType::PeerOptional => &[DEPENDENCIES, OPTIONAL],
        };
        for block in displaced {
            self.take_out(block, name);
        }
        let block = object(&mut self.manifest, kind.block());
        if spec != "*" || !block.contains_key(name) {
            block.insert(name.to_owned(), spec.into());
        }
        let spec = block[name].clone();
        match kind {
            // npm enters it into both blocks, as its first versions did, and corrects that when it
            // writes.
            SaveType::Optional => {
                object(&mut self.manifest, DEPENDENCIES).insert(name.to_owned(), spec);
            }
            SaveType::Peer | SaveType::PeerOptional => {
                self.mark_peer(name, kind == SaveType::PeerOptional);
                if let Some(dev) = self.block_mut(DEV).and_then(|dev| dev.get_mut(name)) {
                    *dev = spec;
                }
            }
            SaveType::Prod | SaveType::Dev => {}
        }
        if saving.bundle && kind.block() != PEER {
            let mut names = self.bundled();
            names.push(name.to_owned());
            order::sort_by(&mut names, |a, b| collation::compare(a, b));
            names.dedup();
            self.manifest.insert(BUNDLED.to_owned(), names.into());
        }
    }

    /// Removes a name from every block.
    pub fn remove(&mut self, name: &str) {
        for block in BLOCKS {
            self.take_out(block, name);
        }
        if self.manifest.contains_key(BUNDLED) {
            let mut names = self.bundled();
            names.retain(|bundled| bundled != name);
            if names.is_empty() {
                self.manifest.shift_remove(BUNDLED);
            } else {
                self.manifest.insert(BUNDLED.to_owned(), names.into());
            }
        }
    }

    /// Replaces a requested spec by the one that npm saves. `folder` is the file's own, absolute.
    /// `prefix` is npm's `save-prefix`, which is empty for an exact version. `specs` are those of the
    /// resolution.
    pub fn found(&mut self, name: &str, found: &Found<'_>, folder: &str, prefix: &str, specs: &Specs) {
        let Some(asked) = self.spec_in_force(name) else { return };
        let asked = found.overridden.unwrap_or(&asked);
        let saved::Saved { spec, local } = saved::spec(name, asked, found, folder, prefix, specs);
        if let Some(kind) = self.kind {
            object(&mut self.manifest, kind.block()).insert(name.to_owned(), spec.into());
            if kind == SaveType::Prod
                && let Some(optional) = self.block_mut(OPTIONAL)
            {
                optional.shift_remove(name);
            }
            return;
        }
        let in_dev = self.block(DEV).is_some_and(|dev| dev.contains_key(name));
        for block in [DEPENDENCIES, DEV, PEER, OPTIONAL] {
            let Some(entry) = self.block_mut(block).and_then(|block| block.get_mut(name)) else { continue };
            let alternative = in_dev && matches!(block, PEER | OPTIONAL);
            // Beside a dev dependency, a range that allows the version stays as it is.
            if !alternative || local || !saved::intersect(&spec, entry.as_str().unwrap_or_default()) {
                *entry = spec.as_str().into();
            }
        }
    }

    /// Removes entries of `patchedDependencies`.
    pub fn remove_patches(&mut self, keys: &[String]) {
        if let Some(Value::Object(patches)) = self.original.get_mut(PATCHED) {
            patches.retain(|key, _| !keys.contains(key));
            if patches.is_empty() {
                self.original.shift_remove(PATCHED);
            }
        }
    }

    /// The manifest with the changes so far, which is resolved.
    pub(crate) fn value(&self) -> Value {
        self.manifest.clone().into()
    }

    /// The text of the manifest with the changes so far, which is resolved.
    pub fn manifest(&self) -> String {
        writer::stringify(&Value::Object(self.manifest.clone()), &self.format)
    }

    /// The new text of the file. `None` if npm would leave the file alone.
    pub fn finish(self) -> Option<String> {
        let mut content = self.original.clone();
        let mut blocks = BLOCKS.map(|block| (block, sorted(self.block(block))));
        let optional: Vec<String> = blocks[1].1.keys().cloned().collect();
        blocks[0].1.retain(|name, _| !optional.contains(name));
        for (key, block) in blocks {
            if !block.is_empty() {
                content.insert(key.to_owned(), block.into());
            } else if self.manifest.get(key).is_none_or(json::truthy) {
                content.shift_remove(key);
            }
        }
        self.keep_peers_that_were_dependencies(&mut content);
        match self.manifest.get(BUNDLED) {
            Some(bundled) => {
                content.insert(BUNDLED.to_owned(), bundled.clone());
            }
            None => {
                content.shift_remove(BUNDLED);
            }
        }
        self.written(content)
    }

    /// The file with this content. `None` if only white space would change.
    fn written(&self, content: Map<String, Value>) -> Option<String> {
        let text = writer::stringify(&Value::Object(content), &self.format);
        let trimmed = |text: &str| text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').to_owned();
        (trimmed(&text) != trimmed(&self.text)).then_some(text)
    }

    /// Keeps names in both blocks that were among both dependencies and peers.
    fn keep_peers_that_were_dependencies(&self, content: &mut Map<String, Value>) {
        let block = |object: &Map<String, Value>, key: &str| object.get(key).and_then(Value::as_object).cloned();
        let (Some(prod), Some(old), Some(new)) =
            (block(&self.original, DEPENDENCIES), block(&self.original, PEER), block(content, PEER))
        else {
            return;
        };
        for (name, _) in json::entries(&old) {
            if let Some(spec) = new.get(name).filter(|_| prod.contains_key(name)) {
                object(content, DEPENDENCIES).insert(name.clone(), spec.clone());
            }
        }
    }

    fn inferred(&self, name: &str) -> SaveType {
        let has = |kind: SaveType| self.block(kind.block()).is_some_and(|block| block.contains_key(name));
        let kind = SaveType::ALL.into_iter().find(|&kind| has(kind)).unwrap_or(SaveType::Prod);
        let meta = self.block(PEER_META).and_then(|meta| meta.get(name)?.get("optional"));
        match kind {
            SaveType::PeerOptional if !meta.is_some_and(json::truthy) => SaveType::Peer,
            kind => kind,
        }
    }

    fn mark_peer(&mut self, name: &str, optional: bool) {
        if optional {
            let entry = object(&mut self.manifest, PEER_META).entry(name).or_insert_with(|| Map::new().into());
            if let Value::Object(entry) = entry {
                entry.insert("optional".to_owned(), true.into());
            }
        } else if let Some(Value::Object(entry)) = self.block_mut(PEER_META).and_then(|meta| meta.get_mut(name))
            && entry.get("optional").is_some_and(json::truthy)
        {
            entry.insert("optional".to_owned(), false.into());
        }
    }

    fn take_out(&mut self, key: &str, name: &str) {
        let Some(block) = self.block_mut(key) else { return };
        if block.shift_remove(name).is_none() {
            return;
        }
        if block.is_empty() {
            self.manifest.shift_remove(key);
        }
        if key == PEER
            && let Some(meta) = self.block_mut(PEER_META)
        {
            meta.shift_remove(name);
            if meta.is_empty() {
                self.manifest.shift_remove(PEER_META);
            }
        }
    }

    /// The spec of the edge that the manifest gives for a name: that of the block which is read
    /// last.
    fn spec_in_force(&self, name: &str) -> Option<String> {
        let spec = |block: &&str| self.block(block)?.get(name)?.as_str().map(str::to_owned);
        [DEV, OPTIONAL, DEPENDENCIES, PEER].iter().find_map(spec)
    }

    fn bundled(&self) -> Vec<String> {
        let list = self.manifest.get(BUNDLED).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    fn block(&self, key: &str) -> Option<&Map<String, Value>> {
        self.manifest.get(key).and_then(Value::as_object)
    }

    fn block_mut(&mut self, key: &str) -> Option<&mut Map<String, Value>> {
        self.manifest.get_mut(key).and_then(Value::as_object_mut)
    }
}

fn sorted(block: Option<&Map<String, Value>>) -> Map<String, Value> {
    let mut entries: Vec<_> = block.into_iter().flatten().map(|(name, spec)| (name.clone(), spec.clone())).collect();
    order::sort_by(&mut entries, |(a, _), (b, _)| collation::compare(a, b));
    entries.into_iter().collect()
}

/// A package.json with a field added or removed, in npm's way for fields that aren't dependencies.
/// `None` if it wouldn't change.
pub fn with_field(text: &str, key: &str, value: Option<Value>) -> Result<Option<String>, ResolveError> {
    let edit = Edit::of(text)?;
    let mut content = edit.original.clone();
    edit.keep_peers_that_were_dependencies(&mut content);
    match value {
        Some(value) => {
            content.insert(key.to_owned(), value);
        }
        None => {
            content.shift_remove(key);
        }
    }
    Ok(edit.written(content))
}

/// The object under a key, which is created if necessary.
fn object<'a>(parent: &'a mut Map<String, Value>, key: &str) -> &'a mut Map<String, Value> {
    let entry = parent.entry(key).or_insert_with(|| Map::new().into());
    if !entry.is_object() {
        *entry = Map::new().into();
    }
    entry.as_object_mut().expect("it was made one")
}

/// Normalises the blocks as npm does when it reads them (`normalize.js`).
fn normalize(manifest: &mut Map<String, Value>) {
    let misspelt = manifest.shift_remove("bundledDependencies");
    if let Some(bundled) = misspelt.filter(|_| !manifest.contains_key(BUNDLED)) {
        manifest.insert(BUNDLED.to_owned(), bundled);
    }
    let names = |object: &Map<String, Value>| -> Value {
        json::entries(object).into_iter().map(|(name, _)| name.as_str()).collect()
    };
    match manifest.get(BUNDLED) {
        None | Some(Value::Array(_)) => {}
        Some(Value::Object(bundled)) => {
            let bundled = names(bundled);
            manifest.insert(BUNDLED.to_owned(), bundled);
        }
        Some(Value::Bool(all)) => {
            let dependencies = manifest.get(DEPENDENCIES).and_then(Value::as_object).filter(|_| *all);
            let bundled = dependencies.map_or_else(|| Value::Array(Vec::new()), names);
            manifest.insert(BUNDLED.to_owned(), bundled);
        }
        Some(_) => {
            manifest.shift_remove(BUNDLED);
        }
    }
    let optional = manifest.get(OPTIONAL).and_then(Value::as_object).cloned();
    if let (Some(optional), Some(Value::Object(dependencies))) = (optional, manifest.get_mut(DEPENDENCIES)) {
        dependencies.retain(|name, _| !optional.contains_key(name));
        if dependencies.is_empty() {
            manifest.shift_remove(DEPENDENCIES);
        }
    }
}
