// Places names on the overview, as on a map: the most important first, and none over another mark.
// Names of the project's own dependencies are below their wire, where nothing grows. If neighbours
// have no room beside each other, their names are stacked, with a line to each leaf. Other names
// are next to their leaf. A name that has no room is left out.

import type { Tree } from '../../model/tree';
import { title } from '../words';
import { branchOf, hidden, pathTo, trunkTop, wires } from './lines';
import { Room, type Box } from './room';
import { extent, stands, type Camera, type Scene } from './scene';

const FONT = 11;
/** Half the height of a name. */
const HALF = 6;
/** The distance between a leaf and its name. */
const GAP = 3;
/** The space around a name. */
const AROUND = 3;
const ROW = 14;
/** The number of names that are stacked below a wire. */
const STACK = 4;
/** How far a name that was asked for may be from its leaf. */
const FAR = 9;
const MOST = 420;
/** Leaves that are closer than this have no room for their names. */
const BETWEEN = 10;
/** Columns that are wider than this have room for versions. */
const WIDE = 110;
/** The distance between a name and the edge of the canvas. */
const EDGE = 4;
/** The ranks: always named, changed or found, direct dependencies. */
const [ALWAYS, ROOT, GONE, MARKED, FOUND, DIRECT] = [1e8, 5e7, 4e7, 1e7, 1e6, 1e5];

export interface Label {
  readonly text: string;
  readonly x: number;
  /** The middle of the line. */
  readonly y: number;
  readonly wide: number;
  readonly colour: 'green' | 'ink' | 'ink-soft' | 'rust';
  readonly isBold: boolean;
  /** A line to the leaf, if the label is away from it. */
  readonly leader: Leader | undefined;
  /** Whether other marks are below the label. */
  readonly isOver: boolean;
}

interface Leader {
  readonly x: number;
  readonly from: number;
  readonly to: number;
}

/** The labels of a picture, which move with it. */
export interface Named {
  readonly camera: Camera;
  readonly layout: Scene['layout'];
  readonly labels: readonly Label[];
}

export type Measure = (text: string, isBold: boolean) => number;

type Spot = Pick<Label, 'x' | 'y'> & { readonly leader?: Leader };

/** The labels of a picture at rest. */
export function labels(scene: Scene, measure: Measure): Label[] {
  const { tree, layout, camera, width, height, selected, diff } = scene;
  const room = new Room(width, height);
  /** The labels alone. */
  const written = new Room(width, height);
  const visible = occupy(room, scene);
  const placed: Label[] = [];
  const take = (rank: number, texts: readonly string[], spots: (wide: number) => Iterable<Spot>, look: Look) => {
    // In a dense place, the line to the selection crosses leaves rather than being left out.
    const lines = rank >= ALWAYS ? written : room;
    for (const text of texts) {
      const wide = measure(text, look.isBold);
      for (const { x, y, leader } of spots(wide)) {
        const isInside = x >= EDGE && x + wide <= width - EDGE && y - HALF >= 0 && y + HALF <= height;
        if (!isInside || !room.isFree(box(x, y, wide)) || (leader && !lines.isFree(line(leader)))) continue;
        return put({ text, x, y, wide, leader, isOver: false, ...look });
      }
    }
    if (rank < GONE) return;
    // Some labels are there also if nothing is free, but never over another one.
    const text = texts[0]!;
    const wide = measure(text, look.isBold);
    const inside = ({ x, y }: Spot) => ({
      x: Math.max(EDGE, Math.min(width - EDGE - wide, x)),
      y: Math.max(HALF, Math.min(height - HALF, y)),
    });
    const places = [...spots(wide)].map(inside);
    const place = places.find(({ x, y }) => written.isFree(box(x, y, wide)));
    if (place) put({ text, ...place, wide, leader: undefined, isOver: true, ...look });
  };
  const put = (label: Label) => {
    room.block(box(label.x, label.y, label.wide));
    written.block(box(label.x, label.y, label.wide));
    if (label.leader) room.block(line(label.leader));
    placed.push(label);
  };

  const ranked = visible.map((node) => [rankOf(scene, node), node] as const).filter(([rank]) => rank >= 0);
  for (const [node] of diff?.gone ?? []) if (stands(scene, node)) ranked.push([GONE, node]);
  ranked.sort((a, b) => b[0] - a[0]);
  for (const [rank, node] of ranked) {
    if (placed.length >= MOST) break;
    if (rank === GONE) {
      const text = `−${diff!.gone.get(node)!.length}`;
      take(rank, [text], (wide) => besides(scene, node, wide), { colour: 'rust', isBold: true });
      continue;
    }
    const isDirect = layout.parent[node] === 0;
    if (rank < MARKED && !isDirect && layout.level * camera.scale < BETWEEN) continue;
    const spots = (wide: number) => spotsOf(scene, node, wide, rank >= FOUND && node !== 0);
    const colour = node === selected ? 'green' : isDirect || node === 0 ? 'ink' : 'ink-soft';
    take(rank, texts(tree, node, camera.scale * layout.pitch), spots, { colour, isBold: false });
  }
  return placed;
}

