// The page of `espalier play`: on a project of this machine, with the registries of its .npmrc. The
// address shows that.

import { onCleanup } from 'solid-js';
import type { Order } from '../engine';
import { NODE, USUAL, type Settings } from '../model/address';

export const isPlayed = new URLSearchParams(location.search).has('play');

/** A project on disk, with npm's settings but without tokens, which the serving program keeps. */
export interface Played {
  readonly folder: string;
  readonly manifest: string;
  readonly lockfile: string | null;
  readonly files: Record<string, string>;
  readonly revision: string;
  /** The addresses of the default registry and of those for scopes. */
  readonly registry: string;
  readonly registries: Record<string, string>;
  readonly settings: {
    readonly legacyPeerDeps: boolean;
    readonly strictPeerDeps: boolean;
    readonly force: boolean;
    readonly preferDedupe: boolean;
    readonly before: number | null;
    readonly node: string | null;
    readonly platform: { readonly os: string; readonly cpu: string; readonly libc: string | null };
  };
}

const EVERY = 1_000;
/** The number of failed requests in a row that mean the end of the program. One fails when a machine wakes. */
const FAILURES = 2;

let registries: Pick<Order, 'registry' | 'registries'> = {};

export async function readPlayed(): Promise<Played> {
  const response = await fetch(new URL('-/project', document.baseURI));
  if (!response.ok) throw new Error(await response.text());
  const played = (await response.json()) as Played;
  registries = { registry: played.registry, registries: played.registries };
  return played;
}

/** The project's registries, by way of the serving program, which has the tokens. */
export function ownRegistries(): Pick<Order, 'registry' | 'registries' | 'via'> {
  return { ...registries, via: new URL('-/registry/', document.baseURI).href };
}

/** Reports changes of the package.json files or the lockfile on disk, and the end of the program. */
export function followPlayed(known: () => string, changed: () => void, gone: () => void): void {
  let failures = 0;
  let isLooking = false;
  const look = async () => {
    if (document.hidden || isLooking) return;
    isLooking = true;
    try {
      const response = await fetch(new URL('-/revision', document.baseURI));
      failures = 0;
      if (response.ok && (await response.text()) !== known()) changed();
    } catch {
      failures += 1;
      if (failures < FAILURES) return;
      clearInterval(timer);
      gone();
    } finally {
      isLooking = false;
    }
  };
  const timer = setInterval(look, EVERY);
  onCleanup(() => clearInterval(timer));
}

export function settingsOf({ settings: { before, node, platform, ...flags } }: Played): Settings {
  const words = [platform.os, platform.cpu, platform.libc].filter(Boolean).join('-');
  return {
    ...USUAL,
    ...flags,
    before: before === null ? undefined : new Date(before).toISOString(),
    node: node === null || node === NODE ? undefined : node,
    platform: words === 'linux-x64-glibc' ? undefined : words,
  };
}
