// One package and its neighbours, as a graph to navigate.

import { createEffect, createMemo, createSignal, For, onCleanup, onMount, Show, type JSX } from 'solid-js';
import { focus, through, type Column, type Link } from '../../model/focus';
import { count, counted } from '../../model/format';
import { answer, type Tree } from '../../model/tree';
import { useSession } from '../../state/session';
import { Missing } from '../package/Missing';
import { kindWord, title } from '../words';
import { FocusBox } from './FocusBox';
import { FocusRows } from './FocusRows';
import './focus.css';

/**
 * The minimum and maximum sizes of boxes and gaps. Dependents, package and dependencies are visible
 * together, and as many columns as have room.
 */
const WIDE = [124, 296] as const;
const ACROSS = [84, 160] as const;
/** The width that boxes grow to if there is room. */
const USUAL = 200;
/** The width of a letter of a name, and that of the rest of a box. */
const LETTER = 7.9;
const FRAME = 36;
/** In narrower windows, the columns are stacked. */
const NARROW = 560;
const HIGH = 40;
const DOWN = 12;
const PAD = 16;
const MOST = 14;

export function Focus(props: { tree: Tree }) {
  const { view } = useSession();
  return (
    <Show when={view.missing()} fallback={<Graph tree={props.tree} />}>
      {(location) => <Missing tree={props.tree} location={location()} />}
    </Show>
  );
}

function Graph(props: { tree: Tree }) {
  const { view } = useSession();
  const [most, setMost] = createSignal(MOST);
  const [lit, setLit] = createSignal<number | undefined>();
  const [room, setRoom] = createSignal(NARROW);
  const isNarrow = () => room() < NARROW;
  const node = () => (view.selected() && props.tree.at.get(view.selected()!)) || first(props.tree);
  const graph = createMemo(() => focus(props.tree, node(), most()));
  /** The width of each column, for its longest name, and that of the gaps. */
  const sizes = createMemo(() => {
    const { columns } = graph();
    const wanted = columns.map(({ nodes }) => {
      const longest = Math.max(0, ...nodes.map((one) => title(props.tree.nodes[one]).length));
      return Math.max(WIDE[0], Math.min(WIDE[1], Math.round(longest * LETTER + FRAME)));
    });
    const all = sharing(wanted, room() - 2 * PAD);
    if (all) return all;
    // The other columns are beside the view.
    const from = Math.max(0, columns.findIndex(({ nodes }) => nodes.includes(node())) - 1);
    const beside = sharing(wanted.slice(from, from + 3), room() - 2 * PAD);
    return {
      wides: wanted.map((wide, column) => beside?.wides[column - from] ?? wide),
      across: beside?.across ?? ACROSS[0],
    };
  });
  const places = createMemo(() => {
    const { columns } = graph();
    const { wides, across } = sizes();
    const lefts = wides.map((_, column) => PAD + sum(wides.slice(0, column)) + column * across);
    const tallest = Math.max(...columns.map(({ nodes, more }) => nodes.length + (more > 0 ? 1 : 0)));
    const height = tallest * (HIGH + DOWN) - DOWN + 2 * PAD;
    const at = new Map<number, At>();
    columns.forEach(({ nodes, more }, column) => {
      const rows = nodes.length + (more > 0 ? 1 : 0);
      const top = (height - (rows * (HIGH + DOWN) - DOWN)) / 2;
      nodes.forEach((one, row) =>
        at.set(one, { x: lefts[column]!, y: top + row * (HIGH + DOWN), wide: wides[column]!, column }),
      );
    });
    return { at, lefts, height, width: lefts.at(-1)! + wides.at(-1)! + PAD };
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
    const left = at.x + at.wide / 2;
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
                      d={curve(from()!, to()!)}
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
                    [isAfter ? 'right' : 'left']: `${isAfter ? places().width - at().x + 8 : at().x + at().wide + 8}px`,
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
                      width: `${places().at.get(one)!.wide}px`,
                      height: `${HIGH}px`,
                    }))
                  }
                </For>
                <Show when={column.more > 0}>
                  {more(column, () => ({
                    position: 'absolute',
                    left: `${places().lefts[index()]}px`,
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
  readonly wide: number;
  readonly column: number;
}

/** The widths of columns and gaps in a space, or undefined if even the least widths do not fit. */
function sharing(wanted: readonly number[], space: number): { wides: readonly number[]; across: number } | undefined {
  const gaps = Math.max(1, wanted.length - 1);
  const free = space - gaps * ACROSS[0];
  const least = wanted.length * WIDE[0];
  if (free < least) return undefined;
  const all = sum(wanted);
  if (all <= free) {
    const more = (free - all) / (wanted.length + gaps);
    return {
      wides: wanted.map((wide) => Math.max(wide, Math.min(USUAL, wide + more))),
      across: Math.min(ACROSS[1], ACROSS[0] + more),
    };
  }
  const part = (free - least) / (all - least);
  return { wides: wanted.map((wide) => WIDE[0] + (wide - WIDE[0]) * part), across: ACROSS[0] };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/** A curve that is level at both ends. A link backwards or within a column bows around. */
function curve(from: At, to: At): string {
  const [y0, y1] = [from.y + HIGH / 2, to.y + HIGH / 2];
  if (from.column < to.column) {
    const [x0, x1] = [from.x + from.wide, to.x];
    const middle = (x1 - x0) / 2;
    return `M${x0} ${y0}C${x0 + middle} ${y0} ${x1 - middle} ${y1} ${x1} ${y1}`;
  }
  const end = to.x + to.wide;
  const [x0, x1] = from.column === to.column ? [from.x + from.wide, end] : [from.x, end];
  const bow = from.column === to.column ? 40 : -30;
  return `M${x0} ${y0 + 6}C${x0 + bow} ${y0 + 6} ${x1 + 40} ${y1 + 6} ${x1} ${y1 + 6}`;
}
