// Stands for a selected package that the tree does not have: an edit removed or moved it, or the
// address is of another tree.

import { createMemo, For, Show } from 'solid-js';
import { place } from '../../model/copies';
import { packagesOf, type Tree } from '../../model/tree';
import { useSession } from '../../state/session';
import { focusView } from '../frame/focus';

const MOST = 6;

export function Missing(props: { tree: Tree; location: string }) {
  const { run, view, history } = useSession();
  const name = () => props.location.split('node_modules/').at(-1)!;
  /** The version that the last change removed from here. */
  const removed = () => run.previous()?.get(props.location);
  const elsewhere = createMemo(() => packagesOf(props.tree).filter((node) => props.tree.nodes[node]!.name === name()));
  let element!: HTMLDivElement;
  /** Leaves these words. Their place keeps the keys. */
  const leave = (how: () => void) => {
    const region = element.closest<HTMLElement>('.package');
    how();
    if (region) region.focus();
    else focusView();
  };
  return (
    <div ref={element} class="missing">
      <p>
        <span class="mono">{name()}</span> is not{' '}
        <Show when={elsewhere().length > 0} fallback="in this tree.">
          at <span class="mono">{props.location}</span> in this tree.
        </Show>
      </p>
      <p class="soft">
        <Show
          when={removed() !== undefined}
          fallback="An earlier change may have removed it, or the address is of another tree."
        >
          The last change removed{' '}
          <span class="mono">
            {name()} {removed()}
          </span>
          <Show when={elsewhere().length > 0}> from there</Show>.
        </Show>
      </p>
      <ul class="missing-choices">
        <For each={elsewhere().slice(0, MOST)}>
          {(node) => (
            <li>
              <button
                type="button"
                class="button"
                onClick={() => leave(() => view.reveal(props.tree.nodes[node]!.location))}
              >
                Go to {name()} {props.tree.nodes[node]!.version} {place(props.tree.nodes[node]!)}
              </button>
            </li>
          )}
        </For>
        <Show when={removed() !== undefined && history.canUndo()}>
          <li>
            <button type="button" class="button" onClick={() => leave(() => history.undo())}>
              Undo the change
            </button>
          </li>
        </Show>
        <li>
          <button type="button" class="button" onClick={() => leave(() => view.deselect())}>
            Clear the selection
          </button>
        </li>
      </ul>
    </div>
  );
}
