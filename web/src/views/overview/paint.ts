// Draws an espalier on a canvas: wires, branches, leaves, and last as many names as have room. The
// package below the pointer is highlighted on a canvas of its own, above the other.

import { isGraft } from '../../model/colour';
import type { Mark } from '../../model/diff';
import type { Tree } from '../../model/tree';
import { branchOf, hidden, pathTo, trunk as trunkLine, wires as wireLines } from './lines';
import { area, labels, measuring, moved, write, type Named } from './names';
import { Room } from './room';
import { DOT, extent, radius, stands, type Scene } from './scene';

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
  leaves(context, scene, scene.layout.order);
  if (scene.diff) marks(context, scene, scene.diff.marks);
  const { camera, layout, selected } = scene;
  if (selected !== undefined && stands(scene, selected)) ring(context, scene, selected, 2.5);
  const rested = scene.moving
    ? (before ?? { camera, layout, labels: [] })
    : { camera, layout, labels: labels(scene, measuring(context, scene)) };
  write(context, scene, moved(rested, camera, layout));
  return rested;
}

/**
 * Highlights the package below the pointer on an empty canvas. What the picture shows above its
 * path, which are leaves, signs of changes and some names, stays above it.
 */
export function paintPointed(
  context: CanvasRenderingContext2D,
  scene: Scene,
  pointed: number | undefined,
  named: Named | undefined,
): void {
  const { layout, camera, palette, width, height, selected, diff } = scene;
  context.clearRect(0, 0, width, height);
  if (pointed === undefined || pointed === selected || !stands(scene, pointed)) return;
  if (pointed > 0) {
    context.strokeStyle = palette.green;
    context.lineWidth = 1.75;
    context.beginPath();
    pathTo(context, scene, pointed);
    context.stroke();
    const path = new Room(width, height);
    pathTo(path, scene, pointed);
    const isCrossed = (node: number) => {
      const [x, y] = [camera.x + layout.x[node]! * camera.scale, camera.y + layout.y[node]! * camera.scale];
      if (x < -20 || y < -20 || x > width + 20 || y > height + 20) return false;
      const { top, bottom, side } = extent(scene, node);
      return !path.isFree({ left: x - side, right: x + side, top: y - top, bottom: y + bottom });
    };
    const crossed = layout.order.filter(isCrossed);
    leaves(context, scene, crossed);
    if (diff)
      marks(
        context,
        scene,
        crossed.flatMap((node) => (diff.marks.has(node) ? [[node, diff.marks.get(node)!] as const] : [])),
      );
    for (const label of named ? moved(named, camera, layout) : []) {
      if (label.isOver) context.clearRect(...area(label));
    }
  }
  ring(context, scene, pointed, 1.5);
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

/** Draws the path from the root to the selected package, and the edges that hoisting hides. */
function relations(context: CanvasRenderingContext2D, scene: Scene): void {
  const { palette, selected } = scene;
  if (selected === undefined || selected === 0 || !stands(scene, selected)) return;
  context.strokeStyle = palette.green;
  context.lineWidth = 2.5;
  context.setLineDash([]);
  context.beginPath();
  pathTo(context, scene, selected);
  context.stroke();
  context.lineWidth = 1;
  for (const [direction, dash] of [
    ['into', []],
    ['out', [3, 3]],
  ] as const) {
    context.setLineDash([...dash]);
    context.beginPath();
    for (const [x0, y0, x1, y1] of hidden(scene, selected, direction)) {
      const middle = (x0 + x1) / 2;
      context.moveTo(x0, y0);
      context.bezierCurveTo(middle, y0, middle, y1, x1, y1);
    }
    context.globalAlpha = 0.55;
    context.stroke();
    context.globalAlpha = 1;
  }
  context.setLineDash([]);
}

function leaves(context: CanvasRenderingContext2D, scene: Scene, shown: readonly number[]): void {
  const { tree, layout, coloured, palette, camera, width, height, found, present } = scene;
  const { scale } = camera;
  const batches = new Map<string, number[]>();
  for (const node of shown) {
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
}

function ring(context: CanvasRenderingContext2D, scene: Scene, node: number, line: number): void {
  const { layout, camera, palette } = scene;
  const [px, py] = [camera.x + layout.x[node]! * camera.scale, camera.y + layout.y[node]! * camera.scale];
  context.strokeStyle = palette.green;
  context.lineWidth = line;
  context.beginPath();
  context.arc(px, py, radius(scene, node) + 4, 0, 2 * Math.PI);
  context.stroke();
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

function marks(context: CanvasRenderingContext2D, scene: Scene, shown: Iterable<readonly [number, Mark]>): void {
  const { layout, camera, palette } = scene;
  context.lineWidth = 2;
  for (const [node, mark] of shown) {
    if (!stands(scene, node)) continue;
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
