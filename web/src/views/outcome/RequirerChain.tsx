// The dependents from the root downwards, each on its wire. The last row is the dependency that
// failed.

import { For } from 'solid-js';
import type { Requirer } from '../../engine/types';
import { kindWord } from '../words';

export interface ChainEnd {
  readonly name: string;
  /** A version or a range. */
  readonly code?: string | undefined;
  readonly words?: string;
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
        <span class="mono">
          {props.end.name} {props.end.code}
        </span>{' '}
        {props.end.words}
      </li>
    </ol>
  );
}

/** A dependency without a package name is described in words. Then only its spec is shown. */
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
