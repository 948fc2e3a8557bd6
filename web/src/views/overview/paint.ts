// Draws an espalier on a canvas: wires, branches, leaves, and last as many names as have room.

import { isGraft } from '../../model/colour';
import type { Diff } from '../../model/diff';
import type { Tree } from '../../model/tree';
import { branchOf, hidden, pathTo, trunk as trunkLine, wires as wireLines } from './lines';
import { labels, measuring, moved, write, type Named } from './names';
import { DOT, radius, type Scene } from './scene';

/** The maximum number of segments in one path. Longer paths are slow to rasterise. */
const BATCH = 300;
const FAINT = 0.22;

/** `before` are the labels of the last picture. A picture that moves keeps them. */
export function paint(context: CanvasRenderingContext2D, scene: Scene, before?: Named): Named {
  const { width, height, palette } = scene;
  context.fillStyle = palette.paper;
  context.fillRect(0, 0, width, height);
  wires(context, scene);
  branches(context, scene);
  relations(context, scene);
  leaves(context, scene);
  const { camera, layout } = scene;
  const rested = scene.moving
    ? (before ?? { camera, layout, labels: [] })
    : { camera, layout, labels: labels(scene, measuring(context, scene)) };
  write(context, scene, moved(rested, camera, layout));
  return rested;
}

function wires(context: CanvasRenderingContext2D, scene: Scene): void {
  const { camera, palette, present } = scene;
  context.strokeStyle = present ? palette.wire : palette['line-strong'];
  context.lineCap = 'round';
  context.lineWidth = Math.max(1.5, Math.min(5, 4 * camera.scale));
  context.beginPath();
  trunkLine(context, scene);
  context.stroke();
  context.lineWidth = Math.max(1, Math.min(2, 1.6 * camera.scale));
  context.beginPath();
  wireLines(context, scene);
  context.stroke();
}

function branches(context: CanvasRenderingContext2D, scene: Scene): void {
  const { layout, camera, palette, found } = scene;
  context.strokeStyle = palette.wire;
  context.globalAlpha = found ? 0.5 : 1;
  context.lineWidth = Math.max(0.75, Math.min(1.4, camera.scale));
  let count = 0;
  context.beginPath();
  for (const node of layout.order) {
    if (!branchOf(context, scene, node)) continue;
    count += 1;
    if (count % BATCH === 0) {
      context.stroke();
      context.beginPath();
    }
  }
  context.stroke();
  context.globalAlpha = 1;
}

/**
 * Draws the path from the root to the selected or pointed package, and the edges that hoisting
 * hides.
 */
function relations(context: CanvasRenderingContext2D, scene: Scene): void {
  const { layout, palette, selected, hovered, present } = scene;
  const draw = (node: number, isStrong: boolean) => {
    if (Number.isNaN(layout.x[node]!) || present?.has(node) === false) return;
    context.strokeStyle = palette.green;
    context.lineWidth = isStrong ? 2.5 : 1.75;
    context.setLineDash([]);
    context.beginPath();
    pathTo(context, scene, node);
    context.stroke();
    if (!isStrong) return;
    context.lineWidth = 1;
    for (const [direction, dash] of [
      ['into', []],
      ['out', [3, 3]],
    ] as const) {
      context.setLineDash([...dash]);
      context.beginPath();
      for (const [x0, y0, x1, y1] of hidden(scene, node, direction)) {
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
  } else if (r < DOT) context.rect(x - r, y - r, 2 * r, 2 * r);
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
}
