// The state that all views share, and its connections.

import {
  batch,
  createContext,
  createEffect,
  createMemo,
  createSignal,
  on,
  useContext,
  type ParentProps,
} from 'solid-js';
import { packagesOfLock } from '../model/compare';
import { diff, isEmpty, snapshot, snapshotOfLock, type Diff, type Snapshot } from '../model/diff';
import { FIRST_VIEW } from '../model/views';
import { keepAddress } from './address';
import { createBeside } from './beside';
import { createLookup } from './facts';
import { createHistory } from './history';
import { createPanes } from './panes';
import { followPlayed, isPlayed, readPlayed, settingsOf, type Played } from './played';
import { createProject } from './project';
import { createRun } from './run';
import { createTheme } from './theme';
import { createView } from './view';

export type Session = ReturnType<typeof createSession>;

/** The tree to compare with, and its name. */
export interface Baseline {
  readonly name: string;
  readonly packages: Snapshot;
}

function createSession() {
  const project = createProject();
  const history = createHistory(project);
  const run = createRun(project, history);
  const lookup = createLookup(run.tree, project.registry, run.result);
  const finished = () => (run.result() ? run.tree() : undefined);
  const view = createView(run.tree, finished, lookup.known);
  const [notice, setNotice] = createSignal<string | undefined>();

  // A package may be elsewhere in the final tree than while the tree grew. The selection follows
  // it.
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
  const [pinned, setPinned] = createSignal<Baseline | undefined>();
  const { beside, side, setSide, open: openBeside, close: closeBeside, swap } = createBeside(project);
  const baseline = createMemo<Baseline | undefined>(() => {
    const lock = reference();
    const other = beside()?.run;
    if (other) {
      const tree = other.result() && other.tree();
      return tree && { name: 'B', packages: snapshot(tree) };
    }
    if (pinned()) return pinned();
    if (lock !== undefined)
      return { name: 'your package-lock.json', packages: snapshotOfLock(packagesOfLock(lock) ?? {}) };
    const previous = run.previous();
    return previous && { name: 'the previous tree', packages: previous };
  });
  const changes = createMemo<Diff | undefined>(() => {
    const [before, tree] = [baseline(), run.tree()];
    if (!before || !tree || run.result() === undefined) return undefined;
    const found = diff(before.packages, tree);
    return isEmpty(found) && before.name === 'the previous tree' ? undefined : found;
  });
  const forget = () => {
    view.reset();
    closeBeside();
    setReference(undefined);
    setPinned(undefined);
    setNotice(undefined);
  };
  const pick = (sample: string) =>
    batch(() => {
      forget();
      if (!project.pick(sample)) setNotice(`There is no sample called “${sample}”.`);
    });
  /** Opens another project. */
  const begin = (text: string, lock?: string, files?: Record<string, string>) =>
    batch(() => {
      forget();
      setReference(lock);
      project.replace(text, lock, files);
    });
  /** Returns to the start page. */
  const leave = () =>
    batch(() => {
      forget();
      view.open(FIRST_VIEW);
      const own = played();
      if (!own) return project.leave();
      project.replace(own.manifest, own.lockfile ?? undefined, own.files);
      project.setSettings(settingsOf(own));
    });
  const isLanding = () => project.generation() === 0;
  /** The reason why the serving program supplied no project. */
  const [unread, setUnread] = createSignal<string | undefined>();
  const [played, setPlayed] = createSignal<Played | undefined>();
  if (isPlayed) {
    const read = async () => {
      const before = played();
      const next = await readPlayed();
      batch(() => {
        setPlayed(next);
        const { manifest, lockfile, files } = next;
        // What was tried in the page stays when only other files have changed.
        const text = before?.manifest === manifest ? project.text() : manifest;
        if (before) return project.follow(text, lockfile ?? undefined, files);
        // The address is from before a reload, of a project in the same folder.
        if (!isLanding()) return project.follow(project.text(), lockfile ?? undefined, files);
        project.setSettings(settingsOf(next));
        project.replace(manifest, lockfile ?? undefined, files);
      });
    };
    void read().catch((error: unknown) => setUnread(error instanceof Error ? error.message : String(error)));
    followPlayed(
      () => played()?.revision ?? '',
      () => played() && void read().catch(() => {}),
      () => setNotice('`espalier play` has stopped. Start it again and open the new address that it prints.'),
    );
  }
  /** Pins the present tree, to compare later ones with it. */
  const pin = () => {
    const tree = run.tree();
    if (tree) setPinned({ name: 'the pinned tree', packages: snapshot(tree) });
  };
  const stopComparing = () =>
    batch(() => {
      setReference(undefined);
      setPinned(undefined);
    });
  const session = {
    leave,
    isLanding,
    played,
    unread,
    project,
    history,
    run,
    view,
    lookup,
    pick,
    begin,
    pin,
    pinned,
    stopComparing,
    reference,
    setReference,
    beside,
    side,
    setSide,
    openBeside,
    closeBeside,
    swap,
    baseline,
    changes,
    notice,
    setNotice,
  };
  keepAddress(session);
  return { ...session, theme: createTheme(), panes: createPanes() };
}

const Context = createContext<Session>();

/** A session of its own, unless one is given. */
export function SessionProvider(props: ParentProps<{ session?: Session }>) {
  return <Context.Provider value={props.session ?? createSession()}>{props.children}</Context.Provider>;
}

export function useSession(): Session {
  const session = useContext(Context);
  if (!session) throw new Error('outside of a session');
  return session;
}
