// The tree as a map: the area of a package is the size of everything that would go with it.
// Packages that only it needs are inside of it, so nothing is counted twice. Squarified, after
// Bruls, Huizing and van Wijk.

import { analyze, bytesOf } from './analysis';
import type { Tree } from './tree';

export interface Area {
  readonly node: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  /** The space for a name above the inner boxes. */
  readonly header: number;
  /** The space of the package's own files, beside the inner boxes. */
  readonly own?: Box;
}

export type Measure = 'bytes' | 'packages';

/** Smaller areas, and everything inside of them, are not drawn. */
const LEAST = 3;
const HEADER = 18;
const MARGIN = 2;

export function treemap(tree: Tree, measure: Measure, width: number, height: number): Area[] {
  const { dominated, only, onlyBytes } = analyze(tree);
  const whole = (node: number) => (measure === 'bytes' ? onlyBytes[node]! : only[node]!);
  const own = (node: number) => (measure === 'bytes' ? bytesOf(tree, node) : 1);
  const areas: Area[] = [];
  const stack = [{ node: 0, x: 0, y: 0, width, height, depth: 0 }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { node, x, y, depth } = next;
    const inner = (dominated[node] ?? []).filter((kid) => whole(kid) > 0).sort((a, b) => whole(b) - whole(a));
    const hasHeader = depth > 0 && inner.length > 0 && next.height > 2.2 * HEADER && next.width > 44;
    const header = hasHeader ? HEADER : 0;
    if (inner.length === 0) {
      if (node !== 0) areas.push({ ...next, header });
      continue;
    }
    const margin = depth === 0 ? 0 : MARGIN;
    const box = {
      x: x + margin,
      y: y + header + margin,
      width: next.width - 2 * margin,
      height: next.height - header - 2 * margin,
    };
    // The weight of the package itself stays free beside the inner boxes.
    const weights = inner.map(whole);
    const rest = depth === 0 ? 0 : own(node);
    const places = squarify([...weights, rest], box);
    if (node !== 0) areas.push({ ...next, header, own: places.at(-1)! });
    for (const [index, place] of places.entries()) {
      if (index === inner.length || place.width < LEAST || place.height < LEAST) continue;
      stack.push({ node: inner[index]!, depth: depth + 1, ...place });
    }
  }
  return areas;
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Boxes for weights, the largest first. A last weight out of order gets the rest. */
export function squarify(weights: readonly number[], { x, y, width, height }: Box): Box[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const boxes: Box[] = [];
  if (total <= 0 || width <= 0 || height <= 0) return weights.map(() => ({ x, y, width: 0, height: 0 }));
  const scale = (width * height) / total;
  let at = 0;
  while (at < weights.length) {
    const side = Math.min(width, height);
    let [end, sum] = [at + 1, weights[at]!];
    let worst = ratio(sum, weights[at]!, weights[at]!, side, scale);
    while (end < weights.length) {
      const next = sum + weights[end]!;
      const low = Math.min(weights[at]!, weights[end]!);
      const now = ratio(next, Math.max(weights[at]!, weights[end]!), low, side, scale);
      if (now > worst) break;
      [worst, sum, end] = [now, next, end + 1];
    }
    const thick = side > 0 ? (sum * scale) / side : 0;
    let along = 0;
    for (let index = at; index < end; index += 1) {
      const long = sum > 0 ? (weights[index]! / sum) * side : 0;
      boxes.push(
        width >= height
          ? { x, y: y + along, width: thick, height: long }
          : { x: x + along, y, width: long, height: thick },
      );
      along += long;
    }
    if (width >= height) [x, width] = [x + thick, Math.max(0, width - thick)];
    else [y, height] = [y + thick, Math.max(0, height - thick)];
    at = end;
  }
  return boxes;
}

/** The worst aspect ratio in a row of boxes. */
function ratio(sum: number, most: number, least: number, side: number, scale: number): number {
  const [area, square] = [sum * scale, side * side];
  return Math.max((square * most * scale) / (area * area), (area * area) / (square * Math.max(least * scale, 1e-9)));
}
