// Draws overviews on a canvas that records where marks and texts go, and looks for texts over other
// marks.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { colour } from '../src/model/colour';
import { diff, snapshot } from '../src/model/diff';
import { espalier } from '../src/model/espalier';
import { treeOf, type Tree } from '../src/model/tree';
import type { Palette } from '../src/views/colours';
import type { Camera, Scene } from '../src/views/overview/scene';
import { paint, paintPointed } from '../src/views/overview/paint';
import { graphOfLock, type Lock } from './graph-of-lock';
import { sampleTree } from './sample';

const palette = new Proxy({ mono: 'monospace' }, { get: (_, name) => String(name) }) as unknown as Palette;

interface Box {
  readonly what: string;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** A canvas that keeps the box of each text, and that of each segment of a line or an area. */
class Record {
  readonly texts: Box[] = [];
  readonly marks: Box[] = [];
  fillStyle = '';
  strokeStyle = '';
  globalAlpha = 1;
  lineWidth = 1;
  font = '';
  #path: Box[] = [];
  #x = 0;
  #y = 0;

  beginPath = () => void (this.#path = []);
  closePath = () => {};
  setLineDash = () => {};
  moveTo = (x: number, y: number) => void ([this.#x, this.#y] = [x, y]);
  lineTo = (x: number, y: number) => this.#segment(x, y);
  // Short pieces, so that their boxes are as narrow as the curve.
  bezierCurveTo = (ax: number, ay: number, bx: number, by: number, x: number, y: number) => {
    const [x0, y0] = [this.#x, this.#y];
    const at = (t: number, a: number, b: number, c: number, d: number) =>
      (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t ** 2 * c + t ** 3 * d;
    for (let part = 1; part <= 12; part += 1) {
      this.#segment(at(part / 12, x0, ax, bx, x), at(part / 12, y0, ay, by, y));
    }
  };
  arc = (x: number, y: number, r: number) => void this.#path.push(around('arc', x, y, r));
  rect = (x: number, y: number, width: number, height: number) =>
    void this.#path.push({ what: 'rect', left: x, top: y, right: x + width, bottom: y + height });
  fill = () => void this.marks.push(...this.#path);
  stroke = () => void this.marks.push(...this.#path);
  fillRect = () => {};
  readonly cleared: (readonly number[])[] = [];
  clearRect = (...area: number[]) => void this.cleared.push(area);
  strokeText = () => {};
  setTransform = () => {};
  measureText = (text: string) => ({ width: text.length * 6.6 });
  fillText = (text: string, x: number, y: number) =>
    // The capitals and descenders of a font of 11 pixels.
    void this.texts.push({ what: text, left: x, top: y - 4.5, right: x + text.length * 6.6, bottom: y + 4.5 });

  #segment(x: number, y: number): void {
    // A slanted line is cut into pieces.
    const [dx, dy] = [x - this.#x, y - this.#y];
    const pieces = Math.max(1, Math.ceil(Math.min(Math.abs(dx), Math.abs(dy))));
    for (let piece = 0; piece < pieces; piece += 1) {
      const [x0, y0] = [this.#x + (dx * piece) / pieces, this.#y + (dy * piece) / pieces];
      const [x1, y1] = [x0 + dx / pieces, y0 + dy / pieces];
      this.#path.push({
        what: 'line',
        left: Math.min(x0, x1),
        top: Math.min(y0, y1),
        right: Math.max(x0, x1),
        bottom: Math.max(y0, y1),
      });
    }
    [this.#x, this.#y] = [x, y];
  }
}

function around(what: string, x: number, y: number, r: number): Box {
  return { what, left: x - r, top: y - r, right: x + r, bottom: y + r };
}

/** The texts that cover a mark or another text, or leave the canvas. */
function covering(scene: Scene): string[] {
  const canvas = new Record();
  paint(canvas as unknown as CanvasRenderingContext2D, scene);
  const meets = (a: Box, b: Box) => a.left < b.right && b.left < a.right && a.top <= b.bottom && b.top <= a.bottom;
  // Most marks are far away, so they are looked up by their height.
  const stripes = new Map<number, Box[]>();
  const stripesOf = ({ top, bottom }: Box) =>
    Array.from(
      { length: Math.floor(bottom / 16) - Math.floor(top / 16) + 1 },
      (_, index) => Math.floor(top / 16) + index,
    );
  for (const mark of canvas.marks) {
    if (mark.bottom < 0 || mark.top > scene.height || mark.right < 0 || mark.left > scene.width) continue;
    for (const stripe of stripesOf({
      ...mark,
      top: Math.max(0, mark.top),
      bottom: Math.min(scene.height, mark.bottom),
    })) {
      const list = stripes.get(stripe);
      if (list) list.push(mark);
      else stripes.set(stripe, [mark]);
    }
  }
  return canvas.texts.flatMap((text, index) => {
    const outside = text.left < 0 || text.top < 0 || text.right > scene.width || text.bottom > scene.height;
    const near = new Set(stripesOf(text).flatMap((stripe) => stripes.get(stripe) ?? []));
    const others = [...canvas.texts.slice(index + 1), ...near].filter((mark) => meets(text, mark));
    return [
      ...(outside ? [`${text.what} leaves the canvas`] : []),
      ...others.map(({ what }) => `${text.what}: ${what}`),
    ];
  });
}

function named(scene: Scene): string[] {
  const canvas = new Record();
  paint(canvas as unknown as CanvasRenderingContext2D, scene);
  return canvas.texts.map(({ what }) => what);
}

/** A scene of a size that shows the whole tree, or a part of it in a multiple of that size. */
function sceneOf(tree: Tree, width: number, height: number, zoom = 1, more: Partial<Scene> = {}): Scene {
  const layout = espalier(tree, Math.max(0.5, Math.min(5, width / height)));
  const { left, right, top, bottom } = layout.bounds;
  const scale = zoom * Math.min(1.6, (width - 72) / (right - left), (height - 72) / (bottom - top));
  const camera: Camera = {
    scale,
    x: width / 2 - ((left + right) / 2) * scale,
    y: height / 2 - ((top + bottom) / 2) * scale,
  };
  return {
    tree,
    layout,
    coloured: colour(tree, 'kind'),
    palette,
    camera,
    width,
    height,
    selected: undefined,
    found: undefined,
    diff: undefined,
    present: undefined,
    moving: false,
    ...more,
  };
}

function recorded(project: string): Tree {
  const url = new URL(`../../tests/registry/projects/${project}/package-lock.json`, import.meta.url);
  return treeOf(graphOfLock((JSON.parse(readFileSync(url, 'utf8')) as { packages: Lock }).packages));
}

/** A tree of `size` packages, a tenth of them nested, with long and short names. */
function made(size: number): Tree {
  const lock: Lock = { '': { name: 'app', version: '1.0.0', dependencies: {} } };
  const places: string[] = [];
  for (let index = 1; index < size; index += 1) {
    const name = index % 3 === 0 ? `@scope/package-number-${index}` : `p${index}`;
    const owner = index < 2 * Math.sqrt(size) ? '' : places[Math.floor((index * 7919) % places.length)]!;
    const place = index % 10 === 0 && owner ? `${owner}/node_modules/${name}` : `node_modules/${name}`;
    lock[place] = { version: '1.0.0', dependencies: {} };
    (lock[owner]!.dependencies ??= {})[name] = '1';
    places.push(place);
  }
  return treeOf(graphOfLock(lock));
}

const trees: { [name: string]: () => Tree } = {
  'a few packages': sampleTree,
  tiny: () => recorded('tiny'),
  'vite-react-ts': () => recorded('vite-react-ts'),
  'express-api': () => recorded('express-api'),
  '1,500 packages': () => made(1_500),
  '5,000 packages': () => made(5_000),
};
/** The size of the canvas in windows of 1280 × 800, 1600 × 1000, 768 × 1024 and 390 × 844. */
const sizes = [
  [687, 478],
  [967, 706],
  [768, 640],
  [390, 411],
] as const;

describe.each(Object.keys(trees))('of %s', (name) => {
  const tree = trees[name]!();

  test.each(sizes)('no name covers another mark, at %i × %i and all zooms', (width, height) => {
    for (const zoom of [1, 1.5, 2.25, 3.4, 5, 7.6]) {
      const scene = sceneOf(tree, width, height, zoom);
      expect(covering(scene), `zoom ${zoom}`).toEqual([]);
    }
    expect(named(sceneOf(tree, width, height)).length).toBeGreaterThan(Math.min(3, tree.nodes.length - 1));
  });

  test('the selection and the results of a search are named beside other marks', () => {
    const few = new Set([...tree.nodes.keys()].filter((node) => node % Math.ceil(tree.nodes.length / 12) === 1));
    for (const selected of few) {
      const title = tree.nodes[selected]!.name;
      const scene = sceneOf(tree, 687, 478, 1, { selected, found: few });
      expect(
        named(scene).some((text) => text.startsWith(title)),
        title,
      ).toBe(true);
      // If nothing near it is free, the name of the selection has an area of its own.
      expect(covering(scene).filter((text) => !text.startsWith(`${title}:`))).toEqual([]);
    }
  });

  test('what a change did is named beside other marks', () => {
    const before = new Map(snapshot(tree));
    [...before.keys()].forEach((location, index) => {
      if (index % 9 === 0) before.delete(location);
      if (index % 9 === 1) before.set(location, '0.0.1');
      if (index % 13 === 0) before.set(`${location}/node_modules/gone`, '1.0.0');
    });
    before.set('node_modules/gone', '1.0.0');
    const scene = sceneOf(tree, 687, 478, 2.25, { diff: diff(before, tree) });
    // If nothing near it is free, a number has an area of its own, but no name does.
    const isMark = (text: string) => /: (line|rect|arc)$/.test(text);
    expect(covering(scene).filter((text) => !text.startsWith('−') || !isMark(text))).toEqual([]);
    expect(named(scene)).toContain('−1');
    // Signs leave room for the names of their packages.
    const changed = [...scene.diff!.marks.keys()].map((node) => tree.nodes[node]!.name);
    expect(named(scene).some((text) => changed.some((name) => text.startsWith(name)))).toBe(true);
  });
});

test('marks beside the canvas take no room from names', () => {
  const scene = sceneOf(trees['express-api']!(), 687, 478, 3.4);
  // The trunk is on the left of the canvas, and its top is above.
  const camera = { ...scene.camera, x: -60 };
  expect(camera.y).toBeGreaterThan(0);
  expect(named({ ...scene, camera }).length).toBeGreaterThan(3);
});

describe('the package below the pointer', () => {
  /** What is drawn for it on the canvas above the picture. */
  const pointedAt = (node: number | undefined, more: Partial<Scene> = {}) => {
    const scene = sceneOf(trees['express-api']!(), 687, 478, 1, more);
    const named = paint(new Record() as unknown as CanvasRenderingContext2D, scene);
    const canvas = new Record();
    paintPointed(canvas as unknown as CanvasRenderingContext2D, scene, node, named);
    return { ...scene, canvas };
  };

  test('has a ring and a path from the project, which is below the leaves that it passes', () => {
    const { canvas, layout, camera, tree } = pointedAt(300);
    const [x, y] = [camera.x + layout.x[300]! * camera.scale, camera.y + layout.y[300]! * camera.scale];
    const ring = canvas.marks.at(-1)!;
    expect(ring.what).toBe('arc');
    expect([(ring.left + ring.right) / 2, (ring.top + ring.bottom) / 2]).toEqual([x, y]);
    const begins = ({ what, left, bottom }: Box) => what === 'line' && left === camera.x && bottom === camera.y;
    expect(canvas.marks.some(begins)).toBe(true);
    // Only leaves on the path are drawn again.
    expect(canvas.marks.length).toBeLessThan(tree.nodes.length);
    expect(canvas.texts).toEqual([]);
  });

  test.each([
    ['nothing is there', undefined, {}],
    ['it is selected already', 300, { selected: 300 }],
    ['it is not placed yet', 300, { present: new Set([1, 2, 3]) }],
  ])('has no highlight if %s', (_, node, more) => {
    const { canvas } = pointedAt(node, more);
    expect(canvas.cleared).toEqual([[0, 0, 687, 478]]);
    expect(canvas.marks).toEqual([]);
  });
});
