// One GET over `fetch`: retried, bounded in time, and its failures told apart.
//
// Only simple requests: `accept` with a safelisted value is the one header, because any other makes a browser ask for permission
// first (a preflight), and registries rarely answer that. A token is the exception that has to be.

import type { Fetch } from '../../index.js';
import { NetFailure, shown } from './failure.js';

/** The wait before the first retry; each further one is three times as long. */
const FIRST_WAIT = 300;
/** No registry is waited for longer than this, whatever its `Retry-After` says. */
const LONGEST_WAIT = 30_000;
/** No document and no package is as large; more would only exhaust the memory. */
const MAX_BODY = 512 * 1024 * 1024;

export interface TransportOptions {
  fetch: Fetch;
  retries: number;
  /** Milliseconds that one try may take. */
  timeout: number;
  /** Ends everything. */
  signal: AbortSignal;
  traffic: Traffic;
}

/** What went over the network so far. */
export interface Traffic {
  requests: number;
  retries: number;
  pending: number;
  bytes: number;
  /** Answers that came from the cache. */
  cached: number;
}

export interface Request {
  url: string;
  accept: string;
  urgent: boolean;
  authorization: string | undefined;
  /** Past the browser's own cache, which may hold what turned out to be damaged. */
  anew?: boolean;
}

export interface Received {
  bytes: Uint8Array<ArrayBuffer>;
  headers: Headers;
}

export class Transport {
  /** What is under way. They are stopped from here, because a signal with hundreds of listeners makes Node complain. */
  readonly #pending = new Set<AbortController>();

  constructor(readonly options: TransportOptions) {
    const { signal } = options;
    const abortAll = () => this.#pending.forEach((controller) => controller.abort(signal.reason));
    signal.addEventListener('abort', abortAll, { once: true });
  }

  /** Fetches. What `accept` makes of the answer counts as part of a try: what broke on its way is fetched again. */
  async get<T>(request: Request, use: (received: Received) => Promise<T>): Promise<T> {
    const { retries, traffic, signal } = this.options;
    let { anew = false } = request;
    for (let tried = 0; ; tried++) {
      try {
        return await use(await this.#attempt({ ...request, anew }));
      } catch (error) {
        anew ||= error instanceof NetFailure && error.code === 'EINTEGRITY';
        const again = error instanceof NetFailure ? error.againAfter : undefined;
        if (again === undefined || tried >= retries || signal.aborted) throw error;
        await this.#pause(Math.min(Math.max(again, FIRST_WAIT * 3 ** Math.min(tried, 5)), LONGEST_WAIT));
        traffic.retries++;
      }
    }
  }

  async #attempt(request: Request): Promise<Received> {
    const { signal, timeout, traffic } = this.options;
    signal.throwIfAborted();
    const controller = new AbortController();
    this.#pending.add(controller);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      controller.abort();
    }, timeout);
    traffic.requests++;
    traffic.pending++;
    try {
      return await raced(this.#receive(request, controller.signal), controller.signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const url = shown(request.url);
      const message = `${url} gave no answer within ${timeout} ms`;
      throw late ? new NetFailure({ code: 'ENETUNREACH', message, url, againAfter: 0 }) : error;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(controller);
      traffic.pending--;
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    const controller = new AbortController();
    this.#pending.add(controller);
    let timer: ReturnType<typeof setTimeout>;
    const passed = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
    await raced(passed, controller.signal).finally(() => {
      clearTimeout(timer);
      this.#pending.delete(controller);
    });
  }

  async #receive({ url, accept, urgent, authorization, anew }: Request, signal: AbortSignal): Promise<Received> {
    const headers = { accept, ...(authorization === undefined ? {} : { authorization }) };
    let response: Response;
    try {
      // The priority is a hint that browsers with six connections to a host sort their queue by; others ignore it.
      const cache = anew ? ({ cache: 'reload' } as const) : {};
      response = checked(await this.options.fetch(url, { headers, signal, priority: urgent ? 'high' : 'low', ...cache }));
    } catch (error) {
      throw unreachable(url, error, authorization !== undefined);
    }
    refuseStatus(url, response);
    let buffer: ArrayBuffer;
    try {
      buffer = await response.arrayBuffer();
    } catch (error) {
      throw unreachable(url, error, false);
    }
    if (buffer.byteLength > MAX_BODY) {
      throw new NetFailure({ code: 'EINVALIDRESPONSE', message: `${shown(url)} has more than ${MAX_BODY} bytes`, url: shown(url) });
    }
    this.options.traffic.bytes += buffer.byteLength;
    return { bytes: new Uint8Array(buffer), headers: response.headers };
  }
}

/** What was injected in place of `fetch` may give anything. */
function checked(response: Partial<Response> | undefined): Response {
  const { status, headers, arrayBuffer } = response ?? {};
  const usable = typeof status === 'number' && typeof headers?.get === 'function' && typeof arrayBuffer === 'function';
  if (!usable) throw new TypeError('the given `fetch` answered with something else than a Response');
  return response as Response;
}

function refuseStatus(address: string, response: Response): void {
  const { status } = response;
  if (status >= 200 && status < 300) return;
  const url = shown(address);
  // Some registries answer 405 for what they don't have.
  const absent = status === 404 || status === 405;
  const forbidden = status === 401 || status === 403;
  const [code, words] = absent ? ['E404', 'was not found'] : forbidden ? ['E403', 'is not allowed to be read'] : ['EHTTP', 'could not be had'];
  const transient = [408, 420, 429].includes(status) || status >= 500;
  const againAfter = transient ? retryAfter(response) : undefined;
  throw new NetFailure({ code, message: `${url} ${words} (status ${status})`, url, status, againAfter });
}

/** What the registry asks for, in milliseconds, where it gives seconds and the browser lets us read it. */
function retryAfter({ headers }: Response): number {
  const seconds = headers.get('retry-after')?.trim() ?? '';
  return /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1000 : 0;
}

/** `fetch` rejected. Browsers don't tell why, on purpose; Node says it in `cause`. */
function unreachable(address: string, error: unknown, withToken: boolean): NetFailure {
  const url = shown(address);
  const { message = 'no reason given', cause } = error instanceof Error ? error : { message: String(error), cause: undefined };
  if (cause instanceof Error) {
    return new NetFailure({ code: 'ENETUNREACH', message: `${url} cannot be reached: ${cause.message}`, url, againAfter: 0 });
  }
  if (withToken) {
    const why =
      `${url} can't be reached with a token (${message}): browsers ask a registry for permission first (a preflight), and it seems that this one ` +
      'does not allow this origin to send `authorization`. A registry, or a proxy in front of it, that answers OPTIONS with ' +
      '`Access-Control-Allow-Headers: authorization` would work.';
    return new NetFailure({ code: 'EPREFLIGHT', message: why, url });
  }
  const why =
    `${url} was not found, or is unreachable from a browser (${message}): its host may be down, may not allow ` +
    'other origins (no CORS header), or may send its 404 without that header';
  return new NetFailure({ code: 'ENETUNREACH', message: why, url, againAfter: 0 });
}

/** Whatever was injected in place of `fetch` may not listen to its signal. */
export function raced<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    if (signal.aborted) aborted();
    signal.addEventListener('abort', aborted, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}
