// What an overview is drawn from, and how large a leaf is in it.

import type { Coloured } from '../../model/colour';
import type { Diff } from '../../model/diff';
import type { Espalier } from '../../model/espalier';
import type { Tree } from '../../model/tree';
import type { Palette } from '../palette';

export interface Camera {
  /** Pixels for each unit. */
  readonly scale: number;
  /** Where the root is on the canvas. */
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
  readonly hovered: number | undefined;
  /** What a filter finds; everything, where there is none. */
  readonly found: ReadonlySet<number> | undefined;
  readonly diff: Diff | undefined;
  /** What stands already; everything, where it isn't said. The wires wait for the rest. */
  readonly present: ReadonlySet<number> | undefined;
  /** Whether the picture is moving, and names can wait. */
  readonly moving: boolean;
}

/** As large as there is room for beside its neighbours, and somewhat larger or smaller by what it weighs. */
export function radius({ tree, layout, camera }: Pick<Scene, 'tree' | 'layout' | 'camera'>, node: number): number {
  if (node === 0) return 6 * Math.min(1.4, Math.max(0.8, camera.scale));
  const { unpackedSize = 30_000 } = tree.nodes[node]!;
  const weight = Math.min(1.45, Math.max(0.85, Math.log10(Math.max(1_000, unpackedSize)) / 4.6));
  const room = Math.min(5, Math.max(1.35, layout.pitch * camera.scale * 0.4));
  return Math.max(1.3, room * weight * weight);
}
