// Changes that the resolver tries, their results, and a button to apply each.

import { createSignal, For, onCleanup, Show } from 'solid-js';
import { attempt } from '../../engine';
import { treeOf, type Tree } from '../../model/tree';
import type { Try } from '../../model/tries';
import { sourceOf, type Inputs } from '../../state/project';
import { useSession } from '../../state/session';

/** The value of a change's result. */
export interface Verdict {
  readonly words: string;
  readonly isBetter: boolean;
  /** The order of results. The least is best. */
  readonly rank: number;
}

interface Tried extends Verdict {
  readonly change: Try;
}

export function Tries(props: {
  /** The label of the button. */
  readonly offer: string;
  readonly changes: (inputs: Inputs) => readonly Try[];
  readonly judge: (tree: Tree) => Verdict;
}) {
  const { project } = useSession();
  const [tried, setTried] = createSignal<readonly Tried[]>([]);
  const [isTrying, setTrying] = createSignal(false);
  const stop = new AbortController();
  onCleanup(() => stop.abort());

  /** Resolves without the lockfile, which would keep the duplicates. */
  const outcomeOf = async ({ manifest, settings }: Try, { registry, files }: Inputs): Promise<Verdict | undefined> => {
    try {
      const order = { manifest, ...sourceOf(registry, manifest), settings, files };
      return props.judge(treeOf((await attempt(order, stop.signal)).graph));
    } catch (error) {
      if (stop.signal.aborted) return undefined;
      const code = (error as { code?: string }).code ?? 'failed';
      return { words: `doesn’t resolve (${code})`, isBetter: false, rank: Infinity };
    }
  };
  const run = async () => {
    setTrying(true);
    const inputs = project.inputs();
    for (const change of props.changes(inputs)) {
      const verdict = await outcomeOf(change, inputs);
      if (!verdict) return;
      setTried((list) => [...list, { change, ...verdict }].sort((a, b) => a.rank - b.rank));
    }
    setTrying(false);
  };
  const apply = ({ manifest, settings }: Try) => {
    project.edit(manifest);
    project.setSettings(settings);
    // The change is applied as it was tried.
    project.setStartsFromLock(false);
  };
  return (
    <div class="tries">
      <Show when={tried().length === 0}>
        <button type="button" class="button small-button" disabled={isTrying()} onClick={() => void run()}>
          {isTrying() ? 'Trying…' : props.offer}
        </button>
      </Show>
      <ul aria-live="polite">
        <For each={tried()}>
          {({ change, words, isBetter }) => (
            <li class="tried">
              <span>{change.words}</span>
              <span class={isBetter ? 'green' : 'soft'}>{words}</span>
              <Show when={isBetter}>
                <button type="button" class="button small-button" onClick={() => apply(change)}>
                  Apply
                </button>
              </Show>
            </li>
          )}
        </For>
      </ul>
      <Show when={isTrying() && tried().length > 0}>
        <p class="soft">Trying…</p>
      </Show>
    </div>
  );
}
