// Starts and stops resolutions, one at a time, and reports their progress. A change of the project
// stops the current run. The next one starts after a short pause in typing, if the text is valid.
// The tree of the same project stays on screen until the next one is complete, and is compared with
// it.

import { batch, createEffect, createSignal, on, onCleanup } from 'solid-js';
import { breathe, start } from '../engine';
import type { ErrorDetails, ResolveEvent, Result } from '../engine/types';
import { snapshot, type Snapshot } from '../model/diff';
import { Growth, type Moment } from '../model/growth';
import { identity } from '../model/manifest';
import { treeOf, type Tree } from '../model/tree';
import type { History } from './history';
import { sourceOf, type Inputs, type Project } from './project';

export type Phase = 'idle' | 'resolving' | 'done' | 'failed' | 'stopped';

/** The pause in typing before a run starts, in milliseconds. */
const PAUSE = 450;
/** The minimum time between two drawings of a growing tree, in milliseconds. */
const REDRAW = 120;
/**
 * A large tree takes longer to lay out and leaves more garbage, so it is drawn again when it has
 * grown by a quarter.
 */
const LARGE = 600;
const GROWN = 1.25;

export interface Traffic {
  readonly requests: number;
  readonly pending: number;
  readonly bytes: number;
}

export type Run = ReturnType<typeof createRun>;

export function createRun(project: Project, history: History) {
  const [phase, setPhase] = createSignal<Phase>('idle');
  const [tree, setTree] = createSignal<Tree | undefined>();
  const [result, setResult] = createSignal<Result | undefined>();
  const [error, setError] = createSignal<ErrorDetails | undefined>();
  const [elapsed, setElapsed] = createSignal(0);
  const [moments, setMoments] = createSignal<readonly Moment[]>([]);
  const [traffic, setTraffic] = createSignal<Traffic>({ requests: 0, pending: 0, bytes: 0 });
  const [events, setEvents] = createSignal<readonly ResolveEvent[]>([]);
  /** The tree before the last edit. */
  const [previous, setPrevious] = createSignal<Snapshot | undefined>();

  let end = () => {};
  /** The inputs of the current run. Only that run may report its end. */
  let current: Inputs | undefined;
  let pause: number | undefined;
  let generation = -1;

  const stop = () => {
    clearTimeout(pause);
    if (phase() !== 'resolving') return;
    end();
    current = undefined;
    setPhase('stopped');
  };

  const resolve = () => {
    stop();
    const inputs = project.inputs();
    if (inputs.text.trim() === '' || project.faults().length > 0) return;
    const isEdit = generation === project.generation() && result() !== undefined;
    if (generation !== project.generation()) history.clear();
    generation = project.generation();
    history.record(inputs);
    current = inputs;
    const growth = new Growth();
    const { name = 'root project', version } = identity(inputs.text);
    const began = performance.now();
    const now = () => performance.now() - began;

    const all: ResolveEvent[] = [];
    let drawn = -1;
    let drawnSize = 0;
    const draw = () => {
      batch(() => {
        setElapsed(now());
        setTraffic({ requests: growth.requests, pending: growth.pending, bytes: growth.bytes });
        if (growth.moments.length === drawn) return;
        setMoments([...growth.moments]);
        if (isEdit || (growth.size > LARGE && growth.size < drawnSize * GROWN)) return;
        drawn = growth.moments.length;
        drawnSize = growth.size;
        setTree(treeOf(growth.graph(name, version)));
      });
    };
    const clock = setInterval(draw, REDRAW);
    const finish = (next: Phase, update: () => void) => {
      end();
      batch(() => {
        setElapsed(now());
        setMoments([...growth.moments]);
        setTraffic({ requests: growth.requests, pending: 0, bytes: growth.bytes });
        setEvents(all);
        update();
        setPhase(next);
      });
    };

    const abort = start(
      { ...inputs, manifest: inputs.text, ...sourceOf(inputs.registry, inputs.text) },
      {
        events: (arrived) => {
          for (const event of arrived) if (event.type !== 'progress' && event.type !== 'fetched') all.push(event);
          growth.apply(arrived, now());
        },
        done: async (outcome) => {
          const standing = tree();
          const before = isEdit && standing ? snapshot(standing) : undefined;
          await breathe();
          const next = treeOf(outcome.graph);
          await breathe();
          if (current !== inputs) return;
          finish('done', () => {
            setPrevious(before);
            setResult(outcome);
            setTree(next);
          });
        },
        failed: (details) => finish('failed', () => setError(details)),
      },
      // The tree on screen stays until the next one is complete, so the growth of that one is not
      // drawn.
      isEdit,
    );
    end = () => {
      clearInterval(clock);
      abort();
    };
    batch(() => {
      setError(undefined);
      setPhase('resolving');
      if (isEdit) return;
      setResult(undefined);
      setPrevious(undefined);
      setEvents([]);
      draw();
    });
  };

  /** Every change of the inputs makes the tree on screen the former one. */
  const inputs = () =>
    [
      project.text(),
      project.registry(),
      project.settings(),
      project.generation(),
      project.startsFromLock(),
      project.lockfile(),
      project.files(),
    ] as const;
  createEffect(
    on(inputs, () => {
      stop();
      // An error of another text does not concern this one.
      if (phase() === 'failed') {
        batch(() => {
          setError(undefined);
          setPhase(result() ? 'done' : 'idle');
        });
      }
      if (project.generation() === 0) {
        generation = -1;
        batch(() => {
          setPhase('idle');
          setTree(undefined);
          setResult(undefined);
        });
        return;
      }
      pause = setTimeout(resolve, project.typed() ? PAUSE : 0);
    }),
  );
  onCleanup(stop);

  return { phase, tree, result, error, elapsed, moments, traffic, events, previous, stop, resolve };
}
