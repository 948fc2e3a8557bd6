// Replays the resolution step by step: each decision, its reason, and the tree at that moment.
// Every package appears at its final position in the drawing.

import {
  createEffect,
  createMemo,
  createResource,
  createSignal,
  Match,
  Switch,
  For,
  on,
  onCleanup,
  Show,
} from 'solid-js';
import { record } from '../../engine';
import { count } from '../../model/format';
import {
  choice,
  decisions,
  isPassing,
  landing,
  sameStep,
  sentence,
  standing,
  subject,
  verdict,
  type Decision,
} from '../../model/replay';
import type { Tree } from '../../model/tree';
import { sourceOf } from '../../state/project';
import { useSession } from '../../state/session';
import { Overview } from '../overview/Overview';
import { Sign } from '../Sign';
import './replay.css';

/** The number of decisions to list before and after the present one. */
const AROUND = 20;
/**
 * The name of a speed, the milliseconds between two steps, and whether playing ends within half a
 * minute whatever their number.
 */
const SPEEDS = [
  ['Slow', 900, false],
  ['Normal', 250, false],
  ['Fast', 40, true],
] as const;
const HALF_A_MINUTE = 30_000;
/**
 * The maximum number of missed steps to make up for at once. A page that was hidden does not jump
 * to the end.
 */
const MOST_AT_ONCE = 25;

