// The inputs of a resolution: the text of package.json, the registry, and npm's settings.

import { batch, createMemo, createSignal } from 'solid-js';
import type { Order } from '../engine';
import { USUAL, type Settings } from '../model/address';
import { faults, identity } from '../model/manifest';
import { samples } from '../samples';
import { isPlayed, ownRegistries } from './played';

export const EMBEDDED = 'embedded';
export const PUBLIC = 'public';
/** The registries of the project's .npmrc, through the program that serves this page. */
export const OWN = 'own';

export type Project = ReturnType<typeof createProject>;

/** All inputs that can change the outcome. */
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
  // Counts projects. An edit does not make another project.
  const [generation, setGeneration] = createSignal(0);
  const [typed, setTyped] = createSignal(false);

  /**
   * The default registry: samples need no network, and other projects need packages that the page
   * does not contain.
   */
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
    /** Whether the last edit was typed, so that another may follow soon. */
    typed,
    registry: createMemo(() => chosen() ?? usual()),
    /** The registry, unless it is the project's default. */
    chosen: () => (chosen() === usual() ? undefined : chosen()),
    setRegistry: setChosen,
    set: (changes: Partial<Settings>) => setSettings((old) => ({ ...old, ...changes })),
    setSettings,
    /** The errors of the text. An empty text has none. */
    faults: createMemo(() => (text().trim() === '' ? [] : faults(text()))),
    /** Opens another project. Only a registry that somebody chose is kept. */
    replace: (content: string, lock?: string, others?: Record<string, string>) =>
      batch(() => begin(content, lock, others)),
    lockfile,
    files,
    /** Takes over the files on disk. As after an edit, the former tree stays for comparison. */
    follow: (content: string, lock?: string, others?: Record<string, string>) =>
      batch(() => {
        setLockfile(lock);
        setFiles(others);
        setText(content);
        setTyped(false);
      }),
    startsFromLock,
    setStartsFromLock,
    /** Edits the project. An edited sample keeps its registry. */
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
    /** Closes the project. */
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
    /** Restores former inputs, for undo and redo. */
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

/**
 * The sources of a manifest's documents, for the resolver. A sample starts with its snapshot, even
 * if it is edited.
 */
export function sourceOf(
  registry: string,
  manifest: string,
): Pick<Order, 'registry' | 'registries' | 'via' | 'snapshot'> {
  if (registry === OWN) return ownRegistries();
  const { name } = identity(manifest);
  const sample = registry === EMBEDDED && samples.find((candidate) => candidate.name === name);
  return {
    registry: registryAddress(registry),
    snapshot: sample ? new URL(`snapshots/${sample.name}`, document.baseURI).href : undefined,
  };
}

/** The registry's address. Undefined for npm's public registry, which the resolver knows. */
export function registryAddress(registry: string): string | undefined {
  if (registry === PUBLIC) return undefined;
  if (registry === OWN) return new URL('-/registry/', document.baseURI).href;
  return registry === EMBEDDED ? new URL('registry/', document.baseURI).href : registry;
}
