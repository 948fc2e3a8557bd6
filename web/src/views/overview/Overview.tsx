// The whole tree on a canvas, which the pointer and keys pan, zoom and navigate.

import { createEffect, createMemo, createSignal, For, on, onCleanup, onMount, Show, untrack } from 'solid-js';
import { analyze } from '../../model/analysis';
import { COLOURINGS, colour, type Colouring } from '../../model/colour';
import { espalier } from '../../model/espalier';
import { bytes, count, counted } from '../../model/format';
import { answer, packagesOf, type Tree } from '../../model/tree';
import { useSession } from '../../state/session';
import { createPalette } from '../palette';
import { placeTip } from '../tip';
import { title } from '../words';
import type { Named } from './names';
import { paint, paintPointed } from './paint';
import type { Camera, Scene } from './scene';
import './overview.css';

const MOST_ZOOM = 8;
const LARGE = 1_000;

interface OverviewProps {
  readonly tree: Tree;
  readonly plain?: boolean;
  /** The packages that are placed so far. Absent if all are. */
  readonly present?: ReadonlySet<number>;
}

/** A large tree that changes is laid out in a separate task. */
export function Overview(props: OverviewProps) {
  const [rested, setRested] = createSignal(untrack(() => props.tree));
  createEffect(
    on(
      () => props.tree,
      (tree) => {
        // This also runs the first time, because the tree may have changed since.
        if (tree === untrack(rested)) return;
        if (tree.nodes.length < LARGE) return setRested(() => tree);
        const timer = setTimeout(() => setRested(() => tree));
        onCleanup(() => clearTimeout(timer));
      },
    ),
  );
  return (
    <Picture tree={rested()} plain={props.plain ?? false} {...(props.present ? { present: props.present } : {})} />
  );
}

