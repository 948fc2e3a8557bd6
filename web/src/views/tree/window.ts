// The rows to draw. All rows have the same height, so a million of them cost as much as fifty. The
// visible rows stay in place when rows above them are added or removed.

import { createEffect, createMemo, createSignal, on, onCleanup, onMount } from 'solid-js';

export interface Drawn<Row> {
  readonly row: Row;
  readonly index: number;
}

/** The number of rows beyond either edge, so that scrolling shows no gaps. */
const MARGIN = 8;

export function createWindow<Row extends { readonly key: string }>(
  rows: () => readonly Row[],
  active: () => number,
  scroller: () => HTMLElement,
  header: number,
) {
  const [top, setTop] = createSignal(0);
  const [height, setHeight] = createSignal(0);
  const [width, setWidth] = createSignal(0);
  const [rowHeight, setRowHeight] = createSignal(24);

  const drawn = createMemo<Drawn<Row>[]>(() => {
    const list = rows();
    const first = Math.max(0, Math.floor(top() / rowHeight()) - MARGIN);
    const last = Math.min(list.length - 1, Math.ceil((top() + height()) / rowHeight()) + MARGIN);
    const drawn: Drawn<Row>[] = [];
    for (let index = first; index <= last; index += 1) drawn.push({ row: list[index]!, index });
    // The active row is always drawn, because screen readers refer to it.
    const index = active();
    if (index >= 0 && (index < first || index > last)) drawn.push({ row: list[index]!, index });
    return drawn;
  });

  const measure = () => {
    setRowHeight(Number.parseFloat(getComputedStyle(scroller()).getPropertyValue('--row')));
    setHeight(scroller().clientHeight - header);
    setWidth(scroller().clientWidth);
  };
  onMount(() => {
    const observer = new ResizeObserver(measure);
    observer.observe(scroller());
    measure();
    onCleanup(() => observer.disconnect());
  });

  const scrollTo = (position: number) => {
    scroller().scrollTop = position;
    setTop(scroller().scrollTop);
  };
  createEffect(
    on(rows, (list, before) => {
      const index = Math.floor(top() / rowHeight());
      const key = before?.[index]?.key;
      if (index === 0 || key === undefined || list[index]?.key === key) return;
      const now = list.findIndex((row) => row.key === key);
      if (now !== -1) scrollTo(top() + (now - index) * rowHeight());
    }),
  );

  return {
    drawn,
    rowHeight,
    width,
    /** The number of rows that fit. */
    page: () => Math.max(1, Math.floor(height() / rowHeight()) - 1),
    onScroll: () => setTop(scroller().scrollTop),
    /** Scrolls as little as possible. A distant row moves to the middle. */
    bringIntoView(index: number) {
      const [start, end] = [index * rowHeight(), (index + 1) * rowHeight()];
      const distance = start < top() ? top() - start : end - (top() + height());
      if (distance <= 0) return;
      if (distance > height() / 2) scrollTo(start - height() / 2);
      else scrollTo(start < top() ? start : end - height());
    },
  };
}
