import { For } from 'solid-js';
import { toggleWord } from '../../model/search';
import { useSession } from '../../state/session';
import { Search } from './Search';

/** Filters that can be clicked; the words need not be known. */
const CHIPS = [
  ['is:direct', 'Direct'],
  ['is:duplicated', 'Duplicated'],
  ['is:dev', 'Dev only'],
  ['is:optional', 'Optional'],
  ['is:peer', 'Peers'],
  ['is:nested', 'Nested'],
  ['is:deprecated', 'Deprecated'],
  ['is:scripts', 'Install scripts'],
  ['is:problem', 'Unmet'],
] as const;

export function Toolbar() {
  const { view } = useSession();
  const words = () => view.query().split(/\s+/);
  return (
    <div class="toolbar">
      <Search />
      <div class="chips" role="group" aria-label="Filters">
        <For each={CHIPS.filter(([word]) => view.counts().get(word) !== 0)}>
          {([word, label]) => (
            <button
              type="button"
              class="chip"
              aria-pressed={words().includes(word)}
              onClick={() => view.find(toggleWord(view.query(), word))}
            >
              {label}
            </button>
          )}
        </For>
      </div>
    </div>
  );
}
