// The dialog that lists all keys.

import { createEffect, For } from 'solid-js';
import { setSingleKeys, singleKeys } from '../../state/single-keys';

const KEYS: readonly (readonly [keys: readonly string[], effect: string])[] = [
  [['1', '–', '9'], 'on the first page: open a sample'],
  [['e'], 'edit package.json'],
  [['Ctrl', 'Enter'], 'resolve now'],
  [['/'], 'search; Enter goes to the first result, and / Enter to the next'],
  [['t'], 'the tree'],
  [['o'], 'the overview'],
  [['f'], 'focus on the selected package'],
  [['m'], 'the map'],
  [['u'], 'undo the last change'],
  [['r'], 'redo it'],
  [['[', ']'], 'in the replay: one decision back or forward'],
  [['↑', '↓'], 'one row up or down'],
  [['→', '←'], 'open or close; go to the first dependency or to the dependent'],
  [['Home', 'End'], 'first and last row'],
  [['Enter'], 'on a “deduped” row: go to the package’s own row'],
  [['any letter'], 'to the next package that begins with it (with Shift if the letter is a shortcut)'],
  [['*'], 'open all rows beside this one'],
  [['w'], 'why the selected package is installed'],
  [['c'], 'compare: a second project beside this one'],
  [['d'], 'show only packages that are installed more than once'],
  [['Escape'], 'one step back; out of a text field'],
  [['?'], 'this card'],
];

export function Keys(props: { shown: boolean; close: () => void }) {
  let dialog!: HTMLDialogElement;
  createEffect(() => (props.shown ? dialog.showModal() : dialog.close()));
  return (
    <dialog ref={dialog} class="keys" aria-labelledby="keys-title" onClose={() => props.close()}>
      <h2 id="keys-title">Keys</h2>
      <dl>
        <For each={KEYS}>
          {([keys, effect]) => (
            <>
              <dt>
                <For each={keys}>{(key) => (isWord(key) ? key : <kbd>{key}</kbd>)}</For>
              </dt>
              <dd>{effect}</dd>
            </>
          )}
        </For>
      </dl>
      <label class="single-keys">
        <input
          type="checkbox"
          checked={singleKeys()}
          onChange={(event) => setSingleKeys(event.currentTarget.checked)}
        />
        Single keys act outside of text fields
      </label>
      <form method="dialog">
        <button type="submit" class="button" autofocus>
          Close
        </button>
      </form>
    </dialog>
  );
}

/** Whether a text is words instead of the name of a key. */
function isWord(text: string): boolean {
  return text === '–' || text.includes(' ');
}
