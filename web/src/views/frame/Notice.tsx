import { Show } from 'solid-js';
import { useSession } from '../../state/session';

/** An error message, until somebody closes it. */
export function Notice() {
  const { notice, setNotice } = useSession();
  return (
    <Show when={notice()}>
      {(words) => (
        <p class="notice" role="alert">
          <span class="rust">{words()}</span>
          <button type="button" class="link" onClick={() => setNotice(undefined)}>
            Dismiss
          </button>
        </p>
      )}
    </Show>
  );
}
