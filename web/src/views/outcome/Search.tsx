// The search field. The figures of the sentence write their filters into it, so every filter is
// undone in one place.

import { Show } from 'solid-js';
import { count } from '../../model/format';
import { packagesOf } from '../../model/tree';
import { useSession } from '../../state/session';
import { focusView } from '../frame/focus';

export function Search() {
  const { run, view } = useSession();
  let hasStepped = false;
  /** Goes to the next result, which then has the keys. */
  const step = (direction: 1 | -1) => {
    const rows = view.rows();
    const matches = view.matches();
    if (!matches || matches.nodes.size === 0) return;
    focusView();
    // The package with exactly this name comes first, wherever its row is.
    const exact = rows.findIndex((row) => !row.deduped && run.tree()!.nodes[row.node]?.name === view.query().trim());
    if (exact !== -1 && rows[view.activeIndex()]?.node !== rows[exact]!.node && !hasStepped) {
      hasStepped = true;
      return view.activate(exact);
    }
    hasStepped = true;
    for (let index = view.activeIndex() + direction; index >= 0 && index < rows.length; index += direction) {
      if (matches.nodes.has(rows[index]!.node)) return view.activate(index);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') step(event.shiftKey ? -1 : 1);
    else if (event.key === 'ArrowDown') focusView();
    else if (event.key === 'Escape' && view.query() !== '') view.find('');
    else return;
    event.preventDefault();
  };
  return (
    <label class="search field">
      <span class="unseen">Search</span>
      <input
        type="search"
        placeholder="Search packages"
        aria-keyshortcuts="/"
        spellcheck={false}
        value={view.query()}
        onInput={(event) => {
          hasStepped = false;
          view.find(event.currentTarget.value);
        }}
        onKeyDown={onKeyDown}
      />
      <Show when={view.matches()} fallback={<kbd class="wide-only">/</kbd>}>
        {(matches) => (
          <span class="soft search-count">
            {count(matches().nodes.size)} of {count(packagesOf(run.tree()!).length)}
          </span>
        )}
      </Show>
    </label>
  );
}
