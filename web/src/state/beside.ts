// A second project beside the first, B beside A: another package.json, lockfile, day or platform, resolved for itself whenever it
// changes. The views show A; what differs from B is marked in them.

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
  /** Whose package.json is being edited. */
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

  /** Opens B with these inputs: those of A, if nothing else is said. */
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
  /** What was B is what the views show, and the other way round. */
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
