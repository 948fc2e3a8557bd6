// Serves the pages, weighs the code that they load, and receives their figures. Its headers isolate
// the pages, which one installer and the measurement of memory need.
// @ts-check

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' };
const ISOLATED = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' };

export class PageServer {
  /**
   * Sizes by path, because compressing 27 MB takes a while.
   * @type {Map<string, { raw: number, brotli: number }>}
   */
  #weights = new Map();
  /** The paths that the current page has loaded. @type {Set<string>} */
  #loaded = new Set();
  /** @type {(figures: any) => void} */
  #told = () => {};
  #server;

  /** @param {string} folder @param {string} manifest */
  constructor(folder, manifest) {
    this.#server = createServer(async (request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost');
      if (pathname === '/figures') {
        let text = '';
        for await (const chunk of request) text += chunk;
        response.end();
        this.#told(JSON.parse(text));
        return;
      }
      const file = pathname === '/manifest' ? manifest : join(folder, normalize(pathname));
      const body = await readFile(file).catch(() => undefined);
      if (body && pathname !== '/manifest') this.#weigh(pathname, body);
      const type = TYPES[/** @type {'.js'} */ (extname(file))] ?? 'application/octet-stream';
      response.writeHead(body ? 200 : 404, { 'content-type': type, ...ISOLATED }).end(body);
    });
  }

  /** @param {string} folder @param {string} manifest */
  static async start(folder, manifest) {
    const pages = new PageServer(folder, manifest);
    await new Promise((resolve) => pages.#server.listen(0, '127.0.0.1', () => resolve(undefined)));
    return pages;
  }

  get origin() {
    return `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (this.#server.address()).port}`;
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** The figures of the next page. @returns {Promise<import('./browser.js').Figures>} */
  figures() {
    this.#loaded.clear();
    return new Promise((resolve, reject) => {
      this.#told = (figures) => (figures.error ? reject(new Error(figures.error)) : resolve(figures));
    });
  }

  /** The total size of the code that the page has loaded. */
  weight() {
    const sum = { raw: 0, brotli: 0 };
    for (const path of this.#loaded) {
      sum.raw += this.#weights.get(path)?.raw ?? 0;
      sum.brotli += this.#weights.get(path)?.brotli ?? 0;
    }
    return sum;
  }

  /** @param {string} path @param {Buffer} body */
  #weigh(path, body) {
    this.#loaded.add(path);
    if (this.#weights.has(path)) return;
    const brotli = brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }).length;
    this.#weights.set(path, { raw: body.length, brotli });
  }
}
