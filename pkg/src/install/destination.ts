// The interface of destinations of an installation.

import type { Entry, Files } from '../../index.js';

export const HIDDEN_LOCKFILE = 'node_modules/.package-lock.json';

export interface Destination {
  /** The map that is written to, if it is one. */
  readonly files?: Files;
  /** The present hidden lockfile. */
  noted(): Promise<string | undefined>;
  /** Whether a path exists. */
  has(path: string): Promise<boolean>;
  /** Removes these paths and everything below. */
  remove(paths: string[]): Promise<void>;
  /** Writes entries. Settles when more may follow. */
  write(entries: Entry[]): Promise<void>;
  /** Called after everything was written. */
  close?(): Promise<void>;
  /** Called if nothing more will be written. */
  abort?(reason: unknown): Promise<void>;
}
