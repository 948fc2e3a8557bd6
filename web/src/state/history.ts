// Undo and redo: each edit that led to a resolution is a step.

import { createSignal } from 'solid-js';
import type { Inputs, Project } from './project';

export type History = ReturnType<typeof createHistory>;

export function createHistory(project: Project) {
  const [steps, setSteps] = createSignal<readonly Inputs[]>([]);
  const [at, setAt] = createSignal(-1);
  const go = (index: number): boolean => {
    const step = steps()[index];
    if (!step) return false;
    setAt(index);
    project.restore(step);
    return true;
  };
  return {
    /** Starts the history of another project. */
    clear() {
      setSteps([]);
      setAt(-1);
    },
    record(inputs: Inputs) {
      const now = steps()[at()];
      if (now && same(now, inputs)) return;
      setSteps([...steps().slice(0, at() + 1), inputs]);
      setAt(steps().length - 1);
    },
    canUndo: () => at() > 0,
    canRedo: () => at() < steps().length - 1,
    undo: () => go(at() - 1),
    redo: () => go(at() + 1),
  };
}

function same(a: Inputs, b: Inputs): boolean {
  return (
    a.text === b.text &&
    a.registry === b.registry &&
    a.lockfile === b.lockfile &&
    JSON.stringify(a.settings) === JSON.stringify(b.settings)
  );
}
