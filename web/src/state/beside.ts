// A second project, B, beside the first, A: with another package.json, lockfile, day or platform. B
// is resolved whenever it changes. The views show A and mark its differences from B.

import { batch, createRoot, createSignal, onCleanup } from 'solid-js';
import { createHistory, type History } from './history';
import { createProject, type Inputs, type Project } from './project';
import { createRun, type Run } from './run';

export interface Beside {
  readonly project: Project;
  readonly history: History;
  readonly run: Run;
}

export type Side = 'a' | 'b';

export function createBeside(project: Project) {
  const [beside, setBeside] = createSignal<Beside | undefined>();
  /** The side whose package.json is edited. */
  const [side, setSide] = createSignal<Side>('a');
  let dispose: (() => void) | undefined;
  const close = () =>
    batch(() => {
      setSide('a');
      setBeside(undefined);
      dispose?.();
      dispose = undefined;
    });
  onCleanup(close);

  /** Opens B with these inputs, or with those of A. */
  const open = (inputs: Inputs = project.inputs()) => {
    close();
    createRoot((end) => {
      dispose = end;
      const other = createProject();
      const history = createHistory(other);
      batch(() => {
        other.replace(inputs.text, inputs.lockfile, inputs.files);
        other.setRegistry(inputs.registry);
        other.setSettings(inputs.settings);
      });
      setBeside({ project: other, history, run: createRun(other, history) });
    });
    setSide('b');
  };
  /** Swaps A and B. */
  const swap = () => {
    const other = beside()?.project;
    if (!other) return;
    const [a, b] = [project.inputs(), other.inputs()];
    batch(() => {
      project.restore(b);
      other.restore(a);
      setSide((now) => (now === 'a' ? 'b' : 'a'));
    });
  };
  return { beside, side, setSide, open, close, swap };
}
