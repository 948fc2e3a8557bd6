// The copies of a package: versions, places and dependents.

import { For, Show } from 'solid-js';
import { place } from '../../model/copies';
import { count } from '../../model/format';
import type { Tree } from '../../model/tree';
import { useSession } from '../../state/session';
import { title } from '../words';

const FIRST = 3;

export function Copies(props: { tree: Tree; copies: readonly number[]; current: number }) {
  const { view } = useSession();
  return (
    <ul class="copies">
      <For each={props.copies}>
        {(copy) => (
          <li aria-current={copy === props.current ? 'true' : undefined}>
            <button type="button" class="link mono" onClick={() => view.reveal(props.tree.nodes[copy]!.location)}>
              {props.tree.nodes[copy]!.version}
            </button>{' '}
            {place(props.tree.nodes[copy]!)}
            <p class="soft copy-wanted">
              wanted by{' '}
              <For each={props.tree.into[copy]!.slice(0, FIRST)}>
                {(edge, index) => (
                  <>
                    {index() > 0 ? ', ' : ''}
                    {title(props.tree.nodes[props.tree.edges[edge]!.from])}{' '}
                    <span class="mono">({props.tree.edges[edge]!.spec})</span>
                  </>
                )}
              </For>
              <Show when={props.tree.into[copy]!.length > FIRST}>
                {' '}
                and {count(props.tree.into[copy]!.length - FIRST)} more
              </Show>
            </p>
          </li>
        )}
      </For>
    </ul>
  );
}
