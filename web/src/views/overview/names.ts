// Places names on the overview, as on a map: the most important first, and none over a leaf or
// another name. Names of the project's own dependencies are below their wire, where nothing grows.
// Others are between two levels.

import type { Tree } from '../../model/tree';
import { title } from '../words';
import { radius, type Scene } from './scene';

const FONT = 11;
const MOST = 420;
/** Levels that are closer than this have no room for names between them. */
const BETWEEN = 10;
/** The distance between a name and the edge of the canvas. */
const EDGE = 2;
/** The width of `−12` beside a leaf. */
const GONE = 30;
/** How far a name moves sideways if the leaf of the project's own dependency is in the way. */
const ASIDE = 24;
/** The ranks: always named, changed or found, direct dependencies. */
const [ALWAYS, MARKED, FOUND, DIRECT] = [1e8, 1e7, 1e6, 1e5];

const measured = new Map<string, number>();

export function names(context: CanvasRenderingContext2D, scene: Scene): void {
  const { tree, layout, palette, camera, width, height, selected, present } = scene;
  const { scale } = camera;
  context.font = `${FONT}px ${palette.mono}`;
  context.textBaseline = 'middle';
  context.lineWidth = 4;
  context.lineJoin = 'round';
  context.strokeStyle = palette.paper;
  const room = new Room(width, height);
  const visible = layout.order.filter((node) => {
    if (present?.has(node) === false) return false;
    const [x, y] = [camera.x + layout.x[node]! * scale, camera.y + layout.y[node]! * scale];
    if (x < -60 || y < 0 || x > width + 60 || y > height) return false;
    room.leaf(x, y, radius(scene, node));
    return true;
  });
  const r = radius(scene, 0);
  // The number of packages that were removed from the project is on the left of its leaf.
  const left = r + (scene.diff?.gone.has(0) ? GONE : 0);
  room.block(camera.x - left, camera.y - r, left + r, 2 * r);
  const ranked = visible.map((node) => [rank(scene, node), node] as const).filter(([value]) => value >= 0);
  ranked.sort((a, b) => b[0] - a[0]);
  let drawn = 0;
  for (const [value, node] of ranked) {
    if (drawn >= MOST) break;
    const isDirect = layout.parent[node] === 0;
    if (value < MARKED && !isDirect && layout.level * scale < BETWEEN) continue;
    const text = label(tree, node, scale * layout.pitch);
    const [ideal, y, wide] = place(context, scene, node, text, isDirect);
    const last = width - EDGE - wide;
    const isBesideTrunk = isDirect && Math.abs(layout.x[node]! * scale) < 2 * ASIDE;
    const aside = isBesideTrunk ? [ideal + ASIDE * Math.sign(layout.x[node]!)] : [];
    const places = value >= ALWAYS ? [Math.max(EDGE, Math.min(last, ideal))] : [ideal, ...aside];
    // A truncated name is worse than none.
    const x = places.find(
      (x) => x >= EDGE && (x <= last || value >= ALWAYS) && room.take(x, y - FONT / 2, wide, FONT, value),
    );
    if (x === undefined) continue;
    context.strokeText(text, x, y);
    context.fillStyle = node === selected ? palette.green : isDirect || node === 0 ? palette.ink : palette['ink-soft'];
    context.fillText(text, x, y);
    drawn += 1;
  }
}

function rank({ tree, layout, selected, hovered, found, diff }: Scene, node: number): number {
  const weight = Math.min(9e4, tree.below[node]! * 10);
  if (node === selected || node === hovered) return ALWAYS + weight;
  // The name of a direct dependency gives way to a name that was searched for.
  if (node === 0) return ALWAYS - 1;
  if (diff?.marks.has(node)) return MARKED + weight;
  if (found) return found.has(node) ? FOUND + weight : -1;
  return (layout.parent[node] === 0 ? DIRECT : 0) + weight;
}

function place(
  context: CanvasRenderingContext2D,
  scene: Scene,
  node: number,
  text: string,
  isDirect: boolean,
): [x: number, y: number, wide: number] {
  const { tree, layout, camera } = scene;
  const { scale } = camera;
  let wide = measured.get(text);
  if (wide === undefined) {
    wide = context.measureText(text).width;
    measured.set(text, wide);
  }
  const [x, y] = [camera.x + layout.x[node]! * scale, camera.y + layout.y[node]! * scale];
  const r = radius(scene, node);
  if (node === 0) {
    // The name of an only dependency is on the right.
    const isAside = tree.out[0]!.length === 1;
    return [isAside ? x - r - 6 - wide : x + r + 6, y + 3, wide];
  }
  const isLeft = layout.x[node]! < 0;
  if (isDirect) return [isLeft ? x + r - wide : x - r, y + r + FONT / 2 + 2, wide];
  return [isLeft ? x - 4 - wide : x + 4, y - Math.max(r + FONT / 2 + 1, (layout.level * scale) / 2), wide];
}

function label(tree: Tree, node: number, room: number): string {
  const { version } = tree.nodes[node]!;
  const name = title(tree.nodes[node]);
  return room > 110 && version && node > 0 ? `${name} ${version}` : name;
}

/** The parts of the canvas that a name or a leaf occupies, in cells. */
class Room {
  static readonly CELL = 4;
  readonly #names: Uint8Array;
  readonly #leaves: Uint8Array;
  readonly #columns: number;
  readonly #rows: number;

  constructor(width: number, height: number) {
    this.#columns = Math.ceil(width / Room.CELL) + 1;
    this.#rows = Math.ceil(height / Room.CELL) + 1;
    this.#names = new Uint8Array(this.#columns * this.#rows);
    this.#leaves = new Uint8Array(this.#columns * this.#rows);
  }

  leaf(x: number, y: number, r: number): void {
    const half = r / 2;
    this.#each(x - half, y - half, r, r, (cell) => {
      this.#leaves[cell] = 1;
      return true;
    });
  }

  /** Occupies an area. */
  block(x: number, y: number, width: number, height: number): void {
    this.#each(x, y, width, height, (cell) => {
      this.#names[cell] = 1;
      return true;
    });
  }

  /**
   * Whether a name fits. One that is always shown fits anywhere; that of a direct dependency or a
   * match may cover leaves; others need a free area.
   */
  take(x: number, y: number, width: number, height: number, value: number): boolean {
    const isFree = (cell: number) => !this.#names[cell] && (value >= DIRECT || !this.#leaves[cell]);
    if (value < ALWAYS && !this.#each(x, y, width, height, isFree)) return false;
    return this.#each(x - 3, y, width + 6, height, (cell) => {
      this.#names[cell] = 1;
      return true;
    });
  }

  #each(x: number, y: number, width: number, height: number, visit: (cell: number) => boolean): boolean {
    const left = Math.max(0, Math.floor(x / Room.CELL));
    const right = Math.min(this.#columns - 1, Math.floor((x + width) / Room.CELL));
    const top = Math.max(0, Math.floor(y / Room.CELL));
    const bottom = Math.min(this.#rows - 1, Math.floor((y + height) / Room.CELL));
    for (let row = top; row <= bottom; row += 1) {
      for (let column = left; column <= right; column += 1) {
        if (!visit(row * this.#columns + column)) return false;
      }
    }
    return true;
  }
}
