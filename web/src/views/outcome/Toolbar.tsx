import { For } from 'solid-js';
import { toggleWord } from '../../model/search';
import { useSession } from '../../state/session';
import { Search } from './Search';

/** Filters as buttons, for people who do not know the words of the search. */
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

/**
 * Filters that match in nearly every project. They are visible before the counts are known, so that
 * the toolbar rarely moves.
 */
const USUAL: ReadonlySet<string> = new Set(['is:direct', 'is:duplicated', 'is:dev', 'is:optional', 'is:nested']);

export function Toolbar() {
  const { view } = useSession();
  const words = () => view.query().split(/\s+/);
  const isThere = (word: string) => (view.counts().get(word) ?? Number(USUAL.has(word))) > 0;
  return (
    <div class="toolbar">
      <Search />
      <div class="chips" role="group" aria-label="Filters">
        <For each={CHIPS.filter(([word]) => isThere(word))}>
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
