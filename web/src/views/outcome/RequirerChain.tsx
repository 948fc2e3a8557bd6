// From the root to the package that asked, each on its wire, and at the end what could not be had.

import { For } from 'solid-js';
import type { Requirer } from '../../engine/types';
import { kindWord } from '../words';

export interface ChainEnd {
  readonly name: string;
  readonly words: string;
}

export function RequirerChain(props: { chain: readonly Requirer[]; end: ChainEnd }) {
  return (
    <ol class="chain">
      <For each={props.chain}>
        {(step, index) => (
          <li style={{ '--level': index() }}>
            <Branch level={index()} />
            <span class="mono">{step.name}</span> <span class="mono soft">{step.version}</span>
            <span class="soft"> asks for </span>
            <span class="mono">{asked(props.chain[index() + 1]?.name ?? props.end.name, step.spec)}</span>
            <span class="soft">{step.kind === 'prod' ? '' : `, ${kindWord(step.kind)}`}</span>
          </li>
        )}
      </For>
      <li class="rust" style={{ '--level': props.chain.length }}>
        <Branch level={props.chain.length} />
        <span class="mono">{props.end.name}</span> {props.end.words}
      </li>
    </ol>
  );
}

/** The last one may have no name that could be said. */
function asked(name: string, spec: string): string {
  return name.includes(' ') ? spec : `${name}@${spec}`;
}

function Branch(props: { level: number }) {
  return (
    <svg class="chain-branch" classList={{ none: props.level === 0 }} viewBox="0 0 16 24" aria-hidden="true">
      <path d="M4.5 -4V8.5l4 4H14" />
    </svg>
  );
}
