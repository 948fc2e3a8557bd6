// The matches of a search, grouped by name, exact names first. A click selects a package, and
// another click its next copy.

import { createMemo, For, Show } from 'solid-js';
import { count } from '../../model/format';
import { resultsOf, type Found } from '../../model/results';
import { useSession } from '../../state/session';

const MOST = 24;
const VERSIONS = 3;

export function Results() {
  const { run, view } = useSession();
  const found = createMemo(() => {
    const [tree, matches] = [run.tree(), view.matches()];
    return tree && matches ? resultsOf(tree, matches, view.query()) : [];
  });
  const location = (node: number) => run.tree()!.nodes[node]!.location;
  const isHere = ({ nodes }: Found) => nodes.some((node) => location(node) === view.selected());
  const go = ({ nodes }: Found) => {
    const at = nodes.findIndex((node) => location(node) === view.selected());
    view.choose(location(nodes[(at + 1) % nodes.length]!));
  };
  const versions = (one: Found) =>
    one.versions.length > VERSIONS ? `${count(one.versions.length)} versions` : one.versions.join(', ');
  return (
    <Show when={found().length > 0}>
      <ul class="results" aria-label="Found">
        <For each={found().slice(0, MOST)}>
          {(one) => (
            <li>
              <button type="button" class="chip" aria-pressed={isHere(one)} onClick={() => go(one)}>
                <span class="mono">{one.name}</span> <span class="soft">{versions(one)}</span>
                <Show when={one.nodes.length > 1}>
                  <span class="ochre"> ×{count(one.nodes.length)}</span>
                </Show>
              </button>
            </li>
          )}
        </For>
        <Show when={found().length > MOST}>
          <li class="soft">and {count(found().length - MOST)} more names</li>
        </Show>
      </ul>
    </Show>
  );
}