type Look = Pick<Label, 'colour' | 'isBold'>;

/** The labels of a picture that moves: those of the last one at rest, if only its position differs. */
export function moved({ camera, layout, labels }: Named, to: Camera, of: Scene['layout']): Label[] {
  if (camera.scale !== to.scale || layout !== of) return [];
  const [dx, dy] = [to.x - camera.x, to.y - camera.y];
  return labels.map((label) => ({
    ...label,
    x: label.x + dx,
    y: label.y + dy,
    leader: label.leader && { x: label.leader.x + dx, from: label.leader.from + dy, to: label.leader.to + dy },
  }));
}

export function write(context: CanvasRenderingContext2D, { palette }: Scene, list: readonly Label[]): void {
  context.textBaseline = 'middle';
  context.lineJoin = 'round';
  context.lineWidth = 1;
  for (const { leader, colour } of list) {
    if (!leader) continue;
    context.strokeStyle = palette[colour === 'green' ? 'green' : 'line-strong'];
    context.beginPath();
    context.moveTo(Math.floor(leader.x) + 0.5, leader.from);
    context.lineTo(Math.floor(leader.x) + 0.5, leader.to);
    context.stroke();
  }
  for (const label of list) {
    const { text, x, y, colour, isBold, isOver } = label;
    if (isOver) {
      context.fillStyle = palette.paper;
      context.fillRect(...area(label));
    }
    context.font = font(palette.mono, isBold);
    context.fillStyle = palette[colour];
    context.fillText(text, x, y);
  }
}

/** The area that a label has to itself if it is over other marks. */
export function area({ x, y, wide }: Label): [x: number, y: number, width: number, height: number] {
  return [x - AROUND, y - HALF - 1, wide + 2 * AROUND, 2 * HALF + 2];
}

const measured = new Map<string, number>();

export function measuring(context: CanvasRenderingContext2D, { palette }: Scene): Measure {
  return (text, isBold) => {
    const name = font(palette.mono, isBold);
    const key = `${name} ${text}`;
    let wide = measured.get(key);
    if (wide === undefined) {
      context.font = name;
      measured.set(key, (wide = context.measureText(text).width));
    }
    return wide;
  };
}

function font(mono: string, isBold: boolean): string {
  return `${isBold ? 'bold ' : ''}${FONT}px ${mono}`;
}

/** Marks everything that is drawn, and returns the packages whose leaves are visible. */
function occupy(room: Room, scene: Scene): number[] {
  const { layout, camera, width, height, selected, diff } = scene;
  const top = camera.y + (trunkTop(layout) ?? 0) * camera.scale;
  room.block({ left: camera.x - 3, right: camera.x + 3, top, bottom: camera.y });
  wires(room, scene);
  const visible = layout.order.filter((node) => {
    if (!stands(scene, node)) return false;
    branchOf(room, scene, node);
    const [x, y] = [camera.x + layout.x[node]! * camera.scale, camera.y + layout.y[node]! * camera.scale];
    const { top, bottom, side } = extent(scene, node);
    // Signs of changes, and the ring of the selection.
    const more = node === selected ? 6 : diff?.marks.has(node) ? 4 : 0;
    if (x + side < 0 || x - side > width || y + bottom < 0 || y - top > height) return false;
    room.block({ left: x - side - more, right: x + side + more, top: y - top - more, bottom: y + bottom + more });
    return true;
  });
  if (selected !== undefined && selected > 0 && stands(scene, selected)) {
    pathTo(room, scene, selected);
    for (const direction of ['into', 'out'] as const) {
      for (const ends of hidden(scene, selected, direction)) curve(room, ...ends);
    }
  }
  return visible;
}

const PARTS = 24;

