// The mark of an edit beside a package: `+` for a new package, `~` for another version, `−2` for
// two removed packages below it.

import { Show } from 'solid-js';
import { useSession } from '../state/session';

const MOST = 8;

export function Sign(props: { node: number }) {
  const { changes } = useSession();
  const mark = () => changes()?.marks.get(props.node);
  const gone = () => changes()?.gone.get(props.node);
  return (
    <>
      <Show when={mark()}>
        {(kind) => (
          <span
            class={`sign ${kind() === 'added' ? 'green' : 'ochre'}`}
            title={kind() === 'added' ? 'new' : 'different version than before'}
          >
            {kind() === 'added' ? '+ ' : '~ '}
          </span>
        )}
      </Show>
      <Show when={gone()}>
        {(places) => (
          <span
            class="sign rust"
            title={`removed: ${places()
              .slice(0, MOST)
              .map(({ location, version }) => `${location.replace(/^.*node_modules\//, '')} ${version}`)
              .join(', ')}${places().length > MOST ? ` and ${places().length - MOST} more` : ''}`}
          >
            −{places().length}{' '}
          </span>
        )}
      </Show>
    </>
  );
}
