// The sentence first: what came out, or how far it is. Each figure filters.

import { createMemo, For, Match, Show, Switch } from 'solid-js';
import { count, counted, seconds } from '../../model/format';
import { toggleWord } from '../../model/search';
import { summarize, type Figure } from '../../model/summary';
import { packagesOf } from '../../model/tree';
import { useSession } from '../../state/session';
import { Comparison } from './Comparison';

export function Sentence() {
  const { project, run } = useSession();
  const packages = () => counted(run.tree() ? packagesOf(run.tree()!).length : 0, 'package');
  const summary = createMemo(() => (run.phase() === 'done' && run.tree() ? summarize(run.tree()!) : undefined));
  return (
    <div class="sentence-bar">
      <p class="sentence">
        <Switch>
          <Match when={project.faults().length > 0}>
            <span class="rust">This is not a package.json yet.</span> Below is what the last text gave.
          </Match>
          <Match when={run.phase() === 'resolving'}>
            Resolving: {packages()} after {seconds(run.elapsed())}
          </Match>
          <Match when={run.phase() === 'stopped'}>
            Stopped after {seconds(run.elapsed())}, with {packages()} in place.
          </Match>
          <Match when={summary()}>
            {packages()} in {seconds(run.elapsed())}.{' '}
            <Figures figures={summary()!.figures} />
          </Match>
        </Switch>
      </p>
      <Comparison />
    </div>
  );
}

function Figures(props: { figures: readonly Figure[] }) {
  const { view } = useSession();
  const isOn = (figure: Figure) => view.query().split(/\s+/).includes(figure.query);
  return (
    <Show when={props.figures.length > 0} fallback="Nothing duplicated, nothing deprecated.">
      <For each={props.figures}>
        {(figure, index) => (
          <>
            <button
              class={`link figure ${figure.tone}`}
              aria-pressed={isOn(figure)}
              onClick={() => view.find(toggleWord(view.query(), figure.query))}
            >
              {count(figure.count)} {figure.word}
            </button>
            {index() < props.figures.length - 1 ? ', ' : '.'}
          </>
        )}
      </For>
    </Show>
  );
}
