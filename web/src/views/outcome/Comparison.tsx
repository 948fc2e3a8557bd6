// How the tree differs from the package-lock.json that was handed in.

import { createMemo, For, Match, Show, Switch } from 'solid-js';
import { differences, isIdentical, packagesOfLock } from '../../model/compare';
import { counted } from '../../model/format';
import { useSession } from '../../state/session';

const MOST = 200;

export function Comparison() {
  const { reference, setReference, run, view } = useSession();
  const result = createMemo(() => {
    const [before, after] = [reference(), run.result()?.lockfile];
    if (before === undefined || after === undefined) return undefined;
    const list = differences(packagesOfLock(before) ?? {}, packagesOfLock(after) ?? {});
    return { isIdentical: isIdentical(before, after), list };
  });
  return (
    <Show when={result()}>
      {(comparison) => (
        <div class="comparison">
          <Switch>
            <Match when={comparison().isIdentical}>Identical to your package-lock.json, to the byte.</Match>
            <Match when={comparison().list.length === 0}>The same packages as in your package-lock.json, written differently.</Match>
            <Match when={true}>
              <details>
                <summary>{counted(comparison().list.length, 'package differs', 'packages differ')} from your package-lock.json.</summary>
                <ul class="differences mono">
                  <For each={comparison().list.slice(0, MOST)}>
                    {(difference) => (
                      <li>
                        <button class="link" disabled={!difference.after} onClick={() => view.reveal(difference.location)}>
                          {difference.location.replaceAll('node_modules/', ' › ').replace(/^ › /, '')}
                        </button>{' '}
                        <span class="soft">
                          {difference.before ?? 'absent'} → {difference.after ?? 'absent'}
                        </span>
                      </li>
                    )}
                  </For>
                </ul>
              </details>
            </Match>
          </Switch>
          <button class="link soft" onClick={() => setReference(undefined)}>
            Don’t compare
          </button>
        </div>
      )}
    </Show>
  );
}
