// A tab of a fresh Chromium without a driver. The page asks this process for its tasks and reports
// its own figures. A driver would listen to every request, which costs the browser more than the
// request.
// @ts-check

import { spawn } from 'node:child_process';
import { createReadStream, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromiumPath } from '../chromium.js';

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' };
/** The time after which a page without a result has failed. */
const PATIENCE = 180_000;
/** The kernel's unit of processor time. */
const TICKS_PER_SECOND = 100;

const CATEGORIES = ['disabled-by-default-v8.cpu_profiler', 'v8', 'v8.wasm', 'blink.user_timing', 'loading', 'toplevel'];

/**
 * The file for a trace of the browser, and its length from the start.
 * @typedef {{ file: string, seconds: number }} Trace
 */

export class Tab {
  /** @type {(work: object) => void} */
  #hand = () => {};
  /** @type {Promise<object>} */
  #work = Promise.resolve({});
  /** @type {(told: any) => void} */
  #told = () => {};
  #browser;
  #server;
  #profile;
  #trace;
  /** @type {Promise<unknown>} */
  #ended;

  /**
   * Opens a page. `folders` maps the first segment of a path to the folder that is served there.
   * @param {string} page
   * @param {Record<string, string>} folders
   * @param {Trace} [trace]
   */
  static async open(page, folders, trace) {
    const server = createServer();
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
    return new Tab(server, page, folders, trace);
  }

  /** @param {import('node:http').Server} server @param {string} page @param {Record<string, string>} folders @param {Trace} [trace] */
  constructor(server, page, folders, trace) {
    this.#server = server;
    this.#trace = trace;
    if (trace) rmSync(trace.file, { force: true });
    this.#next();
    server.on('request', (request, response) => void this.#answer(request, response, folders));
    this.#profile = mkdtempSync(join(tmpdir(), 'espalier-tab-'));
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    const args = [
      ...['--headless', '--disable-gpu', '--disable-background-networking', '--ignore-certificate-errors'],
      ...['--no-first-run', `--user-data-dir=${this.#profile}`],
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      ...(trace ? tracing(trace) : []),
      `http://127.0.0.1:${port}/${page}`,
    ];
    // It has a process group of its own, so that all its processes can be ended together.
    this.#browser = spawn(chromiumPath(), args, { stdio: 'ignore', detached: true });
    this.#ended = new Promise((resolve) => this.#browser.once('exit', resolve));
    process.once('exit', this.#kill);
  }

  /**
   * Gives the page a task, and returns its report.
   * @param {object} work
   * @returns {Promise<any>}
   */
  async run(work) {
    const told = new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`the page said nothing for ${PATIENCE / 1000} s`)), PATIENCE);
      this.#told = ({ error, ...figures }) => {
        clearTimeout(late);
        if (error) reject(new Error(error));
        else resolve(figures);
      };
    });
    this.#hand(work);
    return told;
  }

  /** The processor time in seconds: of the page, and of the browser's other processes. */
  cpu() {
    const sums = { page: 0, rest: 0 };
    for (const { type, seconds } of processes(/** @type {number} */ (this.#browser.pid)))
      sums[type === 'renderer' ? 'page' : 'rest'] += seconds;
    return sums;
  }

  async close() {
    while (this.#trace && !existsSync(this.#trace.file)) await sleep(100);
    this.#browser.kill('SIGTERM');
    await this.#ended;
    this.#server.closeAllConnections();
    this.#server.close();
    // Its other processes live and write a little longer than the first one.
    while (this.#kill()) await sleep(20);
    process.off('exit', this.#kill);
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }

  /** Kills the remaining processes of the browser. Returns whether there were any. */
  #kill = () => {
    try {
      return process.kill(-(/** @type {number} */ (this.#browser.pid)), 'SIGKILL');
    } catch {
      return false;
    }
  };

  #next() {
    this.#work = new Promise((resolve) => (this.#hand = resolve));
  }

  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response @param {Record<string, string>} folders */
  async #answer(request, response, folders) {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/-/work') {
      const work = await this.#work;
      this.#next();
      response.end(JSON.stringify(work));
      return;
    }
    if (pathname === '/-/told') {
      let text = '';
      for await (const chunk of request) text += chunk;
      response.end();
      this.#told(JSON.parse(text));
      return;
    }
    const [, first = '', ...rest] = normalize(pathname).split('/');
    const file = folders[first] && join(folders[first], ...rest);
    const type = TYPES[/** @type {'.js'} */ (extname(pathname))] ?? 'application/octet-stream';
    response.writeHead(file && existsSync(file) ? 200 : 404, { 'content-type': type });
    if (file && existsSync(file)) createReadStream(file).pipe(response);
    else response.end();
  }
}

/** @param {Trace} trace */
function tracing({ file, seconds }) {
  const format = ['--trace-startup-format=json', `--trace-startup-duration=${seconds}`];
  return [`--trace-startup=${CATEGORIES}`, `--trace-startup-file=${file}`, ...format];
}

/** The processor time of a process and its children, according to Linux. @param {number} first */
function processes(first) {
  /** @type {{ type: string, seconds: number }[]} */
  const found = [];
  /** @type {Map<number, number[]>} */
  const children = new Map();
  /** @type {Map<number, number>} */
  const ticks = new Map();
  for (const name of existsSync('/proc') ? readdirSync('/proc') : []) {
    if (!/^\d+$/.test(name)) continue;
    const fields = text(`/proc/${name}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ');
    const [parent, user, system] = [Number(fields[1]), Number(fields[11]), Number(fields[12])];
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    ticks.set(Number(name), user + system);
  }
  const waiting = [first];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const type = /--type=([a-z-]+)/.exec(text(`/proc/${id}/cmdline`))?.[1] ?? 'browser';
    found.push({ type, seconds: (ticks.get(id) ?? 0) / TICKS_PER_SECOND });
    waiting.push(...(children.get(id) ?? []));
  }
  return found;
}

/** The text of a file, unless its process has just ended. @param {string} file */
function text(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
