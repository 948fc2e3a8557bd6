// Draws an espalier on a canvas: wires, branches, leaves, and last as many names as have room.

import { isGraft } from '../../model/colour';
import type { Diff } from '../../model/diff';
import type { Espalier } from '../../model/espalier';
import { answer, type Tree } from '../../model/tree';
import { names } from './names';
import { radius, type Camera, type Scene } from './scene';

/** The maximum number of segments in one path. Longer paths are slow to rasterise. */
const BATCH = 300;
const FAINT = 0.22;

export function paint(context: CanvasRenderingContext2D, scene: Scene): void {
  const { width, height, palette } = scene;
  context.fillStyle = palette.paper;
  context.fillRect(0, 0, width, height);
  wires(context, scene);
  branches(context, scene);
  relations(context, scene);
  leaves(context, scene);
  if (!scene.moving) names(context, scene);
}

function wires(context: CanvasRenderingContext2D, { layout, camera, palette, present }: Scene): void {
  const { x, y, scale } = camera;
  const trunk = Math.max(1.5, Math.min(5, 4 * scale));
  context.strokeStyle = present ? palette.wire : palette['line-strong'];
  context.lineCap = 'round';
  const top = Math.min(0, ...layout.wires.filter(({ limb }) => limb === -1).map((wire) => wire.y));
  context.lineWidth = trunk;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x, y + (top + layout.level * 0.5) * scale);
  context.stroke();
  context.lineWidth = Math.max(1, Math.min(2, 1.6 * scale));
  context.beginPath();
  for (const wire of layout.wires) {
    const [at, to] = [y + wire.y * scale, x + wire.to * scale];
    const bend = layout.level * 0.5 * scale * Math.sign(wire.to || 1);
    if (wire.limb === -1) {
      context.moveTo(x, at + Math.abs(bend));
      context.lineTo(x + bend, at);
    } else {
      context.moveTo(x + wire.from * scale, at + Math.min(layout.level * scale, Math.abs(bend) * 2));
      context.lineTo(x + wire.from * scale + bend * 0.6, at);
    }
    context.lineTo(to, at);
  }
  context.stroke();
}

