// The chains from the root, each step with the range that asks for the next.

import { createSignal, For, Show } from 'solid-js';
import { answer, type Tree } from '../../model/tree';
import type { Chain } from '../../model/why';
import { useSession } from '../../state/session';
import { kindWord, title } from '../words';

/** More would hide what stands below; the rest is one key away. */
const FIRST = 4;

export function Chains(props: { tree: Tree; chains: readonly Chain[] }) {
  const [all, setAll] = createSignal(false);
  const shown = () => (all() ? props.chains : props.chains.slice(0, FIRST));
  return (
    <Show when={props.chains.length > 0} fallback={<p class="soft">Nothing asks for it.</p>}>
      <ul class="chains">
        <For each={shown()}>
          {(chain) => (
            <li>
              <ChainSteps tree={props.tree} chain={chain} />
            </li>
          )}
        </For>
      </ul>
      <Show when={!all() && props.chains.length > FIRST}>
        <button class="link soft" onClick={() => setAll(true)}>
          and {props.chains.length - FIRST} more
        </button>
      </Show>
    </Show>
  );
}

function ChainSteps(props: { tree: Tree; chain: Chain }) {
  const { view } = useSession();
  return (
    <ol class="steps">
      <li style={{ '--level': 0 }}>
        <button class="link mono" onClick={() => view.show(-1)}>
          {title(props.tree.nodes[0])}
        </button>
      </li>
      <For each={props.chain}>
        {(edge, index) => (
          <li style={{ '--level': index() + 1 }}>
            <svg class="step-branch" viewBox="0 0 12 24" aria-hidden="true">
              <path d="M2.5 -4V8.5l4 4H11" />
            </svg>
            <button class="link mono" onClick={() => view.show(edge)}>
              {props.tree.edges[edge]!.name}
            </button>
            <span class="mono soft step-spec">{props.tree.edges[edge]!.spec}</span>
            <Show when={props.tree.edges[edge]!.kind !== 'prod'}>
              <span class="soft">{kindWord(props.tree.edges[edge]!.kind)}</span>
            </Show>
            <Show when={index() < props.chain.length - 1}>
              <span class="mono soft step-version">{props.tree.nodes[answer(props.tree, edge)]!.version}</span>
            </Show>
          </li>
        )}
      </For>
    </ol>
  );
}
