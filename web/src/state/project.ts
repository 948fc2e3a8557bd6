// What is to be resolved: the text of package.json, where the packages come from, and npm's flags.

import { batch, createMemo, createSignal } from 'solid-js';
import { faults } from '../model/manifest';
import { samples } from '../samples';

export const EMBEDDED = 'embedded';
export const PUBLIC = 'public';

export type Project = ReturnType<typeof createProject>;

export function createProject() {
  const [text, setText] = createSignal('');
  const [sample, setSample] = createSignal<string | undefined>();
  const [registry, setRegistry] = createSignal(EMBEDDED);
  const [legacyPeerDeps, setLegacyPeerDeps] = createSignal(false);
  const [force, setForce] = createSignal(false);

  return {
    text,
    sample,
    registry,
    setRegistry,
    legacyPeerDeps,
    setLegacyPeerDeps,
    force,
    setForce,
    /** What keeps the text from being a package.json; an empty text is only a beginning. */
    faults: createMemo(() => (text().trim() === '' ? [] : faults(text()))),
    /** A text that differs from the sample's is no longer the sample. */
    edit(next: string) {
      batch(() => {
        setText(next);
        setSample(samples.find((candidate) => candidate.manifest === next)?.name);
      });
    },
    pick(name: string) {
      const picked = samples.find((candidate) => candidate.name === name);
      if (!picked) return;
      batch(() => {
        setText(picked.manifest);
        setSample(picked.name);
      });
    },
  };
}

/** The address to ask; undefined for npm's public registry, which the resolver knows by itself. */
export function registryAddress(registry: string): string | undefined {
  if (registry === PUBLIC) return undefined;
  return registry === EMBEDDED ? new URL('registry/', document.baseURI).href : registry;
}
