// The messages between the page and the worker that bundles.

/** Messages from the page: sources to bundle, or a file that the worker requested. */
export type Order =
  | { type: 'bundle'; id: number; sources: Record<string, string> }
  | { type: 'file'; id: number; data: Uint8Array<ArrayBuffer> | undefined };

/** Messages from the worker: a request for a file, or the result. */
export type Reply = { type: 'read'; id: number; path: string } | { type: 'bundled'; id: number; bundle: Bundle };

/** The code for the preview, or the problems that prevented it. */
export type Bundle = { script: string; style: string; inputs: number; elapsed: number } | { problems: Problem[] };

/** A problem that prevents bundling. */
export interface Problem {
  text: string;
  file?: string;
  line?: number;
  column?: number;
}
