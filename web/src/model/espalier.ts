// Lays out the tree as an espalier: a trunk, wires to its left and right, and the project's
// dependencies on the wires. Each of them is a shoot that grows upwards, with the packages that it
// was the first to need. Branches are orthogonal and never cross, because every package has one
// parent. A shoot that is wider than its wire becomes a limb: its branches follow one another on
// the wires, a level above. Pure: it computes positions and draws nothing.

import { answer, type Tree } from './tree';

export interface Espalier {
  /** The position of each node; NaN if it is unreachable. */
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** For each node, its parent in the drawing; -1 for the root. */
  readonly parent: Int32Array;
  /** The nodes, each before its children. */
  readonly order: readonly number[];
  readonly wires: readonly Wire[];
  readonly bounds: Bounds;
  /** Distance of columns and of levels. */
  readonly pitch: number;
  readonly level: number;
}

export interface Wire {
  readonly y: number;
  readonly from: number;
  readonly to: number;
  /** The limb that the wire belongs to; -1 for those of the trunk. */
  readonly limb: number;
}

export interface Bounds {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** An item on a wire. */
interface Item {
  readonly node: number;
  /** Levels above the wire on which it begins. */
  readonly base: number;
  readonly columns: number;
  readonly height: number;
  /** The limb that it is a branch of. */
  readonly limb: number;
  /** A limb's own package, alone: its branches are items of their own. */
  readonly isHead: boolean;
}

interface Tier {
  readonly sides: [Item[], Item[]];
  readonly filled: [number, number];
  height: number;
}

/** The distance between the trunk and the first item of a wire, in columns. */
const INDENT = 1.5;
const MOST_STRETCH = 1.6;
/**
 * The distance between tiers, in levels: it has room for names, and levels of large trees are
 * closer.
 */
const gapOf = (size: number) => (size <= 400 ? 1.6 : size <= 1_200 ? 1.9 : 2.6);

export function espalier(tree: Tree, aspect = 1.6): Espalier {
  const size = tree.nodes.length;
  const { pitch, level } = distances(size);
  const kids = children(tree);
  const columns = new Int32Array(size);
  const heights = new Int32Array(size);
  for (const node of descending(kids).reverse()) {
    let [wide, high] = [0, 0];
    for (const kid of kids[node]!) {
      wide += columns[kid]!;
      high = Math.max(high, heights[kid]! + 1);
    }
    columns[node] = Math.max(1, wide);
    heights[node] = high;
  }
  // The tallest goes straight up, the others leave to the side: a shoot looks like one.
  for (const list of kids) list.sort((a, b) => heights[b]! - heights[a]! || columns[b]! - columns[a]! || a - b);
  // The project's own dependencies keep its order: development dependencies come last.
  if (kids[0])
    kids[0] = tree.out[0]!.filter((edge) => tree.home[answer(tree, edge)] === edge).map((edge) => answer(tree, edge));

  const order = descending(kids);
  const tiers = fitting(kids, columns, heights, aspect, pitch, level);
  // Shoots cannot be divided, so the aspect ratio is never exact. The remaining space goes between
  // them.
  const { across, up } = extent(tiers, pitch, level, gapOf(size));
  const stretch = (factor: number) => Math.min(MOST_STRETCH, Math.max(1, factor));
  return place(tree, kids, tiers, {
    pitch: pitch * stretch((up * aspect) / across),
    level: level * stretch(across / aspect / up),
    order,
  });
}

/** Few packages are far enough apart for their names, many are close. */
function distances(size: number): { pitch: number; level: number } {
  if (size <= 12) return { pitch: 120, level: 40 };
  if (size <= 60) return { pitch: 64, level: 32 };
  if (size <= 150) return { pitch: 44, level: 28 };
  if (size <= 400) return { pitch: 26, level: 30 };
  if (size <= 1_200) return { pitch: 16, level: 32 };
  return { pitch: 18, level: 20 };
}

function children(tree: Tree): number[][] {
  const kids: number[][] = tree.nodes.map(() => []);
  tree.home.forEach((edge, node) => {
    if (edge !== -1) kids[tree.edges[edge]!.from]!.push(node);
  });
  return kids;
}

function descending(kids: readonly (readonly number[])[]): number[] {
  const order = kids.length > 0 ? [0] : [];
  for (const node of order) for (const kid of kids[node]!) order.push(kid);
  return order;
}

/** The width of the wires that gives the drawing about the wanted aspect ratio. */
function fitting(
  kids: readonly (readonly number[])[],
  columns: Int32Array,
  heights: Int32Array,
  aspect: number,
  pitch: number,
  level: number,
): Tier[] {
  const gap = gapOf(kids.length);
  let [low, high] = [2, Math.max(4, columns[0] ?? 4)];
  let best: Tier[] = [];
  let largest = 0;
  // Shoots have all sizes, so a narrower wire does not always mean a higher drawing. The one that
  // is drawn largest is kept.
  for (let step = 0; step < 14 && low <= high; step += 1) {
    const width = Math.floor((low + high) / 2);
    const tiers = fill(items(kids, columns, heights, width), width);
    const { across, up } = extent(tiers, pitch, level, gap);
    const scale = Math.min(aspect / across, 1 / up);
    if (scale > largest) [best, largest] = [tiers, scale];
    if (across / up > aspect) high = width - 1;
    else low = width + 1;
  }
  return best;
}

function extent(tiers: readonly Tier[], pitch: number, level: number, gap: number): { across: number; up: number } {
  return {
    across: (Math.max(1, ...tiers.map(({ filled }) => 2 * Math.max(...filled))) + 2 * INDENT) * pitch,
    up: (tiers.reduce((sum, tier) => sum + tier.height + gap, 0) + gap) * level,
  };
}

/** The items of the wires, in order. Shoots that are too wide are split. */
function items(kids: readonly (readonly number[])[], columns: Int32Array, heights: Int32Array, width: number): Item[] {
  const list: Item[] = [];
  const stack = (kids[0] ?? []).map((node) => ({ node, base: 0, limb: -1 })).reverse();
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { node, base, limb } = next;
    const isHead = columns[node]! > width && kids[node]!.length > 1;
    list.push({ node, base, limb, isHead, columns: isHead ? 1 : columns[node]!, height: isHead ? 0 : heights[node]! });
    if (isHead) for (const kid of kids[node]!.toReversed()) stack.push({ node: kid, base: base + 1, limb: node });
  }
  return list;
}

