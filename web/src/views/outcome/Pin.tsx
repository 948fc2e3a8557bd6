import { Show } from 'solid-js';
import { useSession } from '../../state/session';

/**
 * Keeps the present tree for comparison. The button is beside the sentence in wide windows, and
 * beside the tabs in narrow ones.
 */
export function Pin(props: { class: 'wide' | 'narrow' }) {
  const { run, changes, pin } = useSession();
  return (
    <Show when={run.phase() === 'done' && !changes()}>
      <button
        type="button"
        class={`link soft pin ${props.class}-pin`}
        title="Compare later trees with this one: after an edit, with other flags, for another platform, as of another day"
        onClick={() => pin()}
      >
        Pin this tree
      </button>
    </Show>
  );
}
