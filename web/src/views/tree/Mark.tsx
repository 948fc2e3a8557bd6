// The sign before a name: a branch that opens, a leaf, a graft (a copy inside another package), a
// deduped or a missing package.

import { Match, Switch } from 'solid-js';

export type MarkKind = 'branch' | 'leaf' | 'graft' | 'deduped' | 'missing';

export function Mark(props: { kind: MarkKind; open?: boolean | undefined }) {
  return (
    <svg class="mark" classList={{ open: props.open }} viewBox="0 0 16 16" aria-hidden="true">
      <Switch>
        <Match when={props.kind === 'branch'}>
          <path d="m6 4 4 4-4 4" />
        </Match>
        <Match when={props.kind === 'leaf'}>
          <circle class="solid" cx="8" cy="8" r="2" />
        </Match>
        <Match when={props.kind === 'graft'}>
          <path class="solid" d="m8 5 3 3-3 3-3-3z" />
        </Match>
        <Match when={props.kind === 'deduped'}>
          <circle cx="8" cy="8" r="2.5" />
        </Match>
        <Match when={props.kind === 'missing'}>
          <path d="m5.5 5.5 5 5m0-5-5 5" />
        </Match>
      </Switch>
    </svg>
  );
}
