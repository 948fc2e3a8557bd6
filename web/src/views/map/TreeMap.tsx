// A treemap of sizes. The area of a package includes the packages that would go with it.

import { createEffect, createMemo, createSignal, onCleanup, onMount, Show, untrack } from 'solid-js';
import { analyze, bytesOf, totals } from '../../model/analysis';
import { colour } from '../../model/colour';
import { bytes, counted } from '../../model/format';
import { treemap, type Area, type Box, type Measure } from '../../model/treemap';
import type { Tree } from '../../model/tree';
import { useSession } from '../../state/session';
import { createPalette } from '../palette';
import { Sign } from '../Sign';
import { placeTip } from '../tip';
import './map.css';

/** The distance between a name and the figure below it. */
const LINE = 14;

export function TreeMap(props: { tree: Tree }) {
  const { view, changes } = useSession();
  const palette = createPalette();
  const [size, setSize] = createSignal({ width: 0, height: 0 });
  const [hovered, setHovered] = createSignal<{ area: Area; x: number; y: number } | undefined>();
  const [wanted, setWanted] = createSignal<Measure>('bytes');
  let canvas!: HTMLCanvasElement;
  // A lockfile contains no sizes. Packages are then counted instead.
  const hasSizes = () => totals(props.tree).bytes > 0;
  const measure = (): Measure => (hasSizes() ? wanted() : 'packages');
  const areas = createMemo(() => treemap(props.tree, measure(), size().width, size().height));
  const kinds = createMemo(() => colour(props.tree, 'kind'));
  const selected = () => (view.selected() === undefined ? undefined : props.tree.at.get(view.selected()!));

  const draw = () => {
    const { width, height } = size();
    if (width === 0) return;
    const ratio = Math.min(2, devicePixelRatio);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext('2d', { alpha: false })!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const colours = palette();
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, width, height);
    const found = view.matches()?.nodes;
    context.textBaseline = 'middle';
    for (const area of areas()) {
      const { node } = area;
      const isFound = !found || found.has(node);
      const tone = kinds().classes[kinds().of[node]!]!.colour;
      context.globalAlpha = isFound ? 1 : 0.25;
      context.fillStyle = mix(colours.paper, colours[tone], area.header > 0 ? 0.14 : 0.42);
      context.fillRect(area.x, area.y, area.width, area.height);
      if (area.own) {
        context.fillStyle = mix(colours.paper, colours[tone], 0.42);
        context.fillRect(area.own.x, area.own.y, area.own.width, area.own.height);
      }
      context.lineWidth = 1;
      context.strokeStyle = colours.paper;
      context.strokeRect(area.x + 0.5, area.y + 0.5, area.width - 1, area.height - 1);
      const mark = changes()?.marks.get(node);
      if (mark) {
        context.fillStyle = mark === 'added' ? colours.green : colours.ochre;
        context.fillRect(area.x, area.y, 4, area.height);
      }
      if (area.width > 34 && (area.header > 0 || (area.height > 14 && !area.own)))
        name(context, area, colours.ink, colours.mono);
      if (area.own && area.header > 0 && area.own.height > 16) itself(context, area.node, area.own, colours.ink);
    }
    context.globalAlpha = 1;
    for (const [area, line] of [
      [hovered()?.area, 1.5],
      [areas().find(({ node }) => node === selected()), 3],
    ] as const) {
      if (!area) continue;
      context.strokeStyle = colours.green;
      context.lineWidth = line;
      context.strokeRect(area.x + line / 2, area.y + line / 2, area.width - line, area.height - line);
    }
  };
  const name = (context: CanvasRenderingContext2D, area: Area, ink: string, mono: string) => {
    context.font = `${area.depth === 1 && area.width > 90 ? 12 : 11}px ${mono}`;
    context.fillStyle = ink;
    const mark = changes()?.marks.get(area.node);
    const sign = mark ? (mark === 'added' ? '+ ' : '~ ') : '';
    const words = fitted(context, `${sign}${props.tree.nodes[area.node]!.name}`, area.width - 10);
    if (words === '') return;
    const y = area.y + (area.header > 0 ? area.header / 2 + 1 : Math.min(area.height / 2, 10));
    context.fillText(words, area.x + 6, y);
    const wide = context.measureText(words).width + 8;
    const weight =
      measure() === 'bytes' ? analyze(props.tree).onlyBytes[area.node]! : analyze(props.tree).only[area.node]!;
    const figure = measure() === 'bytes' ? bytes(weight) : String(weight);
    const room = area.width - 12 - context.measureText(figure).width;
    const isBelow = room < wide && room >= 0 && area.header === 0 && area.height > 2 * LINE;
    if (room < wide && !isBelow) return;
    const alpha = context.globalAlpha;
    context.globalAlpha = alpha * 0.65;
    context.fillText(figure, area.x + 6 + (isBelow ? 0 : wide), y + (isBelow ? LINE : 0));
    context.globalAlpha = alpha;
  };
  /** Labels the area of a package's own files, if other packages are inside of it. */
  const itself = (context: CanvasRenderingContext2D, node: number, own: Box, ink: string) => {
    if (own.width < 58) return;
    const alpha = context.globalAlpha;
    context.globalAlpha = alpha * 0.65;
    context.fillStyle = ink;
    const words = measure() === 'bytes' ? `itself ${bytes(bytesOf(props.tree, node))}` : 'itself';
    const isWide = own.width > context.measureText(words).width + 12;
    context.fillText(isWide ? words : 'itself', own.x + 6, own.y + Math.min(own.height / 2, 10));
    context.globalAlpha = alpha;
  };
  let frame = 0;
  createEffect(() => {
    [areas(), kinds(), palette(), selected(), hovered(), view.matches(), changes()];
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      untrack(draw);
    });
  });
  onCleanup(() => cancelAnimationFrame(frame));
  onMount(() => {
    const observer = new ResizeObserver(([entry]) =>
      setSize({ width: entry!.contentRect.width, height: entry!.contentRect.height }),
    );
    observer.observe(canvas);
    onCleanup(() => observer.disconnect());
  });

  const areaAt = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const area = areas().findLast((one) => x >= one.x && x < one.x + one.width && y >= one.y && y < one.y + one.height);
    return area && { area, x, y };
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { dominator, dominated, onlyBytes, only } = analyze(props.tree);
    const heavy = (node: number) => (measure() === 'bytes' ? onlyBytes : only)[node]!;
    const at = selected() ?? 0;
    const beside = (dominated[Math.max(0, dominator[at]!)] ?? []).toSorted((a, b) => heavy(b) - heavy(a));
    const next = {
      ArrowRight: beside[beside.indexOf(at) + 1],
      ArrowLeft: beside[beside.indexOf(at) - 1],
      ArrowDown: (dominated[at] ?? []).toSorted((a, b) => heavy(b) - heavy(a))[0],
      ArrowUp: dominator[at],
    }[event.key];
    if (!event.key.startsWith('Arrow')) return;
    event.preventDefault();
    if (next !== undefined && next > 0) view.choose(props.tree.nodes[next]!.location);
  };
  const words = () => {
    const node = selected();
    if (node === undefined || node === 0)
      return `Map of ${counted(props.tree.nodes.length - 1, 'package')}. Arrow keys go from one to the next.`;
    return `${props.tree.nodes[node]!.name}, ${describe(node)}`;
  };
  const describe = (node: number) => {
    const { only, onlyBytes } = analyze(props.tree);
    const own = props.tree.nodes[node]!.unpackedSize;
    const parts = [
      own === undefined ? 'size not known' : bytes(bytesOf(props.tree, node)),
      only[node]! > 1
        ? `${hasSizes() ? `${bytes(onlyBytes[node]!)} ` : ''}with ${counted(only[node]! - 1, 'package')} that only it needs`
        : '',
    ];
    return parts.filter(Boolean).join(', ');
  };
  return (
    <div class="map">
      <div class="map-bar">
        <Show
          when={hasSizes()}
          fallback={<p class="soft">The sizes are not known, so the areas show numbers of packages.</p>}
        >
          <label>
            <span class="soft">Area</span>{' '}
            <select
              class="field small-field"
              value={wanted()}
              onChange={(event) => setWanted(event.currentTarget.value as Measure)}
            >
              <option value="bytes">unpacked size</option>
              <option value="packages">number of packages</option>
            </select>
          </label>
          <p class="soft">A package’s area contains the packages that only it needs.</p>
        </Show>
      </div>
      <canvas
        ref={canvas}
        class="map-canvas"
        role="img"
        tabindex="0"
        aria-label={words()}
        onPointerMove={(event) => setHovered(areaAt(event))}
        onPointerLeave={() => setHovered(undefined)}
        onKeyDown={onKeyDown}
        onClick={(event) => {
          const at = areaAt(event);
          if (!at) return view.deselect();
          view.choose(props.tree.nodes[at.area.node]!.location);
          canvas.dispatchEvent(new CustomEvent('show-package', { bubbles: true }));
        }}
      />
      <Show when={hovered()}>
        {(at) => {
          let tip!: HTMLParagraphElement;
          createEffect(() => {
            [describe(at().area.node)];
            placeTip(tip, at(), size());
          });
          return (
            <p ref={tip} class="tip map-tip">
              <span class="mono">
                <Sign node={at().area.node} />
                {props.tree.nodes[at().area.node]!.name}{' '}
                <span class="soft">{props.tree.nodes[at().area.node]!.version}</span>
              </span>
              <br />
              <span class="soft">{describe(at().area.node)}</span>
            </p>
          );
        }}
      </Show>
    </div>
  );
}

/**
 * Truncates a name to the available width. The scope goes first, because neighbours often share it.
 * A name of which too little would remain is left out. The font is monospaced.
 */
function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  const letter = context.measureText('m').width;
  const most = Math.floor(room / letter);
  if (text.length <= most) return text;
  const short = text.replace(/@[^/]+\//, '…/');
  if (short.length <= most) return short;
  return most < 7 ? '' : `${short.slice(0, most - 1)}…`;
}

function mix(paper: string, tone: string, share: number): string {
  return `color-mix(in oklab, ${tone} ${share * 100}%, ${paper})`;
}
