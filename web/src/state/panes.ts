// The side panes: which of them are open, and their widths. Both are stored; the defaults depend on
// the window.

import { createSignal } from 'solid-js';

export type Side = 'left' | 'right';

const KEY = 'panes';
const LEAST = 200;
const MOST = 560;
/** In narrower windows, the manifest starts as a rail. */
const ROOM = '(min-width: 1200px)';

export interface Panes {
  readonly closed: Readonly<Record<Side, boolean>>;
  readonly width: Readonly<Record<Side, number | undefined>>;
}

export function createPanes() {
  const [panes, setPanes] = createSignal<Panes>(remembered());
  const change = (next: Panes) => {
    setPanes(next);
    localStorage.setItem(KEY, JSON.stringify(next));
  };
  return {
    panes,
    setClosed: (side: Side, closed: boolean) => change({ ...panes(), closed: { ...panes().closed, [side]: closed } }),
    resize: (side: Side, width: number) =>
      change({ ...panes(), width: { ...panes().width, [side]: Math.round(Math.max(LEAST, Math.min(MOST, width))) } }),
  };
}

function remembered(): Panes {
  const usual = { left: !matchMedia(ROOM).matches, right: false };
  try {
    const { closed, width } = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Panes>;
    return {
      closed: { ...usual, ...(matchMedia(ROOM).matches ? closed : {}) },
      width: { left: width?.left, right: width?.right },
    };
  } catch {
    return { closed: usual, width: { left: undefined, right: undefined } };
  }
}