/** The same curve as `bezierCurveTo` draws for a hidden edge. */
function curve(room: Room, x0: number, y0: number, x1: number, y1: number): void {
  const middle = (x0 + x1) / 2;
  room.moveTo(x0, y0);
  for (let part = 1; part <= PARTS; part += 1) {
    const t = part / PARTS;
    const [a, b, c, d] = [(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t ** 2, t ** 3];
    room.lineTo(a * x0 + (b + c) * middle + d * x1, (a + b) * y0 + (c + d) * y1);
  }
}

function rankOf({ tree, layout, selected, found, diff }: Scene, node: number): number {
  const weight = Math.min(9e4, tree.below[node]! * 10);
  if (node === selected) return ALWAYS + weight;
  // The name of a direct dependency gives way to a name that was searched for.
  if (node === 0) return ROOT;
  if (diff?.marks.has(node)) return MARKED + weight;
  if (found) return found.has(node) ? FOUND + weight : -1;
  return (layout.parent[node] === 0 ? DIRECT : 0) + weight;
}

/** The places for a name, the best first. */
function* spotsOf(scene: Scene, node: number, wide: number, isWanted: boolean): Generator<Spot> {
  const { layout, camera } = scene;
  const [x, y] = [camera.x + layout.x[node]! * camera.scale, camera.y + layout.y[node]! * camera.scale];
  const { top, bottom, side } = extent(scene, node);
  const isLeft = layout.x[node]! < 0;
  /** From a point before the leaf away from the trunk, and the other way round. */
  const outwards = (before: number) => (isLeft ? x + before - wide : x - before);
  const inwards = (before: number) => (isLeft ? x - before : x + before - wide);
  if (node === 0) {
    yield { x: x - wide / 2, y: y + bottom + GAP + HALF };
    for (const at of [x + side + 6, x - side - 6 - wide]) yield { x: at, y };
    return;
  }
  /** Beyond the ring of the selection and the sign of a change. */
  const ring = node === scene.selected || scene.diff?.marks.has(node) ? 4 : 0;
  const [above, below] = [y - top - ring - GAP - HALF, y + bottom + ring + GAP + HALF];
  if (layout.parent[node] === 0) {
    for (const at of [outwards(side), outwards(-4), inwards(side), x - wide / 2]) yield { x: at, y: below };
    yield* stacked(1, STACK);
  }
  for (const at of [outwards(side), outwards(-4), inwards(side), inwards(-4)]) yield { x: at, y: above };
  const [right, left] = [x + side + ring + 4, x - side - ring - 4 - wide];
  for (const at of isLeft ? [left, right] : [right, left]) yield { x: at, y };
  for (const at of [outwards(-4), inwards(-4)]) yield { x: at, y: below };
  if (isWanted) yield* stacked(1, FAR);

  function* stacked(from: number, to: number): Generator<Spot> {
    for (let row = from; row < to; row += 1) {
      for (const at of [outwards(AROUND), inwards(AROUND), x - wide / 2]) {
        const low = below + row * ROW;
        yield { x: at, y: low, leader: { x, from: y + bottom + ring + 1, to: low - HALF - 1 } };
        if (!isWanted) continue;
        const high = above - row * ROW;
        yield { x: at, y: high, leader: { x, from: high + HALF + 1, to: y - top - ring - 1 } };
      }
    }
  }
}

/** The places for the number of packages that are gone. */
function* besides(scene: Scene, node: number, wide: number): Generator<Spot> {
  const { layout, camera } = scene;
  const [x, y] = [camera.x + layout.x[node]! * camera.scale, camera.y + layout.y[node]! * camera.scale];
  const { top, bottom, side } = extent(scene, node);
  const [right, left] = [x + side + 4, x - side - 4 - wide];
  for (const at of [right, left]) {
    for (const dy of [0, bottom, -top]) yield { x: at, y: y + dy };
  }
  for (let row = 0; row < FAR; row += 1) {
    const [low, high] = [y + bottom + GAP + HALF + row * ROW, y - top - GAP - HALF - row * ROW];
    const down = { x, from: y + bottom + 1, to: low - HALF - 1 };
    const up = { x, from: high + HALF + 1, to: y - top - 1 };
    for (const at of [x - side, x - wide / 2]) {
      yield row === 0 ? { x: at, y: low } : { x: at, y: low, leader: down };
      yield row === 0 ? { x: at, y: high } : { x: at, y: high, leader: up };
    }
  }
}

/** The texts of a name, the longest first. */
function texts(tree: Tree, node: number, column: number): string[] {
  const { version } = tree.nodes[node]!;
  const name = title(tree.nodes[node]);
  return column > WIDE && version && node > 0 ? [`${name} ${version}`, name] : [name];
}

function box(x: number, y: number, wide: number): Box {
  return { left: x - AROUND, right: x + wide + AROUND, top: y - HALF, bottom: y + HALF };
}

function line({ x, from, to }: Leader): Box {
  return { left: x - 1, right: x + 1, top: from + 2, bottom: to };
}