function Picture(props: OverviewProps) {
  const { run, view, changes, project, lookup } = useSession();
  const palette = createPalette();
  const [size, setSize] = createSignal({ width: 0, height: 0 });
  const [colouring, setColouring] = createSignal<Colouring>('kind');
  const [camera, setCamera] = createSignal<Camera | undefined>();
  const [hovered, setHovered] = createSignal<{ location: string; x: number; y: number } | undefined>();
  const [moving, setMoving] = createSignal(false);
  let canvas!: HTMLCanvasElement;
  /** Above the picture, so that the pointer does not redraw it. */
  let above!: HTMLCanvasElement;

  const aspect = createMemo(() => {
    const { width, height } = size();
    // A small change of the window's size keeps the layout.
    return height === 0 ? 1.6 : Math.max(0.5, Math.min(5, Math.round((width / height) * 8) / 8));
  });
  const layout = createMemo(() => espalier(props.tree, aspect()));
  createEffect(() => colouring() === 'age' && lookup.look('dates'));
  const coloured = createMemo(() => colour(props.tree, colouring(), lookup.known()));
  /** The number of placed packages in each class. */
  const counts = () => {
    const { present } = props;
    if (!present) return coloured().counts;
    const standing = coloured().classes.map(() => 0);
    for (const node of packagesOf(props.tree)) if (present.has(node)) standing[coloured().of[node]!]! += 1;
    return standing;
  };
  const selected = createMemo(() => (view.selected() === undefined ? undefined : props.tree.at.get(view.selected()!)));
  /** The package below the pointer, if the present tree has it. */
  const pointed = createMemo(() => (hovered() ? props.tree.at.get(hovered()!.location) : undefined));
  const found = createMemo(() => (props.plain ? undefined : view.matches()?.nodes));

  /** Shows the whole tree, with a margin. */
  const whole = createMemo<Camera>(() => {
    const { width, height } = size();
    const { left, right, top, bottom } = layout().bounds;
    const margin = Math.min(36, width * 0.05);
    const scale = Math.min(1.6, (width - 2 * margin) / (right - left), (height - 2 * margin) / (bottom - top));
    return {
      scale: Math.max(0.02, scale),
      x: width / 2 - ((left + right) / 2) * scale,
      y: height / 2 - ((top + bottom) / 2) * scale,
    };
  });
  const seen = () => camera() ?? whole();

  const zoom = (factor: number, x = size().width / 2, y = size().height / 2) => {
    const now = seen();
    const scale = Math.max(whole().scale * 0.7, Math.min(MOST_ZOOM, now.scale * factor));
    setCamera({ scale, x: x - ((x - now.x) * scale) / now.scale, y: y - ((y - now.y) * scale) / now.scale });
    settle();
  };
  const pan = (dx: number, dy: number) => {
    const now = seen();
    setCamera({ ...now, x: now.x + dx, y: now.y + dy });
    settle();
  };
  // Names are placed when the picture comes to rest.
  let rest: number | undefined;
  const settle = () => {
    setMoving(true);
    clearTimeout(rest);
    rest = setTimeout(() => setMoving(false), 120);
  };
  onCleanup(() => clearTimeout(rest));

  let frame = 0;
  let named: Named | undefined;
  let scene: Scene | undefined;
  /** Fits a canvas into the view, at the resolution of the screen. */
  const prepare = (on: HTMLCanvasElement, alpha: boolean) => {
    const { width, height } = size();
    const ratio = Math.min(2, devicePixelRatio);
    if (on.width !== Math.round(width * ratio) || on.height !== Math.round(height * ratio)) {
      on.width = Math.round(width * ratio);
      on.height = Math.round(height * ratio);
    }
    const context = on.getContext('2d', { alpha })!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
  };
  const draw = () => {
    frame = 0;
    const { width, height } = size();
    if (width === 0) return;
    scene = {
      tree: props.tree,
      layout: layout(),
      coloured: coloured(),
      palette: palette(),
      camera: seen(),
      width,
      height,
      selected: props.plain ? undefined : selected(),
      found: found(),
      present: props.present,
      diff: props.plain || run.tree() !== props.tree ? undefined : changes(),
      moving: moving() && layout().order.length > 600,
    };
    named = paint(prepare(canvas, false), scene, named);
    point();
  };
  let pointFrame = 0;
  let isPointing = false;
  const point = () => {
    cancelAnimationFrame(pointFrame);
    pointFrame = 0;
    // Without a pointer, the canvas is empty and stays so. A tree that was not drawn yet will be.
    if (!scene || scene.tree !== props.tree || (pointed() === undefined && !isPointing)) return;
    isPointing = pointed() !== undefined;
    paintPointed(prepare(above, true), scene, pointed(), named);
  };
  createEffect(on(pointed, () => (pointFrame ||= requestAnimationFrame(() => untrack(point))), { defer: true }));
  createEffect(() => {
    // Layout and drawing happen in the frame itself, because a growing tree changes more often than
    // it is drawn.
    [props.tree, aspect(), colouring(), lookup.known(), palette(), camera(), size(), selected(), found()];
    [changes(), moving(), props.present];
    frame ||= requestAnimationFrame(() => untrack(draw));
  });
  onCleanup(() => {
    cancelAnimationFrame(frame);
    cancelAnimationFrame(pointFrame);
  });
  onMount(() => {
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect;
      setSize({ width, height });
    });
    observer.observe(canvas);
    onCleanup(() => observer.disconnect());
  });
  // Another project starts with the whole tree.
  createEffect(on(project.generation, () => setCamera(undefined), { defer: true }));
  // A package that was selected elsewhere scrolls into view.
  createEffect(
    on(
      selected,
      (node) => {
        if (node === undefined || !camera()) return;
        const { x, y, scale } = seen();
        const [px, py] = [x + layout().x[node]! * scale, y + layout().y[node]! * scale];
        const { width, height } = size();
        if (px < 20 || py < 20 || px > width - 20 || py > height - 20)
          setCamera({ scale, x: x + width / 2 - px, y: y + height / 2 - py });
      },
      { defer: true },
    ),
  );

  const nodeAt = (x: number, y: number): number | undefined => {
    const now = seen();
    const { x: xs, y: ys, order, pitch } = layout();
    let [nearest, distance] = [-1, Math.max(8, (pitch * now.scale) / 2) ** 2];
    for (const node of order) {
      if (props.present && !props.present.has(node)) continue;
      const far = (now.x + xs[node]! * now.scale - x) ** 2 + (now.y + ys[node]! * now.scale - y) ** 2;
      if (far < distance) [nearest, distance] = [node, far];
    }
    return nearest === -1 ? undefined : nearest;
  };
  const place = (event: { clientX: number; clientY: number }) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top] as const;
  };
  const select = (node: number | undefined) => {
    if (node === undefined || node === 0) view.deselect();
    else view.choose(props.tree.nodes[node]!.location);
  };

  const pointers = new Map<number, { x: number; y: number }>();
  let dragged = 0;
  const onPointerDown = (event: PointerEvent) => {
    if (event.button > 0) return;
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (pointers.size === 1) dragged = 0;
  };
  const onPointerMove = (event: PointerEvent) => {
    const before = pointers.get(event.pointerId);
    const [x, y] = place(event);
    if (!before) {
      const node = nodeAt(x, y);
      setHovered(node === undefined ? undefined : { location: props.tree.nodes[node]!.location, x, y });
      return;
    }
    const others = [...pointers.entries()].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (others[0]) {
      // A pinch keeps the point between the fingers in place.
      const far = (a: { x: number; y: number }) => Math.hypot(a.x - others[0]!.x, a.y - others[0]!.y);
      const [mx, my] = place({
        clientX: (event.clientX + others[0].x) / 2,
        clientY: (event.clientY + others[0].y) / 2,
      });
      zoom(far({ x: event.clientX, y: event.clientY }) / Math.max(1, far(before)), mx, my);
      dragged = 99;
      return;
    }
    const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
    dragged += Math.abs(dx) + Math.abs(dy);
    if (dragged > 4) {
      setHovered(undefined);
      pan(dx, dy);
    }
  };
  const onPointerUp = (event: PointerEvent) => {
    const isClick = pointers.delete(event.pointerId) && dragged <= 4;
    if (!isClick) return;
    const node = nodeAt(...place(event));
    select(node);
    if (node) canvas.dispatchEvent(new CustomEvent('show-package', { bubbles: true }));
  };
  const onWheel = (event: WheelEvent) => {
    event.preventDefault();
    const [x, y] = place(event);
    zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), x, y);
  };
  onMount(() => canvas.addEventListener('wheel', onWheel, { passive: false }));

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.shiftKey && event.key.startsWith('Arrow')) {
      const [dx, dy] = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key]!;
      pan(dx!, dy!);
    } else if (event.key === '+' || event.key === '=') zoom(1.4);
    else if (event.key === '-') zoom(1 / 1.4);
    else if (event.key === '0') setCamera(undefined);
    else if (event.key.startsWith('Arrow')) walk(event.key);
    else return;
    event.preventDefault();
  };
  /** Moves the selection: up to the first branch, down to the parent, sideways to siblings. */
  const walk = (key: string) => {
    const at = selected() ?? 0;
    const { parent, x, order } = layout();
    const beside = (node: number) =>
      order.filter((other) => other !== 0 && parent[other] === parent[node]).sort((a, b) => x[a]! - x[b]!);
    if (key === 'ArrowUp') return select(order.find((node) => parent[node] === at) ?? at);
    if (key === 'ArrowDown') return select(at === 0 ? 0 : parent[at]!);
    const row = beside(at);
    select(row[row.indexOf(at) + (key === 'ArrowRight' ? 1 : -1)] ?? at);
  };
  const words = () => {
    const node = selected();
    const all = counted(packagesOf(props.tree).length, 'package');
    if (node === undefined || node === 0) return `Overview of ${all}. Arrow keys walk it, plus and minus zoom.`;
    const { name, version } = props.tree.nodes[node]!;
    return `${name} ${version ?? ''}, ${analyze(props.tree).depth[node]} steps from the project. Overview of ${all}.`;
  };

  return (
    <div class="overview">
      <canvas
        ref={canvas}
        class="overview-canvas"
        role="img"
        tabindex={props.plain ? -1 : 0}
        aria-label={words()}
        aria-busy={run.phase() === 'resolving'}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={(event) => pointers.delete(event.pointerId)}
        onPointerLeave={() => setHovered(undefined)}
        onDblClick={(event) => zoom(2, ...place(event))}
        onKeyDown={onKeyDown}
      />
      <canvas ref={above} class="overview-above" style={{ width: `${size().width}px`, height: `${size().height}px` }} />
      <Show when={pointed() !== undefined && hovered()}>
        {(at) => <Tip tree={props.tree} node={pointed()!} x={at().x} y={at().y} {...size()} />}
      </Show>
      <Show when={!props.plain}>
        <div class="legend">
          <label class="legend-choice">
            <span class="soft">Colour</span>
            <select
              class="field"
              value={colouring()}
              onChange={(event) => setColouring(event.currentTarget.value as Colouring)}
            >
              <For each={COLOURINGS}>{([name, words]) => <option value={name}>{words}</option>}</For>
            </select>
          </label>
          <div class="zoom">
            <button type="button" class="button" aria-label="Zoom in" onClick={() => zoom(1.5)}>
              +
            </button>
            <button type="button" class="button" aria-label="Zoom out" onClick={() => zoom(1 / 1.5)}>
              −
            </button>
            <button
              type="button"
              class="button"
              aria-label="Show everything"
              disabled={!camera()}
              onClick={() => setCamera(undefined)}
            >
              Fit
            </button>
          </div>
          <ul class="legend-classes">
            <For each={coloured().classes}>
              {(kind, index) => (
                <Show when={coloured().counts[index()]! > 0}>
                  <li>
                    <i class={`dot ${kind.colour}-dot`} />
                    {kind.words} <span class="soft">{count(counts()[index()]!)}</span>
                  </li>
                </Show>
              )}
            </For>
            <Show when={lookup.waiting()}>
              <li class="soft">asking the registry: {count(lookup.waiting())} to go</li>
            </Show>
          </ul>
        </div>
      </Show>
    </div>
  );
}

function Tip(props: { tree: Tree; node: number; x: number; y: number; width: number; height: number }) {
  const node = () => props.tree.nodes[props.node]!;
  const asked = () => props.tree.into[props.node]!.length;
  let tip!: HTMLParagraphElement;
  // Its size is known when its words are.
  createEffect(() => {
    [props.node];
    placeTip(tip, props, props);
  });
  return (
    <p ref={tip} class="tip">
      <span class="mono">
        {title(node())} <span class="soft">{node().version}</span>
      </span>
      <Show when={props.node > 0}>
        <br />
        <span class="soft">
          {counted(asked(), 'dependent')}, brings{' '}
          {count(props.tree.out[props.node]!.filter((edge) => answer(props.tree, edge) > 0).length)}
          <Show when={node().unpackedSize}>{(size) => <>, {bytes(size())}</>}</Show>
        </span>
      </Show>
    </p>
  );
}
