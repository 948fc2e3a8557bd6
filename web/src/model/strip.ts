// The shape of a run over time: bars above a wire for what was fetched, below it for packages
// placed.

import type { Moment } from './growth';

export interface Areas {
  readonly fetched: string;
  readonly placed: string;
}

const BARS = 240;
/** The share of its place that a bar takes. */
const WIDE = 0.7;

export function areas(moments: readonly Moment[], elapsed: number, width: number, height: number): Areas {
  const fetched = new Array<number>(BARS).fill(0);
  const placed = new Array<number>(BARS).fill(0);
  let before: Moment = { elapsed: 0, fetched: 0, placed: 0 };
  for (const moment of moments) {
    const bar = Math.min(BARS - 1, Math.floor((moment.elapsed / elapsed) * BARS));
    fetched[bar]! += moment.fetched - before.fetched;
    placed[bar]! += Math.max(0, moment.placed - before.placed);
    before = moment;
  }
  const most = Math.max(1, ...fetched, ...placed);
  const step = width / BARS;
  const bars = (counts: number[], direction: 1 | -1) =>
    counts
      .map((number, bar) => {
        if (number === 0) return '';
        // The square root keeps a single arrival visible beside a burst.
        const length = Math.sqrt(number / most) * (height / 2) * direction;
        return `M${(bar * step).toFixed(1)} ${height / 2}h${(step * WIDE).toFixed(2)}v${length.toFixed(1)}h${(-step * WIDE).toFixed(2)}z`;
      })
      .join('');
  return { fetched: bars(fetched, -1), placed: bars(placed, 1) };
}