export function Replay(props: { tree: Tree }) {
  const { run, view, project } = useSession();
  // The decisions are recorded when this view opens. With the folders that were tried, they are far
  // more data than other views need.
  const [recorded] = createResource(
    () => run.result() && project.inputs(),
    (inputs) => {
      const stop = new AbortController();
      onCleanup(() => stop.abort());
      return record({ ...inputs, manifest: inputs.text, ...sourceOf(inputs.registry, inputs.text) }, stop.signal);
    },
  );
  const list = createMemo(() => decisions(recorded.state === 'ready' ? recorded() : run.events()));
  const [step, setStep] = createSignal(0);
  const [playing, setPlaying] = createSignal(false);
  const [speed, setSpeed] = createSignal<(typeof SPEEDS)[number]>(SPEEDS[1]);
  // A new resolution is shown at its end, like in the other views. The recorded decisions arrive
  // later and keep the step.
  let shown: unknown;
  createEffect(
    on(list, (all, before) => {
      const isSame = before !== undefined && shown === run.result();
      shown = run.result();
      setStep((now) => (isSame ? sameStep(before, now, all) : all.length));
    }),
  );

  const present = createMemo(() => standing(list(), step(), props.tree));
  const go = (next: number) => {
    const to = Math.max(0, Math.min(list().length, next));
    setStep(to);
    if (to >= list().length) setPlaying(false);
    const location = to > 0 ? subject(list()[to - 1]!) : undefined;
    if (location) view.select(location);
  };
  createEffect(() => {
    if (!playing()) return;
    const [, pause, isBrief] = speed();
    const stride = isBrief ? Math.ceil(list().length / (HALF_A_MINUTE / pause)) : 1;
    let last = performance.now();
    const timer = setInterval(() => {
      // If drawing takes longer than the pause, timers are late, and the next step makes up for the
      // missed ones.
      const late = isBrief ? Math.floor((performance.now() - last) / pause) : 1;
      last = performance.now();
      go(step() + stride * Math.max(1, Math.min(late, MOST_AT_ONCE)));
    }, pause);
    onCleanup(() => clearInterval(timer));
  });
  const play = () => {
    if (!playing() && step() >= list().length) go(0);
    setPlaying((now) => !now);
  };
  const selectedName = () => view.selected()?.slice((view.selected()?.lastIndexOf('node_modules/') ?? -13) + 13);
  const landed = createMemo(() => (view.selected() ? landing(list(), view.selected()!) : undefined));
  /** The package that a decision placed, if it stays. */
  const placed = (decision: Decision) =>
    decision.type === 'placed' && !isPassing(decision, props.tree) ? props.tree.at.get(decision.location) : undefined;
  const near = createMemo(() => {
    const from = Math.max(0, Math.min(step() - AROUND, list().length - 2 * AROUND));
    return list()
      .slice(from, from + 2 * AROUND)
      .map((decision, index) => ({ decision, number: from + index + 1 }));
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const steps: Record<string, number> = { '[': step() - 1, ']': step() + 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    go(steps[event.key]!);
  };
  window.addEventListener('keydown', onKeyDown);
  onCleanup(() => window.removeEventListener('keydown', onKeyDown));
  // The present decision keeps its place on screen, and the others scroll past it.
  let scroller: HTMLOListElement | undefined;
  createEffect(() => {
    const here = near().findIndex(({ number }) => number === step());
    const row = scroller?.children[Math.max(0, here)] as HTMLElement | undefined;
    if (scroller && row) scroller.scrollTop = row.offsetTop - scroller.clientHeight * 0.6;
  });

  return (
    <div class="replay">
      <Show
        when={list().length > 0}
        fallback={
          <div class="view-empty">
            <Show
              when={project.lockfile() !== undefined && project.startsFromLock()}
              fallback={<p>npm decided nothing in this resolution.</p>}
            >
              <p>The lockfile determines the whole tree, so npm decides nothing.</p>
              <p>
                <button type="button" class="button" onClick={() => project.setStartsFromLock(false)}>
                  Resolve without the lockfile
                </button>
              </p>
            </Show>
          </div>
        }
      >
        <div class="replay-bar">
          <button type="button" class="button" onClick={play}>
            {playing() ? 'Pause' : 'Play'}
          </button>
          <button
            type="button"
            class="button"
            aria-label="One step back"
            aria-keyshortcuts="["
            onClick={() => go(step() - 1)}
          >
            ‹
          </button>
          <button
            type="button"
            class="button"
            aria-label="One step forward"
            aria-keyshortcuts="]"
            onClick={() => go(step() + 1)}
          >
            ›
          </button>
          <input
            class="replay-slider"
            type="range"
            min="0"
            max={list().length}
            aria-label="Step of the resolution"
            aria-valuetext={step() > 0 ? sentence(list()[step() - 1]!) : 'before the first decision'}
            value={step()}
            onInput={(event) => go(event.currentTarget.valueAsNumber)}
          />
          <span class="soft replay-step">
            {count(step())} of {count(list().length)}
          </span>
          <label class="soft">
            <span class="unseen">Speed</span>
            <select
              class="field small-field"
              value={speed()[0]}
              onChange={(event) => setSpeed(SPEEDS[event.currentTarget.selectedIndex]!)}
            >
              <For each={SPEEDS}>
                {(one) => (
                  <option value={one[0]} selected={one === speed()}>
                    {one[0]}
                  </option>
                )}
              </For>
            </select>
          </label>
        </div>
        <div class="replay-words">
          <Show when={landed()}>
            {(index) => (
              <button type="button" class="link soft replay-landing" onClick={() => go(index())}>
                Where did {selectedName()} land?
              </button>
            )}
          </Show>
          <p class="replay-sentence" aria-live={playing() ? 'off' : 'polite'}>
            {step() > 0 ? sentence(list()[step() - 1]!) : BEGINNING}
            <Show when={step() > 0 && isPassing(list()[step() - 1]!, props.tree)}> A later decision removes it.</Show>
          </p>
          <Detail decision={list()[step() - 1]} />
        </div>
        <Overview tree={props.tree} present={present()} />
        <ol class="replay-list" ref={scroller}>
          <For each={near()}>
            {({ decision, number }) => (
              <li class="replay-row">
                <button
                  type="button"
                  class="plain replay-item"
                  classList={{ here: number === step() }}
                  aria-current={number === step() ? 'step' : undefined}
                  onClick={() => go(number)}
                >
                  <span class="soft replay-number">{count(number)}</span>{' '}
                  <span class={`replay-kind ${decision.type}`}>{word(decision)}</span>{' '}
                  <Show when={placed(decision)}>{(node) => <Sign node={node()} />}</Show>
                  <span class="mono">{brief(decision)}</span>
                </button>
              </li>
            )}
          </For>
        </ol>
      </Show>
    </div>
  );
}

const BEGINNING = 'Nothing is decided yet. The tree contains only the project.';

/**
 * The alternatives of a decision: the versions that were passed over, or the folders that were
 * tried.
 */
function Detail(props: { decision: Decision | undefined }) {
  return (
    <div class="replay-detail soft">
      <Switch>
        <Match when={props.decision?.type === 'picked' && props.decision}>
          {(decision) => <p>{choice(decision())}</p>}
        </Match>
        <Match when={props.decision?.type === 'decided' && props.decision}>
          {(decision) => (
            <ol>
              <For each={decision().tried}>
                {(trial) => (
                  <li>
                    <span class="mono">{trial.location === '' ? 'node_modules' : trial.location}</span>:{' '}
                    <span class={trial.verdict === 'conflict' ? 'rust' : 'green'}>{verdict(trial)}</span>
                  </li>
                )}
              </For>
            </ol>
          )}
        </Match>
      </Switch>
    </div>
  );
}

function word(decision: Decision): string {
  return decision.type;
}

/** The result for a candidate, in short. The sentence says more. */
const RESULTS = {
  met: 'satisfied in the meantime',
  kept: 'use the installed copy',
  new: 'install a copy',
  linked: 'make a link',
  refused: 'no folder accepts it',
} as const;

function brief(decision: Decision): string {
  switch (decision.type) {
    case 'picked':
      return `${decision.name}@${decision.spec} → ${decision.version}`;
    case 'decided':
      return `${decision.name}@${decision.spec}: ${RESULTS[decision.result.type]}`;
    case 'kept':
      return `${decision.name}@${decision.spec} has ${decision.version}`;
    case 'placed':
      return `${decision.location.replaceAll('node_modules/', '')} ${decision.version}`;
    case 'removed':
      return decision.location.replaceAll('node_modules/', '');
  }
}
