// The columns of a table: which of them are shown, and their widths. A person chooses them, within
// the available space.

import { createMemo, createSignal } from 'solid-js';

export interface ColumnSpec {
  readonly name: string;
  readonly words: string;
  readonly about?: string;
  /** The width in pixels. The first column takes the remaining width. */
  readonly width: number;
  /** The width on a phone, if the usual factor doesn't fit the content. */
  readonly tight?: number;
  /** A table that is narrower than this hides the column. */
  readonly from?: number;
}

interface Chosen {
  readonly hidden: readonly string[];
  readonly width: Readonly<Record<string, number>>;
}

export const LEAST_WIDTH = 36;
export const MOST_WIDTH = 640;
/** On a phone, every column is narrower. */
export const TIGHT = 480;
const TIGHTER = 0.82;
const NOTHING: Chosen = { hidden: [], width: {} };

export type Columns<Spec extends ColumnSpec = ColumnSpec> = ReturnType<typeof createColumns<Spec>>;

/** Columns without any content are hidden. */
export function createColumns<Spec extends ColumnSpec>(
  table: string,
  specs: readonly Spec[],
  room: () => number,
  isEmpty: (spec: Spec) => boolean = () => false,
) {
  const key = `columns:${table}`;
  const [chosen, setChosen] = createSignal<Chosen>(remembered(key));
  const change = (next: Chosen) => {
    setChosen(next);
    localStorage.setItem(key, JSON.stringify(next));
  };
  const isTight = () => room() > 0 && room() < TIGHT;
  const widthOf = (spec: ColumnSpec) =>
    chosen().width[spec.name] ?? Math.round(isTight() ? (spec.tight ?? spec.width * TIGHTER) : spec.width);
  const fits = (spec: Spec) => room() === 0 || (room() >= (spec.from ?? 0) && !isEmpty(spec));
  const shown = createMemo(() => specs.filter((spec) => !chosen().hidden.includes(spec.name) && fits(spec)));
  return {
    specs,
    shown,
    widthOf,
    isHidden: (name: string) => chosen().hidden.includes(name),
    /**
     * The first column takes the remaining width, unless it has a chosen width; then the last one
     * does.
     */
    template: createMemo(() =>
      shown()
        .map((spec, index) => {
          const isWidth = chosen().width[spec.name] !== undefined;
          const isRest = shown()[0] && chosen().width[shown()[0]!.name] !== undefined && index === shown().length - 1;
          if ((index === 0 && !isWidth) || isRest) return `minmax(${widthOf(spec)}px, 1fr)`;
          return `${widthOf(spec)}px`;
        })
        .join(' '),
    ),
    /** The minimum width of all columns. */
    least: createMemo(() => shown().reduce((sum, spec) => sum + widthOf(spec), 0)),
    toggle(name: string) {
      const { hidden } = chosen();
      const next = hidden.includes(name) ? hidden.filter((other) => other !== name) : [...hidden, name];
      change({ ...chosen(), hidden: next });
    },
    resize(name: string, width: number) {
      const kept = Math.round(Math.max(LEAST_WIDTH, Math.min(MOST_WIDTH, width)));
      change({ ...chosen(), width: { ...chosen().width, [name]: kept } });
    },
    reset: () => change(NOTHING),
    isUsual: () => chosen().hidden.length === 0 && Object.keys(chosen().width).length === 0,
  };
}

function remembered(key: string): Chosen {
  try {
    const { hidden, width } = JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Chosen>;
    const widths = Object.entries(width ?? {}).filter(([, value]) => Number.isFinite(value));
    return { hidden: Array.isArray(hidden) ? hidden : [], width: Object.fromEntries(widths) };
  } catch {
    return NOTHING;
  }
}
