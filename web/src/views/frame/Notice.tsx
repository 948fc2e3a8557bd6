import { Show } from 'solid-js';
import { useSession } from '../../state/session';

/** Something that couldn't be done, until it is read. */
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
