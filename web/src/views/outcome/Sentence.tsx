// The sentence above the views: the result, or the progress. Each figure is a filter.

import { createMemo, createSignal, For, Match, onCleanup, onMount, Show, Switch } from 'solid-js';
import { totals } from '../../model/analysis';
import { bytes, count, counted, seconds } from '../../model/format';
import { toggleWord } from '../../model/search';
import { summarize, type Figure } from '../../model/summary';
import { packagesOf } from '../../model/tree';
import { useSession } from '../../state/session';
import { Pin } from './Pin';

export function Sentence() {
  const { project, run } = useSession();
  const packages = () => counted(run.tree() ? packagesOf(run.tree()!).length : 0, 'package');
  const summary = createMemo(() => (run.result() && run.tree() ? summarize(run.tree()!) : undefined));
  const isOld = () => run.result() !== undefined;
  /** The height of the last complete sentence, which shorter ones keep, so that the views stay in place. */
  const [height, setHeight] = createSignal(0);
  const isComplete = () => run.phase() === 'done' && project.faults().length === 0;
  let sentence!: HTMLParagraphElement;
  onMount(() => {
    const observer = new ResizeObserver(() => isComplete() && setHeight(sentence.offsetHeight));
    observer.observe(sentence);
    onCleanup(() => observer.disconnect());
  });
  return (
    <div class="sentence-bar">
      <p
        ref={sentence}
        class="sentence"
        classList={{ growing: run.phase() === 'resolving' && !isOld() }}
        style={{ 'min-height': isOld() && !isComplete() ? `${height()}px` : undefined }}
      >
        <Switch>
          <Match when={project.faults().length > 0}>
            <span class="rust">This is not a package.json yet.</span> Below is the last complete tree.
          </Match>
          <Match when={run.phase() === 'resolving' && isOld()}>
            Resolving the change: {counted(run.traffic().requests, 'request')} after {seconds(run.elapsed())}
          </Match>
          <Match when={run.phase() === 'resolving'}>
            Resolving: {packages()} after {seconds(run.elapsed())}
          </Match>
          <Match when={run.phase() === 'stopped'}>
            Stopped after {seconds(run.elapsed())}
            {isOld() ? '. Below is the last complete tree.' : `, with ${packages()} in place.`}
          </Match>
          <Match when={summary()}>
            {packages()}
            <Size /> in {seconds(run.elapsed())}.<Figures figures={summary()!.figures} />
          </Match>
        </Switch>
      </p>
      <Pin class="wide" />
    </div>
  );
}

/** The size of the packages, and the number of packages with a known size. */
function Size() {
  const { run } = useSession();
  const analysis = () => totals(run.tree()!);
  const isPartial = () => analysis().sized < analysis().installed;
  return (
    <Show when={analysis().sized > 0}>
      ,{' '}
      <span
        title={
          isPartial()
            ? `The size of ${count(analysis().sized)} of ${count(analysis().installed)} installed packages is known`
            : undefined
        }
      >
        {isPartial() ? 'at least ' : ''}
        {bytes(analysis().bytes)} unpacked
      </span>
      ,
    </Show>
  );
}

function Figures(props: { figures: readonly Figure[] }) {
  const { run, view } = useSession();
  const nothing = () =>
    run.tree()!.out[0]!.length === 0 ? ' The project has no dependencies.' : ' Nothing duplicated, nothing deprecated.';
  const isOn = (figure: Figure) => view.query().split(/\s+/).includes(figure.query);
  return (
    <Show when={props.figures.length > 0} fallback={nothing()}>
      <For each={props.figures}>
        {(figure, index) => (
          <>
            {' '}
            <span class="figure-part">
              <button
                type="button"
                class={`link figure ${figure.tone}`}
                aria-pressed={isOn(figure)}
                title={figure.title}
                onClick={() => view.find(toggleWord(view.query(), figure.query))}
              >
                {count(figure.count)} {figure.word}
              </button>
              {index() < props.figures.length - 1 ? ',' : '.'}
            </span>
          </>
        )}
      </For>
    </Show>
  );
}