function branches(context: CanvasRenderingContext2D, scene: Scene): void {
  const { layout, camera, palette, width, height, found, present } = scene;
  const { scale } = camera;
  context.strokeStyle = palette.wire;
  context.globalAlpha = found ? 0.5 : 1;
  context.lineWidth = Math.max(0.75, Math.min(1.4, scale));
  let count = 0;
  context.beginPath();
  for (const node of layout.order) {
    const from = layout.parent[node]!;
    if (from <= 0 || (present && !present.has(node)) || !hangs(layout, node)) continue;
    const [x0, y0, x1, y1] = ends(layout, camera, from, node);
    if (Math.max(x0, x1) < 0 || Math.min(x0, x1) > width || y0 < 0 || y1 > height) continue;
    branch(context, x0, y0, x1, y1);
    count += 1;
    if (count % BATCH === 0) {
      context.stroke();
      context.beginPath();
    }
  }
  context.stroke();
  context.globalAlpha = 1;
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

function ends(layout: Espalier, { x, y, scale }: Camera, from: number, to: number): [number, number, number, number] {
  return [
    x + layout.x[from]! * scale,
    y + layout.y[from]! * scale,
    x + layout.x[to]! * scale,
    y + layout.y[to]! * scale,
  ];
}

/** Draws a branch: along the level of the parent, and up with a small chamfer. */
function branch(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  context.moveTo(x0, y0);
  if (Math.abs(x1 - x0) > 0.5) {
    const chamfer = Math.min(Math.abs(x1 - x0), Math.abs(y1 - y0) * 0.5) * Math.sign(x1 - x0);
    context.lineTo(x1 - chamfer, y0);
    context.lineTo(x1, y0 - Math.abs(chamfer));
  }
  context.lineTo(x1, y1);
}

/**
 * Draws the path from the root to the selected or pointed package, and the edges that hoisting
 * hides.
 */
function relations(context: CanvasRenderingContext2D, scene: Scene): void {
  const { tree, layout, camera, palette, selected, hovered, present } = scene;
  const stands = (node: number) => !Number.isNaN(layout.x[node]!) && present?.has(node) !== false;
  const draw = (node: number, isStrong: boolean) => {
    if (!stands(node)) return;
    context.strokeStyle = palette.green;
    context.lineWidth = isStrong ? 2.5 : 1.75;
    context.setLineDash([]);
    context.beginPath();
    for (let at = node; at > 0; at = layout.parent[at]!) {
      const from = layout.parent[at]!;
      if (from < 0) break;
      if (from > 0 && hangs(layout, at)) branch(context, ...ends(layout, camera, from, at));
      else if (follows(layout, from, at)) along(context, ...ends(layout, camera, from, at));
      else wireTo(context, scene, at);
    }
    context.stroke();
    if (!isStrong) return;
    context.lineWidth = 1;
    for (const [edges, dash] of [
      [tree.into[node]!, []],
      [tree.out[node]!, [3, 3]],
    ] as const) {
      context.setLineDash([...dash]);
      context.beginPath();
      for (const edge of edges.slice(0, 400)) {
        const other = dash.length > 0 ? answer(tree, edge) : tree.edges[edge]!.from;
        if (other <= 0 || layout.parent[node] === other || layout.parent[other] === node) continue;
        if (!stands(other)) continue;
        const [x0, y0, x1, y1] = ends(layout, camera, other, node);
        const middle = (x0 + x1) / 2;
        context.moveTo(x0, y0);
        context.bezierCurveTo(middle, y0, middle, y1, x1, y1);
      }
      context.globalAlpha = 0.55;
      context.stroke();
      context.globalAlpha = 1;
    }
    context.setLineDash([]);
  };
  if (hovered !== undefined && hovered > 0 && hovered !== selected) draw(hovered, false);
  if (selected !== undefined && selected > 0) draw(selected, true);
}

/**
 * Whether a package is on the wire that begins at its parent, a limb. The limb may continue on
 * another wire.
 */
function follows(layout: Espalier, from: number, node: number): boolean {
  const isNext = Math.abs(layout.y[from]! - layout.level - layout.y[node]!) < 0.5;
  return from > 0 && isNext && layout.x[node]! / layout.x[from]! >= 1;
}

/** Draws a limb: up from its own package, and along its wire. */
function along(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  const chamfer = Math.min(Math.abs(x1 - x0), Math.abs(y1 - y0) * 0.5) * Math.sign(x1 - x0);
  context.moveTo(x0, y0);
  context.lineTo(x0, y1 + Math.abs(chamfer));
  context.lineTo(x0 + chamfer, y1);
  context.lineTo(x1, y1);
}

/** Draws a path from the trunk along the wire. */
function wireTo(context: CanvasRenderingContext2D, { layout, camera }: Scene, node: number): void {
  const { x, y, scale } = camera;
  const [to, at] = [x + layout.x[node]! * scale, y + layout.y[node]! * scale];
  const bend = layout.level * 0.5 * scale * Math.sign(layout.x[node]! || 1);
  context.moveTo(x, y);
  context.lineTo(x, at + Math.abs(bend));
  context.lineTo(x + bend, at);
  context.lineTo(to, at);
}

function leaves(context: CanvasRenderingContext2D, scene: Scene): void {
  const { tree, layout, coloured, palette, camera, width, height, found, present, diff, selected, hovered } = scene;
  const { scale } = camera;
  const batches = new Map<string, number[]>();
  for (const node of layout.order) {
    if (present && !present.has(node)) continue;
    const [px, py] = [camera.x + layout.x[node]! * scale, camera.y + layout.y[node]! * scale];
    if (px < -20 || py < -20 || px > width + 20 || py > height + 20) continue;
    const isFound = !found || found.has(node);
    const key = node === 0 ? 'ink' : coloured.classes[coloured.of[node]!]!.colour;
    const batch = `${isFound ? '' : '-'}${key}`;
    const list = batches.get(batch);
    if (list) list.push(node);
    else batches.set(batch, [node]);
  }
  for (const [batch, nodes] of batches) {
    const isFaint = batch.startsWith('-');
    context.fillStyle = palette[(isFaint ? batch.slice(1) : batch) as 'ink'];
    context.globalAlpha = isFaint ? FAINT : 1;
    context.beginPath();
    nodes.forEach((node, index) => {
      const [px, py] = [camera.x + layout.x[node]! * scale, camera.y + layout.y[node]! * scale];
      leaf(context, tree, node, px, py, radius(scene, node));
      if (index % BATCH === BATCH - 1) {
        context.fill();
        context.beginPath();
      }
    });
    context.fill();
  }
  context.globalAlpha = 1;
  if (diff) marks(context, scene, diff);
  for (const [node, line] of [
    [hovered, 1.5],
    [selected, 2.5],
  ] as const) {
    if (node === undefined || Number.isNaN(layout.x[node]!) || present?.has(node) === false) continue;
    const [px, py] = [camera.x + layout.x[node]! * scale, camera.y + layout.y[node]! * scale];
    context.strokeStyle = palette.green;
    context.lineWidth = line;
    context.beginPath();
    context.arc(px, py, radius(scene, node) + 4, 0, 2 * Math.PI);
    context.stroke();
  }
}

/**
 * Draws a package: a leaf if it is hoisted, a diamond if it is inside of another package, or a dot
 * if it is too small for either.
 */
function leaf(context: CanvasRenderingContext2D, tree: Tree, node: number, x: number, y: number, r: number): void {
  const isSpecial = node > 0 && isGraft(tree.nodes[node]!.location);
  if (isSpecial) {
    const d = r * 1.35;
    context.moveTo(x, y - d);
    context.lineTo(x + d, y);
    context.lineTo(x, y + d);
    context.lineTo(x - d, y);
    context.closePath();
  } else if (r < 1.6) context.rect(x - r, y - r, 2 * r, 2 * r);
  else if (node === 0) {
    context.moveTo(x + r, y);
    context.arc(x, y, r, 0, 2 * Math.PI);
  } else {
    const [bottom, tip] = [y + r, y - 1.5 * r];
    context.moveTo(x, bottom);
    context.bezierCurveTo(x + 1.5 * r, y + 0.7 * r, x + 1.1 * r, y - 0.7 * r, x, tip);
    context.bezierCurveTo(x - 1.1 * r, y - 0.7 * r, x - 1.5 * r, y + 0.7 * r, x, bottom);
  }
}

function marks(context: CanvasRenderingContext2D, scene: Scene, diff: Diff): void {
  const { layout, camera, palette, present } = scene;
  const stands = (node: number) => !Number.isNaN(layout.x[node]!) && present?.has(node) !== false;
  context.lineWidth = 2;
  for (const [node, mark] of diff.marks) {
    if (!stands(node)) continue;
    const [px, py] = [camera.x + layout.x[node]! * camera.scale, camera.y + layout.y[node]! * camera.scale];
    const r = radius(scene, node) + 3;
    context.strokeStyle = mark === 'added' ? palette.green : palette.ochre;
    context.beginPath();
    context.moveTo(px - r, py);
    context.lineTo(px + r, py);
    if (mark === 'added') {
      context.moveTo(px, py - r);
      context.lineTo(px, py + r);
    } else context.arc(px, py, r, 0, 2 * Math.PI);
    context.stroke();
  }
  context.font = `bold 11px ${palette.mono}`;
  context.textBaseline = 'middle';
  context.lineWidth = 4;
  context.strokeStyle = palette.paper;
  context.fillStyle = palette.rust;
  const taken: [x: number, y: number][] = [];
  for (const [node, places] of diff.gone) {
    if (!stands(node)) continue;
    const [px, py] = [camera.x + layout.x[node]! * camera.scale, camera.y + layout.y[node]! * camera.scale];
    // The project's name is on its right.
    const isRoot = node === 0;
    context.textAlign = isRoot ? 'right' : 'left';
    const x = px + (radius(scene, node) + 4) * (isRoot ? -1 : 1);
    let y = py + (isRoot ? 4 : 8);
    // The figures of neighbouring packages are stacked.
    while (taken.some(([left, top]) => Math.abs(left - x) < 24 && Math.abs(top - y) < 12)) y += 12;
    taken.push([x, y]);
    context.strokeText(`−${places.length}`, x, y);
    context.fillText(`−${places.length}`, x, y);
  }
  context.textAlign = 'left';
}
