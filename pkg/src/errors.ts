// The one class of errors, and its way across `postMessage` and from Rust: as plain details.

import type { ErrorDetails, EspalierError as Declared, ErrorCode, PeerConflict, Remedy, Requirer } from '../index.js';

export class EspalierError extends Error implements Declared {
  override readonly name = 'EspalierError';
  readonly code: ErrorCode;
  readonly package?: string;
  readonly spec?: string;
  readonly chain: Requirer[];
  readonly conflict?: PeerConflict;
  readonly remedies?: Remedy[];
  readonly differences?: string[];
  readonly location?: string;
  readonly nearest?: string[];
  readonly url?: string;
  readonly status?: number;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;

  constructor({ message, code, chain = [], ...details }: ErrorDetails, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.chain = chain;
    // Only what is there: an error that is printed shouldn't list ten undefined fields.
    for (const [field, value] of Object.entries(details)) {
      if (value !== undefined) Object.assign(this, { [field]: value });
    }
  }

  toJSON(): ErrorDetails {
    const { name: _name, cause: _cause, ...details } = this;
    return { ...details, code: this.code, message: this.message };
  }
}

/** What a run rejected with, as the error it stands for. */
export function restored(reason: unknown): unknown {
  return isDetails(reason) ? new EspalierError(reason) : reason;
}

function isDetails(reason: unknown): reason is ErrorDetails {
  return (
    typeof reason === 'object' && reason !== null && !(reason instanceof Error) && 'code' in reason && 'message' in reason
  );
}
