// What the page and the worker that bundles say to each other.

/** From the page: bundle these, or a file that the worker asked for. */
export type Order =
  | { type: 'bundle'; id: number; sources: Record<string, string> }
  | { type: 'file'; id: number; data: Uint8Array<ArrayBuffer> | undefined };

/** From the worker: a file is needed, or what came out. */
export type Reply = { type: 'read'; id: number; path: string } | { type: 'bundled'; id: number; bundle: Bundle };

/** What runs in the preview, or why there is nothing to run. */
export type Bundle = { script: string; style: string; inputs: number; elapsed: number } | { problems: Problem[] };

/** Something that keeps the app from being bundled. */
export interface Problem {
  text: string;
  file?: string;
  line?: number;
  column?: number;
}
