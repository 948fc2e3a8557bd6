// Announces a run to screen readers: its progress from time to time, and its end.

import { createEffect, createSignal, on, onCleanup } from 'solid-js';
import { counted, seconds } from '../../model/format';
import { packagesOf } from '../../model/tree';
import { useSession } from '../../state/session';

const EVERY = 2_000;

export function Announcer() {
  const { run, view } = useSession();
  const [words, setWords] = createSignal('');
  const packages = () => counted(run.tree() ? packagesOf(run.tree()!).length : 0, 'package');

  createEffect(
    on(run.phase, (phase) => {
      if (phase === 'resolving') {
        setWords('Resolving');
        const timer = setInterval(() => setWords(`Resolving, ${packages()} so far`), EVERY);
        onCleanup(() => clearInterval(timer));
      }
      if (phase === 'done') setWords(`Done: ${packages()} in ${seconds(run.elapsed())}`);
      if (phase === 'failed') setWords(`Failed: ${run.error()?.message ?? ''}`);
      if (phase === 'stopped') setWords('Stopped');
    }),
  );
  createEffect(
    on(
      view.matches,
      (matches) =>
        matches &&
        setWords(matches.nodes.size === 0 ? 'Nothing found' : `${counted(matches.nodes.size, 'package')} found`),
    ),
  );
  return (
    <div class="unseen" role="status" aria-live="polite">
      {words()}
    </div>
  );
}
