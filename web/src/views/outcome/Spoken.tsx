import { For } from 'solid-js';
import type { Words } from './failure-words';

/** A sentence with its code in the monospace face. */
export function Spoken(props: { words: Words }) {
  return (
    <For each={props.words}>
      {(piece) => (typeof piece === 'string' ? piece : <span class="mono">{piece.code}</span>)}
    </For>
  );
}
