// Asks the registry what the tree doesn't say, when somebody wants to know it: thousands of documents for a large tree, a few at a time.

import { batch, createEffect, createSignal, on, onCleanup } from 'solid-js';
import { answers, questions, type Fact, type Facts, type Subject } from '../model/facts';
import type { Result } from '../engine/types';
import type { Tree } from '../model/tree';
import { EMBEDDED, registryAddress } from './project';

const AT_ONCE = 12;

export type Lookup = ReturnType<typeof createLookup>;

/** Only the resolver knows the address of the public registry, and says it with its result. */
export function createLookup(tree: () => Tree | undefined, registry: () => string, result: () => Result | undefined) {
  const [known, setKnown] = createSignal<Facts>(new Map());
  const [wanted, setWanted] = createSignal<ReadonlySet<Subject>>(new Set());
  const [waiting, setWaiting] = createSignal(0);
  const asked = new Set<string>();
  createEffect(
    on(registry, () => {
      asked.clear();
      setKnown(new Map());
    }),
  );
  createEffect(
    on([tree, registry, wanted], ([current, name, subjects]) => {
      const address = current && (registryAddress(name) ?? result()?.registry);
      setWaiting(0);
      if (!current || address === undefined || subjects.size === 0) return;
      const list = [...subjects]
        // What came with the page says nothing of single versions.
        .filter((subject) => subject === 'dates' || name !== EMBEDDED)
        .flatMap((subject) => questions(current, subject).map((question) => ({ subject, question })))
        .filter(({ question }) => !asked.has(question));
      if (list.length === 0) return;
      const found = new Map<string, Fact>(known());
      const stop = new AbortController();
      onCleanup(() => {
        stop.abort();
        // What was answered until now isn't asked again.
        if (registry() === name) setKnown(found);
      });
      setWaiting(list.length);
      const ask = async () => {
        for (let next = list.pop(); next && !stop.signal.aborted; next = list.pop()) {
          const { subject, question } = next;
          const document = await read(new URL(question, address), stop.signal);
          if (stop.signal.aborted) return;
          setWaiting(list.length);
          if (document === undefined) continue;
          asked.add(question);
          for (const [key, fact] of answers(subject, question, document))
            found.set(key, { ...found.get(key), ...fact });
        }
      };
      void Promise.all(Array.from({ length: AT_ONCE }, ask)).then(
        () => !stop.signal.aborted && batch(() => [setWaiting(0), setKnown(found)]),
      );
    }),
  );
  return {
    known,
    /** How many documents are still to come. */
    waiting,
    isWanted: (subject: Subject) => wanted().has(subject),
    look: (subject: Subject) => !wanted().has(subject) && setWanted(new Set([...wanted(), subject])),
  };
}

async function read(address: URL, signal: AbortSignal): Promise<unknown> {
  try {
    const response = await fetch(address, { signal });
    return response.ok ? await response.json() : undefined;
  } catch {
    // What can't be had is not known, and is shown as such.
    return undefined;
  }
}
