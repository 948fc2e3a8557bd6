// Why something could not be had, as data: what Rust reads, and what an `EspalierError` is made of.

import type { ErrorCode } from '../../index.js';

export interface FailureDetails {
  code: ErrorCode;
  message: string;
  /** Without credentials. */
  url: string;
  status?: number | undefined;
  /** After how many milliseconds it may go better; absent where trying again is useless. */
  againAfter?: number | undefined;
}

export class NetFailure extends Error {
  readonly code: ErrorCode;
  readonly url: string;
  readonly status: number | undefined;
  readonly againAfter: number | undefined;

  constructor({ code, message, url, status, againAfter }: FailureDetails) {
    super(message);
    this.code = code;
    this.url = url;
    this.status = status;
    this.againAfter = againAfter;
  }
}

/** For messages: a name and password in an address are nobody's business, and neither is what follows its path. */
export function shown(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return 'an address that is none';
  }
}
