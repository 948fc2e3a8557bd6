// One resolution after the other: starts, stops and tells how far it is. Changing the project stops the run
// under way; the next one starts when the text has been left alone for a moment and is JSON. The tree of the
// same project stays on screen until the next one stands, and is what that one is compared with.

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

/** Long enough to type on, short enough not to wait for. */
const PAUSE = 450;
/** How often the growing tree is redrawn, at most. */
const REDRAW = 120;
/** A large one takes longer to lay out, and leaves more behind: it is redrawn when it has grown by a quarter. */
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
  /** What stood before the last edit. */
  const [previous, setPrevious] = createSignal<Snapshot | undefined>();

  let end = () => {};
  /** What the run under way resolves; nothing else may end it. */
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
      // The tree on screen stays until the next one stands: nobody looks at how that grows.
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

  /** Whatever changes the answer makes the one on screen an old one. */
  const inputs = () =>
    [
      project.text(),
      project.registry(),
      project.settings(),
      project.generation(),
      project.startsFromLock(),
      project.lockfile(),
    ] as const;
  createEffect(
    on(inputs, () => {
      stop();
      // What went wrong with another text says nothing about this one.
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
