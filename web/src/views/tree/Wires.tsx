// The wires left of a name: straight, with a small chamfer where a branch leaves. The one that
// leads to the active row is green.

import { Show } from 'solid-js';
import type { Row } from '../../model/rows';

/** The green part of a row's wires: its column, and whether the branch is in this row. */
export interface Trained {
  readonly column: number;
  readonly arrives: boolean;
}

const STEP = 16;
const CHAMFER = 4;

export function Wires(props: { row: Row; height: number; trained: Trained | undefined }) {
  const width = () => (props.row.level - 1) * STEP;
  return (
    <Show when={props.row.level > 1}>
      <svg class="wires" width={width()} height={props.height} aria-hidden="true">
        <path d={wires(props.row, props.height)} />
        <Show when={props.trained}>
          {(trained) => <path class="trained" d={trainedWire(trained(), props.height)} />}
        </Show>
      </svg>
    </Show>
  );
}

/** The rows on the path to the active row, by index. Each has at most one green wire. */
export function trainedWires(rows: readonly Row[], active: number): Map<number, Trained> {
  const trained = new Map<number, Trained>();
  for (let index = active, level = rows[active]?.level ?? 0; level > 1; level -= 1) {
    trained.set(index, { column: level - 2, arrives: true });
    for (index -= 1; rows[index]!.level >= level; index -= 1) trained.set(index, { column: level - 2, arrives: false });
  }
  return trained;
}

function wires(row: Row, height: number): string {
  const passing = row.rails.map((passes, column) => (passes ? vertical(column, height) : '')).join('');
  const own = row.level - 2;
  const onwards = row.position < row.setSize ? vertical(own, height) : '';
  return passing + onwards + branch(own, height);
}

function trainedWire({ column, arrives }: Trained, height: number): string {
  return arrives ? branch(column, height) : vertical(column, height);
}

function vertical(column: number, height: number): string {
  return `M${x(column)} 0v${height}`;
}

function branch(column: number, height: number): string {
  const middle = Math.floor(height / 2) + 0.5;
  return `M${x(column)} 0V${middle - CHAMFER}l${CHAMFER} ${CHAMFER}H${(column + 1) * STEP}`;
}

function x(column: number): number {
  return column * STEP + STEP / 2 + 0.5;
}
