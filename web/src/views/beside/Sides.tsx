// The choice of the side to edit, or the button that opens a second side.

import { Show } from 'solid-js';
import { useSession } from '../../state/session';
import './beside.css';

export function Sides() {
  const { beside, side, setSide, openBeside, closeBeside } = useSession();
  const tab = (name: 'a' | 'b', words: string) => (
    <button type="button" class="chip" aria-pressed={side() === name} onClick={() => setSide(name)}>
      {words}
    </button>
  );
  return (
    <Show
      when={beside()}
      fallback={
        <button
          type="button"
          class="button side-open"
          aria-keyshortcuts="c"
          title="Resolve a second package.json, lockfile, day or platform, and see what differs"
          onClick={() => openBeside()}
        >
          Side by side
        </button>
      }
    >
      <div class="sides" role="group" aria-label="Which side is edited">
        {tab('a', 'A, in the views')}
        {tab('b', 'B, beside it')}
        <button type="button" class="plain side-close" aria-label="Close B" onClick={() => closeBeside()}>
          ×
        </button>
      </div>
    </Show>
  );
}
