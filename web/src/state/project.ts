// What is to be resolved: the text of package.json, where the packages come from, and what npm is told besides.

import { batch, createMemo, createSignal } from 'solid-js';
import type { Order } from '../engine';
import { USUAL, type Settings } from '../model/address';
import { faults, identity } from '../model/manifest';
import { samples } from '../samples';
import { isPlayed } from './played';

export const EMBEDDED = 'embedded';
export const PUBLIC = 'public';
/** The registries of the project's .npmrc, asked by the program that serves this page. */
export const OWN = 'own';

export type Project = ReturnType<typeof createProject>;

/** All that decides the outcome. */
export interface Inputs {
  readonly text: string;
  readonly registry: string;
  readonly settings: Settings;
  /** The package-lock.json to start from. */
  readonly lockfile?: string | undefined;
  /** The project's other package.json files, by path. */
  readonly files?: Record<string, string> | undefined;
}

export function createProject() {
  const [text, setText] = createSignal('');
  const [sample, setSample] = createSignal<string | undefined>();
  const [chosen, setChosen] = createSignal<string | undefined>();
  const [settings, setSettings] = createSignal<Settings>(USUAL);
  const [lockfile, setLockfile] = createSignal<string | undefined>();
  const [startsFromLock, setStartsFromLock] = createSignal(true);
  const [files, setFiles] = createSignal<Record<string, string> | undefined>();
  // Grows with each project that isn't an edit of the one before.
  const [generation, setGeneration] = createSignal(0);
  const [typed, setTyped] = createSignal(false);

  /** The samples need no network; what is somebody's own is not among the few packages that came with the page. */
  const usual = () => (sample() ? EMBEDDED : isPlayed ? OWN : PUBLIC);
  const sampleOf = (content: string) => samples.find((candidate) => candidate.manifest === content)?.name;
  const begin = (content: string, lock?: string, others?: Record<string, string>) => {
    setText(content);
    setLockfile(lock);
    setStartsFromLock(true);
    setFiles(others);
    setSample(sampleOf(content));
    setGeneration((number) => number + 1);
    setTyped(false);
  };

  return {
    text,
    sample,
    settings,
    generation,
    /** Whether the last edit was typed, so that the next is worth waiting for. */
    typed,
    registry: createMemo(() => chosen() ?? usual()),
    /** The registry, if it isn't the usual one. */
    chosen: () => (chosen() === usual() ? undefined : chosen()),
    setRegistry: setChosen,
    set: (changes: Partial<Settings>) => setSettings((old) => ({ ...old, ...changes })),
    setSettings,
    /** What keeps the text from being a package.json; an empty text is only a beginning. */
    faults: createMemo(() => (text().trim() === '' ? [] : faults(text()))),
    /** Another project: nothing of the one before is kept but where packages come from, if that was chosen. */
    replace: (content: string, lock?: string, others?: Record<string, string>) =>
      batch(() => begin(content, lock, others)),
    lockfile,
    files,
    /** What stands on disk now. As with an edit, the old tree stays to be compared with. */
    follow: (content: string, lock?: string, others?: Record<string, string>) =>
      batch(() => {
        setLockfile(lock);
        setFiles(others);
        setText(content);
        setTyped(false);
      }),
    startsFromLock,
    setStartsFromLock,
    /** The same project, changed. A sample that is changed stays with the registry that it came with. */
    edit(next: string, byTyping = false) {
      batch(() => {
        const before = sample();
        const isSame = identity(next).name === identity(text()).name;
        if (before && isSame && !chosen()) setChosen(EMBEDDED);
        setText(next);
        setSample(sampleOf(next));
        setTyped(byTyping);
        if (before && !isSame) setGeneration((number) => number + 1);
      });
    },
    pick(name: string): boolean {
      const picked = samples.find((candidate) => candidate.name === name);
      if (!picked) return false;
      batch(() => {
        begin(picked.manifest);
        setChosen(undefined);
        setSettings(USUAL);
      });
      return true;
    },
    /** Nothing to resolve. */
    leave() {
      batch(() => {
        begin('');
        setChosen(undefined);
        setSettings(USUAL);
        setGeneration(0);
      });
    },
    inputs: (): Inputs => ({
      text: text(),
      registry: chosen() ?? usual(),
      settings: settings(),
      lockfile: startsFromLock() ? lockfile() : undefined,
      files: files(),
    }),
    /** Back to what was there: undo and redo. */
    restore({ text: content, registry, settings: all, lockfile: lock, files: others }: Inputs) {
      batch(() => {
        setStartsFromLock(lock !== undefined || lockfile() === undefined);
        if (lock !== undefined) setLockfile(lock);
        setFiles(others);
        setText(content);
        setSample(sampleOf(content));
        setChosen(registry);
        setSettings(all);
        setTyped(false);
      });
    },
  };
}

/** Where the documents of a manifest come from, as the resolver wants to know it. A sample begins with its snapshot, an edited one too. */
export function sourceOf(registry: string, manifest: string): Pick<Order, 'registry' | 'snapshot'> {
  const { name } = identity(manifest);
  const sample = registry === EMBEDDED && samples.find((candidate) => candidate.name === name);
  return {
    registry: registryAddress(registry),
    snapshot: sample ? new URL(`snapshots/${sample.name}`, document.baseURI).href : undefined,
  };
}

/** The address to ask; undefined for npm's public registry, which the resolver knows by itself. */
export function registryAddress(registry: string): string | undefined {
  if (registry === PUBLIC) return undefined;
  if (registry === OWN) return new URL('-/registry/', document.baseURI).href;
  return registry === EMBEDDED ? new URL('registry/', document.baseURI).href : registry;
}
