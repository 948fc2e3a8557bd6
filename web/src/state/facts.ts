// Requests facts that the tree lacks from the registry, on demand. A large tree needs thousands of
// documents, so a few are requested at a time.

import { batch, createEffect, createSignal, on, onCleanup } from 'solid-js';
import { answers, questions, type Fact, type Facts, type Subject } from '../model/facts';
import type { Result } from '../engine/types';
import type { Tree } from '../model/tree';
import { EMBEDDED, registryAddress } from './project';

const AT_ONCE = 12;

/**
 * The facts of a tree. `result` states the address of the public registry, which only the resolver
 * knows.
 */
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
        // The embedded registry has no documents of single versions.
        .filter((subject) => subject === 'dates' || name !== EMBEDDED)
        .flatMap((subject) => questions(current, subject).map((question) => ({ subject, question })))
        .filter(({ question }) => !asked.has(question));
      if (list.length === 0) return;
      const found = new Map<string, Fact>(known());
      const stop = new AbortController();
      onCleanup(() => {
        stop.abort();
        // Earlier answers are not requested again.
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
    /** The number of outstanding documents. */
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
    // A document that cannot be fetched leaves its facts unknown.
    return undefined;
  }
}
