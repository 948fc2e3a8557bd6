//! The tree in four arrays that can be transferred without copying. `PackedGraph` in
//! `pkg/graph.d.ts` describes them.

use espalier_core::{EdgeKind, Graph};
use js_sys::{Uint8Array, Uint32Array};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// The kinds in the order of their numbers.
const KINDS: [EdgeKind; 6] =
    [EdgeKind::Prod, EdgeKind::Dev, EdgeKind::Optional, EdgeKind::Peer, EdgeKind::PeerOptional, EdgeKind::Workspace];
const OVERRIDDEN: u32 = 8;

/// A graph in four arrays, in JavaScript's memory.
#[derive(Serialize)]
pub struct PackedGraph {
    #[serde(with = "serde_wasm_bindgen::preserve")]
    texts: Uint8Array,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    offsets: Uint32Array,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    nodes: Uint32Array,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    edges: Uint32Array,
}

/// All texts of a graph, each once.
struct Texts {
    bytes: Vec<u8>,
    offsets: Vec<u32>,
    numbers: FxHashMap<String, u32>,
}

impl Texts {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = length(self.offsets.len()) - 1;
        self.bytes.extend_from_slice(text.as_bytes());
        self.offsets.push(length(self.bytes.len()));
        self.numbers.insert(text.to_owned(), number);
        number
    }

    fn number_of(&mut self, text: Option<&str>) -> u32 {
        text.map_or(0, |text| self.number(text))
    }
}

impl PackedGraph {
    /// Packs a graph.
    pub fn new(graph: &Graph) -> Self {
        let numbers = FxHashMap::from_iter([(String::new(), 0)]);
        let mut texts = Texts { bytes: Vec::new(), offsets: vec![0, 0], numbers };
        let mut nodes = Vec::with_capacity(graph.nodes.len() * 14);
        for node in &graph.nodes {
            nodes.push(texts.number(&node.name));
            nodes.push(texts.number_of(node.package_name.as_deref()));
            nodes.push(texts.number_of(node.version.as_deref()));
            nodes.push(texts.number(&node.location));
            nodes.push(texts.number_of(node.resolved.as_deref()));
            nodes.push(texts.number_of(node.integrity.as_deref()));
            nodes.push(texts.number_of(node.license.as_deref()));
            nodes.push(texts.number_of(node.deprecated.as_deref()));
            nodes.extend([node.parent, node.target].map(|node| node.map_or(0, |node| node + 1)));
            let flags = [
                node.dev,
                node.optional,
                node.dev_optional,
                node.peer,
                node.extraneous,
                node.inert,
                node.in_bundle,
                node.contents.has_install_script,
            ];
            nodes.push(flags.iter().zip(0..).map(|(&flag, bit)| u32::from(flag) << bit).sum());
            let known = |count: Option<u64>| count.map_or(0, |count| u32::try_from(count + 1).unwrap_or(u32::MAX));
            nodes.extend([node.unpacked_size, node.file_count].map(known));
            nodes.push(texts.number_of(node.node_range.as_deref()));
        }
        let mut edges = Vec::with_capacity(graph.edges.len() * 6);
        for edge in &graph.edges {
            edges.push(edge.from + 1);
            edges.push(edge.to.map_or(0, |to| to + 1));
            edges.push(texts.number(&edge.name));
            edges.push(texts.number(&edge.spec));
            edges.push(texts.number_of(edge.error));
            let kind = length(KINDS.iter().position(|kind| *kind == edge.kind).unwrap_or_default());
            edges.push(kind + if edge.overridden { OVERRIDDEN } else { 0 });
        }
        Self {
            texts: Uint8Array::from(texts.bytes.as_slice()),
            offsets: Uint32Array::from(texts.offsets.as_slice()),
            nodes: Uint32Array::from(nodes.as_slice()),
            edges: Uint32Array::from(edges.as_slice()),
        }
    }
}

fn length(length: usize) -> u32 {
    u32::try_from(length).expect("wasm's memory has no more")
}
