// One package and its neighbours, as a graph to navigate.

import { createEffect, createMemo, createSignal, For, onCleanup, onMount, Show, type JSX } from 'solid-js';
import { focus, through, type Column, type Link } from '../../model/focus';
import { count, counted } from '../../model/format';
import { answer, type Tree } from '../../model/tree';
import { useSession } from '../../state/session';
import { kindWord } from '../words';
import { FocusBox } from './FocusBox';
import { FocusRows } from './FocusRows';
import './focus.css';

/**
 * The minimum and maximum sizes of boxes and gaps. Dependents, package and dependencies are visible
 * together.
 */
const WIDE = [124, 200] as const;
const ACROSS = [84, 160] as const;
/** In narrower windows, the columns are stacked. */
const NARROW = 560;
const HIGH = 40;
const DOWN = 12;
const PAD = 16;
const MOST = 14;

export function Focus(props: { tree: Tree }) {
  const { view } = useSession();
  const [most, setMost] = createSignal(MOST);
  const [lit, setLit] = createSignal<number | undefined>();
  const [room, setRoom] = createSignal(NARROW);
  const isNarrow = () => room() < NARROW;
  const node = () => (view.selected() && props.tree.at.get(view.selected()!)) || first(props.tree);
  const graph = createMemo(() => focus(props.tree, node(), most()));
  /** Distributes the width over the boxes and gaps of up to three columns. */
  const sizes = createMemo(() => {
    const columns = Math.max(3, graph().columns.length);
    const fitting = (count: number) => {
      const free = room() - 2 * PAD - count * WIDE[0] - (count - 1) * ACROSS[0];
      const more = Math.max(0, free) / (2 * count - 1);
      return {
        wide: Math.min(WIDE[1], WIDE[0] + more),
        across: Math.min(ACROSS[1], ACROSS[0] + more),
        fits: free >= 0,
      };
    };
    const all = fitting(columns);
    return all.fits ? all : fitting(3);
  });
  const places = createMemo(() => {
    const { columns } = graph();
    const { wide, across } = sizes();
    const tallest = Math.max(...columns.map(({ nodes, more }) => nodes.length + (more > 0 ? 1 : 0)));
    const height = tallest * (HIGH + DOWN) - DOWN + 2 * PAD;
    const at = new Map<number, { x: number; y: number; column: number }>();
    columns.forEach(({ nodes, more }, column) => {
      const rows = nodes.length + (more > 0 ? 1 : 0);
      const top = (height - (rows * (HIGH + DOWN) - DOWN)) / 2;
      nodes.forEach((one, row) =>
        at.set(one, { x: PAD + column * (wide + across), y: top + row * (HIGH + DOWN), column }),
      );
    });
    return { at, height, width: columns.length * (wide + across) - across + 2 * PAD };
  });
  /** The links on the paths through the highlighted package, and their packages. */
  const litLinks = createMemo(() => (lit() === undefined ? undefined : through(graph(), node(), lit()!)));
  const isLit = (link: Link) => litLinks()?.has(link) ?? false;
  const litNodes = createMemo(() => new Set([...(litLinks() ?? [])].flatMap(({ from, to }) => [from, to])));
  /** The ranges between the package in the middle and each of its neighbours. */
  const ranges = createMemo(() => {
    const byNeighbour = new Map<number, Link[]>();
    for (const link of graph().links) {
      if (link.from !== node() && link.to !== node()) continue;
      const other = link.from === node() ? link.to : link.from;
      byNeighbour.set(other, [...(byNeighbour.get(other) ?? []), link]);
    }
    const middle = graph().columns.findIndex(({ nodes }) => nodes.includes(node()));
    return new Map(
      [...byNeighbour].map(([other, links]) => {
        const isAfter = graph().columns.findIndex(({ nodes }) => nodes.includes(other)) > middle;
        const words = links.map(({ edge, from }) => {
          const { spec, kind } = props.tree.edges[edge]!;
          const arrow = links.length > 1 && (from === node()) !== isAfter ? '← ' : '';
          return `${arrow}${spec}${kind === 'prod' ? '' : ` ${kindWord(kind)}`}`;
        });
        const isBad = links.some(({ edge }) => props.tree.edges[edge]!.error !== undefined);
        return [other, { isAfter, isBad, words: words.join(', ') }] as const;
      }),
    );
  });

  // The view starts at the package, because the distance of the project varies.
  let scroller!: HTMLDivElement;
  onMount(() => {
    const observer = new ResizeObserver(() => setRoom(scroller.clientWidth));
    observer.observe(scroller);
    setRoom(scroller.clientWidth);
    onCleanup(() => observer.disconnect());
  });
  createEffect(() => {
    const at = places().at.get(node());
    if (!at) return;
    const left = at.x + sizes().wide / 2;
    const narrow = isNarrow();
    // By then, the canvas has its new size, which limits scrolling.
    const frame = requestAnimationFrame(() => {
      const here = narrow ? scroller.querySelector<HTMLElement>('.focus-step.here') : undefined;
      const top = here ? here.offsetTop + here.offsetHeight / 2 : at.y + HIGH / 2;
      scroller.scrollTo({ left: left - scroller.clientWidth / 2, top: top - scroller.clientHeight / 2 });
    });
    onCleanup(() => cancelAnimationFrame(frame));
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const button = (event.target as HTMLElement).closest<HTMLElement>('[data-node]');
    const at = button && places().at.get(Number(button.dataset.node));
    if (!at || !event.key.startsWith('Arrow')) return;
    event.preventDefault();
    const { columns } = graph();
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0;
    const down = { ArrowUp: -1, ArrowDown: 1 }[event.key] ?? 0;
    if (isNarrow()) {
      const all = columns.flatMap(({ nodes }) => nodes);
      return focusOn(all[all.indexOf(Number(button.dataset.node)) + (step || down)]);
    }
    const row = columns[at.column]!.nodes.indexOf(Number(button.dataset.node));
    const column = columns[at.column + step]?.nodes ?? [];
    const next = step
      ? column[Math.min(column.length - 1, Math.floor((row / columns[at.column]!.nodes.length) * column.length))]
      : column[row + down];
    focusOn(next);
  };
  const focusOn = (next: number | undefined) => {
    if (next !== undefined) scroller.querySelector<HTMLElement>(`[data-node="${next}"]`)?.focus();
  };
  const box = (one: number, style?: () => JSX.CSSProperties) => (
    <FocusBox
      tree={props.tree}
      node={one}
      isHere={one === node()}
      isLit={litNodes().has(one)}
      light={setLit}
      style={style?.()}
    />
  );
  const more = (column: Column, style?: () => JSX.CSSProperties) => (
    <button type="button" class="link soft focus-more" style={style?.()} onClick={() => setMost((now) => now * 3)}>
      and {count(column.more)} more
    </button>
  );
  return (
    <div ref={scroller} class="focus" onKeyDown={onKeyDown}>
      <Show
        when={!isNarrow()}
        fallback={<FocusRows columns={graph().columns} node={node()} ranges={ranges()} box={box} more={more} />}
      >
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
                      d={curve(from()!, to()!, sizes().wide)}
                    />
                  </Show>
                );
              }}
            </For>
          </svg>
          <For each={[...ranges()]}>
            {([other, { isAfter, isBad, words }]) => {
              const at = () => places().at.get(other)!;
              return (
                <span
                  class="focus-range mono"
                  classList={{ rust: isBad }}
                  title={words}
                  style={{
                    [isAfter ? 'right' : 'left']:
                      `${isAfter ? places().width - at().x + 8 : at().x + sizes().wide + 8}px`,
                    top: `${at().y + HIGH / 2 - 8}px`,
                    'max-width': `${sizes().across - 28}px`,
                  }}
                >
                  {words}
                </span>
              );
            }}
          </For>
          <For each={graph().columns}>
            {(column, index) => (
              <>
                <For each={column.nodes}>
                  {(one) =>
                    box(one, () => ({
                      position: 'absolute',
                      left: `${places().at.get(one)!.x}px`,
                      top: `${places().at.get(one)!.y}px`,
                      width: `${sizes().wide}px`,
                      height: `${HIGH}px`,
                    }))
                  }
                </For>
                <Show when={column.more > 0}>
                  {more(column, () => ({
                    position: 'absolute',
                    left: `${PAD + index() * (sizes().wide + sizes().across)}px`,
                    bottom: `${PAD}px`,
                  }))}
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
      </Show>
    </div>
  );
}

/**
 * The package to show without a selection: the only dependency of the project, or the package with
 * the most dependents.
 */
function first(tree: Tree): number {
  const [only, ...others] = tree.out[0]!;
  if (only !== undefined && others.length === 0 && answer(tree, only) > 0) return answer(tree, only);
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

/** A curve that is level at both ends. A link backwards or within a column bows around. */
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
