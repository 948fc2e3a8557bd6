// The page's side of the worker that bundles. It hands on files that are installed; the last order
// counts.

import type { Bundle, Order, Reply } from './bundle-protocol.ts';
import type { Installed } from './packages.ts';

export type { Bundle, Problem } from './bundle-protocol.ts';

export class Bundler {
  readonly #worker = new Worker(new URL('./bundle-worker.ts', import.meta.url), { type: 'module', name: 'bundler' });
  #lastId = 0;
  #installed: Installed | undefined;
  #waiting: ((bundle: Bundle | undefined) => void) | undefined;

  constructor() {
    this.#worker.addEventListener('message', ({ data }: MessageEvent<Reply>) => this.#receive(data));
  }

  /** Bundles; gives nothing if another order came before this one was done. */
  bundle(sources: Record<string, string>, installed: Installed): Promise<Bundle | undefined> {
    this.#waiting?.(undefined);
    this.#installed = installed;
    this.#send({ type: 'bundle', id: ++this.#lastId, sources });
    return new Promise((resolve) => (this.#waiting = resolve));
  }

  #receive(reply: Reply): void {
    if (reply.type === 'bundled') {
      if (reply.id === this.#lastId) this.#waiting?.(reply.bundle);
      return;
    }
    this.#send({ type: 'file', id: reply.id, data: this.#installed?.read(reply.path) });
  }

  #send(order: Order): void {
    this.#worker.postMessage(order);
  }
}
