// One package and its neighbours, as a graph that can be walked.

import { createEffect, createMemo, createSignal, For, Show } from 'solid-js';
import { focus, through, type Link } from '../../model/focus';
import { count, counted } from '../../model/format';
import type { Tree } from '../../model/tree';
import { useSession } from '../../state/session';
import { Sign } from '../Sign';
import { kindWord, title } from '../words';
import './focus.css';

/** Sizes of a box and the room between boxes; on a phone, two columns are seen at once. */
const ROOMY = { wide: 168, across: 120 };
const TIGHT = { wide: 132, across: 96 };
const HIGH = 40;
const DOWN = 12;
const PAD = 16;
const MOST = 14;

export function Focus(props: { tree: Tree }) {
  const { view } = useSession();
  const [most, setMost] = createSignal(MOST);
  const [lit, setLit] = createSignal<number | undefined>();
  const { wide: WIDE, across: ACROSS } = matchMedia('(max-width: 640px)').matches ? TIGHT : ROOMY;
  const node = () => (view.selected() && props.tree.at.get(view.selected()!)) || heaviest(props.tree);
  const graph = createMemo(() => focus(props.tree, node(), most()));
  const places = createMemo(() => {
    const { columns } = graph();
    const tallest = Math.max(...columns.map(({ nodes, more }) => nodes.length + (more > 0 ? 1 : 0)));
    const height = tallest * (HIGH + DOWN) - DOWN + 2 * PAD;
    const at = new Map<number, { x: number; y: number; column: number }>();
    columns.forEach(({ nodes, more }, column) => {
      const rows = nodes.length + (more > 0 ? 1 : 0);
      const top = (height - (rows * (HIGH + DOWN) - DOWN)) / 2;
      nodes.forEach((one, row) =>
        at.set(one, { x: PAD + column * (WIDE + ACROSS), y: top + row * (HIGH + DOWN), column }),
      );
    });
    return { at, height, width: columns.length * (WIDE + ACROSS) - ACROSS + 2 * PAD };
  });
  /** Links on the ways through the lit package, and the packages on them. */
  const litLinks = createMemo(() => (lit() === undefined ? undefined : through(graph(), node(), lit()!)));
  const isLit = (link: Link) => litLinks()?.has(link) ?? false;
  const litNodes = createMemo(() => new Set([...(litLinks() ?? [])].flatMap(({ from, to }) => [from, to])));
  /** What is asked for between the package in the middle and each of its neighbours, all of it in one place. */
  const ranges = createMemo(() => {
    const middle = places().at.get(node())!;
    const byNeighbour = new Map<number, Link[]>();
    for (const link of graph().links) {
      if (link.from !== node() && link.to !== node()) continue;
      const other = link.from === node() ? link.to : link.from;
      byNeighbour.set(other, [...(byNeighbour.get(other) ?? []), link]);
    }
    return [...byNeighbour].map(([other, links]) => {
      const at = places().at.get(other)!;
      const isAfter = at.column > middle.column;
      const words = links.map(({ edge, from }) => {
        const { spec, kind } = props.tree.edges[edge]!;
        const arrow = links.length > 1 && (from === node()) !== isAfter ? '← ' : '';
        return `${arrow}${spec}${kind === 'prod' ? '' : ` ${kindWord(kind)}`}`;
      });
      const isBad = links.some(({ edge }) => props.tree.edges[edge]!.error !== undefined);
      return { at, isAfter, isBad, words: words.join(', ') };
    });
  });

  // The package itself is what is looked at; how far away the project is, differs.
  let scroller!: HTMLDivElement;
  createEffect(() => {
    const at = places().at.get(node());
    if (at)
      scroller.scrollTo({
        left: at.x + WIDE / 2 - scroller.clientWidth / 2,
        top: at.y + HIGH / 2 - scroller.clientHeight / 2,
      });
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const button = (event.target as HTMLElement).closest<HTMLElement>('[data-node]');
    const at = button && places().at.get(Number(button.dataset.node));
    if (!at || !event.key.startsWith('Arrow')) return;
    event.preventDefault();
    const { columns } = graph();
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0;
    const down = { ArrowUp: -1, ArrowDown: 1 }[event.key] ?? 0;
    const row = columns[at.column]!.nodes.indexOf(Number(button.dataset.node));
    const column = columns[at.column + step]?.nodes ?? [];
    const next = step
      ? column[Math.min(column.length - 1, Math.floor((row / columns[at.column]!.nodes.length) * column.length))]
      : column[row + down];
    if (next !== undefined) document.querySelector<HTMLElement>(`[data-node="${next}"]`)?.focus();
  };
  return (
    <div ref={scroller} class="focus" onKeyDown={onKeyDown}>
      <div class="focus-canvas" style={{ width: `${places().width}px`, height: `${places().height}px` }}>
        <svg class="focus-links" width={places().width} height={places().height} aria-hidden="true">
          <For each={graph().links}>
            {(link) => {
              const from = () => places().at.get(link.from);
              const to = () => places().at.get(link.to);
              return (
                <Show when={from() && to()}>
                  <path
                    class="focus-link"
                    classList={{
                      way: link.isWay,
                      lit: isLit(link),
                      dim: litLinks() !== undefined && !isLit(link),
                    }}
                    d={curve(from()!, to()!, WIDE)}
                  />
                </Show>
              );
            }}
          </For>
        </svg>
        <For each={ranges()}>
          {({ at, isAfter, isBad, words }) => (
            <span
              class="focus-range mono"
              classList={{ rust: isBad, after: isAfter }}
              title={words}
              style={{
                [isAfter ? 'right' : 'left']: `${isAfter ? places().width - at.x + 8 : at.x + WIDE + 8}px`,
                top: `${at.y + HIGH / 2 - 8}px`,
                'max-width': `${ACROSS - 32}px`,
              }}
            >
              {words}
            </span>
          )}
        </For>
        <For each={graph().columns}>
          {(column, index) => (
            <>
              <For each={column.nodes}>
                {(one) => (
                  <button
                    type="button"
                    class="focus-node"
                    classList={{
                      here: one === node(),
                      dev: props.tree.nodes[one]!.dev,
                      root: one === 0,
                      lit: litNodes().has(one),
                    }}
                    data-node={one}
                    aria-current={one === node() ? 'true' : undefined}
                    style={{
                      left: `${places().at.get(one)!.x}px`,
                      top: `${places().at.get(one)!.y}px`,
                      width: `${WIDE}px`,
                      height: `${HIGH}px`,
                    }}
                    onPointerEnter={() => setLit(one)}
                    onPointerLeave={() => setLit(undefined)}
                    onFocus={() => setLit(one)}
                    onBlur={() => setLit(undefined)}
                    onClick={(event) => {
                      if (one === 0) return view.deselect();
                      view.choose(props.tree.nodes[one]!.location);
                      event.currentTarget.dispatchEvent(new CustomEvent('show-package', { bubbles: true }));
                    }}
                  >
                    <span class="mono focus-name">
                      <Sign node={one} />
                      {title(props.tree.nodes[one])}
                    </span>
                    <span class="soft focus-facts mono">
                      {one === 0 ? 'the project' : props.tree.nodes[one]!.version}
                    </span>
                  </button>
                )}
              </For>
              <Show when={column.more > 0}>
                <button
                  type="button"
                  class="link soft focus-more"
                  style={{ left: `${PAD + index() * (WIDE + ACROSS)}px`, bottom: `${PAD}px` }}
                  onClick={() => setMost((now) => now * 3)}
                >
                  and {count(column.more)} more
                </button>
              </Show>
            </>
          )}
        </For>
      </div>
      <p class="soft focus-words">
        {counted(props.tree.into[node()]!.length, 'dependent')} on the left,{' '}
        {counted(props.tree.out[node()]!.length, 'dependency', 'dependencies')} on the right. Solid lines are the
        shortest ways from the project.
      </p>
    </div>
  );
}

/** Without a selection, what most others ask for: it has something to show. */
function heaviest(tree: Tree): number {
  let best = 0;
  tree.into.forEach((edges, node) => {
    if (node > 0 && edges.length > (best === 0 ? 0 : tree.into[best]!.length)) best = node;
  });
  return best;
}

interface At {
  readonly x: number;
  readonly y: number;
  readonly column: number;
}

/** Level at both ends. A link that leads back, or within a column, bows around. */
function curve(from: At, to: At, wide: number): string {
  const [y0, y1] = [from.y + HIGH / 2, to.y + HIGH / 2];
  if (from.column < to.column) {
    const [x0, x1] = [from.x + wide, to.x];
    const middle = (x1 - x0) / 2;
    return `M${x0} ${y0}C${x0 + middle} ${y0} ${x1 - middle} ${y1} ${x1} ${y1}`;
  }
  const [x0, x1] = from.column === to.column ? [from.x + wide, to.x + wide] : [from.x, to.x + wide];
  const bow = from.column === to.column ? 40 : -30;
  return `M${x0} ${y0 + 6}C${x0 + bow} ${y0 + 6} ${x1 + 40} ${y1 + 6} ${x1} ${y1 + 6}`;
}
