// One resolution after the other: starts, stops and tells how far it is. Changing the project stops the run
// under way; the next one starts when the text has been left alone for a moment and is JSON.

import { batch, createEffect, createSignal, on, onCleanup } from 'solid-js';
import { start } from '../engine';
import type { ErrorDetails, Result } from '../engine/types';
import { Growth, type Moment } from '../model/growth';
import { identity } from '../model/manifest';
import { treeOf, type Tree } from '../model/tree';
import { registryAddress, type Project } from './project';

export type Phase = 'idle' | 'resolving' | 'done' | 'failed' | 'stopped';

/** Long enough to type on, short enough not to wait for. */
const PAUSE = 450;
/** How often the growing tree is redrawn, at most. */
const REDRAW = 90;

export interface Traffic {
  readonly requests: number;
  readonly pending: number;
  readonly bytes: number;
}

export type Run = ReturnType<typeof createRun>;

export function createRun(project: Project) {
  const [phase, setPhase] = createSignal<Phase>('idle');
  const [tree, setTree] = createSignal<Tree | undefined>();
  const [result, setResult] = createSignal<Result | undefined>();
  const [error, setError] = createSignal<ErrorDetails | undefined>();
  const [elapsed, setElapsed] = createSignal(0);
  const [moments, setMoments] = createSignal<readonly Moment[]>([]);
  const [traffic, setTraffic] = createSignal<Traffic>({ requests: 0, pending: 0, bytes: 0 });

  let end = () => {};
  let pause: number | undefined;

  const stop = () => {
    clearTimeout(pause);
    if (phase() !== 'resolving') return;
    end();
    setPhase('stopped');
  };

  const resolve = () => {
    stop();
    const manifest = project.text();
    if (manifest.trim() === '' || project.faults().length > 0) return;
    const growth = new Growth();
    const { name = 'root project', version } = identity(manifest);
    const began = performance.now();
    const now = () => performance.now() - began;

    let drawn = -1;
    const draw = () => {
      batch(() => {
        setElapsed(now());
        if (growth.moments.length === drawn) return;
        drawn = growth.moments.length;
        setTree(treeOf(growth.graph(name, version)));
        setMoments([...growth.moments]);
        setTraffic({ requests: growth.requests, pending: growth.pending, bytes: growth.bytes });
      });
    };
    const clock = setInterval(draw, REDRAW);
    const finish = (next: Phase, update: () => void) => {
      end();
      batch(() => {
        setElapsed(now());
        setMoments([...growth.moments]);
        setTraffic({ requests: growth.requests, pending: 0, bytes: growth.bytes });
        update();
        setPhase(next);
      });
    };

    const abort = start(
      {
        manifest,
        registry: registryAddress(project.registry()),
        legacyPeerDeps: project.legacyPeerDeps(),
        force: project.force(),
      },
      {
        events: (events) => growth.apply(events, now()),
        done: (outcome) =>
          finish('done', () => {
            setResult(outcome);
            setTree(treeOf(outcome.graph));
          }),
        failed: (details) => finish('failed', () => setError(details)),
      },
    );
    end = () => {
      clearInterval(clock);
      abort();
    };
    batch(() => {
      setResult(undefined);
      setError(undefined);
      setPhase('resolving');
      draw();
    });
  };

  /** Whatever changes the answer makes the one on screen an old one. */
  const inputs = () => [project.text(), project.registry(), project.legacyPeerDeps(), project.force()] as const;
  createEffect(
    on(inputs, ([text], before) => {
      stop();
      // A picked sample, a switch: there is nothing to wait for. Typing is.
      const typed = before !== undefined && text !== before[0] && project.sample() === undefined;
      pause = setTimeout(resolve, typed ? PAUSE : 0);
    }),
  );
  onCleanup(stop);

  return { phase, tree, result, error, elapsed, moments, traffic, stop, resolve };
}
