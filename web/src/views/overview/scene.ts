// The inputs of a drawing of the overview, and the size of leaves in it.

import { isGraft, type Coloured } from '../../model/colour';
import type { Diff } from '../../model/diff';
import type { Espalier } from '../../model/espalier';
import type { Tree } from '../../model/tree';
import type { Palette } from '../colours';

export interface Camera {
  /** Pixels per unit. */
  readonly scale: number;
  /** The position of the root on the canvas. */
  readonly x: number;
  readonly y: number;
}

export interface Scene {
  readonly tree: Tree;
  readonly layout: Espalier;
  readonly coloured: Coloured;
  readonly palette: Palette;
  readonly camera: Camera;
  readonly width: number;
  readonly height: number;
  readonly selected: number | undefined;
  /** The matches of the filter. Absent without a filter. */
  readonly found: ReadonlySet<number> | undefined;
  readonly diff: Diff | undefined;
  /** The packages that are placed so far. Absent if all are. */
  readonly present: ReadonlySet<number> | undefined;
  /** Whether the picture is moving. Names are placed when it rests. */
  readonly moving: boolean;
}

/** Whether a package is drawn: it has a place, and is placed by now. */
export function stands({ layout, present }: Scene, node: number): boolean {
  return !Number.isNaN(layout.x[node]!) && present?.has(node) !== false;
}

/** Smaller leaves are drawn as dots. */
export const DOT = 1.6;

/** The size of a leaf: as large as its neighbours permit, adjusted by its weight. */
export function radius({ tree, layout, camera }: Pick<Scene, 'tree' | 'layout' | 'camera'>, node: number): number {
  if (node === 0) return 6 * Math.min(1.4, Math.max(0.8, camera.scale));
  const { unpackedSize = 30_000 } = tree.nodes[node]!;
  const weight = Math.min(1.45, Math.max(0.85, Math.log10(Math.max(1_000, unpackedSize)) / 4.6));
  const room = Math.min(5, Math.max(1.35, layout.pitch * camera.scale * 0.4));
  return Math.max(1.3, room * weight * weight);
}

/** How far the drawing of a package reaches from its position. */
export function extent(
  scene: Pick<Scene, 'tree' | 'layout' | 'camera'>,
  node: number,
): { top: number; bottom: number; side: number } {
  const r = radius(scene, node);
  if (node > 0 && isGraft(scene.tree.nodes[node]!.location)) return { top: 1.35 * r, bottom: 1.35 * r, side: 1.35 * r };
  return { top: node === 0 || r < DOT ? r : 1.5 * r, bottom: r, side: r };
}