/** Fills the tiers from the bottom upwards, each first to the right and then to the left. */
function fill(list: readonly Item[], width: number): Tier[] {
  const tiers: Tier[] = [];
  let tier: Tier | undefined;
  let side: 0 | 1 = 0;
  for (const item of list) {
    if (!tier || tier.filled[side] + item.columns > Math.max(width, item.columns)) {
      if (tier && side === 0) side = 1;
      else {
        tier = { sides: [[], []], filled: [0, 0], height: 1 };
        tiers.push(tier);
        side = 0;
      }
    }
    tier.sides[side].push(item);
    tier.filled[side] += item.columns;
    tier.height = Math.max(tier.height, item.base + item.height + 1);
  }
  return tiers;
}

function place(
  tree: Tree,
  kids: readonly (readonly number[])[],
  tiers: readonly Tier[],
  { pitch, level, order }: { pitch: number; level: number; order: readonly number[] },
): Espalier {
  const size = tree.nodes.length;
  const [x, y] = [new Float32Array(size).fill(Number.NaN), new Float32Array(size).fill(Number.NaN)];
  const parent = new Int32Array(size).fill(-1);
  tree.home.forEach((edge, node) => {
    if (edge !== -1) parent[node] = tree.edges[edge]!.from;
  });
  const wires: Wire[] = [];
  const columnsOf = (node: number): number => widths[node]!;
  const widths = new Int32Array(size);
  for (const node of [...order].reverse()) {
    widths[node] = Math.max(
      1,
      kids[node]!.reduce((sum, kid) => sum + widths[kid]!, 0),
    );
  }
  const grow = (root: number, column: number, height: number, direction: number, wire: number) => {
    const stack = [{ node: root, column, height }];
    for (let next = stack.pop(); next; next = stack.pop()) {
      x[next.node] = next.column * pitch * direction;
      y[next.node] = wire - next.height * level;
      let across = next.column;
      for (const kid of kids[next.node]!) {
        stack.push({ node: kid, column: across, height: next.height + 1 });
        across += columnsOf(kid);
      }
    }
  };

  if (size > 0) [x[0], y[0]] = [0, 0];
  const gap = gapOf(size);
  let up = -1.6 * level;
  let widest = 1;
  for (const tier of tiers) {
    const wire = up;
    tier.sides.forEach((side, index) => {
      if (side.length === 0) return;
      // Wires that only continue limbs start at the trunk's own wire.
      const lowest = Math.min(...side.map(({ base }) => base));
      const direction = index === 0 ? 1 : -1;
      let column = INDENT;
      const limbs = new Map<number, { from: number; to: number; base: number }>();
      for (const item of side) {
        if (item.isHead) {
          x[item.node] = column * pitch * direction;
          y[item.node] = wire - (item.base - lowest) * level;
          limbs.set(item.node, { from: column, to: column, base: item.base - lowest + 1 });
        } else grow(item.node, column, item.base - lowest, direction, wire);
        if (item.limb !== -1) {
          const limb = limbs.get(item.limb) ?? { from: INDENT / 2, to: column, base: item.base - lowest };
          limbs.set(item.limb, { ...limb, to: column });
        }
        column += item.columns;
      }
      widest = Math.max(widest, column);
      const last = side.findLast(({ base }) => base === lowest)!;
      wires.push({ y: wire, from: 0, to: x[last.node]!, limb: -1 });
      for (const [limb, { from, to, base }] of limbs) {
        if (base === 0 || to <= from) continue;
        wires.push({ y: wire - base * level, from: from * pitch * direction, to: to * pitch * direction, limb });
      }
    });
    up -= (tier.height + gap) * level;
  }
  const half = widest * pitch;
  const bounds = { left: -half, right: half, top: up + level, bottom: level };
  return { x, y, parent, order, wires, bounds, pitch, level };
}
