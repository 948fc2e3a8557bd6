// The lines of an espalier: where wires and branches go. A canvas draws them, and names keep clear
// of them.

import type { Espalier } from '../../model/espalier';
import { answer } from '../../model/tree';
import type { Camera, Scene } from './scene';

/** What follows a line: the path of a canvas, or the room that names have. */
export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
}

export function trunk(pen: Pen, { layout, camera }: Scene): void {
  const { x, y, scale } = camera;
  const top = trunkTop(layout);
  if (top === undefined) return;
  pen.moveTo(x, y);
  pen.lineTo(x, y + top * scale);
}

/** Where the trunk ends. A project without dependencies has none, because there is nothing to carry. */
export function trunkTop({ wires, level }: Espalier): number | undefined {
  const top = Math.min(0, ...wires.filter(({ limb }) => limb === -1).map(({ y }) => y));
  return top === 0 ? undefined : top + level * 0.5;
}

export function wires(pen: Pen, { layout, camera }: Scene): void {
  const { x, y, scale } = camera;
  for (const wire of layout.wires) {
    const [at, to] = [y + wire.y * scale, x + wire.to * scale];
    const bend = layout.level * 0.5 * scale * Math.sign(wire.to || 1);
    if (wire.limb === -1) {
      pen.moveTo(x, at + Math.abs(bend));
      pen.lineTo(x + bend, at);
    } else {
      pen.moveTo(x + wire.from * scale, at + Math.min(layout.level * scale, Math.abs(bend) * 2));
      pen.lineTo(x + wire.from * scale + bend * 0.6, at);
    }
    pen.lineTo(to, at);
  }
}

/** Follows the branch of a package from its parent, if it has one that can be seen. */
export function branchOf(pen: Pen, { layout, camera, width, height, present }: Scene, node: number): boolean {
  const from = layout.parent[node]!;
  if (from <= 0 || present?.has(node) === false || !hangs(layout, node)) return false;
  const [x0, y0, x1, y1] = ends(layout, camera, from, node);
  if (Math.max(x0, x1) < 0 || Math.min(x0, x1) > width || y0 < 0 || y1 > height) return false;
  branch(pen, x0, y0, x1, y1);
  return true;
}

/** Whether a package is drawn on a branch from its parent. Those of limbs are on wires. */
export function hangs(layout: Espalier, node: number): boolean {
  const from = layout.parent[node]!;
  if (from <= 0) return false;
  const isNext = Math.abs(layout.y[from]! - layout.level - layout.y[node]!) < 0.5;
  return isNext && !limbs(layout).has(from);
}

const known = new WeakMap<Espalier, Set<number>>();

function limbs(layout: Espalier): Set<number> {
  let set = known.get(layout);
  if (!set) known.set(layout, (set = new Set(layout.wires.map(({ limb }) => limb))));
  return set;
}

export function ends(
  layout: Espalier,
  { x, y, scale }: Camera,
  from: number,
  to: number,
): [number, number, number, number] {
  return [
    x + layout.x[from]! * scale,
    y + layout.y[from]! * scale,
    x + layout.x[to]! * scale,
    y + layout.y[to]! * scale,
  ];
}

/** Follows a branch: along the level of the parent, and up with a small chamfer. */
export function branch(pen: Pen, x0: number, y0: number, x1: number, y1: number): void {
  pen.moveTo(x0, y0);
  if (Math.abs(x1 - x0) > 0.5) {
    const chamfer = Math.min(Math.abs(x1 - x0), Math.abs(y1 - y0) * 0.5) * Math.sign(x1 - x0);
    pen.lineTo(x1 - chamfer, y0);
    pen.lineTo(x1, y0 - Math.abs(chamfer));
  }
  pen.lineTo(x1, y1);
}

/** Follows the path from the root to a package. */
export function pathTo(pen: Pen, scene: Scene, node: number): void {
  const { layout, camera } = scene;
  for (let at = node; at > 0; at = layout.parent[at]!) {
    const from = layout.parent[at]!;
    if (from < 0) break;
    if (from > 0 && hangs(layout, at)) branch(pen, ...ends(layout, camera, from, at));
    else if (follows(layout, from, at)) along(pen, ...ends(layout, camera, from, at));
    else wireTo(pen, scene, at);
  }
}

/**
 * Whether a package is on the wire that begins at its parent, a limb. The limb may continue on
 * another wire.
 */
function follows(layout: Espalier, from: number, node: number): boolean {
  const isNext = Math.abs(layout.y[from]! - layout.level - layout.y[node]!) < 0.5;
  return from > 0 && isNext && layout.x[node]! / layout.x[from]! >= 1;
}

/** Follows a limb: up from its own package, and along its wire. */
function along(pen: Pen, x0: number, y0: number, x1: number, y1: number): void {
  const chamfer = Math.min(Math.abs(x1 - x0), Math.abs(y1 - y0) * 0.5) * Math.sign(x1 - x0);
  pen.moveTo(x0, y0);
  pen.lineTo(x0, y1 + Math.abs(chamfer));
  pen.lineTo(x0 + chamfer, y1);
  pen.lineTo(x1, y1);
}

/** Follows the trunk and a wire. */
function wireTo(pen: Pen, { layout, camera }: Scene, node: number): void {
  const { x, y, scale } = camera;
  const [to, at] = [x + layout.x[node]! * scale, y + layout.y[node]! * scale];
  const bend = layout.level * 0.5 * scale * Math.sign(layout.x[node]! || 1);
  pen.moveTo(x, y);
  pen.lineTo(x, at + Math.abs(bend));
  pen.lineTo(x + bend, at);
  pen.lineTo(to, at);
}

/** The most edges of one package that are drawn. */
const MOST_EDGES = 400;

/** The edges that hoisting hides: from dependents, or to dependencies. They are curves. */
export function hidden(
  { tree, layout, camera, present }: Scene,
  node: number,
  direction: 'into' | 'out',
): [x0: number, y0: number, x1: number, y1: number][] {
  return tree[direction][node]!.slice(0, MOST_EDGES).flatMap((edge) => {
    const other = direction === 'out' ? answer(tree, edge) : tree.edges[edge]!.from;
    if (other <= 0 || layout.parent[node] === other || layout.parent[other] === node) return [];
    if (Number.isNaN(layout.x[other]!) || present?.has(other) === false) return [];
    return [ends(layout, camera, other, node)];
  });
}
