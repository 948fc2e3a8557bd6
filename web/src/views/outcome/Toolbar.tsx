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

/** What nearly every project has. They are there until it is counted, so that nothing moves then. */
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
