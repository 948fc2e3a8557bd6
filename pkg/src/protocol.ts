// What the worker client and the worker say to each other.

import type { ErrorDetails, ResolveEvent, Result, WasmSource } from '../index.js';
import type { RunInput } from './glue.js';

/** From the client. Resolutions are told apart by a number. */
export type Command =
  | { type: 'init'; wasm?: Exclude<WasmSource, Response | URL> }
  | { type: 'resolve'; id: number; input: RunInput }
  | { type: 'abort'; id: number };

/** From the worker, about one resolution. */
export type Report = { id: number } & (
  | { type: 'events'; events: ResolveEvent[] }
  | { type: 'result'; result: Result }
  | { type: 'failed'; error: ErrorDetails }
);
