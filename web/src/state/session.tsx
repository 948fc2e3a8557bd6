// Everything that the views share, and what ties it together.

import { batch, createContext, createEffect, createSignal, on, useContext, type ParentProps } from 'solid-js';
import { keepAddress } from './address';
import { createProject } from './project';
import { createRun } from './run';
import { createTheme } from './theme';
import { createView } from './view';

export type Session = ReturnType<typeof createSession>;

function createSession() {
  const project = createProject();
  const run = createRun(project);
  const view = createView(run.tree);
  keepAddress(project, view);

  // The selected package is shown where the final tree has it, which may be elsewhere than while it grew.
  createEffect(
    on(run.phase, (phase) => {
      const selected = view.selected();
      if (phase !== 'done' || selected === undefined) return;
      const row = view.rows()[view.activeIndex()];
      if (!row || run.tree()!.nodes[row.node]?.location !== selected) view.reveal(selected);
    }),
  );
  /** A package-lock.json to compare the outcome with. */
  const [reference, setReference] = createSignal<string | undefined>();
  const pick = (sample: string) =>
    batch(() => {
      view.reset();
      setReference(undefined);
      project.pick(sample);
    });
  return { project, run, view, pick, reference, setReference, theme: createTheme() };
}

const Context = createContext<Session>();

export function SessionProvider(props: ParentProps) {
  return <Context.Provider value={createSession()}>{props.children}</Context.Provider>;
}

export function useSession(): Session {
  const session = useContext(Context);
  if (!session) throw new Error('outside of a session');
  return session;
}
