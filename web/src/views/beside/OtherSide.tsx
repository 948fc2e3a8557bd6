// The context of B, the project beside the one that the views show.

import { Show, type ParentProps } from 'solid-js';
import { SessionProvider, useSession } from '../../state/session';

export function OtherSide(props: ParentProps) {
  const session = useSession();
  return (
    <Show when={session.beside()} keyed>
      {({ project, run, history }) => (
        <SessionProvider
          session={{
            ...session,
            project,
            run,
            history,
            begin: (text, lock, files) => project.replace(text, lock, files),
            pick: (sample) => void project.pick(sample),
          }}
        >
          {props.children}
        </SessionProvider>
      )}
    </Show>
  );
}
