// The class of errors, and its conversion from and to plain details, for `postMessage` and Rust.

import type { ErrorDetails, EspalierError as Declared, ErrorCode, PeerConflict, Remedy, Requirer } from '../index.js';

export class EspalierError extends Error implements Declared {
  override readonly name = 'EspalierError';
  readonly code: ErrorCode;
  declare readonly package?: string;
  declare readonly spec?: string;
  readonly chain: Requirer[];
  declare readonly conflict?: PeerConflict;
  declare readonly remedies?: Remedy[];
  declare readonly differences?: string[];
  declare readonly location?: string;
  declare readonly nearest?: string[];
  declare readonly url?: string;
  declare readonly status?: number;
  declare readonly file?: string;
  declare readonly line?: number;
  declare readonly column?: number;

  constructor({ message, code, chain = [], ...details }: ErrorDetails, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.chain = chain;
    // Undefined fields are left out, so that a printed error doesn't list them.
    for (const [field, value] of Object.entries(details)) {
      if (value !== undefined && value !== null) Object.assign(this, { [field]: value });
    }
  }

  toJSON(): ErrorDetails {
    const { name: _name, cause: _cause, ...details } = this;
    return { ...details, code: this.code, message: this.message };
  }
}

/** Restores the error of a rejection. */
export function restored(reason: unknown): unknown {
  return isDetails(reason) ? new EspalierError(reason) : reason;
}

/** Whether a thrown value has the fields of an `EspalierError`. */
export function isDetails(reason: unknown): reason is ErrorDetails {
  return (
    typeof reason === 'object' &&
    reason !== null &&
    !(reason instanceof Error) &&
    'code' in reason &&
    'message' in reason
  );
}
