// The three regions. In a narrow window, they are still side by side, and swiping or the bar below
// moves between them.

import { createEffect, createSignal, For, on, onCleanup, onMount, type JSX } from 'solid-js';
import type { Side } from '../../state/panes';
import { useSession } from '../../state/session';

const NAMES = ['Manifest', 'Tree', 'Package'] as const;
/** As in frame.css. */
const NARROW = '(max-width: 960px)';

export function Regions(props: { manifest: JSX.Element; outcome: JSX.Element; package: JSX.Element }) {
  const { run, project, panes } = useSession();
  const width = (side: Side) => (panes.panes().width[side] ? `${panes.panes().width[side]}px` : undefined);
  const [current, setCurrent] = createSignal(1);
  let track!: HTMLDivElement;

  const go = (index: number) => track.children[index]?.scrollIntoView({ inline: 'start', block: 'nearest' });
  const narrow = matchMedia(NARROW);
  const settle = () => {
    if (narrow.matches) setCurrent(Math.round(track.scrollLeft / Math.max(1, track.clientWidth)));
  };
  // A window that becomes narrow, such as that of a rotated tablet, shows the last region.
  const turn = () => narrow.matches && go(current());
  onMount(() => {
    go(1);
    narrow.addEventListener('change', turn);
    onCleanup(() => narrow.removeEventListener('change', turn));
    track.addEventListener('show-package', () => go(2));
  });
  // A new project shows the tree.
  createEffect(
    on([project.sample, run.phase], ([sample, phase]) => sample && phase === 'resolving' && go(1), { defer: true }),
  );

  return (
    <>
      <main
        class="regions"
        classList={{ 'left-closed': panes.panes().closed.left, 'right-closed': panes.panes().closed.right }}
        style={{ '--left': width('left'), '--right': width('right') }}
        ref={track}
        onScroll={settle}
      >
        {props.manifest}
        {props.outcome}
        {props.package}
      </main>
      <nav class="region-bar" aria-label="Regions">
        <For each={NAMES}>
          {(name, index) => (
            <button
              type="button"
              class="plain"
              aria-current={current() === index() ? 'true' : undefined}
              onClick={() => go(index())}
            >
              {name}
            </button>
          )}
        </For>
      </nav>
    </>
  );
}
