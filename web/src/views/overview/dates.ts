// When the versions of a tree were published. Only a package's full document says it, so it is asked for when somebody wants
// to see it, a few at a time.

import { batch, createEffect, createSignal, on, onCleanup } from 'solid-js';
import { packageName } from '../../model/copies';
import type { Dates } from '../../model/colour';
import { packagesOf, type Tree } from '../../model/tree';
import { registryAddress } from '../../state/project';
import { registryOf } from '../../state/registry-of';

const AT_ONCE = 12;

export function createDates(tree: () => Tree | undefined, registry: () => string) {
  const [known, setKnown] = createSignal<Dates>(new Map());
  const [waiting, setWaiting] = createSignal(0);
  createEffect(
    on([tree, registry], ([current, name]) => {
      const address = current && (registryAddress(name) ?? registryOf(current));
      if (!current || address === undefined) return;
      const stop = new AbortController();
      onCleanup(() => stop.abort());
      const names = [...new Set(packagesOf(current).map((node) => packageName(current.nodes[node]!)))];
      const dates = new Map<string, number>();
      setWaiting(names.length);
      const ask = async () => {
        for (let next = names.pop(); next !== undefined && !stop.signal.aborted; next = names.pop()) {
          await times(address, next, stop.signal, dates);
          setWaiting(names.length);
        }
      };
      void Promise.all(Array.from({ length: AT_ONCE }, ask)).then(
        () => !stop.signal.aborted && batch(() => [setWaiting(0), setKnown(dates)]),
      );
    }),
  );
  return { known, waiting };
}

async function times(registry: string, name: string, signal: AbortSignal, dates: Map<string, number>): Promise<void> {
  try {
    const response = await fetch(new URL(name.replace('/', '%2f'), registry), { signal });
    const { time } = (await response.json()) as { time?: Record<string, string> };
    for (const [version, date] of Object.entries(time ?? {})) dates.set(`${name}@${version}`, Date.parse(date));
  } catch {
    // A date that can't be had is not known; the colour says so.
  }
}
