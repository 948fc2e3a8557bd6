import { Show } from 'solid-js';
import { useSession } from '../../state/session';

/** Keeps the present tree to compare with; beside the sentence where that is one line, and beside the tabs elsewhere. */
export function Pin(props: { class: 'wide' | 'narrow' }) {
  const { run, changes, pin } = useSession();
  return (
    <Show when={run.phase() === 'done' && !changes()}>
      <button
        type="button"
        class={`link soft pin ${props.class}-pin`}
        title="Keep this tree beside every later one: after an edit, with other flags, for another platform, as of another day"
        onClick={() => pin()}
      >
        Pin this tree
      </button>
    </Show>
  );
}
